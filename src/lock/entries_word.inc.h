/* SPDX-License-Identifier: MIT */
/* Readers that scale, for each width of the sleeping progressive lock: what its waits do for them,
 * and the compiled halves of entries_word.inc.h in include/pawl/detail. */

#if PAWL_SCALES_

/* BIASED is set only where no W is, and cleared only by a party whose own W is in the word and who
 * has looked at all lines. So one whose W is in the word finds BIASED as long as it must look. */
static void PAWL_NAME_(scale)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(no_writer)(w) && !PAWL_NAME_(scales_)(w)) {
        if (PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, w | PAWL_LOCK_BIASED)) {
            PAWL_PROBE1(lock_bias_on, l);
            return;
        }
    }
}

/* W of the caller is in the word, and it has looked at all lines. */
static void PAWL_NAME_(scale_no_more)(PAWL_LOCK_ *l)
{
    (void)PAWL_AT_(pawl_fetch_and_relaxed)(&l->word, (PAWL_WORD_)~(PAWL_WORD_)PAWL_LOCK_BIASED);
    PAWL_PROBE1(lock_bias_off, l);
}

/* A reader that has waited, or whose fast path another reader has disturbed. */
static bool PAWL_NAME_(enter_scaling)(PAWL_LOCK_ *l, struct wait *wait, PAWL_WORD_ w)
{
    if (wait->counted)
        return false;
    if (!PAWL_NAME_(scales_)(w)) {
        if (!entries_evidence(PAWL_NAME_(identity_)(l)))
            return false;
        PAWL_NAME_(scale)(l);
    }
    entries_join();
    return PAWL_NAME_(enter_)(l);
}

/* The look comes behind the access that put W into the word: a reader that fills its entry later
 * finds W. It comes before R of the word is judged: R moves from an entry into the word, never
 * back. */
static bool PAWL_NAME_(readers_gone)(PAWL_LOCK_ *l, struct wait *wait)
{
    enum entries_look how;
    if (!PAWL_NAME_(scales_)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return true;
    how = entries_wait(PAWL_NAME_(identity_)(l), wait->deadline);
    PAWL_PROBE2(lock_scan, l, how);
    if (how == ENTRIES_TOO_DEAR)
        PAWL_NAME_(scale_no_more)(l);
    return how != ENTRIES_IN_USE;
}

static void PAWL_NAME_(met_writer)(PAWL_LOCK_ *l)
{
    entries_no_evidence(PAWL_NAME_(identity_)(l));
}

bool PAWL_SLOW_(take_scaling)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_LIKELY(PAWL_NAME_(enter_)(l)) || PAWL_SLOW_(take_read_slow)(l, deadline);
}

bool PAWL_SLOW_(try_scaling)(PAWL_LOCK_ *l)
{
    return PAWL_LIKELY(PAWL_NAME_(enter_)(l)) || PAWL_NAME_(do_try_read_counted_)(l);
}

/* The first drop of a thread, and drops from a word where PAWL_BIAS=on, turn scaling on while R of
 * the caller is still in the word. */
void PAWL_SLOW_(drop_read_slow)(PAWL_LOCK_ *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    if (PAWL_NAME_(leave_entry_)(l))
        return;
    if (pawl_entries_are_(own))
        entries_recount(own);
    else if (own == NULL && PAWL_NAME_(scales_)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        pawl_os_must_be_known();
    if ((own == NULL || (pawl_entries_are_(own) && own->eager != 0)) && entries_first_drop())
        PAWL_NAME_(scale)(l);
    PAWL_NAME_(do_drop_read_counted_)(l);
}

/* First the word has R, then the entry is free: a claimant that misses the entry finds R. A thread
 * that has no line yet comes once, and in a copy of the library that uses another copy's variable
 * every thread comes. */
void PAWL_SLOW_(count_slow)(PAWL_LOCK_ *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    unsigned i;
    if (!pawl_entries_are_(own)) {
        if (PAWL_NAME_(scales_)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
            pawl_os_must_be_known();
        if (own == NULL && !PAWL_HOOKS)
            (void)entries_first_drop();
        return;
    }
    i = entries_find(own, PAWL_NAME_(identity_)(l));
    if (i == PAWL_ENTRIES)
        return;
    (void)PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_R_);
    entries_free(own, i);
}

PAWL_WORD_ PAWL_SLOW_(look)(const PAWL_LOCK_ *l)
{
    const PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    return (PAWL_WORD_)(w + PAWL_R_ * (PAWL_WORD_)entries_count(PAWL_NAME_(identity_)(l)));
}

/* ---- Claims at the lines --------------------------------------------------------------------- */

/* Whether nobody but the caller, who has `held`, is in. Others that keep W+S beside the S of the
 * caller wait for it. */
static bool PAWL_NAME_(is_alone)(PAWL_WORD_ w, PAWL_WORD_ held)
{
    const PAWL_WORD_ mine = PAWL_IS_(seekers)(held) != 0 ? (PAWL_WORD_)(PAWL_S_ - PAWL_R_)
                                                         : (PAWL_WORD_)~(PAWL_WORD_)3u;
    return ((w ^ held) & mine) == 0;
}

/* The bucket is locked, and the waiter's change has turned PARKED round at `found`. Turns it back,
 * and wakes whom other changes have let in meanwhile. */
static void PAWL_NAME_(turn_back)(struct lock_place *here, PAWL_LOCK_ *l, PAWL_WORD_ found)
{
    if (found & PAWL_LOCK_PARKED)
        lock_pick(here, PAWL_NAME_(opened)(found, PAWL_NAME_(park_again)(l, found, found)));
    else
        (void)PAWL_AT_(pawl_fetch_and_relaxed)(&l->word, (PAWL_WORD_)~(PAWL_WORD_)PAWL_LOCK_PARKED);
}

/* The bucket is locked. Makes the claim if nobody but the caller, who has `held`, is in. The waiter
 * keeps it then. */
static bool PAWL_NAME_(claim_alone)(struct lock_place *here, PAWL_LOCK_ *l,
                                    struct pawl_waiter *waiter, PAWL_WORD_ held, PAWL_WORD_ claim)
{
    const PAWL_WORD_ change = PAWL_NAME_(begin_change)(l, waiter, claim, claim);
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_NAME_(is_alone)(w, held)) {
        /* Relaxed: the look, and what follows it, acquire. */
        if (PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, (PAWL_WORD_)(w + change))) {
            table_change_is_made(waiter, claim);
            PAWL_NAME_(turn_back)(here, l, w);
            return true;
        }
    }
    waiter->changes = TABLE_STEADY;
    return false;
}

/* The bucket is locked. Takes the claim back, and wakes whom it has held back. */
static void PAWL_NAME_(take_back)(struct lock_place *here, PAWL_LOCK_ *l,
                                  struct pawl_waiter *waiter, PAWL_WORD_ claim)
{
    const PAWL_WORD_ change = PAWL_NAME_(begin_change)(l, waiter, (PAWL_WORD_)(0u - claim), 0);
    const PAWL_WORD_ found = PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, change);
    table_change_is_made(waiter, 0);
    PAWL_NAME_(turn_back)(here, l, found);
}

/* The bucket is locked, and the claim is in the word. Whether no reader is in; `readers`: the R
 * that the caller itself has in the word. */
static bool PAWL_NAME_(judge_claim)(PAWL_LOCK_ *l, PAWL_WORD_ readers)
{
    const enum entries_look how = entries_wait(PAWL_NAME_(identity_)(l), 0);
    PAWL_WORD_ w;
    PAWL_PROBE2(lock_scan, l, how);
    if (how == ENTRIES_IN_USE)
        return false;
    /* [SPIN_W_DRAIN] acquire: the caller's stores follow all accesses of earlier holders. */
    w = PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_W_DRAIN);
    if (PAWL_IS_(readers)(w) != readers)
        return false;
    if (how == ENTRIES_TOO_DEAR)
        PAWL_NAME_(scale_no_more)(l);
    return true;
}

/* The bucket is locked, and the caller's claim is all that it has taken: gives it the rest. */
static void PAWL_NAME_(grant)(struct lock_place *here, PAWL_LOCK_ *l, PAWL_WORD_ granted)
{
    PAWL_WORD_ w;
    if (granted == 0)
        return;
    /* [SPIN_R_TO_A] release: an atomic user that joins comes after the readers that have left, and
     * after the caller's reads under R. */
    w = PAWL_AT_(pawl_fetch_add_release)(&l->word, granted, PAWL_SPIN_R_TO_A);
    if (w & PAWL_LOCK_PARKED)
        lock_pick(here, PAWL_NAME_(opened)(w, (PAWL_WORD_)(w + granted)));
}

/* A writer that finds nobody in the word, which has BIASED. It claims and looks at the lines, once
 * if no reader is in an entry. Else it keeps the claim, and has to wait. The queue is lent to the
 * bucket meanwhile, so a fork's child finds no claim that nobody would take back. */
static enum lines_claim PAWL_NAME_(claim_at_lines)(PAWL_LOCK_ *l, struct wait *wait)
{
    struct lock_place here;
    struct pawl_queue lent;
    enum lines_claim how = LINES_CHANGED;
    lock_look(&here, l, OWNER);
    table_lend(here.bucket, &lent, &wait->waiter, l, CLAIM);
    if (PAWL_NAME_(claim_alone)(&here, l, &wait->waiter, 0, PAWL_W_S_R_)) {
        how = LINES_GRANTED;
        if (!PAWL_NAME_(judge_claim)(l, PAWL_R_)) {
            if (!wait->queued)
                lock_queue_up(&here, wait);
            lock_keeps(&here, wait, WAIT_DRAIN, PAWL_W_S_R_);
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
bool PAWL_SLOW_(claim_at_once)(PAWL_LOCK_ *l, PAWL_WORD_ held, PAWL_WORD_ claim, PAWL_WORD_ granted)
{
    struct lock_place here;
    struct pawl_waiter claimant;
    struct pawl_queue lent;
    bool got = false;
    if (entries_are_in_use(PAWL_NAME_(identity_)(l)) || !lock_try_look(&here, l, OWNER))
        return false;
    claimant.younger = NULL;
    table_lend(here.bucket, &lent, &claimant, l, CLAIM);
    if (PAWL_NAME_(claim_alone)(&here, l, &claimant, held, claim)) {
        got = PAWL_NAME_(judge_claim)(l, PAWL_IS_(readers)((PAWL_WORD_)(held + claim)));
        if (!got)
            PAWL_NAME_(take_back)(&here, l, &claimant, claim);
    }
    table_lend_ends(here.bucket, &lent);
    if (got)
        PAWL_NAME_(grant)(&here, l, granted);
    lock_unlock(&here);
    return got;
}

#else

static bool PAWL_NAME_(enter_scaling)(PAWL_LOCK_ *l, struct wait *wait, PAWL_WORD_ w)
{
    (void)l, (void)wait, (void)w;
    return false;
}

static enum lines_claim PAWL_NAME_(claim_at_lines)(PAWL_LOCK_ *l, struct wait *wait)
{
    (void)l, (void)wait;
    return LINES_CHANGED;
}

static bool PAWL_NAME_(readers_gone)(PAWL_LOCK_ *l, struct wait *wait)
{
    (void)l, (void)wait;
    return true;
}

static void PAWL_NAME_(met_writer)(PAWL_LOCK_ *l)
{
    (void)l;
}

#endif
