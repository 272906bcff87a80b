/* SPDX-License-Identifier: MIT */
/*
 * Conditions, barriers, semaphores: nobody holds them, so there are waits and calls only. The wait
 * of pthread_cond_wait ends when the thread has its mutex back. A thread that is cancelled there
 * leaves its mutex marked, and the hold that its handler ends is not counted.
 */
#include "record.h"

#define EXPORTED __attribute__((visibility("default"))) int

struct how {
    trace_time time; /* NULL: for ever */
    clockid_t clock;
    bool clocked;
};

static const struct how for_ever = {NULL, 0, false};

/* ---- Conditions ------------------------------------------------------------------------------ */

static int wait_cond(pthread_cond_t *c, pthread_mutex_t *m, uint64_t site, const struct how *how)
{
    int error;
    trace_cond_gives_up(m, site);
    uint64_t begun = trace_ticks();
    if (how->clocked)
        error = next()->pthread_cond_clockwait(c, m, how->clock, how->time);
    else
        error = how->time != NULL ? next()->pthread_cond_timedwait(c, m, how->time)
                                  : next()->pthread_cond_wait(c, m);
    trace_cond_is_back(m, site);
    trace_waited(key_of(c, TRACE_COND_WAIT), site, begun, true, error);
    return error;
}

EXPORTED pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
    return wait_cond(c, m, TRACE_HERE(), &for_ever);
}

EXPORTED pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                                trace_time restrict time)
{
    const struct how how = {time, 0, false};
    return wait_cond(c, m, TRACE_HERE(), &how);
}

EXPORTED pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                                clockid_t clock, trace_time restrict time)
{
    const struct how how = {time, clock, true};
    return wait_cond(c, m, TRACE_HERE(), &how);
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

/* C11's, which glibc serves by the functions above, under hidden names. */

EXPORTED cnd_wait(cnd_t *c, mtx_t *m)
{
    return trace_thrd(
        wait_cond((pthread_cond_t *)c, (pthread_mutex_t *)m, TRACE_HERE(), &for_ever));
}

EXPORTED cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, trace_time restrict time)
{
    const struct how how = {time, 0, false};
    return trace_thrd(wait_cond((pthread_cond_t *)c, (pthread_mutex_t *)m, TRACE_HERE(), &how));
}

EXPORTED cnd_signal(cnd_t *c)
{
    trace_wakes(key_of(c, TRACE_COND_SIGNAL), TRACE_HERE());
    return trace_thrd(next()->pthread_cond_signal((pthread_cond_t *)c));
}

EXPORTED cnd_broadcast(cnd_t *c)
{
    trace_wakes(key_of(c, TRACE_COND_BROADCAST), TRACE_HERE());
    return trace_thrd(next()->pthread_cond_broadcast((pthread_cond_t *)c));
}

EXPORTED cnd_init(cnd_t *c)
{
    trace_initialised(c, TRACE_HERE());
    return trace_thrd(next()->pthread_cond_init((pthread_cond_t *)c, NULL));
}

/* ---- Barriers -------------------------------------------------------------------------------- */

EXPORTED pthread_barrier_wait(pthread_barrier_t *b)
{
    const uint64_t key = key_of(b, TRACE_BARRIER), site = TRACE_HERE(), begun = trace_ticks();
    const int error = next()->pthread_barrier_wait(b);
    const bool was_last = error == PTHREAD_BARRIER_SERIAL_THREAD;
    trace_waited(key, site, begun, !was_last, was_last ? 0 : error);
    return error;
}

EXPORTED pthread_barrier_init(pthread_barrier_t *restrict b,
                              const pthread_barrierattr_t *restrict a, unsigned count)
{
    trace_initialised(b, TRACE_HERE());
    return next()->pthread_barrier_init(b, a, count);
}

/* ---- Semaphores: results are -1 and errno ---------------------------------------------------- */

static int really_wait(sem_t *s, const struct how *how)
{
    if (how->clocked)
        return next()->sem_clockwait(s, how->clock, how->time);
    return how->time != NULL ? next()->sem_timedwait(s, how->time) : next()->sem_wait(s);
}

/* A cancellation point even where it need not wait. A deadline or clock that is none is refused,
 * also where a unit is there; such a call waits for nothing, and neither does one that takes it. */
static int wait_for(sem_t *s, uint64_t site, const struct how *how)
{
    const uint64_t key = key_of(s, TRACE_SEM_WAIT);
    const bool may_be_refused =
        (how->clocked && how->clock != CLOCK_REALTIME && how->clock != CLOCK_MONOTONIC) ||
        (how->time != NULL && !trace_is_time(how->time));
    const int saved = errno;
    if (!may_be_refused) {
        pthread_testcancel();
        if (next()->sem_trywait(s) == 0) {
            trace_waited(key, site, 0, false, 0);
            return 0;
        }
        errno = saved;
    }
    uint64_t begun = trace_ticks();
    int result = really_wait(s, how);
    trace_waited(key, site, begun, result == 0 || errno != EINVAL, result == 0 ? 0 : errno);
    return result;
}

EXPORTED sem_wait(sem_t *s)
{
    return wait_for(s, TRACE_HERE(), &for_ever);
}

EXPORTED sem_timedwait(sem_t *restrict s, trace_time restrict time)
{
    const struct how how = {time, 0, false};
    return wait_for(s, TRACE_HERE(), &how);
}

EXPORTED sem_clockwait(sem_t *restrict s, clockid_t clock, trace_time restrict time)
{
    const struct how how = {time, clock, true};
    return wait_for(s, TRACE_HERE(), &how);
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
