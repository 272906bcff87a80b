/* SPDX-License-Identifier: MIT */
/*
 * The waiting halves of the progressive spinlock, included by spin.c for each width (alphabet.h).
 * Every wait only reads. It ends with an acquire load where the wait itself grants, and with a
 * relaxed one where an acquiring claim follows.
 */

/* Only atomic users are in, or about to enter. */
static bool PAWL_NAME_(atomics_only)(PAWL_WORD_ w)
{
    return PAWL_IS_(atomics_or_nobody)(w) && !PAWL_IS_(no_writer)(w);
}

/* I1: W+S+R is in the word and newcomers withdraw; waits until R is ours alone. */
void PAWL_SLOW_(drain_readers)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w;
    /* [SPIN_W_DRAIN] acquire: our stores come after the reads of those we waited for. */
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_W_DRAIN),
               PAWL_IS_(one_reader)(w));
}

/* I3: keeps W+S, which holds everybody back, and gives back R, so that R falls to zero when the
 * seeker, or whoever it has become, has left. Atomic users show as further units of W. */
static void PAWL_NAME_(keep_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w;
    (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_);
    /* [SPIN_W_KEEP] acquire: our stores come after what those we waited for have done. */
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_W_KEEP),
               PAWL_IS_(writers)(w) == PAWL_W_ && PAWL_IS_(readers)(w) == 0);
    (void)PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_R_);
}

void PAWL_SLOW_(take_write_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found)
{
    PAWL_WORD_ w;
    while (!PAWL_IS_(nobody)(found)) {
        if (PAWL_IS_(no_seeker_or_writer)(found)) {
            PAWL_SLOW_(drain_readers)(l);
            return;
        }
        if (PAWL_IS_(no_writer)(found) || PAWL_IS_(atomics_or_nobody)(found)) {
            PAWL_NAME_(keep_write)(l);
            return;
        }
        (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_R_);
        WAIT_UNTIL(w, PAWL_AT_(pawl_load_relaxed)(&l->word),
                   PAWL_IS_(no_writer)(w) || PAWL_IS_(atomics_or_nobody)(w));
        /* [SPIN_W_TAKE] acquire: our stores come after all that earlier holders did. */
        found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    }
}

/* Who insists goes through W and stores nothing there, so to move down releases nothing: the next
 * one acquires what those did before who stored something, because an addition, whatever its order,
 * leaves their releases in force (doc/design/001-words.md). */

/* `claimed`: PAWL_R_ when the caller's claim met a writer, 0 when it did not claim. */
void PAWL_SLOW_(take_read_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claimed)
{
    unsigned patience = PAWL_SPIN_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;
    PAWL_WORD_ w;
    for (;;) {
        if (claimed)
            (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_);
        while (!PAWL_IS_(no_writer)(w = PAWL_AT_(pawl_load_relaxed)(&l->word))) {
            patience = PAWL_NAME_(atomics_only)(w) ? patience - 1 : PAWL_SPIN_PATIENCE;
            if (patience == 0) {
                /* [SPIN_W_TAKE] acquire: as for any writer; R or S comes out of W. */
                PAWL_SLOW_(take_write_slow)(
                    l, PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_,
                                                        PAWL_SPIN_W_TAKE));
                (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_);
                return;
            }
            pause_once(&pauses, &w);
        }
        claimed = PAWL_R_;
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (PAWL_IS_(no_writer)(PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_,
                                                                 PAWL_SPIN_R_TAKE)))
            return;
    }
}

/* The caller's claim S+R is in the word. */
void PAWL_SLOW_(take_seek_slow)(PAWL_LOCK_ *l)
{
    unsigned patience = PAWL_SPIN_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;
    PAWL_WORD_ w;
    do {
        (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_S_);
        while (!PAWL_IS_(no_seeker_or_writer)(w = PAWL_AT_(pawl_load_relaxed)(&l->word))) {
            patience = PAWL_NAME_(atomics_only)(w) ? patience - 1 : PAWL_SPIN_PATIENCE;
            if (patience == 0) {
                /* [SPIN_W_TAKE] acquire: as for any writer; R or S comes out of W. */
                PAWL_SLOW_(take_write_slow)(
                    l, PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_,
                                                        PAWL_SPIN_W_TAKE));
                (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_);
                return;
            }
            pause_once(&pauses, &w);
        }
        /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
    } while (!PAWL_IS_(no_seeker_or_writer)(
        PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_S_, PAWL_SPIN_S_TAKE)));
}

/* W is in the word and only readers are beside it. `mark` turns the claim into W+S without R: it
 * adds S (from U) or removes R (from R). I2: S says to all that somebody waits for R to fall. */
void PAWL_SLOW_(drain_to_atomic)(PAWL_LOCK_ *l, PAWL_WORD_ mark)
{
    PAWL_WORD_ w;
    (void)PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, mark);
    /* [SPIN_A_DRAIN] acquire: our updates come after the reads of those we waited for. */
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_DRAIN),
               PAWL_IS_(readers)(w) == 0);
    /* [SPIN_R_TO_A] release: our reads under R are done before another atomic user enters. */
    (void)PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_S_, PAWL_SPIN_R_TO_A);
}

void PAWL_SLOW_(take_atomic_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found)
{
    PAWL_WORD_ w;
    while (!PAWL_IS_(atomics_or_nobody)(found)) {
        if (PAWL_IS_(no_seeker_or_writer)(found)) {
            PAWL_SLOW_(drain_to_atomic)(l, PAWL_S_);
            return;
        }
        (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_);
        WAIT_UNTIL(w, PAWL_AT_(pawl_load_relaxed)(&l->word), PAWL_IS_(atomic_may_claim)(w));
        /* [SPIN_A_TAKE] acquire: our updates come after all that earlier holders did. */
        found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE);
    }
}

/* R is in the word beside the W of others. When these are claimants that wait for R (I2: they show
 * S), nobody would ever move: we let go. */
pawl_regained PAWL_SLOW_(regain_slow)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w;
    /* [SPIN_A_GONE] acquire: our reads come after the updates of those we waited for. */
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE),
               PAWL_IS_(no_writer)(w) || PAWL_IS_(seekers)(w) != 0);
    if (PAWL_IS_(no_writer)(w))
        return PAWL_REGAIN_KEPT;
    PAWL_SLOW_(take_read_slow)(l, PAWL_R_);
    return PAWL_REGAIN_LET_GO;
}
