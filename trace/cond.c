/* SPDX-License-Identifier: MIT */
/*
 * Conditions, barriers, semaphores: nobody holds them, so there are waits and calls only. The wait
 * of pthread_cond_wait ends when the thread has its mutex back. A thread that is cancelled there
 * leaves its mutex marked, and the hold that its handler ends is not counted.
 */
#include "record.h"

#include <errno.h>

#define EXPORTED __attribute__((visibility("default"))) int

EXPORTED pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
    const uint64_t site = TRACE_HERE();
    uint64_t begun;
    int error;
    trace_cond_gives_up(m, site);
    begun = trace_ticks();
    error = next()->pthread_cond_wait(c, m);
    trace_cond_is_back(m, site);
    trace_waited(key_of(c, TRACE_COND_WAIT), site, begun, true, false);
    return error;
}

EXPORTED pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                                trace_time restrict time)
{
    const uint64_t site = TRACE_HERE();
    uint64_t begun;
    int error;
    trace_cond_gives_up(m, site);
    begun = trace_ticks();
    error = next()->pthread_cond_timedwait(c, m, time);
    trace_cond_is_back(m, site);
    trace_waited(key_of(c, TRACE_COND_WAIT), site, begun, true, error == ETIMEDOUT);
    return error;
}

EXPORTED pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                                clockid_t clock, trace_time restrict time)
{
    const uint64_t site = TRACE_HERE();
    uint64_t begun;
    int error;
    trace_cond_gives_up(m, site);
    begun = trace_ticks();
    error = next()->pthread_cond_clockwait(c, m, clock, time);
    trace_cond_is_back(m, site);
    trace_waited(key_of(c, TRACE_COND_WAIT), site, begun, true, error == ETIMEDOUT);
    return error;
}

EXPORTED pthread_cond_signal(pthread_cond_t *c)
{
    trace_wakes(key_of(c, TRACE_COND_SIGNAL), TRACE_HERE());
    return next()->pthread_cond_signal(c);
}

EXPORTED pthread_cond_broadcast(pthread_cond_t *c)
{
    trace_wakes(key_of(c, TRACE_COND_BROADCAST), TRACE_HERE());
    return next()->pthread_cond_broadcast(c);
}

EXPORTED pthread_cond_init(pthread_cond_t *restrict c, const pthread_condattr_t *restrict a)
{
    trace_initialised(c, TRACE_HERE());
    return next()->pthread_cond_init(c, a);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

EXPORTED pthread_barrier_wait(pthread_barrier_t *b)
{
    const uint64_t key = key_of(b, TRACE_BARRIER), site = TRACE_HERE(), begun = trace_ticks();
    const int error = next()->pthread_barrier_wait(b);
    trace_waited(key, site, begun, true, false);
    return error;
}

EXPORTED pthread_barrier_init(pthread_barrier_t *restrict b,
                              const pthread_barrierattr_t *restrict a, unsigned count)
{
    trace_initialised(b, TRACE_HERE());
    return next()->pthread_barrier_init(b, a, count);
}

/* ---- Semaphores: results are -1 and errno ---------------------------------------------------- */

/* sem_wait is a cancellation point even where it need not wait. */
static bool waits(sem_t *s)
{
    const int saved = errno;
    pthread_testcancel();
    if (next()->sem_trywait(s) == 0)
        return false;
    errno = saved;
    return true;
}

EXPORTED sem_wait(sem_t *s)
{
    const uint64_t key = key_of(s, TRACE_SEM_WAIT), site = TRACE_HERE();
    const bool wait = waits(s);
    const uint64_t begun = wait ? trace_ticks() : 0;
    const int error = wait ? next()->sem_wait(s) : 0;
    trace_waited(key, site, begun, wait, false);
    return error;
}

EXPORTED sem_timedwait(sem_t *restrict s, trace_time restrict time)
{
    const uint64_t key = key_of(s, TRACE_SEM_WAIT), site = TRACE_HERE(), begun = trace_ticks();
    const int error = next()->sem_timedwait(s, time);
    trace_waited(key, site, begun, true, error != 0 && errno == ETIMEDOUT);
    return error;
}

EXPORTED sem_clockwait(sem_t *restrict s, clockid_t clock, trace_time restrict time)
{
    const uint64_t key = key_of(s, TRACE_SEM_WAIT), site = TRACE_HERE(), begun = trace_ticks();
    const int error = next()->sem_clockwait(s, clock, time);
    trace_waited(key, site, begun, true, error != 0 && errno == ETIMEDOUT);
    return error;
}

EXPORTED sem_trywait(sem_t *s)
{
    const uint64_t key = key_of(s, TRACE_SEM_WAIT), site = TRACE_HERE();
    const int error = next()->sem_trywait(s);
    trace_called(key, site, error != 0);
    return error;
}

EXPORTED sem_post(sem_t *s)
{
    trace_called(key_of(s, TRACE_SEM_POST), TRACE_HERE(), false);
    return next()->sem_post(s);
}

EXPORTED sem_init(sem_t *s, int shared, unsigned value)
{
    trace_initialised(s, TRACE_HERE());
    return next()->sem_init(s, shared, value);
}
