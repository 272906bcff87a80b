/* SPDX-License-Identifier: MIT */
/* What POSIX.1 says of the timed and clock forms; conformance.c has the other pages. */
#include "conformance.h"

/* ---- The timed and clock forms --------------------------------------------------------------- */

static struct timespec deadline;
static clockid_t deadline_clock;

static int timed_read(pthread_rwlock_t *l)
{
    return pthread_rwlock_timedrdlock(l, &deadline);
}

static int timed_write(pthread_rwlock_t *l)
{
    return pthread_rwlock_timedwrlock(l, &deadline);
}

static int clock_read(pthread_rwlock_t *l)
{
    return pthread_rwlock_clockrdlock(l, deadline_clock, &deadline);
}

static int clock_write(pthread_rwlock_t *l)
{
    return pthread_rwlock_clockwrlock(l, deadline_clock, &deadline);
}

static rwlock_call *const forms[] = {timed_read, timed_write, clock_read, clock_write};

/* "Under no circumstance shall the function fail with a timeout if the lock can be acquired
 * immediately." */
ACTOR_CASE(a_deadline_in_the_past_does_not_matter_where_the_lock_is_free)
{
    const struct timespec past[] = {{0, 0}, {-1, 0}, {1, 999999999}};
    deadline_clock = CLOCK_MONOTONIC;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++) {
            deadline = past[j];
            assert_int_equal(forms[i](&lock), 0);
            assert_int_equal(pthread_rwlock_unlock(&lock), 0);
        }
}

/* "... this wait shall be terminated when the specified timeout expires." "... or if the absolute
 * time has already been passed at the time of the call." */
ACTOR_CASE(a_wait_ends_when_its_time_has_come_and_not_before)
{
    const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
    const struct timespec past = {-1, 0};
    struct timespec then;
    assert_int_equal(actor_do(&one, pthread_rwlock_wrlock, &lock), 0);
    for (size_t i = 0; i < 4; i++)
        for (size_t c = i < 2 ? 1 : 0; c < 2; c++) {
            deadline_clock = i < 2 ? CLOCK_REALTIME : clocks[c];
            then = time_in(deadline_clock, 20);
            deadline = then;
            assert_int_equal(forms[i](&lock), ETIMEDOUT);
            assert_true(has_come(deadline_clock, then));
            deadline = past;
            assert_int_equal(forms[i](&lock), ETIMEDOUT);
        }
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
}

/* A lock that becomes free in time is granted. */
ACTOR_CASE(a_wait_with_time_left_is_granted)
{
    struct timespec then;
    for (size_t i = 0; i < 4; i++) {
        deadline_clock = CLOCK_MONOTONIC;
        then = time_in(i < 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC, 200000);
        deadline = then;
        assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
        actor_begin(&one, forms[i], &lock);
        assert_true(actor_waits(&one));
        assert_int_equal(pthread_rwlock_unlock(&lock), 0);
        assert_int_equal(actor_result(&one), 0);
        assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    }
}

/* A writer that has given up holds no reader back. */
ACTOR_CASE(a_writer_whose_time_is_over_leaves_nothing_behind)
{
    struct timespec then = time_in(CLOCK_REALTIME, 10);
    deadline = then;
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(actor_do(&one, timed_write, &lock), ETIMEDOUT);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
}

/* Two writers wait, the second one for longer than a hand-off takes. The first gives up, and the
 * only reader reads again. */
ACTOR_CASE(a_reader_reads_again_beside_a_writer_that_waited_second)
{
    struct timespec then = time_in(CLOCK_REALTIME, 300);
    deadline = then;
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    actor_begin(&one, timed_write, &lock);
    assert_true(actor_waits(&one));
    actor_begin(&two, pthread_rwlock_wrlock, &lock);
    assert_true(actor_waits(&two));
    assert_int_equal(actor_result(&one), ETIMEDOUT);
    assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(actor_result(&two), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
}

/* "EINVAL: the timeout specifies a nanosecond value less than zero or greater than or equal to 1000
 * million", and a clock that is none. */
ACTOR_CASE(times_and_clocks_that_are_none_get_einval)
{
    const struct timespec bad[] = {{1, -1}, {1, 1000000000}, {-1, -1}};
    struct timespec good = time_in(CLOCK_REALTIME, 1000);
    deadline_clock = CLOCK_REALTIME;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++) {
            deadline = bad[j];
            assert_int_equal(forms[i](&lock), EINVAL);
        }
    deadline = good;
    deadline_clock = CLOCK_PROCESS_CPUTIME_ID;
    assert_int_equal(clock_read(&lock), EINVAL);
    assert_int_equal(clock_write(&lock), EINVAL);
    deadline_clock = 4711;
    assert_int_equal(clock_read(&lock), EINVAL);
    assert_int_equal(clock_write(&lock), EINVAL);
}

/* As far as the clock counts. */
ACTOR_CASE(a_deadline_may_be_further_than_any_clock)
{
    struct timespec never = {0, 999999999};
    never.tv_sec = sizeof never.tv_sec == 8 ? (time_t)INT64_MAX : (time_t)INT32_MAX;
    deadline = never;
    for (size_t i = 0; i < 4; i++) {
        deadline_clock = i % 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
        assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
        actor_begin(&one, forms[i], &lock);
        assert_true(actor_waits(&one));
        assert_int_equal(pthread_rwlock_unlock(&lock), 0);
        assert_int_equal(actor_result(&one), 0);
        assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    }
}

/* "These functions shall not return an error code of EINTR", nor do they touch errno. */
ACTOR_CASE(calls_leave_errno_alone)
{
    struct timespec then = time_in(CLOCK_REALTIME, 5);
    assert_int_equal(actor_do(&one, pthread_rwlock_wrlock, &lock), 0);
    errno = 4321;
    (void)!pthread_rwlock_timedrdlock(&lock, &then);
    (void)!pthread_rwlock_trywrlock(&lock);
    assert_int_equal(errno, 4321);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
}

TEST_MAIN()
