/* SPDX-License-Identifier: MIT */
/*
 * The fields of the word and the tests of its value, included by word.inc.h for each width. All
 * kinds of progressive locks have the same word, and use these (PAWL_IS_ of alphabet.h).
 */

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_WORD_ PAWL_IS_(readers)(PAWL_WORD_ w) /* R, in place */
{
    return (PAWL_WORD_)(w & (PAWL_WORD_)(PAWL_S_ - PAWL_R_));
}

PAWL_INLINE PAWL_WORD_ PAWL_IS_(seekers)(PAWL_WORD_ w) /* S, in place */
{
    return (PAWL_WORD_)(w & (PAWL_WORD_)(PAWL_W_ - PAWL_S_));
}

PAWL_INLINE PAWL_WORD_ PAWL_IS_(writers)(PAWL_WORD_ w) /* W, in place */
{
    return (PAWL_WORD_)(w & (PAWL_WORD_)~(PAWL_W_ - 1u));
}

PAWL_INLINE bool PAWL_IS_(no_writer)(PAWL_WORD_ w)
{
    return w < PAWL_W_; /* W is the top field */
}

PAWL_INLINE bool PAWL_IS_(no_seeker_or_writer)(PAWL_WORD_ w)
{
    return w < PAWL_S_;
}

PAWL_INLINE bool PAWL_IS_(nobody)(PAWL_WORD_ w)
{
    return w < PAWL_R_;
}

PAWL_INLINE bool PAWL_IS_(one_reader)(PAWL_WORD_ w)
{
    return PAWL_IS_(readers)(w) == PAWL_R_;
}

PAWL_INLINE bool PAWL_IS_(atomics_or_nobody)(PAWL_WORD_ w)
{
    return (w & (PAWL_WORD_)(PAWL_W_ - PAWL_R_)) == 0;
}

PAWL_INLINE bool PAWL_IS_(atomic_may_claim)(PAWL_WORD_ w)
{
    return PAWL_IS_(no_seeker_or_writer)(w) || PAWL_IS_(atomics_or_nobody)(w);
}

/* No seeker, no writer, and the one reader is the caller. */
PAWL_INLINE bool PAWL_IS_(lone_reader)(PAWL_WORD_ w)
{
    return PAWL_IS_(no_seeker_or_writer)(w) && PAWL_IS_(one_reader)(w);
}

PAWL_INLINE_END
