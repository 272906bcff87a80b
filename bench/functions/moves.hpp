/* SPDX-License-Identifier: MIT */
/*
 * The functions that all widths of spin.h, lock.h and pshared.h have, as a table: function, what
 * brings a free lock to where it begins, what frees the lock afterwards. `is_free` stands for
 * nothing to do. X is a macro of these three; `L` is the type of the lock.
 */
#pragma once

#include "functions/functions.hpp"

#define PAWL_MOVES(X, all, L)                                                                      \
    X(all, L, init, is_free, is_free);                                                             \
    X(all, L, take_read, is_free, drop_read);                                                      \
    X(all, L, take_seek, is_free, drop_seek);                                                      \
    X(all, L, take_write, is_free, drop_write);                                                    \
    X(all, L, take_atomic, is_free, drop_atomic);                                                  \
    X(all, L, try_read, is_free, drop_read);                                                       \
    X(all, L, try_seek, is_free, drop_seek);                                                       \
    X(all, L, try_write, is_free, drop_write);                                                     \
    X(all, L, try_atomic, is_free, drop_atomic);                                                   \
    X(all, L, claim_write, is_free, drop_write);                                                   \
    X(all, L, claim_atomic, is_free, drop_atomic);                                                 \
    X(all, L, drop_read, take_read, is_free);                                                      \
    X(all, L, drop_seek, take_seek, is_free);                                                      \
    X(all, L, drop_write, take_write, is_free);                                                    \
    X(all, L, drop_atomic, take_atomic, is_free);                                                  \
    X(all, L, seek_to_write, take_seek, drop_write);                                               \
    X(all, L, try_seek_to_write, take_seek, drop_write);                                           \
    X(all, L, write_to_seek, take_write, drop_seek);                                               \
    X(all, L, write_to_read, take_write, drop_read);                                               \
    X(all, L, seek_to_read, take_seek, drop_read);                                                 \
    X(all, L, try_read_to_seek, take_read, drop_seek);                                             \
    X(all, L, try_read_to_write, take_read, drop_write);                                           \
    X(all, L, read_claim_write, take_read, drop_write);                                            \
    X(all, L, try_read_to_atomic, take_read, drop_atomic);                                         \
    X(all, L, read_claim_atomic, take_read, drop_atomic);                                          \
    X(all, L, atomic_to_read, take_atomic, drop_read);                                             \
    X(all, L, is_free, is_free, is_free)

/* lock.h and pshared.h. */
#define PAWL_UNTIL_MOVES(X, all, L)                                                                \
    X(all, L, take_read_until, is_free, drop_read);                                                \
    X(all, L, take_seek_until, is_free, drop_seek);                                                \
    X(all, L, take_write_until, is_free, drop_write);                                              \
    X(all, L, take_atomic_until, is_free, drop_atomic);                                            \
    X(all, L, claim_write_until, is_free, drop_write);                                             \
    X(all, L, claim_atomic_until, is_free, drop_atomic);                                           \
    X(all, L, seek_to_write_until, take_seek, drop_write);                                         \
    X(all, L, read_claim_write_until, take_read, drop_write);                                      \
    X(all, L, read_claim_atomic_until, take_read, drop_atomic);                                    \
    X(all, L, atomic_to_read_until, take_atomic, drop_read)

/* spin.h and lock.h. */
#define PAWL_LOOKS(X, all, L)                                                                      \
    X(all, L, is_read, take_read, drop_read);                                                      \
    X(all, L, is_seek, take_seek, drop_seek);                                                      \
    X(all, L, is_write, take_write, drop_write);                                                   \
    X(all, L, is_atomic, take_atomic, drop_atomic)

#define PAWL_TWO_MOVES(X, all, L)                                                                  \
    X(all, L, take_two_read, is_free, drop_two_read);                                              \
    X(all, L, take_two_seek, is_free, drop_two_seek);                                              \
    X(all, L, take_two_write, is_free, drop_two_write);                                            \
    X(all, L, drop_two_read, take_two_read, is_free);                                              \
    X(all, L, drop_two_seek, take_two_seek, is_free);                                              \
    X(all, L, drop_two_write, take_two_write, is_free)

#define PAWL_MOVE_ROW(all, L, verb, before, after)                                                 \
    PAWL_ROW(all, L, L##_##verb, PAWL_DO(L##_##before(&o)), PAWL_DO(L##_##verb(&o)),               \
             PAWL_DO(L##_##after(&o)))
#define PAWL_UNTIL_ROW(all, L, verb, before, after)                                                \
    PAWL_ROW(all, L, L##_##verb, PAWL_DO(L##_##before(&o)), PAWL_DO(L##_##verb(&o, never)),        \
             PAWL_DO(L##_##after(&o)))

namespace bench::functions {

/* The locks of a function that takes or drops two. */
template <class L> struct two_of {
    L first, second;
};

} // namespace bench::functions

#define PAWL_TWO_ROW(all, L, verb, before, after)                                                  \
    PAWL_ROW(all, two_of<L>, L##_##verb, PAWL_TWO_##before(L), PAWL_TWO_##verb(L),                 \
             PAWL_TWO_##after(L))
#define PAWL_TWO_is_free(L) PAWL_DO(L##_is_free(&o.first))
#define PAWL_TWO_take_two_read(L) PAWL_DO(L##_take_two_read(&o.first, &o.second))
#define PAWL_TWO_take_two_seek(L) PAWL_DO(L##_take_two_seek(&o.first, &o.second))
#define PAWL_TWO_take_two_write(L) PAWL_DO(L##_take_two_write(&o.first, &o.second))
#define PAWL_TWO_drop_two_read(L) PAWL_DO(L##_drop_two_read(&o.first, &o.second))
#define PAWL_TWO_drop_two_seek(L) PAWL_DO(L##_drop_two_seek(&o.first, &o.second))
#define PAWL_TWO_drop_two_write(L) PAWL_DO(L##_drop_two_write(&o.first, &o.second))
