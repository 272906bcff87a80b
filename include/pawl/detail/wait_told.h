/* SPDX-License-Identifier: MIT */
/*
 * Waits and wakes under a checker of races: they are hidden (told.h), and order nothing, as wait.h
 * promises. wait.h includes this file in builds for a checker.
 */
#include <pawl/wait.h> /* outside the guard: wait.h includes this file where it needs it */

#ifndef PAWL_WAIT_TOLD_H
#define PAWL_WAIT_TOLD_H
#if PAWL_TOLD_ && !PAWL_HOOKS

#include <pawl/detail/told.h>

PAWL_INLINE_BEGIN

#define PAWL_WAIT_TOLD_(result, name, object, parameters, arguments)                               \
    PAWL_INLINE result i##name##_told_ parameters                                                  \
    {                                                                                              \
        result value;                                                                              \
        ipawl_told_hide_(object);                                                                  \
        value = PAWL_SYMBOL_(name) arguments;                                                      \
        ipawl_told_show_(object);                                                                  \
        return value;                                                                              \
    }

PAWL_WAIT_TOLD_(enum pawl_waited, pawl_wait, address,
                (const void *address, uint32_t bits, uint64_t mask, uint64_t value_now,
                 uint64_t deadline),
                (address, bits, mask, value_now, deadline))
PAWL_WAIT_TOLD_(enum pawl_waited, pawl_wait_any, watches,
                (const struct pawl_watch *watches, uint32_t count, uint32_t *which,
                 uint64_t deadline),
                (watches, count, which, deadline))
PAWL_WAIT_TOLD_(unsigned, pawl_wake, address, (const void *address, uint64_t bits, unsigned count),
                (address, bits, count))
PAWL_WAIT_TOLD_(unsigned, pawl_requeue, from,
                (const void *from, const void *to, unsigned wake, unsigned move),
                (from, to, wake, move))
PAWL_WAIT_TOLD_(enum pawl_waited, pawl_wait_shared, address,
                (const uint32_t *address, uint32_t value_now, uint64_t deadline),
                (address, value_now, deadline))
PAWL_WAIT_TOLD_(unsigned, pawl_wake_shared, address, (const uint32_t *address, unsigned count),
                (address, count))

#undef PAWL_WAIT_TOLD_

PAWL_INLINE void ipawl_bitlock_wake_told_(const void *word, uint64_t bit)
{
    ipawl_told_hide_(word);
    PAWL_SYMBOL_(pawl_bitlock_wake)(word, bit);
    ipawl_told_show_(word);
}

PAWL_INLINE_END

#endif
#endif
