/* SPDX-License-Identifier: MIT */
/*
 * A progressive lock that sleeps under every schedule of small programs and many random ones of
 * larger ones, for the hook variant. A sleeper that nobody wakes would show, and so would what
 * scene.h looks for. Each includer adds faults, which shows that it would; and it defines what
 * scene.h asks for.
 */
#pragma once

#include "lock/scene.h"

/* How much is explored; an includer whose operations have more steps says less. */
#ifndef RANDOM_RUNS
#define RANDOM_RUNS 40000
#define PREEMPTIONS_OF_TWO 4u
#define PREEMPTIONS_OF_THREE 2u
#endif

static void take_and_drop(void *state_of)
{
    const enum pawl_state state = ((const enum pawl_state *)state_of)[sched.current];
    must(take_until(state, UINT64_MAX));
    drop(state);
}

static void take_for_a_while_and_drop(void *state_of)
{
    const enum pawl_state state = ((const enum pawl_state *)state_of)[sched.current];
    if (take_until(state, sched.clock + 100))
        drop(state);
}

/* ---- Every schedule of small programs -------------------------------------------------------- */

static const enum pawl_state all_states[] = {PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W,
                                             PAWL_STATE_A};

static bool every_schedule(unsigned threads, void (*body)(void *), unsigned preemptions)
{
    void (*const bodies[])(void *) = {body, body, body};
    enum pawl_state states[3];
    unsigned i, count, total = 0;
    for (i = 0; i < (threads == 2 ? 16u : 64u); i++) {
        states[0] = all_states[i % 4];
        states[1] = all_states[i / 4 % 4];
        states[2] = all_states[i / 16];
        /* The same threads in another order. Readers begin: few preemptions then suffice for a
         * writer between two steps of a reader. */
        if (states[1] < states[0] || (threads == 3 && states[2] < states[1]))
            continue;
        if (!sched_all(threads, bodies, states, preemptions, scene_begins, scene_ends, &count))
            return false;
        total += count;
    }
    print_message("%u schedules, %u sleeps, %u wakes\n", total, sched.slept, sched.woken);
    return true;
}

TEST_CASE(two_who_take_and_drop_end_under_every_schedule)
{
    assert_true(every_schedule(2, take_and_drop, PREEMPTIONS_OF_TWO));
}

TEST_CASE(three_who_take_and_drop_end_under_every_schedule)
{
    assert_true(every_schedule(3, take_and_drop, PREEMPTIONS_OF_THREE));
}

TEST_CASE(time_outs_at_any_point_leave_no_trace)
{
    assert_true(every_schedule(2, take_for_a_while_and_drop, PREEMPTIONS_OF_TWO - 1));
    assert_true(every_schedule(3, take_for_a_while_and_drop, PREEMPTIONS_OF_THREE - 1));
}

/* T1 turns from A to R and sleeps, because T2 is an atomic user too. While T3's claim of S, which
 * will fail, is in the word, T2 leaves: the word that it leaves behind shows S, so nothing seems to
 * have changed for T1, who goes on when there is no W, or when there is S. T3 withdraws, and again
 * nothing seems to change. T1 must be woken by one of them. */
static void turn_to_read(void *unused)
{
    atomic_then_read(UINT64_MAX);
}

static void update_once(void *unused)
{
    if (take_until(PAWL_STATE_A, UINT64_MAX))
        drop(PAWL_STATE_A);
}

static void seek_once(void *unused)
{
    OF(take_seek)(&scene.lock); /* the claim is made blindly */
    enter(PAWL_STATE_S);
    drop(PAWL_STATE_S);
}

TEST_CASE(a_claim_of_s_does_not_hide_that_the_last_atomic_user_has_left)
{
    static void (*const bodies[])(void *) = {turn_to_read, update_once, seek_once};
    unsigned count;
    assert_true(
        sched_all(3, bodies, NULL, PREEMPTIONS_OF_THREE + 1, scene_begins, scene_ends, &count));
    print_message("%u schedules\n", count);
}

/* ---- Random schedules of random programs ----------------------------------------------------- */

static bool random_schedules(unsigned runs, uint64_t *bad)
{
    static void (*const bodies[])(void *) = {something, something, something, something};
    uint64_t seed = test_seed();
    for (unsigned i = 0; i < runs; i++) {
        const uint64_t this_seed = *bad = test_random(&seed);
        scene_begins(NULL);
        scene.seed = this_seed;
        if (!sched_random(2 + i % 3, bodies, NULL, this_seed ^ 1))
            return false;
        scene_ends(NULL);
    }
    return true;
}

TEST_CASE(random_programs_end_under_random_schedules)
{
    uint64_t bad;
    sched.slept = sched.woken = sched.timed_out = scene.granted = scene.timed_out = 0;
    if (!random_schedules(RANDOM_RUNS, &bad))
        fail_msg("stuck: word %#" PRIx64 ", run %" PRIu64, (uint64_t)scene.lock.word, bad);
    print_message("%u grants, %u sleeps, %u wakes, %u time-outs\n", scene.granted, sched.slept,
                  sched.woken, scene.timed_out);
    assert_true(sched.slept > RANDOM_RUNS / 10 && scene.timed_out > RANDOM_RUNS / 100);
}

/* ---- Who is overtaken insists ---------------------------------------------------------------- */

enum { ROUNDS = 3000 };

static bool got_in;
static unsigned rounds;

/* Atomic users who come and go, the next always there before the last has left; as long as they are
 * let in. */
static void overlap(void *argument)
{
    unsigned held = 1;
    must(OF(take_atomic_until)(&scene.lock, UINT64_MAX));
    for (rounds = 0; rounds < ROUNDS && !got_in; rounds++) {
        const bool came = OF(try_atomic)(&scene.lock);
        held += came;
        sched.clock += 1000; /* in the end it is the waiter's turn */
        pawl_hook_relax();
        OF(drop_atomic)(&scene.lock);
        if (--held == 0) {
            must(OF(take_atomic_until)(&scene.lock, UINT64_MAX));
            held = 1;
        }
    }
    for (; held > 0; held--)
        OF(drop_atomic)(&scene.lock);
}

static void get_in(void *state_of)
{
    const enum pawl_state state = *(const enum pawl_state *)state_of;
    must(take_until(state, UINT64_MAX));
    got_in = true;
    drop(state);
}

TEST_CASE(overlapping_atomic_users_keep_nobody_out)
{
    static void (*const bodies[])(void *) = {overlap, get_in};
    uint64_t seed = test_seed();
    for (unsigned i = 0; i < 300; i++) {
        enum pawl_state wanted = all_states[i % 3];
        scene_begins(NULL);
        got_in = false;
        assert_true(sched_random(2, bodies, &wanted, test_random(&seed)));
        assert_true(got_in && rounds < ROUNDS);
        scene_ends(NULL);
    }
}

/* ---- Faults that must show ------------------------------------------------------------------- */

TEST_CASE(a_wake_that_reaches_nobody_is_caught)
{
    sched.deaf = true;
    assert_false(every_schedule(2, take_and_drop, 2));
    sched.deaf = false;
}

/* Either the threads get stuck, or a check of the scene ends the child. */
static bool shows(uint64_t (*fault)(const struct pawl_operation *,
                                    uint64_t (*)(const struct pawl_operation *)))
{
    uint64_t bad;
    sched.fault = fault;
    bool caught = !every_schedule(2, take_and_drop, PREEMPTIONS_OF_TWO) ||
                  !every_schedule(3, take_and_drop, PREEMPTIONS_OF_THREE) ||
                  !random_schedules(RANDOM_RUNS, &bad);
    sched.fault = NULL;
    return caught;
}

/* A case of a mistake: some schedule of the programs above shows it. */
#define IS_CAUGHT(name, mistake)                                                                   \
    TEST_CASE(name)                                                                                \
    {                                                                                              \
        assert_true(shows(mistake));                                                               \
    }

static int lost_wake_main(int argc, char **argv)
{
    if (TEST_SANITIZED) /* they do not follow a thread from stack to stack */
        return test_skipped("sanitizers know nothing of fibers");
    return test_main(argc, argv);
}
