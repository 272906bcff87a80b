/* SPDX-License-Identifier: MIT */
/*
 * The recorder of `pawl trace` is told this, in programs that define PAWL_TRACED (atomic.h): each
 * operation of a lock says which state it asks for, and whether it got it. The headers of the locks
 * include this file in such programs only; in others nothing here exists.
 *
 * The functions are the recorder's (tool/trace/ours.c). Where it is not loaded the loader leaves
 * their addresses NULL, and an operation costs a comparison more. Where it is, an operation that
 * may wait is tried first, so that one without a wait looks at the clock once.
 */
#ifndef PAWL_TRACED_H
#define PAWL_TRACED_H

#include <pawl/atomic.h>

#if PAWL_TRACED_ && defined(__x86_64__) && !defined(__PIC__) && !defined(__PIE__)
#error "PAWL_TRACED needs -fPIE or -fPIC: elsewhere the linker decides that no recorder is there."
#endif

/* Of the lock: the kinds of alphabet.h, and two more. */
#define PAWL_TRACED_SPIN 1u
#define PAWL_TRACED_LOCK 2u
#define PAWL_TRACED_PSHARED 3u
#define PAWL_TRACED_BRLOCK 5u
#define PAWL_TRACED_SIFT 6u

/* States. */
#define PAWL_TRACED_U 0u
#define PAWL_TRACED_R 1u
#define PAWL_TRACED_S 2u
#define PAWL_TRACED_W 3u
#define PAWL_TRACED_A 4u

/* An operation: type, the state before and after it. */
#define PAWL_TRACED_WHAT_(type, from, to)                                                          \
    ((type) | PAWL_TRACED_##from << 8 | PAWL_TRACED_##to << 16)
/* It is a try of the program's own. */
#define PAWL_TRACED_TRIED_ (1u << 29)
/* Its end is not seen: a read that another thread may drop, or a waiting half. */
#define PAWL_TRACED_NO_HOLD_ (1u << 30)
/* It has a deadline. */
#define PAWL_TRACED_UNTIL_ (1u << 31)

/* The recorder's, on the stack of a thread that waits. */
struct ipawl_trace_wait_ {
    uint64_t own[12];
};

/* The recorder defines them, and others must do without. */
#ifdef PAWL_TRACE_DEFINES_
#define PAWL_TRACED_WEAK_
#else
#define PAWL_TRACED_WEAK_ __attribute__((__weak__))
#endif

PAWL_C_BEGIN

/* The caller has got the state, or not, and has not waited for it. */
PAWL_TRACED_WEAK_ void ipawl_trace_done_(const volatile void *lock, uint32_t what, bool moved);
/* The caller is about to wait for it, and has got it or not. */
PAWL_TRACED_WEAK_ void ipawl_trace_asks_(const volatile void *lock, uint32_t what,
                                         struct ipawl_trace_wait_ *wait);
PAWL_TRACED_WEAK_ void ipawl_trace_got_(struct ipawl_trace_wait_ *wait, bool moved);
/* The caller is about to give the lock up, and has done so. */
PAWL_TRACED_WEAK_ void ipawl_trace_drops_(const volatile void *lock);
PAWL_TRACED_WEAK_ void ipawl_trace_dropped_(void);
/* The lock was initialised. */
PAWL_TRACED_WEAK_ void ipawl_trace_made_(const volatile void *lock);
/* Both of a wait, for a caller that is not the one to be named. */
PAWL_TRACED_WEAK_ void ipawl_trace_asks_at_(const volatile void *lock, uint32_t what, uint64_t site,
                                            struct ipawl_trace_wait_ *wait);

PAWL_C_END

/* A call, not a jump: the return address is the user's. */
#define PAWL_TRACED_STAY_() __asm__ __volatile__("")

#if PAWL_TRACED_

/* The macros of around.h. */
#define PAWL_TRACED_TYPE_WORD_ PAWL_CAT_(PAWL_WORD_KIND, u)
#define PAWL_TRACED_TYPE_BRLOCK_ PAWL_TRACED_BRLOCK
#define PAWL_TRACED_TYPE_SIFT_ PAWL_TRACED_SIFT
#define PAWL_TRACED_OF_(lock, from, to) PAWL_TRACED_WHAT_(PAWL_TRACED_TYPE_##lock##_, from, to)

#define PAWL_WAITS_(lock, flags, from, to, first, call, moved)                                     \
    do {                                                                                           \
        struct ipawl_trace_wait_ told_;                                                            \
        if (!ipawl_trace_asks_) {                                                                  \
            value = (call);                                                                        \
        } else if (first) {                                                                        \
            value = true;                                                                          \
            ipawl_trace_done_(l, PAWL_TRACED_OF_(lock, from, to) | (flags), true);                 \
        } else {                                                                                   \
            ipawl_trace_asks_(l, PAWL_TRACED_OF_(lock, from, to) | (flags), &told_);               \
            value = (call);                                                                        \
            ipawl_trace_got_(&told_, moved);                                                       \
        }                                                                                          \
        PAWL_TRACED_STAY_();                                                                       \
    } while (0)

#define PAWL_TRIES_(lock, flags, from, to, call)                                                   \
    do {                                                                                           \
        value = (call);                                                                            \
        if (ipawl_trace_done_)                                                                     \
            ipawl_trace_done_(l, PAWL_TRACED_OF_(lock, from, to) | (flags) | PAWL_TRACED_TRIED_,   \
                              value);                                                              \
        PAWL_TRACED_STAY_();                                                                       \
    } while (0)

/* A downgrade: from here on others may hold the lock beside the caller. */
#define PAWL_MOVES_(lock, from, to, call)                                                          \
    do {                                                                                           \
        if (ipawl_trace_done_)                                                                     \
            ipawl_trace_done_(l, PAWL_TRACED_OF_(lock, from, to), true);                           \
        value = (call);                                                                            \
        PAWL_TRACED_STAY_();                                                                       \
    } while (0)

/* After a drop the lock may be gone. */
#define PAWL_DROPS_(lock, from, call)                                                              \
    do {                                                                                           \
        if (ipawl_trace_drops_)                                                                    \
            ipawl_trace_drops_(l);                                                                 \
        value = (call);                                                                            \
        if (ipawl_trace_dropped_)                                                                  \
            ipawl_trace_dropped_();                                                                \
    } while (0)

/* By any thread: the recorder has seen no hold. */
#define PAWL_DROPS_ANY_(lock, from, call) ((void)(value = (call)))

/* A -> R waits for other atomic users only. Once the deadline has passed the caller has nothing. */
#define PAWL_REGAINS_(call)                                                                        \
    do {                                                                                           \
        const bool alone = PAWL_IS_(writers)(PAWL_AT_(pawl_load_relaxed)(&l->word)) == PAWL_W_;    \
        struct ipawl_trace_wait_ told_;                                                            \
        if (ipawl_trace_asks_ && !alone)                                                           \
            ipawl_trace_asks_(l, PAWL_TRACED_OF_(WORD, A, R), &told_);                             \
        value = (call);                                                                            \
        if (ipawl_trace_asks_ && alone)                                                            \
            ipawl_trace_done_(l, PAWL_TRACED_OF_(WORD, A, R), value != PAWL_REGAIN_TIMED_OUT);     \
        else if (ipawl_trace_asks_)                                                                \
            ipawl_trace_got_(&told_, value != PAWL_REGAIN_TIMED_OUT);                              \
        if (ipawl_trace_asks_ && value == PAWL_REGAIN_TIMED_OUT)                                   \
            ipawl_trace_drops_(l);                                                                 \
        PAWL_TRACED_STAY_();                                                                       \
    } while (0)

#define PAWL_MADE_(l)                                                                              \
    do {                                                                                           \
        if (ipawl_trace_made_)                                                                     \
            ipawl_trace_made_(l);                                                                  \
        PAWL_TRACED_STAY_();                                                                       \
    } while (0)

#endif
#endif
