/* SPDX-License-Identifier: MIT */
/*
 * Counters under a checker of races: their operations are hidden (told.h) and order nothing, as
 * counter.h promises. So a program that takes a counter for a lock is reported, whether or not the
 * library took a latch of its own. counter.h includes this file in builds for a checker, except
 * where the library itself is compiled.
 */
#include <pawl/counter.h> /* outside the guard: counter.h includes this file where it needs it */

#ifndef PAWL_COUNTER_TOLD_H
#define PAWL_COUNTER_TOLD_H
#if PAWL_TOLD_AROUND_

#include <pawl/detail/alphabet.h>
#include <pawl/detail/told.h>

PAWL_INLINE_BEGIN

/* A wrapper `name` around `call`. */
#define PAWL_COUNTER_TOLD_(type, result, name, parameters, call)                                   \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ result name parameters                                         \
    {                                                                                              \
        type value;                                                                                \
        ipawl_told_plain_(c, sizeof *c);                                                           \
        ipawl_told_hide_(c);                                                                       \
        value = call;                                                                              \
        ipawl_told_show_(c);                                                                       \
        PAWL_RETURN_##result##_(value);                                                            \
    }
#define PAWL_RETURN_int64_t_(value) return value
#define PAWL_COUNTER_CHANGE_(counter, verb, type)                                                  \
    PAWL_COUNTER_TOLD_(bool, void, counter##_told_##verb, (counter * c, type n),                   \
                       (counter##_##verb(c, n), true))
#define PAWL_COUNTER_STEP_(counter, verb)                                                          \
    PAWL_COUNTER_TOLD_(bool, void, counter##_told_##verb, (counter * c),                           \
                       (counter##_##verb(c), true))
#define PAWL_COUNTER_VALUE_(counter, verb, parameter)                                              \
    PAWL_COUNTER_TOLD_(int64_t, int64_t, counter##_##verb, (parameter * c),                        \
                       PAWL_SYMBOL_(counter##_##verb)(c))

PAWL_COUNTER_CHANGE_(pawl_counter, add, int64_t)
PAWL_COUNTER_CHANGE_(pawl_counter, add_in_handler, int64_t)
PAWL_COUNTER_CHANGE_(pawl_counter, sub, int64_t)
PAWL_COUNTER_CHANGE_(pawl_cpu_counter, add, int64_t)
PAWL_COUNTER_CHANGE_(pawl_cpu_counter, sub, int64_t)
PAWL_COUNTER_CHANGE_(pawl_counter_exact, add, int64_t)
PAWL_COUNTER_CHANGE_(pawl_counter_exact, sub, int64_t)
PAWL_COUNTER_CHANGE_(pawl_counter_limit, sub, uint64_t)
PAWL_COUNTER_STEP_(pawl_counter, inc)
PAWL_COUNTER_STEP_(pawl_counter, dec)
PAWL_COUNTER_STEP_(pawl_cpu_counter, inc)
PAWL_COUNTER_STEP_(pawl_cpu_counter, dec)
PAWL_COUNTER_VALUE_(pawl_counter, read, const pawl_counter)
PAWL_COUNTER_VALUE_(pawl_counter, destroy, pawl_counter)
PAWL_COUNTER_VALUE_(pawl_cpu_counter, read, const pawl_cpu_counter)
PAWL_COUNTER_VALUE_(pawl_cpu_counter, destroy, pawl_cpu_counter)
PAWL_COUNTER_VALUE_(pawl_counter_exact, read, pawl_counter_exact)
PAWL_COUNTER_VALUE_(pawl_counter_exact, destroy, pawl_counter_exact)
PAWL_COUNTER_VALUE_(pawl_counter_limit, read, pawl_counter_limit)
PAWL_COUNTER_VALUE_(pawl_counter_limit, destroy, pawl_counter_limit)

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_counter_limit_told_try_add(pawl_counter_limit *c,
                                                                     uint64_t n)
{
    bool fits;
    ipawl_told_plain_(c, sizeof *c);
    ipawl_told_hide_(c);
    fits = pawl_counter_limit_try_add(c, n);
    ipawl_told_show_(c);
    return fits;
}

#undef PAWL_COUNTER_TOLD_
#undef PAWL_RETURN_int64_t_
#undef PAWL_COUNTER_CHANGE_
#undef PAWL_COUNTER_STEP_
#undef PAWL_COUNTER_VALUE_

PAWL_INLINE_END

#define pawl_counter_add pawl_counter_told_add
#define pawl_counter_add_in_handler pawl_counter_told_add_in_handler
#define pawl_counter_sub pawl_counter_told_sub
#define pawl_cpu_counter_add pawl_cpu_counter_told_add
#define pawl_cpu_counter_sub pawl_cpu_counter_told_sub
#define pawl_counter_exact_add pawl_counter_exact_told_add
#define pawl_counter_exact_sub pawl_counter_exact_told_sub
#define pawl_counter_limit_sub pawl_counter_limit_told_sub
#define pawl_counter_inc pawl_counter_told_inc
#define pawl_counter_dec pawl_counter_told_dec
#define pawl_cpu_counter_inc pawl_cpu_counter_told_inc
#define pawl_cpu_counter_dec pawl_cpu_counter_told_dec
#define pawl_counter_limit_try_add pawl_counter_limit_told_try_add

#endif
#endif
