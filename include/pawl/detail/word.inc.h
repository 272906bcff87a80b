/* SPDX-License-Identifier: MIT */
/*
 * The one body of the progressive lock, included for each width (PAWL_WORD_BITS) by spin.h, whose
 * locks spin, and by lock.h, whose locks sleep (PAWL_WORD_SLEEPS). Below, "l" is the lock, "claim"
 * is the addition that asks for a state, and the value that a claim found before it is `found`.
 * Contracts first, then the fast paths; what waits is in src/lock/spin_word.inc.h,
 * src/lock/lock_word.inc.h.
 */
#if PAWL_WORD_SLEEPS
#define PAWL_LOCK_ PAWL_CAT_(pawl_lock, PAWL_WORD_BITS)
#else
#define PAWL_LOCK_ PAWL_CAT_(pawl_spin, PAWL_WORD_BITS)
#endif
#define PAWL_WORD_ PAWL_CAT_(PAWL_CAT_(uint, PAWL_WORD_BITS), _t)
#define PAWL_NAME_(verb) PAWL_CAT_(PAWL_LOCK_, _##verb)           /* pawl_spin32_<verb> */
#define PAWL_AT_(operation) PAWL_CAT_(operation, PAWL_WORD_BITS)  /* seam operation of this width */
#define PAWL_SLOW_(verb) PAWL_SYMBOL_(PAWL_NAME_(verb))           /* compiled, versioned */
#define PAWL_WORD_R_ PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _R)
#define PAWL_WORD_S_ PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _S)
#define PAWL_WORD_W_ PAWL_CAT_(PAWL_CAT_(PAWL_SPIN, PAWL_WORD_BITS), _W)

/* Where callers are checked or annotated, the bodies get names of their own and the public names
 * are wrappers made from transitions.def. */
#if PAWL_CHECKED || PAWL_TSAN_
#define PAWL_BODY_(verb) PAWL_NAME_(verb##_unchecked_)
#else
#define PAWL_BODY_(verb) PAWL_NAME_(verb)
#endif

PAWL_C_BEGIN

/* The waiting halves. `found` is what the caller's claim found; the claim is still in the word. */
PAWL_API PAWL_COLD void PAWL_SLOW_(take_read_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claimed);
PAWL_API PAWL_COLD void PAWL_SLOW_(take_seek_slow)(PAWL_LOCK_ *l);
PAWL_API PAWL_COLD void PAWL_SLOW_(take_write_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found);
PAWL_API PAWL_COLD void PAWL_SLOW_(take_atomic_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found);
PAWL_API PAWL_COLD void PAWL_SLOW_(drain_readers)(PAWL_LOCK_ *l);
PAWL_API PAWL_COLD void PAWL_SLOW_(drain_to_atomic)(PAWL_LOCK_ *l, PAWL_WORD_ mark);
PAWL_API PAWL_COLD bool PAWL_SLOW_(atomic_to_read_slow)(PAWL_LOCK_ *l);
#if PAWL_WORD_SLEEPS
/* Units have left the word beside PARKED: wakes whom that lets in. Only the address is used. */
PAWL_API PAWL_COLD void PAWL_SLOW_(left)(const void *address, PAWL_WORD_ found, PAWL_WORD_ after);
#endif

PAWL_C_END

PAWL_INLINE_BEGIN

/* ---- Contracts ------------------------------------------------------------------------------- */

/* Makes the lock unlocked with application bits 0; the same as zeroing it. Not while it is used. */
PAWL_INLINE void PAWL_NAME_(init)(PAWL_LOCK_ *l);
/* The lock will not be used again. Nothing in release; the checking variant reports a held lock. */
PAWL_INLINE void PAWL_NAME_(destroy)(PAWL_LOCK_ *l);

/* Wait until granted. Acquire. A thread that holds the lock in any state may not take it again: R
 * inside R or S waits for ever once a writer has claimed. */
PAWL_INLINE void PAWL_NAME_(take_read)(PAWL_LOCK_ *l);   /* beside readers and a seeker */
PAWL_INLINE void PAWL_NAME_(take_seek)(PAWL_LOCK_ *l);   /* beside readers; may become W */
PAWL_INLINE void PAWL_NAME_(take_write)(PAWL_LOCK_ *l);  /* alone */
PAWL_INLINE void PAWL_NAME_(take_atomic)(PAWL_LOCK_ *l); /* beside other atomic users only */

/* True when granted (acquire). Never wait for a holder; false also when a claim that was about to
 * be withdrawn stood in the way. */
PAWL_INLINE bool PAWL_NAME_(try_read)(PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(try_seek)(PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(try_write)(PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(try_atomic)(PAWL_LOCK_ *l);
/* The same, but readers are no reason to fail: having claimed, they wait until these have left. */
PAWL_INLINE bool PAWL_NAME_(claim_write)(PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(claim_atomic)(PAWL_LOCK_ *l);

/* Give up the state that the calling thread holds. Release. The word does not know its holders, so
 * nothing but the checking variant minds a drop by another thread. */
PAWL_INLINE void PAWL_NAME_(drop_read)(PAWL_LOCK_ *l);
PAWL_INLINE void PAWL_NAME_(drop_seek)(PAWL_LOCK_ *l);
PAWL_INLINE void PAWL_NAME_(drop_write)(PAWL_LOCK_ *l);
PAWL_INLINE void PAWL_NAME_(drop_atomic)(PAWL_LOCK_ *l);

/* S -> W: waits for the readers that are in, cannot fail (acquire). The try form does not wait. */
PAWL_INLINE void PAWL_NAME_(seek_to_write)(PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(try_seek_to_write)(PAWL_LOCK_ *l);
/* Down, at once (release). */
PAWL_INLINE void PAWL_NAME_(write_to_seek)(PAWL_LOCK_ *l);
PAWL_INLINE void PAWL_NAME_(write_to_read)(PAWL_LOCK_ *l);
PAWL_INLINE void PAWL_NAME_(seek_to_read)(PAWL_LOCK_ *l);

/* R -> S, W, A. When one fails, R is still held and must be dropped before another try: the one
 * who got S or W waits for it. The try forms do not wait: W and A need a lone reader. */
PAWL_INLINE bool PAWL_NAME_(try_read_to_seek)(PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(try_read_to_write)(PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(try_read_to_atomic)(PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(read_claim_write)(PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(read_claim_atomic)(PAWL_LOCK_ *l);

/* A -> R: waits for the other atomic users; always ends holding R. True: no writer was in between.
 * False: a claimant was waiting and was let in first, so look again at what was there. */
PAWL_INLINE bool PAWL_NAME_(atomic_to_read)(PAWL_LOCK_ *l);

#if !PAWL_WORD_SLEEPS
/* The two application bits, at any time, held or not. Read: acquire. Set and clear the bits of
 * `bits` (others of it are ignored): acquire and release; they return the two bits as found. */
PAWL_INLINE PAWL_WORD_ PAWL_NAME_(bits)(const PAWL_LOCK_ *l);
PAWL_INLINE PAWL_WORD_ PAWL_NAME_(set_bits)(PAWL_LOCK_ *l, PAWL_WORD_ bits);
PAWL_INLINE PAWL_WORD_ PAWL_NAME_(clear_bits)(PAWL_LOCK_ *l, PAWL_WORD_ bits);
#endif

/* What the word shows at this instant, claims included; for reports, not for decisions. */
PAWL_INLINE bool PAWL_NAME_(is_free)(const PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(is_read)(const PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(is_seek)(const PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(is_write)(const PAWL_LOCK_ *l);
PAWL_INLINE bool PAWL_NAME_(is_atomic)(const PAWL_LOCK_ *l);

/* The calling thread holds the lock so. Nothing in release; else a report and abort. */
PAWL_INLINE void PAWL_NAME_(assert_held_read)(const PAWL_LOCK_ *l);
PAWL_INLINE void PAWL_NAME_(assert_held_seek)(const PAWL_LOCK_ *l);
PAWL_INLINE void PAWL_NAME_(assert_held_write)(const PAWL_LOCK_ *l);
PAWL_INLINE void PAWL_NAME_(assert_held_atomic)(const PAWL_LOCK_ *l);

/* ---- The word, named ------------------------------------------------------------------------- */

PAWL_INLINE PAWL_WORD_ PAWL_NAME_(readers_)(PAWL_WORD_ w) /* R, in place */
{
    return (PAWL_WORD_)(w & (PAWL_WORD_)(PAWL_WORD_S_ - PAWL_WORD_R_));
}

PAWL_INLINE PAWL_WORD_ PAWL_NAME_(seekers_)(PAWL_WORD_ w) /* S, in place */
{
    return (PAWL_WORD_)(w & (PAWL_WORD_)(PAWL_WORD_W_ - PAWL_WORD_S_));
}

PAWL_INLINE PAWL_WORD_ PAWL_NAME_(writers_)(PAWL_WORD_ w) /* W, in place */
{
    return (PAWL_WORD_)(w & (PAWL_WORD_)~(PAWL_WORD_W_ - 1u));
}

PAWL_INLINE bool PAWL_NAME_(no_writer_)(PAWL_WORD_ w)
{
    return w < PAWL_WORD_W_; /* W is the top field */
}

PAWL_INLINE bool PAWL_NAME_(no_seeker_or_writer_)(PAWL_WORD_ w)
{
    return w < PAWL_WORD_S_;
}

PAWL_INLINE bool PAWL_NAME_(nobody_)(PAWL_WORD_ w)
{
    return w < PAWL_WORD_R_;
}

PAWL_INLINE bool PAWL_NAME_(one_reader_)(PAWL_WORD_ w)
{
    return PAWL_NAME_(readers_)(w) == PAWL_WORD_R_;
}

PAWL_INLINE bool PAWL_NAME_(atomics_or_nobody_)(PAWL_WORD_ w)
{
    return (w & (PAWL_WORD_)(PAWL_WORD_W_ - PAWL_WORD_R_)) == 0;
}

PAWL_INLINE bool PAWL_NAME_(atomic_may_claim_)(PAWL_WORD_ w)
{
    return PAWL_NAME_(no_seeker_or_writer_)(w) || PAWL_NAME_(atomics_or_nobody_)(w);
}

#define PAWL_R_S_ ((PAWL_WORD_)(PAWL_WORD_S_ + PAWL_WORD_R_))
#define PAWL_W_S_ ((PAWL_WORD_)(PAWL_WORD_W_ + PAWL_WORD_S_))
#define PAWL_W_S_R_ ((PAWL_WORD_)(PAWL_WORD_W_ + PAWL_WORD_S_ + PAWL_WORD_R_))

/* What the value found by an addition that took units away obliges to. A lock that spins owes
 * nothing: its waiters look. */
#if PAWL_WORD_SLEEPS
#define PAWL_LEFT_(found, units)                                                                   \
    do {                                                                                           \
        const PAWL_WORD_ found_ = (found);                                                         \
        if (PAWL_UNLIKELY(found_ & PAWL_LOCK_PARKED))                                              \
            PAWL_SLOW_(left)(l, found_, (PAWL_WORD_)(found_ - (units)));                           \
    } while (0)
#else
#define PAWL_LEFT_(found, units) (void)(found)
#endif

/* ---- Taking ---------------------------------------------------------------------------------- */

PAWL_INLINE void PAWL_BODY_(take_read)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ claimed = 0;
    /* Reads first: a reader that finds a writer leaves the writer's cache line alone. */
    if (PAWL_LIKELY(PAWL_NAME_(no_writer_)(PAWL_AT_(pawl_load_relaxed)(&l->word)))) {
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (PAWL_LIKELY(PAWL_NAME_(no_writer_)(
                PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_WORD_R_, PAWL_SPIN_R_TAKE))))
            return;
        claimed = PAWL_WORD_R_;
    }
    PAWL_SLOW_(take_read_slow)(l, claimed);
}

PAWL_INLINE bool PAWL_BODY_(try_read)(PAWL_LOCK_ *l)
{
    if (!PAWL_NAME_(no_writer_)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
    if (PAWL_LIKELY(PAWL_NAME_(no_writer_)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_WORD_R_, PAWL_SPIN_R_TAKE))))
        return true;
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_WORD_R_), PAWL_WORD_R_);
    return false;
}

PAWL_INLINE void PAWL_BODY_(take_seek)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
    if (PAWL_UNLIKELY(!PAWL_NAME_(no_seeker_or_writer_)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_S_, PAWL_SPIN_S_TAKE))))
        PAWL_SLOW_(take_seek_slow)(l);
}

PAWL_INLINE bool PAWL_BODY_(try_seek)(PAWL_LOCK_ *l)
{
    if (!PAWL_NAME_(no_seeker_or_writer_)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
    if (PAWL_LIKELY(PAWL_NAME_(no_seeker_or_writer_)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_S_, PAWL_SPIN_S_TAKE))))
        return true;
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_S_), PAWL_R_S_);
    return false;
}

PAWL_INLINE void PAWL_BODY_(take_write)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TAKE] acquire: our stores come after what all who left had done. */
    const PAWL_WORD_ found =
        PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    if (PAWL_UNLIKELY(!PAWL_NAME_(nobody_)(found)))
        PAWL_SLOW_(take_write_slow)(l, found);
}

PAWL_INLINE bool PAWL_BODY_(try_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_NAME_(nobody_)(w)) { /* again only when an application bit changed meanwhile */
        /* [SPIN_W_TAKE] acquire: our stores come after what all who left had done. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_S_R_),
                                                   PAWL_SPIN_W_TAKE)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_BODY_(claim_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_NAME_(no_seeker_or_writer_)(found))
        return false;
    /* [SPIN_W_TAKE] acquire: our stores come after what all who left had done. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    if (PAWL_LIKELY(PAWL_NAME_(nobody_)(found)))
        return true;
    if (PAWL_NAME_(no_seeker_or_writer_)(found)) {
        PAWL_SLOW_(drain_readers)(l);
        return true;
    }
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_R_), PAWL_W_S_R_);
    return false;
}

PAWL_INLINE void PAWL_BODY_(take_atomic)(PAWL_LOCK_ *l)
{
    /* [SPIN_A_TAKE] acquire: our atomic updates come after what all who left had done. */
    const PAWL_WORD_ found =
        PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_WORD_W_, PAWL_SPIN_A_TAKE);
    if (PAWL_UNLIKELY(!PAWL_NAME_(atomics_or_nobody_)(found)))
        PAWL_SLOW_(take_atomic_slow)(l, found);
}

PAWL_INLINE bool PAWL_BODY_(try_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_NAME_(atomics_or_nobody_)(w)) {
        /* [SPIN_A_TAKE] acquire: our atomic updates come after what all who left had done. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_WORD_W_),
                                                   PAWL_SPIN_A_TAKE)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_BODY_(claim_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_NAME_(atomic_may_claim_)(found))
        return false;
    /* [SPIN_A_TAKE] acquire: our atomic updates come after what all who left had done. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_WORD_W_, PAWL_SPIN_A_TAKE);
    if (PAWL_LIKELY(PAWL_NAME_(atomics_or_nobody_)(found)))
        return true;
    if (PAWL_NAME_(no_seeker_or_writer_)(found)) {
        PAWL_SLOW_(drain_to_atomic)(l, PAWL_WORD_S_);
        return true;
    }
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_WORD_W_), PAWL_WORD_W_);
    return false;
}

/* ---- Leaving --------------------------------------------------------------------------------- */

PAWL_INLINE void PAWL_BODY_(drop_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_R_DROP] release: our reads are done before a writer sees R fall. */
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_WORD_R_, PAWL_SPIN_R_DROP),
               PAWL_WORD_R_);
}

PAWL_INLINE void PAWL_BODY_(drop_seek)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_DROP] release: what we read or carefully stored is done before the next seeker. */
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_R_S_, PAWL_SPIN_S_DROP), PAWL_R_S_);
}

PAWL_INLINE void PAWL_BODY_(drop_write)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_DROP] release: our stores are done before anybody enters. */
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_DROP),
               PAWL_W_S_R_);
}

PAWL_INLINE void PAWL_BODY_(drop_atomic)(PAWL_LOCK_ *l)
{
    /* [SPIN_A_DROP] release: our atomic updates are done before anybody else enters. */
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_WORD_W_, PAWL_SPIN_A_DROP),
               PAWL_WORD_W_);
}

/* ---- Moving ---------------------------------------------------------------------------------- */

PAWL_INLINE void PAWL_BODY_(seek_to_write)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_TO_W] acquire: our stores come after the reads of readers who have left. */
    if (PAWL_UNLIKELY(!PAWL_NAME_(one_reader_)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_WORD_W_, PAWL_SPIN_S_TO_W))))
        PAWL_SLOW_(drain_readers)(l);
}

PAWL_INLINE bool PAWL_BODY_(try_seek_to_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_NAME_(one_reader_)(w)) {
        /* [SPIN_S_TO_W] acquire: our stores come after the reads of readers who have left. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_WORD_W_),
                                                   PAWL_SPIN_S_TO_W)))
            return true;
    }
    return false;
}

PAWL_INLINE void PAWL_BODY_(write_to_seek)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TO_S] release: our stores are done before a reader enters. */
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_WORD_W_, PAWL_SPIN_W_TO_S),
               PAWL_WORD_W_);
}

PAWL_INLINE void PAWL_BODY_(write_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TO_R] release: our stores are done before a reader or seeker enters. */
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_S_, PAWL_SPIN_W_TO_R), PAWL_W_S_);
}

PAWL_INLINE void PAWL_BODY_(seek_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_TO_R] release: what we carefully stored under S is seen by the next seeker. */
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_WORD_S_, PAWL_SPIN_S_TO_R),
               PAWL_WORD_S_);
}

PAWL_INLINE bool PAWL_BODY_(try_read_to_seek)(PAWL_LOCK_ *l)
{
    if (!PAWL_NAME_(no_seeker_or_writer_)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* [SPIN_R_TO_S] acquire: we see the stores of the careful writer who held S before us. */
    if (PAWL_LIKELY(PAWL_NAME_(no_seeker_or_writer_)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_WORD_S_, PAWL_SPIN_R_TO_S))))
        return true;
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_WORD_S_), PAWL_WORD_S_);
    return false;
}

/* No seeker, no writer, and the one reader is the caller. */
PAWL_INLINE bool PAWL_NAME_(lone_reader_)(PAWL_WORD_ w)
{
    return PAWL_NAME_(no_seeker_or_writer_)(w) && PAWL_NAME_(one_reader_)(w);
}

PAWL_INLINE bool PAWL_BODY_(try_read_to_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_NAME_(lone_reader_)(w)) {
        /* [SPIN_R_TO_W] acquire: our stores come after what those who left had done. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_S_),
                                                   PAWL_SPIN_R_TO_W)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_BODY_(read_claim_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_NAME_(no_seeker_or_writer_)(found))
        return false;
    /* [SPIN_R_TO_W] acquire: our stores come after what those who left had done. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_, PAWL_SPIN_R_TO_W);
    if (PAWL_LIKELY(PAWL_NAME_(lone_reader_)(found)))
        return true;
    if (PAWL_NAME_(no_seeker_or_writer_)(found)) {
        PAWL_SLOW_(drain_readers)(l);
        return true;
    }
    PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_), PAWL_W_S_);
    return false;
}

PAWL_INLINE bool PAWL_BODY_(try_read_to_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_NAME_(lone_reader_)(w)) {
        /* [SPIN_R_TO_A_ALONE] acquire: we come after those who have left. Release: our reads are
         * done before another atomic user updates. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acq_rel)(
                &l->word, &w, (PAWL_WORD_)(w + PAWL_WORD_W_ - PAWL_WORD_R_),
                PAWL_SPIN_R_TO_A_ALONE)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_BODY_(read_claim_atomic)(PAWL_LOCK_ *l)
{
    if (!PAWL_NAME_(no_seeker_or_writer_)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* R stays until the claim is known to be good: a waiting writer would slip in. What those did
     * who have left is acquired by the drain, which every claim that is kept goes through. */
    if (PAWL_UNLIKELY(!PAWL_NAME_(no_seeker_or_writer_)(
            PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_W_S_)))) {
        PAWL_LEFT_(PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_), PAWL_W_S_);
        return false;
    }
    PAWL_SLOW_(drain_to_atomic)(l, (PAWL_WORD_)(0u - PAWL_WORD_R_));
    return true;
}

PAWL_INLINE bool PAWL_BODY_(atomic_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_A_TO_R] release: our updates are done before others read or write. Acquire: we see
     * those of the atomic users who have left. */
    const PAWL_WORD_ found = PAWL_AT_(pawl_fetch_add_acq_rel)(
        &l->word, (PAWL_WORD_)(PAWL_WORD_R_ - PAWL_WORD_W_), PAWL_SPIN_A_TO_R);
    PAWL_LEFT_(found, PAWL_WORD_W_ - PAWL_WORD_R_);
    if (PAWL_LIKELY(PAWL_NAME_(writers_)(found) == PAWL_WORD_W_))
        return true;
    return PAWL_SLOW_(atomic_to_read_slow)(l);
}

/* ---- The rest -------------------------------------------------------------------------------- */

#if !PAWL_WORD_SLEEPS
PAWL_INLINE PAWL_WORD_ PAWL_NAME_(bits)(const PAWL_LOCK_ *l)
{
    /* [SPIN_BITS] acquire: what was stored before the bit changed is seen. */
    return PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_BITS) & PAWL_SPIN_APPLICATION_BITS;
}

PAWL_INLINE PAWL_WORD_ PAWL_NAME_(set_bits)(PAWL_LOCK_ *l, PAWL_WORD_ bits)
{
    /* [SPIN_BITS_CHANGE] what was stored before the change is seen by who finds the bit changed. */
    return PAWL_AT_(pawl_fetch_or_acq_rel)(&l->word, bits & PAWL_SPIN_APPLICATION_BITS,
                                           PAWL_SPIN_BITS_CHANGE) & PAWL_SPIN_APPLICATION_BITS;
}

PAWL_INLINE PAWL_WORD_ PAWL_NAME_(clear_bits)(PAWL_LOCK_ *l, PAWL_WORD_ bits)
{
    /* [SPIN_BITS_CHANGE] what was stored before the change is seen by who finds the bit changed. */
    return PAWL_AT_(pawl_fetch_and_acq_rel)(&l->word,
                                            (PAWL_WORD_)~(bits & PAWL_SPIN_APPLICATION_BITS),
                                            PAWL_SPIN_BITS_CHANGE) & PAWL_SPIN_APPLICATION_BITS;
}

#endif

PAWL_INLINE bool PAWL_NAME_(is_free)(const PAWL_LOCK_ *l)
{
    return PAWL_NAME_(nobody_)(PAWL_AT_(pawl_load_relaxed)(&l->word));
}

PAWL_INLINE bool PAWL_NAME_(is_read)(const PAWL_LOCK_ *l)
{
    const PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    return PAWL_NAME_(no_seeker_or_writer_)(w) && !PAWL_NAME_(nobody_)(w);
}

PAWL_INLINE bool PAWL_NAME_(is_seek)(const PAWL_LOCK_ *l)
{
    const PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    return PAWL_NAME_(no_writer_)(w) && !PAWL_NAME_(no_seeker_or_writer_)(w);
}

PAWL_INLINE bool PAWL_NAME_(is_write)(const PAWL_LOCK_ *l)
{
    const PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    return !PAWL_NAME_(no_writer_)(w) && PAWL_NAME_(seekers_)(w) != 0;
}

PAWL_INLINE bool PAWL_NAME_(is_atomic)(const PAWL_LOCK_ *l)
{
    const PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    return !PAWL_NAME_(no_writer_)(w) && PAWL_NAME_(atomics_or_nobody_)(w);
}

#include <pawl/detail/word_face.inc.h>

PAWL_INLINE_END

#undef PAWL_LOCK_
#undef PAWL_WORD_
#undef PAWL_NAME_
#undef PAWL_AT_
#undef PAWL_SLOW_
#undef PAWL_WORD_R_
#undef PAWL_WORD_S_
#undef PAWL_WORD_W_
#undef PAWL_BODY_
#undef PAWL_LEFT_
#undef PAWL_R_S_
#undef PAWL_W_S_
#undef PAWL_W_S_R_
