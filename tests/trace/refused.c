/* SPDX-License-Identifier: MIT */
/*
 * What tests/tool/test_trace_refused.py runs with and without the recorder: calls that the C
 * library refuses, or may refuse, on a free lock. It prints the result of each.
 *
 *   1. The lock is free.
 *   2. A call has a deadline that is none, or a clock that is not waited by.
 *   3. The recorder tries the lock first, and is granted what the call refuses.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../support/program.h"

static const struct timespec good = {INT32_MAX, 0}, past = {1, 0},
                             bad[] = {{INT32_MAX, -1}, {INT32_MAX, 1000000000}, {-1, 1000000000}};
static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID, 99};

static void print(const char *what, int result)
{
    printf("%s %d\n", what, result);
}

static void try_mutex(const char *what, pthread_mutex_t *m, const struct timespec *t)
{
    int error = pthread_mutex_timedlock(m, t);
    print(what, error);
    if (error == 0)
        must(pthread_mutex_unlock(m) == 0);
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        error = pthread_mutex_clocklock(m, clocks[i], t);
        print(what, error);
        if (error == 0)
            must(pthread_mutex_unlock(m) == 0);
    }
}

static void try_rwlock(pthread_rwlock_t *l, const struct timespec *t)
{
    int error = pthread_rwlock_timedrdlock(l, t);
    print("read", error);
    if (error == 0)
        must(pthread_rwlock_unlock(l) == 0);
    error = pthread_rwlock_timedwrlock(l, t);
    print("write", error);
    if (error == 0)
        must(pthread_rwlock_unlock(l) == 0);
    for (size_t i = 0; i < 2 * sizeof clocks / sizeof *clocks; i++) {
        error = i % 2 == 0 ? pthread_rwlock_clockrdlock(l, clocks[i / 2], t)
                           : pthread_rwlock_clockwrlock(l, clocks[i / 2], t);
        print("clock", error);
        if (error == 0)
            must(pthread_rwlock_unlock(l) == 0);
    }
}

static void try_all(const struct timespec *t)
{
    static const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                                PTHREAD_MUTEX_ERRORCHECK};
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    for (int i = 0; i < 12; i++) {
        pthread_mutexattr_t a;
        pthread_mutex_t m;
        must(pthread_mutexattr_init(&a) == 0);
        must(pthread_mutexattr_settype(&a, types[i % 3]) == 0);
        must(pthread_mutexattr_setprotocol(&a, i % 6 < 3 ? PTHREAD_PRIO_NONE
                                                         : PTHREAD_PRIO_INHERIT) == 0);
        must(pthread_mutexattr_setrobust(&a, i < 6 ? PTHREAD_MUTEX_STALLED
                                                   : PTHREAD_MUTEX_ROBUST) == 0);
        must(pthread_mutex_init(&m, &a) == 0);
        try_mutex("mutex", &m, t);
        must(pthread_mutex_destroy(&m) == 0);
    }
    try_rwlock(&l, t);
}

int main(void)
{
    try_all(&good);
    try_all(&past);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        try_all(&bad[i]);
    return 0;
}
