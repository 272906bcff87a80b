/* SPDX-License-Identifier: MIT */
/*
 * A drain: a writer sleeps on it until the last users of a lock have left (brlock.h, sift.h). It is
 * memory of the process, because a user that leaves may no longer touch the lock. Locks share the
 * drains by their addresses, so a wake may come for another lock; a sleeper looks again.
 */
#ifndef PAWL_DRAIN_H
#define PAWL_DRAIN_H

#include "../os/os.h"

#define PAWL_THREAD_DRAINS 16

struct pawl_drain {
    uint32_t waiters; /* writers that wait here: not zero makes readers wake them */
    uint32_t turn;    /* increases with every wake */
} __attribute__((aligned(PAWL_CACHE_LINE)));

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
