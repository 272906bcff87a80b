/* SPDX-License-Identifier: MIT */
/*
 * What the processor executes when nobody disturbs an operation (x86-64): a parent steps through
 * each operation of a child, instruction by instruction, and counts the locked ones and the calls.
 * The number of locked ones is the cost that transitions.def states.
 */
#include "test.h"

#include <pawl/pawl.h>

#if defined(__x86_64__) && defined(__OPTIMIZE__) && !TEST_SANITIZED && !PAWL_TSAN_

#include "support/stepping.h"

static pawl_spin16 lock16;
static pawl_spin32 lock32;
static pawl_spin64 lock64;
static pawl_lock32 sleeping32;
static pawl_lock64 sleeping64;

/* ---- The operations, each in a function of its own, and the way to the state they start from - */

#pragma GCC diagnostic ignored "-Wunused-result" /* some of these return void */

#define ALONE __attribute__((noinline)) static void

/* clang-format off */
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    ALONE do16_##name(void) { (void)pawl_spin16_##name(&lock16); }                                 \
    ALONE do32_##name(void) { (void)pawl_spin32_##name(&lock32); }                                 \
    ALONE do64_##name(void) { (void)pawl_spin64_##name(&lock64); }                                 \
    ALONE do_sleeping32_##name(void) { (void)pawl_lock32_##name(&sleeping32); }                    \
    ALONE do_sleeping64_##name(void) { (void)pawl_lock64_##name(&sleeping64); }
#include <pawl/detail/transitions.def>

#define WAYS(N)                                                                                    \
    static void from##N##_U(void) { lock##N.word = 0; }                                            \
    static void from##N##_R(void) { lock##N.word = 0; pawl_spin##N##_take_read(&lock##N); }        \
    static void from##N##_S(void) { lock##N.word = 0; pawl_spin##N##_take_seek(&lock##N); }        \
    static void from##N##_W(void) { lock##N.word = 0; pawl_spin##N##_take_write(&lock##N); }       \
    static void from##N##_A(void) { lock##N.word = 0; pawl_spin##N##_take_atomic(&lock##N); }
/* clang-format on */
WAYS(16)
WAYS(32)
WAYS(64)

/* clang-format off */
#define WAYS_OF_SLEEPING(N)                                                                        \
    static void from_sleeping##N##_U(void) { sleeping##N.word = 0; }                               \
    static void from_sleeping##N##_R(void)                                                         \
    {                                                                                              \
        sleeping##N.word = 0;                                                                      \
        pawl_lock##N##_take_read(&sleeping##N);                                                    \
    }                                                                                              \
    static void from_sleeping##N##_S(void)                                                         \
    {                                                                                              \
        sleeping##N.word = 0;                                                                      \
        pawl_lock##N##_take_seek(&sleeping##N);                                                    \
    }                                                                                              \
    static void from_sleeping##N##_W(void)                                                         \
    {                                                                                              \
        sleeping##N.word = 0;                                                                      \
        pawl_lock##N##_take_write(&sleeping##N);                                                   \
    }                                                                                              \
    static void from_sleeping##N##_A(void)                                                         \
    {                                                                                              \
        sleeping##N.word = 0;                                                                      \
        pawl_lock##N##_take_atomic(&sleeping##N);                                                  \
    }
/* clang-format on */
WAYS_OF_SLEEPING(32)
WAYS_OF_SLEEPING(64)

struct operation {
    const char *name, *kind;
    void (*prepare)(void);
    void (*run)(void);
    int cost;
};

/* Where the spinlock claims, gives back and claims again, the lock that sleeps tries first. */
#define ASLEEP(cost) ((cost) > 1 ? 1 : (cost))

static const struct operation operations[] = {
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    {"16 " #name, #kind, from16_##from, do16_##name, cost},                                        \
        {"32 " #name, #kind, from32_##from, do32_##name, cost},                                    \
        {"64 " #name, #kind, from64_##from, do64_##name, cost},                                    \
        {"sleeping 32 " #name, #kind, from_sleeping32_##from, do_sleeping32_##name, ASLEEP(cost)}, \
        {"sleeping 64 " #name, #kind, from_sleeping64_##from, do_sleeping64_##name, ASLEEP(cost)},
#include <pawl/detail/transitions.def>
};
enum { OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

/* ---- Stepping -------------------------------------------------------------------------------- */

static struct stepped counted[OPERATIONS];
static bool refused;

/* The first drop of a thread that reads calls a function, which notes whether readers scale. */
static void drop_for_the_first_time(void)
{
    pawl_lock32_take_read(&sleeping32);
    pawl_lock32_drop_read(&sleeping32);
}

static void prepare(unsigned i)
{
    operations[i].prepare();
}

static stepped_function *run_of(unsigned i)
{
    return operations[i].run;
}

/* ---- The facts ------------------------------------------------------------------------------- */

TEST_CASE(every_operation_was_stepped_through)
{
    if (refused)
        skip();
    for (int i = 0; i < OPERATIONS; i++)
        if (counted[i].steps < 2) /* the locked instruction and the return */
            fail_msg("%s: %d instructions", operations[i].name, counted[i].steps);
}

TEST_CASE(an_undisturbed_operation_executes_the_locked_instructions_of_its_cost)
{
    if (refused)
        skip();
    for (int i = 0; i < OPERATIONS; i++)
        if (counted[i].locked != operations[i].cost)
            fail_msg("%s: %d locked instructions, not %d", operations[i].name, counted[i].locked,
                     operations[i].cost);
}

TEST_CASE(an_undisturbed_take_or_drop_executes_one_locked_instruction_and_no_call)
{
    int looked_at = 0;
    if (refused)
        skip();
    for (int i = 0; i < OPERATIONS; i++)
        if (!strcmp(operations[i].kind, "take") || !strcmp(operations[i].kind, "drop")) {
            looked_at++;
            if (counted[i].locked != 1 || counted[i].calls != 0)
                fail_msg("%s: %d locked instructions, %d calls", operations[i].name,
                         counted[i].locked, counted[i].calls);
        }
    assert_int_equal(looked_at, 5 * 8); /* five locks; R S W A; take and drop */
}

TEST_CASE(the_reader_of_instructions_knows_locked_ones_and_calls)
{
    static const unsigned char xadd[] = {0xf0, 0x0f, 0xc1, 0x07}, xchg[] = {0x48, 0x87, 0x07},
                               swap[] = {0x87, 0xc1}, near_call[] = {0xe8, 0, 0, 0, 0},
                               far_call[] = {0xff, 0x15, 0, 0, 0, 0}, move[] = {0x8b, 0x07};
    assert_true(meaning_of((uintptr_t)xadd).locked);
    assert_true(meaning_of((uintptr_t)xchg).locked);
    assert_false(meaning_of((uintptr_t)swap).locked);
    assert_true(meaning_of((uintptr_t)near_call).call);
    assert_true(meaning_of((uintptr_t)far_call).call);
    assert_false(meaning_of((uintptr_t)move).call || meaning_of((uintptr_t)move).locked);
}

int main(int argc, char **argv)
{
    drop_for_the_first_time();
    refused = !step_all(OPERATIONS, prepare, run_of, counted);
    return test_main(argc, argv);
}

#else

TEST_SKIPPED("instructions are counted in plain, optimised x86-64 builds")

#endif
