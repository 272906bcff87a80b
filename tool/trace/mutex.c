/* SPDX-License-Identifier: MIT */
/*
 * pthread_mutex_*, pthread_spin_* and C11's mtx_*, which glibc serves by the same functions under
 * hidden names. A lock is tried first: a try that succeeds is a lock that did not wait, and costs
 * no second look at the clock.
 *
 * EOWNERDEAD grants a robust mutex, too.
 */
#include "record.h"

#define EXPORTED __attribute__((visibility("default"))) int

static bool is_granted(int error)
{
    return error == 0 || error == EOWNERDEAD;
}

/* The waiting call of this mutex. */
struct how {
    trace_time time;
    clockid_t clock;
    bool timed, clocked;
};

static int really_lock(pthread_mutex_t *m, const struct how *how)
{
    if (how->clocked)
        return next()->pthread_mutex_clocklock(m, how->clock, how->time);
    return how->timed ? next()->pthread_mutex_timedlock(m, how->time)
                      : next()->pthread_mutex_lock(m);
}

/* A try looks at no time, so it would grant what the call refuses: a deadline that is none, or a
 * clock that this mutex cannot wait by. Such a call is not tried first. It waits only where the
 * mutex is held. */
static bool may_be_refused(const pthread_mutex_t *m, const struct how *how)
{
    if (!how->timed)
        return false;
    return !trace_is_time(how->time) ||
           (how->clocked && how->clock != CLOCK_REALTIME &&
            (how->clock != CLOCK_MONOTONIC ||
             ((unsigned)m->__data.__kind & PTHREAD_PRIO_INHERIT << 5) != 0));
}

static inline int first_try(pthread_mutex_t *m, const struct how *how)
{
    if (PAWL_LIKELY(!may_be_refused(m, how)))
        return next()->pthread_mutex_trylock(m);
    return __atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED) != 0 ? EBUSY : really_lock(m, how);
}

/* A mutex that looks who asks, and that this thread holds. */
static bool is_own_and_checked(const pthread_mutex_t *m)
{
    return (m->__data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK &&
           (uint32_t)__atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED) ==
               trace_self.lane->kernel;
}

static inline int lock_mutex(pthread_mutex_t *m, uint64_t site, const struct how *how)
{
    const uint64_t key = key_of(m, TRACE_MUTEX);
    if (PAWL_UNLIKELY(!enter()))
        return really_lock(m, how);
    trace_will_ask();
    int error = first_try(m, how);
    if (PAWL_UNLIKELY(error == EBUSY) && is_own_and_checked(m)) {
        trace_self.price.begun = 0;
        leave(); /* it is refused, and does not wait */
        error = really_lock(m, how);
        trace_called(key, site, true);
        return error;
    }
    if (PAWL_UNLIKELY(error == EBUSY)) {
        struct trace_wait w;
        trace_wait_begins(&w, key, site);
        error = really_lock(m, how);
        trace_wait_ends(&w, is_granted(error), error == ETIMEDOUT);
        return error;
    }
    if (PAWL_LIKELY(is_granted(error)))
        granted(key, site);
    else
        trace_self.price.begun = 0;
    leave();
    return error;
}

static int try_mutex(pthread_mutex_t *m, uint64_t site)
{
    const uint64_t key = key_of(m, TRACE_MUTEX);
    const int error = next()->pthread_mutex_trylock(m);
    if (error == EBUSY) {
        trace_called(key, site, true);
    } else if (is_granted(error) && enter()) {
        granted_at_once(key, site, true);
        leave();
    }
    return error;
}

static inline int unlock_mutex(pthread_mutex_t *m, uint64_t site)
{
    releases(m, site);
    int error = next()->pthread_mutex_unlock(m);
    released();
    return error;
}

static const struct how for_ever = {NULL, 0, false, false};

EXPORTED pthread_mutex_lock(pthread_mutex_t *m)
{
    return lock_mutex(m, TRACE_HERE(), &for_ever);
}

EXPORTED pthread_mutex_timedlock(pthread_mutex_t *restrict m, trace_time restrict time)
{
    const struct how how = {time, 0, true, false};
    return lock_mutex(m, TRACE_HERE(), &how);
}

EXPORTED pthread_mutex_clocklock(pthread_mutex_t *restrict m, clockid_t clock,
                                 trace_time restrict time)
{
    const struct how how = {time, clock, true, true};
    return lock_mutex(m, TRACE_HERE(), &how);
}

EXPORTED pthread_mutex_trylock(pthread_mutex_t *m)
{
    return try_mutex(m, TRACE_HERE());
}

EXPORTED pthread_mutex_unlock(pthread_mutex_t *m)
{
    return unlock_mutex(m, TRACE_HERE());
}

EXPORTED pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
    trace_initialised(m, TRACE_HERE());
    return next()->pthread_mutex_init(m, a);
}

EXPORTED pthread_mutex_destroy(pthread_mutex_t *m)
{
    trace_lock_ends(m);
    return next()->pthread_mutex_destroy(m);
}

/* ---- C11: an mtx_t of glibc is a pthread_mutex_t --------------------------------------------- */

EXPORTED mtx_lock(mtx_t *m)
{
    return trace_thrd(lock_mutex((pthread_mutex_t *)m, TRACE_HERE(), &for_ever));
}

EXPORTED mtx_timedlock(mtx_t *restrict m, trace_time restrict time)
{
    const struct how how = {time, 0, true, false};
    return trace_thrd(lock_mutex((pthread_mutex_t *)m, TRACE_HERE(), &how));
}

EXPORTED mtx_trylock(mtx_t *m)
{
    return trace_thrd(try_mutex((pthread_mutex_t *)m, TRACE_HERE()));
}

EXPORTED mtx_unlock(mtx_t *m)
{
    return trace_thrd(unlock_mutex((pthread_mutex_t *)m, TRACE_HERE()));
}

EXPORTED mtx_init(mtx_t *m, int type)
{
    trace_initialised(m, TRACE_HERE());
    return next()->mtx_init(m, type);
}

__attribute__((visibility("default"))) void mtx_destroy(mtx_t *m)
{
    (void)pthread_mutex_destroy((pthread_mutex_t *)m);
}

/* ---- Spinlocks ------------------------------------------------------------------------------- */

EXPORTED pthread_spin_lock(pthread_spinlock_t *s)
{
    const uint64_t key = key_of(s, TRACE_SPIN), site = TRACE_HERE();
    if (PAWL_UNLIKELY(!enter()))
        return next()->pthread_spin_lock(s);
    int error = next()->pthread_spin_trylock(s);
    if (PAWL_UNLIKELY(error == EBUSY)) {
        struct trace_wait w;
        trace_wait_begins(&w, key, site);
        error = next()->pthread_spin_lock(s);
        trace_wait_ends(&w, error == 0, false);
        return error;
    }
    if (PAWL_LIKELY(error == 0))
        granted(key, site);
    leave();
    return error;
}

EXPORTED pthread_spin_trylock(pthread_spinlock_t *s)
{
    const uint64_t key = key_of(s, TRACE_SPIN), site = TRACE_HERE();
    const int error = next()->pthread_spin_trylock(s);
    if (error == EBUSY) {
        trace_called(key, site, true);
    } else if (error == 0 && enter()) {
        granted_at_once(key, site, true);
        leave();
    }
    return error;
}

EXPORTED pthread_spin_unlock(pthread_spinlock_t *s)
{
    releases(s, TRACE_HERE());
    int error = next()->pthread_spin_unlock(s);
    released();
    return error;
}

EXPORTED pthread_spin_init(pthread_spinlock_t *s, int shared)
{
    trace_initialised((const void *)(uintptr_t)s, TRACE_HERE());
    return next()->pthread_spin_init(s, shared);
}

EXPORTED pthread_spin_destroy(pthread_spinlock_t *s)
{
    trace_lock_ends(s);
    return next()->pthread_spin_destroy(s);
}
