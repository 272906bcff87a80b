/* SPDX-License-Identifier: MIT */
/*
 * The front names of C, which choose the function by the type of the lock: pawl_take_read(&l) calls
 * pawl_spin16_take_read, ..., pawl_lock64_take_read or pawl_pshared_lock64_take_read. All of them
 * stand here, once; spin.h, lock.h and pshared.h each add their types and change no meaning. In C++
 * the same names are overloads (detail/overloads.inc.h).
 *
 * A pointer to anything else does not compile: no association of _Generic fits it, and the
 * compiler's error names the type that was given.
 *
 * Included by spin.h; there is no need to include it.
 */
#ifndef PAWL_GENERIC_H
#define PAWL_GENERIC_H

#include <pawl/atomic.h>

#ifndef __cplusplus

/* The associations of each header's types. lock.h defines PAWL_HAVE_LOCK_ as 1, pshared.h
 * PAWL_HAVE_PSHARED_. Where one is not defined its own name is pasted, and that list is empty. */
/* clang-format off */
#define PAWL_OF_SPIN_(name)                                                                        \
    pawl_spin16 *: pawl_spin16##name, pawl_spin32 *: pawl_spin32##name,                            \
        pawl_spin64 *: pawl_spin64##name
#define PAWL_OF_LOCK_1(name) , pawl_lock32 *: pawl_lock32##name, pawl_lock64 *: pawl_lock64##name
#define PAWL_OF_LOCK_PAWL_HAVE_LOCK_(name)
#define PAWL_OF_PSHARED_1(name)                                                                    \
    , pawl_pshared_lock32 *: pawl_pshared_lock32##name,                                            \
        pawl_pshared_lock64 *: pawl_pshared_lock64##name
#define PAWL_OF_PSHARED_PAWL_HAVE_PSHARED_(name)

/* The same for functions that only read the lock. */
#define PAWL_OF_SPIN_CONST_(name)                                                                  \
    PAWL_OF_SPIN_(name), const pawl_spin16 *: pawl_spin16##name,                                   \
        const pawl_spin32 *: pawl_spin32##name, const pawl_spin64 *: pawl_spin64##name
#define PAWL_OF_LOCK_CONST_1(name)                                                                 \
    PAWL_OF_LOCK_1(name), const pawl_lock32 *: pawl_lock32##name,                                  \
        const pawl_lock64 *: pawl_lock64##name
#define PAWL_OF_LOCK_CONST_PAWL_HAVE_LOCK_(name)
/* clang-format on */

#define PAWL_OF_LOCK_(name) PAWL_CAT_(PAWL_OF_LOCK_, PAWL_HAVE_LOCK_)(name)
#define PAWL_OF_LOCK_CONST_(name) PAWL_CAT_(PAWL_OF_LOCK_CONST_, PAWL_HAVE_LOCK_)(name)
#define PAWL_OF_PSHARED_(name) PAWL_CAT_(PAWL_OF_PSHARED_, PAWL_HAVE_PSHARED_)(name)

/* The functions that a front name chooses among. The last one's own type stands for nothing: it
 * is there because a list of associations may not be empty. */
#define PAWL_FRONT_ANY_(lock, name)                                                                \
    _Generic((lock), PAWL_OF_SPIN_(name) PAWL_OF_LOCK_(name) PAWL_OF_PSHARED_(name))
#define PAWL_FRONT_WATCHED_(lock, name) _Generic((lock), PAWL_OF_SPIN_(name) PAWL_OF_LOCK_(name))
#define PAWL_FRONT_WATCHED_CONST_(lock, name)                                                      \
    _Generic((lock), PAWL_OF_SPIN_CONST_(name) PAWL_OF_LOCK_CONST_(name))
#define PAWL_FRONT_BITS_(lock, name) _Generic((lock), PAWL_OF_SPIN_(name))
#define PAWL_FRONT_BITS_CONST_(lock, name) _Generic((lock), PAWL_OF_SPIN_CONST_(name))
#define PAWL_FRONT_UNTIL_(lock, name)                                                              \
    _Generic((lock), struct ipawl_no_deadlines_ *: 0 PAWL_OF_LOCK_(name) PAWL_OF_PSHARED_(name))
#define PAWL_FRONT_SLEEPING_(lock, name)                                                           \
    _Generic((lock), struct ipawl_no_deadlines_ *: 0 PAWL_OF_LOCK_(name))

/* fronts:begin (made by scripts/prototypes) */
#define pawl_init(lock) PAWL_FRONT_ANY_(lock, _init)(lock)
#define pawl_destroy(lock) PAWL_FRONT_ANY_(lock, _destroy)(lock)
#define pawl_take_read(lock) PAWL_FRONT_ANY_(lock, _take_read)(lock)
#define pawl_take_seek(lock) PAWL_FRONT_ANY_(lock, _take_seek)(lock)
#define pawl_take_write(lock) PAWL_FRONT_ANY_(lock, _take_write)(lock)
#define pawl_take_atomic(lock) PAWL_FRONT_ANY_(lock, _take_atomic)(lock)
#define pawl_try_read(lock) PAWL_FRONT_ANY_(lock, _try_read)(lock)
#define pawl_try_seek(lock) PAWL_FRONT_ANY_(lock, _try_seek)(lock)
#define pawl_try_write(lock) PAWL_FRONT_ANY_(lock, _try_write)(lock)
#define pawl_try_atomic(lock) PAWL_FRONT_ANY_(lock, _try_atomic)(lock)
#define pawl_claim_write(lock) PAWL_FRONT_ANY_(lock, _claim_write)(lock)
#define pawl_claim_atomic(lock) PAWL_FRONT_ANY_(lock, _claim_atomic)(lock)
#define pawl_drop_read(lock) PAWL_FRONT_ANY_(lock, _drop_read)(lock)
#define pawl_drop_seek(lock) PAWL_FRONT_ANY_(lock, _drop_seek)(lock)
#define pawl_drop_write(lock) PAWL_FRONT_ANY_(lock, _drop_write)(lock)
#define pawl_drop_atomic(lock) PAWL_FRONT_ANY_(lock, _drop_atomic)(lock)
#define pawl_seek_to_write(lock) PAWL_FRONT_ANY_(lock, _seek_to_write)(lock)
#define pawl_try_seek_to_write(lock) PAWL_FRONT_ANY_(lock, _try_seek_to_write)(lock)
#define pawl_write_to_seek(lock) PAWL_FRONT_ANY_(lock, _write_to_seek)(lock)
#define pawl_write_to_read(lock) PAWL_FRONT_ANY_(lock, _write_to_read)(lock)
#define pawl_seek_to_read(lock) PAWL_FRONT_ANY_(lock, _seek_to_read)(lock)
#define pawl_try_read_to_seek(lock) PAWL_FRONT_ANY_(lock, _try_read_to_seek)(lock)
#define pawl_try_read_to_write(lock) PAWL_FRONT_ANY_(lock, _try_read_to_write)(lock)
#define pawl_read_claim_write(lock) PAWL_FRONT_ANY_(lock, _read_claim_write)(lock)
#define pawl_try_read_to_atomic(lock) PAWL_FRONT_ANY_(lock, _try_read_to_atomic)(lock)
#define pawl_read_claim_atomic(lock) PAWL_FRONT_ANY_(lock, _read_claim_atomic)(lock)
#define pawl_atomic_to_read(lock) PAWL_FRONT_ANY_(lock, _atomic_to_read)(lock)
#define pawl_take_read_until(lock, deadline)                                                       \
    PAWL_FRONT_UNTIL_(lock, _take_read_until)(lock, deadline)
#define pawl_take_seek_until(lock, deadline)                                                       \
    PAWL_FRONT_UNTIL_(lock, _take_seek_until)(lock, deadline)
#define pawl_take_write_until(lock, deadline)                                                      \
    PAWL_FRONT_UNTIL_(lock, _take_write_until)(lock, deadline)
#define pawl_take_atomic_until(lock, deadline)                                                     \
    PAWL_FRONT_UNTIL_(lock, _take_atomic_until)(lock, deadline)
#define pawl_claim_write_until(lock, deadline)                                                     \
    PAWL_FRONT_UNTIL_(lock, _claim_write_until)(lock, deadline)
#define pawl_claim_atomic_until(lock, deadline)                                                    \
    PAWL_FRONT_UNTIL_(lock, _claim_atomic_until)(lock, deadline)
#define pawl_seek_to_write_until(lock, deadline)                                                   \
    PAWL_FRONT_UNTIL_(lock, _seek_to_write_until)(lock, deadline)
#define pawl_read_claim_write_until(lock, deadline)                                                \
    PAWL_FRONT_UNTIL_(lock, _read_claim_write_until)(lock, deadline)
#define pawl_read_claim_atomic_until(lock, deadline)                                               \
    PAWL_FRONT_UNTIL_(lock, _read_claim_atomic_until)(lock, deadline)
#define pawl_atomic_to_read_until(lock, deadline)                                                  \
    PAWL_FRONT_UNTIL_(lock, _atomic_to_read_until)(lock, deadline)
#define pawl_take_read_counted(lock) PAWL_FRONT_SLEEPING_(lock, _take_read_counted)(lock)
#define pawl_take_read_counted_until(lock, deadline)                                               \
    PAWL_FRONT_SLEEPING_(lock, _take_read_counted_until)(lock, deadline)
#define pawl_try_read_counted(lock) PAWL_FRONT_SLEEPING_(lock, _try_read_counted)(lock)
#define pawl_drop_read_counted(lock) PAWL_FRONT_SLEEPING_(lock, _drop_read_counted)(lock)
#define pawl_hand_off(lock) PAWL_FRONT_SLEEPING_(lock, _hand_off)(lock)
#define pawl_take_two_read(lock, other) PAWL_FRONT_WATCHED_(lock, _take_two_read)(lock, other)
#define pawl_drop_two_read(lock, other) PAWL_FRONT_WATCHED_(lock, _drop_two_read)(lock, other)
#define pawl_take_two_seek(lock, other) PAWL_FRONT_WATCHED_(lock, _take_two_seek)(lock, other)
#define pawl_drop_two_seek(lock, other) PAWL_FRONT_WATCHED_(lock, _drop_two_seek)(lock, other)
#define pawl_take_two_write(lock, other) PAWL_FRONT_WATCHED_(lock, _take_two_write)(lock, other)
#define pawl_drop_two_write(lock, other) PAWL_FRONT_WATCHED_(lock, _drop_two_write)(lock, other)
#define pawl_bits(lock) PAWL_FRONT_BITS_CONST_(lock, _bits)(lock)
#define pawl_set_bits(lock, bits) PAWL_FRONT_BITS_(lock, _set_bits)(lock, bits)
#define pawl_clear_bits(lock, bits) PAWL_FRONT_BITS_(lock, _clear_bits)(lock, bits)
#define pawl_assert_held_read(lock) PAWL_FRONT_WATCHED_CONST_(lock, _assert_held_read)(lock)
#define pawl_assert_held_seek(lock) PAWL_FRONT_WATCHED_CONST_(lock, _assert_held_seek)(lock)
#define pawl_assert_held_write(lock) PAWL_FRONT_WATCHED_CONST_(lock, _assert_held_write)(lock)
#define pawl_assert_held_atomic(lock) PAWL_FRONT_WATCHED_CONST_(lock, _assert_held_atomic)(lock)
#define pawl_cond_wait_read(cond, lock) PAWL_FRONT_WATCHED_(lock, _cond_wait_read)(cond, lock)
#define pawl_cond_wait_seek(cond, lock) PAWL_FRONT_WATCHED_(lock, _cond_wait_seek)(cond, lock)
#define pawl_cond_wait_write(cond, lock) PAWL_FRONT_WATCHED_(lock, _cond_wait_write)(cond, lock)
#define pawl_cond_wait_read_until(cond, lock, deadline)                                            \
    PAWL_FRONT_WATCHED_(lock, _cond_wait_read_until)(cond, lock, deadline)
#define pawl_cond_wait_seek_until(cond, lock, deadline)                                            \
    PAWL_FRONT_WATCHED_(lock, _cond_wait_seek_until)(cond, lock, deadline)
#define pawl_cond_wait_write_until(cond, lock, deadline)                                           \
    PAWL_FRONT_WATCHED_(lock, _cond_wait_write_until)(cond, lock, deadline)
/* fronts:end (made by scripts/prototypes) */

#endif

#endif
