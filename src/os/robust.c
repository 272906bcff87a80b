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
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(pthread_mutex_t) <= PAWL_OS_ROBUST_SIZE, "room for the mutex");

/* ---- The functions of the C library ---------------------------------------------------------- */

/* Valgrind's tools would take the mutexes' order for the lock's, and report the deaths that this
 * lock is for. So in Valgrind the functions are called past the tools' wrappers. (On POWER that
 * takes more than an address.) */
#if PAWL_VALGRIND && !defined(__powerpc__)

#include <valgrind/valgrind.h>

static OrigFn os_past_wrappers(const void *function)
{
    OrigFn past;
    memset(&past, 0, sizeof past);
    past.nraddr = (unsigned long)(uintptr_t)function;
    return past;
}

static int os_mutex_call(int (*function)(pthread_mutex_t *), void *mutex)
{
    const OrigFn past = os_past_wrappers((const void *)(uintptr_t)function);
    int error;
    if (!RUNNING_ON_VALGRIND)
        return function((pthread_mutex_t *)mutex);
    CALL_FN_W_W(error, past, mutex);
    return error;
}

static int os_mutex_init(void *mutex, const pthread_mutexattr_t *kind)
{
    const OrigFn past = os_past_wrappers((const void *)(uintptr_t)pthread_mutex_init);
    int error;
    if (!RUNNING_ON_VALGRIND)
        return pthread_mutex_init((pthread_mutex_t *)mutex, kind);
    CALL_FN_W_WW(error, past, mutex, kind);
    return error;
}

static int os_mutex_clocklock(void *mutex, const struct timespec *until)
{
    const OrigFn past = os_past_wrappers((const void *)(uintptr_t)pthread_mutex_clocklock);
    int error;
    if (!RUNNING_ON_VALGRIND)
        return pthread_mutex_clocklock((pthread_mutex_t *)mutex, CLOCK_MONOTONIC, until);
    CALL_FN_W_WWW(error, past, mutex, CLOCK_MONOTONIC, until);
    return error;
}

#else

static int os_mutex_call(int (*function)(pthread_mutex_t *), void *mutex)
{
    return function((pthread_mutex_t *)mutex);
}

static int os_mutex_init(void *mutex, const pthread_mutexattr_t *kind)
{
    return pthread_mutex_init((pthread_mutex_t *)mutex, kind);
}

#if defined(__linux__) && !defined(__GLIBC__)
/* musl has no clocklock. Somebody may set the real-time clock meanwhile: a second goes wrong by
 * that at most. */
static int os_mutex_clocklock(void *mutex, const struct timespec *until)
{
    const uint64_t end = (uint64_t)until->tv_sec * 1000000000u + (uint64_t)until->tv_nsec;
    for (;;) {
        const uint64_t now = pawl_os_now();
        const uint64_t left = now >= end ? 0 : end - now;
        struct timespec real;
        int error;
        (void)clock_gettime(CLOCK_REALTIME, &real);
        real.tv_nsec += left < 1000000000u ? (long)left : 999999999;
        real.tv_sec += real.tv_nsec / 1000000000;
        real.tv_nsec %= 1000000000;
        error = pthread_mutex_timedlock((pthread_mutex_t *)mutex, &real);
        if (error != ETIMEDOUT || left < 1000000000u)
            return error;
    }
}
#else
static int os_mutex_clocklock(void *mutex, const struct timespec *until)
{
    return pthread_mutex_clocklock((pthread_mutex_t *)mutex, CLOCK_MONOTONIC, until);
}
#endif

#endif

bool pawl_os_robust_make(void *mutex)
{
    pthread_mutexattr_t kind;
    bool made;
    if (pthread_mutexattr_init(&kind) != 0)
        return false;
    made = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) == 0 &&
           pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) == 0;
    (void)memset(mutex, 0, PAWL_OS_ROBUST_SIZE);
    made = made && os_mutex_init(mutex, &kind) == 0;
    (void)pthread_mutexattr_destroy(&kind);
    return made;
}

/* ---- Identity -------------------------------------------------------------------------------- */

/* A child of _Fork runs no handlers, so nothing in the library learns of the new thread number. The
 * kernel tells: it wipes one page in each child. A process with a wiped page begins a new life, and
 * each thread then asks for its number anew. */
enum { OS_PAGE = 65536 }; /* a multiple of each page size */

static uint64_t os_life_page; /* 0: not yet mapped; 1: this kernel wipes no pages */
static uint32_t os_lives;     /* of this process and its ancestors */

static PAWL_COLD uint64_t os_map_life_page(void)
{
    const int saved = errno;
    uint64_t page = 1, found = 0;
    void *at = mmap(NULL, OS_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED && madvise(at, OS_PAGE, MADV_WIPEONFORK) == 0) {
        pawl_os_told_own(at, OS_PAGE);
        page = (uint64_t)(uintptr_t)at;
    }
    errno = saved;
    if (pawl_cas_relaxed64(&os_life_page, &found, page))
        found = page;
    if (at != MAP_FAILED && found != (uint64_t)(uintptr_t)at)
        (void)munmap(at, OS_PAGE);
    return found;
}

static PAWL_COLD uint32_t os_ask_number(uint32_t *page)
{
    const int saved = errno;
    uint32_t life = 0;
    struct pawl_own *const own = pawl_os_own();
    const uint32_t next = pawl_fetch_add_relaxed32(&os_lives, 1) + 1;
    if (pawl_load_relaxed32(page) == 0 && pawl_cas_relaxed32(page, &life, next))
        life = next;
    if (life == 0)
        life = pawl_load_relaxed32(page);
    /* A handler that runs before the last of these asks anew, perhaps in a child. */
    own->robust_life = 0;
    __asm__ __volatile__("" ::: "memory");
    own->robust_self = pawl_os_thread_id();
    own->robust_page = page;
    __asm__ __volatile__("" ::: "memory");
    own->robust_life = life;
    errno = saved;
    return own->robust_self;
}

uint32_t pawl_os_robust_self(void)
{
    uint64_t page = pawl_load_relaxed64(&os_life_page);
    const struct pawl_own *own;
    uint32_t *at;
    if (PAWL_UNLIKELY(page <= 1)) {
        page = page == 0 ? os_map_life_page() : page;
        if (page == 1)
            return pawl_os_thread_id();
    }
    at = (uint32_t *)(uintptr_t)page;
    own = pawl_os_own();
    /* Each copy of the library counts lives of its own. */
    if (PAWL_LIKELY(own->robust_life != 0 && own->robust_life == pawl_load_relaxed32(at) &&
                    own->robust_page == at))
        return own->robust_self;
    return os_ask_number(at);
}

/* ---- Mutexes --------------------------------------------------------------------------------- */

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

/* ThreadSanitizer's, in programs that have it; the library may be built without it. */
extern void __tsan_init(void) __attribute__((weak));

/* The sanitizer does not know clocklock, so it would report the unlock. It would report seek, gate
 * and members as a potential deadlock, because holders of seek take them in more than one order. It
 * ignores tries. So in its programs, and only there, a waiter tries again and again. With a
 * deadline in the past it tries once, in all programs. */
static enum pawl_os_robust os_try_until(void *mutex, uint64_t deadline)
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

enum pawl_os_robust pawl_os_robust_lock(void *mutex, uint64_t deadline)
{
    const uint64_t seconds = deadline / 1000000000u;
    struct timespec until;
    if (__tsan_init != NULL || pawl_os_now() >= deadline)
        return os_try_until(mutex, deadline);
    if (seconds > INT32_MAX)
        return os_outcome_of(os_mutex_call(pthread_mutex_lock, mutex));
    until.tv_sec = (time_t)seconds;
    until.tv_nsec = (long)(deadline % 1000000000u);
    return os_outcome_of(os_mutex_clocklock(mutex, &until));
}

enum pawl_os_robust pawl_os_robust_try(void *mutex)
{
    return os_outcome_of(os_mutex_call(pthread_mutex_trylock, mutex));
}

/* FUTEX_OWNER_DIED and FUTEX_WAITERS are the kernel's bits. */
#ifdef __GLIBC__
static uint32_t os_look(const void *mutex)
{
    return pawl_load_relaxed32(
        (const uint32_t *)(const void *)&((const pthread_mutex_t *)mutex)->__data.__lock);
}

bool pawl_os_robust_is_free(const void *mutex)
{
    return os_look(mutex) == 0;
}

bool pawl_os_robust_is_left(const void *mutex)
{
    return (os_look(mutex) & FUTEX_OWNER_DIED) != 0;
}

void pawl_os_robust_owe_wake(void *mutex)
{
    (void)pawl_fetch_or_relaxed32((uint32_t *)(void *)&((pthread_mutex_t *)mutex)->__data.__lock,
                                  FUTEX_WAITERS);
}
#else
bool pawl_os_robust_is_free(const void *mutex)
{
    (void)mutex;
    return false;
}

bool pawl_os_robust_is_left(const void *mutex)
{
    (void)mutex;
    return true;
}

/* Does nothing here. */
void pawl_os_robust_owe_wake(void *mutex)
{
    (void)mutex;
}
#endif

bool pawl_os_robust_heal(void *mutex)
{
    return pthread_mutex_consistent((pthread_mutex_t *)mutex) == 0;
}

bool pawl_os_robust_unlock(void *mutex)
{
    return os_mutex_call(pthread_mutex_unlock, mutex) == 0;
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

__attribute__((weak)) enum pawl_hook_robust pawl_hook_robust_look(const void *mutex)
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

uint32_t pawl_os_robust_self(void)
{
    return pawl_os_thread_id();
}

enum pawl_os_robust pawl_os_robust_lock(void *mutex, uint64_t deadline)
{
    return (enum pawl_os_robust)pawl_hook_robust_lock(mutex, deadline);
}

enum pawl_os_robust pawl_os_robust_try(void *mutex)
{
    return (enum pawl_os_robust)pawl_hook_robust_try(mutex);
}

bool pawl_os_robust_is_free(const void *mutex)
{
    return pawl_hook_robust_look(mutex) == PAWL_HOOK_ROBUST_FREE;
}

bool pawl_os_robust_is_left(const void *mutex)
{
    return pawl_hook_robust_look(mutex) == PAWL_HOOK_ROBUST_GOT_DEAD;
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
