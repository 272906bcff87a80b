/* SPDX-License-Identifier: MIT */
/*
 * A drain: a writer sleeps on it until the last users of a lock have left (brlock.h, sift.h). It is
 * memory of the process, because a user that leaves may no longer touch the lock. Locks share the
 * drains by their addresses, so a wake may come for another lock; a sleeper looks again.
 *
 * `whose` tells users of brlock.h which writer to wake: 0 none, the address of a lock whose writer
 * sleeps, or DRAIN_SEVERAL. Users of other locks that share the drain do not wake. With several
 * writers asleep all users wake, until the first of the writers leaves: it sets 0 and wakes the
 * others, and each names its lock again.
 *
 * In the child of a fork no writer sleeps, so no drain names a lock. The turns go on there: a
 * thread that forked in a signal handler, and sleeps again afterwards, names its lock again.
 */
#ifndef PAWL_DRAIN_H
#define PAWL_DRAIN_H

#include <pawl/detail/drain.h>

#include "../os/os.h"

#if PAWL_HOOKS
#define PAWL_THREAD_DRAINS 16 /* a harness clears them before each execution */
#else
#define PAWL_THREAD_DRAINS 256
#endif
#define DRAIN_SEVERAL 1u

struct pawl_drains {
    struct pawl_drain drains[PAWL_THREAD_DRAINS];
};

PAWL_SHARED_DECLARE(struct pawl_drains, drains_object);

static inline struct pawl_drains *drains_here(void)
{
    return PAWL_SHARED(struct pawl_drains, drains_object);
}

/* Any number will do; equal numbers share a drain. */
static inline struct pawl_drain *drain_of(uintptr_t number)
{
    return &drains_here()->drains[number % PAWL_THREAD_DRAINS];
}

#endif
