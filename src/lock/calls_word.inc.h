/* SPDX-License-Identifier: MIT */
/* The operations of one kind and width, for calls.c. */
#if PAWL_CHECKED
#include "check_word.inc.h"
#else
PAWL_C_BEGIN
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    PAWL_API result PAWL_SLOW_(name)(PAWL_LOCK_ * l);
#include <pawl/detail/transitions.def>
PAWL_C_END
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    result PAWL_SLOW_(name)(PAWL_LOCK_ * l)                                                        \
    {                                                                                              \
        CALLED_##result(PAWL_BODY_(name)(l));                                                      \
    }
#include <pawl/detail/transitions.def>
#endif
#undef PAWL_WORD_BITS
