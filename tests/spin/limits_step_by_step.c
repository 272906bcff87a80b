/* SPDX-License-Identifier: MIT */
/* As many claims in one 16-bit word as the limits allow, at one instant, step by step. */
#include "explorer/steps.h"

static pawl_spin16 lock;
static unsigned inside, most_inside, served;

static void write_once(void *unused)
{
    pawl_spin16_take_write(&lock);
    inside++;
    if (inside > most_inside)
        most_inside = inside;
    served++;
    inside--;
    pawl_spin16_drop_write(&lock);
}

static void read_once(void *unused)
{
    pawl_spin16_take_read(&lock);
    served++;
    pawl_spin16_drop_read(&lock);
}

/* Lets every thread make one access after the other until all have ended. */
static void all_end(void)
{
    unsigned left, round, i;
    for (round = 0, left = 1; left > 0; round++) {
        must(round < 1000);
        for (left = 0, i = 0; i < sim_count; i++)
            if (!sim_all[i].ended) {
                sim_step(i);
                left++;
            }
    }
    sim_end();
}

TEST_CASE(fifty_one_writers_claim_at_one_instant_and_each_is_served_alone)
{
    lock.word = 3; /* the application's */
    served = most_inside = 0;
    sim_begin();
    for (unsigned i = 0; i < 51; i++)
        sim_start(write_once, NULL);
    for (unsigned i = 0; i < 51; i++)
        sim_step(i);
    assert_int_equal(lock.word >> 8, 255); /* W and S full: 51 x 5 */
    assert_false(pawl_spin16_try_read(&lock));
    assert_false(pawl_spin16_try_write(&lock));
    all_end();
    assert_int_equal(served, 51);
    assert_int_equal(most_inside, 1);
    assert_int_equal(lock.word, 3);
}

TEST_CASE(sixty_three_readers_are_in_at_one_instant)
{
    lock.word = 3;
    served = 0;
    sim_begin();
    for (unsigned i = 0; i < 63; i++) {
        sim_start(read_once, NULL);
        sim_step(i);
        sim_step(i); /* reads, adds: stands before its drop */
    }
    assert_int_equal(lock.word, 63 * PAWL_SPIN16_R + 3);
    assert_true(pawl_spin16_is_read(&lock));
    all_end();
    assert_int_equal(served, 63);
    assert_int_equal(lock.word, 3);
}

TEST_MAIN(sim_begin())
