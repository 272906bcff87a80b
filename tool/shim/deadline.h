/* SPDX-License-Identifier: MIT */
/*
 * Deadlines of POSIX, in seconds and nanoseconds of a clock, as deadlines of the library:
 * nanoseconds of CLOCK_MONOTONIC, UINT64_MAX for none.
 */
#ifndef PAWL_SHIM_DEADLINE_H
#define PAWL_SHIM_DEADLINE_H

#include <errno.h>
#include <stdint.h>
#include <time.h>

#include <pawl/wait.h>

/* A point in time as a program passes it, whatever the width of its time_t. */
struct shim_time {
    clockid_t clock;
    int64_t seconds;
    long nanoseconds;
};

#define SHIM_NS_PER_S UINT64_C(1000000000)

static inline uint64_t shim_nanoseconds(int64_t seconds, long nanoseconds)
{
    if (seconds < 0)
        return 0;
    if ((uint64_t)seconds >= UINT64_MAX / SHIM_NS_PER_S)
        return UINT64_MAX;
    return (uint64_t)seconds * SHIM_NS_PER_S + (uint64_t)nanoseconds;
}

/* 0 and the deadline, or EINVAL. POSIX leaves open whether a lock that is free looks at the time;
 * glibc always does, and so does the shim. */
static inline int shim_deadline(const struct shim_time *when, uint64_t *deadline)
{
    struct timespec now;
    uint64_t wanted, here;
    if (when->clock != CLOCK_REALTIME && when->clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (when->nanoseconds < 0 || when->nanoseconds >= (long)SHIM_NS_PER_S)
        return EINVAL;
    wanted = shim_nanoseconds(when->seconds, when->nanoseconds);
    if (when->clock == CLOCK_MONOTONIC || wanted == UINT64_MAX) {
        *deadline = wanted;
        return 0;
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    here = shim_nanoseconds(now.tv_sec, now.tv_nsec);
    if (wanted <= here)
        *deadline = 0;
    else if (wanted - here >= UINT64_MAX - pawl_now())
        *deadline = UINT64_MAX;
    else
        *deadline = pawl_now() + (wanted - here);
    return 0;
}

#endif
