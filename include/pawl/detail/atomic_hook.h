/* SPDX-License-Identifier: MIT */
/*
 * The seam's back end for tests, model checkers and the simulator: each operation calls a function
 * of hook.h, which the harness defines. Included by atomic.h in the variants hook and sim.
 */
#include <pawl/atomic.h> /* outside the guard: atomic.h includes this file where it needs it */

#if !defined(PAWL_ATOMIC_HOOK_H) && PAWL_CALLS_OUT_
#define PAWL_ATOMIC_HOOK_H

#include <pawl/detail/hook.h>

#ifdef PAWL_SIM
/* 1: light fences hold only the compiler. The simulator always has the membarrier for it. */
#define ipawl_fence_light_free_ PAWL_SYMBOL_(pawl_fence_light_free)
PAWL_C_BEGIN
PAWL_API extern uint32_t ipawl_fence_light_free_;
PAWL_C_END
#endif

#define PAWL_LOAD_(N, name, order, tagged, tag)                                                    \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ uint##N##_t name##N(const uint##N##_t *p tagged)               \
    {                                                                                              \
        return (uint##N##_t)ipawl_hook_call_(p, N / 8, PAWL_HOOK_LOAD, PAWL_ORDER_##order, tag, 0, \
                                             0);                                                   \
    }
#define PAWL_STORE_(N, name, order, tagged, tag)                                                   \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void name##N(uint##N##_t *p, uint##N##_t value tagged)         \
    {                                                                                              \
        (void)ipawl_hook_call_(p, N / 8, PAWL_HOOK_STORE, PAWL_ORDER_##order, tag, value, 0);      \
    }
#define PAWL_RMW_(N, name, kind, builtin, order, tagged, tag)                                      \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ uint##N##_t name##N(uint##N##_t *p, uint##N##_t value tagged)  \
    {                                                                                              \
        return (uint##N##_t)ipawl_hook_call_(p, N / 8, kind, PAWL_ORDER_##order, tag, value, 0);   \
    }
#define PAWL_CAS_(N, name, order, fail, tagged, tag)                                               \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool name##N(uint##N##_t *p, uint##N##_t *expected,            \
                                                 uint##N##_t value tagged)                         \
    {                                                                                              \
        const uint##N##_t old = (uint##N##_t)ipawl_hook_call_(                                     \
            p, N / 8, PAWL_HOOK_COMPARE_EXCHANGE, PAWL_ORDER_##order, tag, value, *expected);      \
        const bool same = old == *expected;                                                        \
        *expected = old;                                                                           \
        return same;                                                                               \
    }
#define PAWL_FENCE_(name, order)                                                                   \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void name(enum pawl_tag tag)                                   \
    {                                                                                              \
        (void)ipawl_hook_call_(NULL, 0, PAWL_HOOK_FENCE, PAWL_ORDER_##order, tag, 0, 0);           \
    }

#include <pawl/detail/atomic_operations.inc.h>

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_light(enum pawl_tag tag)
{
    (void)ipawl_hook_call_(NULL, 0, PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, tag, PAWL_HOOK_FENCE_LIGHT,
                           0);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_light_known(enum pawl_tag tag)
{
    pawl_fence_light(tag);
}

/* The simulator's processors are those of x86 (atomic_native.h). */
#ifdef PAWL_SIM
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_full_after_update(enum pawl_tag tag)
{
    (void)tag; /* the update was a call, so it holds the compiler */
}
#else
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_full_after_update(enum pawl_tag tag)
{
    pawl_fence_full(tag);
}
#endif

PAWL_INLINE bool pawl_fence_heavy_or_not(enum pawl_tag tag)
{
    (void)ipawl_hook_call_(NULL, 0, PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, tag, PAWL_HOOK_FENCE_HEAVY,
                           0);
    return true;
}

PAWL_INLINE void pawl_fence_heavy(enum pawl_tag tag)
{
    (void)ipawl_hook_call_(NULL, 0, PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, tag, PAWL_HOOK_FENCE_HEAVY,
                           0);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_cpu_relax(void)
{
    pawl_hook_relax();
}

PAWL_INLINE_END

#endif
