/* SPDX-License-Identifier: MIT */
/*
 * The face of the progressive spinlock beside its bodies, included by word.inc.h for each width:
 * the public names where callers are checked (the checking variant) or annotated (ThreadSanitizer),
 * what is nothing in release, two locks at once, and the C++ overloads. All operations that come in
 * families are made from transitions.def.
 */

/* Whether an operation of this kind that returned `ok` has changed the caller's state. */
#define PAWL_MOVED_take_(ok) true
#define PAWL_MOVED_drop_(ok) true
#define PAWL_MOVED_move_(ok) true
#define PAWL_MOVED_tells_(ok) true
#define PAWL_MOVED_try_(ok) (ok)
#define PAWL_MOVED_claim_(ok) (ok)

#if PAWL_CHECKED

/* Compiled in src/lock/check_word.c; inlined so far that the return address is the caller's. */
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
#define PAWL_FORWARD_bool_(call)                                                                   \
    const bool ok = (call);                                                                        \
    PAWL_STAY_();                                                                                  \
    return ok

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

#if PAWL_TSAN_
#define PAWL_FACE_void_(name, kind, from, to)                                                      \
    PAWL_INLINE void PAWL_NAME_(name)(PAWL_LOCK_ * l)                                              \
    {                                                                                              \
        pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_##from);                           \
        PAWL_BODY_(name)(l);                                                                       \
        pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_##to, true);                        \
    }
#define PAWL_FACE_bool_(name, kind, from, to)                                                      \
    PAWL_INLINE bool PAWL_NAME_(name)(PAWL_LOCK_ * l)                                              \
    {                                                                                              \
        bool ok;                                                                                   \
        pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_##from);                           \
        ok = PAWL_BODY_(name)(l);                                                                  \
        pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_##to, PAWL_MOVED_##kind##_(ok));    \
        return ok;                                                                                 \
    }
#define PAWL_OP(result, name, kind, from, to, cost) PAWL_FACE_##result##_(name, kind, from, to)
#include <pawl/detail/transitions.def>
#undef PAWL_FACE_void_
#undef PAWL_FACE_bool_
#endif

PAWL_INLINE void PAWL_NAME_(init)(PAWL_LOCK_ *l)
{
    PAWL_AT_(pawl_store_relaxed)(&l->word, 0);
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

/* Two locks at once, always the one at the lower address first, so that two threads that name them
 * in different order do not wait for each other. The same lock twice is taken once. */
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

#ifdef __cplusplus
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ result pawl_##name(PAWL_LOCK_ *l)                              \
    {                                                                                              \
        return PAWL_NAME_(name)(l);                                                                \
    }
#include <pawl/detail/transitions.def>

#define PAWL_OVER_ONE_(result, name, type)                                                         \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ result pawl_##name(type *l)                                    \
    {                                                                                              \
        return PAWL_NAME_(name)(l);                                                                \
    }
PAWL_OVER_ONE_(void, init, PAWL_LOCK_)
PAWL_OVER_ONE_(void, destroy, PAWL_LOCK_)
#if !PAWL_WORD_SLEEPS
PAWL_OVER_ONE_(PAWL_WORD_, bits, const PAWL_LOCK_)
#endif
PAWL_OVER_ONE_(void, assert_held_read, const PAWL_LOCK_)
PAWL_OVER_ONE_(void, assert_held_seek, const PAWL_LOCK_)
PAWL_OVER_ONE_(void, assert_held_write, const PAWL_LOCK_)
PAWL_OVER_ONE_(void, assert_held_atomic, const PAWL_LOCK_)
#undef PAWL_OVER_ONE_

#define PAWL_OVER_TWO_(result, name, type)                                                         \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ result pawl_##name(PAWL_LOCK_ *l, type other)                  \
    {                                                                                              \
        return PAWL_NAME_(name)(l, other);                                                         \
    }
PAWL_OVER_TWO_(void, take_two_read, PAWL_LOCK_ *)
PAWL_OVER_TWO_(void, take_two_seek, PAWL_LOCK_ *)
PAWL_OVER_TWO_(void, take_two_write, PAWL_LOCK_ *)
PAWL_OVER_TWO_(void, drop_two_read, PAWL_LOCK_ *)
PAWL_OVER_TWO_(void, drop_two_seek, PAWL_LOCK_ *)
PAWL_OVER_TWO_(void, drop_two_write, PAWL_LOCK_ *)
#if !PAWL_WORD_SLEEPS
PAWL_OVER_TWO_(PAWL_WORD_, set_bits, PAWL_WORD_)
PAWL_OVER_TWO_(PAWL_WORD_, clear_bits, PAWL_WORD_)
#endif
#undef PAWL_OVER_TWO_
#endif

#undef PAWL_ASSERT_HELD_
#undef PAWL_TWO_
#undef PAWL_MOVED_take_
#undef PAWL_MOVED_drop_
#undef PAWL_MOVED_move_
#undef PAWL_MOVED_tells_
#undef PAWL_MOVED_try_
#undef PAWL_MOVED_claim_
#undef PAWL_STAY_
#undef PAWL_FORWARD_void_
#undef PAWL_FORWARD_bool_
