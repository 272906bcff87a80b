/* SPDX-License-Identifier: MIT */
/* The writer's operations of the progressive locks that sleep, where they wait. waiting.c has those
 * of the others. */
#include "waiting.h"

#include <pawl/lock.h>

PAWL_INTERNAL bool lock_scales(const struct claimant *c, uint64_t w)
{
    return c->way->scaling != NULL && (w & PAWL_LOCK_BIASED) != 0;
}

PAWL_INTERNAL bool lock_withdraw(struct claimant *c, uint64_t units)
{
    c->way->alter(c, 0u - units, WAIT_NOTHING);
    return false;
}

/* I1: W+S+R is in the word and newcomers wait. The writer waits until the only R is its own.
 * `units` is what it takes back when the deadline passes. */
static bool lock_drain(struct claimant *c, uint64_t units)
{
    if (!lock_readers_gone(c) || c->way->wait_for(c, WAIT_DRAIN) == WAIT_TIMED_OUT)
        return lock_withdraw(c, units);
    /* [SPIN_W_DRAIN] acquire: the writer's stores follow the reads of the readers it waited for. */
    (void)word_load_acquire(&c->word, PAWL_SPIN_W_DRAIN);
    return true;
}

/* I3: the waiter keeps W+S, which holds newcomers back, without R: R falls to zero when the last
 * holder has left. */
static bool lock_alone(struct claimant *c)
{
    if (!lock_readers_gone(c) || c->way->wait_for(c, WAIT_ALONE) == WAIT_TIMED_OUT)
        return lock_withdraw(c, UNITS_W_S);
    c->way->alter(c, UNIT_R, WAIT_NOTHING);
    /* [SPIN_W_KEEP] acquire: the writer's stores follow the accesses of the holders it waited
     * for. */
    (void)word_load_acquire(&c->word, PAWL_SPIN_W_KEEP);
    return true;
}

PAWL_INTERNAL bool lock_take_write(struct claimant *c)
{
    enum outcome how;
    uint64_t w;
    for (;;) {
        w = word_load_relaxed(&c->word);
        while (ipawl_spin64_nobody_(w) && !lock_scales(c, w)) {
            /* [SPIN_W_TAKE] acquire: the writer's stores follow all accesses of earlier holders. */
            if (word_cas_acquire(&c->word, &w, UNITS_W_S_R, PAWL_SPIN_W_TAKE))
                return true;
        }
        if (ipawl_spin64_nobody_(w)) {
            switch (c->way->scaling->claim_at_lines(c)) {
            case LINES_GRANTED: return true;
            case LINES_IN_USE: return lock_drain(c, UNITS_W_S_R);
            case LINES_CHANGED: continue;
            }
        }
        if (ipawl_spin64_no_seeker_or_writer_(w)) {
            if (c->way->stake(c, WAIT_DRAIN))
                return lock_drain(c, UNITS_W_S_R);
            continue;
        }
        if (lock_permits(WAIT_ALONE, w, false) && c->way->stake(c, WAIT_ALONE))
            return lock_alone(c);
        how = c->way->wait_for(c, WAIT_W);
        if (how == WAIT_TIMED_OUT)
            return false;
        if (how == WAIT_CLAIM_MADE)
            return c->claim == WAIT_DRAIN ? lock_drain(c, UNITS_W_S_R) : lock_alone(c);
    }
}

PAWL_INTERNAL bool lock_claim_write(struct claimant *c)
{
    return c->way->stake(c, WAIT_DRAIN) && lock_drain(c, UNITS_W_S_R);
}

PAWL_INTERNAL bool lock_seek_to_write(struct claimant *c)
{
    return lock_drain(c, UNIT_W);
}

PAWL_INTERNAL bool lock_read_to_write(struct claimant *c)
{
    return lock_drain(c, UNITS_W_S);
}
