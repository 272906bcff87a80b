/* SPDX-License-Identifier: MIT */
/* The operations of the progressive locks that sleep, where they wait. Each is a loop: claim if the
 * word permits, else wait. waiting.h has the classes, and how a thread waits (struct wait_way).
 * waiting_write.c has the writer's operations. */
#include "waiting.h"

/* ---- Claims ---------------------------------------------------------------------------------- */

/* I2: W+S is in the word, and S tells atomic users that turn to R that a claimant waits for R. The
 * caller becomes an atomic user: S goes when no reader is left. */
static bool lock_update(struct claimant *c, uint64_t units)
{
    if (!lock_readers_gone(c) || c->way->wait_for(c, WAIT_UPDATE) == WAIT_TIMED_OUT)
        return lock_withdraw(c, units);
    /* [SPIN_A_DRAIN] acquire: the atomic user's updates follow the reads of the readers it waited
     * for. */
    (void)word_load_acquire(&c->word, PAWL_SPIN_A_DRAIN);
    c->way->alter(c, 0u - UNIT_S, WAIT_NOTHING);
    return true;
}

/* It is the turn of a waiter for R, S or A. It waits until the writers have left. */
static bool lock_past(struct claimant *c)
{
    if (c->way->wait_for(c, WAIT_PAST) == WAIT_TIMED_OUT)
        return lock_withdraw(c, UNITS_W_S);
    return true;
}

/* For S and A it keeps only S then, which lets readers in, until nobody else has S or W. */
static bool lock_next(struct claimant *c)
{
    if (c->claim == WAIT_PAST) {
        if (!lock_past(c))
            return false;
        c->way->alter(c, 0u - UNIT_W, WAIT_NEXT);
    }
    if (c->way->wait_for(c, WAIT_NEXT) == WAIT_TIMED_OUT)
        return lock_withdraw(c, UNIT_S);
    return true;
}

/* ---- From U ---------------------------------------------------------------------------------- */

PAWL_INTERNAL bool lock_take_read(struct claimant *c)
{
    const enum wait_class class = c->to_read;
    enum outcome how;
    uint64_t w;
    for (;;) {
        w = word_load_relaxed(&c->word);
        while (lock_ready(w) & (unsigned)class) {
            if (ipawl_spin64_no_writer_(w) && c->way->scaling != NULL &&
                c->way->scaling->enter(c, w))
                return true;
            /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
            if (word_cas_acquire(&c->word, &w, UNIT_R, PAWL_SPIN_R_TAKE))
                return true;
        }
        if (c->way->scaling != NULL)
            c->way->scaling->met_writer(c);
        how = c->way->wait_for(c, class);
        if (how == WAIT_TIMED_OUT || how == WAIT_ENTERED)
            return how == WAIT_ENTERED;
        if (how == WAIT_CLAIM_MADE)
            break;
    }
    while (lock_past(c))
        if (c->way->enter_in_turn(c)) /* else a seeker has become a writer meanwhile */
            return true;
    return false;
}

PAWL_INTERNAL bool lock_take_seek(struct claimant *c)
{
    enum outcome how;
    uint64_t w;
    for (;;) {
        w = word_load_relaxed(&c->word);
        while (ipawl_spin64_no_seeker_or_writer_(w)) {
            /* [SPIN_S_TAKE] acquire: the seeker sees the stores of the last seeker or writer. */
            if (word_cas_acquire(&c->word, &w, UNITS_R_S, PAWL_SPIN_S_TAKE))
                return true;
        }
        how = c->way->wait_for(c, WAIT_S);
        if (how == WAIT_TIMED_OUT)
            return false;
        if (how == WAIT_CLAIM_MADE)
            break;
    }
    if (!lock_next(c))
        return false;
    c->way->alter(c, UNIT_R, WAIT_NOTHING);
    /* [SPIN_S_TAKE] acquire: the seeker sees the stores of the last seeker or writer. */
    (void)word_load_acquire(&c->word, PAWL_SPIN_S_TAKE);
    return true;
}

PAWL_INTERNAL bool lock_take_atomic(struct claimant *c)
{
    enum outcome how;
    uint64_t w;
    for (;;) {
        w = word_load_relaxed(&c->word);
        while (ipawl_spin64_atomics_or_nobody_(w) &&
               !(lock_scales(c, w) && ipawl_spin64_no_writer_(w))) {
            /* [SPIN_A_TAKE] acquire: the atomic user's updates follow all accesses of earlier
             * holders. */
            if (word_cas_acquire(&c->word, &w, UNIT_W, PAWL_SPIN_A_TAKE))
                return true;
        }
        if (ipawl_spin64_no_seeker_or_writer_(w)) {
            if (c->way->stake(c, WAIT_UPDATE))
                return lock_update(c, UNITS_W_S);
            continue;
        }
        how = c->way->wait_for(c, WAIT_A);
        if (how == WAIT_TIMED_OUT)
            return false;
        if (how == WAIT_CLAIM_MADE)
            break;
    }
    if (c->claim != WAIT_UPDATE) {
        if (!lock_next(c))
            return false;
        c->way->alter(c, UNIT_W, WAIT_UPDATE);
    }
    return lock_update(c, UNITS_W_S);
}

PAWL_INTERNAL bool lock_claim_atomic(struct claimant *c)
{
    return c->way->stake(c, WAIT_UPDATE) && lock_update(c, UNITS_W_S);
}

/* ---- From R and A ---------------------------------------------------------------------------- */

/* Takes R back when the deadline passes: W+S has kept everybody else out. */
PAWL_INTERNAL bool lock_read_to_atomic(struct claimant *c)
{
    c->way->alter(c, 0u - UNIT_R, WAIT_UPDATE);
    return lock_update(c, UNITS_W_S - UNIT_R);
}

/* The W of others may be claimants' that wait for R (I2: they show S). Then no thread could go on.
 * So the caller drops R. */
PAWL_INTERNAL bool lock_regain(struct claimant *c)
{
    const enum outcome how = c->way->wait_for(c, WAIT_GONE);
    /* [SPIN_A_GONE] acquire: the reader's reads follow the updates of the atomic users it waited
     * for. */
    const uint64_t w = word_load_acquire(&c->word, PAWL_SPIN_A_GONE);
    if (how == WAIT_PASSED && ipawl_spin64_no_writer_(w))
        return true;
    return lock_withdraw(c, UNIT_R);
}
