/* SPDX-License-Identifier: MIT */
/*
 * Mutexes that outlive their holders (robust.h): those of the C library. The kernel searches a list
 * of mutexes when a thread ends. The C library enters each mutex in that list in the same critical
 * instructions in which it takes the mutex. The list is the C library's own, so it can hold only
 * the C library's mutexes. In the hook variant the mutexes are the harness's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "robust.h"

#if defined(__linux__) && !PAWL_HOOKS

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

_Static_assert(sizeof(pthread_mutex_t) <= PAWL_OS_ROBUST_SIZE, "room for the mutex");

bool pawl_os_robust_make(void *mutex)
{
    pthread_mutexattr_t kind;
    bool made;
    if (pthread_mutexattr_init(&kind) != 0)
        return false;
    made = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) == 0 &&
           pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) == 0;
    (void)memset(mutex, 0, PAWL_OS_ROBUST_SIZE);
    made = made && pthread_mutex_init((pthread_mutex_t *)mutex, &kind) == 0;
    (void)pthread_mutexattr_destroy(&kind);
    return made;
}

size_t pawl_os_robust_size(void)
{
    return sizeof(pthread_mutex_t);
}

static enum pawl_os_robust os_outcome_of(int error)
{
    switch (error) {
    case 0: return PAWL_OS_ROBUST_GOT;
    case EOWNERDEAD: return PAWL_OS_ROBUST_GOT_DEAD;
    case EBUSY: return PAWL_OS_ROBUST_BUSY;
    case ETIMEDOUT: return PAWL_OS_ROBUST_LATE;
    default: return PAWL_OS_ROBUST_BROKEN;
    }
}

#if PAWL_TSAN_
/* The sanitizer does not know clocklock. It would report seek, gate and members as a potential
 * deadlock, because holders of seek take them in more than one order. It ignores tries. So in its
 * builds, and only there, a waiter tries again and again. */
enum pawl_os_robust pawl_os_robust_lock(void *mutex, uint64_t deadline)
{
    for (;;) {
        const enum pawl_os_robust how = pawl_os_robust_try(mutex);
        if (how != PAWL_OS_ROBUST_BUSY)
            return how;
        if (pawl_os_now() >= deadline)
            return PAWL_OS_ROBUST_LATE;
        pawl_os_yield();
    }
}
#else
enum pawl_os_robust pawl_os_robust_lock(void *mutex, uint64_t deadline)
{
    const uint64_t seconds = deadline / 1000000000u;
    struct timespec until;
    if (seconds > INT32_MAX)
        return os_outcome_of(pthread_mutex_lock((pthread_mutex_t *)mutex));
    until.tv_sec = (time_t)seconds;
    until.tv_nsec = (long)(deadline % 1000000000u);
    return os_outcome_of(pthread_mutex_clocklock((pthread_mutex_t *)mutex, CLOCK_MONOTONIC,
                                                 &until));
}
#endif

enum pawl_os_robust pawl_os_robust_try(void *mutex)
{
    return os_outcome_of(pthread_mutex_trylock((pthread_mutex_t *)mutex));
}

/* FUTEX_WAITERS is the kernel's bit for it. On other C libraries this does nothing. */
void pawl_os_robust_owe_wake(void *mutex)
{
#ifdef __GLIBC__
    (void)pawl_fetch_or_relaxed32((uint32_t *)(void *)&((pthread_mutex_t *)mutex)->__data.__lock,
                                  FUTEX_WAITERS);
#else
    (void)mutex;
#endif
}

bool pawl_os_robust_heal(void *mutex)
{
    return pthread_mutex_consistent((pthread_mutex_t *)mutex) == 0;
}

bool pawl_os_robust_unlock(void *mutex)
{
    return pthread_mutex_unlock((pthread_mutex_t *)mutex) == 0;
}

#elif PAWL_HOOKS

/* A harness that knows of dying threads defines these. */
__attribute__((weak)) bool pawl_hook_robust_make(void *mutex)
{
    (void)mutex;
    return false;
}

__attribute__((weak)) enum pawl_hook_robust pawl_hook_robust_lock(void *mutex, uint64_t deadline)
{
    (void)mutex, (void)deadline;
    return PAWL_HOOK_ROBUST_BROKEN;
}

__attribute__((weak)) enum pawl_hook_robust pawl_hook_robust_try(void *mutex)
{
    (void)mutex;
    return PAWL_HOOK_ROBUST_BROKEN;
}

__attribute__((weak)) void pawl_hook_robust_owe_wake(void *mutex)
{
    (void)mutex;
}

__attribute__((weak)) bool pawl_hook_robust_heal(void *mutex)
{
    (void)mutex;
    return false;
}

__attribute__((weak)) bool pawl_hook_robust_unlock(void *mutex)
{
    (void)mutex;
    return false;
}

bool pawl_os_robust_make(void *mutex)
{
    return pawl_hook_robust_make(mutex);
}

size_t pawl_os_robust_size(void)
{
    return PAWL_OS_ROBUST_SIZE;
}

enum pawl_os_robust pawl_os_robust_lock(void *mutex, uint64_t deadline)
{
    return (enum pawl_os_robust)pawl_hook_robust_lock(mutex, deadline);
}

enum pawl_os_robust pawl_os_robust_try(void *mutex)
{
    return (enum pawl_os_robust)pawl_hook_robust_try(mutex);
}

void pawl_os_robust_owe_wake(void *mutex)
{
    pawl_hook_robust_owe_wake(mutex);
}

bool pawl_os_robust_heal(void *mutex)
{
    return pawl_hook_robust_heal(mutex);
}

bool pawl_os_robust_unlock(void *mutex)
{
    return pawl_hook_robust_unlock(mutex);
}

#endif
