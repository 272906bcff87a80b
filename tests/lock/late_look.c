/* SPDX-License-Identifier: MIT */
/*
 * A releaser that looks into the wait list after the lock is gone took any oldest waiter of the
 * address for one of the lock:
 *
 *   1. Two atomic users hold a lock, a writer sleeps. The first one drops A, finds PARKED, and is
 *      preempted before it looks who can go on.
 *   2. The second one drops A, the writer has the lock and drops it, its owner frees it.
 *   3. The same memory is now a word under pawl_wait8, or a condition variable; a thread sleeps.
 *   4. The first one looks: the sleeper is the oldest waiter there. Its time of joining was
 *      never set, so its turn "has come". It was woken without leaving the list, returned, and left
 *      its waiter linked on a dead stack.
 *
 * Here step 4 is called by itself. The sleeper must stay asleep and in the list, and a wake must
 * find it there.
 */
#define PAWL_ONE_FILE_ /* with table.c, below */
#include "test.h"

#include <pawl/cond.h>
#include <pawl/lock.h>

#include "lock/table.h"
#undef PAWL_SHARED_DEFINE /* the library has it */
#define PAWL_SHARED_DEFINE(type, name) extern type PAWL_SHARED_NAME_(name)
#include "lock/table.c"

static pawl_cond cond;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool told; /* under the mutex */
static uint8_t byte_word;
static uint32_t returned;

static void release_mutex(void *m)
{
    must(pthread_mutex_unlock((pthread_mutex_t *)m) == 0);
}

static void take_mutex(void *m)
{
    must(pthread_mutex_lock((pthread_mutex_t *)m) == 0);
}

static void *wait_for_the_condition(void *unused)
{
    struct pawl_cond_lock how;
    how.lock = &mutex;
    how.drop = release_mutex;
    how.take = take_mutex;
    how.shared = false;
    take_mutex(&mutex);
    pawl_cond_wait_with(&cond, &how);
    must(told);
    release_mutex(&mutex);
    pawl_store_relaxed32(&returned, 1);
    return unused;
}

static void *wait_for_the_byte(void *unused)
{
    must(pawl_wait8(&byte_word, 0) == PAWL_WAIT_WOKEN);
    pawl_store_relaxed32(&returned, 1);
    return unused;
}

static unsigned asleep_at(const void *address)
{
    struct pawl_bucket *bucket = table_lock(address);
    struct pawl_waiter *w = table_first(bucket, address);
    unsigned count = 0;
    for (; w != NULL; w = table_next(bucket, w))
        count += w->asleep;
    table_unlock(bucket);
    return count;
}

static pthread_t sleeper(void *(*body)(void *), const void *address)
{
    pthread_t thread;
    pawl_store_relaxed32(&returned, 0);
    must(pthread_create(&thread, NULL, body, NULL) == 0);
    while (asleep_at(address) == 0)
        sched_yield();
    return thread;
}

/* Step 4, for either width. */
static void look_late(const void *address)
{
    PAWL_SYMBOL_(pawl_lock64_left)(address, PAWL_LOCK_PARKED + 2 * PAWL_SPIN64_W,
                                   PAWL_LOCK_PARKED + PAWL_SPIN64_W);
    PAWL_SYMBOL_(pawl_lock32_left)(address, PAWL_LOCK_PARKED + 2 * PAWL_SPIN32_W,
                                   PAWL_LOCK_PARKED + PAWL_SPIN32_W);
}

static void a_late_look_leaves_a_waiter_of_a_condition_asleep(void **state)
{
    const pthread_t thread = sleeper(wait_for_the_condition, &cond);
    (void)state;
    look_late(&cond);
    assert_int_equal(asleep_at(&cond), 1);
    assert_int_equal(pawl_load_relaxed32(&returned), 0);
    take_mutex(&mutex);
    told = true;
    release_mutex(&mutex);
    assert_int_equal(pawl_cond_signal(&cond), 1);
    must(pthread_join(thread, NULL) == 0);
}

static void a_late_look_leaves_a_waiter_of_a_word_asleep(void **state)
{
    const pthread_t thread = sleeper(wait_for_the_byte, &byte_word);
    (void)state;
    look_late(&byte_word);
    assert_int_equal(asleep_at(&byte_word), 1);
    assert_int_equal(pawl_wake_all(&byte_word), 1);
    must(pthread_join(thread, NULL) == 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_look_leaves_a_waiter_of_a_condition_asleep),
        cmocka_unit_test(a_late_look_leaves_a_waiter_of_a_word_asleep),
    };
    alarm(TEST_HANGS);
    return test_run(argc, argv, tests);
}
