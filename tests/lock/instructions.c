/* SPDX-License-Identifier: MIT */
/*
 * How many instructions the processor executes when nobody disturbs an operation of a lock that
 * sleeps (x86-64): a parent steps through each operation of a child. tests/spin/instructions.c
 * counts the locked ones. The waiting half is compiled once for all widths; the paths here are not,
 * and stay as short as they are.
 */
#include "test.h"

#include <pawl/lock.h>
#include <pawl/pshared.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__OPTIMIZE__) && !TEST_SANITIZED &&       \
    !PAWL_TSAN_

#include "support/stepping.h"

#pragma GCC diagnostic ignored "-Wunused-result" /* some of these return void */

#define ALONE __attribute__((noinline)) static void

static pawl_lock32 lock32;
static pawl_lock64 lock64;
static pawl_pshared_lock32 pshared_lock32;
static pawl_pshared_lock64 pshared_lock64;

/* clang-format off */
#define OF(lock)                                                                                   \
    static void lock##_from_U(void) { lock.word = 0; }                                             \
    static void lock##_from_R(void) { lock.word = 0; pawl_##lock##_take_read(&lock); }             \
    static void lock##_from_S(void) { lock.word = 0; pawl_##lock##_take_seek(&lock); }             \
    static void lock##_from_W(void) { lock.word = 0; pawl_##lock##_take_write(&lock); }            \
    static void lock##_from_A(void) { lock.word = 0; pawl_##lock##_take_atomic(&lock); }
OF(lock32)
OF(lock64)
OF(pshared_lock32)
OF(pshared_lock64)
static void beside_sleepers(void) { lock64.word = PAWL_LOCK_PARKED; } /* as in a crowd */

#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    ALONE lock32_##name(void) { (void)pawl_lock32_##name(&lock32); }                               \
    ALONE lock64_##name(void) { (void)pawl_lock64_##name(&lock64); }                               \
    ALONE pshared_lock32_##name(void) { (void)pawl_pshared_lock32_##name(&pshared_lock32); }       \
    ALONE pshared_lock64_##name(void) { (void)pawl_pshared_lock64_##name(&pshared_lock64); }
#include <pawl/detail/transitions.def>
/* clang-format on */

/* The most that gcc 12 makes of a width. */
static const struct {
    const char *name;
    int of_lock, of_pshared;
} lengths[] = {
    {"take_read", 10, 8},
    {"try_read", 10, 8},
    {"drop_read", 9, 21},
    {"take_seek", 9, 9},
    {"try_seek", 9, 9},
    {"drop_seek", 5, 22},
    {"take_write", 5, 5},
    {"try_write", 10, 8},
    {"claim_write", 12, 8},
    {"drop_write", 5, 22},
    {"take_atomic", 13, 9},
    {"try_atomic", 11, 9},
    {"claim_atomic", 13, 9},
    {"drop_atomic", 5, 22},
    {"seek_to_write", 9, 6},
    {"try_seek_to_write", 12, 10},
    {"write_to_seek", 5, 5},
    {"write_to_read", 5, 5},
    {"seek_to_read", 5, 5},
    {"try_read_to_seek", 15, 9},
    {"try_read_to_write", 21, 13},
    {"read_claim_write", 23, 14},
    {"try_read_to_atomic", 21, 13},
    {"read_claim_atomic", 21, 13},
    {"atomic_to_read", 12, 12},
};

enum { OTHER_COMPILERS = 4 }; /* so many more are let pass */

struct operation {
    const char *lock, *name;
    void (*prepare)(void), (*run)(void);
};

#define ROW(lock, name, from) {#lock, #name, lock##_from_##from, lock##_##name},
static const struct operation operations[] = {
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    ROW(lock32, name, from)                                                                        \
    ROW(lock64, name, from) ROW(pshared_lock32, name, from) ROW(pshared_lock64, name, from)
#include <pawl/detail/transitions.def>
    {"lock64", "take_write", beside_sleepers, lock64_take_write},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0], BESIDE_SLEEPERS = OPERATIONS - 1 };

static struct stepped counted[OPERATIONS];
static bool refused;

/* The first drop of a thread that reads calls a function, which notes whether readers scale. */
static void drop_for_the_first_time(void)
{
    pawl_lock32_take_read(&lock32);
    pawl_lock32_drop_read(&lock32);
}

static void prepare(unsigned i)
{
    operations[i].prepare();
}

static stepped_function *run_of(unsigned i)
{
    return operations[i].run;
}

static int length_of(const struct operation *operation)
{
    unsigned i = 0;
    while (strcmp(lengths[i].name, operation->name) != 0)
        must(++i < sizeof lengths / sizeof lengths[0]);
    return strncmp(operation->lock, "pshared", 7) == 0 ? lengths[i].of_pshared : lengths[i].of_lock;
}

TEST_CASE(an_undisturbed_operation_is_short_and_calls_nothing)
{
    if (refused)
        skip();
    for (int i = 0; i < BESIDE_SLEEPERS; i++) {
        const struct operation *const o = &operations[i];
        if (counted[i].steps < 2 || counted[i].steps > length_of(o) + OTHER_COMPILERS ||
            counted[i].locked != 1 || counted[i].calls != 0)
            fail_msg("%s %s: %d instructions, not %d; %d locked, %d calls", o->lock, o->name,
                     counted[i].steps, length_of(o), counted[i].locked, counted[i].calls);
    }
}

TEST_CASE(a_writer_beside_sleepers_begins_no_wait)
{
    const struct stepped *const s = &counted[BESIDE_SLEEPERS];
    if (refused)
        skip();
    if (s->steps > 40 || s->locked != 2)
        fail_msg("%d instructions, %d locked", s->steps, s->locked);
}

int main(int argc, char **argv)
{
    drop_for_the_first_time();
    refused = !step_all(OPERATIONS, prepare, run_of, counted);
    return test_main(argc, argv);
}

#else

TEST_CASE(instructions_are_counted_in_plain_optimised_x86_64_builds)
{
    skip();
}

TEST_MAIN()

#endif
