/* SPDX-License-Identifier: MIT */
/* Requests for a lock: they stand in its queue, and their descriptor tells when to go on. */
#include "notice/eventfd.h"

static const enum pawl_state states[] = {PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W, PAWL_STATE_A};
static pawl_lock64 lock;

static int make_lock(void **state)
{
    pawl_lock64_init(&lock);
    return make_event(state);
}

static int lock_is_left_free(void **state)
{
    assert_true(pawl_lock64_is_free(&lock));
    assert_int_equal(lock.word & PAWL_LOCK_PARKED, 0);
    return close_event(state);
}

#define LOCK_CASE(name) TEST_CASE_WITH(name, make_lock, lock_is_left_free)

static enum pawl_noticed ask(pawl_notice *asker, enum pawl_state state)
{
    return pawl_notice_lock64(asker, &lock, state);
}

static void ask_beside_a_writer(enum pawl_state state)
{
    pawl_lock64_take_write(&lock);
    assert_int_equal(ask(n, state), PAWL_NOTICE_PENDING);
}

/* Goes on whenever it is told to, until the lock is granted. */
static void until_granted(pawl_notice *asker)
{
    enum pawl_noticed how;
    do {
        hear();
        how = pawl_notice_go_on(asker);
    } while (how == PAWL_NOTICE_PENDING);
    must(how == PAWL_NOTICE_READY);
}

static void until_granted_then_drop(pawl_notice *asker, enum pawl_state state)
{
    until_granted(asker);
    pawl_notice_drop64(&lock, state);
}

/* Once for each state. */
#define STATE_CASE(name)                                                                           \
    static void name##_of(enum pawl_state state);                                                  \
    LOCK_CASE(name)                                                                                \
    {                                                                                              \
        for (unsigned i = 0; i < 4; i++)                                                           \
            name##_of(states[i]);                                                                  \
    }                                                                                              \
    static void name##_of(enum pawl_state state)

STATE_CASE(a_free_lock_is_granted_at_once)
{
    assert_int_equal(ask(n, state), PAWL_NOTICE_READY);
    assert_false(is_readable_within(0));
    assert_false(pawl_lock64_is_free(&lock));
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_REFUSED);
    pawl_notice_drop64(&lock, state);
}

STATE_CASE(a_drop_makes_the_descriptor_readable)
{
    ask_beside_a_writer(state);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_PENDING);
    assert_false(is_readable_within(0));
    pawl_lock64_drop_write(&lock);
    assert_true(is_readable_within(0));
    until_granted_then_drop(n, state);
}

static void *take_and_drop_all(void *unused)
{
    pawl_lock64_take_read(&lock);
    pawl_lock64_drop_read(&lock);
    pawl_lock64_take_write(&lock);
    pawl_lock64_drop_write(&lock);
    return unused;
}

static void *go_on_and_leave_it(void *unused)
{
    until_granted(n);
    return unused;
}

STATE_CASE(any_thread_may_go_on_and_any_other_may_drop)
{
    ask_beside_a_writer(state);
    const pthread_t thread = test_start(go_on_and_leave_it, NULL);
    pawl_lock64_drop_write(&lock);
    test_join(thread);
    assert_false(pawl_lock64_try_write(&lock));
    pawl_notice_drop64(&lock, state);
    test_elsewhere(take_and_drop_all, NULL);
}

LOCK_CASE(a_write_request_holds_newcomers_back_until_it_is_cancelled)
{
    pawl_lock64_take_read_counted(&lock);
    assert_int_equal(ask(n, PAWL_STATE_W), PAWL_NOTICE_PENDING);
    assert_false(pawl_lock64_try_read_counted(&lock));
    pawl_notice_cancel(n);
    assert_true(pawl_lock64_try_read_counted(&lock));
    assert_int_equal(ask(n, PAWL_STATE_W), PAWL_NOTICE_PENDING);
    pawl_lock64_drop_read_counted(&lock);
    pawl_lock64_drop_read_counted(&lock);
    assert_false(pawl_lock64_try_read_counted(&lock)); /* it is the request's already */
    until_granted_then_drop(n, PAWL_STATE_W);
}

LOCK_CASE(a_woken_request_that_is_cancelled_wakes_the_next)
{
    pawl_lock64_take_write(&lock);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(ask(&n[i], PAWL_STATE_W), PAWL_NOTICE_PENDING);
    pawl_lock64_drop_write(&lock);
    hear();
    pawl_notice_cancel(n);
    until_granted_then_drop(&n[1], PAWL_STATE_W);
}

STATE_CASE(a_request_gets_the_turn_that_a_holder_hands_over)
{
    ask_beside_a_writer(state);
    pawl_lock64_hand_off(&lock);
    pawl_lock64_drop_write(&lock);
    assert_false(pawl_lock64_try_write(&lock));
    until_granted_then_drop(n, state);
}

STATE_CASE(a_request_whose_turn_it_is_may_be_cancelled)
{
    ask_beside_a_writer(state);
    pawl_lock64_hand_off(&lock);
    pawl_notice_cancel(n);
    pawl_lock64_drop_write(&lock);
    assert_true(pawl_lock64_try_write(&lock));
    pawl_lock64_drop_write(&lock);
}

LOCK_CASE(a_writer_does_not_sleep_for_a_reader_in_an_entry)
{
    pawl_lock64_take_read(&lock); /* with PAWL_BIAS=on in an entry of this thread */
    assert_int_equal(ask(n, PAWL_STATE_W), PAWL_NOTICE_PENDING);
    assert_int_equal(pawl_notice_go_on(n), PAWL_NOTICE_PENDING);
    pawl_notice_cancel(n);
    assert_int_equal(ask(n, PAWL_STATE_A), PAWL_NOTICE_PENDING);
    pawl_lock64_drop_read(&lock);
    until_granted_then_drop(n, PAWL_STATE_A);
}

static int has_no_claim(void)
{
    must(pawl_lock64_try_read_counted(&lock));
    must(pawl_notice_go_on(n) == PAWL_NOTICE_REFUSED);
    pawl_notice_cancel(n);
    pawl_lock64_drop_read_counted(&lock);
    pawl_lock64_drop_read_counted(&lock);
    return !pawl_lock64_try_write(&lock);
}

LOCK_CASE(the_child_of_a_fork_has_no_claim_of_a_request)
{
    pawl_lock64_take_read_counted(&lock);
    assert_int_equal(ask(n, PAWL_STATE_W), PAWL_NOTICE_PENDING);
    assert_int_equal(test_fork(has_no_claim), 0);
    pawl_lock64_drop_read_counted(&lock);
    until_granted_then_drop(n, PAWL_STATE_W);
}

LOCK_CASE(what_cannot_be_asked_for_is_refused)
{
    assert_int_equal(ask(n, PAWL_STATE_U), PAWL_NOTICE_REFUSED);
    assert_int_equal(pawl_notice_lock64(n, NULL, PAWL_STATE_R), PAWL_NOTICE_REFUSED);
    ask_beside_a_writer(PAWL_STATE_R);
    assert_int_equal(ask(n, PAWL_STATE_W), PAWL_NOTICE_REFUSED);
    pawl_notice_cancel(n);
    pawl_lock64_drop_write(&lock);
}

TEST_MAIN()
