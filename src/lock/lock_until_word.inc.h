/* SPDX-License-Identifier: MIT */
/* The operations with a deadline for one width; lock_until.c includes this file. */

#define PAWL_UNTIL(name, from, to)                                                                 \
    bool PAWL_SLOW_(name##_until)(PAWL_LOCK_ * l, uint64_t deadline)                               \
    {                                                                                              \
        return PAWL_INNER_(do_##name##_)(l, deadline);                                             \
    }
#include <pawl/detail/until.def>

bool PAWL_SLOW_(take_read_counted_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_INNER_(do_take_read_counted_)(l, deadline);
}

pawl_regained PAWL_SLOW_(atomic_to_read_until)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_INNER_(do_atomic_to_read_)(l, deadline);
}

#undef PAWL_WORD_BITS
