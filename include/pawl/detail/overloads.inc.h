/* SPDX-License-Identifier: MIT */
/*
 * The front names of generic.h for C++, where they are overloads: included for each type and width
 * behind its functions (alphabet.h). Inlined always, so that the call sites that the checking
 * variant reports are the user's.
 */
#ifdef __cplusplus

#define PAWL_OVERLOAD_ PAWL_INLINE PAWL_ALWAYS_INLINE_
#define PAWL_OVERLOAD_TRY_ PAWL_TRYING PAWL_ALWAYS_INLINE_

PAWL_INLINE_BEGIN

/* overloads:begin (made by scripts/prototypes) */
#if PAWL_WORD_KIND == PAWL_KIND_SPIN_
PAWL_OVERLOAD_ PAWL_WORD_ pawl_bits(const PAWL_LOCK_ *l)
{
    return PAWL_NAME_(bits)(l);
}
PAWL_OVERLOAD_ PAWL_WORD_ pawl_set_bits(PAWL_LOCK_ *l, PAWL_WORD_ bits)
{
    return PAWL_NAME_(set_bits)(l, bits);
}
PAWL_OVERLOAD_ PAWL_WORD_ pawl_clear_bits(PAWL_LOCK_ *l, PAWL_WORD_ bits)
{
    return PAWL_NAME_(clear_bits)(l, bits);
}
#endif
#if PAWL_WORD_KIND != PAWL_KIND_SPIN_
PAWL_OVERLOAD_TRY_ bool pawl_take_read_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(take_read_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ bool pawl_take_seek_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(take_seek_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ bool pawl_take_write_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(take_write_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ bool pawl_take_atomic_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(take_atomic_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ bool pawl_claim_write_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(claim_write_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ bool pawl_claim_atomic_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(claim_atomic_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ bool pawl_seek_to_write_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(seek_to_write_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ bool pawl_read_claim_write_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(read_claim_write_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ bool pawl_read_claim_atomic_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(read_claim_atomic_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ pawl_regained pawl_atomic_to_read_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(atomic_to_read_until)(l, deadline);
}
#endif
#if PAWL_WORD_KIND != PAWL_KIND_PSHARED_
PAWL_OVERLOAD_ void pawl_init(PAWL_LOCK_ *l)
{
    PAWL_NAME_(init)(l);
}
PAWL_OVERLOAD_ void pawl_take_two_read(PAWL_LOCK_ *l, PAWL_LOCK_ *other)
{
    PAWL_NAME_(take_two_read)(l, other);
}
PAWL_OVERLOAD_ void pawl_drop_two_read(PAWL_LOCK_ *l, PAWL_LOCK_ *other)
{
    PAWL_NAME_(drop_two_read)(l, other);
}
PAWL_OVERLOAD_ void pawl_take_two_seek(PAWL_LOCK_ *l, PAWL_LOCK_ *other)
{
    PAWL_NAME_(take_two_seek)(l, other);
}
PAWL_OVERLOAD_ void pawl_drop_two_seek(PAWL_LOCK_ *l, PAWL_LOCK_ *other)
{
    PAWL_NAME_(drop_two_seek)(l, other);
}
PAWL_OVERLOAD_ void pawl_take_two_write(PAWL_LOCK_ *l, PAWL_LOCK_ *other)
{
    PAWL_NAME_(take_two_write)(l, other);
}
PAWL_OVERLOAD_ void pawl_drop_two_write(PAWL_LOCK_ *l, PAWL_LOCK_ *other)
{
    PAWL_NAME_(drop_two_write)(l, other);
}
PAWL_OVERLOAD_ void pawl_assert_held_read(const PAWL_LOCK_ *l)
{
    PAWL_NAME_(assert_held_read)(l);
}
PAWL_OVERLOAD_ void pawl_assert_held_seek(const PAWL_LOCK_ *l)
{
    PAWL_NAME_(assert_held_seek)(l);
}
PAWL_OVERLOAD_ void pawl_assert_held_write(const PAWL_LOCK_ *l)
{
    PAWL_NAME_(assert_held_write)(l);
}
PAWL_OVERLOAD_ void pawl_assert_held_atomic(const PAWL_LOCK_ *l)
{
    PAWL_NAME_(assert_held_atomic)(l);
}
#endif
#if PAWL_WORD_KIND == PAWL_KIND_PSHARED_
PAWL_OVERLOAD_ bool pawl_init(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(init)(l);
}
#endif
#if PAWL_WORD_KIND == PAWL_KIND_LOCK_
PAWL_OVERLOAD_ void pawl_take_read_counted(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_read_counted)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_take_read_counted_until(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_NAME_(take_read_counted_until)(l, deadline);
}
PAWL_OVERLOAD_TRY_ bool pawl_try_read_counted(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(try_read_counted)(l);
}
PAWL_OVERLOAD_ void pawl_drop_read_counted(PAWL_LOCK_ *l)
{
    PAWL_NAME_(drop_read_counted)(l);
}
PAWL_OVERLOAD_ void pawl_hand_off(PAWL_LOCK_ *l)
{
    PAWL_NAME_(hand_off)(l);
}
#endif

PAWL_OVERLOAD_ void pawl_destroy(PAWL_LOCK_ *l)
{
    PAWL_NAME_(destroy)(l);
}
PAWL_OVERLOAD_ void pawl_take_read(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_read)(l);
}
PAWL_OVERLOAD_ void pawl_take_seek(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_seek)(l);
}
PAWL_OVERLOAD_ void pawl_take_write(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_write)(l);
}
PAWL_OVERLOAD_ void pawl_take_atomic(PAWL_LOCK_ *l)
{
    PAWL_NAME_(take_atomic)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_try_read(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(try_read)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_try_seek(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(try_seek)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_try_write(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(try_write)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_try_atomic(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(try_atomic)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_claim_write(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(claim_write)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_claim_atomic(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(claim_atomic)(l);
}
PAWL_OVERLOAD_ void pawl_drop_read(PAWL_LOCK_ *l)
{
    PAWL_NAME_(drop_read)(l);
}
PAWL_OVERLOAD_ void pawl_drop_seek(PAWL_LOCK_ *l)
{
    PAWL_NAME_(drop_seek)(l);
}
PAWL_OVERLOAD_ void pawl_drop_write(PAWL_LOCK_ *l)
{
    PAWL_NAME_(drop_write)(l);
}
PAWL_OVERLOAD_ void pawl_drop_atomic(PAWL_LOCK_ *l)
{
    PAWL_NAME_(drop_atomic)(l);
}
PAWL_OVERLOAD_ void pawl_seek_to_write(PAWL_LOCK_ *l)
{
    PAWL_NAME_(seek_to_write)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_try_seek_to_write(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(try_seek_to_write)(l);
}
PAWL_OVERLOAD_ void pawl_write_to_seek(PAWL_LOCK_ *l)
{
    PAWL_NAME_(write_to_seek)(l);
}
PAWL_OVERLOAD_ void pawl_write_to_read(PAWL_LOCK_ *l)
{
    PAWL_NAME_(write_to_read)(l);
}
PAWL_OVERLOAD_ void pawl_seek_to_read(PAWL_LOCK_ *l)
{
    PAWL_NAME_(seek_to_read)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_try_read_to_seek(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(try_read_to_seek)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_try_read_to_write(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(try_read_to_write)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_read_claim_write(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(read_claim_write)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_try_read_to_atomic(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(try_read_to_atomic)(l);
}
PAWL_OVERLOAD_TRY_ bool pawl_read_claim_atomic(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(read_claim_atomic)(l);
}
PAWL_OVERLOAD_ pawl_regained pawl_atomic_to_read(PAWL_LOCK_ *l)
{
    return PAWL_NAME_(atomic_to_read)(l);
}
/* overloads:end (made by scripts/prototypes) */

PAWL_INLINE_END

#undef PAWL_OVERLOAD_
#undef PAWL_OVERLOAD_TRY_

#endif
