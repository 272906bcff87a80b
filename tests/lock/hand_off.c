/* SPDX-License-Identifier: MIT */
/*
 * A lock that is handed over before a drop (pawl_lock32_hand_off): the sleeper that has waited
 * longest enters before all who come later, whatever it waits for and whoever hands over. The
 * schedules of lost_wake.h once more, in which each holder hands over: no wake is lost, and nobody
 * enters beside a holder that excludes it.
 */
#include "explorer/explorer.h"

#include <pawl/lock.h>

#include "lock/table.h"

#define LOCK pawl_lock32
#define AT_REST(word) ((word) == 0)
#define BEFORE_DROP() hand_off()
#define RANDOM_RUNS 20000
#define PREEMPTIONS_OF_TWO 3u
#define PREEMPTIONS_OF_THREE 1u

static bool regain_read(LOCK *l, uint64_t deadline)
{
    return pawl_lock32_atomic_to_read_until(l, deadline) != PAWL_REGAIN_TIMED_OUT;
}

static bool hands_off = true, handing_off;
static void hand_off(void);

#include "lock/lost_wake.h"

static void hand_off(void)
{
    if (!hands_off)
        return;
    handing_off = true;
    pawl_hand_off(&scene.lock);
    handing_off = false;
}

/* The sleeper is told of a claim that is not in the word. */
static uint64_t the_claim_is_not_made(const struct pawl_operation *o,
                                      uint64_t (*make)(const struct pawl_operation *))
{
    if (handing_off && o->address == &scene.lock.word && o->kind == PAWL_HOOK_COMPARE_EXCHANGE)
        return o->expected;
    return make(o);
}

static void look_for_it(void *unused)
{
    must(!shows(the_claim_is_not_made));
}

TEST_CASE(a_claim_that_is_not_made_is_caught)
{
    assert_aborts_saying(look_for_it, NULL, "must(");
}

/* ---- Who sleeps enters before who comes later ------------------------------------------------ */

enum { MOST_SLEEPERS = 3, RUNS = 400 };

static struct {
    enum pawl_state held, waits, comes; /* the holder's, the sleepers', the newcomer's */
    bool dropped, heir_in;
    unsigned entered; /* sleepers that have */
    unsigned order[MOST_SLEEPERS];
} played;

static unsigned came_first;

static void played_begins(void)
{
    scene_begins(NULL);
    played.dropped = played.heir_in = false;
    played.entered = 0;
    sched.slept = 0;
    must(take_until(played.held, 0));
}

static void play(void (*const bodies[])(void *), unsigned threads, unsigned runs)
{
    static uint64_t seed;
    if (seed == 0)
        seed = test_seed();
    for (; runs > 0; runs--) {
        played_begins();
        must(sched_random(threads, bodies, NULL, test_random(&seed)));
        must(played.heir_in);
        scene_ends(NULL);
    }
}

/* Beside the newcomer, who comes a moment later, it tries itself again. */
static void hold_until_one_sleeps(void *unused)
{
    while (sched.slept == 0)
        pawl_cpu_relax();
    drop(played.held);
    played.dropped = true;
    if (take_until(played.comes, 0)) {
        came_first += !played.heir_in;
        drop(played.comes);
    }
}

static void wait_once(void *unused)
{
    must(take_until(played.waits, UINT64_MAX));
    played.heir_in = true;
    drop(played.waits);
}

static void come_later(void *unused)
{
    while (!played.dropped)
        pawl_cpu_relax();
    must(take_until(played.comes, UINT64_MAX));
    came_first += !played.heir_in;
    drop(played.comes);
}

/* Whether the first excludes the second: then one of them waits for the other. */
static bool excludes(enum pawl_state one, enum pawl_state other)
{
    if (one == PAWL_STATE_W || other == PAWL_STATE_W)
        return true;
    if (one == PAWL_STATE_A || other == PAWL_STATE_A)
        return one != other;
    return one == PAWL_STATE_S && other == PAWL_STATE_S;
}

/* How often a newcomer entered before the sleeper. */
static unsigned overtaken(void)
{
    static void (*const bodies[])(void *) = {hold_until_one_sleeps, wait_once, come_later};
    came_first = 0;
    for (unsigned i = 0; i < 64; i++) {
        played.held = all_states[i % 4];
        played.waits = all_states[i / 4 % 4];
        played.comes = all_states[i / 16];
        /* An atomic user keeps S for its turn, beside which readers enter. */
        if (excludes(played.held, played.waits) && excludes(played.waits, played.comes) &&
            !(played.waits == PAWL_STATE_A && played.comes == PAWL_STATE_R))
            play(bodies, 3, RUNS);
    }
    print_message("%u times a newcomer entered first\n", came_first);
    return came_first;
}

TEST_CASE(nobody_enters_before_the_sleeper_that_was_handed_the_lock)
{
    assert_int_equal(overtaken(), 0);
}

TEST_CASE(without_a_hand_over_newcomers_do)
{
    hands_off = false;
    assert_true(overtaken() > 0);
    hands_off = true;
}

/* ---- The order of several -------------------------------------------------------------------- */

static void wait_in_order(void *unused)
{
    const unsigned me = sched.current - 1;
    while (sched.slept < me)
        pawl_cpu_relax();
    must(take_until(played.waits, UINT64_MAX));
    played.order[played.entered++] = me;
    played.heir_in = played.entered == MOST_SLEEPERS;
    drop(played.waits);
}

static void hold_until_all_sleep(void *unused)
{
    while (sched.slept < MOST_SLEEPERS)
        pawl_cpu_relax();
    drop(played.held);
}

TEST_CASE(who_hand_over_to_each_other_enter_in_the_order_in_which_they_slept)
{
    static void (*const bodies[])(void *) = {hold_until_all_sleep, wait_in_order, wait_in_order,
                                             wait_in_order};
    played.held = PAWL_STATE_W;
    for (unsigned run = 0; run < RUNS; run++) {
        played.waits = run % 2 ? PAWL_STATE_S : PAWL_STATE_W;
        play(bodies, 1 + MOST_SLEEPERS, 1);
        for (unsigned i = 0; i < MOST_SLEEPERS; i++)
            assert_int_equal(played.order[i], i);
    }
}

/* ---- Claims that only readers are in the way of ---------------------------------------------- */

/* A downgrade has woken some of the sleepers and not the last one: its claim is made in its sleep,
 * over the reader that hands over. */
static void downgrade_and_hand_over(void *unused)
{
    while (sched.slept < MOST_SLEEPERS)
        pawl_cpu_relax();
    leave(PAWL_STATE_W);
    scene.held[PAWL_STATE_R]++;
    pawl_write_to_read(&scene.lock);
    uint32_t before = scene.lock.word;
    pawl_hand_off(&scene.lock);
    uint32_t after = scene.lock.word;
    came_first += after - before == (played.waits == PAWL_STATE_W
                                         ? PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R
                                         : PAWL_SPIN32_W + PAWL_SPIN32_S);
    drop(PAWL_STATE_R);
}

TEST_CASE(a_sleeper_that_a_downgrade_has_not_woken_claims_over_the_reader)
{
    static void (*const bodies[])(void *) = {downgrade_and_hand_over, wait_in_order, wait_in_order,
                                             wait_in_order};
    static const enum pawl_state waits[] = {PAWL_STATE_W, PAWL_STATE_A};
    played.held = PAWL_STATE_W;
    for (unsigned i = 0; i < 2; i++) {
        played.waits = waits[i];
        came_first = 0;
        play(bodies, 1 + MOST_SLEEPERS, RUNS);
        print_message("%u claims over the reader\n", came_first);
        assert_true(came_first > 0);
    }
}

/* ---- Nobody to hand over to ------------------------------------------------------------------ */

TEST_CASE(with_nobody_asleep_it_changes_nothing)
{
    for (unsigned i = 0; i < 4; i++) {
        scene_begins(NULL);
        must(take_until(all_states[i], 0));
        uint32_t before = scene.lock.word;
        pawl_hand_off(&scene.lock);
        assert_int_equal(scene.lock.word, before);
        scene.lock.word |= PAWL_LOCK_PARKED; /* the queue has emptied meanwhile */
        pawl_hand_off(&scene.lock);
        assert_int_equal(scene.lock.word, before | PAWL_LOCK_PARKED);
        leave(all_states[i]);
    }
}

int main(int argc, char **argv)
{
    return lost_wake_main(argc, argv);
}
