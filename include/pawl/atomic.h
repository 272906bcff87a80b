/* SPDX-License-Identifier: MIT */
/*
 * The seam: every atomic operation of the library goes through this file, and nothing else in the
 * library touches an atomic builtin. Not a public atomics library: use <stdatomic.h> or <atomic>.
 *
 * Names say width and order: pawl_fetch_add_acquire32(p, value, TAG). Every order but relaxed takes
 * a tag of tags.def, which names the site and its partner; in the native backend the tag costs
 * nothing. Sequential consistency exists only as a fence, never as an access, because the model
 * checkers we use honour it only there.
 *
 * Backends, chosen by <pawl/config.h>, the lock code above being the same source in each:
 *   native (PAWL_HOOKS 0)  the compiler's __atomic builtins on plain integer fields
 *   hook   (PAWL_HOOKS 1)  each operation calls the functions of <pawl/detail/hook.h>, which a test
 *                          or a model checker defines
 */
#ifndef PAWL_ATOMIC_H
#define PAWL_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/config.h>

#if !defined(__GNUC__) && !defined(__clang__)
#error "Pawl needs gcc or clang: it is built on their __atomic builtins and attributes."
#endif

/* ---- Words of the declarations ------------------------------------------------------------- */

#define PAWL_PASTE_(a, b) a##b
#define PAWL_CAT_(a, b) PAWL_PASTE_(a, b)

/* PAWL_SYMBOL_(name): an internal symbol with the protocol's version and the variant, so that a
 * stale header or a mixture of variants fails to link instead of corrupting. */
#define PAWL_SYMBOL_(name) PAWL_CAT_(name, PAWL_CAT_(_v1_, PAWL_CAT_(PAWL_VARIANT, _)))

#if defined(__SANITIZE_THREAD__)
#define PAWL_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PAWL_TSAN_ 1
#endif
#endif
#ifndef PAWL_TSAN_
#define PAWL_TSAN_ 0
#endif

/* Inline functions are static in C. In C++ they are inline inside a namespace that carries the
 * variant: inline members of user classes may then call them without breaking the one-definition
 * rule, and two variants never share a definition. */
#ifdef __cplusplus
#define PAWL_INLINE inline
#if PAWL_TSAN_
#define PAWL_NAMESPACE_ PAWL_CAT_(PAWL_CAT_(pawl_, PAWL_VARIANT), _tsan_v1)
#else
#define PAWL_NAMESPACE_ PAWL_CAT_(PAWL_CAT_(pawl_, PAWL_VARIANT), _v1)
#endif
#define PAWL_INLINE_BEGIN inline namespace PAWL_NAMESPACE_ {
#define PAWL_INLINE_END }
#define PAWL_C_BEGIN extern "C" {
#define PAWL_C_END }
#else
#define PAWL_INLINE static inline
#define PAWL_INLINE_BEGIN
#define PAWL_INLINE_END
#define PAWL_C_BEGIN
#define PAWL_C_END
#endif

/* Public symbols of the shared library; all others are hidden. On Windows a DLL made
 * by gcc or clang exports everything. */
#if defined(_WIN32)
#define PAWL_API
#define PAWL_HIDDEN_
#else
#define PAWL_API __attribute__((visibility("default")))
#define PAWL_HIDDEN_ __attribute__((visibility("hidden")))
#endif
#define PAWL_COLD __attribute__((cold, noinline))
#define PAWL_ALWAYS_INLINE_ __attribute__((always_inline))
#define PAWL_LIKELY(x) __builtin_expect(!!(x), 1)
#define PAWL_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Bytes that two threads must be apart not to disturb each other. 64 is the line of x86, most Arm
 * and RISC-V cores; Apple's cores and POWER have 128 (LLVM, std::hardware_destructive_interference_
 * size). Intel's spatial prefetcher pulls lines in pairs, so x86 also keeps 128 between hot words
 * (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Spatial Prefetcher"). */
#if defined(__s390x__)
#define PAWL_CACHE_LINE 256
#elif defined(__x86_64__) || defined(__powerpc64__) || (defined(__aarch64__) && defined(__APPLE__))
#define PAWL_CACHE_LINE 128
#else
#define PAWL_CACHE_LINE 64
#endif

/* ---- Tags ----------------------------------------------------------------------------------- */

enum pawl_tag {
    PAWL_TAG_NONE_,
#define PAWL_TAG(name, order, partners, what) PAWL_##name,
#include <pawl/detail/tags.def>
#undef PAWL_TAG
    PAWL_TAG_COUNT_
};

/* ---- Operations ------------------------------------------------------------------------------ */

#if PAWL_HOOKS
#include <pawl/detail/hook.h>
#endif

#if !PAWL_HOOKS
/* src/os/asymmetric.c */
#define pawl_fence_light_free_ PAWL_SYMBOL_(pawl_fence_light_free)
#define pawl_os_fence_heavy_ PAWL_SYMBOL_(pawl_os_fence_heavy)
PAWL_C_BEGIN
PAWL_API extern uint32_t pawl_fence_light_free_; /* 1: light fences need only hold the compiler */
PAWL_API void pawl_os_fence_heavy_(void);
PAWL_C_END
#endif

PAWL_INLINE_BEGIN

#if PAWL_HOOKS

#define PAWL_LOAD_(N, name, order, tagged, tag)                                                    \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ uint##N##_t name##N(const uint##N##_t *p tagged)               \
    {                                                                                              \
        return (uint##N##_t)pawl_hook_call_(p, N / 8, PAWL_HOOK_LOAD, PAWL_ORDER_##order, tag, 0,  \
                                            0);                                                    \
    }
#define PAWL_STORE_(N, name, order, tagged, tag)                                                   \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void name##N(uint##N##_t *p, uint##N##_t value tagged)         \
    {                                                                                              \
        (void)pawl_hook_call_(p, N / 8, PAWL_HOOK_STORE, PAWL_ORDER_##order, tag, value, 0);       \
    }
#define PAWL_RMW_(N, name, kind, builtin, order, tagged, tag)                                      \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ uint##N##_t name##N(uint##N##_t *p, uint##N##_t value tagged)  \
    {                                                                                              \
        return (uint##N##_t)pawl_hook_call_(p, N / 8, kind, PAWL_ORDER_##order, tag, value, 0);    \
    }
#define PAWL_CAS_(N, name, order, fail, tagged, tag)                                               \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool name##N(uint##N##_t *p, uint##N##_t *expected,            \
                                                 uint##N##_t value tagged)                         \
    {                                                                                              \
        const uint##N##_t old = (uint##N##_t)pawl_hook_call_(                                      \
            p, N / 8, PAWL_HOOK_COMPARE_EXCHANGE, PAWL_ORDER_##order, tag, value, *expected);      \
        const bool same = old == *expected;                                                        \
        *expected = old;                                                                           \
        return same;                                                                               \
    }
#define PAWL_FENCE_(name, order)                                                                   \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void name(enum pawl_tag tag)                                   \
    {                                                                                              \
        (void)pawl_hook_call_(NULL, 0, PAWL_HOOK_FENCE, PAWL_ORDER_##order, tag, 0, 0);            \
    }

#else /* native */

/* The words that locks are made on may be declared otherwise by the program (compat/plock.h locks
 * plain integers and pointers), and this is the only place that accesses them. */
typedef uint8_t pawl_any8_ __attribute__((may_alias));
typedef uint16_t pawl_any16_ __attribute__((may_alias));
typedef uint32_t pawl_any32_ __attribute__((may_alias));
typedef uint64_t pawl_any64_ __attribute__((may_alias));

#define PAWL_LOAD_(N, name, order, tagged, tag)                                                    \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ uint##N##_t name##N(const uint##N##_t *p tagged)               \
    {                                                                                              \
        (void)tag;                                                                                 \
        return __atomic_load_n((const pawl_any##N##_ *)p, __ATOMIC_##order);                       \
    }
#define PAWL_STORE_(N, name, order, tagged, tag)                                                   \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void name##N(uint##N##_t *p, uint##N##_t value tagged)         \
    {                                                                                              \
        (void)tag;                                                                                 \
        __atomic_store_n((pawl_any##N##_ *)p, value, __ATOMIC_##order);                            \
    }
#define PAWL_RMW_(N, name, kind, builtin, order, tagged, tag)                                      \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ uint##N##_t name##N(uint##N##_t *p, uint##N##_t value tagged)  \
    {                                                                                              \
        (void)tag;                                                                                 \
        return builtin((pawl_any##N##_ *)p, value, __ATOMIC_##order);                              \
    }
/* Strong: the callers' loops test something of their own after each failure. */
#define PAWL_CAS_(N, name, order, fail, tagged, tag)                                               \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool name##N(uint##N##_t *p, uint##N##_t *expected,            \
                                                 uint##N##_t value tagged)                         \
    {                                                                                              \
        (void)tag;                                                                                 \
        return __atomic_compare_exchange_n((pawl_any##N##_ *)p, expected, value, false,            \
                                           __ATOMIC_##order, __ATOMIC_##fail);                     \
    }
/* gcc's ThreadSanitizer does not model standalone fences (it warns); there the annotations of
 * tsan.h carry the meaning. A store must still be kept before a later load: on x86 the update of a
 * word of our own does that, and the other orders need no instruction there. */
PAWL_INLINE void pawl_fence_by_update_(void)
{
    uint32_t word = 0;
    (void)__atomic_fetch_add(&word, 0, __ATOMIC_SEQ_CST);
}
#define PAWL_FENCE_(name, order)                                                                   \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void name(enum pawl_tag tag)                                   \
    {                                                                                              \
        (void)tag;                                                                                 \
        if (!PAWL_TSAN_)                                                                           \
            __atomic_thread_fence(__ATOMIC_##order);                                               \
        else if (__ATOMIC_##order == __ATOMIC_SEQ_CST)                                             \
            pawl_fence_by_update_();                                                               \
    }

#endif

#define PAWL_TAGGED_ , enum pawl_tag tag
#define PAWL_UNTAGGED_

#define PAWL_RMW_ORDERS_(N, verb, kind, builtin)                                                   \
    PAWL_RMW_(N, pawl_##verb##_relaxed, kind, builtin, RELAXED, PAWL_UNTAGGED_, PAWL_TAG_NONE_)    \
    PAWL_RMW_(N, pawl_##verb##_acquire, kind, builtin, ACQUIRE, PAWL_TAGGED_, tag)                 \
    PAWL_RMW_(N, pawl_##verb##_release, kind, builtin, RELEASE, PAWL_TAGGED_, tag)                 \
    PAWL_RMW_(N, pawl_##verb##_acq_rel, kind, builtin, ACQ_REL, PAWL_TAGGED_, tag)

#define PAWL_WIDTH_(N)                                                                             \
    PAWL_LOAD_(N, pawl_load_relaxed, RELAXED, PAWL_UNTAGGED_, PAWL_TAG_NONE_)                      \
    PAWL_LOAD_(N, pawl_load_acquire, ACQUIRE, PAWL_TAGGED_, tag)                                   \
    PAWL_STORE_(N, pawl_store_relaxed, RELAXED, PAWL_UNTAGGED_, PAWL_TAG_NONE_)                    \
    PAWL_STORE_(N, pawl_store_release, RELEASE, PAWL_TAGGED_, tag)                                 \
    PAWL_RMW_ORDERS_(N, fetch_add, PAWL_HOOK_ADD, __atomic_fetch_add)                              \
    PAWL_RMW_ORDERS_(N, fetch_sub, PAWL_HOOK_SUB, __atomic_fetch_sub)                              \
    PAWL_RMW_ORDERS_(N, fetch_and, PAWL_HOOK_AND, __atomic_fetch_and)                              \
    PAWL_RMW_ORDERS_(N, fetch_or, PAWL_HOOK_OR, __atomic_fetch_or)                                 \
    PAWL_RMW_ORDERS_(N, fetch_xor, PAWL_HOOK_XOR, __atomic_fetch_xor)                              \
    PAWL_RMW_ORDERS_(N, exchange, PAWL_HOOK_EXCHANGE, __atomic_exchange_n)                         \
    PAWL_CAS_(N, pawl_cas_relaxed, RELAXED, RELAXED, PAWL_UNTAGGED_, PAWL_TAG_NONE_)               \
    PAWL_CAS_(N, pawl_cas_acquire, ACQUIRE, RELAXED, PAWL_TAGGED_, tag)                            \
    PAWL_CAS_(N, pawl_cas_release, RELEASE, RELAXED, PAWL_TAGGED_, tag)                            \
    PAWL_CAS_(N, pawl_cas_acq_rel, ACQ_REL, RELAXED, PAWL_TAGGED_, tag)

PAWL_WIDTH_(8)
PAWL_WIDTH_(16)
PAWL_WIDTH_(32)
PAWL_WIDTH_(64)

/* Fences, named by what they order:
 *   acquire  the loads before it   before  everything after it
 *   release  everything before it  before  the stores after it
 *   full     everything before it  before  everything after it (store then load included) */
PAWL_FENCE_(pawl_fence_acquire, ACQUIRE)
PAWL_FENCE_(pawl_fence_release, RELEASE)
PAWL_FENCE_(pawl_fence_full, SEQ_CST)

/* A full fence in two halves: a light side that costs next to nothing because the heavy side makes
 * every running thread of the process pass a fence (membarrier). Of a light and a heavy fence one
 * comes first: what stands after the other sees what stood before it. Where the system cannot do
 * that, both are full fences. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_light(enum pawl_tag tag)
{
#if PAWL_HOOKS
    (void)pawl_hook_call_(NULL, 0, PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, tag, PAWL_HOOK_FENCE_LIGHT,
                          0);
#else
    if (PAWL_UNLIKELY(__atomic_load_n(&pawl_fence_light_free_, __ATOMIC_RELAXED) == 0))
        pawl_fence_full(tag);
    else
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
}

/* The light side where the caller knows that it is free (pawl_fence_light_free_ has been 1). */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_light_known(enum pawl_tag tag)
{
#if PAWL_HOOKS
    pawl_fence_light(tag);
#else
    (void)tag;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
}

PAWL_INLINE void pawl_fence_heavy(enum pawl_tag tag)
{
#if PAWL_HOOKS
    (void)pawl_hook_call_(NULL, 0, PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, tag, PAWL_HOOK_FENCE_HEAVY,
                          0);
#else
    pawl_fence_full(tag);
    pawl_os_fence_heavy_();
    pawl_fence_full(tag);
#endif
}

/* Tells the CPU that this is a wait loop. x86: PAUSE, which stops the thread for 40 (older Intel,
 * AMD) to 140 cycles (Skylake and later) and leaves the core to its sibling. Arm: ISB, because
 * YIELD does nothing on cores without SMT; RISC-V: PAUSE (a hint, encoded as a fence). */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_cpu_relax(void)
{
#if PAWL_HOOKS
    pawl_hook_relax();
#elif defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb sy" ::: "memory");
#elif defined(__arm__)
    __asm__ __volatile__("yield" ::: "memory");
#elif defined(__riscv)
    __asm__ __volatile__(".insn i 0x0F, 0, x0, x0, 0x010" ::: "memory");
#elif defined(__powerpc__)
    __asm__ __volatile__("or 27,27,27" ::: "memory");
#else
    __asm__ __volatile__("" ::: "memory");
#endif
}

PAWL_INLINE_END

#undef PAWL_LOAD_
#undef PAWL_STORE_
#undef PAWL_RMW_
#undef PAWL_CAS_
#undef PAWL_FENCE_
#undef PAWL_RMW_ORDERS_
#undef PAWL_WIDTH_
#undef PAWL_TAGGED_
#undef PAWL_UNTAGGED_

#endif
