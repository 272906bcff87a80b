/* SPDX-License-Identifier: MIT */
/*
 * A thread's memory of a lock ends with the lock. Threads knew the locks that they read by their
 * addresses:
 *
 *   1  T reads a lock, and another thread unlocks that read.
 *   2  The lock is destroyed and made anew at its address, or its memory becomes zero bytes.
 *   3  Another thread reads the new lock.
 *   4  T asks to write it, and gets EDEADLK, although it holds nothing.
 *
 * The lock itself noted step 1, so that was forgotten in step 2. And where the other thread read
 * more locks than it could remember, nothing was noted at all.
 */
#include "conformance.h"

/* T is the main thread. Somebody else reads the lock, and T can only wait for that. */
static void assert_nothing_is_held_by_t(void)
{
    const struct timespec soon = time_in(CLOCK_MONOTONIC, 20);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
}

static void assert_a_handed_read_is_forgotten(rwlock_call *ends, rwlock_call *begins)
{
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&one, ends, &lock), 0);
    assert_int_equal(actor_do(&one, begins, &lock), 0);
    assert_nothing_is_held_by_t();
}

ACTOR_CASE(a_read_that_was_handed_over_ends_with_the_lock)
{
    assert_a_handed_read_is_forgotten(destroy, make_anew);
    assert_a_handed_read_is_forgotten(make_anew, make_anew);
    assert_a_handed_read_is_forgotten(destroy, make_zero);
    assert_a_handed_read_is_forgotten(make_zero, make_zero);
}

ACTOR_CASE(a_read_that_was_handed_over_is_over_in_the_same_lock)
{
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_nothing_is_held_by_t();
}

/* The lock ends while T reads it, and T never unlocks. */
ACTOR_CASE(a_read_of_a_lock_that_is_no_more_is_forgotten)
{
    static rwlock_call *const ends[] = {make_anew, make_zero};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
        assert_int_equal(actor_do(&one, ends[i], &lock), 0);
        assert_nothing_is_held_by_t();
    }
}

static pthread_rwlock_t many[60];

static int read_many(pthread_rwlock_t *unused)
{
    for (size_t i = 0; i < 60; i++)
        must(pthread_rwlock_rdlock(&many[i]) == 0);
    return 0;
}

static int unlock_many(pthread_rwlock_t *unused)
{
    for (size_t i = 0; i < 60; i++)
        must(pthread_rwlock_unlock(&many[i]) == 0);
    return 0;
}

/* The other thread cannot know whether the read is one of its own. */
ACTOR_CASE(a_read_is_over_when_a_thread_with_many_reads_unlocks_it)
{
    assert_int_equal(actor_do(&one, read_many, NULL), 0);
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    assert_nothing_is_held_by_t();
    assert_int_equal(actor_do(&one, unlock_many, NULL), 0);
}

/* T reads one lock and asks to write another, which is a copy of it. POSIX leaves that open, and it
 * works with glibc. */
ACTOR_CASE(a_copy_is_another_lock)
{
    static pthread_rwlock_t copy;
    assert_int_equal(pthread_rwlock_rdlock(&copy), 0);
    assert_int_equal(pthread_rwlock_unlock(&copy), 0);
    memcpy(&lock, &copy, sizeof lock);
    assert_int_equal(pthread_rwlock_rdlock(&copy), 0);
    assert_nothing_is_held_by_t();
    assert_int_equal(pthread_rwlock_unlock(&copy), 0);
}

/* A read is known of static, zeroed and made locks alike. */
ACTOR_CASE(a_thread_that_reads_gets_edeadlk_in_each_life)
{
    static rwlock_call *const begins[] = {make_zero, make_anew, make_zero};
    for (size_t i = 0; i < 3 && is_pawl(); i++) {
        assert_int_equal(begins[i](&lock), 0);
        assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
        assert_int_equal(actor_do(&one, pthread_rwlock_rdlock, &lock), 0);
        assert_int_equal(pthread_rwlock_wrlock(&lock), EDEADLK);
        assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(pthread_rwlock_wrlock(&lock), EDEADLK);
        assert_int_equal(pthread_rwlock_unlock(&lock), 0);
        assert_nothing_is_held_by_t();
    }
}

TEST_MAIN()
