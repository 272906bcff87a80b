/* SPDX-License-Identifier: MIT */
/*
 * The public names of the progressive lock around its bodies, included by word.inc.h and
 * lock_word.inc.h for each width. They are wrappers where callers are checked (the checking
 * variant), annotated (ThreadSanitizer) or recorded (PAWL_TRACED), what is nothing in release,
 * and two locks at once. Operations that come in families are made from transitions.def.
 */

#if PAWL_CHECKED

/* Compiled in src/lock/check_word.inc.h. The callers are inlined into the user's functions, so that
 * the return address is the user's. */
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

#if PAWL_TOLD_ || PAWL_TRACED_
#define PAWL_RUN_void_(name) (PAWL_BODY_(name)(l), true)
#define PAWL_RUN_bool_(name) PAWL_BODY_(name)(l)
#define PAWL_RUN_pawl_regained_(name) PAWL_BODY_(name)(l)
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE result PAWL_NAME_(name)(PAWL_LOCK_ * l)                                            \
    {                                                                                              \
        PAWL_TYPE_##result##_ value;                                                               \
        PAWL_FACE_##kind##_(name, from, to, PAWL_RUN_##result##_(name));                           \
        PAWL_RETURN_##result##_(value);                                                            \
    }
#include <pawl/detail/transitions.def>
#undef PAWL_RUN_void_
#undef PAWL_RUN_bool_
#undef PAWL_RUN_pawl_regained_
#endif

PAWL_INLINE void PAWL_NAME_(init)(PAWL_LOCK_ *l)
{
    PAWL_AT_(pawl_store_relaxed)(&l->word, 0);
    PAWL_MADE_(l);
}

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
#undef PAWL_STAY_
#undef PAWL_FORWARD_void_
#undef PAWL_FORWARD_VALUE_
#undef PAWL_FORWARD_bool_
#undef PAWL_FORWARD_pawl_regained_
