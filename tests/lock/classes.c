/* SPDX-License-Identifier: MIT */
/*
 * What a waiter waits for (src/lock/waiting.def) is what transitions.def says of its step:
 * lock_ready and lock_permits, for each small value of the three fields of the word.
 */
#include "pawl.c" /* the library's own functions; nothing of it is linked */

#include "test.h"

#define PAWL_TEST(name, condition)                                                                 \
    static bool test_##name(unsigned W, unsigned S, unsigned R)                                    \
    {                                                                                              \
        (void)W, (void)S, (void)R;                                                                 \
        return condition;                                                                          \
    }
#include <pawl/detail/transitions.def>

static const struct {
    const char *name;
    bool (*holds)(unsigned W, unsigned S, unsigned R);
} tests_of_words[] = {
#define PAWL_TEST(name, condition) {#name, test_##name},
#include <pawl/detail/transitions.def>
};

static const struct {
    const char *op, *step, *gate;
} steps[] = {
#define PAWL_STEP(op, step, how, gate, w, s, r, order, tag) {#op, #step, #gate},
#include <pawl/detail/transitions.def>
};

static bool gate_holds(const char *op, const char *step, unsigned W, unsigned S, unsigned R)
{
    unsigned i = 0, t = 0;
    while (strcmp(steps[i].op, op) != 0 || strcmp(steps[i].step, step) != 0)
        must(++i < sizeof steps / sizeof steps[0]);
    while (strcmp(tests_of_words[t].name, steps[i].gate) != 0)
        must(++t < sizeof tests_of_words / sizeof tests_of_words[0]);
    return tests_of_words[t].holds(W, S, R);
}

/* A waiter without a claim enters by one addition or makes its claim; one with a claim ends it. */
static const struct {
    enum wait_class class;
    const char *op, *step;
} waits[] = {
    {WAIT_R, "take_read", "claim"},        {WAIT_S, "take_seek", "again"},
    {WAIT_W, "claim_write", "claim"},      {WAIT_A, "take_atomic", "again"},
    {WAIT_GONE, "atomic_to_read", "wait"}, {WAIT_DRAIN, "take_write", "drain"},
    {WAIT_UPDATE, "take_atomic", "drain"}, {WAIT_ALONE, "take_write", "keep"},
};

static void for_each_word(void (*check)(unsigned W, unsigned S, unsigned R))
{
    enum { LIMIT = 4 }; /* of each field; S has two bits */
    for (unsigned W = 0; W < LIMIT; W++)
        for (unsigned S = 0; S < LIMIT; S++)
            for (unsigned R = 0; R < LIMIT; R++)
                check(W, S, R);
}

static uint32_t narrow_word(unsigned W, unsigned S, unsigned R)
{
    return W * PAWL_SPIN32_W + S * PAWL_SPIN32_S + R * PAWL_SPIN32_R;
}

static uint64_t wide_word(unsigned W, unsigned S, unsigned R)
{
    return W * PAWL_SPIN64_W + S * PAWL_SPIN64_S + R * PAWL_SPIN64_R;
}

static void check_ready(unsigned W, unsigned S, unsigned R)
{
    const unsigned ready = lock_ready(word_widen(narrow_word(W, S, R), WORD_32));
    assert_int_equal(ready, lock_ready(wide_word(W, S, R)));
    for (unsigned i = 0; i < sizeof waits / sizeof waits[0]; i++)
        assert_int_equal((ready & waits[i].class) != 0,
                         gate_holds(waits[i].op, waits[i].step, W, S, R));
    /* The table has no turns: they are of the lock that sleeps. */
    assert_int_equal((ready & WAIT_PAST) != 0, W == 1);
    assert_int_equal((ready & WAIT_NEXT) != 0, W == 0 && S == 1);
}

TEST_CASE(ready_is_what_the_table_says)
{
    for_each_word(check_ready);
}

static void check_permits(unsigned W, unsigned S, unsigned R)
{
    const uint64_t narrow = word_widen(narrow_word(W, S, R), WORD_32);
    const uint64_t wide = wide_word(W, S, R);
    const bool claims = gate_holds("claim_write", "claim", W, S, R);
    /* A second writer claims over seekers or atomic users, as the table lets it. */
    const bool alone = gate_holds("take_write", "again", W, S, R) && !claims;
    assert_int_equal(lock_permits(WAIT_DRAIN, narrow, false), claims);
    assert_int_equal(lock_permits(WAIT_UPDATE, narrow, false), claims);
    assert_int_equal(lock_permits(WAIT_ALONE, narrow, false), alone);
    assert_false(lock_permits(WAIT_PAST, narrow, false));
    assert_false(lock_permits(WAIT_NEXT, narrow, false));
    for (unsigned c = WAIT_R; c <= WAIT_NEXT; c *= 2) {
        const enum wait_class class = (enum wait_class)c;
        assert_int_equal(lock_permits(class, narrow, false), lock_permits(class, wide, false));
        assert_int_equal(lock_permits(class, narrow, true), lock_permits(class, wide, true));
    }
}

TEST_CASE(a_claim_without_a_turn_is_permitted_where_the_table_has_one)
{
    for_each_word(check_permits);
}

/* ---- Whether a waiter spins -------------------------------------------------------------------
 * Beside two busy processes on each CPU deadlines ended 5 to 20 ms late:
 *
 *   1. A thread spins for 50 us and sleeps until its deadline, again and again.
 *   2. With its spins it has used what the scheduler gives it beside the busy processes.
 *   3. So when its timer ends, it waits for the CPU until the others have had their slices. */

TEST_CASE(a_thread_whose_sleep_ends_late_beside_other_processes_does_not_spin_for_a_while)
{
#if defined(__linux__)
    const uint64_t second = 1000000000u, now = pawl_os_now();
    struct pawl_own *const own = pawl_os_own();
    struct loop loop = LOOP_INIT;
    own->calm_until = 0;
    own->judged = now - second;
    own->used = pawl_os_used();  /* nothing in that second: other processes had the CPUs */
    lock_note_delay(UINT64_MAX); /* woken before it was due */
    must(!lock_is_calm(1));
    lock_note_delay(now - LOCK_LATE_NS - 1);
    must(lock_is_calm(now + LOCK_CALM_NS - 1));
    must(!lock_loop_on(&loop, UINT64_MAX));
    must(!lock_yields(&loop, now, UINT64_MAX));
    own->calm_until = 0;
    own->judged = now - second;
    own->used = pawl_os_used() - 1000 * second; /* threads of the process had them */
    lock_note_delay(now - LOCK_LATE_NS - 1);
    must(!lock_is_calm(now));
#else
    skip(); /* Linux alone tells what the process has used */
#endif
}

/* Else the running threads keep the lock for their time slices, while the oldest waiter, woken, has
 * no CPU. */
TEST_CASE(a_waiter_yields_so_often_at_most_and_not_before_a_near_deadline)
{
#if defined(__linux__)
    const uint64_t later = pawl_os_now() + LOCK_NO_YIELD_NS + LOCK_CALM_NS;
    struct loop loop = LOOP_INIT;
    must(!lock_yields(&loop, later, later + LOCK_CALM_NS - 1));
    for (unsigned i = 0; i < LOCK_YIELDS; i++)
        must(lock_yields(&loop, later, UINT64_MAX));
    must(!lock_yields(&loop, later, UINT64_MAX));
#else
    skip(); /* Linux alone tells what the process has used */
#endif
}

TEST_MAIN()
