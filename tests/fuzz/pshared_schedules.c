/* SPDX-License-Identifier: MIT */
/* As lock_schedules.c, for the lock in memory that processes share. */
#include <pawl/pshared.h>

#define LOCK pawl_pshared_lock32
#define AT_REST(word) (((word) & ~PAWL_PSHARED_PARKED) == 0)

static bool regain_read(LOCK *l, uint64_t deadline)
{
    return pawl_pshared_lock32_atomic_to_read_until(l, deadline) != PAWL_REGAIN_TIMED_OUT;
}

#include "fuzz/lock_schedules.c"
