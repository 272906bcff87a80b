/* SPDX-License-Identifier: MIT */
/*
 * The beds of lists.h over pthreads: a mutex and a condition variable for each sleeper. For macOS
 * before 14.4, which cannot wait on an address; tests/os/lists.c tests it on Linux.
 */
#ifndef PAWL_OS_BED_PTHREAD_H
#define PAWL_OS_BED_PTHREAD_H

#include <pthread.h>
#include <string.h>
#include <time.h>
#ifdef __APPLE__
#include <os/lock.h>
#endif

/* The list's lock must be usable from zero bytes. The mutexes of macOS are not. A thread that waits
 * for an os_unfair_lock lends its priority to the holder; a spinning thread would not. */
struct os_list_lock {
#ifdef __APPLE__
    os_unfair_lock lock;
#else
    pthread_mutex_t lock;
#endif
};

#ifdef __APPLE__
static inline void os_list_enter(struct os_list_lock *lock)
{
    os_unfair_lock_lock(&lock->lock);
}
#else
static inline void os_list_enter(struct os_list_lock *lock)
{
    (void)pthread_mutex_lock(&lock->lock);
}
#endif

#ifdef __APPLE__
static inline void os_list_leave(struct os_list_lock *lock)
{
    os_unfair_lock_unlock(&lock->lock);
}
#else
static inline void os_list_leave(struct os_list_lock *lock)
{
    (void)pthread_mutex_unlock(&lock->lock);
}
#endif

struct os_bed {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    uint32_t rung; /* under the mutex */
};

#ifdef __APPLE__
static inline void os_bed_make(struct os_bed *bed)
{
    (void)pthread_mutex_init(&bed->mutex, NULL);
    (void)pthread_cond_init(&bed->condition, NULL);
    bed->rung = 0;
}
#else
static inline void os_bed_make(struct os_bed *bed)
{
    (void)pthread_mutex_init(&bed->mutex, NULL);
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&bed->condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    bed->rung = 0;
}
#endif

static inline void os_bed_unmake(struct os_bed *bed)
{
    (void)pthread_cond_destroy(&bed->condition);
    (void)pthread_mutex_destroy(&bed->mutex);
}

/* The bed's mutex is held. */
static inline void os_bed_doze(struct os_bed *bed, uint64_t deadline)
{
    struct timespec time;
    uint64_t ns = deadline;

    if (deadline == PAWL_NO_DEADLINE) {
        (void)pthread_cond_wait(&bed->condition, &bed->mutex);
        return;
    }
#ifdef __APPLE__
    ns = pawl_os_now();
    ns = ns < deadline ? deadline - ns : 0;
#endif
    time.tv_sec = (time_t)(ns / 1000000000u);
    time.tv_nsec = (long)(ns % 1000000000u);
#ifdef __APPLE__
    (void)pthread_cond_timedwait_relative_np(&bed->condition, &bed->mutex, &time);
#else
    (void)pthread_cond_timedwait(&bed->condition, &bed->mutex, &time);
#endif
}

static inline bool os_bed_sleep(struct os_bed *bed, struct os_list_lock *lock, uint64_t deadline)
{
    if (deadline != PAWL_NO_DEADLINE && pawl_os_now() >= deadline)
        return false;
    os_list_leave(lock);
    (void)pthread_mutex_lock(&bed->mutex);
    if (!bed->rung)
        os_bed_doze(bed, deadline);
    bed->rung = 0;
    (void)pthread_mutex_unlock(&bed->mutex);
    os_list_enter(lock);
    return deadline == PAWL_NO_DEADLINE || pawl_os_now() < deadline;
}

struct os_bell {
    unsigned count;
};

/* The waker signals here and not in os_bell_ring, because the bed lies on its sleeper's stack. The
 * lock of the list, which the sleeper needs to leave, keeps it there. */
static inline bool os_bell_add(struct os_bell *bell, struct os_bed *bed)
{
    (void)bell;
    (void)pthread_mutex_lock(&bed->mutex);
    bed->rung = 1;
    (void)pthread_cond_signal(&bed->condition);
    (void)pthread_mutex_unlock(&bed->mutex);
    return true;
}

static inline void os_bell_ring(struct os_bell *bell)
{
    (void)bell;
}

#endif
