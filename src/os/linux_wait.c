/* SPDX-License-Identifier: MIT */
/* Linux: a thread sleeps on a word until another one wakes it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if defined(__linux__) && !PAWL_CALLS_OUT_

#include <errno.h>

#include "futex.h"

static long sleep_once(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    return os_futex_wait(address, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, deadline,
                         FUTEX_BITSET_MATCH_ANY);
}

/* ThreadSanitizer keeps a signal until the thread calls a function that it intercepts. A system
 * call is none. So a sleeper looks at the clock by such a function, ten times a second and after
 * each signal. A sleep with a deadline ends at a signal even where SA_RESTART is set. */
static long sleep_until(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
#if PAWL_TSAN_
    uint64_t pause;
    while ((pause = pawl_os_now() + 100000000u) < deadline) {
        const long result = sleep_once(address, expected, pause);
        if (result == 0 || errno != ETIMEDOUT)
            return result;
    }
#endif
    return sleep_once(address, expected, deadline);
}

bool pawl_os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    const int saved = errno;
    bool in_time = true;
    if (sleep_until(address, expected, deadline) < 0)
        in_time = errno != ETIMEDOUT;
    errno = saved;
    return in_time;
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    const int saved = errno;
    const long woken =
        syscall(OS_FUTEX, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, os_futex_count(count));
    errno = saved;
    return woken > 0 ? (unsigned)woken : 0;
}

#endif
