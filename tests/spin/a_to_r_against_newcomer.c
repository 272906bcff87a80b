/* SPDX-License-Identifier: MIT */
/*
 * X and Y hold A. X turns to R: it adds R, removes its W, and waits for W to fall. Before it looks,
 * Y leaves and a newcomer adds W, finds X's R and waits for R to fall. In the published conversion
 * each then waits for the other for ever. Here the newcomer shows S, and X lets go.
 */
#include "explorer/steps.h"

static pawl_spin32 lock;
static struct sim_call x = {&lock, false};
static struct sim_call newcomer = {&lock, false};

/* X stands before its first look at the word, Y has left, nobody else is in. */
static unsigned x_has_turned_and_y_has_left(void)
{
    lock.word = 0;
    x.result = true;
    sim_begin();
    pawl_spin32_take_atomic(&lock);
    pawl_spin32_take_atomic(&lock);
    unsigned turner = sim_start(sim_atomic_to_read, &x);
    sim_step(turner);
    pawl_spin32_drop_atomic(&lock);
    assert_int_equal(lock.word, PAWL_SPIN32_R);
    return turner;
}

static void x_lets_in(void (*take)(void *), void (*drop)(pawl_spin32 *))
{
    const unsigned turner = x_has_turned_and_y_has_left();
    const unsigned other = sim_start(take, &newcomer);
    assert_false(sim_ends(other));  /* it claims, and waits for X's R */
    assert_false(sim_ends(turner)); /* X lets go, and waits to come back */
    assert_true(sim_ends(other));
    assert_false(sim_ends(turner));
    drop(&lock);
    assert_true(sim_ends(turner));
    assert_false(x.result); /* somebody was in between, and X is told */
    assert_int_equal(lock.word, PAWL_SPIN32_R);
    sim_end();
}

TEST_CASE(one_who_turns_to_reading_lets_a_new_atomic_user_in)
{
    x_lets_in(sim_take_atomic, pawl_spin32_drop_atomic);
}

TEST_CASE(one_who_turns_to_reading_lets_a_new_writer_in)
{
    x_lets_in(sim_take_write, pawl_spin32_drop_write);
}

/* The newcomer has added W but not yet S when X looks: X goes on looking, and sees S next time. */
TEST_CASE(a_newcomer_that_does_not_show_s_yet_is_seen_later)
{
    const unsigned turner = x_has_turned_and_y_has_left();
    const unsigned other = sim_start(sim_take_atomic, &newcomer);
    sim_step(other);
    assert_true(sim_only_reads(turner, 20));
    assert_false(sim_ends(other)); /* marks, and waits */
    assert_false(sim_ends(turner));
    assert_true(sim_ends(other));
    pawl_spin32_drop_atomic(&lock);
    assert_true(sim_ends(turner));
    assert_false(x.result);
    sim_end();
}

TEST_CASE(one_who_turns_with_nobody_coming_never_lets_go)
{
    const unsigned turner = x_has_turned_and_y_has_left();
    assert_true(sim_ends(turner));
    assert_true(x.result);
    assert_int_equal(lock.word, PAWL_SPIN32_R);
    sim_end();
}

TEST_MAIN(sim_begin())
