/* SPDX-License-Identifier: MIT */
/*
 * The waiting halves of the progressive spinlock, included by spin.c for each width after
 * word.inc.h's names have been set up again. Every wait only reads; it ends with an acquire load
 * where the wait itself grants, and with a relaxed one where an acquiring claim follows.
 */
#define LOCK PAWL_CAT_(pawl_spin, PAWL_WORD_BITS)
#define WORD PAWL_CAT_(PAWL_CAT_(uint, PAWL_WORD_BITS), _t)
#define NAME(verb) PAWL_CAT_(LOCK, _##verb)
#define AT(operation) PAWL_CAT_(operation, PAWL_WORD_BITS)
#define SLOW(verb) PAWL_SYMBOL_(NAME(verb))
#define R1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _R)
#define S1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _S)
#define W1 PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _W)

/* Only atomic users are in, or about to enter. */
static bool NAME(atomics_only)(WORD w)
{
    return NAME(atomics_or_nobody_)(w) && !NAME(no_writer_)(w);
}

/* I1: W+S+R is in the word and newcomers withdraw; waits until R is ours alone. */
void SLOW(drain_readers)(LOCK *l)
{
    WORD w;
    /* [SPIN_W_DRAIN] acquire: our stores come after the reads of those we waited for. */
    WAIT_UNTIL(w, AT(pawl_load_acquire)(&l->word, PAWL_SPIN_W_DRAIN), NAME(one_reader_)(w));
}

/* I3: keeps W+S, which holds everybody back, and gives back R, so that R falls to zero when the
 * seeker, or whoever it has become, has left. Atomic users show as further units of W. */
static void NAME(keep_write)(LOCK *l)
{
    WORD w;
    (void)AT(pawl_fetch_sub_relaxed)(&l->word, R1);
    /* [SPIN_W_KEEP] acquire: our stores come after what those we waited for have done. */
    WAIT_UNTIL(w, AT(pawl_load_acquire)(&l->word, PAWL_SPIN_W_KEEP),
               NAME(writers_)(w) == W1 && NAME(readers_)(w) == 0);
    (void)AT(pawl_fetch_add_relaxed)(&l->word, R1);
}

void SLOW(take_write_slow)(LOCK *l, WORD found)
{
    WORD w;
    while (!NAME(nobody_)(found)) {
        if (NAME(no_seeker_or_writer_)(found)) {
            SLOW(drain_readers)(l);
            return;
        }
        if (NAME(no_writer_)(found) || NAME(atomics_or_nobody_)(found)) {
            NAME(keep_write)(l);
            return;
        }
        (void)AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1 + R1));
        WAIT_UNTIL(w, AT(pawl_load_relaxed)(&l->word),
                   NAME(no_writer_)(w) || NAME(atomics_or_nobody_)(w));
        /* [SPIN_W_TAKE] acquire: our stores come after what all who left had done. */
        found = AT(pawl_fetch_add_acquire)(&l->word, (WORD)(W1 + S1 + R1), PAWL_SPIN_W_TAKE);
    }
}

/* Who insists goes through W and stores nothing there, so to move down releases nothing: the next
 * one acquires what those did before who stored something, because an addition, whatever its order,
 * leaves their releases in force (doc/design/001-words.md). */

/* `claimed`: R1 when the caller's claim met a writer, 0 when it did not claim. */
void SLOW(take_read_slow)(LOCK *l, WORD claimed)
{
    unsigned patience = PAWL_SPIN_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;
    WORD w;
    for (;;) {
        if (claimed)
            (void)AT(pawl_fetch_sub_relaxed)(&l->word, R1);
        while (!NAME(no_writer_)(w = AT(pawl_load_relaxed)(&l->word))) {
            patience = NAME(atomics_only)(w) ? patience - 1 : PAWL_SPIN_PATIENCE;
            if (patience == 0) {
                /* [SPIN_W_TAKE] acquire: as for any writer; R or S comes out of W. */
                SLOW(take_write_slow)(
                    l, AT(pawl_fetch_add_acquire)(&l->word, (WORD)(W1 + S1 + R1),
                                                  PAWL_SPIN_W_TAKE));
                (void)AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(W1 + S1));
                return;
            }
            pause_once(&pauses, &w);
        }
        claimed = R1;
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (NAME(no_writer_)(AT(pawl_fetch_add_acquire)(&l->word, R1, PAWL_SPIN_R_TAKE)))
            return;
    }
}

/* The caller's claim S+R is in the word. */
void SLOW(take_seek_slow)(LOCK *l)
{
    unsigned patience = PAWL_SPIN_PATIENCE;
    struct backoff pauses = BACKOFF_INIT;
    WORD w;
    do {
        (void)AT(pawl_fetch_sub_relaxed)(&l->word, (WORD)(S1 + R1));
        while (!NAME(no_seeker_or_writer_)(w = AT(pawl_load_relaxed)(&l->word))) {
            patience = NAME(atomics_only)(w) ? patience - 1 : PAWL_SPIN_PATIENCE;
            if (patience == 0) {
                /* [SPIN_W_TAKE] acquire: as for any writer; R or S comes out of W. */
                SLOW(take_write_slow)(
                    l, AT(pawl_fetch_add_acquire)(&l->word, (WORD)(W1 + S1 + R1),
                                                  PAWL_SPIN_W_TAKE));
                (void)AT(pawl_fetch_sub_relaxed)(&l->word, W1);
                return;
            }
            pause_once(&pauses, &w);
        }
        /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
    } while (!NAME(no_seeker_or_writer_)(
        AT(pawl_fetch_add_acquire)(&l->word, (WORD)(S1 + R1), PAWL_SPIN_S_TAKE)));
}

/* W is in the word and only readers are beside it. `mark` turns the claim into W+S without R: it
 * adds S (from U) or removes R (from R). I2: S says to all that somebody waits for R to fall. */
void SLOW(drain_to_atomic)(LOCK *l, WORD mark)
{
    WORD w;
    (void)AT(pawl_fetch_add_relaxed)(&l->word, mark);
    /* [SPIN_A_DRAIN] acquire: our updates come after the reads of those we waited for. */
    WAIT_UNTIL(w, AT(pawl_load_acquire)(&l->word, PAWL_SPIN_A_DRAIN), NAME(readers_)(w) == 0);
    /* [SPIN_R_TO_A] release: our reads under R are done before another atomic user enters. */
    (void)AT(pawl_fetch_sub_release)(&l->word, S1, PAWL_SPIN_R_TO_A);
}

void SLOW(take_atomic_slow)(LOCK *l, WORD found)
{
    WORD w;
    while (!NAME(atomics_or_nobody_)(found)) {
        if (NAME(no_seeker_or_writer_)(found)) {
            SLOW(drain_to_atomic)(l, S1);
            return;
        }
        (void)AT(pawl_fetch_sub_relaxed)(&l->word, W1);
        WAIT_UNTIL(w, AT(pawl_load_relaxed)(&l->word), NAME(atomic_may_claim_)(w));
        /* [SPIN_A_TAKE] acquire: our updates come after what all who left had done. */
        found = AT(pawl_fetch_add_acquire)(&l->word, W1, PAWL_SPIN_A_TAKE);
    }
}

/* R is in the word beside the W of others. When these are claimants that wait for R (I2: they show
 * S), nobody would ever move: we let go. */
bool SLOW(atomic_to_read_slow)(LOCK *l)
{
    WORD w;
    /* [SPIN_A_GONE] acquire: our reads come after the updates of those we waited for. */
    WAIT_UNTIL(w, AT(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE),
               NAME(no_writer_)(w) || NAME(seekers_)(w) != 0);
    if (NAME(no_writer_)(w))
        return true;
    SLOW(take_read_slow)(l, R1);
    return false;
}

#undef LOCK
#undef WORD
#undef NAME
#undef AT
#undef SLOW
#undef R1
#undef S1
#undef W1
