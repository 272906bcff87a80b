/* SPDX-License-Identifier: MIT */
/* The drains of the process (drain.h). */
#include "drain.h"

PAWL_SHARED_DEFINE(struct pawl_drains, drains_object);

void pawl_drains_after_fork(void)
{
    struct pawl_drains *all = drains_here();
    unsigned i;
    for (i = 0; i < PAWL_THREAD_DRAINS; i++) {
        PAWL_ADDRESS_(pawl_store_relaxed)(&all->drains[i].whose, 0);
        (void)pawl_fetch_add_relaxed32(&all->drains[i].turn, 1);
    }
}
