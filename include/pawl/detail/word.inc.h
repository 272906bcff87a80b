/* SPDX-License-Identifier: MIT */
/*
 * The body of the progressive spinlock, included by spin.h for each width (alphabet.h has the
 * names). The contracts stand at the prototypes in spin.h. Here are the fast paths; what waits is
 * in src/lock/spin_word.inc.h. The locks that sleep have the same states and moves
 * (sleeping_word.inc.h).
 *
 * In the code, `l` is the lock, a claim is the addition that asks for a state, and `found` is the
 * value that an addition found before it.
 */

#include <pawl/detail/word_tests.inc.h>

PAWL_C_BEGIN

/* The waiting halves. `found` is what the caller's claim found; that claim is still in the word. */
PAWL_API PAWL_COLD void PAWL_SLOW_(take_read_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claimed);
PAWL_API PAWL_COLD void PAWL_SLOW_(take_seek_slow)(PAWL_LOCK_ *l);
PAWL_API PAWL_COLD void PAWL_SLOW_(take_write_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found);
/* From U, for compat/plock.h: as the two above, but never with a claim beside the W of others. */
PAWL_API PAWL_COLD void PAWL_SLOW_(take_seek_politely)(PAWL_LOCK_ *l);
PAWL_API PAWL_COLD void PAWL_SLOW_(take_write_politely)(PAWL_LOCK_ *l);
PAWL_API PAWL_COLD void PAWL_SLOW_(take_atomic_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found);
PAWL_API PAWL_COLD void PAWL_SLOW_(drain_readers)(PAWL_LOCK_ *l);
PAWL_API PAWL_COLD void PAWL_SLOW_(drain_to_atomic)(PAWL_LOCK_ *l, PAWL_WORD_ mark);
PAWL_API PAWL_COLD pawl_regained PAWL_SLOW_(regain_slow)(PAWL_LOCK_ *l);

PAWL_C_END

PAWL_INLINE_BEGIN

/* ---- Taking ---------------------------------------------------------------------------------- */

PAWL_INLINE void PAWL_BODY_(take_read)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ claimed = 0;
    /* Reads first: a reader that finds a writer leaves the writer's cache line alone. */
    if (PAWL_LIKELY(PAWL_IS_(no_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))) {
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (PAWL_LIKELY(PAWL_IS_(no_writer)(
                PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_, PAWL_SPIN_R_TAKE))))
            return;
        claimed = PAWL_R_;
    }
    PAWL_SLOW_(take_read_slow)(l, claimed);
}

PAWL_INLINE bool PAWL_BODY_(try_read)(PAWL_LOCK_ *l)
{
    if (!PAWL_IS_(no_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
    if (PAWL_LIKELY(PAWL_IS_(no_writer)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_, PAWL_SPIN_R_TAKE))))
        return true;
    (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_);
    return false;
}

PAWL_INLINE void PAWL_BODY_(take_seek)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
    if (PAWL_UNLIKELY(!PAWL_IS_(no_seeker_or_writer)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_S_, PAWL_SPIN_S_TAKE))))
        PAWL_SLOW_(take_seek_slow)(l);
}

PAWL_INLINE bool PAWL_BODY_(try_seek)(PAWL_LOCK_ *l)
{
    if (!PAWL_IS_(no_seeker_or_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
    if (PAWL_LIKELY(PAWL_IS_(no_seeker_or_writer)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_S_, PAWL_SPIN_S_TAKE))))
        return true;
    (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_S_);
    return false;
}

PAWL_INLINE void PAWL_BODY_(take_write)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TAKE] acquire: our stores come after all that earlier holders did. */
    const PAWL_WORD_ found =
        PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    if (PAWL_UNLIKELY(!PAWL_IS_(nobody)(found)))
        PAWL_SLOW_(take_write_slow)(l, found);
}

PAWL_INLINE bool PAWL_BODY_(try_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(nobody)(w)) { /* again only when an application bit changed meanwhile */
        /* [SPIN_W_TAKE] acquire: our stores come after all that earlier holders did. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_S_R_),
                                                   PAWL_SPIN_W_TAKE)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_BODY_(claim_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(no_seeker_or_writer)(found))
        return false;
    /* [SPIN_W_TAKE] acquire: our stores come after all that earlier holders did. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    if (PAWL_LIKELY(PAWL_IS_(nobody)(found)))
        return true;
    if (PAWL_IS_(no_seeker_or_writer)(found)) {
        PAWL_SLOW_(drain_readers)(l);
        return true;
    }
    (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_R_);
    return false;
}

PAWL_INLINE void PAWL_BODY_(take_atomic)(PAWL_LOCK_ *l)
{
    /* [SPIN_A_TAKE] acquire: our atomic updates come after all that earlier holders did. */
    const PAWL_WORD_ found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE);
    if (PAWL_UNLIKELY(!PAWL_IS_(atomics_or_nobody)(found)))
        PAWL_SLOW_(take_atomic_slow)(l, found);
}

PAWL_INLINE bool PAWL_BODY_(try_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(atomics_or_nobody)(w)) {
        /* [SPIN_A_TAKE] acquire: our atomic updates come after all that earlier holders did. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_),
                                                   PAWL_SPIN_A_TAKE)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_BODY_(claim_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(atomic_may_claim)(found))
        return false;
    /* [SPIN_A_TAKE] acquire: our atomic updates come after all that earlier holders did. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE);
    if (PAWL_LIKELY(PAWL_IS_(atomics_or_nobody)(found)))
        return true;
    if (PAWL_IS_(no_seeker_or_writer)(found)) {
        PAWL_SLOW_(drain_to_atomic)(l, PAWL_S_);
        return true;
    }
    (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_);
    return false;
}

/* ---- Leaving --------------------------------------------------------------------------------- */

PAWL_INLINE void PAWL_BODY_(drop_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_R_DROP] release: our reads are done before a writer sees R fall. */
    (void)PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_R_, PAWL_SPIN_R_DROP);
}

PAWL_INLINE void PAWL_BODY_(drop_seek)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_DROP] release: what we read or carefully stored is done before the next seeker. */
    (void)PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_R_S_, PAWL_SPIN_S_DROP);
}

PAWL_INLINE void PAWL_BODY_(drop_write)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_DROP] release: our stores are done before anybody enters. */
    (void)PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_DROP);
}

PAWL_INLINE void PAWL_BODY_(drop_atomic)(PAWL_LOCK_ *l)
{
    /* [SPIN_A_DROP] release: our atomic updates are done before anybody else enters. */
    (void)PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_, PAWL_SPIN_A_DROP);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

PAWL_INLINE void PAWL_BODY_(seek_to_write)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_TO_W] acquire: our stores come after the reads of earlier readers. */
    if (PAWL_UNLIKELY(!PAWL_IS_(one_reader)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_S_TO_W))))
        PAWL_SLOW_(drain_readers)(l);
}

PAWL_INLINE bool PAWL_BODY_(try_seek_to_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(one_reader)(w)) {
        /* [SPIN_S_TO_W] acquire: our stores come after the reads of earlier readers. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_),
                                                   PAWL_SPIN_S_TO_W)))
            return true;
    }
    return false;
}

PAWL_INLINE void PAWL_BODY_(write_to_seek)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TO_S] release: our stores are done before a reader enters. */
    (void)PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_, PAWL_SPIN_W_TO_S);
}

PAWL_INLINE void PAWL_BODY_(write_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TO_R] release: our stores are done before a reader or seeker enters. */
    (void)PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_S_, PAWL_SPIN_W_TO_R);
}

PAWL_INLINE void PAWL_BODY_(seek_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_TO_R] release: what we carefully stored under S is seen by the next seeker. */
    (void)PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_S_, PAWL_SPIN_S_TO_R);
}

PAWL_INLINE bool PAWL_BODY_(try_read_to_seek)(PAWL_LOCK_ *l)
{
    if (!PAWL_IS_(no_seeker_or_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* [SPIN_R_TO_S] acquire: we see the stores of the careful writer who held S before us. */
    if (PAWL_LIKELY(PAWL_IS_(no_seeker_or_writer)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_S_, PAWL_SPIN_R_TO_S))))
        return true;
    (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_S_);
    return false;
}

PAWL_INLINE bool PAWL_BODY_(try_read_to_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(lone_reader)(w)) {
        /* [SPIN_R_TO_W] acquire: our stores come after all that earlier holders did. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_S_),
                                                   PAWL_SPIN_R_TO_W)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_BODY_(read_claim_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(no_seeker_or_writer)(found))
        return false;
    /* [SPIN_R_TO_W] acquire: our stores come after all that earlier holders did. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_, PAWL_SPIN_R_TO_W);
    if (PAWL_LIKELY(PAWL_IS_(lone_reader)(found)))
        return true;
    if (PAWL_IS_(no_seeker_or_writer)(found)) {
        PAWL_SLOW_(drain_readers)(l);
        return true;
    }
    (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_);
    return false;
}

PAWL_INLINE bool PAWL_BODY_(try_read_to_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(lone_reader)(w)) {
        /* [SPIN_R_TO_A_ALONE] acquire: we come after earlier holders. Release: our reads are
         * done before another atomic user updates. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acq_rel)(
                &l->word, &w, (PAWL_WORD_)(w + PAWL_W_ - PAWL_R_), PAWL_SPIN_R_TO_A_ALONE)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_BODY_(read_claim_atomic)(PAWL_LOCK_ *l)
{
    if (!PAWL_IS_(no_seeker_or_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* R stays until the claim is known to be good: a waiting writer would slip in. The drain, which
     * follows every claim that is kept, acquires what earlier holders did. */
    if (PAWL_UNLIKELY(!PAWL_IS_(no_seeker_or_writer)(
            PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_W_S_)))) {
        (void)PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_);
        return false;
    }
    PAWL_SLOW_(drain_to_atomic)(l, (PAWL_WORD_)(0u - PAWL_R_));
    return true;
}

PAWL_INLINE pawl_regained PAWL_BODY_(atomic_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_A_TO_R] release: our updates are done before others read or write. Acquire: we see
     * those of earlier atomic users. */
    const PAWL_WORD_ found = PAWL_AT_(pawl_fetch_add_acq_rel)(
        &l->word, (PAWL_WORD_)(PAWL_R_ - PAWL_W_), PAWL_SPIN_A_TO_R);
    if (PAWL_LIKELY(PAWL_IS_(writers)(found) == PAWL_W_))
        return PAWL_REGAIN_KEPT;
    return PAWL_SLOW_(regain_slow)(l);
}

/* ---- The rest -------------------------------------------------------------------------------- */

PAWL_INLINE PAWL_WORD_ PAWL_NAME_(bits)(const PAWL_LOCK_ *l)
{
    /* [SPIN_BITS] acquire: what was stored before the bit changed is seen. */
    return PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_BITS) & PAWL_SPIN_APPLICATION_BITS;
}

PAWL_INLINE PAWL_WORD_ PAWL_NAME_(set_bits)(PAWL_LOCK_ *l, PAWL_WORD_ bits)
{
    /* [SPIN_BITS_CHANGE] a thread that finds the bit changed sees what was stored before. */
    return PAWL_AT_(pawl_fetch_or_acq_rel)(&l->word, bits & PAWL_SPIN_APPLICATION_BITS,
                                           PAWL_SPIN_BITS_CHANGE) &
           PAWL_SPIN_APPLICATION_BITS;
}

PAWL_INLINE PAWL_WORD_ PAWL_NAME_(clear_bits)(PAWL_LOCK_ *l, PAWL_WORD_ bits)
{
    /* [SPIN_BITS_CHANGE] a thread that finds the bit changed sees what was stored before. */
    return PAWL_AT_(pawl_fetch_and_acq_rel)(
               &l->word, (PAWL_WORD_)~(bits & PAWL_SPIN_APPLICATION_BITS), PAWL_SPIN_BITS_CHANGE) &
           PAWL_SPIN_APPLICATION_BITS;
}

PAWL_INLINE_END

#include <pawl/detail/word_looks.inc.h>

PAWL_INLINE_BEGIN

#include <pawl/detail/word_face.inc.h>

PAWL_INLINE_END

#include <pawl/detail/overloads.inc.h>
#undef PAWL_WORD_BITS
