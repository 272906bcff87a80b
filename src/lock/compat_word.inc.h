/* SPDX-License-Identifier: MIT */
/*
 * R without insisting, A -> R, and the join and claim states J and C of compat/plock.h, included by
 * compat.c for each width. join.def is the table of what stands here, and says why.
 */
#define STARTED PAWL_S_                     /* the claim phase has begun */
#define AWAITED ((PAWL_WORD_)(2 * PAWL_S_)) /* somebody who joins waits for readers */
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

/* R is in the word beside the W of others. Where S shows, somebody waits for our R: we let go. */
void PAWL_SLOW_(atomic_to_read_slow)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ w;
    /* [SPIN_A_GONE] acquire: our reads come after the updates of those we waited for. */
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
        /* [PLOCK_MOVE] our reads are done before one who has joined changes anything; what we do
         * when granted at once comes after the reads of those who had left or joined. */
    } while (!PAWL_AT_(pawl_cas_acq_rel)(&l->word, &w, left, PAWL_PLOCK_MOVE));
    if ((left & STARTED) == 0 && !PAWL_NAME_(all_joined)(left))
        /* [PLOCK_ENTER] acquire: our stores come after the reads of those we waited for. */
        WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_PLOCK_ENTER),
                   (w & STARTED) != 0 || PAWL_NAME_(all_joined)(w));
}

void PAWL_SLOW_(join_to_claim)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    /* Relaxed: nobody waits for our claim to begin, and we for nobody. */
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
        /* [PLOCK_MOVE] our claims are seen by all who go on, and theirs by us if last. */
    } while (!PAWL_AT_(pawl_cas_acq_rel)(&l->word, &w, left, PAWL_PLOCK_MOVE));
    w = left;
    while (PAWL_IS_(seekers)(w) != 0) {
        /* A reader that only looked in may have kept the last one from opening. */
        if (PAWL_IS_(readers)(w) == 0) {
            /* [PLOCK_ENTER] acquire: our updates come after the claims of those who gave up R; ours
             * have been released with our own R. */
            if (PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w & (PAWL_WORD_)~S_ANY),
                                           PAWL_PLOCK_ENTER))
                return;
        }
        /* [PLOCK_ENTER] acquire: our updates come after the claims of those we waited for. */
        WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_PLOCK_ENTER),
                   PAWL_IS_(seekers)(w) == 0 || PAWL_IS_(readers)(w) == 0);
    }
}

void PAWL_SLOW_(atomic_to_join)(PAWL_SPIN_ *l)
{
    /* Relaxed: the others may be in A still, so nothing can be handed on before we move again. */
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
        /* [PLOCK_LEAVE] release: our stores are done before anybody enters. */
    } while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, left, PAWL_PLOCK_LEAVE));
}

void PAWL_SLOW_(drop_join)(PAWL_SPIN_ *l)
{
    PAWL_NAME_(leave)(l);
}

/* J alone, from U. The word, or 0 when another has claimed W: nothing of ours is in it then but,
 * while W is not zero, the mark that somebody waits. */
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
        /* [PLOCK_ENTER] acquire: our stores come after what all who had left did. */
    } while (!PAWL_AT_(pawl_cas_acquire)(&l->word, &w, left, PAWL_PLOCK_ENTER));
    if (PAWL_IS_(one_reader)(left))
        return left;
    for (w = left; PAWL_IS_(writers)(w) == PAWL_W_;) {
        if (!PAWL_IS_(one_reader)(w)) {
            pause_once(&pauses, &w);
            w = PAWL_AT_(pawl_load_relaxed)(&l->word);
            continue;
        }
        left = (PAWL_WORD_)(w & (PAWL_WORD_)~S_ANY);
        /* [PLOCK_ENTER] acquire: our stores come after the reads of those we waited for. */
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
