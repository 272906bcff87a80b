/* SPDX-License-Identifier: MIT */
/*
 * A counter with exact reads. A read returns a value that the counter had at an instant between
 * the call and the return, beside any additions and subtractions (it is linearizable). Included by
 * counter.h, which says when to take which counter.
 *
 * Not for: values that are compared with nothing (pawl_counter reads a hundred times faster);
 * updates from signal handlers; reads as frequent as updates (pawl_atomic_counter).
 *
 * Modes, chosen at init
 *
 *   FOLD    two-phase folding, the best one. Every thread has two cells; the phase says which one
 *           counts. A read changes the phase and waits for the updates that saw the old one. Then
 *           it adds up the cells that no update changes any more. Updates never wait.
 *   STALL   one cell. A read closes the counter, adds up, and opens it again. Updates wait
 *           meanwhile.
 *   BRLOCK  the first form of the source's counter under a big-reader lock. An update takes the
 *           read side (its thread's flag, one full fence), a read takes the write side.
 *   LOCKS   the second form. An update takes its own thread's spinlock (one atomic instruction), a
 *           read takes those of all threads.
 *
 *   In FOLD and STALL an update is a section (counter_cells.h) and no locked instruction; a read is
 *   one membarrier and the sum. BRLOCK and LOCKS each share one lock among all their counters.
 *
 * The struct
 *
 *   shared    counted under the latch, by threads without cells
 *   stood[p]  the sum of all cells of phase p at its last end
 *   place     as in counter.h, a pair of cells
 *   phase     0, 1: the cells that count; 2: closed for good or for a read; any thread may read it
 *   mode      written at init
 *
 * In FOLD: value at the instant when the phase changed = shared + stood[0] + stood[1].
 *
 * Order: none, as counter.h. Not async-signal-safe. After fork the child has all counts.
 */
#ifndef PAWL_COUNTER_EXACT_H
#define PAWL_COUNTER_EXACT_H

#include <pawl/detail/counter_cells.h>

enum pawl_exact_mode { PAWL_EXACT_FOLD, PAWL_EXACT_STALL, PAWL_EXACT_BRLOCK, PAWL_EXACT_LOCKS };

#define PAWL_EXACT_CLOSED_ 2u

typedef struct pawl_counter_exact {
    uint64_t shared __attribute__((__aligned__(8)));
    uint64_t stood[2] __attribute__((__aligned__(8)));
    uint32_t place;
    uint32_t phase;
    uint32_t mode;
    uint32_t unused_;
} pawl_counter_exact;

/* A counter at 0; zero bytes are one in mode FOLD. */
#define PAWL_COUNTER_EXACT_INIT PAWL_COUNTER_EXACT_INIT_MODE(PAWL_EXACT_FOLD)
/* A counter at 0 of that mode. */
#define PAWL_COUNTER_EXACT_INIT_MODE(mode)                                                         \
    {0, {0, 0}, 0, (mode) >= PAWL_EXACT_BRLOCK ? PAWL_EXACT_CLOSED_ : 0, (mode), 0}

PAWL_C_BEGIN

/* The exact value, modulo 2^64 as signed. Reads of one counter wait for each other. Where the
 * system has no restartable sequences, they also wait for updates that are under way. */
PAWL_API int64_t PAWL_SYMBOL_(pawl_counter_exact_read)(pawl_counter_exact *c);

/* Gives the cells back and returns the last value, which the object also keeps. No thread may be
 * using the counter. An update beside this call or after it counts in the object; the checking
 * variant reports one that comes after. */
PAWL_API int64_t PAWL_SYMBOL_(pawl_counter_exact_destroy)(pawl_counter_exact *c);

PAWL_API void PAWL_SYMBOL_(pawl_counter_exact_add_slow)(pawl_counter_exact *c, uint64_t n);

PAWL_C_END

#define ipawl_counter_exact_add_slow_ PAWL_SYMBOL_(pawl_counter_exact_add_slow)
#if !PAWL_TOLD_AROUND_
#define pawl_counter_exact_read PAWL_SYMBOL_(pawl_counter_exact_read)
#define pawl_counter_exact_destroy PAWL_SYMBOL_(pawl_counter_exact_destroy)
#endif

PAWL_INLINE_BEGIN

PAWL_INLINE void pawl_counter_exact_init(pawl_counter_exact *c, enum pawl_exact_mode mode)
{
    const pawl_counter_exact fresh = PAWL_COUNTER_EXACT_INIT_MODE((uint32_t)mode);
    *c = fresh;
}

/* Adds. Never fails. Waits for no read in mode FOLD; a thread without cells (counter.h) takes a
 * short lock in every mode. */
#if PAWL_CHECKED || PAWL_HOOKS
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_counter_exact_add(pawl_counter_exact *c, int64_t n)
{
    ipawl_counter_exact_add_slow_(c, (uint64_t)n);
}
#else
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_counter_exact_add(pawl_counter_exact *c, int64_t n)
{
    char *rseq = PAWL_MINE_.rseq;
    /* [COUNTER_PLACE] acquire: our cells of the pair read zero. */
    const uint32_t place = pawl_load_acquire32(&c->place, PAWL_COUNTER_PLACE);
    if (PAWL_UNLIKELY(rseq == NULL || place < PAWL_PLACE_FIRST_) ||
        PAWL_UNLIKELY(!ipawl_rseq_add_phase_(rseq, ipawl_cell_(PAWL_MINE_.block, place),
                                             (uint64_t)n, &c->phase)))
        ipawl_counter_exact_add_slow_(c, (uint64_t)n);
}
#endif

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_counter_exact_sub(pawl_counter_exact *c, int64_t n)
{
    pawl_counter_exact_add(c, (int64_t)(0 - (uint64_t)n));
}

PAWL_INLINE_END

#endif
