/* SPDX-License-Identifier: MIT */
/*
 * Deadlines as Linux's futex calls read them. `struct timespec` differs from them on 32-bit systems
 * whose time_t has 64 bits (musl, Debian's armhf). SYS_futex reads two words of the kernel's own
 * size there. It would take the upper half of the seconds for nanoseconds.
 */
#ifndef PAWL_OS_FUTEX_H
#define PAWL_OS_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/types.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os.h"

/* Kernels of 64 bits, and kernels of 32 bits before Linux 5.1, know this number only. The newest
 * systems of 32 bits know the other number only. */
#ifdef SYS_futex
#define OS_FUTEX SYS_futex
#else
#define OS_FUTEX SYS_futex_time64
#endif

/* No deadline: later than 68 years, the range of 32 bits of seconds. */
static inline bool os_futex_for_ever(uint64_t ns)
{
    return ns / 1000000000u > INT32_MAX;
}

/* A futex call with a deadline in nanoseconds of the operation's clock. */
static inline long os_futex_until(const uint32_t *word, int operation, uint32_t value, uint64_t ns,
                                  uint32_t bits)
{
    const uint64_t seconds = ns / 1000000000u, rest = ns % 1000000000u;
#ifdef SYS_futex_time64
    const int64_t wide[2] = {(int64_t)seconds, (int64_t)rest};
    const long result = syscall(SYS_futex_time64, word, operation, value, wide, NULL, bits);
    if (result == 0 || errno != ENOSYS)
        return result;
#endif
#ifdef SYS_futex
    {
        const __kernel_long_t words[2] = {(__kernel_long_t)seconds, (__kernel_long_t)rest};
        return syscall(SYS_futex, word, operation, value, words, NULL, bits);
    }
#else
    return result;
#endif
}

/* FUTEX_WAIT_BITSET takes an absolute deadline on CLOCK_MONOTONIC; FUTEX_WAIT a relative one. With
 * a deadline in the past this makes no system call. */
static inline long os_futex_wait(const uint32_t *address, int operation, uint32_t expected,
                                 uint64_t deadline, uint32_t bits)
{
    if (os_futex_for_ever(deadline))
        return syscall(OS_FUTEX, address, operation, expected, NULL, NULL, bits);
    if (pawl_os_now() >= deadline) {
        errno = pawl_load_relaxed32(address) == expected ? ETIMEDOUT : EAGAIN;
        return -1;
    }
    return os_futex_until(address, operation, expected, deadline, bits);
}

static inline int os_futex_count(unsigned count)
{
    return count > INT_MAX ? INT_MAX : (int)count;
}

#endif
