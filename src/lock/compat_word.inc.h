/* SPDX-License-Identifier: MIT */
/*
 * R without insisting, A -> R, and the join and claim states J and C of compat/plock.h, included by
 * compat.c for each width. join.def is the table of what stands here, and says why.
 */
#define LOCK PAWL_CAT_(pawl_spin, PAWL_WORD_BITS)
#define WORD PAWL_CAT_(PAWL_CAT_(uint, PAWL_WORD_BITS), _t)
#define NAME(verb) PAWL_CAT_(LOCK, _##verb)
#define AT(operation) PAWL_CAT_(operation, PAWL_WORD_BITS)
#define PLOCK(verb) PAWL_CAT_(PAWL_CAT_(pawl_plock, PAWL_WORD_BITS), _##verb)
#define SLOW(verb) PAWL_SYMBOL_(PLOCK(verb))
#define R1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _R)
#define S1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _S)
#define W1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _W)
#define STARTED S1            /* the claim phase has begun */
#define AWAITED ((WORD)(2 * S1)) /* somebody who joins waits for readers */
#define S_ANY ((WORD)(W1 - S1))

/* Every reader has joined: as many units of R as of W. */
static bool PLOCK(all_joined)(WORD w)
{
    return NAME(readers_)(w) / R1 == NAME(writers_)(w) / W1;
}

void SLOW(take_read_slow)(LOCK *l)
{
    WORD w;
    do
        WAIT_UNTIL(w, AT(pawl_load_relaxed)(&l->word), NAME(no_writer_)(w));
    while (!PAWL_PLOCK_BODY_(PAWL_WORD_BITS, try_read)(l));
}

/* R is in the word beside the W of others. Where S shows, somebody waits for our R: we let go. */
void SLOW(atomic_to_read_slow)(LOCK *l)
{
    WORD w;
    /* [SPIN_A_GONE] acquire: our reads come after the updates of those we waited for. */
    WAIT_UNTIL(w, AT(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE),
               NAME(no_writer_)(w) || NAME(seekers_)(w) != 0);
    if (NAME(no_writer_)(w))
        return;
    (void)AT(pawl_fetch_sub_relaxed)(&l->word, R1);
    SLOW(take_read_slow)(l);
}

void SLOW(read_to_join)(LOCK *l)
{
    WORD left;
    WORD w = AT(pawl_load_relaxed)(&l->word);
    do {
        left = (WORD)((NAME(no_writer_)(w) ? (WORD)(w & (WORD)~S_ANY) : w) + W1);
        if ((left & STARTED) == 0 && !PLOCK(all_joined)(left))
            left |= AWAITED;
        /* [PLOCK_MOVE] our reads are done before one who has joined changes anything; what we do
         * when granted at once comes after the reads of those who had left or joined. */
    } while (!AT(pawl_cas_acq_rel)(&l->word, &w, left, PAWL_PLOCK_MOVE));
    if ((left & STARTED) == 0 && !PLOCK(all_joined)(left))
        /* [PLOCK_ENTER] acquire: our stores come after the reads of those we waited for. */
        WAIT_UNTIL(w, AT(pawl_load_acquire)(&l->word, PAWL_PLOCK_ENTER),
                   (w & STARTED) != 0 || PLOCK(all_joined)(w));
}

void SLOW(join_to_claim)(LOCK *l)
{
    WORD w = AT(pawl_load_relaxed)(&l->word);
    /* Relaxed: nobody waits for our claim to begin, and we for nobody. */
    while (!AT(pawl_cas_relaxed)(&l->word, &w, (WORD)(w | STARTED)))
        continue;
}

void SLOW(claim_to_atomic)(LOCK *l)
{
    WORD left;
    WORD w = AT(pawl_load_relaxed)(&l->word);
    do {
        left = (WORD)(w - R1);
        if (NAME(readers_)(left) == 0)
            left &= (WORD)~S_ANY;
        /* [PLOCK_MOVE] our claims are seen by all who go on, and theirs by us if last. */
    } while (!AT(pawl_cas_acq_rel)(&l->word, &w, left, PAWL_PLOCK_MOVE));
    w = left;
    while (NAME(seekers_)(w) != 0) {
        /* A reader that only looked in may have kept the last one from opening. */
        if (NAME(readers_)(w) == 0) {
            /* [PLOCK_ENTER] acquire: our updates come after the claims of those who gave up R; ours
             * have been released with our own R. */
            if (AT(pawl_cas_acquire)(&l->word, &w, (WORD)(w & (WORD)~S_ANY), PAWL_PLOCK_ENTER))
                return;
        }
        /* [PLOCK_ENTER] acquire: our updates come after the claims of those we waited for. */
        WAIT_UNTIL(w, AT(pawl_load_acquire)(&l->word, PAWL_PLOCK_ENTER),
                   NAME(seekers_)(w) == 0 || NAME(readers_)(w) == 0);
    }
}

void SLOW(atomic_to_join)(LOCK *l)
{
    /* Relaxed: the others may be in A still, so nothing can be handed on before we move again. */
    (void)AT(pawl_fetch_add_relaxed)(&l->word, R1);
}

/* W and R of `l` are given up. S means nothing without W or without R, so it goes with the last. */
static void PLOCK(leave)(LOCK *l)
{
    WORD left;
    WORD w = AT(pawl_load_relaxed)(&l->word);
    do {
        left = (WORD)(w - (WORD)(W1 + R1));
        if (NAME(no_writer_)(left) || NAME(readers_)(left) == 0)
            left &= (WORD)~S_ANY;
        /* [PLOCK_LEAVE] release: our stores are done before anybody enters. */
    } while (!AT(pawl_cas_release)(&l->word, &w, left, PAWL_PLOCK_LEAVE));
}

void SLOW(drop_join)(LOCK *l)
{
    PLOCK(leave)(l);
}

/* J alone, from U. The word, or 0 when another has claimed W: nothing of ours is in it then but,
 * while W is not zero, the mark that somebody waits. */
static WORD PLOCK(claim_join)(LOCK *l)
{
    struct backoff pauses = BACKOFF_INIT;
    WORD left;
    WORD w;
    WAIT_UNTIL(w, AT(pawl_load_relaxed)(&l->word), NAME(no_writer_)(w));
    do {
        if (!NAME(no_writer_)(w))
            return 0;
        left = (WORD)((w & (WORD)~S_ANY) + W1 + R1);
        if (!PLOCK(all_joined)(left))
            left |= AWAITED;
        /* [PLOCK_ENTER] acquire: our stores come after what all who had left did. */
    } while (!AT(pawl_cas_acquire)(&l->word, &w, left, PAWL_PLOCK_ENTER));
    if (NAME(one_reader_)(left))
        return left;
    for (w = left; NAME(writers_)(w) == W1;) {
        if (!NAME(one_reader_)(w)) {
            pause_once(&pauses, &w);
            w = AT(pawl_load_relaxed)(&l->word);
            continue;
        }
        left = (WORD)(w & (WORD)~S_ANY);
        /* [PLOCK_ENTER] acquire: our stores come after the reads of those we waited for. */
        if (AT(pawl_cas_acquire)(&l->word, &w, left, PAWL_PLOCK_ENTER))
            return left;
    }
    PLOCK(leave)(l);
    return 0;
}

void SLOW(take_join)(LOCK *l)
{
    while (PLOCK(claim_join)(l) == 0)
        continue;
}

WORD SLOW(try_join)(LOCK *l)
{
    WORD w = PLOCK(claim_join)(l);
    if (w != 0)
        return w;
    do
        WAIT_UNTIL(w, AT(pawl_load_relaxed)(&l->word), NAME(no_writer_)(w));
    while (NAME(seekers_)(w) != 0 &&
           !AT(pawl_cas_relaxed)(&l->word, &w, (WORD)(w & (WORD)~S_ANY)));
    return 0;
}

#undef LOCK
#undef WORD
#undef NAME
#undef AT
#undef PLOCK
#undef SLOW
#undef R1
#undef S1
#undef W1
#undef STARTED
#undef AWAITED
#undef S_ANY
