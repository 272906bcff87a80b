/* SPDX-License-Identifier: MIT */
/*
 * The waiting halves of the progressive locks of one kind and width; waits.c includes this file for
 * each, and has the macros. include/pawl/detail/alphabet.h makes the names.
 */
#define WORD(verb) PAWL_SLOW_(verb), PAWL_CAT_(PAWL_WORD_KIND, u)

#if PAWL_WORD_KIND == PAWL_KIND_SPIN_
HALF(void, WORD(take_read_slow), (PAWL_LOCK_ * l, PAWL_WORD_ claimed), (PAWL_LOCK_ *, PAWL_WORD_),
     (l, claimed), R, UINT64_MAX)
HALF(void, WORD(take_seek_slow), (PAWL_LOCK_ * l), (PAWL_LOCK_ *), (l), S, UINT64_MAX)
HALF(void, WORD(take_seek_politely), (PAWL_LOCK_ * l), (PAWL_LOCK_ *), (l), S, UINT64_MAX)
HALF(void, WORD(take_write_slow), (PAWL_LOCK_ * l, PAWL_WORD_ met), (PAWL_LOCK_ *, PAWL_WORD_),
     (l, met), W, UINT64_MAX)
HALF(void, WORD(take_write_politely), (PAWL_LOCK_ * l), (PAWL_LOCK_ *), (l), W, UINT64_MAX)
HALF(void, WORD(drain_readers), (PAWL_LOCK_ * l), (PAWL_LOCK_ *), (l), W, UINT64_MAX)
HALF(void, WORD(take_atomic_slow), (PAWL_LOCK_ * l, PAWL_WORD_ met), (PAWL_LOCK_ *, PAWL_WORD_),
     (l, met), A, UINT64_MAX)
HALF(void, WORD(drain_to_atomic), (PAWL_LOCK_ * l, PAWL_WORD_ mark), (PAWL_LOCK_ *, PAWL_WORD_),
     (l, mark), A, UINT64_MAX)
HALF(pawl_regained, WORD(regain_slow), (PAWL_LOCK_ * l), (PAWL_LOCK_ *), (l), R, UINT64_MAX)
#else
#define WITH_DEADLINE(verb, to)                                                                    \
    HALF(bool, WORD(verb), (PAWL_LOCK_ * l, uint64_t deadline), (PAWL_LOCK_ *, uint64_t),          \
         (l, deadline), to, deadline)
WITH_DEADLINE(take_read_slow, R)
WITH_DEADLINE(take_seek_slow, S)
WITH_DEADLINE(take_write_slow, W)
WITH_DEADLINE(take_atomic_slow, A)
WITH_DEADLINE(claim_write_slow, W)
WITH_DEADLINE(claim_atomic_slow, A)
WITH_DEADLINE(read_to_atomic_slow, A)
#if PAWL_WORD_KIND == PAWL_KIND_LOCK_
WITH_DEADLINE(take_read_counted_slow, R)
#endif
HALF(bool, WORD(drain_slow), (PAWL_LOCK_ * l, PAWL_WORD_ claim, uint64_t deadline),
     (PAWL_LOCK_ *, PAWL_WORD_, uint64_t), (l, claim, deadline), W, deadline)
HALF(pawl_regained, WORD(regain_slow), (PAWL_LOCK_ * l, uint64_t deadline),
     (PAWL_LOCK_ *, uint64_t), (l, deadline), R, deadline)
#undef WITH_DEADLINE
#endif

#undef WORD
#undef PAWL_WORD_BITS
