/* SPDX-License-Identifier: MIT */
/*
 * The robust lock tells a checker of races this, around its compiled operations. The promises are
 * those of the other locks (tsan.h); the mutexes that it is made of order more in any one run. The
 * clocks lie in the lock's first word, which no operation changes. robust.h includes this file in
 * builds for a checker, except where the library itself is compiled.
 */
#include <pawl/robust.h> /* outside the guard: robust.h includes this file where it needs it */

#ifndef PAWL_ROBUST_TOLD_H
#define PAWL_ROBUST_TOLD_H
#if PAWL_TOLD_ && !PAWL_HOOKS && !defined(PAWL_COMPILED_)

#include <pawl/spin.h>

PAWL_INLINE_BEGIN

#define PAWL_ROBUST_OP_(name, parameters, arguments, from, to)                                     \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ enum pawl_robust pawl_robust_lock_told_##name parameters       \
    {                                                                                              \
        enum pawl_robust how;                                                                      \
        pawl_tsan_before_(&l->magic, sizeof(l->magic), PAWL_STATE_##from);                         \
        how = pawl_robust_lock_##name arguments;                                                   \
        pawl_tsan_after_(&l->magic, sizeof(l->magic), PAWL_STATE_##to, pawl_robust_held(how));     \
        return how;                                                                                \
    }
#define PAWL_ROBUST_NOW_(name, from, to)                                                           \
    PAWL_ROBUST_OP_(name, (pawl_robust_lock * l), (l), from, to)
#define PAWL_ROBUST_UNTIL_(name, from, to)                                                         \
    PAWL_ROBUST_OP_(name, (pawl_robust_lock * l, uint64_t deadline), (l, deadline), from, to)

PAWL_ROBUST_NOW_(take_read, U, R)
PAWL_ROBUST_NOW_(take_seek, U, S)
PAWL_ROBUST_NOW_(take_write, U, W)
PAWL_ROBUST_NOW_(take_atomic, U, A)
PAWL_ROBUST_UNTIL_(take_read_until, U, R)
PAWL_ROBUST_UNTIL_(take_seek_until, U, S)
PAWL_ROBUST_UNTIL_(take_write_until, U, W)
PAWL_ROBUST_UNTIL_(take_atomic_until, U, A)
PAWL_ROBUST_NOW_(try_read, U, R)
PAWL_ROBUST_NOW_(try_seek, U, S)
PAWL_ROBUST_NOW_(try_write, U, W)
PAWL_ROBUST_NOW_(try_atomic, U, A)
PAWL_ROBUST_NOW_(drop_read, R, U)
PAWL_ROBUST_NOW_(drop_seek, S, U)
PAWL_ROBUST_NOW_(drop_write, W, U)
PAWL_ROBUST_NOW_(drop_atomic, A, U)
PAWL_ROBUST_NOW_(seek_to_write, S, W)
PAWL_ROBUST_UNTIL_(seek_to_write_until, S, W)
PAWL_ROBUST_NOW_(try_seek_to_write, S, W)
PAWL_ROBUST_NOW_(try_read_to_seek, R, S)
PAWL_ROBUST_NOW_(try_read_to_write, R, W)
PAWL_ROBUST_NOW_(read_claim_write, R, W)
PAWL_ROBUST_UNTIL_(read_claim_write_until, R, W)
PAWL_ROBUST_NOW_(write_to_seek, W, S)
PAWL_ROBUST_NOW_(write_to_read, W, R)
PAWL_ROBUST_NOW_(seek_to_read, S, R)

/* Any holder calls it, and keeps its state. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ enum pawl_robust
pawl_robust_lock_told_consistent(pawl_robust_lock *l)
{
    enum pawl_robust how;
    pawl_told_hide_(l);
    how = pawl_robust_lock_consistent(l);
    pawl_told_show_(l);
    return how;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ unsigned pawl_robust_lock_told_deaths(const pawl_robust_lock *l)
{
    unsigned deaths;
    pawl_told_hide_(l);
    deaths = pawl_robust_lock_deaths(l);
    pawl_told_show_(l);
    return deaths;
}

PAWL_INLINE_END

#undef PAWL_ROBUST_OP_
#undef PAWL_ROBUST_NOW_
#undef PAWL_ROBUST_UNTIL_

#undef pawl_robust_lock_take_read
#define pawl_robust_lock_take_read pawl_robust_lock_told_take_read
#undef pawl_robust_lock_take_seek
#define pawl_robust_lock_take_seek pawl_robust_lock_told_take_seek
#undef pawl_robust_lock_take_write
#define pawl_robust_lock_take_write pawl_robust_lock_told_take_write
#undef pawl_robust_lock_take_atomic
#define pawl_robust_lock_take_atomic pawl_robust_lock_told_take_atomic
#undef pawl_robust_lock_take_read_until
#define pawl_robust_lock_take_read_until pawl_robust_lock_told_take_read_until
#undef pawl_robust_lock_take_seek_until
#define pawl_robust_lock_take_seek_until pawl_robust_lock_told_take_seek_until
#undef pawl_robust_lock_take_write_until
#define pawl_robust_lock_take_write_until pawl_robust_lock_told_take_write_until
#undef pawl_robust_lock_take_atomic_until
#define pawl_robust_lock_take_atomic_until pawl_robust_lock_told_take_atomic_until
#undef pawl_robust_lock_try_read
#define pawl_robust_lock_try_read pawl_robust_lock_told_try_read
#undef pawl_robust_lock_try_seek
#define pawl_robust_lock_try_seek pawl_robust_lock_told_try_seek
#undef pawl_robust_lock_try_write
#define pawl_robust_lock_try_write pawl_robust_lock_told_try_write
#undef pawl_robust_lock_try_atomic
#define pawl_robust_lock_try_atomic pawl_robust_lock_told_try_atomic
#undef pawl_robust_lock_drop_read
#define pawl_robust_lock_drop_read pawl_robust_lock_told_drop_read
#undef pawl_robust_lock_drop_seek
#define pawl_robust_lock_drop_seek pawl_robust_lock_told_drop_seek
#undef pawl_robust_lock_drop_write
#define pawl_robust_lock_drop_write pawl_robust_lock_told_drop_write
#undef pawl_robust_lock_drop_atomic
#define pawl_robust_lock_drop_atomic pawl_robust_lock_told_drop_atomic
#undef pawl_robust_lock_seek_to_write
#define pawl_robust_lock_seek_to_write pawl_robust_lock_told_seek_to_write
#undef pawl_robust_lock_seek_to_write_until
#define pawl_robust_lock_seek_to_write_until pawl_robust_lock_told_seek_to_write_until
#undef pawl_robust_lock_try_seek_to_write
#define pawl_robust_lock_try_seek_to_write pawl_robust_lock_told_try_seek_to_write
#undef pawl_robust_lock_try_read_to_seek
#define pawl_robust_lock_try_read_to_seek pawl_robust_lock_told_try_read_to_seek
#undef pawl_robust_lock_try_read_to_write
#define pawl_robust_lock_try_read_to_write pawl_robust_lock_told_try_read_to_write
#undef pawl_robust_lock_read_claim_write
#define pawl_robust_lock_read_claim_write pawl_robust_lock_told_read_claim_write
#undef pawl_robust_lock_read_claim_write_until
#define pawl_robust_lock_read_claim_write_until pawl_robust_lock_told_read_claim_write_until
#undef pawl_robust_lock_write_to_seek
#define pawl_robust_lock_write_to_seek pawl_robust_lock_told_write_to_seek
#undef pawl_robust_lock_write_to_read
#define pawl_robust_lock_write_to_read pawl_robust_lock_told_write_to_read
#undef pawl_robust_lock_seek_to_read
#define pawl_robust_lock_seek_to_read pawl_robust_lock_told_seek_to_read
#undef pawl_robust_lock_consistent
#define pawl_robust_lock_consistent pawl_robust_lock_told_consistent
#undef pawl_robust_lock_deaths
#define pawl_robust_lock_deaths pawl_robust_lock_told_deaths

#endif
#endif
