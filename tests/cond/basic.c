/* SPDX-License-Identifier: MIT */
/* Condition variables over our locks, in each mode and by two functions, and event counts. */
#include "test.h"

#include <pawl/cond.h>

#include "support/unused.h"

static pawl_lock32 lock;
static pawl_cond changed;
static unsigned tickets; /* under the lock, written in W */
static unsigned inside;  /* atomic */

static int start_afresh(void **state)
{
    memset(&lock, 0, sizeof lock);
    memset(&changed, 0, sizeof changed);
    tickets = inside = 0;
    return 0;
}

static int lock_is_left_unused(void **state)
{
    assert_int_equal(changed.waiting, 0);
    assert_true(LOCK_IS_UNUSED(lock));
    return 0;
}

#define COND_CASE(name) TEST_CASE_WITH(name, start_afresh, lock_is_left_unused)

/* Until as many threads are in the list. */
static void wait_for_waiters(unsigned count)
{
    test_await(pawl_load_relaxed32(&changed.waiting) == count);
}

TEST_CASE(nobody_waits_in_zero_bytes)
{
    pawl_cond cond = PAWL_COND_INIT;
    assert_int_equal(sizeof cond, 4);
    assert_int_equal(pawl_cond_signal(&cond), 0);
    assert_int_equal(pawl_cond_broadcast(&cond), 0);
}

COND_CASE(a_wait_gives_up_after_its_deadline_and_holds_the_lock_again)
{
    const uint64_t deadline = pawl_now() + 2000000;
    pawl_take_write(&lock);
    assert_false(pawl_cond_wait_write_until(&changed, &lock, deadline));
    assert_true(pawl_now() >= deadline);
    assert_true(pawl_lock32_is_write(&lock));
    assert_false(pawl_cond_wait_write_until(&changed, &lock, 0));
    pawl_drop_write(&lock);
    pawl_take_seek(&lock);
    assert_false(pawl_cond_wait_seek_until(&changed, &lock, 0));
    assert_true(pawl_lock32_is_seek(&lock));
    pawl_drop_seek(&lock);
    pawl_take_read(&lock);
    assert_false(pawl_cond_wait_read_until(&changed, &lock, 0));
    assert_true(pawl_lock32_is_read(&lock));
    pawl_drop_read(&lock);
}

static void *take_a_ticket(void *unused)
{
    pawl_take_write(&lock);
    while (tickets == 0)
        pawl_cond_wait_write(&changed, &lock);
    tickets--;
    pawl_drop_write(&lock);
    __atomic_fetch_add(&inside, 1, __ATOMIC_RELEASE);
    return unused;
}

static void give_tickets(unsigned count)
{
    pawl_take_write(&lock);
    tickets += count;
    pawl_drop_write(&lock);
}

COND_CASE(a_signal_wakes_one)
{
    pthread_t threads[3];
    test_start_all(threads, 3, take_a_ticket);
    wait_for_waiters(3);
    for (unsigned i = 0; i < 3; i++) {
        give_tickets(1);
        assert_int_equal(pawl_cond_signal(&changed), 1);
        assert_int_equal(pawl_load_relaxed32(&changed.waiting), 2 - i);
        test_await(__atomic_load_n(&inside, __ATOMIC_ACQUIRE) == i + 1);
    }
    test_join_all(threads, 3);
}

COND_CASE(a_broadcast_wakes_all)
{
    pthread_t threads[6];
    test_start_all(threads, 6, take_a_ticket);
    wait_for_waiters(6);
    give_tickets(6);
    assert_int_equal(pawl_cond_broadcast(&changed), 6);
    test_join_all(threads, 6);
    assert_int_equal(tickets, 0);
}

/* ---- Modes ----------------------------------------------------------------------------------- */

static pthread_barrier_t together;

static void *read_together(void *unused)
{
    pawl_take_read(&lock);
    while (tickets == 0)
        pawl_cond_wait_read(&changed, &lock);
    pthread_barrier_wait(&together); /* all are in at once, or none gets on */
    pawl_drop_read(&lock);
    return unused;
}

static void *seek_alone(void *unused)
{
    pawl_take_seek(&lock);
    while (tickets == 0)
        pawl_cond_wait_seek(&changed, &lock);
    must(__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED) == 0);
    sched_yield();
    __atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED);
    pawl_drop_seek(&lock);
    return unused;
}

COND_CASE(readers_come_back_together_and_seekers_one_by_one)
{
    pthread_t threads[8];
    must(pthread_barrier_init(&together, NULL, 4) == 0);
    for (unsigned i = 0; i < 8; i++)
        threads[i] = test_start(i % 2 ? read_together : seek_alone, NULL);
    wait_for_waiters(8);
    give_tickets(1);
    assert_int_equal(pawl_cond_broadcast(&changed), 8);
    test_join_all(threads, 8);
    pthread_barrier_destroy(&together);
}

/* ---- Any lock: here a pthread mutex, which counts who runs to it ----------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned asking, most_asking;

static void unlock_mutex(void *m)
{
    must(pthread_mutex_unlock((pthread_mutex_t *)m) == 0);
}

static void lock_mutex(void *m)
{
    const unsigned now = __atomic_add_fetch(&asking, 1, __ATOMIC_RELAXED);
    unsigned most = __atomic_load_n(&most_asking, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(&most_asking, &most, now, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    must(pthread_mutex_lock((pthread_mutex_t *)m) == 0);
    __atomic_sub_fetch(&asking, 1, __ATOMIC_RELAXED);
}

static void *wait_with_a_mutex(void *unused)
{
    const struct pawl_cond_lock how = {&mutex, unlock_mutex, lock_mutex, false};
    must(pthread_mutex_lock(&mutex) == 0);
    while (tickets == 0)
        pawl_cond_wait_with(&changed, &how);
    sched_yield(); /* the next one may come now, but no more */
    must(pthread_mutex_unlock(&mutex) == 0);
    return unused;
}

TEST_CASE(after_a_broadcast_the_waiters_do_not_all_run_to_the_lock)
{
    pthread_t threads[16];
    for (unsigned round = 0; round < TEST_SCALE(50); round++) {
        (void)start_afresh(NULL);
        asking = most_asking = 0;
        test_start_all(threads, 16, wait_with_a_mutex);
        wait_for_waiters(16);
        must(pthread_mutex_lock(&mutex) == 0);
        tickets = 1;
        assert_int_equal(pawl_cond_broadcast(&changed), 16);
        must(pthread_mutex_unlock(&mutex) == 0);
        test_join_all(threads, 16);
        assert_int_equal(most_asking, 1);
    }
}

/* ---- Lifetime -------------------------------------------------------------------------------- */

struct once {
    pawl_lock64 lock;
    pawl_cond done;
    bool is_done;
};

static void *wait_and_free(void *opaque)
{
    struct once *o = *(struct once **)opaque;
    pawl_take_write(&o->lock);
    while (!o->is_done)
        pawl_cond_wait_write(&o->done, &o->lock);
    pawl_drop_write(&o->lock);
    free(o);
    return NULL;
}

TEST_CASE(who_was_woken_may_free_the_condition_variable)
{
    pthread_t thread;
    for (int i = 0; i < TEST_SCALE(300); i++) {
        struct once *o = (struct once *)calloc(1, sizeof *o);
        assert_non_null(o);
        thread = test_start(wait_and_free, &o);
        pawl_take_write(&o->lock);
        while (pawl_load_relaxed32(&o->done.waiting) == 0) {
            pawl_drop_write(&o->lock);
            sched_yield();
            pawl_take_write(&o->lock);
        }
        o->is_done = true;
        (void)pawl_cond_broadcast(&o->done); /* under the lock, so that it cannot be freed yet */
        pawl_drop_write(&o->lock);
        test_join(thread);
    }
}

/* ---- Event count ----------------------------------------------------------------------------- */

static pawl_eventcount event;
static uint32_t flag;

TEST_CASE(an_event_that_nobody_waits_for_is_forgotten)
{
    memset(&event, 0, sizeof event);
    assert_int_equal(sizeof event, 8);
    pawl_eventcount_notify_one(&event);
    pawl_eventcount_notify_all(&event);
    assert_int_equal(event.epoch, 0);
    assert_false(pawl_eventcount_commit_until(&event, pawl_eventcount_prepare(&event), 0));
    assert_int_equal(event.waiters, 0);
}

TEST_CASE(a_notification_between_prepare_and_commit_ends_the_wait)
{
    memset(&event, 0, sizeof event);
    uint32_t key = pawl_eventcount_prepare(&event);
    pawl_eventcount_notify_one(&event);
    pawl_eventcount_commit(&event, key);
    assert_int_equal(event.waiters, 0);
    key = pawl_eventcount_prepare(&event);
    pawl_eventcount_cancel(&event);
    assert_int_equal(event.waiters, 0);
    key = pawl_eventcount_prepare(&event);
    pawl_eventcount_notify_all(&event);
    assert_true(pawl_eventcount_commit_until(&event, key, 0)); /* it came in time */
}

static void *wait_for_the_flag(void *unused)
{
    for (;;) {
        const uint32_t key = pawl_eventcount_prepare(&event);
        if (pawl_load_relaxed32(&flag) != 0) {
            pawl_eventcount_cancel(&event);
            return unused;
        }
        pawl_eventcount_commit(&event, key);
    }
}

TEST_CASE(whoever_looks_for_a_flag_in_between_misses_no_notification)
{
    pthread_t threads[4];
    memset(&event, 0, sizeof event);
    for (unsigned round = 0; round < TEST_SCALE(300); round++) {
        pawl_store_relaxed32(&flag, 0);
        test_start_all(threads, 4, wait_for_the_flag);
        for (unsigned i = 0; i < round % 7; i++)
            sched_yield();
        pawl_store_relaxed32(&flag, 1);
        pawl_eventcount_notify_all(&event);
        test_join_all(threads, 4);
        assert_int_equal(event.waiters, 0);
    }
}

TEST_MAIN()
