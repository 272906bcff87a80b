/* SPDX-License-Identifier: MIT */
/*
 * Readers of lock.h that scale: their part of each width (entries.h), included by
 * lock_word.inc.h before sleeping_word.inc.h:
 *
 *   scales_(w)   readers of a lock whose word has this value may use entries
 *   take_scaling, try_scaling
 *                a take or try where the word had BIASED and no W
 *   free_        a drop: true when R is given up
 *   count_       moves R of the caller from its entry to the word, before another move
 *
 * Entering and leaving are calls, as most locks never scale: programs would pay 250 bytes for each
 * pair.
 *
 * Writers and atomic users look at all lines, in compiled functions (src/lock/lock_scaling.c).
 */
#if PAWL_SCALES_

PAWL_C_BEGIN

/* Enter by an entry or, where that fails, in the word. */
PAWL_MUST_USE_ PAWL_API bool PAWL_SLOW_(take_scaling)(PAWL_LOCK_ *l, uint64_t deadline);
PAWL_MUST_USE_ PAWL_API bool PAWL_SLOW_(try_scaling)(PAWL_LOCK_ *l);
/* Gives up R in an entry or in the word. */
PAWL_API void PAWL_SLOW_(drop_read_slow)(PAWL_LOCK_ *l);
/* R of the caller goes to the word if an entry has it. */
PAWL_API PAWL_COLD void PAWL_SLOW_(count_slow)(PAWL_LOCK_ *l);
/* A claim that never waits, at a word with BIASED; see its definition. */
PAWL_MUST_USE_ PAWL_API PAWL_COLD bool
    PAWL_SLOW_(claim_at_once)(PAWL_LOCK_ *l, PAWL_WORD_ held, PAWL_WORD_ claim, PAWL_WORD_ granted);
/* The word, with the readers that are in entries added to its R. */
PAWL_API PAWL_COLD PAWL_WORD_ PAWL_SLOW_(look)(const PAWL_LOCK_ *l);

PAWL_C_END

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(scales_)(PAWL_WORD_ w)
{
    return (w & PAWL_LOCK_BIASED) != 0;
}

/* The identity of this lock in entries: two locks of different width may lie at one address, one
 * after the other. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ ipawl_address_ PAWL_INNER_(identity_)(const PAWL_LOCK_ *l)
{
    return (ipawl_address_)(uintptr_t)l | (PAWL_WORD_BITS == 64 ? 1u : 0u);
}

/* Whether a reader that has filled its entry is in. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(admits_)(const PAWL_LOCK_ *l)
{
    /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
    const PAWL_WORD_ w = PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_SPIN_R_TAKE);
    return PAWL_LIKELY(PAWL_IS_(no_writer)(w) && PAWL_INNER_(scales_)(w));
}

/* The word had BIASED and no W. The reader is in if it still is so after the entry was filled: a
 * writer that claims later finds the entry. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(enter_)(const PAWL_LOCK_ *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    unsigned i;
    if (PAWL_UNLIKELY(!ipawl_entries_are_(own)))
        return false;
    i = ipawl_entries_fill_(own, PAWL_INNER_(identity_)(l));
    if (PAWL_UNLIKELY(i == PAWL_ENTRIES))
        return false;
    if (PAWL_INNER_(admits_)(l))
        return true;
    ipawl_entries_take_back_(own, i, PAWL_INNER_(identity_)(l));
    return false;
}

/* False: the thread has no entry of this lock. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(free_entry_)(const PAWL_LOCK_ *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    return PAWL_LIKELY(ipawl_entries_are_(own)) &&
           PAWL_LIKELY(ipawl_entries_free_(own, PAWL_INNER_(identity_)(l)));
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(take_scaling_)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_SLOW_(take_scaling)(l, deadline);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(try_scaling_)(PAWL_LOCK_ *l)
{
    return PAWL_SLOW_(try_scaling)(l);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(free_)(PAWL_LOCK_ *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    if (PAWL_LIKELY(own == PAWL_NO_ENTRIES_) || (own != NULL && ipawl_entries_busy_(own) == 0))
        return false;
    PAWL_SLOW_(drop_read_slow)(l);
    return true;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_INNER_(count_)(PAWL_LOCK_ *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    if (PAWL_LIKELY(own == PAWL_NO_ENTRIES_) || (own != NULL && ipawl_entries_busy_(own) == 0))
        return;
    PAWL_SLOW_(count_slow)(l);
}

PAWL_INLINE_END

#else

#include <pawl/detail/no_entries_word.inc.h>

#endif
