/* SPDX-License-Identifier: MIT */
/*
 * The public names of the lock for shared memory, included by pshared_word.inc.h for each width:
 * bodies, and around them what ThreadSanitizer or the recorder is told. All are made from
 * transitions.def and until.def.
 */

#if PAWL_TRACED_

#include <pawl/detail/traced_word.inc.h>
#define PAWL_UNTIL(name, from, to) PAWL_TRACED_DEADLINE_(name, from, to)
#include <pawl/detail/until.def>

PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_regained PAWL_NAME_(atomic_to_read_until)(PAWL_LOCK_ *l,
                                                                               uint64_t deadline)
{
    pawl_regained value;
    PAWL_TRACED_REGAINS_(PAWL_DO_(atomic_to_read)(l, deadline));
    return value;
}

#else

#if PAWL_TOLD_
#define PAWL_BEFORE_(from) pawl_tsan_before_(&l->word, sizeof(l->word), PAWL_STATE_##from)
#define PAWL_AFTER_(to, ok) pawl_tsan_after_(&l->word, sizeof(l->word), PAWL_STATE_##to, ok)
#else
#define PAWL_BEFORE_(from) ((void)0)
#define PAWL_AFTER_(to, ok) ((void)(ok))
#endif

/* The type of what a body returns, and whether the state changed. */
#define PAWL_TYPE_void_ bool
#define PAWL_TYPE_bool_ bool
#define PAWL_TYPE_pawl_regained_ pawl_regained
#define PAWL_MOVED_void_(value) (value)
#define PAWL_MOVED_bool_(value) (value)
#define PAWL_MOVED_pawl_regained_(value) ((value) != PAWL_REGAIN_TIMED_OUT)

#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE result PAWL_NAME_(name)(PAWL_LOCK_ * l)                                            \
    {                                                                                              \
        PAWL_TYPE_##result##_ value;                                                               \
        PAWL_BEFORE_(from);                                                                        \
        value = PAWL_CALL_##kind##_(name, UINT64_MAX);                                             \
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
#undef PAWL_TYPE_void_
#undef PAWL_TYPE_bool_
#undef PAWL_TYPE_pawl_regained_
#undef PAWL_MOVED_void_
#undef PAWL_MOVED_bool_
#undef PAWL_MOVED_pawl_regained_
#undef PAWL_WITH_DEADLINE_

#endif
