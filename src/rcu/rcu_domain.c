/* SPDX-License-Identifier: MIT */
/* RCU: the life of the domains that a program makes. */
#include "rcu.h"

#include <errno.h>

#include "../base/base.h"

int pawl_rcu_domain_init(pawl_rcu_domain *d, const char *name)
{
    if (d == NULL)
        return EINVAL;
    for (uint32_t index = PAWL_RCU_QS_ + 1; index < PAWL_RCU_DOMAINS; index++) {
        struct pawl_rcu_state *state = rcu_state(index);
        uint32_t free_one = 0;
        /* [RCU_DRIVE] acquire: the last domain of this index is destroyed before this one
         * begins. */
        if (!pawl_cas_acquire32(&state->taken, &free_one, 1, PAWL_RCU_DRIVE))
            continue;
        PLAIN_WRITE(state->name);
        state->name = name;
        state->skip_polling = state->skipped = state->short_polls = 0;
        d->index = index;
        d->name = name;
        return 0;
    }
    return EAGAIN;
}

void pawl_rcu_domain_destroy(pawl_rcu_domain *d)
{
    struct pawl_rcu_state *state;
    if (d == NULL || d->index <= PAWL_RCU_QS_)
        return;
    state = rcu_state(d->index);
    RCU_NOBODY_READS(d->index, __builtin_return_address(0));
    pawl_rcu_domain_synchronize(d);
    if (rcu_calls_here() != NULL)
        rcu_calls_here()->end(d);
    pawl_rcu_domain_stall(d, 0, NULL, NULL);
    PLAIN_WRITE(state->name);
    state->name = NULL;
    /* [RCU_HALT] release: the caller has finished with the index before another domain takes it. */
    pawl_store_release32(&state->taken, 0, PAWL_RCU_HALT);
}

bool pawl_rcu_domain_read_held(const pawl_rcu_domain *d)
{
    return rcu_inside(d->index);
}
