/* SPDX-License-Identifier: MIT */
/* Linux: all that a spinning waiter needs of the system. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if defined(__linux__) && !PAWL_CALLS_OUT_

#include <errno.h>
#include <sched.h>
#include <time.h>

#define NS_PER_S 1000000000u

uint64_t pawl_os_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void pawl_os_yield(void)
{
    const int saved = errno;
    sched_yield();
    errno = saved;
}

#undef NS_PER_S

#endif
