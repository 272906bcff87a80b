/* SPDX-License-Identifier: MIT */
/*
 * The public names of the progressive lock in a program that defines PAWL_TRACED: each operation
 * tells the recorder (traced.h). word_face.inc.h and pshared_face.inc.h include this file for each
 * width; lock_until.inc.h goes on with what it has defined.
 */

/* From the inclusion before, for another kind. */
#undef PAWL_TRACED_BODY_
#undef PAWL_TRACED_RUN_void_
#undef PAWL_TRACED_RUN_bool_
#undef PAWL_TRACED_RUN_pawl_regained_
#undef PAWL_TRACED_RUN_UNTIL_

#if PAWL_WORD_KIND == PAWL_KIND_PSHARED_
#define PAWL_TRACED_BODY_(verb) PAWL_DO_(verb)
#define PAWL_TRACED_RUN_void_(kind, name) PAWL_CALL_##kind##_(name, UINT64_MAX)
#define PAWL_TRACED_RUN_bool_(kind, name) PAWL_CALL_##kind##_(name, UINT64_MAX)
#define PAWL_TRACED_RUN_pawl_regained_(kind, name) PAWL_CALL_##kind##_(name, UINT64_MAX)
#define PAWL_TRACED_RUN_UNTIL_(name) PAWL_DO_(name)(l, deadline)
#else
#define PAWL_TRACED_BODY_(verb) PAWL_BODY_(verb)
#define PAWL_TRACED_RUN_void_(kind, name) (PAWL_BODY_(name)(l), true)
#define PAWL_TRACED_RUN_bool_(kind, name) PAWL_BODY_(name)(l)
#define PAWL_TRACED_RUN_pawl_regained_(kind, name) PAWL_BODY_(name)(l)
#define PAWL_TRACED_RUN_UNTIL_(name) PAWL_SLOW_(name##_until)(l, deadline)
#endif
#define PAWL_TRACED_OF_(from, to) PAWL_TRACED_WHAT_(PAWL_CAT_(PAWL_WORD_KIND, u), from, to)
#define PAWL_TRACED_FIRST_(name) PAWL_TRACED_BODY_(PAWL_FIRST_##name)(l)

#define PAWL_TRACED_HEAD_(result, name)                                                            \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ result PAWL_NAME_(name)(PAWL_LOCK_ * l)

/* Of each kind of operation. */
#define PAWL_TRACED_take_(result, name, from, to)                                                  \
    PAWL_TRACED_HEAD_(result, name)                                                                \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_WAITS_(PAWL_TRACED_OF_(from, to), PAWL_TRACED_FIRST_(name), true,              \
                           PAWL_TRACED_RUN_void_(take, name), true);                               \
        (void)value;                                                                               \
    }
#define PAWL_TRACED_claim_(result, name, from, to)                                                 \
    PAWL_TRACED_HEAD_(result, name)                                                                \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_WAITS_(PAWL_TRACED_OF_(from, to), PAWL_TRACED_FIRST_(name), true,              \
                           PAWL_TRACED_RUN_bool_(claim, name), value);                             \
        return value;                                                                              \
    }
#define PAWL_TRACED_try_(result, name, from, to)                                                   \
    PAWL_TRACED_HEAD_(result, name)                                                                \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_TRIES_(PAWL_TRACED_OF_(from, to), PAWL_TRACED_RUN_bool_(try, name));           \
        return value;                                                                              \
    }
#define PAWL_TRACED_drop_(result, name, from, to)                                                  \
    PAWL_TRACED_HEAD_(result, name)                                                                \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_DROPS_(PAWL_TRACED_RUN_void_(drop, name));                                     \
        (void)value;                                                                               \
    }
/* Of the moves one may wait. */
#define PAWL_TRACED_move_(result, name, from, to) PAWL_TRACED_##name(result, name, from, to)
#define PAWL_TRACED_seek_to_write(result, name, from, to)                                          \
    PAWL_TRACED_HEAD_(result, name)                                                                \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_WAITS_(PAWL_TRACED_OF_(from, to), PAWL_TRACED_FIRST_(name), true,              \
                           PAWL_TRACED_RUN_void_(move, name), true);                               \
        (void)value;                                                                               \
    }
#define PAWL_TRACED_DOWN_(result, name, from, to)                                                  \
    PAWL_TRACED_HEAD_(result, name)                                                                \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_MOVES_(PAWL_TRACED_OF_(from, to), PAWL_TRACED_RUN_void_(move, name));          \
        (void)value;                                                                               \
    }
#define PAWL_TRACED_write_to_seek PAWL_TRACED_DOWN_
#define PAWL_TRACED_write_to_read PAWL_TRACED_DOWN_
#define PAWL_TRACED_seek_to_read PAWL_TRACED_DOWN_

/* A -> R waits for other atomic users only. Once the deadline has passed the caller has nothing. */
#define PAWL_TRACED_REGAINS_(call)                                                                 \
    do {                                                                                           \
        const bool alone = PAWL_IS_(writers)(PAWL_AT_(pawl_load_relaxed)(&l->word)) == PAWL_W_;    \
        struct pawl_trace_wait_ told_;                                                             \
        if (pawl_trace_asks_ && !alone)                                                            \
            pawl_trace_asks_(l, PAWL_TRACED_OF_(A, R), &told_);                                    \
        value = (call);                                                                            \
        if (pawl_trace_asks_ && alone)                                                             \
            pawl_trace_done_(l, PAWL_TRACED_OF_(A, R), value != PAWL_REGAIN_TIMED_OUT);            \
        else if (pawl_trace_asks_)                                                                 \
            pawl_trace_got_(&told_, value != PAWL_REGAIN_TIMED_OUT);                               \
        if (pawl_trace_asks_ && value == PAWL_REGAIN_TIMED_OUT)                                    \
            pawl_trace_drops_(l);                                                                  \
        PAWL_TRACED_STAY_();                                                                       \
    } while (0)
#define PAWL_TRACED_tells_(result, name, from, to)                                                 \
    PAWL_TRACED_HEAD_(result, name)                                                                \
    {                                                                                              \
        pawl_regained value;                                                                       \
        PAWL_TRACED_REGAINS_(PAWL_TRACED_RUN_pawl_regained_(tells, name));                         \
        return value;                                                                              \
    }

#define PAWL_OP(result, name, kind, from, to, cost) PAWL_TRACED_##kind##_(result, name, from, to)
#include <pawl/detail/transitions.def>

/* With a deadline; lock_until.inc.h uses it for lock.h. */
#define PAWL_TRACED_DEADLINE_(name, from, to)                                                      \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l,                  \
                                                                  uint64_t deadline)               \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_WAITS_(PAWL_TRACED_OF_(from, to) | PAWL_TRACED_UNTIL_,                         \
                           PAWL_TRACED_FIRST_(name), true, PAWL_TRACED_RUN_UNTIL_(name), value);   \
        return value;                                                                              \
    }
