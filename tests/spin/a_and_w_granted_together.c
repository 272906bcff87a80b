/* SPDX-License-Identifier: MIT */
/*
 * A seeker is in; a writer claims, finds S, keeps W+S and gives back R. The seeker leaves: the word
 * shows W and S but no R. An atomic user who looks only at R is granted; the writer then adds its R
 * and is granted too. Here S in the word refuses the atomic user.
 */
#include "explorer/steps.h"

static pawl_spin32 lock;
static struct sim_call writing = {&lock, false};
static struct sim_call atomic = {&lock, false};

/* The writer stands in the window: W+S in the word, no R, about to add it. */
static unsigned writer_in_the_window(void)
{
    lock.word = 0;
    sim_begin();
    pawl_spin32_take_seek(&lock);
    unsigned writer = sim_start(sim_take_write, &writing);
    sim_until(writer, PAWL_SPIN_W_KEEP);
    assert_true(sim_only_reads(writer, 5));
    pawl_spin32_drop_seek(&lock);
    assert_int_equal(lock.word, PAWL_SPIN32_W + PAWL_SPIN32_S);
    return writer;
}

TEST_CASE(an_atomic_user_is_refused_while_a_writer_waits_without_r)
{
    const unsigned writer = writer_in_the_window();
    const unsigned user = sim_start(sim_take_atomic, &atomic);
    sim_step(user); /* claims in the window */
    assert_false(sim_ends(user));
    assert_true(sim_ends(writer)); /* W is granted */
    assert_false(sim_ends(user));
    pawl_spin32_drop_write(&lock);
    assert_true(sim_ends(user));
    assert_int_equal(lock.word, PAWL_SPIN32_W);
    sim_end();
}

/* The same instant met by the claims that do not wait. */
TEST_CASE(no_try_gets_in_while_a_writer_waits_without_r)
{
    const unsigned writer = writer_in_the_window();
    assert_false(pawl_spin32_try_atomic(&lock));
    assert_false(pawl_spin32_claim_atomic(&lock));
    assert_false(pawl_spin32_try_read(&lock));
    assert_false(pawl_spin32_try_seek(&lock));
    assert_false(pawl_spin32_try_write(&lock));
    assert_false(pawl_spin32_claim_write(&lock));
    assert_int_equal(lock.word, PAWL_SPIN32_W + PAWL_SPIN32_S);
    assert_true(sim_ends(writer));
    pawl_spin32_drop_write(&lock);
    assert_int_equal(lock.word, 0);
    sim_end();
}

/* The claim of the atomic user is in the word when the writer looks: the writer waits on. */
TEST_CASE(a_writer_without_r_waits_for_the_claim_of_an_atomic_user)
{
    const unsigned writer = writer_in_the_window();
    const unsigned user = sim_start(sim_take_atomic, &atomic);
    sim_step(user);
    assert_int_equal(sim_words_w(&lock), 2);
    assert_true(sim_only_reads(writer, 5));
    sim_step(user); /* withdraws */
    assert_true(sim_ends(writer));
    pawl_spin32_drop_write(&lock);
    assert_true(sim_ends(user));
    sim_end();
}

TEST_MAIN(sim_begin())
