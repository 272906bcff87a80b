/* SPDX-License-Identifier: MIT */
/* The operations of one kind and width as compiled functions, for programs that define PAWL_SMALL;
 * spin16_small.c and its like include this file. */
#if !PAWL_CHECKED && !PAWL_HOOKS

#define SMALL_void(call) (call)
#define SMALL_bool(call) return (call)
#define SMALL_pawl_regained(call) return (call)
PAWL_C_BEGIN
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_API result PAWL_SLOW_(name)(PAWL_LOCK_ * l);
#include <pawl/detail/transitions.def>
PAWL_C_END
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    result PAWL_SLOW_(name)(PAWL_LOCK_ * l)                                                        \
    {                                                                                              \
        SMALL_##result(PAWL_BODY_(name)(l));                                                       \
    }
#include <pawl/detail/transitions.def>
#undef SMALL_void
#undef SMALL_bool
#undef SMALL_pawl_regained

#endif
