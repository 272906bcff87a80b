/* SPDX-License-Identifier: MIT */
/*
 * The big-reader lock tells a checker of races this, around its compiled operations. The promises
 * are those of the other locks (tsan.h). brlock.h includes this file in builds for a checker,
 * except where the library itself is compiled.
 *
 * The clocks lie in the padding of the lock, which no operation accesses.
 */
#include <pawl/brlock.h> /* outside the guard: brlock.h includes this file where it needs it */

#ifndef PAWL_BRLOCK_TOLD_H
#define PAWL_BRLOCK_TOLD_H
#if PAWL_TOLD_ && !PAWL_HOOKS && !defined(PAWL_COMPILED_)

#include <pawl/spin.h>

PAWL_INLINE_BEGIN

#define PAWL_BRLOCK_BEFORE_(from)                                                                  \
    (pawl_told_plain_(l, sizeof *l), pawl_tsan_before_(l->apart1, 8, PAWL_STATE_##from))
#define PAWL_BRLOCK_AFTER_(to, ok) pawl_tsan_after_(l->apart1, 8, PAWL_STATE_##to, ok)

#define PAWL_BRLOCK_VOID_(name, from, to)                                                          \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_brlock_told_##name(pawl_brlock *l)                   \
    {                                                                                              \
        PAWL_BRLOCK_BEFORE_(from);                                                                 \
        pawl_brlock_##name(l);                                                                     \
        PAWL_BRLOCK_AFTER_(to, true);                                                              \
    }
#define PAWL_BRLOCK_TRY_(name, from, to)                                                           \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_brlock_told_##name(pawl_brlock *l)                   \
    {                                                                                              \
        bool ok;                                                                                   \
        PAWL_BRLOCK_BEFORE_(from);                                                                 \
        ok = pawl_brlock_##name(l);                                                                \
        PAWL_BRLOCK_AFTER_(to, ok);                                                                \
        return ok;                                                                                 \
    }
#define PAWL_BRLOCK_UNTIL_(name, from, to)                                                         \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_brlock_told_##name(pawl_brlock *l, uint64_t until)   \
    {                                                                                              \
        bool ok;                                                                                   \
        PAWL_BRLOCK_BEFORE_(from);                                                                 \
        ok = pawl_brlock_##name(l, until);                                                         \
        PAWL_BRLOCK_AFTER_(to, ok);                                                                \
        return ok;                                                                                 \
    }

PAWL_BRLOCK_VOID_(take_read, U, R)
PAWL_BRLOCK_VOID_(drop_read, R, U)
PAWL_BRLOCK_VOID_(take_read_any, U, R)
PAWL_BRLOCK_VOID_(drop_read_any, R, U)
PAWL_BRLOCK_VOID_(take_seek, U, S)
PAWL_BRLOCK_VOID_(drop_seek, S, U)
PAWL_BRLOCK_VOID_(take_write, U, W)
PAWL_BRLOCK_VOID_(drop_write, W, U)
PAWL_BRLOCK_VOID_(seek_to_write, S, W)
PAWL_BRLOCK_VOID_(write_to_seek, W, S)
PAWL_BRLOCK_VOID_(write_to_read, W, R)
PAWL_BRLOCK_VOID_(seek_to_read, S, R)
PAWL_BRLOCK_TRY_(try_read, U, R)
PAWL_BRLOCK_TRY_(try_read_any, U, R)
PAWL_BRLOCK_TRY_(try_seek, U, S)
PAWL_BRLOCK_TRY_(try_write, U, W)
PAWL_BRLOCK_TRY_(try_seek_to_write, S, W)
PAWL_BRLOCK_TRY_(try_read_to_seek, R, S)
PAWL_BRLOCK_UNTIL_(take_read_until, U, R)
PAWL_BRLOCK_UNTIL_(take_seek_until, U, S)
PAWL_BRLOCK_UNTIL_(take_write_until, U, W)
PAWL_BRLOCK_UNTIL_(seek_to_write_until, S, W)

#undef PAWL_BRLOCK_VOID_
#undef PAWL_BRLOCK_TRY_
#undef PAWL_BRLOCK_UNTIL_
#undef PAWL_BRLOCK_BEFORE_
#undef PAWL_BRLOCK_AFTER_

PAWL_INLINE_END

#undef pawl_brlock_take_read
#define pawl_brlock_take_read pawl_brlock_told_take_read
#undef pawl_brlock_drop_read
#define pawl_brlock_drop_read pawl_brlock_told_drop_read
#undef pawl_brlock_take_read_any
#define pawl_brlock_take_read_any pawl_brlock_told_take_read_any
#undef pawl_brlock_drop_read_any
#define pawl_brlock_drop_read_any pawl_brlock_told_drop_read_any
#undef pawl_brlock_take_seek
#define pawl_brlock_take_seek pawl_brlock_told_take_seek
#undef pawl_brlock_drop_seek
#define pawl_brlock_drop_seek pawl_brlock_told_drop_seek
#undef pawl_brlock_take_write
#define pawl_brlock_take_write pawl_brlock_told_take_write
#undef pawl_brlock_drop_write
#define pawl_brlock_drop_write pawl_brlock_told_drop_write
#undef pawl_brlock_seek_to_write
#define pawl_brlock_seek_to_write pawl_brlock_told_seek_to_write
#undef pawl_brlock_write_to_seek
#define pawl_brlock_write_to_seek pawl_brlock_told_write_to_seek
#undef pawl_brlock_write_to_read
#define pawl_brlock_write_to_read pawl_brlock_told_write_to_read
#undef pawl_brlock_seek_to_read
#define pawl_brlock_seek_to_read pawl_brlock_told_seek_to_read
#undef pawl_brlock_try_read
#define pawl_brlock_try_read pawl_brlock_told_try_read
#undef pawl_brlock_try_read_any
#define pawl_brlock_try_read_any pawl_brlock_told_try_read_any
#undef pawl_brlock_try_seek
#define pawl_brlock_try_seek pawl_brlock_told_try_seek
#undef pawl_brlock_try_write
#define pawl_brlock_try_write pawl_brlock_told_try_write
#undef pawl_brlock_try_seek_to_write
#define pawl_brlock_try_seek_to_write pawl_brlock_told_try_seek_to_write
#undef pawl_brlock_try_read_to_seek
#define pawl_brlock_try_read_to_seek pawl_brlock_told_try_read_to_seek
#undef pawl_brlock_take_read_until
#define pawl_brlock_take_read_until pawl_brlock_told_take_read_until
#undef pawl_brlock_take_seek_until
#define pawl_brlock_take_seek_until pawl_brlock_told_take_seek_until
#undef pawl_brlock_take_write_until
#define pawl_brlock_take_write_until pawl_brlock_told_take_write_until
#undef pawl_brlock_seek_to_write_until
#define pawl_brlock_seek_to_write_until pawl_brlock_told_seek_to_write_until

#endif
#endif
