/* SPDX-License-Identifier: MIT */
/*
 * Counters for numbers that change often. Each thread counts in memory of its own; a read adds up.
 * doc/counter.md leads from what a program asks of its counter to the one that does just that:
 *
 *   pawl_counter          statistics: the cheapest add, a read that may be fuzzy       (this file)
 *   pawl_cpu_counter      the same with a cell for each CPU instead of each thread     (this file)
 *   pawl_atomic_counter   changed rarely: one shared word                              (this file)
 *   pawl_seq_counter      changed rarely, read often, wider than a word        counter_seq.h
 *   pawl_counter_exact    reads give a value that the counter really had       counter_exact.h
 *   pawl_counter_limit    never beyond a limit                                 counter_limit.h
 *   pawl_bigref           detects zero: a reference count                      bigref.h
 *
 * Not for: a number of which the program must act on every value (a lock, or an atomic word and
 * its return value, serves); few updates (one atomic word is smaller and reads faster).
 *
 * The struct
 *
 *   shared   counted here and in no cell
 *   before   the contents of the cells when this counter got them; only their threads write
 *            them, so they are not cleared
 *   place    offset of the cells in every thread's block (counter_cells.h); 0: none yet, 1: none
 *            was free, 2: destroyed, 3: about to be found. Written at the first add and by destroy.
 *
 *   value = shared - before + the sum of the cell at `place` over all blocks, modulo 2^64, as a
 *   signed number: every counter of this file goes from 2^63-1 on to -2^63.
 *
 * Cost: add is one load, one test and one addition to memory that no other CPU writes, without a
 * locked instruction. Read visits the blocks of all thread lines that have ever counted.
 *
 * Order: counters order nothing. A thread that reads a count does not therefore see other stores of
 * the counting thread. ThreadSanitizer sees relaxed atomic accesses: no race and no order.
 *
 * Zero bytes are a counter at 0. A counter that is never destroyed keeps its place for ever.
 */
#ifndef PAWL_COUNTER_H
#define PAWL_COUNTER_H

#include <pawl/detail/counter_cells.h>

/* Converts a signed difference to its value in the cells, and back. */
#define PAWL_COUNT_(n) ((uint64_t)(n))

typedef struct pawl_counter {
    uint64_t shared __attribute__((__aligned__(8)));
    uint64_t before __attribute__((__aligned__(8)));
    uint32_t place;
    uint32_t unused_;
} pawl_counter;

typedef struct pawl_cpu_counter {
    struct pawl_counter counter;
} pawl_cpu_counter;

typedef struct pawl_atomic_counter {
    uint64_t value __attribute__((__aligned__(8)));
} pawl_atomic_counter;

#define PAWL_COUNTER_INIT {0, 0, 0, 0}
#define PAWL_CPU_COUNTER_INIT {{0, 0, 0, 0}}
#define PAWL_ATOMIC_COUNTER_INIT {0}

PAWL_C_BEGIN

/* The value; reads each cell once while other threads go on counting. With increments of one sign
 * only, the result lies between the values before and after the call. Otherwise it may be a value
 * that the counter never had. Never waits. Async-signal-safe. */
PAWL_API int64_t PAWL_SYMBOL_(pawl_counter_read)(const pawl_counter *c);
PAWL_API int64_t PAWL_SYMBOL_(pawl_cpu_counter_read)(const pawl_cpu_counter *c);

/* Gives the cells back and returns the last value, which the object also keeps. No thread may be
 * adding: an add beside this call may be lost, or counted by the counter that gets the cells next,
 * and harms nothing else. A later add counts in the object and takes no new cells; the checking
 * variant reports it. A second destroy has no effect. */
PAWL_API int64_t PAWL_SYMBOL_(pawl_counter_destroy)(pawl_counter *c);
PAWL_API int64_t PAWL_SYMBOL_(pawl_cpu_counter_destroy)(pawl_cpu_counter *c);

PAWL_API void PAWL_SYMBOL_(pawl_counter_add_slow)(pawl_counter *c, uint64_t n);
PAWL_API void PAWL_SYMBOL_(pawl_cpu_counter_add_slow)(pawl_cpu_counter *c, uint64_t n);

PAWL_C_END

#define ipawl_counter_add_slow_ PAWL_SYMBOL_(pawl_counter_add_slow)
#define ipawl_cpu_counter_add_slow_ PAWL_SYMBOL_(pawl_cpu_counter_add_slow)
#if !PAWL_TOLD_AROUND_
#define pawl_counter_read PAWL_SYMBOL_(pawl_counter_read)
#define pawl_counter_destroy PAWL_SYMBOL_(pawl_counter_destroy)
#define pawl_cpu_counter_read PAWL_SYMBOL_(pawl_cpu_counter_read)
#define pawl_cpu_counter_destroy PAWL_SYMBOL_(pawl_cpu_counter_destroy)
#endif

PAWL_INLINE_BEGIN

/* ---- Statistical counter, cells per thread --------------------------------------------------- */

/* The object becomes a counter at 0, as zero bytes are. No other thread may use it meanwhile. */
PAWL_INLINE void pawl_counter_init(pawl_counter *c)
{
    c->shared = 0;
    c->before = 0;
    c->place = 0;
    c->unused_ = 0;
}

/* Adds. Never fails, never waits: a thread that has no cells (memory is short, or more than
 * PAWL_THREAD_LINES threads live) adds to the shared word with an atomic instruction. The first add
 * of a thread, and of a counter, may make a system call for memory.
 *
 * Not for a counter to which a thread and a signal handler that may interrupt it both add: neither
 * in the handler nor outside. On processors that load and store, one of the two adds is lost. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_counter_add(pawl_counter *c, int64_t n)
{
    char *block = PAWL_MINE_.block;
    const uint32_t place = pawl_load_relaxed32(&c->place);
    if (PAWL_CHECKED || PAWL_UNLIKELY(block == NULL || place < PAWL_PLACE_FIRST_))
        ipawl_counter_add_slow_(c, PAWL_COUNT_(n));
    else
        ipawl_cell_add_(ipawl_cell_(block, place), PAWL_COUNT_(n));
}

/* The same for a counter that a signal handler adds to: async-signal-safe. Neither the handler's
 * add nor the interrupted one is lost, provided that both use this form. One instruction on x86-64,
 * an atomic one (without order) elsewhere. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_counter_add_in_handler(pawl_counter *c, int64_t n)
{
    char *block = PAWL_MINE_.block;
    const uint32_t place = pawl_load_relaxed32(&c->place);
    if (PAWL_CHECKED || PAWL_UNLIKELY(block == NULL || place < PAWL_PLACE_FIRST_))
        ipawl_counter_add_slow_(c, PAWL_COUNT_(n));
    else
        ipawl_cell_bump_(ipawl_cell_(block, place), PAWL_COUNT_(n));
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_counter_sub(pawl_counter *c, int64_t n)
{
    pawl_counter_add(c, (int64_t)(0 - PAWL_COUNT_(n)));
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_counter_inc(pawl_counter *c)
{
    pawl_counter_add(c, 1);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_counter_dec(pawl_counter *c)
{
    pawl_counter_add(c, -1);
}

/* ---- Statistical counter, cells per CPU ------------------------------------------------------ */

/* For programs with many more threads than CPUs that all count: memory and read time depend on the
 * number of CPUs. add is a restartable sequence, and so async-signal-safe. Where the system has no
 * such sequences, the cells of the threads are used. Contracts as above. */
PAWL_INLINE void pawl_cpu_counter_init(pawl_cpu_counter *c)
{
    pawl_counter_init(&c->counter);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_cpu_counter_add(pawl_cpu_counter *c, int64_t n)
{
    char *cpus = PAWL_MINE_.cpus;
    const uint32_t place = pawl_load_relaxed32(&c->counter.place);
    if (PAWL_CHECKED || PAWL_UNLIKELY(cpus == NULL || place < PAWL_PLACE_FIRST_) ||
        PAWL_UNLIKELY(!ipawl_rseq_add_cpu_(PAWL_MINE_.rseq, cpus + place, PAWL_COUNT_(n),
                                           PAWL_MINE_.cpu_limit)))
        ipawl_cpu_counter_add_slow_(c, PAWL_COUNT_(n));
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_cpu_counter_sub(pawl_cpu_counter *c, int64_t n)
{
    pawl_cpu_counter_add(c, (int64_t)(0 - PAWL_COUNT_(n)));
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_cpu_counter_inc(pawl_cpu_counter *c)
{
    pawl_cpu_counter_add(c, 1);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_cpu_counter_dec(pawl_cpu_counter *c)
{
    pawl_cpu_counter_add(c, -1);
}

/* ---- Plain atomic counter -------------------------------------------------------------------- */

/* One word. add returns the value after it, so exactly one thread sees each value. All are
 * async-signal-safe where 64-bit atomics are. */
PAWL_INLINE void pawl_atomic_counter_init(pawl_atomic_counter *c, int64_t value)
{
    c->value = PAWL_COUNT_(value);
}

PAWL_INLINE int64_t pawl_atomic_counter_add(pawl_atomic_counter *c, int64_t n)
{
    return (int64_t)(pawl_fetch_add_relaxed64(&c->value, PAWL_COUNT_(n)) + PAWL_COUNT_(n));
}

PAWL_INLINE int64_t pawl_atomic_counter_sub(pawl_atomic_counter *c, int64_t n)
{
    return pawl_atomic_counter_add(c, (int64_t)(0 - PAWL_COUNT_(n)));
}

PAWL_INLINE int64_t pawl_atomic_counter_read(const pawl_atomic_counter *c)
{
    return (int64_t)pawl_load_relaxed64(&c->value);
}

PAWL_INLINE_END

#include <pawl/counter_exact.h>
#include <pawl/counter_limit.h>
#include <pawl/counter_seq.h>

#if PAWL_TOLD_
#include <pawl/detail/counter_told.h>
#endif

#endif
