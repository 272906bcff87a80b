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

/* Around an operation, for a checker of data races (tsan.h). */
#if PAWL_TOLD_
#define PAWL_COUNTED_BEGINS_(from) pawl_tsan_before_(&l->word, sizeof(l->word), from)
#define PAWL_COUNTED_ENDS_(to, moved) pawl_tsan_after_(&l->word, sizeof(l->word), to, moved)
#else
#define PAWL_COUNTED_BEGINS_(from) ((void)0)
#define PAWL_COUNTED_ENDS_(to, moved) ((void)(moved))
#endif

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
PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_read_back_)(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_read)(l);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_write_back_)(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_write)(l);
}

#elif PAWL_TRACED_

/* Another thread may drop it, so the recorder sees no hold. */
#define PAWL_TRACED_COUNTED_ (PAWL_TRACED_WHAT_(PAWL_TRACED_LOCK, U, R) | PAWL_TRACED_NO_HOLD_)

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_read_counted)(PAWL_LOCK_ *l)
{
    bool value;
    PAWL_TRACED_WAITS_(PAWL_TRACED_COUNTED_, PAWL_DO_(try_read_counted)(l), true,
                       PAWL_DO_(take_read_counted)(l, UINT64_MAX), true);
    (void)value;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_NAME_(take_read_counted_until)(PAWL_LOCK_ *l,
                                                                         uint64_t deadline)
{
    bool value;
    PAWL_TRACED_WAITS_(PAWL_TRACED_COUNTED_ | PAWL_TRACED_UNTIL_, PAWL_DO_(try_read_counted)(l),
                       true, PAWL_SLOW_(take_read_counted_until)(l, deadline), value);
    return value;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_NAME_(try_read_counted)(PAWL_LOCK_ *l)
{
    bool value;
    PAWL_TRACED_TRIES_(PAWL_TRACED_COUNTED_, PAWL_DO_(try_read_counted)(l));
    return value;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(drop_read_counted)(PAWL_LOCK_ *l)
{
    PAWL_DO_(drop_read_counted)(l);
}

/* To the recorder it is a hold, as before the wait. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_read_back_)(PAWL_LOCK_ *l)
{
    bool value;
    PAWL_TRACED_WAITS_(PAWL_TRACED_WHAT_(PAWL_TRACED_LOCK, U, R), PAWL_DO_(try_read_counted)(l),
                       true, PAWL_DO_(take_read_counted)(l, UINT64_MAX), true);
    (void)value;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_write_back_)(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_write)(l);
}

#undef PAWL_TRACED_COUNTED_

#else

PAWL_INLINE void PAWL_NAME_(take_read_counted)(PAWL_LOCK_ *l)
{
    PAWL_COUNTED_BEGINS_(PAWL_STATE_U);
    (void)PAWL_DO_(take_read_counted)(l, UINT64_MAX);
    PAWL_COUNTED_ENDS_(PAWL_STATE_R, true);
}

PAWL_INLINE bool PAWL_NAME_(take_read_counted_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    bool ok;
    PAWL_COUNTED_BEGINS_(PAWL_STATE_U);
    ok = PAWL_SLOW_(take_read_counted_until)(l, deadline);
    PAWL_COUNTED_ENDS_(PAWL_STATE_R, ok);
    return ok;
}

PAWL_INLINE bool PAWL_NAME_(try_read_counted)(PAWL_LOCK_ *l)
{
    bool ok;
    PAWL_COUNTED_BEGINS_(PAWL_STATE_U);
    ok = PAWL_DO_(try_read_counted)(l);
    PAWL_COUNTED_ENDS_(PAWL_STATE_R, ok);
    return ok;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(drop_read_counted)(PAWL_LOCK_ *l)
{
    PAWL_COUNTED_BEGINS_(PAWL_STATE_R);
    PAWL_DO_(drop_read_counted)(l);
    PAWL_COUNTED_ENDS_(PAWL_STATE_U, true);
}

PAWL_INLINE void PAWL_NAME_(take_read_back_)(PAWL_LOCK_ *l)
{
    PAWL_COUNTED_BEGINS_(PAWL_STATE_U);
    if (!PAWL_DO_(try_read_counted)(l))
        (void)PAWL_SLOW_(take_read_counted_ranked)(l, UINT64_MAX, PAWL_LOCK_SIGNALLED);
    PAWL_COUNTED_ENDS_(PAWL_STATE_R, true);
}

PAWL_INLINE void PAWL_NAME_(take_write_back_)(PAWL_LOCK_ *l)
{
    PAWL_COUNTED_BEGINS_(PAWL_STATE_U);
    if (!PAWL_DO_(try_write)(l))
        (void)PAWL_SLOW_(take_write_ranked)(l, UINT64_MAX, PAWL_LOCK_SIGNALLED);
    PAWL_COUNTED_ENDS_(PAWL_STATE_W, true);
}

#endif

PAWL_INLINE_END

#undef PAWL_COUNTED_BEGINS_
#undef PAWL_COUNTED_ENDS_
