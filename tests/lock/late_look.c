/* SPDX-License-Identifier: MIT */
/*
 * A releaser that looks into the wait list after the lock is gone took any oldest waiter of the
 * address for one of the lock:
 *
 *   1. Two atomic users hold a lock, a writer sleeps. The first one drops A, finds PARKED, and is
 *      preempted before it looks who can go on.
 *   2. The second one drops A, the writer has the lock and drops it, its owner frees it.
 *   3. The same memory is now a word under pawl_wait8, a bit lock, a condition variable, or a lock
 *      of another width; a thread sleeps.
 *   4. The first one looks: the sleeper is the oldest waiter there. Its time of joining was
 *      never set, so its turn "has come". It was woken without leaving the list, returned, and left
 *      its waiter linked on a dead stack.
 *
 * Here step 4 is called by itself. The sleeper must stay asleep and in the queue, and a wake must
 * find it there. The queues of different owners are apart.
 */
#define PAWL_ONE_FILE_ /* with table.c, below */
#include "test.h"

#include <pawl/bitlock.h>
#include <pawl/cond.h>
#include <pawl/lock.h>

#include "lock/table.h"
#undef PAWL_SHARED_DEFINE /* the library has it */
#define PAWL_SHARED_DEFINE(type, name) PAWL_SHARED_DECLARE(type, name)
#undef PAWL_THREAD_SHARED_DEFINE
#define PAWL_THREAD_SHARED_DEFINE(type, name) struct pawl_parker
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

static void *wait_for_the_bit(void *unused)
{
    pawl_bitlock8_take(&byte_word, 3);
    pawl_store_relaxed32(&returned, 1);
    pawl_bitlock8_drop(&byte_word, 3);
    return unused;
}

static union {
    pawl_lock32 of_32;
    pawl_lock64 of_64;
} lock;

static void *write_32(void *unused)
{
    pawl_take_write(&lock.of_32);
    pawl_store_relaxed32(&returned, 1);
    pawl_drop_write(&lock.of_32);
    return unused;
}

static void *write_64(void *unused)
{
    pawl_take_write(&lock.of_64);
    pawl_store_relaxed32(&returned, 1);
    pawl_drop_write(&lock.of_64);
    return unused;
}

/* ThreadSanitizer does not see the library's accesses to its queues (detail/tsan.h), so it must not
 * see this test's either. */
static void unseen(bool begins)
{
#if PAWL_TSAN_
    const unsigned try_that_fails = __tsan_mutex_try_lock | __tsan_mutex_try_lock_failed;
    if (begins)
        __tsan_mutex_pre_lock(&returned, try_that_fails);
    else
        __tsan_mutex_post_lock(&returned, try_that_fails, 0);
#else
#endif
}

static unsigned asleep_at(const void *address)
{
    static const uint32_t owners[] = {TABLE_OF_WAIT, TABLE_OF_COND, TABLE_OF_LOCK32,
                                      TABLE_OF_LOCK64};
    unsigned count = 0;
    unseen(true);
    struct pawl_bucket *bucket = table_lock(address);
    for (unsigned i = 0; i < 4; i++) {
        const struct pawl_queue *queue = table_find(bucket, address, owners[i]);
        for (const struct pawl_waiter *w = queue != NULL ? queue->oldest : NULL; w != NULL;
             w = w->younger)
            count += w->asleep;
    }
    table_unlock(bucket);
    unseen(false);
    return count;
}

static pthread_t sleeper(void *(*body)(void *), const void *address)
{
    pawl_store_relaxed32(&returned, 0);
    const pthread_t thread = test_start(body, NULL);
    test_await(asleep_at(address) != 0);
    return thread;
}

/* Step 4, for either width. And the same where the lock seemed to be free for everybody. */
static void look_late_32(const void *address)
{
    unseen(true);
    PAWL_SYMBOL_(pawl_lock32_left)(address, PAWL_LOCK_PARKED + 2 * PAWL_SPIN32_W,
                                   PAWL_LOCK_PARKED + PAWL_SPIN32_W);
    PAWL_SYMBOL_(pawl_lock32_left)(address,
                                   PAWL_LOCK_PARKED + PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R,
                                   PAWL_LOCK_PARKED);
    unseen(false);
}

static void look_late_64(const void *address)
{
    unseen(true);
    PAWL_SYMBOL_(pawl_lock64_left)(address, PAWL_LOCK_PARKED + 2 * PAWL_SPIN64_W,
                                   PAWL_LOCK_PARKED + PAWL_SPIN64_W);
    PAWL_SYMBOL_(pawl_lock64_left)(address,
                                   PAWL_LOCK_PARKED + PAWL_SPIN64_W + PAWL_SPIN64_S + PAWL_SPIN64_R,
                                   PAWL_LOCK_PARKED);
    unseen(false);
}

static void look_late(const void *address)
{
    look_late_64(address);
    look_late_32(address);
}

TEST_CASE(a_late_look_leaves_a_waiter_of_a_condition_asleep)
{
    const pthread_t thread = sleeper(wait_for_the_condition, &cond);
    look_late(&cond);
    assert_int_equal(asleep_at(&cond), 1);
    assert_int_equal(pawl_load_relaxed32(&returned), 0);
    take_mutex(&mutex);
    told = true;
    release_mutex(&mutex);
    assert_int_equal(pawl_cond_signal(&cond), 1);
    test_join(thread);
}

TEST_CASE(a_late_look_leaves_a_waiter_of_a_word_asleep)
{
    const pthread_t thread = sleeper(wait_for_the_byte, &byte_word);
    look_late(&byte_word);
    assert_int_equal(asleep_at(&byte_word), 1);
    assert_int_equal(pawl_wake_all(&byte_word), 1);
    test_join(thread);
}

TEST_CASE(a_late_look_leaves_a_waiter_of_a_bit_lock_asleep)
{
    byte_word = 0;
    pawl_bitlock8_take(&byte_word, 3);
    pthread_t thread = sleeper(wait_for_the_bit, &byte_word);
    look_late(&byte_word);
    assert_int_equal(asleep_at(&byte_word), 1);
    assert_int_equal(pawl_load_relaxed32(&returned), 0);
    pawl_bitlock8_drop(&byte_word, 3);
    test_join(thread);
}

/* Changes whenever a waiter of a lock in this bucket is woken. */
static uint64_t last_wake(void)
{
    uint64_t quiet_until;
    unseen(true);
    struct pawl_bucket *bucket = table_lock(&lock);
    quiet_until = pawl_load_relaxed64(&bucket->quiet_until);
    table_unlock(bucket);
    unseen(false);
    return quiet_until;
}

/* A waiter of a lock that is woken for nothing looks and sleeps again. So the hint tells. */
static void look_at_the_other_width(void *(*body)(void *), void (*other)(const void *),
                                    void (*same)(const void *))
{
    const pthread_t thread = sleeper(body, &lock);
    const uint64_t before = last_wake();
    other(&lock);
    assert_int_equal(asleep_at(&lock), 1);
    assert_true(last_wake() == before);
    same(&lock);
    assert_true(last_wake() != before);
    assert_int_equal(pawl_load_relaxed32(&returned), 0);
    if (body == write_32)
        pawl_drop_write(&lock.of_32);
    else
        pawl_drop_write(&lock.of_64);
    test_join(thread);
}

TEST_CASE(a_late_look_leaves_a_waiter_of_a_lock_of_another_width_asleep)
{
    memset(&lock, 0, sizeof lock);
    pawl_take_write(&lock.of_32);
    look_at_the_other_width(write_32, look_late_64, look_late_32);
    memset(&lock, 0, sizeof lock);
    pawl_take_write(&lock.of_64);
    look_at_the_other_width(write_64, look_late_32, look_late_64);
}

TEST_MAIN(alarm(TEST_HANGS))
