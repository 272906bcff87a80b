/* SPDX-License-Identifier: MIT */
/*
 * Sequence locks and latches for a type of the program's own, in C. Include seq.h.
 *
 *   PAWL_SEQ_TYPE(route_seq, struct route);         at file scope: declares the type route_seq
 *   static route_seq best = PAWL_SEQ_TYPE_INIT;      and functions that begin with route_seq_
 *
 *   struct route r;
 *   route_seq_read(&best, &r);                       never half of one write and half of another
 *
 *   route_seq_write(&best, &r);                      by the lock's own spinlock
 *
 *   route_seq_take_write(&best, &r);                 the same in two steps, to change the value;
 *   r.metric++;                                      readers go on in between
 *   route_seq_drop_write(&best, &r);                 or route_seq_cancel_write(&best)
 *
 *   route_seq_write_alone(&best, &r);                by a writer that is alone: the caller's lock
 *                                                    excludes others, or there are none
 *
 * For any complete type whose bytes can be copied; a type without bytes does not compile. Handlers
 * may call _read of a latch and _try_read of a lock. C++ has pawl::seqlock<T>, pawl::seqlatch<T>.
 */
#include <pawl/seq.h> /* outside the guard: seq.h includes this file where it needs it */

#ifndef PAWL_SEQ_TYPE_H
#define PAWL_SEQ_TYPE_H

/* clang warns of unused static functions outside headers. */
#define PAWL_SEQ_FUNCTION_ PAWL_INLINE __attribute__((__unused__))
#define PAWL_SEQ_FAST_ PAWL_SEQ_FUNCTION_ PAWL_ALWAYS_INLINE_

/* The words of a type. For a type without bytes this is a size that no array can have. */
#define PAWL_SEQ_SOME_(type) (PAWL_SEQ_WORDS(sizeof(type)) - (sizeof(type) == 0))

#define PAWL_SEQ_TYPE_INIT {PAWL_SEQ_INIT, {0}}
/* clang-format off */
#define PAWL_SEQ_LATCH_TYPE_INIT {PAWL_SEQ_LATCH_INIT, {{0}, {0}}}
/* clang-format on */

/* A sequence lock called `name` for values of `type`.
 *   name_init(s, first), name_destroy(s)    not while it is used; zero bytes are initialised
 *   name_read(s, to)                        waits while a write is under way, and retries
 *   name_try_read(s, to)                    one attempt, never waits; if false, ignore *to
 *   name_read_or_lock(s, to, retries)       own lock after so many retries; not in handlers
 *   name_peek(s, to)                        for sections written out with pawl_seq_begin(&s->seq)
 *   name_write(s, from), name_try_write     by its own lock; try stores only if that is free
 *   name_take_write(s, now), _drop_write(s, next), _cancel_write(s)   own lock in two steps
 *   name_write_alone(s, from)               the caller makes sure that no other thread writes */
#define PAWL_SEQ_TYPE(name, type)                                                                  \
    typedef struct name {                                                                          \
        pawl_seq seq;                                                                              \
        pawl_seq_word words[PAWL_SEQ_SOME_(type)];                                                 \
    } name;                                                                                        \
    PAWL_SEQ_FAST_ void name##_peek(const name *s, type *to)                                       \
    {                                                                                              \
        pawl_seq_copy_out(to, s->words, sizeof *to);                                               \
    }                                                                                              \
    PAWL_SEQ_FUNCTION_ void name##_read(const name *s, type *to)                                   \
    {                                                                                              \
        pawl_seq_word begun;                                                                       \
        do {                                                                                       \
            begun = pawl_seq_begin(&s->seq);                                                       \
            name##_peek(s, to);                                                                    \
        } while (pawl_seq_retry(&s->seq, begun));                                                  \
    }                                                                                              \
    PAWL_SEQ_FUNCTION_ bool name##_try_read(const name *s, type *to)                               \
    {                                                                                              \
        pawl_seq_word begun;                                                                       \
        if (!pawl_seq_try_begin(&s->seq, &begun))                                                  \
            return false;                                                                          \
        name##_peek(s, to);                                                                        \
        return !pawl_seq_retry(&s->seq, begun);                                                    \
    }                                                                                              \
    PAWL_SEQ_FAST_ void name##_read_or_lock(name *s, type *to, unsigned retries)                   \
    {                                                                                              \
        pawl_seq_reader reader = PAWL_SEQ_READER(retries);                                         \
        do {                                                                                       \
            pawl_seq_begin_or_lock(&s->seq, &reader);                                              \
            name##_peek(s, to);                                                                    \
        } while (pawl_seq_retry_or_unlock(&s->seq, &reader));                                      \
    }                                                                                              \
    PAWL_SEQ_FAST_ void name##_write_alone(name *s, const type *from)                              \
    {                                                                                              \
        pawl_seq_begin_write(&s->seq);                                                             \
        pawl_seq_copy_in(s->words, from, sizeof *from);                                            \
        pawl_seq_end_write(&s->seq);                                                               \
    }                                                                                              \
    PAWL_SEQ_WRITERS_(name, type, pawl_seq, name##_peek)

/* The same as a latch: two copies, whose readers never wait and may be signal handlers. There is no
 * name_try_read, because it would equal name_read, and no name_read_or_lock.
 *   name_peek(s, begun, to)                 for sections written out with pawl_seq_latch_begin */
#define PAWL_SEQ_LATCH_TYPE(name, type)                                                            \
    typedef struct name {                                                                          \
        pawl_seq_latch seq;                                                                        \
        pawl_seq_word words[2][PAWL_SEQ_SOME_(type)];                                              \
    } name;                                                                                        \
    PAWL_SEQ_FAST_ void name##_peek(const name *s, pawl_seq_word begun, type *to)                  \
    {                                                                                              \
        pawl_seq_copy_out(to, s->words[PAWL_SEQ_COPY(begun)], sizeof *to);                         \
    }                                                                                              \
    PAWL_SEQ_FUNCTION_ void name##_read(const name *s, type *to)                                   \
    {                                                                                              \
        pawl_seq_word begun;                                                                       \
        do {                                                                                       \
            begun = pawl_seq_latch_begin(&s->seq);                                                 \
            name##_peek(s, begun, to);                                                             \
        } while (pawl_seq_latch_retry(&s->seq, begun));                                            \
    }                                                                                              \
    PAWL_SEQ_FAST_ void name##_write_alone(name *s, const type *from)                              \
    {                                                                                              \
        pawl_seq_latch_store(&s->seq, &s->words[0][0], from, sizeof *from);                        \
    }                                                                                              \
    PAWL_SEQ_WRITERS_(name, type, pawl_seq_latch, name##_read)

/* `core`: pawl_seq or pawl_seq_latch; `current` reads the value while no other thread writes. */
#define PAWL_SEQ_WRITERS_(name, type, core, current)                                               \
    PAWL_SEQ_FAST_ void name##_take_write(name *s, type *now)                                      \
    {                                                                                              \
        core##_take_write(&s->seq);                                                                \
        current(s, now);                                                                           \
    }                                                                                              \
    PAWL_SEQ_FAST_ void name##_drop_write(name *s, const type *next)                               \
    {                                                                                              \
        name##_write_alone(s, next);                                                               \
        core##_drop_write(&s->seq);                                                                \
    }                                                                                              \
    PAWL_SEQ_FAST_ void name##_cancel_write(name *s)                                               \
    {                                                                                              \
        core##_drop_write(&s->seq);                                                                \
    }                                                                                              \
    PAWL_SEQ_FAST_ void name##_write(name *s, const type *from)                                    \
    {                                                                                              \
        core##_take_write(&s->seq);                                                                \
        name##_drop_write(s, from);                                                                \
    }                                                                                              \
    PAWL_SEQ_FAST_ bool name##_try_write(name *s, const type *from)                                \
    {                                                                                              \
        if (!core##_try_write(&s->seq))                                                            \
            return false;                                                                          \
        name##_drop_write(s, from);                                                                \
        return true;                                                                               \
    }                                                                                              \
    PAWL_SEQ_FAST_ void name##_init(name *s, const type *first)                                    \
    {                                                                                              \
        core##_init(&s->seq);                                                                      \
        name##_write(s, first);                                                                    \
    }                                                                                              \
    PAWL_SEQ_FAST_ void name##_destroy(name *s)                                                    \
    {                                                                                              \
        core##_destroy(&s->seq);                                                                   \
    }                                                                                              \
    struct name /* takes the semicolon that follows the macro */

#endif
