/* SPDX-License-Identifier: MIT */
/*
 * The names of plock's atomic helpers, included by compat/plock_atomic.h, which describes them.
 * Each argument is evaluated once. An operation and its _noret form are the same machine code: the
 * compilers drop an unused result.
 */
#ifndef PAWL_COMPAT_PLOCK_NAMES_H
#define PAWL_COMPAT_PLOCK_NAMES_H

#include <pawl/compat/plock_atomic.h>

/* ---- The compiler, the CPU, fences ----------------------------------------------------------- */

/* Orders the compiler's output, not the CPU. */
#define pl_barrier() __asm__ __volatile__("" ::: "memory")

#define pl_cpu_relax() pawl_cpu_relax()

/* Between plain accesses: pl_mb orders everything; pl_mb_load orders loads before later accesses;
 * pl_mb_store orders earlier accesses before stores. The _ato forms stand between atomic
 * operations, where x86 needs only the compiler's order. */
#define pl_mb() pawl_fence_full(PAWL_PLOCK_FULL)
#define pl_mb_load() pawl_fence_acquire(PAWL_PLOCK_ACQUIRE)
#define pl_mb_store() pawl_fence_release(PAWL_PLOCK_RELEASE)
#if defined(__x86_64__) || defined(__i386__)
#define pl_mb_ato() (pl_mb_load(), pl_mb_store())
#else
#define pl_mb_ato() pl_mb()
#endif
#define pl_mb_ato_load() pl_mb_load()
#define pl_mb_ato_store() pl_mb_store()

/* ---- Shapes ---------------------------------------------------------------------------------- */

#define PAWL_PLOCK_AT_(p) (void *)(p), PAWL_PLOCK_SIZE_(sizeof(*(p)))
/* A value that may stay unused, as plock's may: no compiler warns of a statement expression. */
#define PAWL_PLOCK_RESULT_(value) __extension__({ value; })
/* The result: a value of the word's type; a truth value; nothing. */
#define PAWL_PLOCK_GIVES_(operation, p, x, order)                                                  \
    PAWL_PLOCK_RESULT_((PAWL_PLOCK_VALUE_(p))ipawl_plock_##operation##_(                           \
        PAWL_PLOCK_AT_(p), (unsigned long)(x), PAWL_PLOCK_##order##_))
#define PAWL_PLOCK_TELLS_(operation, p, order)                                                     \
    PAWL_PLOCK_RESULT_(PAWL_PLOCK_GIVES_(operation, p, 1, order) != 0)
#define PAWL_PLOCK_DOES_(operation, p, x, order)                                                   \
    ((void)ipawl_plock_##operation##_(PAWL_PLOCK_AT_(p), (unsigned long)(x), PAWL_PLOCK_##order##_))
#define PAWL_PLOCK_BIT_(bit) (1ul << (bit))

/* ---- Load, store, exchange ------------------------------------------------------------------- */

#define pl_load(p)                                                                                 \
    PAWL_PLOCK_RESULT_(                                                                            \
        (PAWL_PLOCK_VALUE_(p))ipawl_plock_load_(PAWL_PLOCK_AT_(p), PAWL_PLOCK_ACQUIRE_))
#define pl_load_lax(p)                                                                             \
    PAWL_PLOCK_RESULT_(                                                                            \
        (PAWL_PLOCK_VALUE_(p))ipawl_plock_load_(PAWL_PLOCK_AT_(p), PAWL_PLOCK_RELAXED_))
#define pl_store(p, x)                                                                             \
    (ipawl_plock_store_(PAWL_PLOCK_AT_(p), (unsigned long)(x), PAWL_PLOCK_RELEASE_))
#define pl_store_lax(p, x)                                                                         \
    (ipawl_plock_store_(PAWL_PLOCK_AT_(p), (unsigned long)(x), PAWL_PLOCK_RELAXED_))
#define pl_xchg(p, x) PAWL_PLOCK_GIVES_(exchange, p, x, FULL)
#define pl_xadd(p, x) PAWL_PLOCK_GIVES_(fetch_add, p, x, FULL)
#define pl_cmpxchg(p, old, x)                                                                      \
    PAWL_PLOCK_RESULT_((PAWL_PLOCK_VALUE_(p))ipawl_plock_cas_(                                     \
        PAWL_PLOCK_AT_(p), (unsigned long)(old), (unsigned long)(x)))

/* An acquire, so that a loop that waits with them may then read the data that the lock protects. */
#define pl_deref_int(p)                                                                            \
    PAWL_PLOCK_RESULT_(                                                                            \
        (unsigned int)ipawl_plock_load_((const void *)(p), sizeof(int), PAWL_PLOCK_ACQUIRE_))
#define pl_deref_long(p)                                                                           \
    PAWL_PLOCK_RESULT_(                                                                            \
        (unsigned long)ipawl_plock_load_((const void *)(p), sizeof(long), PAWL_PLOCK_ACQUIRE_))

/* ---- inc, dec -------------------------------------------------------------------------------- */

#define pl_inc(p) PAWL_PLOCK_TELLS_(add, p, FULL)
#define pl_inc_lax(p) PAWL_PLOCK_TELLS_(add, p, RELAXED)
#define pl_inc_acq(p) PAWL_PLOCK_TELLS_(add, p, ACQUIRE)
#define pl_inc_rel(p) PAWL_PLOCK_TELLS_(add, p, RELEASE)
#define pl_inc_noret(p) PAWL_PLOCK_DOES_(add, p, 1, FULL)
#define pl_inc_noret_lax(p) PAWL_PLOCK_DOES_(add, p, 1, RELAXED)
#define pl_inc_noret_acq(p) PAWL_PLOCK_DOES_(add, p, 1, ACQUIRE)
#define pl_inc_noret_rel(p) PAWL_PLOCK_DOES_(add, p, 1, RELEASE)
#define pl_dec(p) PAWL_PLOCK_TELLS_(sub, p, FULL)
#define pl_dec_lax(p) PAWL_PLOCK_TELLS_(sub, p, RELAXED)
#define pl_dec_acq(p) PAWL_PLOCK_TELLS_(sub, p, ACQUIRE)
#define pl_dec_rel(p) PAWL_PLOCK_TELLS_(sub, p, RELEASE)
#define pl_dec_noret(p) PAWL_PLOCK_DOES_(sub, p, 1, FULL)
#define pl_dec_noret_lax(p) PAWL_PLOCK_DOES_(sub, p, 1, RELAXED)
#define pl_dec_noret_acq(p) PAWL_PLOCK_DOES_(sub, p, 1, ACQUIRE)
#define pl_dec_noret_rel(p) PAWL_PLOCK_DOES_(sub, p, 1, RELEASE)

/* ---- add, sub, and, or, xor ------------------------------------------------------------------ */

#define pl_add(p, x) PAWL_PLOCK_GIVES_(add, p, x, FULL)
#define pl_add_lax(p, x) PAWL_PLOCK_GIVES_(add, p, x, RELAXED)
#define pl_add_acq(p, x) PAWL_PLOCK_GIVES_(add, p, x, ACQUIRE)
#define pl_add_rel(p, x) PAWL_PLOCK_GIVES_(add, p, x, RELEASE)
#define pl_add_noret(p, x) PAWL_PLOCK_DOES_(fetch_add, p, x, FULL)
#define pl_add_noret_lax(p, x) PAWL_PLOCK_DOES_(fetch_add, p, x, RELAXED)
#define pl_add_noret_acq(p, x) PAWL_PLOCK_DOES_(fetch_add, p, x, ACQUIRE)
#define pl_add_noret_rel(p, x) PAWL_PLOCK_DOES_(fetch_add, p, x, RELEASE)
#define pl_sub(p, x) PAWL_PLOCK_GIVES_(sub, p, x, FULL)
#define pl_sub_lax(p, x) PAWL_PLOCK_GIVES_(sub, p, x, RELAXED)
#define pl_sub_acq(p, x) PAWL_PLOCK_GIVES_(sub, p, x, ACQUIRE)
#define pl_sub_rel(p, x) PAWL_PLOCK_GIVES_(sub, p, x, RELEASE)
#define pl_sub_noret(p, x) PAWL_PLOCK_DOES_(fetch_sub, p, x, FULL)
#define pl_sub_noret_lax(p, x) PAWL_PLOCK_DOES_(fetch_sub, p, x, RELAXED)
#define pl_sub_noret_acq(p, x) PAWL_PLOCK_DOES_(fetch_sub, p, x, ACQUIRE)
#define pl_sub_noret_rel(p, x) PAWL_PLOCK_DOES_(fetch_sub, p, x, RELEASE)
#define pl_and(p, x) PAWL_PLOCK_GIVES_(and, p, x, FULL)
#define pl_and_lax(p, x) PAWL_PLOCK_GIVES_(and, p, x, RELAXED)
#define pl_and_acq(p, x) PAWL_PLOCK_GIVES_(and, p, x, ACQUIRE)
#define pl_and_rel(p, x) PAWL_PLOCK_GIVES_(and, p, x, RELEASE)
#define pl_and_noret(p, x) PAWL_PLOCK_DOES_(fetch_and, p, x, FULL)
#define pl_and_noret_lax(p, x) PAWL_PLOCK_DOES_(fetch_and, p, x, RELAXED)
#define pl_and_noret_acq(p, x) PAWL_PLOCK_DOES_(fetch_and, p, x, ACQUIRE)
#define pl_and_noret_rel(p, x) PAWL_PLOCK_DOES_(fetch_and, p, x, RELEASE)
#define pl_or(p, x) PAWL_PLOCK_GIVES_(or, p, x, FULL)
#define pl_or_lax(p, x) PAWL_PLOCK_GIVES_(or, p, x, RELAXED)
#define pl_or_acq(p, x) PAWL_PLOCK_GIVES_(or, p, x, ACQUIRE)
#define pl_or_rel(p, x) PAWL_PLOCK_GIVES_(or, p, x, RELEASE)
#define pl_or_noret(p, x) PAWL_PLOCK_DOES_(fetch_or, p, x, FULL)
#define pl_or_noret_lax(p, x) PAWL_PLOCK_DOES_(fetch_or, p, x, RELAXED)
#define pl_or_noret_acq(p, x) PAWL_PLOCK_DOES_(fetch_or, p, x, ACQUIRE)
#define pl_or_noret_rel(p, x) PAWL_PLOCK_DOES_(fetch_or, p, x, RELEASE)
#define pl_xor(p, x) PAWL_PLOCK_GIVES_(xor, p, x, FULL)
#define pl_xor_lax(p, x) PAWL_PLOCK_GIVES_(xor, p, x, RELAXED)
#define pl_xor_acq(p, x) PAWL_PLOCK_GIVES_(xor, p, x, ACQUIRE)
#define pl_xor_rel(p, x) PAWL_PLOCK_GIVES_(xor, p, x, RELEASE)
#define pl_xor_noret(p, x) PAWL_PLOCK_DOES_(fetch_xor, p, x, FULL)
#define pl_xor_noret_lax(p, x) PAWL_PLOCK_DOES_(fetch_xor, p, x, RELAXED)
#define pl_xor_noret_acq(p, x) PAWL_PLOCK_DOES_(fetch_xor, p, x, ACQUIRE)
#define pl_xor_noret_rel(p, x) PAWL_PLOCK_DOES_(fetch_xor, p, x, RELEASE)

/* ---- ldadd, ldsub, ldand, ldor, ldxor -------------------------------------------------------- */

#define pl_ldadd(p, x) PAWL_PLOCK_GIVES_(fetch_add, p, x, FULL)
#define pl_ldadd_lax(p, x) PAWL_PLOCK_GIVES_(fetch_add, p, x, RELAXED)
#define pl_ldadd_acq(p, x) PAWL_PLOCK_GIVES_(fetch_add, p, x, ACQUIRE)
#define pl_ldadd_rel(p, x) PAWL_PLOCK_GIVES_(fetch_add, p, x, RELEASE)
#define pl_ldsub(p, x) PAWL_PLOCK_GIVES_(fetch_sub, p, x, FULL)
#define pl_ldsub_lax(p, x) PAWL_PLOCK_GIVES_(fetch_sub, p, x, RELAXED)
#define pl_ldsub_acq(p, x) PAWL_PLOCK_GIVES_(fetch_sub, p, x, ACQUIRE)
#define pl_ldsub_rel(p, x) PAWL_PLOCK_GIVES_(fetch_sub, p, x, RELEASE)
#define pl_ldand(p, x) PAWL_PLOCK_GIVES_(fetch_and, p, x, FULL)
#define pl_ldand_lax(p, x) PAWL_PLOCK_GIVES_(fetch_and, p, x, RELAXED)
#define pl_ldand_acq(p, x) PAWL_PLOCK_GIVES_(fetch_and, p, x, ACQUIRE)
#define pl_ldand_rel(p, x) PAWL_PLOCK_GIVES_(fetch_and, p, x, RELEASE)
#define pl_ldor(p, x) PAWL_PLOCK_GIVES_(fetch_or, p, x, FULL)
#define pl_ldor_lax(p, x) PAWL_PLOCK_GIVES_(fetch_or, p, x, RELAXED)
#define pl_ldor_acq(p, x) PAWL_PLOCK_GIVES_(fetch_or, p, x, ACQUIRE)
#define pl_ldor_rel(p, x) PAWL_PLOCK_GIVES_(fetch_or, p, x, RELEASE)
#define pl_ldxor(p, x) PAWL_PLOCK_GIVES_(fetch_xor, p, x, FULL)
#define pl_ldxor_lax(p, x) PAWL_PLOCK_GIVES_(fetch_xor, p, x, RELAXED)
#define pl_ldxor_acq(p, x) PAWL_PLOCK_GIVES_(fetch_xor, p, x, ACQUIRE)
#define pl_ldxor_rel(p, x) PAWL_PLOCK_GIVES_(fetch_xor, p, x, RELEASE)

/* ---- bts, btr -------------------------------------------------------------------------------- */

#define pl_bts(p, bit) PAWL_PLOCK_GIVES_(set_bit, p, PAWL_PLOCK_BIT_(bit), FULL)
#define pl_bts_lax(p, bit) PAWL_PLOCK_GIVES_(set_bit, p, PAWL_PLOCK_BIT_(bit), RELAXED)
#define pl_bts_acq(p, bit) PAWL_PLOCK_GIVES_(set_bit, p, PAWL_PLOCK_BIT_(bit), ACQUIRE)
#define pl_bts_rel(p, bit) PAWL_PLOCK_GIVES_(set_bit, p, PAWL_PLOCK_BIT_(bit), RELEASE)
#define pl_btr(p, bit) PAWL_PLOCK_GIVES_(clear_bit, p, PAWL_PLOCK_BIT_(bit), FULL)
#define pl_btr_lax(p, bit) PAWL_PLOCK_GIVES_(clear_bit, p, PAWL_PLOCK_BIT_(bit), RELAXED)
#define pl_btr_acq(p, bit) PAWL_PLOCK_GIVES_(clear_bit, p, PAWL_PLOCK_BIT_(bit), ACQUIRE)
#define pl_btr_rel(p, bit) PAWL_PLOCK_GIVES_(clear_bit, p, PAWL_PLOCK_BIT_(bit), RELEASE)

#endif
