/* SPDX-License-Identifier: MIT */
/*
 * The waiting halves of the progressive spinlock; spin16.c, spin32.c and spin64.c include this file
 * for their width (alphabet.h). Every wait only reads. It ends with an acquire load where the wait
 * itself grants, and with a relaxed one where an acquiring claim follows.
 */
#define PAWL_WORD_KIND PAWL_KIND_SPIN_

/* Only atomic users are in, or about to enter. */
static bool PAWL_NAME_(atomics_only)(PAWL_WORD_ w)
{
    return PAWL_IS_(atomics_or_nobody)(w) && !PAWL_IS_(no_writer)(w);
}

/* I1: W+S+R is in the word and newcomers withdraw. The writer waits until the only R is its own. */
void PAWL_SLOW_(drain_readers)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w;
    /* [SPIN_W_DRAIN] acquire: the writer's stores follow the reads of the readers it waited for. */
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_W_DRAIN),
               PAWL_IS_(one_reader)(w));
}

/* I3: keeps W+S, which keeps all newcomers out, and gives R back. R then falls to zero when the
 * seeker has left, even if it has changed its mode before. Atomic users show as further units of
 * W. */
static void PAWL_NAME_(keep_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w;
    (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_);
    /* [SPIN_W_KEEP] acquire: the writer's stores follow the accesses of the holders it waited
     * for. */
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_W_KEEP),
               PAWL_IS_(writers)(w) == PAWL_W_ && PAWL_IS_(readers)(w) == 0);
    (void)PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_R_);
}

/* `claimed`: W+S+R is in the word and found `found`. A polite writer keeps no claim beside the W of
 * others (compat_word.inc.h says why). A claim that fails keeps all others from theirs until it is
 * withdrawn, so the pauses after it go on from where they were. */
static void PAWL_NAME_(wait_write)(PAWL_LOCK_ *l, bool claimed, PAWL_WORD_ found, bool polite)
{
    struct backoff pauses = BACKOFF_INIT;
    PAWL_WORD_ w;
    PAWL_PROBE2(spin_contended, l, WAIT_W);
    for (;; claimed = true) {
        if (claimed && PAWL_IS_(nobody)(found))
            return;
        if (claimed && PAWL_IS_(no_seeker_or_writer)(found)) {
            PAWL_SLOW_(drain_readers)(l);
            return;
        }
        if (claimed &&
            (PAWL_IS_(no_writer)(found) || (!polite && PAWL_IS_(atomics_or_nobody)(found)))) {
            PAWL_NAME_(keep_write)(l);
            return;
        }
        if (claimed)
            (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_R_);
        WAIT_ON_UNTIL(pauses, w, PAWL_AT_(pawl_load_relaxed)(&l->word),
                      PAWL_IS_(no_writer)(w) || (!polite && PAWL_IS_(atomics_or_nobody)(w)));
        /* [SPIN_W_TAKE] acquire: the writer's stores follow all accesses of earlier holders. */
        found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    }
}

void PAWL_SLOW_(take_write_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found)
{
    PAWL_NAME_(wait_write)(l, true, found, false);
}

void PAWL_SLOW_(take_write_politely)(PAWL_LOCK_ *l)
{
    PAWL_NAME_(wait_write)(l, false, 0, true);
}

/* A waiter that escalates goes through W and stores nothing there, so its downgrade releases
 * nothing. The next holder acquires the stores of earlier holders: an addition of any order leaves
 * their releases in force (doc/design/001-words.md). */

/* `claimed`: PAWL_R_ when the caller's claim met a writer, 0 when it did not claim. */
void PAWL_SLOW_(take_read_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claimed)
{
    unsigned patience = PAWL_SPIN_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;
    PAWL_WORD_ w;
    PAWL_PROBE2(spin_contended, l, WAIT_R);
    for (;;) {
        if (claimed)
            (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_);
        while (!PAWL_IS_(no_writer)(w = PAWL_AT_(pawl_load_relaxed)(&l->word))) {
            patience = PAWL_NAME_(atomics_only)(w) ? patience - 1 : PAWL_SPIN_PATIENCE;
            if (patience == 0) {
                /* [SPIN_W_TAKE] acquire: as for any writer; R or S comes out of W. */
                PAWL_SLOW_(take_write_slow)(
                    l, PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE));
                (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_);
                return;
            }
            backoff_pause_once(&pauses, &w);
        }
        claimed = PAWL_R_;
        /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
        if (PAWL_IS_(no_writer)(
                PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_, PAWL_SPIN_R_TAKE)))
            return;
    }
}

/* `claimed`: S+R is in the word. A polite seeker does not escalate: it would keep a claim beside
 * the W of others. */
static void PAWL_NAME_(wait_seek)(PAWL_LOCK_ *l, bool claimed, bool polite)
{
    unsigned patience = PAWL_SPIN_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;
    PAWL_WORD_ w;
    PAWL_PROBE2(spin_contended, l, WAIT_S);
    for (;; claimed = true) {
        if (claimed)
            (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_S_);
        while (!PAWL_IS_(no_seeker_or_writer)(w = PAWL_AT_(pawl_load_relaxed)(&l->word))) {
            patience = !polite && PAWL_NAME_(atomics_only)(w) ? patience - 1 : PAWL_SPIN_PATIENCE;
            if (patience == 0) {
                /* [SPIN_W_TAKE] acquire: as for any writer; R or S comes out of W. */
                PAWL_SLOW_(take_write_slow)(
                    l, PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE));
                (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_);
                return;
            }
            backoff_pause_once(&pauses, &w);
        }
        /* [SPIN_S_TAKE] acquire: the seeker sees the stores of the last seeker or writer. */
        if (PAWL_IS_(no_seeker_or_writer)(
                PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_S_, PAWL_SPIN_S_TAKE)))
            return;
    }
}

/* The caller's claim S+R is in the word. */
void PAWL_SLOW_(take_seek_slow)(PAWL_LOCK_ *l)
{
    PAWL_NAME_(wait_seek)(l, true, false);
}

void PAWL_SLOW_(take_seek_politely)(PAWL_LOCK_ *l)
{
    PAWL_NAME_(wait_seek)(l, false, true);
}

#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
