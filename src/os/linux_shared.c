/* SPDX-License-Identifier: MIT */
/* Linux: sleeps between processes, and sleepers that move. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if defined(__linux__) && !PAWL_CALLS_OUT_

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "futex.h"

/* Without FUTEX_PRIVATE_FLAG: the kernel finds the sleepers by the page and not by the address. */
bool pawl_os_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                          uint64_t deadline)
{
    const int saved = errno;
    bool in_time = true;
    if (os_futex_wait(address, FUTEX_WAIT_BITSET, expected, deadline, classes) < 0) {
        in_time = errno != ETIMEDOUT;
        if (errno != ETIMEDOUT && errno != EAGAIN && errno != EINTR)
            (void)sched_yield();
    }
    errno = saved;
    return in_time;
}

unsigned pawl_os_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    const int saved = errno;
    const long woken = syscall(OS_FUTEX, address, FUTEX_WAKE_BITSET,
                               count > INT_MAX ? INT_MAX : (int)count, NULL, NULL, classes);
    errno = saved;
    return woken > 0 ? (unsigned)woken : 0;
}

unsigned pawl_os_requeue(const uint32_t *from, const uint32_t *to, unsigned wake, unsigned move)
{
    const int saved = errno;
    const long count = syscall(OS_FUTEX, from, FUTEX_REQUEUE | FUTEX_PRIVATE_FLAG,
                               os_futex_count(wake), (long)os_futex_count(move), to);
    errno = saved;
    return count > 0 ? (unsigned)count : 0;
}

#endif
