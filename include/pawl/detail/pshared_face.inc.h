/* SPDX-License-Identifier: MIT */
/*
 * The public names of the lock for shared memory, included by pshared_word.inc.h for each width:
 * bodies with what ThreadSanitizer is told around them, and the C++ overloads. All are made from
 * transitions.def and until.def.
 */

#if PAWL_TSAN_
#define PAWL_BEFORE_(from) pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_##from)
#define PAWL_AFTER_(to, ok) pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_##to, ok)
#else
#define PAWL_BEFORE_(from) ((void)0)
#define PAWL_AFTER_(to, ok) ((void)(ok))
#endif

/* How a body is called that has a deadline, one that has none, and A -> R. */
#define PAWL_CALL_take_(name) PAWL_DO_(name)(l, UINT64_MAX)
#define PAWL_CALL_claim_(name) PAWL_DO_(name)(l, UINT64_MAX)
#define PAWL_CALL_try_(name) PAWL_DO_(name)(l)
#define PAWL_CALL_drop_(name) (PAWL_DO_(name)(l), true)
#define PAWL_CALL_tells_(name) PAWL_DO_(name)(l, UINT64_MAX, &kept)
/* The moves: one of them waits. */
#define PAWL_CALL_move_(name) PAWL_CALL_##name
#define PAWL_CALL_seek_to_write PAWL_DO_(seek_to_write)(l, UINT64_MAX)
#define PAWL_CALL_write_to_seek (PAWL_DO_(write_to_seek)(l), true)
#define PAWL_CALL_write_to_read (PAWL_DO_(write_to_read)(l), true)
#define PAWL_CALL_seek_to_read (PAWL_DO_(seek_to_read)(l), true)

#define PAWL_RESULT_void_(ok) (void)(ok)
#define PAWL_RESULT_bool_(ok) return ok

#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE result PAWL_NAME_(name)(PAWL_LOCK_ * l)                                            \
    {                                                                                              \
        bool kept = true, ok;                                                                      \
        PAWL_BEFORE_(from);                                                                        \
        ok = PAWL_CALL_##kind##_(name);                                                            \
        PAWL_AFTER_(to, ok);                                                                       \
        PAWL_RESULT_##result##_(ok && kept);                                                       \
    }
#include <pawl/detail/transitions.def>

#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                   \
    {                                                                                              \
        bool ok;                                                                                   \
        PAWL_BEFORE_(from);                                                                        \
        ok = PAWL_DO_(name)(l, deadline);                                                          \
        PAWL_AFTER_(to, ok);                                                                       \
        return ok;                                                                                 \
    }
#include <pawl/detail/until.def>

/* A -> R with a deadline. True: R is held, and *kept says what atomic_to_read returns. False: the
 * deadline has passed, and nothing is held: A was given up at once and cannot come back unasked. */
PAWL_INLINE bool PAWL_NAME_(atomic_to_read_until)(PAWL_LOCK_ *l, uint64_t deadline, bool *kept)
{
    bool ok;
    PAWL_BEFORE_(A);
    ok = PAWL_DO_(atomic_to_read)(l, deadline, kept);
    PAWL_AFTER_(R, ok);
    return ok;
}

#ifdef __cplusplus
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ result pawl_##name(PAWL_LOCK_ *l)                              \
    {                                                                                              \
        return PAWL_NAME_(name)(l);                                                                \
    }
#include <pawl/detail/transitions.def>
#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_##name##_until(PAWL_LOCK_ *l, uint64_t deadline)     \
    {                                                                                              \
        return PAWL_NAME_(name##_until)(l, deadline);                                              \
    }
#include <pawl/detail/until.def>
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_init(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(init)(l);
}
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_destroy(PAWL_LOCK_ *l)
{
    PAWL_NAME_(destroy)(l);
}
#endif

#undef PAWL_BEFORE_
#undef PAWL_AFTER_
#undef PAWL_CALL_take_
#undef PAWL_CALL_claim_
#undef PAWL_CALL_try_
#undef PAWL_CALL_drop_
#undef PAWL_CALL_tells_
#undef PAWL_CALL_move_
#undef PAWL_CALL_seek_to_write
#undef PAWL_CALL_write_to_seek
#undef PAWL_CALL_write_to_read
#undef PAWL_CALL_seek_to_read
#undef PAWL_RESULT_void_
#undef PAWL_RESULT_bool_
