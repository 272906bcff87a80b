/* SPDX-License-Identifier: MIT */
/*
 * The latch of windows_wait.c, in its own file so that a model can run it. It is for sections of a
 * few dozen instructions. A longer wait means that the holder does not run. The waiter therefore
 * calls OS_LATCH_REST, which the includer defines, with the number of its looks. OS_LATCH_REST must
 * let the holder run in the end.
 */
#ifndef PAWL_OS_LATCH_H
#define PAWL_OS_LATCH_H

#include <pawl/atomic.h>

struct os_latch {
    uint32_t held;
};

static inline void os_latch_enter(struct os_latch *latch)
{
    unsigned tries = 0;
    uint32_t held = 0;
    /* [OS_LATCH_ENTER] acquire: the holder sees the list as the last holder left it. */
    while (!pawl_cas_acquire32(&latch->held, &held, 1, PAWL_OS_LATCH_ENTER)) {
        while (pawl_load_relaxed32(&latch->held) != 0)
            OS_LATCH_REST(++tries);
        held = 0;
    }
}

static inline void os_latch_leave(struct os_latch *latch)
{
    /* [OS_LATCH_LEAVE] release: the holder's changes are done before the next holder looks. */
    pawl_store_release32(&latch->held, 0, PAWL_OS_LATCH_LEAVE);
}

#endif
