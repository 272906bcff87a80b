/* SPDX-License-Identifier: MIT */
/*
 * The functions that compat/plock.h needs beside spin.h, included by it for each width
 * (PAWL_WORD_BITS). First, R, S, W and A -> R that never keep a claim of W beside the W of others
 * (src/lock/compat_word.inc.h says why). Second, the declarations of src/lock/compat_word.inc.h.
 */

PAWL_C_BEGIN

PAWL_API PAWL_COLD void PAWL_SLOW_(take_read_slow)(PAWL_SPIN_ *l);
PAWL_API PAWL_COLD void PAWL_SLOW_(atomic_to_read_slow)(PAWL_SPIN_ *l);
PAWL_API void PAWL_SLOW_(read_to_join)(PAWL_SPIN_ *l);
PAWL_API void PAWL_SLOW_(join_to_claim)(PAWL_SPIN_ *l);
PAWL_API void PAWL_SLOW_(claim_to_atomic)(PAWL_SPIN_ *l);
PAWL_API void PAWL_SLOW_(atomic_to_join)(PAWL_SPIN_ *l);
PAWL_API void PAWL_SLOW_(take_join)(PAWL_SPIN_ *l);
PAWL_API PAWL_WORD_ PAWL_SLOW_(try_join)(PAWL_SPIN_ *l); /* the word, or 0 */
PAWL_API void PAWL_SLOW_(drop_join)(PAWL_SPIN_ *l);      /* C too */

PAWL_C_END

PAWL_INLINE_BEGIN

#if PAWL_CHECKED

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_read)(PAWL_SPIN_ *l)
{
    PAWL_CAT_(PAWL_SPIN_, _take_read)(l);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_seek)(PAWL_SPIN_ *l)
{
    PAWL_CAT_(PAWL_SPIN_, _take_seek)(l);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_write)(PAWL_SPIN_ *l)
{
    PAWL_CAT_(PAWL_SPIN_, _take_write)(l);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(atomic_to_read)(PAWL_SPIN_ *l)
{
    (void)PAWL_CAT_(PAWL_SPIN_, _atomic_to_read)(l);
}

#else

PAWL_INLINE void PAWL_NAME_(take_read)(PAWL_SPIN_ *l)
{
    PAWL_PLOCK_BEFORE_(l, PAWL_STATE_U);
    if (PAWL_UNLIKELY(!PAWL_PLOCK_BODY_(PAWL_WORD_BITS, try_read)(l)))
        PAWL_SLOW_(take_read_slow)(l);
    PAWL_PLOCK_AFTER_(l, PAWL_STATE_R, true);
}

PAWL_INLINE void PAWL_NAME_(take_seek)(PAWL_SPIN_ *l)
{
    PAWL_PLOCK_BEFORE_(l, PAWL_STATE_U);
    if (PAWL_UNLIKELY(!PAWL_PLOCK_BODY_(PAWL_WORD_BITS, try_seek)(l)))
        PAWL_SYMBOL_(PAWL_CAT_(PAWL_SPIN_, _take_seek_politely))(l);
    PAWL_PLOCK_AFTER_(l, PAWL_STATE_S, true);
}

PAWL_INLINE void PAWL_NAME_(take_write)(PAWL_SPIN_ *l)
{
    PAWL_PLOCK_BEFORE_(l, PAWL_STATE_U);
    if (PAWL_UNLIKELY(!PAWL_PLOCK_BODY_(PAWL_WORD_BITS, try_write)(l)))
        PAWL_SYMBOL_(PAWL_CAT_(PAWL_SPIN_, _take_write_politely))(l);
    PAWL_PLOCK_AFTER_(l, PAWL_STATE_W, true);
}

PAWL_INLINE void PAWL_NAME_(atomic_to_read)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ found;
    PAWL_PLOCK_BEFORE_(l, PAWL_STATE_A);
    /* [SPIN_A_TO_R] release: our updates are done before others read or write. Acquire: we see
     * those of earlier atomic users. */
    found = PAWL_AT_(pawl_fetch_add_acq_rel)(&l->word, (PAWL_WORD_)(PAWL_R_ - PAWL_W_),
                                             PAWL_SPIN_A_TO_R);
    if (PAWL_UNLIKELY(PAWL_IS_(writers)(found) != PAWL_W_))
        PAWL_SLOW_(atomic_to_read_slow)(l);
    PAWL_PLOCK_AFTER_(l, PAWL_STATE_R, true);
}

#endif

/* ThreadSanitizer sees joiners and claimers as writers that follow one another. */
#define PAWL_PLOCK_JOINER_(verb, from, to)                                                         \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(verb)(PAWL_SPIN_ * l)                          \
    {                                                                                              \
        PAWL_PLOCK_BEFORE_(l, from);                                                               \
        PAWL_SLOW_(verb)(l);                                                                       \
        PAWL_PLOCK_AFTER_(l, to, true);                                                            \
    }
PAWL_PLOCK_JOINER_(read_to_join, PAWL_STATE_R, PAWL_STATE_W)
PAWL_PLOCK_JOINER_(join_to_claim, PAWL_STATE_W, PAWL_STATE_W)
PAWL_PLOCK_JOINER_(claim_to_atomic, PAWL_STATE_W, PAWL_STATE_W)
PAWL_PLOCK_JOINER_(atomic_to_join, PAWL_STATE_A, PAWL_STATE_W)
PAWL_PLOCK_JOINER_(take_join, PAWL_STATE_U, PAWL_STATE_W)
PAWL_PLOCK_JOINER_(drop_join, PAWL_STATE_W, PAWL_STATE_U)
#undef PAWL_PLOCK_JOINER_

PAWL_INLINE PAWL_ALWAYS_INLINE_ PAWL_WORD_ PAWL_NAME_(try_join)(PAWL_SPIN_ *l)
{
    PAWL_WORD_ w;
    PAWL_PLOCK_BEFORE_(l, PAWL_STATE_U);
    w = PAWL_SLOW_(try_join)(l);
    PAWL_PLOCK_AFTER_(l, PAWL_STATE_W, w != 0);
    return w;
}

/* At most one unit of W is in the word. */
PAWL_INLINE bool PAWL_NAME_(last_writer)(const PAWL_SPIN_ *l)
{
    /* [PLOCK_ENTER] acquire: the last one sees what earlier ones did. */
    return PAWL_AT_(pawl_load_acquire)(&l->word, PAWL_PLOCK_ENTER) / PAWL_W_ <= 1;
}

PAWL_INLINE_END
#undef PAWL_WORD_BITS
