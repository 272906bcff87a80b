/* SPDX-License-Identifier: MIT */
/*
 * The public names of the progressive lock around its bodies, included by word.inc.h and
 * lock_word.inc.h for each width. They are wrappers where callers are checked (the checking
 * variant), annotated (ThreadSanitizer) or recorded (PAWL_TRACED), what is nothing in release,
 * and two locks at once. Operations that come in families are made from transitions.def.
 */

/* Whether an operation of this kind that returned `result` has changed the caller's state. */
#define PAWL_MOVED_try_(result) (result)
#define PAWL_MOVED_claim_(result) (result)
#define PAWL_MOVED_tells_(result) true

#if PAWL_CHECKED

/* Compiled in src/lock/check_word.c. The callers are inlined into the user's functions, so that the
 * return address is the user's. */
PAWL_INLINE_END
PAWL_C_BEGIN
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_API result PAWL_SLOW_(name)(PAWL_LOCK_ * l);
#include <pawl/detail/transitions.def>
PAWL_API void PAWL_SLOW_(init)(PAWL_LOCK_ *l);
PAWL_API void PAWL_SLOW_(destroy)(PAWL_LOCK_ *l);
PAWL_API void PAWL_SLOW_(assert_held)(const PAWL_LOCK_ *l, enum pawl_state state);
PAWL_C_END
PAWL_INLINE_BEGIN

/* Keeps the call before it from becoming a jump, which would return to the caller's caller. */
#define PAWL_STAY_() __asm__ __volatile__("")
#define PAWL_FORWARD_void_(call)                                                                   \
    (call);                                                                                        \
    PAWL_STAY_()
#define PAWL_FORWARD_VALUE_(type, call)                                                            \
    const type value = (call);                                                                     \
    PAWL_STAY_();                                                                                  \
    return value
#define PAWL_FORWARD_bool_(call) PAWL_FORWARD_VALUE_(bool, call)
#define PAWL_FORWARD_pawl_regained_(call) PAWL_FORWARD_VALUE_(pawl_regained, call)

#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ result PAWL_NAME_(name)(PAWL_LOCK_ * l)                        \
    {                                                                                              \
        PAWL_FORWARD_##result##_(PAWL_SLOW_(name)(l));                                             \
    }
#include <pawl/detail/transitions.def>

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(init)(PAWL_LOCK_ *l)
{
    PAWL_FORWARD_void_(PAWL_SLOW_(init)(l));
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(destroy)(PAWL_LOCK_ *l)
{
    PAWL_FORWARD_void_(PAWL_SLOW_(destroy)(l));
}

#define PAWL_ASSERT_HELD_(state, held)                                                             \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(assert_held_##state)(const PAWL_LOCK_ *l)      \
    {                                                                                              \
        PAWL_FORWARD_void_(PAWL_SLOW_(assert_held)(l, held));                                      \
    }

#else /* release, hook */

#if PAWL_TOLD_
#define PAWL_FACE_void_(name, kind, from, to)                                                      \
    PAWL_INLINE void PAWL_NAME_(name)(PAWL_LOCK_ * l)                                              \
    {                                                                                              \
        pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_##from);                           \
        PAWL_BODY_(name)(l);                                                                       \
        pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_##to, true);                        \
    }
#define PAWL_FACE_VALUE_(type, name, kind, from, to)                                               \
    PAWL_INLINE type PAWL_NAME_(name)(PAWL_LOCK_ * l)                                              \
    {                                                                                              \
        type value;                                                                                \
        pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_##from);                           \
        value = PAWL_BODY_(name)(l);                                                               \
        pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_##to, PAWL_MOVED_##kind##_(value)); \
        return value;                                                                              \
    }
#define PAWL_FACE_bool_(name, kind, from, to) PAWL_FACE_VALUE_(bool, name, kind, from, to)
#define PAWL_FACE_pawl_regained_(name, kind, from, to)                                             \
    PAWL_FACE_VALUE_(pawl_regained, name, kind, from, to)
#define PAWL_OP(result, name, kind, from, to, cost) PAWL_FACE_##result##_(name, kind, from, to)
#include <pawl/detail/transitions.def>
#undef PAWL_FACE_void_
#undef PAWL_FACE_VALUE_
#undef PAWL_FACE_bool_
#undef PAWL_FACE_pawl_regained_

#elif PAWL_TRACED_
#include <pawl/detail/traced_word.inc.h>
#endif

#if PAWL_TRACED_
PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(init)(PAWL_LOCK_ *l)
{
    PAWL_AT_(pawl_store_relaxed)(&l->word, 0);
    PAWL_TRACED_MADE_(l);
}
#else
PAWL_INLINE void PAWL_NAME_(init)(PAWL_LOCK_ *l)
{
    PAWL_AT_(pawl_store_relaxed)(&l->word, 0);
}
#endif

PAWL_INLINE void PAWL_NAME_(destroy)(PAWL_LOCK_ *l)
{
    (void)l;
}

#define PAWL_ASSERT_HELD_(state, held)                                                             \
    PAWL_INLINE void PAWL_NAME_(assert_held_##state)(const PAWL_LOCK_ *l)                          \
    {                                                                                              \
        (void)l;                                                                                   \
    }

#endif

PAWL_ASSERT_HELD_(read, PAWL_STATE_R)
PAWL_ASSERT_HELD_(seek, PAWL_STATE_S)
PAWL_ASSERT_HELD_(write, PAWL_STATE_W)
PAWL_ASSERT_HELD_(atomic, PAWL_STATE_A)

/* The lock at the lower address comes first, so two threads that name the locks in different order
 * do not wait for each other. */
#define PAWL_TWO_(state)                                                                           \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(take_two_##state)(PAWL_LOCK_ * a,              \
                                                                      PAWL_LOCK_ * b)              \
    {                                                                                              \
        PAWL_NAME_(take_##state)((uintptr_t)a < (uintptr_t)b ? a : b);                             \
        if (a != b)                                                                                \
            PAWL_NAME_(take_##state)((uintptr_t)a < (uintptr_t)b ? b : a);                         \
    }                                                                                              \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void PAWL_NAME_(drop_two_##state)(PAWL_LOCK_ * a,              \
                                                                      PAWL_LOCK_ * b)              \
    {                                                                                              \
        PAWL_NAME_(drop_##state)(a);                                                               \
        if (a != b)                                                                                \
            PAWL_NAME_(drop_##state)(b);                                                           \
    }

PAWL_TWO_(read)
PAWL_TWO_(seek)
PAWL_TWO_(write)

#undef PAWL_ASSERT_HELD_
#undef PAWL_TWO_
#undef PAWL_MOVED_tells_
#undef PAWL_MOVED_try_
#undef PAWL_MOVED_claim_
#undef PAWL_STAY_
#undef PAWL_FORWARD_void_
#undef PAWL_FORWARD_VALUE_
#undef PAWL_FORWARD_bool_
#undef PAWL_FORWARD_pawl_regained_
