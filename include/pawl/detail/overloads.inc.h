/* SPDX-License-Identifier: MIT */
/*
 * The front names of generic.h for C++, where they are overloads: included for each type and width
 * behind its functions (alphabet.h). Inlined always, so that the call sites that the checking
 * variant reports are the user's.
 */
#ifdef __cplusplus

#define PAWL_OVERLOAD_(marked, result, name, lock)                                                 \
    marked PAWL_ALWAYS_INLINE_ result pawl_##name(lock *l)                                         \
    {                                                                                              \
        return PAWL_NAME_(name)(l);                                                                \
    }
#define PAWL_OVERLOAD_WITH_(marked, result, name, lock, type)                                      \
    marked PAWL_ALWAYS_INLINE_ result pawl_##name(lock *l, type more)                              \
    {                                                                                              \
        return PAWL_NAME_(name)(l, more);                                                          \
    }

PAWL_INLINE_BEGIN

/* overloads:begin (made by scripts/prototypes) */
#if PAWL_WORD_KIND == PAWL_KIND_SPIN_
PAWL_OVERLOAD_(PAWL_INLINE, PAWL_WORD_, bits, const PAWL_LOCK_)
PAWL_OVERLOAD_WITH_(PAWL_INLINE, PAWL_WORD_, set_bits, PAWL_LOCK_, PAWL_WORD_)
PAWL_OVERLOAD_WITH_(PAWL_INLINE, PAWL_WORD_, clear_bits, PAWL_LOCK_, PAWL_WORD_)
#endif
#if PAWL_WORD_KIND != PAWL_KIND_SPIN_
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, take_read_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, take_seek_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, take_write_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, take_atomic_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, claim_write_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, claim_atomic_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, seek_to_write_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, read_claim_write_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, read_claim_atomic_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, pawl_regained, atomic_to_read_until, PAWL_LOCK_, uint64_t)
#endif
#if PAWL_WORD_KIND != PAWL_KIND_PSHARED_
PAWL_OVERLOAD_(PAWL_INLINE, void, init, PAWL_LOCK_)
PAWL_OVERLOAD_WITH_(PAWL_INLINE, void, take_two_read, PAWL_LOCK_, PAWL_LOCK_ *)
PAWL_OVERLOAD_WITH_(PAWL_INLINE, void, drop_two_read, PAWL_LOCK_, PAWL_LOCK_ *)
PAWL_OVERLOAD_WITH_(PAWL_INLINE, void, take_two_seek, PAWL_LOCK_, PAWL_LOCK_ *)
PAWL_OVERLOAD_WITH_(PAWL_INLINE, void, drop_two_seek, PAWL_LOCK_, PAWL_LOCK_ *)
PAWL_OVERLOAD_WITH_(PAWL_INLINE, void, take_two_write, PAWL_LOCK_, PAWL_LOCK_ *)
PAWL_OVERLOAD_WITH_(PAWL_INLINE, void, drop_two_write, PAWL_LOCK_, PAWL_LOCK_ *)
PAWL_OVERLOAD_(PAWL_INLINE, void, assert_held_read, const PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, assert_held_seek, const PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, assert_held_write, const PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, assert_held_atomic, const PAWL_LOCK_)
#endif
#if PAWL_WORD_KIND == PAWL_KIND_PSHARED_
PAWL_OVERLOAD_(PAWL_INLINE, bool, init, PAWL_LOCK_)
#endif
#if PAWL_WORD_KIND == PAWL_KIND_LOCK_
PAWL_OVERLOAD_(PAWL_INLINE, void, take_read_counted, PAWL_LOCK_)
PAWL_OVERLOAD_WITH_(PAWL_TRYING, bool, take_read_counted_until, PAWL_LOCK_, uint64_t)
PAWL_OVERLOAD_(PAWL_TRYING, bool, try_read_counted, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, drop_read_counted, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, hand_off, PAWL_LOCK_)
#endif

PAWL_OVERLOAD_(PAWL_INLINE, void, destroy, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, take_read, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, take_seek, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, take_write, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, take_atomic, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, try_read, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, try_seek, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, try_write, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, try_atomic, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, claim_write, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, claim_atomic, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, drop_read, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, drop_seek, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, drop_write, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, drop_atomic, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, seek_to_write, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, try_seek_to_write, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, write_to_seek, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, write_to_read, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, void, seek_to_read, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, try_read_to_seek, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, try_read_to_write, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, read_claim_write, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, try_read_to_atomic, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_TRYING, bool, read_claim_atomic, PAWL_LOCK_)
PAWL_OVERLOAD_(PAWL_INLINE, pawl_regained, atomic_to_read, PAWL_LOCK_)
/* overloads:end (made by scripts/prototypes) */

PAWL_INLINE_END

#undef PAWL_OVERLOAD_
#undef PAWL_OVERLOAD_WITH_

#endif
