/* SPDX-License-Identifier: MIT */
/*
 * Atomic users come one after the other and overlap: the next is in before the last has left, so W
 * never falls to zero, and whoever waits for that moment waits for ever. Here a writer that finds
 * only atomic users keeps W+S, which holds new ones back; a reader or seeker that has looked in
 * vain PAWL_SPIN_PATIENCE times enters through W. Both get in when those who were in have left.
 */
#include "explorer/steps.h"

static pawl_spin32 lock;
static struct sim_call waiting = {&lock, false};

enum { ROUNDS = 10 * PAWL_SPIN_PATIENCE };

/* Keeps atomic users overlapping, as long as they get in, and gives the waiter one access between.
 * Returns after how many rounds the waiter was in; ROUNDS: never. */
static unsigned rounds_until_in(void (*take)(void *))
{
    unsigned held = 1;
    unsigned round;
    lock.word = 0;
    sim_begin();
    pawl_spin32_take_atomic(&lock);
    unsigned waiter = sim_start(take, &waiting);
    for (round = 0; round < ROUNDS && !sim_all[waiter].ended; round++) {
        const bool came = pawl_spin32_try_atomic(&lock);
        held += came;
        sim_step(waiter);
        if (held > 1 || (held == 1 && !came)) {
            pawl_spin32_drop_atomic(&lock);
            held--;
        }
    }
    for (; held > 0; held--)
        pawl_spin32_drop_atomic(&lock);
    assert_true(sim_ends(waiter));
    sim_end();
    return round;
}

TEST_CASE(a_writer_gets_in_between_overlapping_atomic_users)
{
    assert_in_range(rounds_until_in(sim_take_write), 1, 10);
    assert_int_equal(lock.word, PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R);
}

TEST_CASE(a_reader_gets_in_between_overlapping_atomic_users)
{
    assert_in_range(rounds_until_in(sim_take_read), PAWL_SPIN_PATIENCE, PAWL_SPIN_PATIENCE + 10);
    assert_int_equal(lock.word, PAWL_SPIN32_R);
}

TEST_CASE(a_seeker_gets_in_between_overlapping_atomic_users)
{
    assert_in_range(rounds_until_in(sim_take_seek), PAWL_SPIN_PATIENCE, PAWL_SPIN_PATIENCE + 10);
    assert_int_equal(lock.word, PAWL_SPIN32_S + PAWL_SPIN32_R);
}

/* Patience is for atomic users alone: behind a writer nobody insists. */
TEST_CASE(a_reader_behind_a_writer_only_reads)
{
    lock.word = 0;
    sim_begin();
    pawl_spin32_take_write(&lock);
    unsigned reader = sim_start(sim_take_read, &waiting);
    assert_true(sim_only_reads(reader, 20 * PAWL_SPIN_PATIENCE));
    pawl_spin32_drop_write(&lock);
    assert_true(sim_ends(reader));
    sim_end();
}

TEST_MAIN(sim_begin())
