/* SPDX-License-Identifier: MIT */
/*
 * The body of the lock for shared memory, included by pshared.h for each width (alphabet.h has the
 * names). The contracts stand at the prototypes in pshared.h. Here are the fast paths; what waits
 * is in src/lock/pshared_word.inc.h. The tests of the word, and the operations that change it by
 * compare-exchange, are those of spin.h.
 */
#define PAWL_DO_(verb) PAWL_NAME_(do_##verb##_) /* the body of an operation */

/* The operations of the spinning lock that neither wait nor withdraw, without its annotations. */
#if PAWL_CHECKED || PAWL_TOLD_
#define PAWL_BORROWED_(verb) PAWL_CAT_(PAWL_SPIN_, _##verb##_unchecked_)
#else
#define PAWL_BORROWED_(verb) PAWL_CAT_(PAWL_SPIN_, _##verb)
#endif

PAWL_C_BEGIN

/* The waiting halves; false when the deadline has passed and the claim has been withdrawn. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_read_slow)(PAWL_LOCK_ *l, PAWL_WORD_ claimed,
                                                   uint64_t deadline);
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_seek_slow)(PAWL_LOCK_ *l, uint64_t deadline);
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_write_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found,
                                                    uint64_t deadline);
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_atomic_slow)(PAWL_LOCK_ *l, PAWL_WORD_ found,
                                                     uint64_t deadline);
/* `units` are given back when the deadline passes. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(drain_readers)(PAWL_LOCK_ *l, PAWL_WORD_ units,
                                                  uint64_t deadline);
/* `mark` turns the claim into W+S without R, `back` undoes all of it. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(drain_to_atomic)(PAWL_LOCK_ *l, PAWL_WORD_ mark,
                                                    PAWL_WORD_ back, uint64_t deadline);
PAWL_API PAWL_COLD pawl_regained PAWL_SLOW_(regain_slow)(PAWL_LOCK_ *l, uint64_t deadline);
/* I6: the word went from `found` to `now` beside PARKED. */
PAWL_API PAWL_COLD void PAWL_SLOW_(changed)(PAWL_LOCK_ *l, PAWL_WORD_ found, PAWL_WORD_ now);
/* Whether a drop that changes the word so lets a waiter go on; LEAVING must then be set. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(lets_in)(PAWL_WORD_ found, PAWL_WORD_ now);
/* I7: LEAVING is set; wakes, and gives up `units` by its last access. */
PAWL_API PAWL_COLD void PAWL_SLOW_(leave)(PAWL_LOCK_ *l, PAWL_WORD_ units);

PAWL_C_END

PAWL_INLINE_BEGIN

PAWL_INLINE bool PAWL_NAME_(init)(PAWL_LOCK_ *l)
{
    if (l == NULL || ((uintptr_t)l & (sizeof(l->word) - 1)) != 0)
        return false;
    PAWL_AT_(pawl_store_relaxed)(&l->word, 0);
    pawl_store_relaxed32(&l->waits, 0);
    return true;
}

PAWL_INLINE void PAWL_NAME_(destroy)(PAWL_LOCK_ *l)
{
    (void)l;
}

PAWL_INLINE bool PAWL_NAME_(is_free)(const PAWL_LOCK_ *l)
{
    return PAWL_IS_(nobody)(PAWL_AT_(pawl_load_relaxed)(&l->word));
}

/* ---- Taking ---------------------------------------------------------------------------------- */

/* After a subtraction that found `found`. */
PAWL_INLINE void PAWL_NAME_(gave_)(PAWL_LOCK_ *l, PAWL_WORD_ found, PAWL_WORD_ units)
{
    if (PAWL_UNLIKELY(found & PAWL_PSHARED_PARKED))
        PAWL_SLOW_(changed)(l, found, (PAWL_WORD_)(found - units));
}

PAWL_INLINE bool PAWL_DO_(take_read)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ claimed = 0;
    if (PAWL_LIKELY(PAWL_IS_(no_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))) {
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (PAWL_LIKELY(PAWL_IS_(no_writer)(
                PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_, PAWL_SPIN_R_TAKE))))
            return true;
        claimed = PAWL_R_;
    }
    return PAWL_SLOW_(take_read_slow)(l, claimed, deadline);
}

PAWL_INLINE bool PAWL_DO_(try_read)(PAWL_LOCK_ *l)
{
    if (!PAWL_IS_(no_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
    if (PAWL_LIKELY(PAWL_IS_(no_writer)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_, PAWL_SPIN_R_TAKE))))
        return true;
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_), PAWL_R_);
    return false;
}

PAWL_INLINE bool PAWL_DO_(take_seek)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
    if (PAWL_LIKELY(PAWL_IS_(no_seeker_or_writer)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_S_, PAWL_SPIN_S_TAKE))))
        return true;
    return PAWL_SLOW_(take_seek_slow)(l, deadline);
}

PAWL_INLINE bool PAWL_DO_(try_seek)(PAWL_LOCK_ *l)
{
    if (!PAWL_IS_(no_seeker_or_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
    if (PAWL_LIKELY(PAWL_IS_(no_seeker_or_writer)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_R_S_, PAWL_SPIN_S_TAKE))))
        return true;
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_R_S_), PAWL_R_S_);
    return false;
}

PAWL_INLINE bool PAWL_DO_(take_write)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_W_TAKE] acquire: our stores come after all that earlier holders did. */
    const PAWL_WORD_ found =
        PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    if (PAWL_LIKELY(PAWL_IS_(nobody)(found)))
        return true;
    return PAWL_SLOW_(take_write_slow)(l, found, deadline);
}

PAWL_INLINE bool PAWL_DO_(try_write)(PAWL_LOCK_ *l)
{
    return PAWL_BORROWED_(try_write)((PAWL_SPIN_ *)(void *)&l->word);
}

PAWL_INLINE bool PAWL_DO_(claim_write)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(no_seeker_or_writer)(found))
        return false;
    /* [SPIN_W_TAKE] acquire: our stores come after all that earlier holders did. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_R_, PAWL_SPIN_W_TAKE);
    if (PAWL_LIKELY(PAWL_IS_(nobody)(found)))
        return true;
    if (PAWL_IS_(no_seeker_or_writer)(found))
        return PAWL_SLOW_(drain_readers)(l, PAWL_W_S_R_, deadline);
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_R_), PAWL_W_S_R_);
    return false;
}

PAWL_INLINE bool PAWL_DO_(take_atomic)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_A_TAKE] acquire: our atomic updates come after all that earlier holders did. */
    const PAWL_WORD_ found =
        PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE);
    if (PAWL_LIKELY(PAWL_IS_(atomics_or_nobody)(found)))
        return true;
    return PAWL_SLOW_(take_atomic_slow)(l, found, deadline);
}

PAWL_INLINE bool PAWL_DO_(try_atomic)(PAWL_LOCK_ *l)
{
    return PAWL_BORROWED_(try_atomic)((PAWL_SPIN_ *)(void *)&l->word);
}

PAWL_INLINE bool PAWL_DO_(claim_atomic)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(atomic_may_claim)(found))
        return false;
    /* [SPIN_A_TAKE] acquire: our atomic updates come after all that earlier holders did. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_A_TAKE);
    if (PAWL_LIKELY(PAWL_IS_(atomics_or_nobody)(found)))
        return true;
    if (PAWL_IS_(no_seeker_or_writer)(found))
        return PAWL_SLOW_(drain_to_atomic)(l, PAWL_S_, (PAWL_WORD_)(0u - PAWL_W_S_), deadline);
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_), PAWL_W_);
    return false;
}

/* ---- Leaving --------------------------------------------------------------------------------- */

/* A drop with nobody asleep, or under another's LEAVING, is one compare-exchange. Else LEAVING is
 * set by a compare-exchange with the same order, and leave() wakes and then drops. What follows in
 * leave() is in its release sequence: the next owner sees what we did in either case. */
PAWL_INLINE PAWL_WORD_ PAWL_NAME_(next_)(PAWL_WORD_ w, PAWL_WORD_ units)
{
    const PAWL_WORD_ without = (PAWL_WORD_)(w - units);
    if (PAWL_UNLIKELY((w & (PAWL_PSHARED_PARKED | PAWL_PSHARED_LEAVING)) == PAWL_PSHARED_PARKED) &&
        PAWL_SLOW_(lets_in)(w, without))
        return w | PAWL_PSHARED_LEAVING;
    return without;
}

PAWL_INLINE void PAWL_NAME_(went_)(PAWL_LOCK_ *l, PAWL_WORD_ from, PAWL_WORD_ to, PAWL_WORD_ units)
{
    if (PAWL_UNLIKELY(~from & to & PAWL_PSHARED_LEAVING))
        PAWL_SLOW_(leave)(l, units);
}

PAWL_INLINE void PAWL_DO_(drop_read)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;
    do
        next = PAWL_NAME_(next_)(w, PAWL_R_);
    /* [SPIN_R_DROP] release: our reads are done before a writer sees R fall. */
    while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_SPIN_R_DROP));
    PAWL_NAME_(went_)(l, w, next, PAWL_R_);
}

PAWL_INLINE void PAWL_DO_(drop_seek)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;
    do
        next = PAWL_NAME_(next_)(w, PAWL_R_S_);
    /* [SPIN_S_DROP] release: what we read or carefully stored is done before the next seeker. */
    while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_SPIN_S_DROP));
    PAWL_NAME_(went_)(l, w, next, PAWL_R_S_);
}

PAWL_INLINE void PAWL_DO_(drop_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;
    do
        next = PAWL_NAME_(next_)(w, PAWL_W_S_R_);
    /* [SPIN_W_DROP] release: our stores are done before anybody enters. */
    while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_SPIN_W_DROP));
    PAWL_NAME_(went_)(l, w, next, PAWL_W_S_R_);
}

PAWL_INLINE void PAWL_DO_(drop_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;
    do
        next = PAWL_NAME_(next_)(w, PAWL_W_);
    /* [SPIN_A_DROP] release: our atomic updates are done before anybody else enters. */
    while (!PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_SPIN_A_DROP));
    PAWL_NAME_(went_)(l, w, next, PAWL_W_);
}

/* ---- Moving: the lock stays held, so `waits` may change afterwards --------------------------- */

PAWL_INLINE bool PAWL_DO_(seek_to_write)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_S_TO_W] acquire: our stores come after the reads of earlier readers. */
    if (PAWL_LIKELY(PAWL_IS_(one_reader)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_, PAWL_SPIN_S_TO_W))))
        return true;
    return PAWL_SLOW_(drain_readers)(l, PAWL_W_, deadline);
}

PAWL_INLINE bool PAWL_DO_(try_seek_to_write)(PAWL_LOCK_ *l)
{
    return PAWL_BORROWED_(try_seek_to_write)((PAWL_SPIN_ *)(void *)&l->word);
}

PAWL_INLINE void PAWL_DO_(write_to_seek)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TO_S] release: our stores are done before a reader enters. */
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_, PAWL_SPIN_W_TO_S),
                      PAWL_W_);
}

PAWL_INLINE void PAWL_DO_(write_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_W_TO_R] release: our stores are done before a reader or seeker enters. */
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_W_S_, PAWL_SPIN_W_TO_R),
                      PAWL_W_S_);
}

PAWL_INLINE void PAWL_DO_(seek_to_read)(PAWL_LOCK_ *l)
{
    /* [SPIN_S_TO_R] release: what we carefully stored under S is seen by the next seeker. */
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_release)(&l->word, PAWL_S_, PAWL_SPIN_S_TO_R),
                      PAWL_S_);
}

PAWL_INLINE bool PAWL_DO_(try_read_to_seek)(PAWL_LOCK_ *l)
{
    if (!PAWL_IS_(no_seeker_or_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)))
        return false;
    /* [SPIN_R_TO_S] acquire: we see the stores of the careful writer who held S before us. */
    if (PAWL_LIKELY(PAWL_IS_(no_seeker_or_writer)(
            PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_S_, PAWL_SPIN_R_TO_S))))
        return true;
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_S_), PAWL_S_);
    return false;
}

PAWL_INLINE bool PAWL_DO_(try_read_to_write)(PAWL_LOCK_ *l)
{
    return PAWL_BORROWED_(try_read_to_write)((PAWL_SPIN_ *)(void *)&l->word);
}

PAWL_INLINE bool PAWL_DO_(read_claim_write)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(no_seeker_or_writer)(found))
        return false;
    /* [SPIN_R_TO_W] acquire: our stores come after all that earlier holders did. */
    found = PAWL_AT_(pawl_fetch_add_acquire)(&l->word, PAWL_W_S_, PAWL_SPIN_R_TO_W);
    if (PAWL_LIKELY(PAWL_IS_(lone_reader)(found)))
        return true;
    if (PAWL_IS_(no_seeker_or_writer)(found))
        return PAWL_SLOW_(drain_readers)(l, PAWL_W_S_, deadline);
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_), PAWL_W_S_);
    return false;
}

PAWL_INLINE bool PAWL_DO_(try_read_to_atomic)(PAWL_LOCK_ *l)
{
    return PAWL_BORROWED_(try_read_to_atomic)((PAWL_SPIN_ *)(void *)&l->word);
}

PAWL_INLINE bool PAWL_DO_(read_claim_atomic)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ found = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (!PAWL_IS_(no_seeker_or_writer)(found))
        return false;
    /* The drain acquires what earlier holders did. */
    found = PAWL_AT_(pawl_fetch_add_relaxed)(&l->word, PAWL_W_S_);
    if (PAWL_LIKELY(PAWL_IS_(no_seeker_or_writer)(found)))
        return PAWL_SLOW_(drain_to_atomic)(l, (PAWL_WORD_)(0u - PAWL_R_),
                                           (PAWL_WORD_)(PAWL_R_ - PAWL_W_S_), deadline);
    PAWL_NAME_(gave_)(l, PAWL_AT_(pawl_fetch_sub_relaxed)(&l->word, PAWL_W_S_), PAWL_W_S_);
    return false;
}

PAWL_INLINE pawl_regained PAWL_DO_(atomic_to_read)(PAWL_LOCK_ *l, uint64_t deadline)
{
    /* [SPIN_A_TO_R] release: our updates are done before others read or write. Acquire: we see
     * those of earlier atomic users. */
    const PAWL_WORD_ found = PAWL_AT_(pawl_fetch_add_acq_rel)(
        &l->word, (PAWL_WORD_)(PAWL_R_ - PAWL_W_), PAWL_SPIN_A_TO_R);
    PAWL_NAME_(gave_)(l, found, (PAWL_WORD_)(PAWL_W_ - PAWL_R_));
    if (PAWL_LIKELY(PAWL_IS_(writers)(found) == PAWL_W_))
        return PAWL_REGAIN_KEPT;
    return PAWL_SLOW_(regain_slow)(l, deadline);
}

#include <pawl/detail/pshared_face.inc.h>

PAWL_INLINE_END

#undef PAWL_DO_
#undef PAWL_BORROWED_
