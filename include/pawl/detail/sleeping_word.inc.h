/* SPDX-License-Identifier: MIT */
/*
 * The operations of the progressive lock that sleeps, included for each width by lock_word.inc.h
 * (alphabet.h has the names). The contracts stand at the prototypes in lock.h. Here are the fast
 * paths; what waits is in src/lock/waiting.c.
 *
 * The states and moves are those of the spinlock (word.inc.h), with one difference. A claim that
 * may have to be taken back is made by compare-exchange, where the spinlock adds first and looks
 * then. So no word ever holds a claim of a thread that has failed. A failed try changes nothing
 * and has nobody to wake, and a signal handler may try. A fork's child finds no claim that nobody
 * would withdraw (doc/design/023-waiting-once.md).
 *
 * Each body has a deadline where the operation can wait. The includer has defined `dropped_`, which
 * follows a subtraction and wakes the waiters that it lets in, and defines the drops. It has also
 * defined what readers do that scale (entries_word.inc.h or no_entries_word.inc.h). Where a word
 * `scales_`, who claims against readers must look at the lines of all threads; that is compiled. A
 * try that fails there takes its claim back, under the latch of the wait list.
 */
#define PAWL_DO_(verb) PAWL_INNER_(do_##verb##_) /* the body of an operation */

PAWL_C_BEGIN

/* The waiting halves; false when the deadline has passed and the claim has been taken back. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_read_slow)(PAWL_LOCK_ *l, uint64_t deadline);
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_seek_slow)(PAWL_LOCK_ *l, uint64_t deadline);
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_write_slow)(PAWL_LOCK_ *l, uint64_t deadline);
PAWL_API PAWL_COLD bool PAWL_SLOW_(take_atomic_slow)(PAWL_LOCK_ *l, uint64_t deadline);
/* From U; false also when the claim cannot be made. */
PAWL_API PAWL_COLD bool PAWL_SLOW_(claim_write_slow)(PAWL_LOCK_ *l, uint64_t deadline);
PAWL_API PAWL_COLD bool PAWL_SLOW_(claim_atomic_slow)(PAWL_LOCK_ *l, uint64_t deadline);

PAWL_C_END

PAWL_INLINE_BEGIN

/* ---- Taking ---------------------------------------------------------------------------------- */

PAWL_INLINE bool PAWL_DO_(take_read)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if (PAWL_LIKELY(PAWL_IS_(no_writer)(w))) {
        if (PAWL_UNLIKELY(PAWL_INNER_(scales_)(w)))
            return PAWL_INNER_(take_scaling_)(l, deadline);
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_R_),
                                                   PAWL_SPIN_R_TAKE)))
            return true;
    }
    return PAWL_SLOW_(take_read_slow)(l, deadline);
}

PAWL_INLINE bool PAWL_DO_(try_read)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(no_writer)(w)) {
        if (PAWL_UNLIKELY(PAWL_INNER_(scales_)(w)))
            return PAWL_INNER_(try_scaling_)(l);
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_R_),
                                                   PAWL_SPIN_R_TAKE)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_DO_(take_seek)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
    if (PAWL_LIKELY(PAWL_IS_(no_seeker_or_writer)(w)) &&
        PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_R_S_),
                                               PAWL_SPIN_S_TAKE)))
        return true;
    return PAWL_SLOW_(take_seek_slow)(l, deadline);
}

PAWL_INLINE bool PAWL_DO_(try_seek)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(no_seeker_or_writer)(w)) {
        /* [SPIN_S_TAKE] acquire: we see what the last seeker or writer stored. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_R_S_),
                                                   PAWL_SPIN_S_TAKE)))
            return true;
    }
    return false;
}

/* A word that is not zero fails the first attempt; the slow path looks at it. So the fast path asks
 * for the cache line once. */
PAWL_INLINE bool PAWL_DO_(take_write)(PAWL_LOCK_ *l, uint64_t deadline)
{
    PAWL_WORD_ w = 0;
    /* [SPIN_W_TAKE] acquire: our stores come after all that earlier holders did. */
    if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, PAWL_W_S_R_, PAWL_SPIN_W_TAKE)))
        return true;
    return PAWL_SLOW_(take_write_slow)(l, deadline);
}

/* W where nobody has the lock and its readers do not scale. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(take_free_)(PAWL_LOCK_ *l, PAWL_WORD_ *w)
{
    while (PAWL_IS_(nobody)(*w) && PAWL_LIKELY(!PAWL_INNER_(scales_)(*w)))
        /* [SPIN_W_TAKE] acquire: our stores come after all that earlier holders did. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, w, (PAWL_WORD_)(*w + PAWL_W_S_R_),
                                                   PAWL_SPIN_W_TAKE)))
            return true;
    return false;
}

PAWL_INLINE bool PAWL_DO_(try_write)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    return PAWL_INNER_(take_free_)(l, &w) ||
           (PAWL_IS_(nobody)(w) && PAWL_SLOW_(claim_at_once)(l, 0, PAWL_W_S_R_, 0));
}

PAWL_INLINE bool PAWL_DO_(claim_write)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_LIKELY(PAWL_DO_(try_write)(l)) || PAWL_SLOW_(claim_write_slow)(l, deadline);
}

/* Where atomic users are in, one of them has looked at the lines, and W has kept readers out since:
 * no word shows W without S before its author has looked. */
PAWL_INLINE bool PAWL_DO_(try_atomic)(PAWL_LOCK_ *l)
{
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(atomics_or_nobody)(w)) {
        if (PAWL_UNLIKELY(PAWL_INNER_(scales_)(w)) && PAWL_IS_(no_writer)(w))
            return PAWL_SLOW_(claim_at_once)(l, 0, PAWL_W_S_, (PAWL_WORD_)(0u - PAWL_S_));
        /* [SPIN_A_TAKE] acquire: our atomic updates come after all that earlier holders did. */
        if (PAWL_LIKELY(PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_W_),
                                                   PAWL_SPIN_A_TAKE)))
            return true;
    }
    return false;
}

PAWL_INLINE bool PAWL_DO_(take_atomic)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_LIKELY(PAWL_DO_(try_atomic)(l)) || PAWL_SLOW_(take_atomic_slow)(l, deadline);
}

PAWL_INLINE bool PAWL_DO_(claim_atomic)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_LIKELY(PAWL_DO_(try_atomic)(l)) || PAWL_SLOW_(claim_atomic_slow)(l, deadline);
}

PAWL_INLINE_END

#include <pawl/detail/sleeping_moves.inc.h>
