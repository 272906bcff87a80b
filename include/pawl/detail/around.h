/* SPDX-License-Identifier: MIT */
/*
 * Each operation of a lock tells a checker of data races its promise (tsan.h), or the recorder of
 * `pawl trace` its hold (traced.h), or nothing. The macros below stand around the
 * call that does the work, on the lock `l`; its result goes to `value`.
 *
 *   lock      WORD (spin.h, lock.h, pshared.h), BRLOCK, SIFT or ROBUST
 *   flags     for the recorder
 *   from, to  the caller's state before, and after if `moved`
 *   first     a try of the same, which the recorder wants before a call that may wait
 */
#include <pawl/atomic.h>

#if PAWL_TOLD_
#include <pawl/spin.h> /* outside the guard: spin.h includes this file where it needs it */
#endif

#ifndef PAWL_AROUND_H
#define PAWL_AROUND_H

#if PAWL_TRACED_
#include <pawl/detail/traced.h>
#else

#if PAWL_TOLD_
#include <pawl/detail/tsan.h>

/* The clocks of the lock. Of the large locks Valgrind is told, too, that they are its own. */
#define PAWL_CLOCKS_WORD_ &l->word, sizeof(l->word)
#define PAWL_CLOCKS_SIFT_ &l->word, sizeof(l->word)
#define PAWL_CLOCKS_BRLOCK_ l->apart1, 8 /* padding, which no operation accesses */
#define PAWL_CLOCKS_ROBUST_ &l->magic, sizeof(l->magic)
#define PAWL_PLAIN_WORD_ ((void)0)
#define PAWL_PLAIN_SIFT_ ipawl_told_plain_(l, sizeof *l)
#define PAWL_PLAIN_BRLOCK_ ipawl_told_plain_(l, sizeof *l)
#define PAWL_PLAIN_ROBUST_ ((void)0)

#define PAWL_AROUND_(lock, from, to, call, moved)                                                  \
    do {                                                                                           \
        PAWL_PLAIN_##lock##_;                                                                      \
        ipawl_tsan_before_(PAWL_CLOCKS_##lock##_, PAWL_STATE_##from);                              \
        value = (call);                                                                            \
        ipawl_tsan_after_(PAWL_CLOCKS_##lock##_, PAWL_STATE_##to, moved);                          \
    } while (0)
#else
#define PAWL_AROUND_(lock, from, to, call, moved) ((void)(value = (call)))
#endif

#define PAWL_WAITS_(lock, flags, from, to, first, call, moved)                                     \
    PAWL_AROUND_(lock, from, to, call, moved)
#define PAWL_TRIES_(lock, flags, from, to, call) PAWL_AROUND_(lock, from, to, call, value)
#define PAWL_MOVES_(lock, from, to, call) PAWL_AROUND_(lock, from, to, call, true)
#define PAWL_DROPS_(lock, from, call) PAWL_AROUND_(lock, from, U, call, true)
#define PAWL_DROPS_ANY_(lock, from, call) PAWL_AROUND_(lock, from, U, call, true)
#define PAWL_REGAINS_(call) PAWL_AROUND_(WORD, A, R, call, value != PAWL_REGAIN_TIMED_OUT)
#define PAWL_MADE_(lock) ((void)(lock))

#endif
#endif
