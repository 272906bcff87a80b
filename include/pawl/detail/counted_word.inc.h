/* SPDX-License-Identifier: MIT */
/*
 * Reads that any thread may drop, included by lock.h for each width: they always count in the word.
 * No state of a thread belongs to them, so the checking variant knows only how many there are.
 *
 * take_read_back_ ends the wait for a condition under R of either kind (cond.h). R counts in the
 * word then, where both drops find it. take_write_back_ does so under W.
 */

PAWL_C_BEGIN
PAWL_API bool PAWL_SLOW_(take_read_counted_until)(PAWL_LOCK_ *l, uint64_t deadline);
#if PAWL_CHECKED
PAWL_API bool PAWL_SLOW_(take_read_counted_checked)(PAWL_LOCK_ *l, uint64_t deadline);
PAWL_API void PAWL_SLOW_(drop_read_counted)(PAWL_LOCK_ *l);
#endif
PAWL_C_END

PAWL_INLINE_BEGIN

#if PAWL_CHECKED

/* Calls, not jumps: the return address is the caller's. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_read_counted)(PAWL_LOCK_ *l)
{
    (void)PAWL_SLOW_(take_read_counted_checked)(l, UINT64_MAX);
    __asm__ __volatile__("");
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_NAME_(take_read_counted_until)(PAWL_LOCK_ *l,
                                                                         uint64_t deadline)
{
    const bool ok = PAWL_SLOW_(take_read_counted_checked)(l, deadline);
    __asm__ __volatile__("");
    return ok;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_NAME_(try_read_counted)(PAWL_LOCK_ *l)
{
    const bool ok = PAWL_SLOW_(take_read_counted_checked)(l, 0);
    __asm__ __volatile__("");
    return ok;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(drop_read_counted)(PAWL_LOCK_ *l)
{
    PAWL_SLOW_(drop_read_counted)(l);
    __asm__ __volatile__("");
}

/* Plain: the checking variant knows which kind it is. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_INNER_(take_read_back_)(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_read)(l);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_INNER_(take_write_back_)(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_write)(l);
}

#else

/* Another thread may drop it, so the recorder sees no hold. */
PAWL_INLINE void PAWL_NAME_(take_read_counted)(PAWL_LOCK_ *l)
{
    bool value;
    PAWL_WAITS_(WORD, PAWL_TRACED_NO_HOLD_, U, R, PAWL_DO_(try_read_counted)(l),
                PAWL_DO_(take_read_counted)(l, UINT64_MAX), true);
    (void)value;
}

PAWL_INLINE bool PAWL_NAME_(take_read_counted_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    bool value;
    PAWL_WAITS_(WORD, PAWL_TRACED_NO_HOLD_ | PAWL_TRACED_UNTIL_, U, R,
                PAWL_DO_(try_read_counted)(l), PAWL_SLOW_(take_read_counted_until)(l, deadline),
                value);
    return value;
}

PAWL_INLINE bool PAWL_NAME_(try_read_counted)(PAWL_LOCK_ *l)
{
    bool value;
    PAWL_TRIES_(WORD, PAWL_TRACED_NO_HOLD_, U, R, PAWL_DO_(try_read_counted)(l));
    return value;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(drop_read_counted)(PAWL_LOCK_ *l)
{
    bool value;
    PAWL_DROPS_ANY_(WORD, R, (PAWL_DO_(drop_read_counted)(l), true));
    (void)value;
}

/* To the recorder it is a hold, as before the wait. */
PAWL_INLINE void PAWL_INNER_(take_read_back_)(PAWL_LOCK_ *l)
{
    bool value;
    PAWL_WAITS_(WORD, 0u, U, R, PAWL_DO_(try_read_counted)(l),
                PAWL_DO_(try_read_counted)(l) ||
                    PAWL_SLOW_(take_read_counted_ranked)(l, UINT64_MAX, PAWL_LOCK_SIGNALLED),
                true);
    (void)value;
}

PAWL_INLINE void PAWL_INNER_(take_write_back_)(PAWL_LOCK_ *l)
{
    bool value;
    PAWL_WAITS_(WORD, 0u, U, W, PAWL_DO_(try_write)(l),
                PAWL_DO_(try_write)(l) ||
                    PAWL_SLOW_(take_write_ranked)(l, UINT64_MAX, PAWL_LOCK_SIGNALLED),
                true);
    (void)value;
}

#endif

PAWL_INLINE_END
