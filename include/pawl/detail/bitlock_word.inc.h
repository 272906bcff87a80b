/* SPDX-License-Identifier: MIT */
/* The one body of the bit locks, included by bitlock.h for each width (alphabet.h). The contracts
 * stand at the prototypes in bitlock.h. */

PAWL_C_BEGIN

PAWL_API PAWL_COLD bool PAWL_SLOW_(take_slow)(PAWL_WORD_ *word, unsigned bit, uint64_t deadline);
#if PAWL_CHECKED
PAWL_API void PAWL_SLOW_(check)(const PAWL_WORD_ *word, unsigned bit, const char *call);
PAWL_API PAWL_COLD void PAWL_SLOW_(not_held)(const PAWL_WORD_ *word, const char *call);
#define PAWL_BITLOCK_CHECK_(word, bit, call) PAWL_SLOW_(check)(word, bit, call)
#define PAWL_BITLOCK_HELD_(held, word, call) ((held) ? (void)0 : PAWL_SLOW_(not_held)(word, call))
#else
#define PAWL_BITLOCK_CHECK_(word, bit, call) ((void)0)
#define PAWL_BITLOCK_HELD_(held, word, call) ((void)(held))
#endif

PAWL_C_END

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_WORD_ PAWL_INNER_(mask_)(unsigned bit)
{
    return (PAWL_WORD_)((PAWL_WORD_)1 << bit);
}

PAWL_INLINE bool PAWL_NAME_(is_held)(const PAWL_WORD_ *word, unsigned bit)
{
    return (PAWL_AT_(pawl_load_relaxed)(word) & PAWL_INNER_(mask_)(bit)) != 0;
}

PAWL_INLINE bool PAWL_NAME_(try)(PAWL_WORD_ *word, unsigned bit)
{
    const PAWL_WORD_ mask = PAWL_INNER_(mask_)(bit);
    PAWL_BITLOCK_CHECK_(word, bit, "try");
    if (PAWL_NAME_(is_held)(word, bit)) /* asking again would only take the line from its holder */
        return false;
    /* [BITLOCK_TAKE] acquire: we see what the last holder did. */
    return (PAWL_AT_(pawl_fetch_or_acquire)(word, mask, PAWL_BITLOCK_TAKE) & mask) == 0;
}

/* The compiled wait is hidden from a checker of races (told.h), and then its acquire is told. */
#if PAWL_TOLD_ && !PAWL_HOOKS
PAWL_INLINE bool PAWL_INNER_(wait_)(PAWL_WORD_ *word, unsigned bit, uint64_t deadline)
{
    bool taken;
    ipawl_told_hide_(word);
    taken = PAWL_SLOW_(take_slow)(word, bit, deadline);
    ipawl_told_show_(word);
    if (taken)
        ipawl_told_get_(word);
    return taken;
}
#else
PAWL_INLINE bool PAWL_INNER_(wait_)(PAWL_WORD_ *word, unsigned bit, uint64_t deadline)
{
    return PAWL_SLOW_(take_slow)(word, bit, deadline);
}
#endif

PAWL_INLINE bool PAWL_NAME_(take_until)(PAWL_WORD_ *word, unsigned bit, uint64_t deadline)
{
    const PAWL_WORD_ mask = PAWL_INNER_(mask_)(bit);
    PAWL_BITLOCK_CHECK_(word, bit, "take");
    /* [BITLOCK_TAKE] acquire: we see what the last holder did. */
    if (PAWL_LIKELY((PAWL_AT_(pawl_fetch_or_acquire)(word, mask, PAWL_BITLOCK_TAKE) & mask) == 0))
        return true;
    return PAWL_INNER_(wait_)(word, bit, deadline);
}

PAWL_INLINE void PAWL_NAME_(take)(PAWL_WORD_ *word, unsigned bit)
{
    while (!PAWL_NAME_(take_until)(word, bit, PAWL_WAIT_FOREVER))
        continue; /* there is no deadline to pass */
}

PAWL_INLINE void PAWL_NAME_(drop)(PAWL_WORD_ *word, unsigned bit)
{
    const PAWL_WORD_ mask = PAWL_INNER_(mask_)(bit);
    PAWL_WORD_ found;
    PAWL_BITLOCK_CHECK_(word, bit, "drop");
    /* [BITLOCK_DROP] release: what we did is seen by the next holder. */
    found = PAWL_AT_(pawl_fetch_and_release)(word, (PAWL_WORD_)~mask, PAWL_BITLOCK_DROP);
    PAWL_BITLOCK_HELD_((found & mask) != 0, word, "drop");
    /* [BITLOCK_ASK] full: the bit is clear before the drop asks whether a waiter is counted. */
    pawl_fence_full_after_update(PAWL_BITLOCK_ASK);
    PAWL_CALL_(pawl_bitlock_wake)(word, mask);
}

PAWL_INLINE_END

#undef PAWL_BITLOCK_CHECK_
#undef PAWL_BITLOCK_HELD_
#undef PAWL_WORD_BITS
