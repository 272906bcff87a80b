/* SPDX-License-Identifier: MIT */
/* The drains of the process (drain.h). */
#include "base.h"

PAWL_SHARED_DEFINE(struct pawl_drains, drains_object);

/* In the child of a fork: forgets the parent's sleepers. */
static void drains_after_fork(void)
{
    struct pawl_drains *all;
    if (!PAWL_SHARED_IS_THERE(drains_object))
        return;
    all = drains_here();
    for (unsigned i = 0; i < PAWL_THREAD_DRAINS; i++) {
        PAWL_ADDRESS_(pawl_store_relaxed)(&all->drains[i].whose, 0);
        (void)pawl_fetch_add_relaxed32(&all->drains[i].turn, 1);
    }
}

static const struct pawl_subsystem drains_subsystem = {
    NULL, NULL, NULL, NULL, NULL, drains_after_fork,
};

PAWL_SUBSYSTEM(PAWL_FLOOR_DRAIN, drains_subsystem);
