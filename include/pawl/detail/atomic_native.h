/* SPDX-License-Identifier: MIT */
/*
 * The seam's native back end: the compiler's __atomic builtins on plain integer fields. A tag costs
 * nothing here. Included by atomic.h in all variants but hook.
 */
#include <pawl/atomic.h> /* outside the guard: atomic.h includes this file where it needs it */

#if !defined(PAWL_ATOMIC_NATIVE_H) && !PAWL_CALLS_OUT_
#define PAWL_ATOMIC_NATIVE_H

/* src/os/asymmetric.c */
#define ipawl_fence_light_free_ PAWL_SYMBOL_(pawl_fence_light_free)
#define ipawl_os_fence_heavy_ PAWL_SYMBOL_(pawl_os_fence_heavy)
#define ipawl_os_fence_heavy_or_not_ PAWL_SYMBOL_(pawl_os_fence_heavy_or_not)
PAWL_C_BEGIN
PAWL_API extern uint32_t ipawl_fence_light_free_; /* 1: light fences need only hold the compiler */
PAWL_API void ipawl_os_fence_heavy_(void);
PAWL_API bool ipawl_os_fence_heavy_or_not_(void);
PAWL_C_END

/* The words that locks are made on may be declared otherwise by the program (compat/plock.h locks
 * plain integers and pointers), and this is the only place that accesses them. */
typedef uint8_t ipawl_any8_ __attribute__((__may_alias__));
typedef uint16_t ipawl_any16_ __attribute__((__may_alias__));
typedef uint32_t ipawl_any32_ __attribute__((__may_alias__));
typedef uint64_t ipawl_any64_ __attribute__((__may_alias__));

/* Valgrind sees machine code, in which an atomic store looks like any other and orders nothing. So
 * in the variant for it a store is an exchange, which its tools take for a load, and each order is
 * told (src/os/valgrind.c). */
#if PAWL_VALGRIND
PAWL_C_BEGIN
PAWL_API void PAWL_SYMBOL_(pawl_told_hide)(void);
PAWL_API void PAWL_SYMBOL_(pawl_told_show)(void);
PAWL_API void PAWL_SYMBOL_(pawl_told_give)(const void *clock);
PAWL_API void PAWL_SYMBOL_(pawl_told_get)(const void *clock);
PAWL_API void PAWL_SYMBOL_(pawl_told_plain)(void *memory, size_t size);
PAWL_C_END
#define PAWL_ORDER_GIVES_(order)                                                                   \
    (__ATOMIC_##order == __ATOMIC_RELEASE || __ATOMIC_##order == __ATOMIC_ACQ_REL)
#define PAWL_ORDER_GETS_(order)                                                                    \
    (__ATOMIC_##order == __ATOMIC_ACQUIRE || __ATOMIC_##order == __ATOMIC_ACQ_REL)
#define PAWL_BEFORE_ATOMIC_(p, order)                                                              \
    (PAWL_ORDER_GIVES_(order) ? PAWL_SYMBOL_(pawl_told_give)(p) : (void)0)
#define PAWL_AFTER_ATOMIC_(p, order, done)                                                         \
    (PAWL_ORDER_GETS_(order) && (done) ? PAWL_SYMBOL_(pawl_told_get)(p) : (void)0)
#define PAWL_STORE_N_(p, value, order) ((void)__atomic_exchange_n(p, value, __ATOMIC_##order))
#else
#define PAWL_BEFORE_ATOMIC_(p, order) ((void)0)
#define PAWL_AFTER_ATOMIC_(p, order, done) ((void)0)
#define PAWL_STORE_N_(p, value, order) __atomic_store_n(p, value, __ATOMIC_##order)
#endif

#define PAWL_LOAD_(N, name, order, tagged, tag)                                                    \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ uint##N##_t name##N(const uint##N##_t *p tagged)               \
    {                                                                                              \
        uint##N##_t found;                                                                         \
        (void)tag;                                                                                 \
        found = __atomic_load_n((const ipawl_any##N##_ *)p, __ATOMIC_##order);                     \
        PAWL_AFTER_ATOMIC_(p, order, true);                                                        \
        return found;                                                                              \
    }
#define PAWL_STORE_(N, name, order, tagged, tag)                                                   \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void name##N(uint##N##_t *p, uint##N##_t value tagged)         \
    {                                                                                              \
        (void)tag;                                                                                 \
        PAWL_BEFORE_ATOMIC_(p, order);                                                             \
        PAWL_STORE_N_((ipawl_any##N##_ *)p, value, order);                                         \
    }
#define PAWL_RMW_(N, name, kind, builtin, order, tagged, tag)                                      \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ uint##N##_t name##N(uint##N##_t *p, uint##N##_t value tagged)  \
    {                                                                                              \
        uint##N##_t found;                                                                         \
        (void)tag;                                                                                 \
        PAWL_BEFORE_ATOMIC_(p, order);                                                             \
        found = builtin((ipawl_any##N##_ *)p, value, __ATOMIC_##order);                            \
        PAWL_AFTER_ATOMIC_(p, order, true);                                                        \
        return found;                                                                              \
    }
/* Strong: the callers' loops test something of their own after each failure. */
#define PAWL_CAS_(N, name, order, fail, tagged, tag)                                               \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool name##N(uint##N##_t *p, uint##N##_t *expected,            \
                                                 uint##N##_t value tagged)                         \
    {                                                                                              \
        bool done;                                                                                 \
        (void)tag;                                                                                 \
        PAWL_BEFORE_ATOMIC_(p, order);                                                             \
        done = __atomic_compare_exchange_n((ipawl_any##N##_ *)p, expected, value, false,           \
                                           __ATOMIC_##order, __ATOMIC_##fail);                     \
        PAWL_AFTER_ATOMIC_(p, order, done);                                                        \
        return done;                                                                               \
    }
PAWL_INLINE_BEGIN

/* gcc's ThreadSanitizer does not model standalone fences (it warns); there the annotations of
 * tsan.h carry the meaning. A store must still be kept before a later load: on x86 the update of a
 * word of our own does that, and the other orders need no instruction there. */
PAWL_INLINE void ipawl_fence_by_update_(void)
{
    uint32_t word = 0;
    (void)__atomic_fetch_add(&word, 0, __ATOMIC_SEQ_CST);
}

PAWL_INLINE_END

#define PAWL_FENCE_(name, order)                                                                   \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void name(enum pawl_tag tag)                                   \
    {                                                                                              \
        (void)tag;                                                                                 \
        if (!PAWL_TSAN_)                                                                           \
            __atomic_thread_fence(__ATOMIC_##order);                                               \
        else if (__ATOMIC_##order == __ATOMIC_SEQ_CST)                                             \
            ipawl_fence_by_update_();                                                              \
    }

#include <pawl/detail/atomic_operations.inc.h>

/* The hint of a wait loop. x86: PAUSE, which stops the thread for 40 (older Intel, AMD) to 140
 * cycles (Skylake and later) and leaves the core to its sibling. Arm: ISB, because YIELD does
 * nothing on cores without SMT. RISC-V: PAUSE (a hint, encoded as a fence). */
#if defined(__x86_64__) || defined(__i386__)
#define PAWL_RELAX_() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAWL_RELAX_() __asm__ __volatile__("isb sy" ::: "memory")
#elif defined(__arm__)
#define PAWL_RELAX_() __asm__ __volatile__("yield" ::: "memory")
#elif defined(__riscv)
#define PAWL_RELAX_() __asm__ __volatile__(".insn i 0x0F, 0, x0, x0, 0x010" ::: "memory")
#elif defined(__powerpc__)
#define PAWL_RELAX_() __asm__ __volatile__("or 27,27,27" ::: "memory")
#else
#define PAWL_RELAX_() __asm__ __volatile__("" ::: "memory")
#endif

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_light(enum pawl_tag tag)
{
    if (PAWL_UNLIKELY(__atomic_load_n(&ipawl_fence_light_free_, __ATOMIC_RELAXED) == 0))
        pawl_fence_full(tag);
    else
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_light_known(enum pawl_tag tag)
{
    (void)tag;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* x86 makes each read-modify-write a full fence. */
#if defined(__x86_64__) || defined(__i386__)
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_full_after_update(enum pawl_tag tag)
{
    (void)tag;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
#else
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_fence_full_after_update(enum pawl_tag tag)
{
    pawl_fence_full(tag);
}
#endif

PAWL_INLINE bool pawl_fence_heavy_or_not(enum pawl_tag tag)
{
    bool done;
    pawl_fence_full(tag);
    done = ipawl_os_fence_heavy_or_not_();
    pawl_fence_full(tag);
    return done;
}

PAWL_INLINE void pawl_fence_heavy(enum pawl_tag tag)
{
    pawl_fence_full(tag);
    ipawl_os_fence_heavy_();
    pawl_fence_full(tag);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_cpu_relax(void)
{
    PAWL_RELAX_();
}

PAWL_INLINE_END

#endif
