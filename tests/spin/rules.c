/* SPDX-License-Identifier: MIT */
/*
 * Annex A of the source, sentence by sentence: what each state promises and asks. A name is its
 * sentence. Where a rule says "must wait", a thread claims, the test sees the claim in the word and
 * that it is not granted, makes way, and joins the thread.
 */
#include <pawl/spin.h>

#include "test.h"

static pawl_spin32 lock;
static uint32_t granted; /* set by the claimant once it holds the lock */

typedef void (*operation)(pawl_spin32 *);

static bool claimant_holds(void)
{
    return pawl_load_acquire32(&granted, PAWL_TAG_NONE_) != 0;
}

static void *claim(void *take)
{
    (*(operation *)take)(&lock);
    pawl_store_release32(&granted, 1, PAWL_TAG_NONE_);
    return NULL;
}

/* Starts a thread that takes the lock, and waits until its claim on W shows. */
static pthread_t start_claim(operation *take)
{
    pawl_store_relaxed32(&granted, 0);
    const pthread_t thread = test_start(claim, take);
    return thread;
}

static void wait_until_w_shows(void)
{
    test_await(pawl_load_relaxed32(&lock.word) >= PAWL_SPIN32_W);
}

static void finish(pthread_t thread)
{
    test_join(thread);
    assert_true(claimant_holds());
}

/* clang-format off */
static void take_write(pawl_spin32 *l) { pawl_spin32_take_write(l); }
static void take_atomic(pawl_spin32 *l) { pawl_spin32_take_atomic(l); }
static void take_read(pawl_spin32 *l) { pawl_spin32_take_read(l); }
static void take_seek(pawl_spin32 *l) { pawl_spin32_take_seek(l); }
/* clang-format on */

static int reset(void **state)
{
    pawl_spin32_init(&lock);
    return 0;
}

#define RULE(name) TEST_CASE_WITH(name, reset, NULL)

/* ---- U --------------------------------------------------------------------------------------- */

RULE(anybody_may_turn_an_unlocked_lock_to_any_state_at_once)
{
    assert_true(pawl_spin32_try_read(&lock));
    pawl_spin32_drop_read(&lock);
    assert_true(pawl_spin32_try_seek(&lock));
    pawl_spin32_drop_seek(&lock);
    assert_true(pawl_spin32_try_write(&lock));
    pawl_spin32_drop_write(&lock);
    assert_true(pawl_spin32_try_atomic(&lock));
    pawl_spin32_drop_atomic(&lock);
}

/* ---- R --------------------------------------------------------------------------------------- */

RULE(a_reader_waits_for_the_writer_to_leave)
{
    operation take = take_read;
    pawl_spin32_take_write(&lock);
    assert_false(pawl_spin32_try_read(&lock));
    pthread_t thread = start_claim(&take);
    sched_yield();
    assert_false(claimant_holds());
    pawl_spin32_drop_write(&lock);
    finish(thread);
}

RULE(others_may_also_read)
{
    pawl_spin32_take_read(&lock);
    assert_true(pawl_spin32_try_read(&lock));
    assert_int_equal(lock.word, 2 * PAWL_SPIN32_R);
}

RULE(one_other_may_seek_beside_readers)
{
    pawl_spin32_take_read(&lock);
    assert_true(pawl_spin32_try_seek(&lock));
    assert_false(pawl_spin32_try_seek(&lock));
}

RULE(a_writer_claims_beside_readers_and_waits_for_all_of_them)
{
    operation take = take_write;
    pawl_spin32_take_read(&lock);
    pawl_spin32_take_read(&lock);
    pthread_t thread = start_claim(&take);
    wait_until_w_shows();
    assert_false(pawl_spin32_try_read(&lock));
    pawl_spin32_drop_read(&lock);
    assert_false(claimant_holds());
    pawl_spin32_drop_read(&lock);
    finish(thread);
}

/* ---- S --------------------------------------------------------------------------------------- */

RULE(a_seeker_waits_for_writers_and_seekers_to_leave)
{
    operation take = take_seek;
    pawl_spin32_take_write(&lock);
    assert_false(pawl_spin32_try_seek(&lock));
    pawl_spin32_write_to_seek(&lock);
    assert_false(pawl_spin32_try_seek(&lock));
    pthread_t thread = start_claim(&take);
    sched_yield();
    assert_false(claimant_holds());
    pawl_spin32_drop_seek(&lock);
    finish(thread);
}

RULE(others_may_read_beside_a_seeker)
{
    pawl_spin32_take_seek(&lock);
    assert_true(pawl_spin32_try_read(&lock));
    assert_true(pawl_spin32_try_read(&lock));
}

RULE(a_seeker_upgrades_at_any_instant_without_notice)
{
    pawl_spin32_take_seek(&lock);
    pawl_spin32_seek_to_write(&lock);
    pawl_spin32_write_to_seek(&lock);
    pawl_spin32_seek_to_write(&lock);
    assert_true(pawl_spin32_is_write(&lock));
}

RULE(an_upgraded_seeker_waits_for_the_readers_to_leave)
{
    operation move = pawl_spin32_seek_to_write;
    pawl_spin32_take_read(&lock);
    pawl_spin32_take_seek(&lock);
    assert_false(pawl_spin32_try_seek_to_write(&lock));
    pthread_t thread = start_claim(&move);
    wait_until_w_shows();
    assert_false(claimant_holds());
    assert_false(pawl_spin32_try_read(&lock));
    pawl_spin32_drop_read(&lock);
    finish(thread);
}

RULE(a_seeker_may_leave_without_upgrading)
{
    pawl_spin32_take_seek(&lock);
    pawl_spin32_drop_seek(&lock);
    assert_true(pawl_spin32_is_free(&lock));
}

RULE(a_seeker_may_become_a_reader)
{
    pawl_spin32_take_seek(&lock);
    pawl_spin32_seek_to_read(&lock);
    assert_int_equal(lock.word, PAWL_SPIN32_R);
    assert_true(pawl_spin32_try_seek(&lock));
}

/* ---- W --------------------------------------------------------------------------------------- */

RULE(a_writer_waits_for_writers_to_leave)
{
    operation take = take_write;
    pawl_spin32_take_write(&lock);
    assert_false(pawl_spin32_try_write(&lock));
    assert_false(pawl_spin32_claim_write(&lock));
    pthread_t thread = start_claim(&take);
    sched_yield();
    assert_false(claimant_holds());
    pawl_spin32_drop_write(&lock);
    finish(thread);
}

RULE(a_writer_waits_for_the_seeker_to_leave_and_lets_no_other_seeker_in)
{
    operation take = take_write;
    pawl_spin32_take_seek(&lock);
    pthread_t thread = start_claim(&take);
    wait_until_w_shows();
    assert_false(claimant_holds());
    assert_false(pawl_spin32_try_seek(&lock));
    pawl_spin32_drop_seek(&lock);
    finish(thread);
}

RULE(nobody_gets_anything_while_a_writer_holds)
{
    pawl_spin32_take_write(&lock);
    assert_false(pawl_spin32_try_read(&lock));
    assert_false(pawl_spin32_try_seek(&lock));
    assert_false(pawl_spin32_try_write(&lock));
    assert_false(pawl_spin32_try_atomic(&lock));
    assert_false(pawl_spin32_claim_write(&lock));
    assert_false(pawl_spin32_claim_atomic(&lock));
    assert_int_equal(lock.word, PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R);
}

RULE(a_writer_may_become_a_seeker)
{
    pawl_spin32_take_write(&lock);
    pawl_spin32_write_to_seek(&lock);
    assert_int_equal(lock.word, PAWL_SPIN32_S + PAWL_SPIN32_R);
    assert_true(pawl_spin32_try_read(&lock));
}

RULE(a_writer_may_become_a_reader)
{
    pawl_spin32_take_write(&lock);
    pawl_spin32_write_to_read(&lock);
    assert_int_equal(lock.word, PAWL_SPIN32_R);
    assert_true(pawl_spin32_try_seek(&lock));
}

/* ---- A --------------------------------------------------------------------------------------- */

RULE(an_atomic_user_waits_for_writers_and_seekers_to_leave)
{
    operation take = take_atomic;
    pawl_spin32_take_seek(&lock);
    assert_false(pawl_spin32_try_atomic(&lock));
    assert_false(pawl_spin32_claim_atomic(&lock));
    pawl_spin32_seek_to_write(&lock);
    assert_false(pawl_spin32_try_atomic(&lock));
    pthread_t thread = start_claim(&take);
    sched_yield();
    assert_false(claimant_holds());
    pawl_spin32_drop_write(&lock);
    finish(thread);
}

RULE(atomic_users_do_not_exclude_each_other)
{
    pawl_spin32_take_atomic(&lock);
    assert_true(pawl_spin32_try_atomic(&lock));
    pawl_spin32_take_atomic(&lock);
    assert_int_equal(lock.word, 3 * PAWL_SPIN32_W);
}

RULE(an_atomic_user_enters_once_the_readers_have_left)
{
    operation take = take_atomic;
    pawl_spin32_take_read(&lock);
    assert_false(pawl_spin32_try_atomic(&lock));
    pthread_t thread = start_claim(&take);
    wait_until_w_shows();
    assert_false(claimant_holds());
    assert_false(pawl_spin32_try_read(&lock));
    pawl_spin32_drop_read(&lock);
    finish(thread);
    assert_int_equal(lock.word, PAWL_SPIN32_W);
}

RULE(atomic_users_exclude_all_other_states)
{
    pawl_spin32_take_atomic(&lock);
    assert_false(pawl_spin32_try_read(&lock));
    assert_false(pawl_spin32_try_seek(&lock));
    assert_false(pawl_spin32_try_write(&lock));
    assert_false(pawl_spin32_claim_write(&lock));
}

TEST_MAIN()
