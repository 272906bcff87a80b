/* SPDX-License-Identifier: MIT */
/*
 * The latch of windows_wait.c, apart from it so that a model can run it: for sections of a few
 * dozen instructions. Whoever waits longer has met a holder that does not run: OS_LATCH_REST, which
 * the includer defines, is told how often it has looked, and is to let that one run in the end.
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
    /* [OS_LATCH_ENTER] acquire: we see the list as the last holder left it. */
    while (!pawl_cas_acquire32(&latch->held, &held, 1, PAWL_OS_LATCH_ENTER)) {
        while (pawl_load_relaxed32(&latch->held) != 0)
            OS_LATCH_REST(++tries);
        held = 0;
    }
}

static inline void os_latch_leave(struct os_latch *latch)
{
    /* [OS_LATCH_LEAVE] release: our changes are done before the next holder looks. */
    pawl_store_release32(&latch->held, 0, PAWL_OS_LATCH_LEAVE);
}

#endif
