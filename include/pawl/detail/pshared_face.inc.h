/* SPDX-License-Identifier: MIT */
/*
 * The public names of the lock for shared memory, included by pshared_word.inc.h for each width:
 * bodies, and around them what ThreadSanitizer is told. All are made from transitions.def and
 * until.def.
 */

#if PAWL_TSAN_
#define PAWL_BEFORE_(from) pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_##from)
#define PAWL_AFTER_(to, ok) pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_##to, ok)
#else
#define PAWL_BEFORE_(from) ((void)0)
#define PAWL_AFTER_(to, ok) ((void)(ok))
#endif

/* How the body of an operation of a kind is called: with a deadline, or without. */
#define PAWL_CALL_take_(name) PAWL_DO_(name)(l, UINT64_MAX)
#define PAWL_CALL_claim_(name) PAWL_DO_(name)(l, UINT64_MAX)
#define PAWL_CALL_try_(name) PAWL_DO_(name)(l)
#define PAWL_CALL_drop_(name) (PAWL_DO_(name)(l), true)
#define PAWL_CALL_tells_(name) PAWL_DO_(name)(l, UINT64_MAX)
/* The moves: one of them waits. */
#define PAWL_CALL_move_(name) PAWL_CALL_##name
#define PAWL_CALL_seek_to_write PAWL_DO_(seek_to_write)(l, UINT64_MAX)
#define PAWL_CALL_write_to_seek (PAWL_DO_(write_to_seek)(l), true)
#define PAWL_CALL_write_to_read (PAWL_DO_(write_to_read)(l), true)
#define PAWL_CALL_seek_to_read (PAWL_DO_(seek_to_read)(l), true)

/* The type of what a body returns, what the operation returns of it, whether the state changed. */
#define PAWL_TYPE_void_ bool
#define PAWL_TYPE_bool_ bool
#define PAWL_TYPE_pawl_regained_ pawl_regained
#define PAWL_RETURN_void_(value) (void)(value)
#define PAWL_RETURN_bool_(value) return value
#define PAWL_RETURN_pawl_regained_(value) return value
#define PAWL_MOVED_void_(value) (value)
#define PAWL_MOVED_bool_(value) (value)
#define PAWL_MOVED_pawl_regained_(value) ((value) != PAWL_REGAIN_TIMED_OUT)

#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE result PAWL_NAME_(name)(PAWL_LOCK_ * l)                                            \
    {                                                                                              \
        PAWL_TYPE_##result##_ value;                                                               \
        PAWL_BEFORE_(from);                                                                        \
        value = PAWL_CALL_##kind##_(name);                                                         \
        PAWL_AFTER_(to, PAWL_MOVED_##result##_(value));                                            \
        PAWL_RETURN_##result##_(value);                                                            \
    }
#include <pawl/detail/transitions.def>

#define PAWL_WITH_DEADLINE_(result, name, from, to)                                                \
    PAWL_INLINE result PAWL_NAME_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                 \
    {                                                                                              \
        result value;                                                                              \
        PAWL_BEFORE_(from);                                                                        \
        value = PAWL_DO_(name)(l, deadline);                                                       \
        PAWL_AFTER_(to, PAWL_MOVED_##result##_(value));                                            \
        return value;                                                                              \
    }
#define PAWL_UNTIL(name, from, to) PAWL_WITH_DEADLINE_(bool, name, from, to)
#include <pawl/detail/until.def>
PAWL_WITH_DEADLINE_(pawl_regained, atomic_to_read, A, R)

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
#undef PAWL_TYPE_void_
#undef PAWL_TYPE_bool_
#undef PAWL_TYPE_pawl_regained_
#undef PAWL_RETURN_void_
#undef PAWL_RETURN_bool_
#undef PAWL_RETURN_pawl_regained_
#undef PAWL_MOVED_void_
#undef PAWL_MOVED_bool_
#undef PAWL_MOVED_pawl_regained_
#undef PAWL_WITH_DEADLINE_
