/* SPDX-License-Identifier: MIT */
/*
 * A latch: short mutual exclusion between the threads of a process, never for signal handlers. It
 * sleeps on the system's word. Zero bytes are a free latch.
 *
 * The wait lists of src/lock have another latch (table.c), which queues its waiters; they sleep by
 * their parkers. The program's locks have words of their own for their writers (brlock's
 * gate, sift's mutex). These have deadlines, and lie in memory that the next holder may free.
 */
#ifndef PAWL_LATCH_H
#define PAWL_LATCH_H

#include "../os/os.h"
#include "process.h"

PAWL_C_BEGIN

struct pawl_latch {
    uint32_t word; /* 0 free, 1 held, 2 held and a waiter may sleep */
} __attribute__((aligned(64)));

enum { LATCH_FREE, LATCH_HELD, LATCH_SLEPT_FOR };

#define ipawl_latch_wait_ PAWL_SYMBOL_(pawl_latch_wait)
void ipawl_latch_wait_(struct pawl_latch *latch);

PAWL_STATIC bool latch_try(struct pawl_latch *latch)
{
    uint32_t found = LATCH_FREE;
    /* [LATCH_TAKE] acquire: the holder sees the last holder's accesses. */
    return pawl_cas_acquire32(&latch->word, &found, LATCH_HELD, PAWL_LATCH_TAKE);
}

/* In a fork's child, in a handler that runs before ours, the guarded data may wait for threads that
 * are gone: they are put right first. */
static inline void latch_take(struct pawl_latch *latch)
{
    process_sees_forks();
    if (PAWL_UNLIKELY(!latch_try(latch)))
        ipawl_latch_wait_(latch);
}

PAWL_STATIC void latch_drop(struct pawl_latch *latch)
{
    /* [LATCH_DROP] release: the next holder sees the holder's accesses. */
    if (pawl_exchange_release32(&latch->word, LATCH_FREE, PAWL_LATCH_DROP) == LATCH_SLEPT_FOR)
        (void)pawl_os_wake(&latch->word, 1);
}

PAWL_C_END

#endif
