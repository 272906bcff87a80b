/* SPDX-License-Identifier: MIT */
/* The waiting halves of the atomic users' operations of the progressive spinlock. spin16_atomic.c,
 * spin32_atomic.c and spin64_atomic.c include this file for their width: a program without atomic
 * users does not contain them. The waits are as in spin_word.inc.h. */
#define PAWL_WORD_KIND PAWL_KIND_SPIN_

/* W is in the word and only readers are beside it. `mark` turns the claim into W+S without R: it
 * adds S (from U) or removes R (from R). I2: S tells all threads that a claimant waits for R to
 * fall. */
void PAWL_SLOW_(drain_to_atomic)(PAWL_LOCK_ *l, PAWL_WORD_ mark)
{
    PAWL_WORD_ w;
    (void)PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, mark);
    /* [SPIN_A_DRAIN] acquire: the atomic user's updates follow the reads of the readers it waited
     * for. */
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_DRAIN),
               PAWL_IS_(readers)(w) == 0);
    /* [SPIN_R_TO_A] release: the caller's reads under R are done before another atomic user
     * enters. */
    (void)PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_S_, PAWL_SPIN_R_TO_A);
}

void PAWL_SLOW_(take_atomic_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found)
{
    PAWL_WORD_ w;
    PAWL_PROBE2(spin_contended, l, WAIT_A);
    while (!PAWL_IS_(atomics_or_nobody)(found)) {
        if (PAWL_IS_(no_seeker_or_writer)(found)) {
            PAWL_SLOW_(drain_to_atomic)(l, PAWL_S_);
            return;
        }
        (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_);
        WAIT_UNTIL(w, PAWL_AT_(pawl_load_relaxed)(&l->word), PAWL_IS_(atomic_may_claim)(w));
        /* [SPIN_A_TAKE] acquire: the atomic user's updates follow all accesses of earlier
         * holders. */
        found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE);
    }
}

/* R is in the word beside the W of others. When these are claimants that wait for R (I2: they show
 * S), no thread could go on. The caller then drops R. */
pawl_regained PAWL_SLOW_(regain_slow)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w;
    PAWL_PROBE2(spin_contended, l, WAIT_GONE);
    /* [SPIN_A_GONE] acquire: the reader's reads follow the updates of the atomic users it waited
     * for. */
    WAIT_UNTIL(w, PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_A_GONE),
               PAWL_IS_(no_writer)(w) || PAWL_IS_(seekers)(w) != 0);
    if (PAWL_IS_(no_writer)(w))
        return PAWL_REGAIN_KEPT;
    PAWL_SLOW_(take_read_slow)(l, PAWL_R_);
    return PAWL_REGAIN_LET_GO;
}

#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
