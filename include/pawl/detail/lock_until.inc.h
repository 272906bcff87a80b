/* SPDX-License-Identifier: MIT */
/*
 * The operations with a deadline of one width, included by lock.h after word.inc.h. They are
 * compiled (src/lock/lock_word.inc.h): who passes a deadline expects to wait.
 */
#define PAWL_LOCK_ PAWL_CAT_(pawl_lock, PAWL_WORD_BITS)
#define PAWL_NAME_(verb) PAWL_CAT_(PAWL_LOCK_, _##verb)
#define PAWL_SLOW_(verb) PAWL_SYMBOL_(PAWL_NAME_(verb))

PAWL_C_BEGIN
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_API bool PAWL_SLOW_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline);
#include <pawl/detail/until.def>
PAWL_API enum pawl_regained PAWL_SLOW_(atomic_to_read_until)(PAWL_LOCK_ *l, uint64_t deadline);
#if PAWL_CHECKED
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_API bool PAWL_SLOW_(name##_until_checked)(PAWL_LOCK_ * l, uint64_t deadline);
#include <pawl/detail/until.def>
PAWL_API enum pawl_regained PAWL_SLOW_(atomic_to_read_until_checked)(PAWL_LOCK_ *l,
                                                                     uint64_t deadline);
#endif
PAWL_C_END

PAWL_INLINE_BEGIN

/* As the operation of the same name without _until, but false once the deadline has passed: then
 * the caller holds what it held before. Acquire when true. */
#if PAWL_CHECKED
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l,                  \
                                                                  uint64_t deadline)               \
    {                                                                                              \
        const bool ok = PAWL_SLOW_(name##_until_checked)(l, deadline);                             \
        __asm__ __volatile__(""); /* a call, not a jump: the return address is the caller's */     \
        return ok;                                                                                 \
    }
#elif PAWL_TSAN_
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                   \
    {                                                                                              \
        bool ok;                                                                                   \
        pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_##from);                           \
        ok = PAWL_SLOW_(name##_until)(l, deadline);                                                \
        pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_##to, ok);                          \
        return ok;                                                                                 \
    }
#else
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                   \
    {                                                                                              \
        return PAWL_SLOW_(name##_until)(l, deadline);                                              \
    }
#endif
#include <pawl/detail/until.def>

/* A -> R with a deadline. Acquire, release. When the deadline has passed nothing is held: a waiter
 * has given A up already, and cannot have it back without asking. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ enum pawl_regained
PAWL_NAME_(atomic_to_read_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
#if PAWL_CHECKED
    const enum pawl_regained how = PAWL_SLOW_(atomic_to_read_until_checked)(l, deadline);
    __asm__ __volatile__("");
#elif PAWL_TSAN_
    enum pawl_regained how;
    pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_A);
    how = PAWL_SLOW_(atomic_to_read_until)(l, deadline);
    pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_R, how != PAWL_REGAIN_TIMED_OUT);
#else
    const enum pawl_regained how = PAWL_SLOW_(atomic_to_read_until)(l, deadline);
#endif
    return how;
}

#ifdef __cplusplus
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_##name##_until(PAWL_LOCK_ *l, uint64_t deadline)     \
    {                                                                                              \
        return PAWL_NAME_(name##_until)(l, deadline);                                              \
    }
#include <pawl/detail/until.def>
PAWL_INLINE PAWL_ALWAYS_INLINE_ enum pawl_regained pawl_atomic_to_read_until(PAWL_LOCK_ *l,
                                                                             uint64_t deadline)
{
    return PAWL_NAME_(atomic_to_read_until)(l, deadline);
}
#endif

PAWL_INLINE_END

#undef PAWL_LOCK_
#undef PAWL_NAME_
#undef PAWL_SLOW_
