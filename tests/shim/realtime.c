/* SPDX-License-Identifier: MIT */
/*
 * POSIX's rule under Thread Execution Scheduling, with the preload library in front: real-time
 * threads that wait are served by priority, at the same priority writers first, and a reader passes
 * waiting writers of lower priority only. Skipped where the system gives no real-time scheduling.
 */
#include "conformance.h"

static int order[4], granted;

static int own_number(void)
{
    struct sched_param parameters;
    int policy;
    must(pthread_getschedparam(pthread_self(), &policy, &parameters) == 0);
    return policy == SCHED_FIFO ? parameters.sched_priority : 0;
}

static int note(int result)
{
    must(result == 0);
    order[granted++] = own_number();
    return result;
}

static int write_and_note(pthread_rwlock_t *l)
{
    (void)note(pthread_rwlock_wrlock(l));
    return pthread_rwlock_unlock(l);
}

/* Negative: a reader. One reads at a time here. */
static int read_and_note(pthread_rwlock_t *l)
{
    (void)note(pthread_rwlock_rdlock(l));
    order[granted - 1] = -order[granted - 1];
    return pthread_rwlock_unlock(l);
}

static void become(struct actor *a, int priority)
{
    struct sched_param parameters;
    memset(&parameters, 0, sizeof parameters);
    parameters.sched_priority = priority;
    int error = pthread_setschedparam(a->id, priority == 0 ? SCHED_OTHER : SCHED_FIFO, &parameters);
    if (error != 0) {
        printf("skipped: no real-time scheduling here (%s)\n", strerror(error));
        skip();
    }
}

static void begin_and_wait(struct actor *a, int priority, rwlock_call *call)
{
    become(a, priority);
    actor_begin(a, call, &lock);
    assert_true(actor_waits(a));
}

static void expect_order(int first, int second, int third)
{
    granted = 0;
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(actor_result(&one), 0);
    assert_int_equal(actor_result(&two), 0);
    assert_int_equal(actor_result(&three), 0);
    assert_int_equal(order[0], first);
    assert_int_equal(order[1], second);
    assert_int_equal(order[2], third);
}

/* "... they shall acquire the lock in priority order when the lock becomes available." */
ACTOR_CASE(sleepers_are_served_by_priority)
{
    assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
    begin_and_wait(&one, 10, write_and_note);
    begin_and_wait(&two, 30, write_and_note);
    begin_and_wait(&three, 20, write_and_note);
    expect_order(30, 20, 10);
}

ACTOR_CASE(an_ordinary_thread_comes_last_though_it_waited_longest)
{
    assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
    begin_and_wait(&one, 0, write_and_note);
    begin_and_wait(&two, 5, read_and_note);
    begin_and_wait(&three, 20, write_and_note);
    expect_order(20, -5, 0);
}

/* "For equal priority threads, write locks shall take precedence over read locks." */
ACTOR_CASE(at_the_same_priority_writers_come_first)
{
    assert_int_equal(pthread_rwlock_wrlock(&lock), 0);
    begin_and_wait(&one, 20, read_and_note);
    begin_and_wait(&two, 20, write_and_note);
    begin_and_wait(&three, 30, read_and_note);
    expect_order(-30, 20, -20);
}

/* "The calling thread shall not acquire the lock if ... writers of higher or equal priority are
 * blocked on the lock; otherwise the calling thread shall acquire the lock." Two readers are in. */
ACTOR_CASE(a_reader_passes_waiting_writers_of_lower_priority_only)
{
    static const struct {
        int writer, reader, result;
    } cases[] = {{0, 10, 0}, {20, 30, 0}, {20, 20, EBUSY}, {20, 10, EBUSY}, {20, 0, EBUSY}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(pthread_rwlock_rdlock(&lock), 0);
        assert_int_equal(actor_do(&three, pthread_rwlock_rdlock, &lock), 0);
        begin_and_wait(&one, cases[i].writer, pthread_rwlock_wrlock);
        become(&two, cases[i].reader);
        assert_int_equal(actor_do(&two, pthread_rwlock_tryrdlock, &lock), cases[i].result);
        if (cases[i].result == 0)
            assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(actor_do(&three, pthread_rwlock_unlock, &lock), 0);
        assert_int_equal(pthread_rwlock_unlock(&lock), 0);
        assert_int_equal(actor_result(&one), 0);
        assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
    }
}

/* Where the two texts of POSIX conflict, reading again wins: or nobody could go on. */
ACTOR_CASE(a_reader_reads_again_beside_a_waiting_writer_of_higher_priority)
{
    become(&two, 10);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    begin_and_wait(&one, 30, pthread_rwlock_wrlock);
    assert_int_equal(actor_do(&two, pthread_rwlock_rdlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_do(&two, pthread_rwlock_unlock, &lock), 0);
    assert_int_equal(actor_result(&one), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &lock), 0);
}

TEST_MAIN()
