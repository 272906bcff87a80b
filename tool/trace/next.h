/* SPDX-License-Identifier: MIT */
/* The functions that the recorder stands in front of, and their next definitions. */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <pawl/atomic.h>

typedef const struct timespec *trace_time;

/* X(name in the C library, types of its arguments) */
#define TRACE_FUNCTIONS(X)                                                                         \
    X(__register_atfork, (void (*)(void), void (*)(void), void (*)(void), void *))                 \
    X(_Fork, (void))                                                                               \
    X(dlclose, (void *))                                                                           \
    X(pthread_mutex_destroy, (pthread_mutex_t *))                                                  \
    X(pthread_rwlock_destroy, (pthread_rwlock_t *))                                                \
    X(pthread_spin_destroy, (pthread_spinlock_t *))                                                \
    X(pthread_mutex_init, (pthread_mutex_t *, const pthread_mutexattr_t *))                        \
    X(pthread_mutex_lock, (pthread_mutex_t *))                                                     \
    X(pthread_mutex_trylock, (pthread_mutex_t *))                                                  \
    X(pthread_mutex_timedlock, (pthread_mutex_t *, trace_time))                                    \
    X(pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, trace_time))                         \
    X(pthread_mutex_unlock, (pthread_mutex_t *))                                                   \
    X(mtx_init, (mtx_t *, int))                                                                    \
    X(pthread_rwlock_init, (pthread_rwlock_t *, const pthread_rwlockattr_t *))                     \
    X(pthread_rwlock_rdlock, (pthread_rwlock_t *))                                                 \
    X(pthread_rwlock_wrlock, (pthread_rwlock_t *))                                                 \
    X(pthread_rwlock_tryrdlock, (pthread_rwlock_t *))                                              \
    X(pthread_rwlock_trywrlock, (pthread_rwlock_t *))                                              \
    X(pthread_rwlock_timedrdlock, (pthread_rwlock_t *, trace_time))                                \
    X(pthread_rwlock_timedwrlock, (pthread_rwlock_t *, trace_time))                                \
    X(pthread_rwlock_clockrdlock, (pthread_rwlock_t *, clockid_t, trace_time))                     \
    X(pthread_rwlock_clockwrlock, (pthread_rwlock_t *, clockid_t, trace_time))                     \
    X(pthread_rwlock_unlock, (pthread_rwlock_t *))                                                 \
    X(pthread_spin_init, (pthread_spinlock_t *, int))                                              \
    X(pthread_spin_lock, (pthread_spinlock_t *))                                                   \
    X(pthread_spin_trylock, (pthread_spinlock_t *))                                                \
    X(pthread_spin_unlock, (pthread_spinlock_t *))                                                 \
    X(pthread_cond_init, (pthread_cond_t *, const pthread_condattr_t *))                           \
    X(pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *))                                    \
    X(pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, trace_time))                   \
    X(pthread_cond_clockwait, (pthread_cond_t *, pthread_mutex_t *, clockid_t, trace_time))        \
    X(pthread_cond_signal, (pthread_cond_t *))                                                     \
    X(pthread_cond_broadcast, (pthread_cond_t *))                                                  \
    X(pthread_barrier_init, (pthread_barrier_t *, const pthread_barrierattr_t *, unsigned))        \
    X(pthread_barrier_wait, (pthread_barrier_t *))                                                 \
    X(sem_init, (sem_t *, int, unsigned))                                                          \
    X(sem_wait, (sem_t *))                                                                         \
    X(sem_trywait, (sem_t *))                                                                      \
    X(sem_timedwait, (sem_t *, trace_time))                                                        \
    X(sem_clockwait, (sem_t *, clockid_t, trace_time))                                             \
    X(sem_post, (sem_t *))                                                                         \
    X(nanosleep, (trace_time, struct timespec *))                                                  \
    X(clock_nanosleep, (clockid_t, int, trace_time, struct timespec *))                            \
    X(usleep, (useconds_t))                                                                        \
    X(sched_yield, (void))

#define TRACE_VARIADIC(X) X(prctl, int, int) X(syscall, long, long)

struct trace_next {
#define X(name, arguments) int(*name) arguments;
    TRACE_FUNCTIONS(X)
#undef X
#define X(name, result, first) result (*name)(first, ...);
    TRACE_VARIADIC(X)
#undef X
};

extern struct trace_next trace_found __attribute__((visibility("hidden")));
extern bool trace_found_all __attribute__((visibility("hidden")));

PAWL_COLD __attribute__((visibility("hidden"))) void trace_find_all(void);

/* A constructor has found them; a call of another library's constructor may come earlier. The
 * recorder's own calls of them go this way, past the definitions that stand in front. */
static inline const struct trace_next *next(void)
{
    if (PAWL_UNLIKELY(!trace_found_all))
        trace_find_all();
    return &trace_found;
}
