/* SPDX-License-Identifier: MIT */
/* Readers that scale: what the waits of the sleeping progressive lock do for them, and the compiled
 * halves of entries_word.inc.h in include/pawl/detail. */
#include "lock_parts.h"

#if PAWL_SCALES_

static bool lock_scales_now(uint64_t w)
{
    return (w & PAWL_LOCK_BIASED) != 0;
}

static ipawl_address_ lock_identity(const struct word *word)
{
    return word->layout == WORD_64 ? ipawl_lock64_identity_((const pawl_lock64 *)word->address)
                                   : ipawl_lock32_identity_((const pawl_lock32 *)word->address);
}

static uint32_t lock_owner_of_claim(const struct word *word)
{
    return word->layout == WORD_64 ? TABLE_OF_CLAIM64 : TABLE_OF_CLAIM32;
}

/* BIASED is set only where no W is, and cleared only by a party whose own W is in the word and who
 * has looked at all lines. So one whose W is in the word finds BIASED as long as it must look. */
static void lock_scale(const struct word *word)
{
    uint64_t w = word_load_relaxed(word);
    while (ipawl_spin64_no_writer_(w) && !lock_scales_now(w)) {
        if (word_cas_relaxed(word, &w, PAWL_LOCK_BIASED)) {
            PAWL_PROBE1(lock_bias_on, word->address);
            return;
        }
    }
}

/* W of the caller is in the word, and it has looked at all lines. */
static void lock_scale_no_more(const struct word *word)
{
    word_fetch_clear_relaxed(word, PAWL_LOCK_BIASED);
    PAWL_PROBE1(lock_bias_off, word->address);
}

/* A reader that has waited, or whose fast path another reader has disturbed. */
PAWL_INTERNAL bool lock_enter_scaling(struct claimant *c, uint64_t w)
{
    const struct word *const word = &c->word;
    const ipawl_address_ identity = lock_identity(word);
    struct pawl_entries *own;
    unsigned i;
    if (lock_wait_of(c)->counted)
        return false;
    if (!lock_scales_now(w)) {
        if (!entries_evidence(identity))
            return false;
        lock_scale(word);
    }
    entries_join();
    own = PAWL_OWN_ENTRIES_;
    if (!ipawl_entries_are_(own))
        return false;
    i = ipawl_entries_fill_(own, identity);
    if (i == PAWL_ENTRIES)
        return false;
    if (word->layout == WORD_64 ? ipawl_lock64_admits_((const pawl_lock64 *)word->address)
                                : ipawl_lock32_admits_((const pawl_lock32 *)word->address))
        return true;
    ipawl_entries_take_back_(own, i, identity);
    return false;
}

/* The look comes behind the access that put W into the word: a reader that fills its entry later
 * finds W. It comes before R of the word is judged: R moves from an entry into the word, never
 * back. */
PAWL_INTERNAL bool lock_wait_for_entries(struct claimant *c)
{
    const struct word *const word = &c->word;
    enum entries_look how;
    if (!lock_scales_now(word_load_relaxed(word)))
        return true;
    how = entries_wait(lock_identity(word), c->deadline);
    PAWL_PROBE2(lock_scan, word->address, how);
    if (how == ENTRIES_TOO_DEAR)
        lock_scale_no_more(word);
    return how != ENTRIES_IN_USE;
}

PAWL_INTERNAL void lock_met_writer(struct claimant *c)
{
    entries_no_evidence(lock_identity(&c->word));
}

PAWL_INTERNAL void lock_met_reader(struct word word)
{
    if (entries_evidence(lock_identity(&word)))
        lock_scale(&word);
}

/* The first drop of a thread, and drops from a word where PAWL_BIAS=on, turn scaling on while R of
 * the caller is still in the word. */
PAWL_INTERNAL void lock_before_drop(struct word word)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    if (ipawl_entries_are_(own))
        entries_recount(own);
    else if (own == NULL && lock_scales_now(word_load_relaxed(&word)))
        pawl_os_must_be_known();
    if ((own == NULL || (ipawl_entries_are_(own) && own->eager != 0)) && entries_first_drop())
        lock_scale(&word);
}

/* First the word has R, then the entry is free: a claimant that misses the entry finds R. A thread
 * that has no line yet comes once, and in a copy of the library that uses another copy's variable
 * every thread comes. */
PAWL_INTERNAL void lock_count(struct word word)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    unsigned i;
    if (!ipawl_entries_are_(own)) {
        if (lock_scales_now(word_load_relaxed(&word)))
            pawl_os_must_be_known();
        if (own == NULL && !PAWL_HOOKS)
            (void)entries_first_drop();
        return;
    }
    i = entries_find(own, lock_identity(&word));
    if (i == PAWL_ENTRIES)
        return;
    (void)word_fetch_add_relaxed(&word, UNIT_R);
    entries_free(own, i);
}

PAWL_INTERNAL uint64_t lock_look_at_all(struct word word)
{
    const uint64_t w = word_load_relaxed(&word);
    return word_plus(w, UNIT_R * entries_count(lock_identity(&word)), word.layout);
}

/* ---- Claims at the lines --------------------------------------------------------------------- */

/* Whether nobody but the caller, who has `held`, is in. Others that keep W+S beside the S of the
 * caller wait for it. */
static bool lock_is_alone(uint64_t w, uint64_t held)
{
    const uint64_t mine = ipawl_spin64_seekers_(held) != 0 ? UNIT_S - UNIT_R : ~UINT64_C(3);
    return ((w ^ held) & mine) == 0;
}

/* The bucket is locked, and the waiter's change has turned PARKED round at `found`. Turns it back,
 * and wakes whom other changes have let in meanwhile. */
static void lock_turn_back(struct lock_place *here, const struct word *word, uint64_t found)
{
    if (found & PAWL_LOCK_PARKED)
        lock_pick(here, lock_opens(found, lock_park_again(word, found, 0)));
    else
        word_fetch_clear_relaxed(word, PAWL_LOCK_PARKED);
}

/* The bucket is locked. Makes the claim if nobody but the caller, who has `held`, is in. The waiter
 * keeps it then. */
static bool lock_claim_alone(struct lock_place *here, const struct word *word,
                             struct pawl_waiter *waiter, uint64_t held, uint64_t claim)
{
    const uint64_t change = lock_begin_change(word, waiter, claim, claim);
    uint64_t w = word_load_relaxed(word);
    while (lock_is_alone(w, held)) {
        /* Relaxed: the look, and what follows it, acquire. */
        if (word_cas_relaxed(word, &w, change)) {
            table_change_is_made(waiter, word_narrow(claim, word->layout));
            lock_turn_back(here, word, w);
            return true;
        }
    }
    waiter->changes = TABLE_STEADY;
    return false;
}

/* The bucket is locked. Takes the claim back, and wakes whom it has held back. */
static void lock_withdraw_alone(struct lock_place *here, const struct word *word,
                                struct pawl_waiter *waiter, uint64_t claim)
{
    const uint64_t change = lock_begin_change(word, waiter, 0u - claim, 0);
    const uint64_t found = word_fetch_add_relaxed(word, change);
    table_change_is_made(waiter, 0);
    lock_turn_back(here, word, found);
}

/* The bucket is locked, and the claim is in the word. Whether no reader is in; `readers`: the R
 * that the caller itself has in the word. */
static bool lock_judge_claim(const struct word *word, uint64_t readers)
{
    const enum entries_look how = entries_wait(lock_identity(word), 0);
    uint64_t w;
    PAWL_PROBE2(lock_scan, word->address, how);
    if (how == ENTRIES_IN_USE)
        return false;
    /* [SPIN_W_DRAIN] acquire: the caller's stores follow all accesses of earlier holders. */
    w = word_load_acquire(word, PAWL_SPIN_W_DRAIN);
    if (ipawl_spin64_readers_(w) != readers)
        return false;
    if (how == ENTRIES_TOO_DEAR)
        lock_scale_no_more(word);
    return true;
}

/* The bucket is locked, and the caller's claim is all that it has taken: gives it the rest. */
static void lock_grant(struct lock_place *here, const struct word *word, uint64_t granted)
{
    uint64_t w;
    if (granted == 0)
        return;
    /* [SPIN_R_TO_A] release: an atomic user that joins comes after the readers that have left, and
     * after the caller's reads under R. */
    w = word_fetch_add_release(word, granted, PAWL_SPIN_R_TO_A);
    if (w & PAWL_LOCK_PARKED)
        lock_pick(here, lock_opens(w, word_plus(w, granted, word->layout)));
}

/* A writer that finds nobody in the word, which has BIASED. It claims and looks at the lines, once
 * if no reader is in an entry. Else it keeps the claim, and has to wait. The queue is lent to the
 * bucket meanwhile, so a fork's child finds no claim that nobody would take back. */
PAWL_INTERNAL enum lines_claim lock_claim_at_lines(struct claimant *c)
{
    struct wait *const wait = lock_wait_of(c);
    struct lock_place here;
    struct pawl_queue lent;
    enum lines_claim how = LINES_CHANGED;
    lock_look(&here, c->word.address, lock_owner(&c->word));
    table_lend(here.bucket, &lent, &wait->waiter, c->word.address, lock_owner_of_claim(&c->word));
    if (lock_claim_alone(&here, &c->word, &wait->waiter, 0, UNITS_W_S_R)) {
        how = LINES_GRANTED;
        if (!lock_judge_claim(&c->word, UNIT_R)) {
            if (!wait->queued)
                lock_queue_up(&here, wait);
            lock_keeps(&here, wait, WAIT_DRAIN);
            how = LINES_IN_USE;
        }
    }
    table_lend_ends(here.bucket, &lent);
    lock_unlock(&here);
    return how;
}

/* A claim at a word with BIASED that looks once and never waits. The caller has the units `held` in
 * the word; it adds `claim`, looks, and once it is granted `granted`. The latch of the wait list is
 * held meanwhile, and a queue is lent to the bucket. So a fork's child finds no claim that nobody
 * would take back, and a claim that fails wakes whom it has held back. It waits for the latch as a
 * drop does, and fails instead in a handler that has interrupted its thread at a latch: that thread
 * may hold this one. */
PAWL_INTERNAL bool lock_claim_at_once(struct word word, uint64_t held, uint64_t claim,
                                      uint64_t granted)
{
    struct lock_place here;
    struct pawl_waiter claimant;
    struct pawl_queue lent;
    bool got = false;
    if (entries_are_in_use(lock_identity(&word)) ||
        !lock_try_look(&here, word.address, lock_owner(&word)))
        return false;
    claimant.younger = NULL;
    table_lend(here.bucket, &lent, &claimant, word.address, lock_owner_of_claim(&word));
    if (lock_claim_alone(&here, &word, &claimant, held, claim)) {
        got = lock_judge_claim(&word, ipawl_spin64_readers_(held + claim));
        if (!got)
            lock_withdraw_alone(&here, &word, &claimant, claim);
    }
    table_lend_ends(here.bucket, &lent);
    if (got)
        lock_grant(&here, &word, granted);
    lock_unlock(&here);
    return got;
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* A reader that leaves an entry wakes threads only. So the request's owner has to look again and
 * again; where that was so, the lock loses its scaling. */
PAWL_INTERNAL bool lock_look_at_entries(struct claimant *c)
{
    const struct word *const word = &c->word;
    struct notice *const n = lock_notice_of(c);
    enum entries_look how;
    if (!lock_scales_now(word_load_relaxed(word)))
        return true;
    how = entries_wait(lock_identity(word), 0);
    PAWL_PROBE2(lock_scan, word->address, how);
    if (how == ENTRIES_IN_USE) {
        n->on_hold = n->met_entry = true;
        pawl_os_tell(n->descriptor);
        return false;
    }
    if (how == ENTRIES_TOO_DEAR || n->met_entry) {
        lock_scale_no_more(word);
        entries_no_evidence(lock_identity(word));
    }
    return true;
}

#endif
