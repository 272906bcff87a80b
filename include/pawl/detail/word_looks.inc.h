/* SPDX-License-Identifier: MIT */
/* Queries: the state that the word of a progressive lock shows at an instant, included for each
 * width. */

PAWL_INLINE_BEGIN

/* The word, with readers that scale in its R. */
#if PAWL_WORD_KIND == PAWL_KIND_LOCK_
PAWL_INLINE PAWL_WORD_ PAWL_INNER_(shows_)(const PAWL_LOCK_ *l)
{
    if (PAWL_UNLIKELY(PAWL_INNER_(scales_)(PAWL_AT_(pawl_load_relaxed)(&l->word))))
        return PAWL_SLOW_(look)(l);
    return PAWL_AT_(pawl_load_relaxed)(&l->word);
}
#else
PAWL_INLINE PAWL_WORD_ PAWL_INNER_(shows_)(const PAWL_LOCK_ *l)
{
    return PAWL_AT_(pawl_load_relaxed)(&l->word);
}
#endif

PAWL_INLINE bool PAWL_NAME_(is_free)(const PAWL_LOCK_ *l)
{
    return PAWL_IS_(nobody)(PAWL_INNER_(shows_)(l));
}

PAWL_INLINE bool PAWL_NAME_(is_read)(const PAWL_LOCK_ *l)
{
    const PAWL_WORD_ w = PAWL_INNER_(shows_)(l);
    return PAWL_IS_(no_seeker_or_writer)(w) && !PAWL_IS_(nobody)(w);
}

PAWL_INLINE bool PAWL_NAME_(is_seek)(const PAWL_LOCK_ *l)
{
    const PAWL_WORD_ w = PAWL_INNER_(shows_)(l);
    return PAWL_IS_(no_writer)(w) && !PAWL_IS_(no_seeker_or_writer)(w);
}

PAWL_INLINE bool PAWL_NAME_(is_write)(const PAWL_LOCK_ *l)
{
    const PAWL_WORD_ w = PAWL_INNER_(shows_)(l);
    return !PAWL_IS_(no_writer)(w) && PAWL_IS_(seekers)(w) != 0;
}

PAWL_INLINE bool PAWL_NAME_(is_atomic)(const PAWL_LOCK_ *l)
{
    const PAWL_WORD_ w = PAWL_INNER_(shows_)(l);
    return !PAWL_IS_(no_writer)(w) && PAWL_IS_(atomics_or_nobody)(w);
}

PAWL_INLINE_END
