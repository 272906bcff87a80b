/* SPDX-License-Identifier: MIT */
/*
 * Lent priorities (priority.h): Linux's futexes that know their owner. Other systems have none, so
 * a lock that needs them is refused there. Simulated threads sleep on the word as on any other.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "priority.h"

#include <errno.h>
#include <stdlib.h>

#if !PAWL_HOOKS && defined(__linux__)
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "futex.h"
#endif

#if PAWL_HOOKS || !defined(__linux__)

#define WAITED_FOR 0x80000000u

bool pawl_os_lends(void)
{
    return PAWL_HOOKS != 0;
}

/* An ordinary sleep; the harness knows no priorities. */
bool pawl_os_lend(uint32_t *word, uint64_t deadline)
{
    for (;;) {
        uint32_t found = 0;
        if (pawl_cas_relaxed32(word, &found, pawl_os_thread_id() | WAITED_FOR))
            return true;
        if (!(found & WAITED_FOR) && !pawl_cas_relaxed32(word, &found, found | WAITED_FOR))
            continue;
        if (!pawl_os_wait(word, found | WAITED_FOR, deadline))
            return false;
    }
}

void pawl_os_lent(uint32_t *word)
{
    pawl_store_relaxed32(word, 0);
    (void)pawl_os_wake(word, 1);
}

#undef WAITED_FOR

#else

/* Since Linux 5.14, for deadlines of CLOCK_MONOTONIC. */
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

#define NS_PER_SECOND 1000000000u

bool pawl_os_lends(void)
{
    const int saved = errno;
    uint32_t word = 0;
    const bool lends =
        syscall(OS_FUTEX, &word, FUTEX_TRYLOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0) == 0;
    if (lends)
        (void)syscall(OS_FUTEX, &word, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
    errno = saved;
    return lends;
}

/* Older kernels take deadlines of CLOCK_REALTIME only; a step of that clock moves the deadline. */
static long os_lend_by_day(uint32_t *word, uint64_t deadline)
{
    const uint64_t now = pawl_os_now();
    struct timespec day;
    (void)clock_gettime(CLOCK_REALTIME, &day);
    return os_futex_until(word, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0,
                          (uint64_t)day.tv_sec * NS_PER_SECOND + (uint64_t)day.tv_nsec +
                              (deadline > now ? deadline - now : 0),
                          0);
}

static long os_lend_once(uint32_t *word, uint64_t deadline)
{
    long result;
    if (os_futex_for_ever(deadline))
        return syscall(OS_FUTEX, word, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
    result = os_futex_until(word, FUTEX_LOCK_PI2 | FUTEX_PRIVATE_FLAG, 0, deadline, 0);
    return result < 0 && errno == ENOSYS ? os_lend_by_day(word, deadline) : result;
}

bool pawl_os_lend(uint32_t *word, uint64_t deadline)
{
    const int saved = errno;
    bool ours = false;
    while (pawl_os_now() < deadline) {
        ours = os_lend_once(word, deadline) == 0;
        if (ours || errno == ETIMEDOUT)
            break;
        if (errno == EDEADLK)
            abort();
        if (errno != EAGAIN && errno != EINTR) /* the owner is about to end, or has */
            (void)sched_yield();
    }
    errno = saved;
    return ours;
}

void pawl_os_lent(uint32_t *word)
{
    const int saved = errno;
    if (syscall(OS_FUTEX, word, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0) != 0)
        pawl_store_relaxed32(word, 0); /* its owner is the forking thread of the parent process */
    errno = saved;
}

#undef NS_PER_SECOND

#endif
