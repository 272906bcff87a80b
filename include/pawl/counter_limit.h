/* SPDX-License-Identifier: MIT */
/*
 * A counter that never exceeds its limit: connections, open requests, bytes in flight. Programs
 * ask it whether one more fits, and the answer is nearly always yes. Included by counter.h.
 *
 * Not for: signal handlers; a limit that gives each thread less than PAWL_LIMIT_LEAST_CREDIT (the
 * counter is right then, but costs as much as a lock).
 *
 * How it counts
 *
 *   taken = count + the credits of all threads <= limit
 *
 *   A thread takes more credit than it needs from the room that is left, and answers from it:
 *   try_add turns credit into count, sub turns count into credit. Credit beyond
 *   2 * PAWL_LIMIT_CREDIT goes back. When the room gets short, the gate closes and all credits go
 *   back. From then on every operation works on `taken` under a lock, so a refusal is always exact.
 *   The gate opens again when there is twice the room that made it close.
 *
 * The struct
 *
 *   limit, taken   under the latch; any thread may read them as hints
 *   place          of the credits, a cell of each thread; as in counter.h
 *   gate           0: threads may use their credit; 1: they may not, and have none; 2: destroyed
 *
 *   I1  taken <= limit after every addition. Credit is part of `taken`, so the count never exceeds
 *       the limit. (After set_limit below the count, nothing fits until enough was subtracted.)
 *   I2  gate 1 and the latch free: all credits are 0 and taken is the count.
 *   I3  while the gate is open only the thread itself changes its credit, in a section; else the
 *       holder of the latch does.
 *
 * Cost far from the limit: a section (counter_cells.h), no locked instruction. At the limit: one
 * uncontended lock. From one to the other: one membarrier.
 *
 * Order: none. Not async-signal-safe. After fork the child has the count, and the parent's too.
 */
#ifndef PAWL_COUNTER_LIMIT_H
#define PAWL_COUNTER_LIMIT_H

#include <pawl/detail/counter_cells.h>

/* Credit that a thread takes at once, at most and at least; it holds at most twice the first. */
#define PAWL_LIMIT_CREDIT 1024
#define PAWL_LIMIT_LEAST_CREDIT 8

typedef struct pawl_counter_limit {
    uint64_t limit __attribute__((__aligned__(8)));
    uint64_t taken __attribute__((__aligned__(8)));
    uint32_t place;
    uint32_t gate;
} pawl_counter_limit;

/* A counter at 0. The limit is 0 to 2^63-1. */
#define PAWL_COUNTER_LIMIT_INIT(limit) {(limit), 0, 0, 0}

PAWL_C_BEGIN

/* Applies from now on. A limit below the present count takes nothing away: nothing fits until
 * enough has been given back. A limit beyond 2^63-1 counts as 2^63-1. */
PAWL_API void PAWL_SYMBOL_(pawl_counter_limit_set_limit)(pawl_counter_limit *c, uint64_t limit);

/* The exact count at an instant during the call. It is below zero when more was subtracted than
 * added. Closes the gate while it adds up, so it costs as much as pawl_counter_exact_read. */
PAWL_API int64_t PAWL_SYMBOL_(pawl_counter_limit_read)(pawl_counter_limit *c);

/* Gives the cells back and returns the last count. No thread may be using the counter: a try_add
 * beside this call or after it returns false, and a sub does nothing. The checking variant reports
 * one that comes after. */
PAWL_API int64_t PAWL_SYMBOL_(pawl_counter_limit_destroy)(pawl_counter_limit *c);

PAWL_API bool PAWL_SYMBOL_(pawl_counter_limit_try_add_slow)(pawl_counter_limit *c, uint64_t n);
PAWL_API void PAWL_SYMBOL_(pawl_counter_limit_sub_slow)(pawl_counter_limit *c, uint64_t n);

PAWL_C_END

#define pawl_counter_limit_set_limit PAWL_SYMBOL_(pawl_counter_limit_set_limit)
#define ipawl_counter_limit_try_add_slow_ PAWL_SYMBOL_(pawl_counter_limit_try_add_slow)
#define ipawl_counter_limit_sub_slow_ PAWL_SYMBOL_(pawl_counter_limit_sub_slow)
#if !PAWL_TOLD_AROUND_
#define pawl_counter_limit_read PAWL_SYMBOL_(pawl_counter_limit_read)
#define pawl_counter_limit_destroy PAWL_SYMBOL_(pawl_counter_limit_destroy)
#endif

PAWL_INLINE_BEGIN

PAWL_INLINE void pawl_counter_limit_init(pawl_counter_limit *c, uint64_t limit)
{
    c->limit = limit > INT64_MAX ? (uint64_t)INT64_MAX : limit;
    c->taken = 0;
    c->place = 0;
    c->gate = 0;
}

/* Adds to the caller's credit if the sum is 0 to 2 * PAWL_LIMIT_CREDIT; else false. */
#if PAWL_CHECKED || PAWL_HOOKS
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_counter_limit_change_(pawl_counter_limit *c, uint64_t n)
{
    (void)c, (void)n;
    return false;
}
#else
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_counter_limit_change_(pawl_counter_limit *c, uint64_t n)
{
    char *rseq = PAWL_MINE_.rseq;
    /* [COUNTER_PLACE] acquire: our credit reads zero until we have taken some. */
    const uint32_t place = pawl_load_acquire32(&c->place, PAWL_COUNTER_PLACE);
    return PAWL_LIKELY(rseq != NULL && place >= PAWL_PLACE_FIRST_) &&
           PAWL_LIKELY(ipawl_rseq_add_if_(rseq, ipawl_cell_(PAWL_MINE_.block, place), n,
                                          2 * PAWL_LIMIT_CREDIT, &c->gate, 0));
}
#endif

/* Adds n if the sum stays within the limit (0 always does); else false, and nothing has changed. */
PAWL_TRYING PAWL_ALWAYS_INLINE_ bool pawl_counter_limit_try_add(pawl_counter_limit *c, uint64_t n)
{
    if (n <= 2 * PAWL_LIMIT_CREDIT && ipawl_counter_limit_change_(c, 0 - n))
        return true;
    return ipawl_counter_limit_try_add_slow_(c, n);
}

/* Takes away an amount that any thread added before. n is at most 2^63-1. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_counter_limit_sub(pawl_counter_limit *c, uint64_t n)
{
    if (n > 2 * PAWL_LIMIT_CREDIT || !ipawl_counter_limit_change_(c, n))
        ipawl_counter_limit_sub_slow_(c, n);
}

PAWL_INLINE_END

#endif
