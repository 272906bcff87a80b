/* SPDX-License-Identifier: MIT */
/* What the counters and bigref.c share: counter_cells.c behind <pawl/detail/counter_cells.h>. */
#ifndef PAWL_CELLS_H
#define PAWL_CELLS_H

#include <pawl/detail/counter_cells.h>

#include "../base/base.h"
#include "../check/check.h"

/* ---- What is one per process ----------------------------------------------------------------- */

/* Single cells that a thread's block has, and as many again in pairs. A block is reserved whole;
 * its untouched pages cost no memory. */
#if PAWL_HOOKS
#define PAWL_COUNTER_CELLS 64
#define PAWL_COUNTER_LINES 8
#elif UINTPTR_MAX > UINT32_MAX
#define PAWL_COUNTER_CELLS 32768
#define PAWL_COUNTER_LINES PAWL_THREAD_LINES
#else
#define PAWL_COUNTER_CELLS 4096
#define PAWL_COUNTER_LINES PAWL_THREAD_LINES
#endif
#define PAWL_COUNTER_LATCHES 16

struct pawl_counters {
    pawl_address_ blocks[PAWL_COUNTER_LINES]; /* of each line, kept for its next owners */
    pawl_address_ cpus;                       /* per-CPU cells, once asked for */
    uint32_t cpu_limit;
    uint32_t br_writer; /* the big-reader lock of pawl_counter_exact: 1 while somebody reads */
    /* Which cells and pairs belong to counters, and where the next search begins: slot latch. */
    uint32_t next[2];
    uint32_t used[2][PAWL_COUNTER_CELLS / 32];
    struct pawl_latch slots;
    struct pawl_latch latches[PAWL_COUNTER_LATCHES]; /* by the counter's address */
#if PAWL_HOOKS
    struct pawl_counter_mine mine[PAWL_COUNTER_LINES];
    uint64_t cells[PAWL_COUNTER_LINES][2 * PAWL_COUNTER_CELLS] __attribute__((aligned(8)));
#endif
};

PAWL_SHARED_DECLARE(struct pawl_counters, counters_object);

static inline struct pawl_counters *counters_here(void)
{
    return PAWL_SHARED(struct pawl_counters, counters_object);
}

/* The cells before the first place. */
enum { CELL_MARKER, CELL_BR_READING, CELL_BR_OWN, CELL_IN_USE /* of counter_check.c */ };

enum cell_sort { CELL_SINGLE, CELL_PAIR };

/* States of a thread's own lock, for exact counters in mode LOCKS. A thread joins under the latch
 * that a read holds; a read passes over blocks that have not joined. */
enum { LOCK_NOT_JOINED, LOCK_FREE, LOCK_TAKEN };

/* ---- Latches: short mutual exclusion between threads, never for signal handlers -------------- */

/* Also the only lock of each exact, limit and reference counter: outside the object, so that who
 * unlocks touches nothing that may be gone, and fork can hold them all. */
PAWL_INTERNAL struct pawl_latch *cells_latch_of(const void *object);
PAWL_INTERNAL struct pawl_latch *cells_latch_of_brlock(void);

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* The caller's own, with a block; NULL when it has none, and then it must count elsewhere. */
PAWL_INTERNAL struct pawl_counter_mine *cells_join(void);
/* The block of a line, NULL if it has never counted. Everything below `lines` may be asked for. */
PAWL_INTERNAL char *cells_block(uint32_t line);
PAWL_INTERNAL uint32_t cells_lines(void);

/* ---- Places ---------------------------------------------------------------------------------- */

/* A free place, whose pairs read zero and whose single cells hold what was left; or 0. */
PAWL_INTERNAL uint32_t cells_take(enum cell_sort sort);
/* The same, but 0 rather than waiting for another thread: for signal handlers. */
PAWL_INTERNAL uint32_t cells_try_take(enum cell_sort sort, bool *busy);
/* Nobody uses the place any more; the users of a pair have been shut out. */
PAWL_INTERNAL void cells_give(uint32_t place);
/* The sum over all blocks, each cell read once. */
PAWL_INTERNAL uint64_t cells_sum(uint32_t place);
/* The same where nobody counts meanwhile. */
PAWL_INTERNAL uint64_t cells_sum_shut(uint32_t place);

/* ---- Sections -------------------------------------------------------------------------------- */

/* The caller has closed a gate: returns when no section is under way that found it open. What the
 * sections wrote is seen. */
PAWL_INTERNAL void cells_shut_out(void);
/* If *gate == open and *cell + n <= bound: *cell += n. The cell is the caller's. */
PAWL_INTERNAL bool cells_add_if(struct pawl_counter_mine *mine, uint64_t *cell, uint64_t n,
                                uint64_t bound,
                         const uint32_t *gate, uint32_t open);
/* If *phase <= 1: cells[*phase] += n. */
PAWL_INTERNAL bool cells_add_phase(struct pawl_counter_mine *mine, uint64_t *cells, uint64_t n,
                            const uint32_t *phase);

/* ---- The checking variant -------------------------------------------------------------------- */

#if PAWL_CHECKED
/* Reports misuse of an object at the return address `site`; aborts, unless PAWL_CHECK=report. */
PAWL_INTERNAL void cells_report(const char *what, const char *type, const void *object,
                                const char *name,
                         void *site);
#define CELLS_CHECK(bad, what, type, object, name)                                                 \
    do {                                                                                           \
        if (PAWL_UNLIKELY(bad))                                                                    \
            cells_report(what, type, object, name, __builtin_return_address(0));                   \
    } while (0)
/* The caller is using the object, or none (NULL) any more; and whether another thread is. A thread
 * without a block is not seen. */
PAWL_INTERNAL void cells_using(const void *object);
PAWL_INTERNAL bool cells_in_use(const void *object);
#define CELLS_USING(object) cells_using(object)
#else
#define CELLS_CHECK(bad, what, type, object, name) ((void)0)
#define CELLS_USING(object) ((void)0)
#endif

#endif
