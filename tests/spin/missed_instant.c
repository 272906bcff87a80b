/* SPDX-License-Identifier: MIT */
/*
 * X turns from A to R and waits until the last atomic user Y has left. Y leaves, and for an instant
 * W is zero; but X does not look just then, and when it looks others have come: a writer that waits
 * for X's R, or a row of atomic users. A conversion that waits to *see* W at zero waits for ever.
 */
#include "explorer/steps.h"

static pawl_spin32 lock;
static struct sim_call x = {&lock, false};
static struct sim_call other = {&lock, false};

TEST_CASE(a_missed_instant_with_a_writer_behind_it_ends)
{
    lock.word = 0;
    sim_begin();
    pawl_spin32_take_atomic(&lock);
    pawl_spin32_take_atomic(&lock);
    unsigned turner = sim_start(sim_atomic_to_read, &x);
    sim_step(turner);
    assert_true(sim_only_reads(turner, 5)); /* W is there */
    pawl_spin32_drop_atomic(&lock);         /* W is zero, and X does not look */
    unsigned writer = sim_start(sim_take_write, &other);
    sim_step(writer);
    assert_int_equal(sim_words_w(&lock), 1);
    assert_true(sim_only_reads(writer, 5));
    assert_false(sim_ends(turner));
    assert_true(sim_ends(writer));
    pawl_spin32_drop_write(&lock);
    assert_true(sim_ends(turner));
    assert_false(x.result);
    sim_end();
}

/* Readers may come and go in the instant; they are no reason to let go. */
TEST_CASE(a_missed_instant_with_readers_in_it_costs_nothing)
{
    lock.word = 0;
    sim_begin();
    pawl_spin32_take_atomic(&lock);
    pawl_spin32_take_atomic(&lock);
    unsigned turner = sim_start(sim_atomic_to_read, &x);
    sim_step(turner);
    pawl_spin32_drop_atomic(&lock);
    assert_true(pawl_spin32_try_read(&lock));
    assert_true(sim_ends(turner));
    assert_true(x.result);
    assert_int_equal(lock.word, 2 * PAWL_SPIN32_R);
    sim_end();
}

TEST_MAIN(sim_begin())
