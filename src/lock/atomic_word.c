/* SPDX-License-Identifier: MIT */
/* The accesses to the word of a progressive lock of any width. */
#include "atomic_word.h"

/* Each caller has its own copy where the harness looks for the caller's line. */
#if PAWL_HOOKS && defined(PAWL_ONE_FILE_)
#define ACCESS PAWL_INTERNAL inline PAWL_ALWAYS_INLINE_
#else
#define ACCESS PAWL_INTERNAL
#endif

PAWL_INTERNAL uint64_t word_plus(uint64_t w, uint64_t units, enum word_layout layout)
{
    const uint64_t sum = word_narrow(w, layout) + word_narrow(units, layout);
    return word_widen(sum & UINT64_MAX >> 2 * (unsigned)layout, layout);
}

static inline uint32_t word_32(uint64_t w)
{
    return (uint32_t)word_narrow(w, WORD_32);
}

ACCESS uint64_t word_load_acquire(const struct word *word, enum pawl_tag tag)
{
    return word->layout == WORD_64
               ? pawl_load_acquire64((const uint64_t *)word->address, tag)
               : word_widen(pawl_load_acquire32((const uint32_t *)word->address, tag), WORD_32);
}

ACCESS bool word_cas_acq_rel(const struct word *word, uint64_t *w, uint64_t units,
                             enum pawl_tag tag)
{
    uint32_t narrow;
    bool done;
    if (word->layout == WORD_64)
        return pawl_cas_acq_rel64((uint64_t *)word->address, w, *w + units, tag);
    narrow = word_32(*w);
    done = pawl_cas_acq_rel32((uint32_t *)word->address, &narrow, narrow + word_32(units), tag);
    *w = word_widen(narrow, WORD_32);
    return done;
}

ACCESS uint64_t word_fetch_add_release(const struct word *word, uint64_t units, enum pawl_tag tag)
{
    return word->layout == WORD_64 ? pawl_fetch_add_release64((uint64_t *)word->address, units, tag)
                                   : word_widen(pawl_fetch_add_release32((uint32_t *)word->address,
                                                                         word_32(units), tag),
                                                WORD_32);
}

ACCESS uint64_t word_fetch_or_release(const struct word *word, uint32_t bits, enum pawl_tag tag)
{
    return word->layout == WORD_64
               ? pawl_fetch_or_release64((uint64_t *)word->address, bits, tag)
               : word_widen(pawl_fetch_or_release32((uint32_t *)word->address, bits, tag), WORD_32);
}

ACCESS void word_fetch_clear_relaxed(const struct word *word, uint32_t bits)
{
    if (word->layout == WORD_64)
        (void)pawl_fetch_and_relaxed64((uint64_t *)word->address, ~(uint64_t)bits);
    else
        (void)pawl_fetch_and_relaxed32((uint32_t *)word->address, ~bits);
}

#if WORD_ORDERS

ACCESS uint64_t word_load_relaxed(const struct word *word)
{
    return word->layout == WORD_64
               ? pawl_load_relaxed64((const uint64_t *)word->address)
               : word_widen(pawl_load_relaxed32((const uint32_t *)word->address), WORD_32);
}

ACCESS bool word_cas_relaxed(const struct word *word, uint64_t *w, uint64_t units)
{
    uint32_t narrow;
    bool done;
    if (word->layout == WORD_64)
        return pawl_cas_relaxed64((uint64_t *)word->address, w, *w + units);
    narrow = word_32(*w);
    done = pawl_cas_relaxed32((uint32_t *)word->address, &narrow, narrow + word_32(units));
    *w = word_widen(narrow, WORD_32);
    return done;
}

ACCESS bool word_cas_acquire(const struct word *word, uint64_t *w, uint64_t units,
                             enum pawl_tag tag)
{
    uint32_t narrow;
    bool done;
    if (word->layout == WORD_64)
        return pawl_cas_acquire64((uint64_t *)word->address, w, *w + units, tag);
    narrow = word_32(*w);
    done = pawl_cas_acquire32((uint32_t *)word->address, &narrow, narrow + word_32(units), tag);
    *w = word_widen(narrow, WORD_32);
    return done;
}

ACCESS bool word_cas_release(const struct word *word, uint64_t *w, uint64_t units,
                             enum pawl_tag tag)
{
    uint32_t narrow;
    bool done;
    if (word->layout == WORD_64)
        return pawl_cas_release64((uint64_t *)word->address, w, *w + units, tag);
    narrow = word_32(*w);
    done = pawl_cas_release32((uint32_t *)word->address, &narrow, narrow + word_32(units), tag);
    *w = word_widen(narrow, WORD_32);
    return done;
}

ACCESS uint64_t word_fetch_add_relaxed(const struct word *word, uint64_t units)
{
    return word->layout == WORD_64
               ? pawl_fetch_add_relaxed64((uint64_t *)word->address, units)
               : word_widen(pawl_fetch_add_relaxed32((uint32_t *)word->address, word_32(units)),
                            WORD_32);
}

ACCESS uint64_t word_fetch_or_relaxed(const struct word *word, uint32_t bits)
{
    return word->layout == WORD_64
               ? pawl_fetch_or_relaxed64((uint64_t *)word->address, bits)
               : word_widen(pawl_fetch_or_relaxed32((uint32_t *)word->address, bits), WORD_32);
}

#endif

#undef ACCESS
