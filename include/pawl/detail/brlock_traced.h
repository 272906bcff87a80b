/* SPDX-License-Identifier: MIT */
/*
 * The big-reader lock in a program that defines PAWL_TRACED: around each operation the recorder is
 * told (traced.h). brlock.h includes this file at its end.
 */
#include <pawl/brlock.h> /* outside the guard: brlock.h includes this file where it needs it */

#ifndef PAWL_BRLOCK_TRACED_H
#define PAWL_BRLOCK_TRACED_H
#if PAWL_TRACED_

#include <pawl/detail/traced.h>

PAWL_INLINE_BEGIN

#define PAWL_BRLOCK_OF_(from, to) PAWL_TRACED_WHAT_(PAWL_TRACED_BRLOCK, from, to)
#define PAWL_BRLOCK_HEAD_(result, name)                                                            \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ result pawl_brlock_traced_##name

#define PAWL_BRLOCK_WAITS_(name, first, from, to, flags)                                           \
    PAWL_BRLOCK_HEAD_(void, name)(pawl_brlock * l)                                                 \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_WAITS_(PAWL_BRLOCK_OF_(from, to) | (flags), pawl_brlock_##first(l), true,      \
                           (pawl_brlock_##name(l), true), true);                                   \
        (void)value;                                                                               \
    }
#define PAWL_BRLOCK_UNTIL_(name, first, from, to)                                                  \
    PAWL_BRLOCK_HEAD_(bool, name)(pawl_brlock * l, uint64_t until)                                 \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_WAITS_(PAWL_BRLOCK_OF_(from, to) | PAWL_TRACED_UNTIL_, pawl_brlock_##first(l), \
                           true, pawl_brlock_##name(l, until), value);                             \
        return value;                                                                              \
    }
#define PAWL_BRLOCK_TRIES_(name, from, to, flags)                                                  \
    PAWL_BRLOCK_HEAD_(bool, name)(pawl_brlock * l)                                                 \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_TRIES_(PAWL_BRLOCK_OF_(from, to) | (flags), pawl_brlock_##name(l));            \
        return value;                                                                              \
    }
#define PAWL_BRLOCK_MOVES_(name, from, to)                                                         \
    PAWL_BRLOCK_HEAD_(void, name)(pawl_brlock * l)                                                 \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_MOVES_(PAWL_BRLOCK_OF_(from, to), (pawl_brlock_##name(l), true));              \
        (void)value;                                                                               \
    }
#define PAWL_BRLOCK_DROPS_(name)                                                                   \
    PAWL_BRLOCK_HEAD_(void, name)(pawl_brlock * l)                                                 \
    {                                                                                              \
        bool value;                                                                                \
        PAWL_TRACED_DROPS_((pawl_brlock_##name(l), true));                                         \
        (void)value;                                                                               \
    }

PAWL_BRLOCK_HEAD_(int, init)(pawl_brlock *l, uint32_t lines)
{
    const int error = pawl_brlock_init(l, lines);
    PAWL_TRACED_MADE_(l);
    return error;
}

PAWL_BRLOCK_HEAD_(int, init_in)(pawl_brlock *l, void *memory, size_t bytes, uint32_t flags)
{
    const int error = pawl_brlock_init_in(l, memory, bytes, flags);
    PAWL_TRACED_MADE_(l);
    return error;
}

PAWL_BRLOCK_WAITS_(take_read, try_read, U, R, 0u)
PAWL_BRLOCK_WAITS_(take_seek, try_seek, U, S, 0u)
PAWL_BRLOCK_WAITS_(take_write, try_write, U, W, 0u)
PAWL_BRLOCK_WAITS_(seek_to_write, try_seek_to_write, S, W, 0u)
PAWL_BRLOCK_UNTIL_(take_read_until, try_read, U, R)
PAWL_BRLOCK_UNTIL_(take_seek_until, try_seek, U, S)
PAWL_BRLOCK_UNTIL_(take_write_until, try_write, U, W)
PAWL_BRLOCK_UNTIL_(seek_to_write_until, try_seek_to_write, S, W)
PAWL_BRLOCK_TRIES_(try_read, U, R, 0u)
PAWL_BRLOCK_TRIES_(try_seek, U, S, 0u)
PAWL_BRLOCK_TRIES_(try_write, U, W, 0u)
PAWL_BRLOCK_TRIES_(try_seek_to_write, S, W, 0u)
PAWL_BRLOCK_TRIES_(try_read_to_seek, R, S, 0u)
PAWL_BRLOCK_MOVES_(write_to_seek, W, S)
PAWL_BRLOCK_MOVES_(write_to_read, W, R)
PAWL_BRLOCK_MOVES_(seek_to_read, S, R)
PAWL_BRLOCK_DROPS_(drop_read)
PAWL_BRLOCK_DROPS_(drop_seek)
PAWL_BRLOCK_DROPS_(drop_write)
/* Another thread may drop these. */
PAWL_BRLOCK_WAITS_(take_read_any, try_read_any, U, R, PAWL_TRACED_NO_HOLD_)
PAWL_BRLOCK_TRIES_(try_read_any, U, R, PAWL_TRACED_NO_HOLD_)

#undef PAWL_BRLOCK_OF_
#undef PAWL_BRLOCK_HEAD_
#undef PAWL_BRLOCK_WAITS_
#undef PAWL_BRLOCK_UNTIL_
#undef PAWL_BRLOCK_TRIES_
#undef PAWL_BRLOCK_MOVES_
#undef PAWL_BRLOCK_DROPS_

PAWL_INLINE_END

#undef pawl_brlock_init
#define pawl_brlock_init pawl_brlock_traced_init
#undef pawl_brlock_init_in
#define pawl_brlock_init_in pawl_brlock_traced_init_in
#undef pawl_brlock_take_read
#define pawl_brlock_take_read pawl_brlock_traced_take_read
#undef pawl_brlock_take_seek
#define pawl_brlock_take_seek pawl_brlock_traced_take_seek
#undef pawl_brlock_take_write
#define pawl_brlock_take_write pawl_brlock_traced_take_write
#undef pawl_brlock_seek_to_write
#define pawl_brlock_seek_to_write pawl_brlock_traced_seek_to_write
#undef pawl_brlock_take_read_until
#define pawl_brlock_take_read_until pawl_brlock_traced_take_read_until
#undef pawl_brlock_take_seek_until
#define pawl_brlock_take_seek_until pawl_brlock_traced_take_seek_until
#undef pawl_brlock_take_write_until
#define pawl_brlock_take_write_until pawl_brlock_traced_take_write_until
#undef pawl_brlock_seek_to_write_until
#define pawl_brlock_seek_to_write_until pawl_brlock_traced_seek_to_write_until
#undef pawl_brlock_try_read
#define pawl_brlock_try_read pawl_brlock_traced_try_read
#undef pawl_brlock_try_seek
#define pawl_brlock_try_seek pawl_brlock_traced_try_seek
#undef pawl_brlock_try_write
#define pawl_brlock_try_write pawl_brlock_traced_try_write
#undef pawl_brlock_try_seek_to_write
#define pawl_brlock_try_seek_to_write pawl_brlock_traced_try_seek_to_write
#undef pawl_brlock_try_read_to_seek
#define pawl_brlock_try_read_to_seek pawl_brlock_traced_try_read_to_seek
#undef pawl_brlock_write_to_seek
#define pawl_brlock_write_to_seek pawl_brlock_traced_write_to_seek
#undef pawl_brlock_write_to_read
#define pawl_brlock_write_to_read pawl_brlock_traced_write_to_read
#undef pawl_brlock_seek_to_read
#define pawl_brlock_seek_to_read pawl_brlock_traced_seek_to_read
#undef pawl_brlock_drop_read
#define pawl_brlock_drop_read pawl_brlock_traced_drop_read
#undef pawl_brlock_drop_seek
#define pawl_brlock_drop_seek pawl_brlock_traced_drop_seek
#undef pawl_brlock_drop_write
#define pawl_brlock_drop_write pawl_brlock_traced_drop_write
#undef pawl_brlock_take_read_any
#define pawl_brlock_take_read_any pawl_brlock_traced_take_read_any
#undef pawl_brlock_try_read_any
#define pawl_brlock_try_read_any pawl_brlock_traced_try_read_any

#endif
#endif
