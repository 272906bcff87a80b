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
#if PAWL_TOLD_ && !PAWL_HOOKS && !defined(PAWL_COMPILED_)

#include <pawl/detail/told.h>

PAWL_INLINE_BEGIN

/* (type, verb, argument) without a result; (type, verb) with the value as result. */
#define PAWL_COUNTER_CHANGE_(type, verb, argument)                                                 \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void type##_told_##verb(type *c, argument n)                   \
    {                                                                                              \
        pawl_told_plain_(c, sizeof *c);                                                            \
        pawl_told_hide_(c);                                                                        \
        type##_##verb(c, n);                                                                       \
        pawl_told_show_(c);                                                                        \
    }
#define PAWL_COUNTER_STEP_(type, verb)                                                             \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void type##_told_##verb(type *c)                               \
    {                                                                                              \
        pawl_told_plain_(c, sizeof *c);                                                            \
        pawl_told_hide_(c);                                                                        \
        type##_##verb(c);                                                                          \
        pawl_told_show_(c);                                                                        \
    }
#define PAWL_COUNTER_VALUE_(type, verb, constant)                                                  \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ int64_t type##_told_##verb(constant type *c)                   \
    {                                                                                              \
        int64_t value;                                                                             \
        pawl_told_plain_(c, sizeof *c);                                                            \
        pawl_told_hide_(c);                                                                        \
        value = type##_##verb(c);                                                                  \
        pawl_told_show_(c);                                                                        \
        return value;                                                                              \
    }
#define PAWL_COUNTER_EMPTY_

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
PAWL_COUNTER_VALUE_(pawl_counter, read, const)
PAWL_COUNTER_VALUE_(pawl_counter, destroy, PAWL_COUNTER_EMPTY_)
PAWL_COUNTER_VALUE_(pawl_cpu_counter, read, const)
PAWL_COUNTER_VALUE_(pawl_cpu_counter, destroy, PAWL_COUNTER_EMPTY_)
PAWL_COUNTER_VALUE_(pawl_counter_exact, read, PAWL_COUNTER_EMPTY_)
PAWL_COUNTER_VALUE_(pawl_counter_exact, destroy, PAWL_COUNTER_EMPTY_)
PAWL_COUNTER_VALUE_(pawl_counter_limit, read, PAWL_COUNTER_EMPTY_)
PAWL_COUNTER_VALUE_(pawl_counter_limit, destroy, PAWL_COUNTER_EMPTY_)
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_counter_limit_told_try_add(pawl_counter_limit *c,
                                                                     uint64_t n)
{
    bool fits;
    pawl_told_plain_(c, sizeof *c);
    pawl_told_hide_(c);
    fits = pawl_counter_limit_try_add(c, n);
    pawl_told_show_(c);
    return fits;
}

#undef PAWL_COUNTER_CHANGE_
#undef PAWL_COUNTER_STEP_
#undef PAWL_COUNTER_VALUE_
#undef PAWL_COUNTER_EMPTY_

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
#undef pawl_counter_read
#define pawl_counter_read pawl_counter_told_read
#undef pawl_counter_destroy
#define pawl_counter_destroy pawl_counter_told_destroy
#undef pawl_cpu_counter_read
#define pawl_cpu_counter_read pawl_cpu_counter_told_read
#undef pawl_cpu_counter_destroy
#define pawl_cpu_counter_destroy pawl_cpu_counter_told_destroy
#undef pawl_counter_exact_read
#define pawl_counter_exact_read pawl_counter_exact_told_read
#undef pawl_counter_exact_destroy
#define pawl_counter_exact_destroy pawl_counter_exact_told_destroy
#undef pawl_counter_limit_read
#define pawl_counter_limit_read pawl_counter_limit_told_read
#undef pawl_counter_limit_destroy
#define pawl_counter_limit_destroy pawl_counter_limit_told_destroy
#define pawl_counter_limit_try_add pawl_counter_limit_told_try_add

#endif
#endif
