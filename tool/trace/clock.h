/* SPDX-License-Identifier: MIT */
/* Ticks: the processor's counter where it runs at one speed on all cores, else nanoseconds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#define TRACE_HAS_TSC 1
#else
#define TRACE_HAS_TSC 0
#endif

extern bool trace_tsc __attribute__((visibility("hidden")));

static inline uint64_t trace_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#if TRACE_HAS_TSC
static inline uint64_t trace_ticks(void)
{
    return __builtin_expect(trace_tsc, 1) ? __builtin_ia32_rdtsc() : trace_ns();
}

/* Neither before what stands in front of it, nor after what follows. */
static inline uint64_t trace_ticks_in_order(void)
{
    __builtin_ia32_lfence();
    uint64_t now = trace_ticks();
    __builtin_ia32_lfence();
    return now;
}

/* "Invariant TSC". */
static inline bool trace_tsc_is_steady(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}
#else
static inline uint64_t trace_ticks(void)
{
    return trace_ns();
}

static inline uint64_t trace_ticks_in_order(void)
{
    return trace_ns();
}

static inline bool trace_tsc_is_steady(void)
{
    return false;
}
#endif
