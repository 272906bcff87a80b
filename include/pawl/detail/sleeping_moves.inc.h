/* SPDX-License-Identifier: MIT */
/* The second half of sleeping_word.inc.h: how a holder moves to another state. */

PAWL_C_BEGIN

/* The caller keeps W+S+R, of which `claim` is new: waits for the readers. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(drain_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claim, uint64_t deadline);
/* The caller holds R beside its W+S: gives up R and waits for the other readers. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(read_to_atomic_slow)(PAWL_LOCK_ *l, uint64_t deadline);
PAWL_API PAWL_COLD pawl_regained PAWL_SLOW_(regain_slow)(PAWL_LOCK_ *l, uint64_t deadline);

PAWL_C_END

PAWL_INLINE_BEGIN

PAWL_INLINE bool PAWL_DO_(seek_to_write)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_S_TO_W] acquire: our stores come after the reads of earlier readers. */
    const PAWL_WORD_ found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_S_TO_W);
    if (PAWL_LIKELY(PAWL_IS_(one_reader)(found)) && PAWL_LIKELY(!PAWL_INNER_(scales_)(found)))
        return true;
    return PAWL_SLOW_(drain_slow)(l, PAWL_W_, deadline);
}

PAWL_INLINE bool PAWL_DO_(try_seek_to_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(one_reader)(w)) {
        if (PAWL_UNLIKELY(PAWL_INNER_(scales_)(w)))
            return PAWL_SLOW_(claim_at_once)(l, PAWL_R_S_, PAWL_W_, 0);
        /* [SPIN_S_TO_W] acquire: our stores come after the reads of earlier readers. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_),
                                                   PAWL_SPIN_S_TO_W)))
            return true;
    }
    return false;
}

PAWL_INLINE void PAWL_DO_(write_to_seek)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TO_S] release: our stores are done before a reader enters. */
    PAWL_INNER_(dropped_)(l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_, PAWL_SPIN_W_TO_S),
                          PAWL_W_);
}

PAWL_INLINE void PAWL_DO_(write_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TO_R] release: our stores are done before a reader or seeker enters. */
    PAWL_INNER_(dropped_)(
        l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_S_, PAWL_SPIN_W_TO_R), PAWL_W_S_);
}

PAWL_INLINE void PAWL_DO_(seek_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_TO_R] release: what we carefully stored under S is seen by the next seeker. */
    PAWL_INNER_(dropped_)(l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_S_, PAWL_SPIN_S_TO_R),
                          PAWL_S_);
}

PAWL_INLINE bool PAWL_DO_(try_read_to_seek)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w;
    PAWL_INNER_(count_)(l);
    w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(no_seeker_or_writer)(w)) {
        /* [SPIN_R_TO_S] acquire: we see the stores of the careful writer who held S before us. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_S_),
                                                   PAWL_SPIN_R_TO_S)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_DO_(try_read_to_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w;
    PAWL_INNER_(count_)(l);
    w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(lone_reader)(w)) {
        if (PAWL_UNLIKELY(PAWL_INNER_(scales_)(w)))
            return PAWL_SLOW_(claim_at_once)(l, PAWL_R_, PAWL_W_S_, 0);
        /* [SPIN_R_TO_W] acquire: our stores come after all that earlier holders did. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_S_),
                                                   PAWL_SPIN_R_TO_W)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_DO_(read_claim_write)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ w;
    PAWL_INNER_(count_)(l);
    w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(no_seeker_or_writer)(w)) {
        /* [SPIN_R_TO_W] acquire: our stores come after all that earlier holders did. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_S_),
                                                   PAWL_SPIN_R_TO_W)))
            return (PAWL_IS_(lone_reader)(w) && !PAWL_INNER_(scales_)(w)) ||
                   PAWL_SLOW_(drain_slow)(l, PAWL_W_S_, deadline);
    }
    return false;
}

PAWL_INLINE bool PAWL_DO_(try_read_to_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w;
    PAWL_INNER_(count_)(l);
    w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(lone_reader)(w)) {
        if (PAWL_UNLIKELY(PAWL_INNER_(scales_)(w)))
            return PAWL_SLOW_(claim_at_once)(l, PAWL_R_, PAWL_W_S_, (PAWL_WORD_)(0u - PAWL_R_S_));
        /* [SPIN_R_TO_A_ALONE] acquire: we come after earlier holders. Release: our reads are
         * done before another atomic user updates. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acq_rel)(
                &l->word, &w, (PAWL_WORD_)(w + PAWL_W_ - PAWL_R_), PAWL_SPIN_R_TO_A_ALONE)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_DO_(read_claim_atomic)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ w;
    if (PAWL_LIKELY(PAWL_DO_(try_read_to_atomic)(l)))
        return true;
    w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(no_seeker_or_writer)(w)) {
        /* R stays until the claim is made: a waiting writer would slip in. The drain that follows
         * acquires what earlier holders did. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_S_))))
            return PAWL_SLOW_(read_to_atomic_slow)(l, deadline);
    }
    return false;
}

PAWL_INLINE pawl_regained PAWL_DO_(atomic_to_read)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_A_TO_R] release: our updates are done before others read or write. Acquire: we see
     * those of earlier atomic users. */
    const PAWL_WORD_ found = PAWL_AT_(pawl_fetch_add_acq_rel)(
        &l->word, (PAWL_WORD_)(PAWL_R_ - PAWL_W_), PAWL_SPIN_A_TO_R);
    PAWL_INNER_(dropped_)(l, found, (PAWL_WORD_)(PAWL_W_ - PAWL_R_));
    if (PAWL_LIKELY(PAWL_IS_(writers)(found) == PAWL_W_))
        return PAWL_REGAIN_KEPT;
    return PAWL_SLOW_(regain_slow)(l, deadline);
}

PAWL_INLINE_END
