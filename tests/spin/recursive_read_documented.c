/* SPDX-License-Identifier: MIT */
/*
 * A thread that holds R takes R again. In between a writer has claimed and waits for the first R to
 * fall, and the second R waits for the writer: neither ever moves. The contract of take_read
 * forbids it, try_read is the way out, and the checking variant reports it. What is shown
 * here is the state itself, for R inside R and for R inside S.
 */
#include "explorer/steps.h"

static pawl_spin32 lock;
static struct sim_call inner = {&lock, false};
static struct sim_call writing = {&lock, false};

static void reader_inside(void (*take)(pawl_spin32 *), void (*drop)(pawl_spin32 *))
{
    lock.word = 0;
    sim_begin();
    take(&lock); /* the outer hold, of the thread that will read */
    unsigned writer = sim_start(sim_take_write, &writing);
    assert_false(sim_ends(writer));
    unsigned reader = sim_start(sim_take_read, &inner);
    assert_true(sim_only_reads(reader, 200));  /* waits for the writer ... */
    assert_true(sim_only_reads(writer, 200));  /* ... who waits for the outer hold */
    assert_false(pawl_spin32_try_read(&lock)); /* which a try tells, and does not wait */

    drop(&lock); /* only letting go of the outer hold ends it */
    assert_true(sim_ends(writer));
    assert_true(sim_only_reads(reader, 20));
    pawl_spin32_drop_write(&lock);
    assert_true(sim_ends(reader));
    assert_int_equal(lock.word, PAWL_SPIN32_R);
    sim_end();
}

TEST_CASE(a_reader_inside_its_own_read_waits_for_ever_once_a_writer_has_claimed)
{
    reader_inside(pawl_spin32_take_read, pawl_spin32_drop_read);
}

TEST_CASE(a_reader_inside_its_own_seek_waits_for_ever_once_a_writer_has_claimed)
{
    reader_inside(pawl_spin32_take_seek, pawl_spin32_drop_seek);
}

TEST_MAIN(sim_begin())
