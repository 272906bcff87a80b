/* SPDX-License-Identifier: MIT */
/* All readers count in the word: locks in shared memory, and systems without entries. The compiler
 * removes all that entries_word.inc.h would do. */

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(scales_)(PAWL_WORD_ w)
{
    (void)w;
    return false;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(take_scaling_)(PAWL_LOCK_ *l, uint64_t deadline)
{
    (void)l, (void)deadline;
    return false;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(try_scaling_)(PAWL_LOCK_ *l)
{
    (void)l;
    return false;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_INNER_(free_)(PAWL_LOCK_ *l)
{
    (void)l;
    return false;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_INNER_(count_)(PAWL_LOCK_ *l)
{
    (void)l;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ PAWL_WORD_ PAWL_SLOW_(look)(const PAWL_LOCK_ *l)
{
    return PAWL_AT_(pawl_load_relaxed)(&l->word);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_SLOW_(claim_at_once)(PAWL_LOCK_ *l, PAWL_WORD_ held,
                                                               PAWL_WORD_ claim, PAWL_WORD_ granted)
{
    (void)l, (void)held, (void)claim, (void)granted;
    return false;
}

PAWL_INLINE_END
