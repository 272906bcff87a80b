/* SPDX-License-Identifier: MIT */
/*
 * The waiting halves of the lock for shared memory; pshared.c includes this file for each width.
 * They follow the steps of spin_word.inc.h. Where the spinlock reads in a loop, this lock waits
 * (wait_for). Where it withdraws a claim, this lock also tells the sleepers (give).
 */

/* Only atomic users, or their claims, are in the word. */
static bool PAWL_NAME_(atomics_alone)(PAWL_WORD_ w)
{
    return PAWL_IS_(atomics_or_nobody)(w) && !PAWL_IS_(no_writer)(w);
}

/* The classes that may go on when the word has this value. Readers and seekers may go on where
 * atomic users are alone, because there they do not sleep but escalate. */
static unsigned PAWL_NAME_(gates)(PAWL_WORD_ w)
{
    unsigned open = 0;
    if (PAWL_IS_(no_writer)(w) || PAWL_NAME_(atomics_alone)(w))
        open |= PSHARED_READ;
    if (PAWL_IS_(no_seeker_or_writer)(w) || PAWL_NAME_(atomics_alone)(w))
        open |= PSHARED_SEEK;
    if (PAWL_IS_(no_writer)(w) || PAWL_IS_(atomics_or_nobody)(w))
        open |= PSHARED_WRITE;
    if (PAWL_IS_(atomic_may_claim)(w))
        open |= PSHARED_ATOMIC;
    if (PAWL_IS_(one_reader)(w))
        open |= PSHARED_DRAIN;
    if (PAWL_IS_(readers)(w) == 0)
        open |= PSHARED_UPDATE;
    if (PAWL_IS_(readers)(w) == 0 && PAWL_IS_(writers)(w) == PAWL_W_)
        open |= PSHARED_KEEP;
    if (PAWL_IS_(no_writer)(w))
        open |= PSHARED_TURN;
    if (PAWL_IS_(seekers)(w) != 0)
        open |= PSHARED_YIELD;
    return open;
}

/* ---- Telling --------------------------------------------------------------------------------- */

/* The classes that may have sleepers when the word has this value. A waiter that keeps a claim of W
 * has it in the word. One that keeps R beside atomic users may not yet know that they have left. */
static unsigned PAWL_NAME_(may_sleep)(PAWL_WORD_ w)
{
    return PAWL_IS_(no_writer)(w) ? SHARED_WITHOUT_W : SHARED_WITHOUT_W | SHARED_BESIDE_W;
}

/* The classes whose gate opens when the word goes from `found` to `now`. */
static unsigned PAWL_NAME_(opened)(PAWL_WORD_ found, PAWL_WORD_ now)
{
    return PAWL_NAME_(gates)(now) & ~PAWL_NAME_(gates)(found) & PAWL_NAME_(may_sleep)(now);
}

static unsigned PAWL_NAME_(tell)(PAWL_LOCK_ *l, unsigned classes)
{
    /* [PSHARED_TELL] release: a waiter that reads the new count sees the earlier change of the
     * word, or LEAVING, or the lock dropped. */
    (void)pawl_fetch_add_release32(&l->waits, 1, PAWL_PSHARED_TELL);
    return pshared_wake(&l->waits, classes);
}

/* I7: LEAVING is set, so no waiter goes to sleep once `waits` has changed, and the sleepers only
 * grow fewer. Other holders may drop meanwhile and leave the wakes to this thread. So it wakes for
 * all gates that are open in the word that it leaves, each class once, and then leaves that word by
 * its last access. If no class can have a sleeper then, PARKED goes too. */
void PAWL_SLOW_(leave)(PAWL_LOCK_ *l, PAWL_WORD_ units)
{
    unsigned told = 0, awake = 0;
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;

    for (;;) {
        unsigned classes;
        next = (PAWL_WORD_)((w - units) & (PAWL_WORD_)~(PAWL_WORD_)PAWL_PSHARED_LEAVING);
        classes = PAWL_NAME_(gates)(next) & PAWL_NAME_(may_sleep)(next) & ~told;
        if (classes != 0) {
            awake |= PAWL_NAME_(tell)(l, classes);
            told |= classes;
            w = PAWL_AT_(pawl_load_relaxed)(&l->word);
            continue;
        }
        if ((PAWL_NAME_(may_sleep)(next) & ~awake) == 0)
            next &= (PAWL_WORD_)~(PAWL_WORD_)PAWL_PSHARED_PARKED;
        /* [PSHARED_LEAVE] release: `waits` has changed before the next owner may free the lock. */
        if (PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_PSHARED_LEAVE))
            return;
    }
}

/* I6, for callers that still hold the lock or are still inside an operation on it. Only
 * subtractions open gates, with one exception: see drain_to_atomic. Where all gates are open and
 * the wake found no sleeper, PARKED is likely stale: this thread then looks, as a drop does. */
void PAWL_SLOW_(changed)(PAWL_LOCK_ *l, PAWL_WORD_ found, PAWL_WORD_ now)
{
    const unsigned opened = PAWL_NAME_(opened)(found, now);
    PAWL_WORD_ w;
    if (opened == 0 || PAWL_NAME_(tell)(l, opened) != opened ||
        (PAWL_NAME_(may_sleep)(now) & ~PAWL_NAME_(gates)(now)) != 0)
        return;
    w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if ((w & (PAWL_PSHARED_PARKED | PAWL_PSHARED_LEAVING)) == PAWL_PSHARED_PARKED &&
        PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, w | PAWL_PSHARED_LEAVING))
        PAWL_SLOW_(leave)(l, 0);
}

bool PAWL_SLOW_(lets_in)(PAWL_WORD_ found, PAWL_WORD_ now)
{
    return PAWL_IS_(nobody)(now) || PAWL_NAME_(opened)(found, now) != 0;
}

/* Withdraws a claim. */
static void PAWL_NAME_(give)(PAWL_LOCK_ *l, PAWL_WORD_ units)
{
    const PAWL_WORD_ found = PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, units);
    if (found & PAWL_PSHARED_PARKED)
        PAWL_SLOW_(changed)(l, found, (PAWL_WORD_)(found - units));
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Waits until the gate of the class is open. False: the deadline has passed and the gate is closed.
 * The read of the word does not acquire; the caller acquires it, or claims.
 * A holder that is leaving wakes one waiter of a class and counts on it. So the waiter that sees
 * LEAVING after its sleep stays until the drop; when its time is over, it wakes another. It looks
 * by a read-modify-write, which finds the newest value of the word. */
static bool PAWL_NAME_(wait_for)(PAWL_LOCK_ *l, unsigned class, uint64_t deadline)
{
    struct backoff pauses = BACKOFF_INIT;
    bool in_time = true;
    bool chosen = false; /* may be the one of its class that was woken */
    uint32_t count;
    PAWL_WORD_ w;

    for (;;) {
        /* [PSHARED_HEAR] acquire: if the count is new, the next read of the word is as new. */
        count = pawl_load_acquire32(&l->waits, PAWL_PSHARED_HEAR);
        w = chosen ? PAWL_AT_(pawl_fetch_or_relaxed)(&l->word, 0)
                   : PAWL_AT_(pawl_load_relaxed)(&l->word);
        if (!(w & (PAWL_PSHARED_PARKED | PAWL_PSHARED_LEAVING)) && in_time &&
            pshared_tired(&pauses) && !(PAWL_NAME_(gates)(w) & class))
            w = PAWL_AT_(pawl_fetch_or_relaxed)(&l->word, PAWL_PSHARED_PARKED) |
                PAWL_PSHARED_PARKED;
        chosen = chosen && (w & PAWL_PSHARED_LEAVING);
        if (!chosen && (PAWL_NAME_(gates)(w) & class))
            return true;
        in_time = in_time && !pshared_late(deadline);
        if (!in_time && chosen)
            (void)pshared_wake(&l->waits, class);
        if (!in_time)
            return (PAWL_NAME_(gates)(w) & class) != 0;
        if (w & PAWL_PSHARED_LEAVING) {
            pshared_await_drop(&pauses, &w);
        } else if (!(w & PAWL_PSHARED_PARKED) || !pshared_tired(&pauses)) {
            backoff_pause_once(&pauses, &w);
        } else {
            in_time = pawl_os_wait_classes(&l->waits, count, class, deadline);
            chosen = (class & SHARED_ONE_EACH) != 0;
        }
    }
}

/* ---- W --------------------------------------------------------------------------------------- */

bool PAWL_SLOW_(drain_readers)(PAWL_LOCK_ *l, PAWL_WORD_ units, uint64_t deadline)
{
    if (!PAWL_NAME_(wait_for)(l, PSHARED_DRAIN, deadline)) {
        PAWL_NAME_(give)(l, units);
        return false;
    }
    /* [SPIN_W_DRAIN] acquire: the writer's stores follow the reads of the readers it waited for. */
    (void)PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_W_DRAIN);
    return true;
}

/* I3: keeps W+S, which keeps all newcomers out, and gives R back. */
static bool PAWL_NAME_(keep_write)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_NAME_(give)(l, PAWL_R_);
    if (!PAWL_NAME_(wait_for)(l, PSHARED_KEEP, deadline)) {
        PAWL_NAME_(give)(l, PAWL_W_S_);
        return false;
    }
    /* [SPIN_W_KEEP] acquire: the writer's stores follow the accesses of the holders it waited
     * for. */
    (void)PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_, PAWL_SPIN_W_KEEP);
    return true;
}

bool PAWL_SLOW_(take_write_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found, uint64_t deadline)
{
    PAWL_PROBE2(pshared_contended, l, 4);
    while (!PAWL_IS_(nobody)(found)) {
        if (PAWL_IS_(no_seeker_or_writer)(found))
            return PAWL_SLOW_(drain_readers)(l, PAWL_W_S_R_, deadline);
        if (PAWL_IS_(no_writer)(found) || PAWL_IS_(atomics_or_nobody)(found))
            return PAWL_NAME_(keep_write)(l, deadline);
        PAWL_NAME_(give)(l, PAWL_W_S_R_);
        if (!PAWL_NAME_(wait_for)(l, PSHARED_WRITE, deadline))
            return false;
        /* [SPIN_W_TAKE] acquire: the writer's stores follow all accesses of earlier holders. */
        found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    }
    return true;
}

/* The way in for a waiter whose patience is spent: it claims W. */
static bool PAWL_NAME_(insist)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_W_TAKE] acquire: as for any writer; R, S or A comes out of W. */
    return PAWL_SLOW_(take_write_slow)(
        l, PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE), deadline);
}

/* ---- R and S --------------------------------------------------------------------------------- */

/* `claimed`: PAWL_R_ when the caller's claim met a writer, 0 when it did not claim. */
bool PAWL_SLOW_(take_read_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claimed, uint64_t deadline)
{
    unsigned patience = PAWL_PSHARED_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;
    PAWL_PROBE2(pshared_contended, l, 1);

    for (;; claimed = PAWL_R_) {
        if (claimed)
            PAWL_NAME_(give)(l, PAWL_R_);
        if (!PAWL_NAME_(wait_for)(l, PSHARED_READ, deadline))
            return false;
        for (; patience > 0 &&
             PAWL_NAME_(atomics_alone)(PAWL_AT_(pawl_load_relaxed)(&l->word)); patience--)
            backoff_pause_once(&pauses, &patience);
        if (patience-- == 0)
            break;
        /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
        if (PAWL_IS_(no_writer)(PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_,
                                                                 PAWL_SPIN_R_TAKE)))
            return true;
    }
    if (!PAWL_NAME_(insist)(l, deadline))
        return false;
    PAWL_NAME_(do_write_to_read_)(l);
    return true;
}

/* The caller's claim S+R is in the word. */
bool PAWL_SLOW_(take_seek_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    unsigned patience = PAWL_PSHARED_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;
    PAWL_PROBE2(pshared_contended, l, 2);

    for (;;) {
        PAWL_NAME_(give)(l, PAWL_R_S_);
        if (!PAWL_NAME_(wait_for)(l, PSHARED_SEEK, deadline))
            return false;
        for (; patience > 0 &&
             PAWL_NAME_(atomics_alone)(PAWL_AT_(pawl_load_relaxed)(&l->word)); patience--)
            backoff_pause_once(&pauses, &patience);
        if (patience-- == 0)
            break;
        /* [SPIN_S_TAKE] acquire: the seeker sees the stores of the last seeker or writer. */
        if (PAWL_IS_(no_seeker_or_writer)(
                PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_S_, PAWL_SPIN_S_TAKE)))
            return true;
    }
    if (!PAWL_NAME_(insist)(l, deadline))
        return false;
    PAWL_NAME_(do_write_to_seek_)(l);
    return true;
}

/* ---- A --------------------------------------------------------------------------------------- */

/* I2: W is in the word and only readers are beside it; S says that a claimant waits for R to fall.
 * A thread that turns from A to R may have gone to sleep when W was there without this S. So the
 * claimant tells it even if an S was there before. That S may have been the claim of a seeker,
 * which told no sleeper. */
bool PAWL_SLOW_(drain_to_atomic)(PAWL_LOCK_ *l, PAWL_WORD_ mark, PAWL_WORD_ back, uint64_t deadline)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, mark);
    if (found & PAWL_PSHARED_PARKED)
        PAWL_NAME_(tell)(l, PSHARED_YIELD | (PAWL_NAME_(gates)((PAWL_WORD_)(found + mark)) &
                                             ~PAWL_NAME_(gates)(found)));
    if (!PAWL_NAME_(wait_for)(l, PSHARED_UPDATE, deadline)) {
        PAWL_NAME_(give)(l, (PAWL_WORD_)(0u - back));
        return false;
    }
    /* [SPIN_A_DRAIN] acquire: the atomic user's updates follow the reads of the readers it waited
     * for. */
    (void)PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_DRAIN);
    /* [SPIN_R_TO_A] release: the caller's reads under R are done before another atomic user
     * enters. */
    found = PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_S_, PAWL_SPIN_R_TO_A);
    if (found & PAWL_PSHARED_PARKED)
        PAWL_SLOW_(changed)(l, found, (PAWL_WORD_)(found - PAWL_S_));
    return true;
}

bool PAWL_SLOW_(take_atomic_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found, uint64_t deadline)
{
    unsigned patience = PAWL_PSHARED_PATIENCE;
    PAWL_PROBE2(pshared_contended, l, 8);

    while (!PAWL_IS_(atomics_or_nobody)(found)) {
        if (PAWL_IS_(no_seeker_or_writer)(found))
            return PAWL_SLOW_(drain_to_atomic)(l, PAWL_S_, (PAWL_WORD_)(0u - PAWL_W_ - PAWL_S_),
                                               deadline);
        PAWL_NAME_(give)(l, PAWL_W_);
        if (!PAWL_NAME_(wait_for)(l, PSHARED_ATOMIC, deadline))
            return false;
        if (patience-- == 0) {
            if (!PAWL_NAME_(insist)(l, deadline))
                return false;
            /* Relaxed: the caller has stored nothing under W. */
            found = PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_S_);
            if (found & PAWL_PSHARED_PARKED)
                PAWL_SLOW_(changed)(l, found, (PAWL_WORD_)(found - PAWL_S_ - PAWL_R_));
            return true;
        }
        /* [SPIN_A_TAKE] acquire: the atomic user's updates follow all accesses of earlier
         * holders. */
        found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE);
    }
    return true;
}

/* R is in the word beside the W of others. When these wait for R (I2: they show S), the caller
 * drops R. */
pawl_regained PAWL_SLOW_(regain_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_PROBE2(pshared_contended, l, 128);
    if (!PAWL_NAME_(wait_for)(l, PSHARED_TURN | PSHARED_YIELD, deadline)) {
        PAWL_NAME_(give)(l, PAWL_R_);
        return PAWL_REGAIN_TIMED_OUT;
    }
    /* [SPIN_A_GONE] acquire: the reader's reads follow the updates of the atomic users it waited
     * for. */
    if (PAWL_IS_(no_writer)(PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE)))
        return PAWL_REGAIN_KEPT;
    if (PAWL_SLOW_(take_read_slow)(l, PAWL_R_, deadline))
        return PAWL_REGAIN_LET_GO;
    return PAWL_REGAIN_TIMED_OUT;
}
