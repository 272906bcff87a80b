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
#else
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                   \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_FACE_WAITS_(PAWL_TRACED_UNTIL_, name, from, to,                                       \
                         PAWL_SLOW_(name##_until)(l, deadline));                                   \
        return value;                                                                              \
    }
#endif
#include <pawl/detail/until.def>

/* A -> R, which returns more than a bool. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_regained PAWL_NAME_(atomic_to_read_until)(PAWL_LOCK_ *l,
                                                                               uint64_t deadline)
{
    pawl_regained value;
#if PAWL_CHECKED
    value = PAWL_SLOW_(atomic_to_read_until_checked)(l, deadline);
    __asm__ __volatile__("");
#else
    PAWL_REGAINS_(PAWL_SLOW_(atomic_to_read_until)(l, deadline));
#endif
    return value;
}

PAWL_INLINE_END
