/* SPDX-License-Identifier: MIT */
/* Real-time threads: their priority, the writers among them, and ranks in the lock's queue. */
#ifndef PAWL_SHIM_URGENT_H
#define PAWL_SHIM_URGENT_H

#include <sched.h>

#include "layout.h"

#define URGENT_ONE UINT32_C(0x10000)
#define URGENT_PRIORITY UINT32_C(0xffff)

/* The priority of a thread under SCHED_FIFO or SCHED_RR, 0 for others. glibc keeps it with the
 * thread, so it takes no system call but the first time. */
static inline uint32_t own_priority(void)
{
    struct sched_param parameters;
    int policy;
    if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0)
        return 0;
    return policy == SCHED_FIFO || policy == SCHED_RR ? (uint32_t)parameters.sched_priority : 0;
}

static inline void writer_comes(struct shim_lock *l, uint32_t priority)
{
    uint32_t found = pawl_load_relaxed32(&l->urgent), after;
    do {
        after = found + URGENT_ONE;
        if ((found & URGENT_PRIORITY) < priority)
            after = (after & ~URGENT_PRIORITY) | priority;
    } while (!pawl_cas_relaxed32(&l->urgent, &found, after));
}

static inline void writer_goes(struct shim_lock *l)
{
    uint32_t found = pawl_load_relaxed32(&l->urgent);
    while (!pawl_cas_relaxed32(&l->urgent, &found, found < 2 * URGENT_ONE ? 0 : found - URGENT_ONE))
        continue;
}

/* In the lock's queue; ordinary threads have rank 0. */
#define RANK_OF_READER(priority) (2 * (priority))
#define RANK_OF_WRITER(priority) ((priority) == 0 ? 0 : 2 * (priority) + 1)

#endif
