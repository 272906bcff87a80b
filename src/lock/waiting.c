/* SPDX-License-Identifier: MIT */
/* The operations of the progressive locks that sleep, where they wait. Each is a loop: claim if the
 * word permits, else wait. waiting.h has the classes, and how a thread waits (struct wait_way). */
#include "waiting.h"

#include <limits.h>

#include <pawl/lock.h>

/* ---- The word -------------------------------------------------------------------------------- */

static unsigned lock_facts_of(uint64_t field, uint64_t unit)
{
    if (field == 0)
        return WORD_NO_R;
    return field == unit ? WORD_SOME_R | WORD_ONE_R : WORD_SOME_R | WORD_MORE_R;
}

static unsigned lock_facts(uint64_t w)
{
    return lock_facts_of(ipawl_spin64_readers_(w), UNIT_R) |
           lock_facts_of(ipawl_spin64_seekers_(w), UNIT_S) * WORD_NO_S |
           lock_facts_of(ipawl_spin64_writers_(w), UNIT_W) * WORD_NO_W;
}

PAWL_INTERNAL unsigned lock_ready(uint64_t w)
{
    const unsigned facts = lock_facts(w);
    return 0u
#define WAIT_READY(class, needs) | (((needs) & ~facts) == 0 ? (unsigned)(class) : 0u)
#include "waiting.def"
        ;
}

PAWL_INTERNAL bool lock_atomics_only(uint64_t w)
{
    return ipawl_spin64_atomics_or_nobody_(w) && !ipawl_spin64_no_writer_(w);
}

PAWL_INTERNAL unsigned lock_sleepless(uint64_t w, unsigned escalate)
{
    return lock_ready(w) | (lock_atomics_only(w) ? escalate : 0u);
}

PAWL_INTERNAL unsigned lock_opened(uint64_t found, uint64_t after, unsigned one_by_one,
                                   unsigned escalate)
{
    return lock_sleepless(after, escalate) & ~(lock_sleepless(found, escalate) & ~one_by_one);
}

/* The first claim of these that the word permits a waiter for one of the classes. */
static enum wait_class lock_first_claim(unsigned classes, unsigned claims, uint64_t w, bool turn)
{
    static const struct {
        uint16_t class, claim, needs;
    } rows[] = {
#define WAIT_CLAIM(class, claim, facts) {class, claim, facts},
#include "waiting.def"
    };
    const unsigned facts = lock_facts(w) | (turn ? WAIT_IN_TURN : 0u);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((rows[i].class & classes) && (rows[i].claim & claims) && (rows[i].needs & ~facts) == 0)
            return (enum wait_class)rows[i].claim;
    return WAIT_NOTHING;
}

PAWL_INTERNAL bool lock_permits(enum wait_class claim, uint64_t w, bool turn)
{
    return lock_first_claim(UINT_MAX, (unsigned)claim, w, turn) != WAIT_NOTHING;
}

PAWL_INTERNAL enum wait_class lock_claim_of(enum wait_class class, uint64_t w, bool turn)
{
    return lock_first_claim((unsigned)class, UINT_MAX, w, turn);
}

PAWL_INTERNAL uint64_t lock_units_of(enum wait_class claim)
{
    const unsigned class = (unsigned)claim;
    return (class & WAIT_CLAIMS ? UNIT_S : 0) + (class & WAIT_CLAIMS_W ? UNIT_W : 0) +
           (class & WAIT_CLAIMS_R ? UNIT_R : 0);
}

/* ---- Readers that scale ---------------------------------------------------------------------- */

static bool lock_scales(const struct claimant *c, uint64_t w)
{
    return c->way->scaling != NULL && (w & PAWL_LOCK_BIASED) != 0;
}

static bool lock_readers_gone(struct claimant *c)
{
    return c->way->scaling == NULL || c->way->scaling->readers_gone(c);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* Takes the waiter's claim out of the word; always false. */
static bool lock_withdraw(struct claimant *c, uint64_t units)
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

/* ---- Claims at once, or not at all ----------------------------------------------------------- */

PAWL_INTERNAL bool lock_claim_write(struct claimant *c)
{
    return c->way->stake(c, WAIT_DRAIN) && lock_drain(c, UNITS_W_S_R);
}

PAWL_INTERNAL bool lock_claim_atomic(struct claimant *c)
{
    return c->way->stake(c, WAIT_UPDATE) && lock_update(c, UNITS_W_S);
}

/* ---- From S, R and A ------------------------------------------------------------------------- */

PAWL_INTERNAL bool lock_seek_to_write(struct claimant *c)
{
    return lock_drain(c, UNIT_W);
}

PAWL_INTERNAL bool lock_read_to_write(struct claimant *c)
{
    return lock_drain(c, UNITS_W_S);
}

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
