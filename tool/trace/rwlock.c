/* SPDX-License-Identifier: MIT */
/* pthread_rwlock_*. As in mutex.c, a lock is tried before it is waited for. */
#include "record.h"

#include <errno.h>

struct how {
    trace_time time;
    clockid_t clock;
    bool timed, clocked;
};

static int really_lock(pthread_rwlock_t *l, enum trace_mode mode, const struct how *how)
{
    const struct trace_next *const n = next();
    if (mode == TRACE_READ) {
        if (how->clocked)
            return n->pthread_rwlock_clockrdlock(l, how->clock, how->time);
        return how->timed ? n->pthread_rwlock_timedrdlock(l, how->time)
                          : n->pthread_rwlock_rdlock(l);
    }
    if (how->clocked)
        return n->pthread_rwlock_clockwrlock(l, how->clock, how->time);
    return how->timed ? n->pthread_rwlock_timedwrlock(l, how->time) : n->pthread_rwlock_wrlock(l);
}

static int try_lock(pthread_rwlock_t *l, enum trace_mode mode)
{
    return mode == TRACE_READ ? next()->pthread_rwlock_tryrdlock(l)
                              : next()->pthread_rwlock_trywrlock(l);
}

static inline int lock_rwlock(pthread_rwlock_t *l, enum trace_mode mode, uint64_t site,
                              const struct how *how)
{
    const uint64_t key = key_of(l, mode);
    int error;
    if (PAWL_UNLIKELY(!enter()))
        return really_lock(l, mode, how);
    trace_will_ask();
    /* A try would grant what the call refuses: a deadline that is none, or another clock. */
    if (how->timed && (!trace_is_time(how->time) || (how->clocked && how->clock != CLOCK_REALTIME &&
                                                     how->clock != CLOCK_MONOTONIC)))
        error = really_lock(l, mode, how);
    else
        error = try_lock(l, mode);
    if (PAWL_UNLIKELY(error == EBUSY)) {
        struct trace_wait w;
        trace_wait_begins(&w, key, site);
        error = really_lock(l, mode, how);
        trace_wait_ends(&w, error == 0, error == ETIMEDOUT);
        return error;
    }
    if (PAWL_LIKELY(error == 0))
        granted(key, site);
    else
        trace_self.price.begun = 0;
    leave();
    return error;
}

static inline int tried(pthread_rwlock_t *l, enum trace_mode mode, uint64_t site)
{
    const int error = try_lock(l, mode);
    if (error == EBUSY) {
        trace_called(key_of(l, mode), site, true);
    } else if (error == 0 && enter()) {
        granted_at_once(key_of(l, mode), site, true);
        leave();
    }
    return error;
}

#define EXPORTED __attribute__((visibility("default"))) int
static const struct how untimed = {NULL, 0, false, false};

EXPORTED pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
    return lock_rwlock(l, TRACE_READ, TRACE_HERE(), &untimed);
}

EXPORTED pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    return lock_rwlock(l, TRACE_WRITE, TRACE_HERE(), &untimed);
}

EXPORTED pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict l, trace_time restrict time)
{
    const struct how how = {time, 0, true, false};
    return lock_rwlock(l, TRACE_READ, TRACE_HERE(), &how);
}

EXPORTED pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict l, trace_time restrict time)
{
    const struct how how = {time, 0, true, false};
    return lock_rwlock(l, TRACE_WRITE, TRACE_HERE(), &how);
}

EXPORTED pthread_rwlock_clockrdlock(pthread_rwlock_t *restrict l, clockid_t clock,
                                    trace_time restrict time)
{
    const struct how how = {time, clock, true, true};
    return lock_rwlock(l, TRACE_READ, TRACE_HERE(), &how);
}

EXPORTED pthread_rwlock_clockwrlock(pthread_rwlock_t *restrict l, clockid_t clock,
                                    trace_time restrict time)
{
    const struct how how = {time, clock, true, true};
    return lock_rwlock(l, TRACE_WRITE, TRACE_HERE(), &how);
}

EXPORTED pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
    return tried(l, TRACE_READ, TRACE_HERE());
}

EXPORTED pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
    return tried(l, TRACE_WRITE, TRACE_HERE());
}

EXPORTED pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    releases(l, TRACE_HERE());
    int error = next()->pthread_rwlock_unlock(l);
    released();
    return error;
}

EXPORTED pthread_rwlock_init(pthread_rwlock_t *restrict l, const pthread_rwlockattr_t *restrict a)
{
    trace_initialised(l, TRACE_HERE());
    return next()->pthread_rwlock_init(l, a);
}

EXPORTED pthread_rwlock_destroy(pthread_rwlock_t *l)
{
    trace_lock_ends(l);
    return next()->pthread_rwlock_destroy(l);
}
