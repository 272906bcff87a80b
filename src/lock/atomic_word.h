/* SPDX-License-Identifier: MIT */
/*
 * The word of a progressive lock, whatever its width, for functions that serve all widths. A word
 * of 16 or 32 bits is read as the word of 64 bits that has the same R, S, W and application bits:
 * the layouts differ only in where the upper half begins.
 *
 * Words convert both ways, and so do sums of units. The sum of a word and units does not: with R
 * full, one more R carries into S of the narrow word, and is lost when the wide sum is narrowed. So
 * tests read the wide value, and each new value is the narrow word plus narrowed units.
 *
 * As in the other files atomic_*.h, an access counts where its caller stands (scripts/orders,
 * tests/model).
 */
#ifndef PAWL_ATOMIC_WORD_H
#define PAWL_ATOMIC_WORD_H

#include <pawl/spin.h>

#include "../base/base.h"

/* How far the upper half moves when the word is widened. */
enum word_layout { WORD_64 = 0, WORD_32 = 16, WORD_16 = 24 };

struct word {
    void *address;
    enum word_layout layout; /* WORD_32 or WORD_64: no lock of 16 bits sleeps */
};

/* ---- Values ---------------------------------------------------------------------------------- */

static inline uint64_t word_widen(uint64_t w, enum word_layout layout)
{
    const uint64_t low = UINT64_C(0xffffffff) >> layout;
    return (w & low) | (w & ~low) << layout;
}

/* A word, or a sum of units; of the latter the bits of the narrow word count. */
static inline uint64_t word_narrow(uint64_t w, enum word_layout layout)
{
    const uint64_t low = UINT64_C(0xffffffff) >> layout;
    return (w & low) | (w >> layout & ~low);
}

/* The value of `w` once the units have been added to the narrow word. */
PAWL_INTERNAL uint64_t word_plus(uint64_t w, uint64_t units, enum word_layout layout);

/* ---- Accesses (atomic_word.c) ------------------------------------------------------------------
 * Each takes and returns wide values. `bits` are application bits, which lie in the same place in
 * all widths. */

PAWL_INTERNAL uint64_t word_load_acquire(const struct word *word, enum pawl_tag tag);
/* Adds the units to the word if it is *w; else *w is what it is. */
PAWL_INTERNAL bool word_cas_acq_rel(const struct word *word, uint64_t *w, uint64_t units,
                                    enum pawl_tag tag);
/* These return what they have found. */
PAWL_INTERNAL uint64_t word_fetch_add_release(const struct word *word, uint64_t units,
                                              enum pawl_tag tag);
PAWL_INTERNAL uint64_t word_fetch_or_release(const struct word *word, uint32_t bits,
                                             enum pawl_tag tag);
PAWL_INTERNAL void word_fetch_clear_relaxed(const struct word *word, uint32_t bits);

/* Of weaker order. They are accesses of their own where orders are checked. Elsewhere a wait is so
 * much longer than an order that one function serves all. */
#if PAWL_HOOKS || PAWL_TOLD_
#define WORD_ORDERS 1 /* functions of their own */
PAWL_INTERNAL uint64_t word_load_relaxed(const struct word *word);
PAWL_INTERNAL bool word_cas_relaxed(const struct word *word, uint64_t *w, uint64_t units);
PAWL_INTERNAL bool word_cas_acquire(const struct word *word, uint64_t *w, uint64_t units,
                                    enum pawl_tag tag);
PAWL_INTERNAL bool word_cas_release(const struct word *word, uint64_t *w, uint64_t units,
                                    enum pawl_tag tag);
PAWL_INTERNAL uint64_t word_fetch_add_relaxed(const struct word *word, uint64_t units);
PAWL_INTERNAL uint64_t word_fetch_or_relaxed(const struct word *word, uint32_t bits);
#else
#define WORD_ORDERS 0
static inline uint64_t word_load_relaxed(const struct word *word)
{
    return word_load_acquire(word, PAWL_TAG_NONE_);
}
static inline bool word_cas_relaxed(const struct word *word, uint64_t *w, uint64_t units)
{
    return word_cas_acq_rel(word, w, units, PAWL_TAG_NONE_);
}
static inline bool word_cas_acquire(const struct word *word, uint64_t *w, uint64_t units,
                                    enum pawl_tag tag)
{
    return word_cas_acq_rel(word, w, units, tag);
}
static inline bool word_cas_release(const struct word *word, uint64_t *w, uint64_t units,
                                    enum pawl_tag tag)
{
    return word_cas_acq_rel(word, w, units, tag);
}
static inline uint64_t word_fetch_add_relaxed(const struct word *word, uint64_t units)
{
    return word_fetch_add_release(word, units, PAWL_TAG_NONE_);
}
static inline uint64_t word_fetch_or_relaxed(const struct word *word, uint32_t bits)
{
    return word_fetch_or_release(word, bits, PAWL_TAG_NONE_);
}
#endif

#endif
