/* SPDX-License-Identifier: MIT */
/*
 * The public names of the lock for shared memory, included by pshared_word.inc.h for each width:
 * bodies, and around them what is told (around.h). All are made from transitions.def and until.def.
 */
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_INLINE result PAWL_NAME_(name)(PAWL_LOCK_ * l)                                            \
    {                                                                                              \
        PAWL_TYPE_##result##_ value;                                                               \
        PAWL_FACE_##kind##_(name, from, to, PAWL_CALL_##kind##_(name, UINT64_MAX));                \
        PAWL_RETURN_##result##_(value);                                                            \
    }
#include <pawl/detail/transitions.def>

#define PAWL_UNTIL(name, from, to)                                                                 \
    PAWL_INLINE bool PAWL_NAME_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                   \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_FACE_WAITS_(PAWL_TRACED_UNTIL_, name, from, to, PAWL_DO_(name)(l, deadline));         \
        return value;                                                                              \
    }
#include <pawl/detail/until.def>

PAWL_INLINE pawl_regained PAWL_NAME_(atomic_to_read_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    pawl_regained value;
    PAWL_REGAINS_(PAWL_DO_(atomic_to_read)(l, deadline));
    return value;
}
