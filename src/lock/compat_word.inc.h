/* SPDX-License-Identifier: MIT */
/*
 * R without escalation, A -> R, and the join and claim states J and C of compat/plock.h. compat.c
 * includes this file for each width. join.def is the table of these transitions, with reasons.
 *
 * Writers and seekers of these names give all units back beside the W of others. In spin.h they
 * keep W+S there, without R, which claimers take for their own S:
 *
 *   1. Two claimers give up R. One clears S; the other has not looked again.
 *   2. A writer finds only W, keeps W+S and gives R back.
 *   3. The other claimer sees S without R, as after a reader that looked in, and clears S.
 *   4. The writer drops W+S+R: the subtraction of S borrows from W.
 */
#define STARTED PAWL_S_                     /* the claim phase has begun */
#define AWAITED ((PAWL_WORD_)(2 * PAWL_S_)) /* a joining thread waits for readers */
#define S_ANY ((PAWL_WORD_)(PAWL_W_ - PAWL_S_))

/* Every reader has joined: as many units of R as of W. */
static bool PAWL_NAME_(all_joined)(PAWL_WORD_ w)
{
    return PAWL_IS_(readers)(w) / PAWL_R_ == PAWL_IS_(writers)(w) / PAWL_W_;
}

void PAWL_SLOW_(take_read_slow)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ w;
    do
        WAIT_UNTIL(w, PAWL_AT_(pawl_load_relaxed)(&l->word), PAWL_IS_(no_writer)(w));
    while (!PAWL_PLOCK_BODY_(PAWL_WORD_BITS, try_read)(l));
}

/* R is in the word beside the W of others. Where S shows, a claimant waits for this R: the caller
 * drops R. */
void PAWL_SLOW_(atomic_to_read_slow)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ w;
    /* [SPIN_A_GONE] acquire: the reader's reads follow the updates of the atomic users it waited
     * for. */
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE),
               PAWL_IS_(no_writer)(w) || PAWL_IS_(seekers)(w) != 0);
    if (PAWL_IS_(no_writer)(w))
        return;
    (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_);
    PAWL_SLOW_(take_read_slow)(l);
}

void PAWL_SLOW_(read_to_join)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ left;
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    do {
        left = PAWL_IS_(no_writer)(w) ? (PAWL_WORD_)(w & (PAWL_WORD_)~S_ANY) : w;
        left = (PAWL_WORD_)(left + PAWL_W_);
        if ((left & STARTED) == 0 && !PAWL_NAME_(all_joined)(left))
            left |= AWAITED;
        /* [PLOCK_MOVE] the caller's reads are done before the changes of a thread that has joined.
         * If granted at once, the caller's accesses follow the reads of the threads that had left
         * or joined. */
    } while (!PAWL_AT_(pawl_cas_acq_rel)(&l->word, &w, left, PAWL_PLOCK_MOVE));
    if ((left & STARTED) == 0 && !PAWL_NAME_(all_joined)(left))
        /* [PLOCK_ENTER] acquire: the caller's stores follow the reads of the readers it waited
         * for. */
        WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_PLOCK_ENTER),
                   (w & STARTED) != 0 || PAWL_NAME_(all_joined)(w));
}

void PAWL_SLOW_(join_to_claim)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    /* Relaxed: no thread waits for this claim to begin, and the claim waits for no thread. */
    while (!PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, (PAWL_WORD_)(w | STARTED)))
        continue;
}

void PAWL_SLOW_(claim_to_atomic)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ left;
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    do {
        left = (PAWL_WORD_)(w - PAWL_R_);
        if (PAWL_IS_(readers)(left) == 0)
            left &= (PAWL_WORD_)~S_ANY;
        /* [PLOCK_MOVE] all threads that go on see the caller's claims; the caller, if last, sees
         * theirs. */
    } while (!PAWL_AT_(pawl_cas_acq_rel)(&l->word, &w, left, PAWL_PLOCK_MOVE));
    w = left;
    while (PAWL_IS_(seekers)(w) != 0) {
        /* A reader that withdrew its claim may have kept the last claimant from opening. */
        if (PAWL_IS_(readers)(w) == 0) {
            /* [PLOCK_ENTER] acquire: the caller's updates follow the claims of the threads that
             * gave R up. The caller released its own claims with its own R. */
            if (PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w & (PAWL_WORD_)~S_ANY),
                                           PAWL_PLOCK_ENTER))
                return;
        }
        /* [PLOCK_ENTER] acquire: the caller's updates follow the claims of the threads it waited
         * for. */
        WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_PLOCK_ENTER),
                   PAWL_IS_(seekers)(w) == 0 || PAWL_IS_(readers)(w) == 0);
    }
}

void PAWL_SLOW_(atomic_to_join)(PAWL_SPIN_ *l)
{
    /* Relaxed: the others may still be in A, so there is nothing to hand on before the caller's
     * next transition. */
    (void)PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_R_);
}

/* W and R of `l` are given up. S means nothing without W or without R, so it goes with the last. */
static void PAWL_NAME_(leave)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ left;
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    do {
        left = (PAWL_WORD_)(w - (PAWL_WORD_)(PAWL_W_ + PAWL_R_));
        if (PAWL_IS_(no_writer)(left) || PAWL_IS_(readers)(left) == 0)
            left &= (PAWL_WORD_)~S_ANY;
        /* [PLOCK_LEAVE] release: the caller's stores are done before another thread enters. */
    } while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, left, PAWL_PLOCK_LEAVE));
}

void PAWL_SLOW_(drop_join)(PAWL_SPIN_ *l)
{
    PAWL_NAME_(leave)(l);
}

/* J alone, from U. Returns the word, or 0 when another thread has claimed W. Then no unit of the
 * caller is in the word. While W is not zero, the mark that a thread waits may still be there. */
static PAWL_WORD_ PAWL_NAME_(claim_join)(PAWL_SPIN_ *l)
{
    struct backoff pauses = BACKOFF_INIT;
    PAWL_WORD_ left;
    PAWL_WORD_ w;
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_relaxed)(&l->word), PAWL_IS_(no_writer)(w));
    do {
        if (!PAWL_IS_(no_writer)(w))
            return 0;
        left = (PAWL_WORD_)((w & (PAWL_WORD_)~S_ANY) + PAWL_W_ + PAWL_R_);
        if (!PAWL_NAME_(all_joined)(left))
            left |= AWAITED;
        /* [PLOCK_ENTER] acquire: the caller's stores follow all accesses of the threads that had
         * left. */
    } while (!PAWL_AT_(pawl_cas_acquire)(&l->word, &w, left, PAWL_PLOCK_ENTER));
    if (PAWL_IS_(one_reader)(left))
        return left;
    for (w = left; PAWL_IS_(writers)(w) == PAWL_W_;) {
        if (!PAWL_IS_(one_reader)(w)) {
            backoff_pause_once(&pauses, &w);
            w = PAWL_AT_(pawl_load_relaxed)(&l->word);
            continue;
        }
        left = (PAWL_WORD_)(w & (PAWL_WORD_)~S_ANY);
        /* [PLOCK_ENTER] acquire: the caller's stores follow the reads of the readers it waited
         * for. */
        if (PAWL_AT_(pawl_cas_acquire)(&l->word, &w, left, PAWL_PLOCK_ENTER))
            return left;
    }
    PAWL_NAME_(leave)(l);
    return 0;
}

void PAWL_SLOW_(take_join)(PAWL_SPIN_ *l)
{
    while (PAWL_NAME_(claim_join)(l) == 0)
        continue;
}

PAWL_WORD_ PAWL_SLOW_(try_join)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ w = PAWL_NAME_(claim_join)(l);
    if (w != 0)
        return w;
    do
        WAIT_UNTIL(w, PAWL_AT_(pawl_load_relaxed)(&l->word), PAWL_IS_(no_writer)(w));
    while (PAWL_IS_(seekers)(w) != 0 &&
           !PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, (PAWL_WORD_)(w & (PAWL_WORD_)~S_ANY)));
    return 0;
}

#undef STARTED
#undef AWAITED
#undef S_ANY
#undef PAWL_WORD_BITS
