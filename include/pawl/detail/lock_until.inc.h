/* SPDX-License-Identifier: MIT */
/*
 * The operations with a deadline of one width, included by lock.h after lock_word.inc.h. They are
 * compiled (src/lock/lock_until_word.inc.h): a caller that passes a deadline expects to wait.
 */

PAWL_C_BEGIN
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_API bool PAWL_SLOW_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline);
#include <pawl/detail/until.def>
PAWL_API pawl_regained PAWL_SLOW_(atomic_to_read_until)(PAWL_LOCK_ *l, uint64_t deadline);
#if PAWL_CHECKED
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_API bool PAWL_SLOW_(name##_until_checked)(PAWL_LOCK_ * l, uint64_t deadline);
#include <pawl/detail/until.def>
PAWL_API pawl_regained PAWL_SLOW_(atomic_to_read_until_checked)(PAWL_LOCK_ *l, uint64_t deadline);
#endif
PAWL_C_END

PAWL_INLINE_BEGIN

#if PAWL_CHECKED
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l,                  \
                                                                  uint64_t deadline)               \
    {                                                                                              \
        const bool ok = PAWL_SLOW_(name##_until_checked)(l, deadline);                             \
        __asm__ __volatile__(""); /* a call, not a jump: the return address is the caller's */     \
        return ok;                                                                                 \
    }
#elif PAWL_TOLD_
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                   \
    {                                                                                              \
        bool ok;                                                                                   \
        pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_##from);                           \
        ok = PAWL_SLOW_(name##_until)(l, deadline);                                                \
        pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_##to, ok);                          \
        return ok;                                                                                 \
    }
#elif PAWL_TRACED_
#define PAWL_UNTIL(name, from, to) PAWL_TRACED_DEADLINE_(name, from, to)
#else
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                   \
    {                                                                                              \
        return PAWL_SLOW_(name##_until)(l, deadline);                                              \
    }
#endif
#include <pawl/detail/until.def>

/* A -> R, which returns more than a bool. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_regained PAWL_NAME_(atomic_to_read_until)(PAWL_LOCK_ *l,
                                                                               uint64_t deadline)
{
#if PAWL_CHECKED
    const pawl_regained how = PAWL_SLOW_(atomic_to_read_until_checked)(l, deadline);
    __asm__ __volatile__("");
#elif PAWL_TOLD_
    pawl_regained how;
    pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_A);
    how = PAWL_SLOW_(atomic_to_read_until)(l, deadline);
    pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_R, how != PAWL_REGAIN_TIMED_OUT);
#elif PAWL_TRACED_
    pawl_regained value;
    PAWL_TRACED_REGAINS_(PAWL_SLOW_(atomic_to_read_until)(l, deadline));
    const pawl_regained how = value;
#else
    const pawl_regained how = PAWL_SLOW_(atomic_to_read_until)(l, deadline);
#endif
    return how;
}

PAWL_INLINE_END
