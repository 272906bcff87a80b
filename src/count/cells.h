/* SPDX-License-Identifier: MIT */
/* Shared by the counters and bigref.c: counter_cells.c implements
 * <pawl/detail/counter_cells.h>. */
#ifndef PAWL_CELLS_H
#define PAWL_CELLS_H

#include <pawl/detail/counter_cells.h>

#include "../base/base.h"
#include "../check/check.h"

/* ---- What is one per process ----------------------------------------------------------------- */

/* The number of single cells in a thread's block; it has as many cells again in pairs. A block
 * is reserved whole; its untouched pages cost no memory. */
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

/* Pairs lie in ranges of this size. The memory of a range without counters goes back to the system
 * where it is a whole number of pages. That of single cells stays: an add that is still in progress
 * beside destroy, by mistake, could then store the whole old count. */
#if PAWL_HOOKS
#define PAWL_COUNTER_RANGE_BYTES (8u * PAWL_COUNTER_CELLS)
#else
#define PAWL_COUNTER_RANGE_BYTES 16384u
#endif
#define PAWL_COUNTER_RANGES (8u * PAWL_COUNTER_CELLS / PAWL_COUNTER_RANGE_BYTES) /* at most 32 */

/* The values that a section under a latch has overwritten so far. It is the cure for a fork that
 * comes in the middle: no thread of the child would finish the section. */
struct cells_log {
    uint32_t count;        /* of the notes; 0: the section is over, or has changed nothing yet */
    ipawl_address_ thread; /* a number of the thread that notes */
    ipawl_address_ fold;   /* pawl_counter_exact: a read is changing its phase; 0: none is */
    struct cells_note {
        ipawl_address_ at;
        uint32_t bytes;
        uint64_t before __attribute__((aligned(8)));
    } notes[8];
};

struct pawl_counters {
    ipawl_address_ blocks[PAWL_COUNTER_LINES]; /* of each line, kept for its next owners */
    ipawl_address_ cpus;                       /* per-CPU cells, once needed */
    uint32_t cpu_limit;
    uint32_t br_writer; /* pawl_counter_exact's big-reader lock: 1 during a read */
    /* Under `slots`. Of cells and of pairs: which belong to counters, and a number below which all
     * do. Of pairs: how many do in each range, and a bit for each range that may have memory. */
    uint32_t used[2][PAWL_COUNTER_CELLS / 32];
    uint32_t next[2];
    uint32_t pairs[PAWL_COUNTER_RANGES];
    uint32_t touched;
    struct pawl_latch slots;
    struct pawl_latch latches[PAWL_COUNTER_LATCHES]; /* by the counter's address */
    struct cells_log logs[PAWL_COUNTER_LATCHES];     /* of their holders */
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

/* States of a thread's own lock, for exact counters in mode LOCKS. A thread joins under the
 * latch that a read holds; a read skips blocks that have not joined. */
enum { LOCK_NOT_JOINED, LOCK_FREE, LOCK_TAKEN };

/* ---- Latches: short mutual exclusion between threads, never for signal handlers -------------- */

/* The only lock of each exact, limit and reference counter, too. It is outside the object. So
 * the releaser touches nothing that may be gone, and a fork's child finds all of them. */
PAWL_INTERNAL struct pawl_latch *cells_latch_of(const void *object);
PAWL_INTERNAL struct pawl_latch *cells_latch_of_brlock(void);

/* The caller holds the latch, and is about to change the word at `at`, which no other thread does
 * meanwhile. A fork's child takes that back. */
PAWL_INTERNAL void cells_note(const void *object, const void *at, uint32_t bytes);
/* The changes are consistent now: only the first `count` of those noted would be taken back. */
PAWL_INTERNAL void cells_settle(const void *object, uint32_t count);
/* The caller changes the phase of the counter, until it calls this with `folds` false. A fork's
 * child takes all sums anew. */
PAWL_INTERNAL void cells_fold(const void *counter, bool folds);

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* The caller's own record, with a block. NULL when the caller has none, and must count
 * elsewhere. */
PAWL_INTERNAL struct pawl_counter_mine *cells_join(void);
/* The block of a line; NULL if no owner of the line has counted. Valid for each line below
 * cells_lines(). */
PAWL_INTERNAL char *cells_block(uint32_t line);
PAWL_INTERNAL uint32_t cells_lines(void);

/* ---- Places ---------------------------------------------------------------------------------- */

/* Takes a free place: a pair reads zero, and a single cell may hold any value. 0: there is
 * none. */
PAWL_INTERNAL uint32_t cells_take(enum cell_sort sort);
/* The same, but returns 0 instead of waiting for another thread: for signal handlers. */
PAWL_INTERNAL uint32_t cells_try_take(enum cell_sort sort, bool *busy);
/* Gives the place back. No thread uses it any more; the caller has shut out the users of a pair. */
PAWL_INTERNAL void cells_give(uint32_t place);
/* The sum over all blocks; reads each cell once. */
PAWL_INTERNAL uint64_t cells_sum(uint32_t place);
/* The same, while no thread counts. */
PAWL_INTERNAL uint64_t cells_sum_shut(uint32_t place);

/* ---- Sections -------------------------------------------------------------------------------- */

/* The caller has closed a gate. Returns when no section that found the gate open is in progress;
 * the caller then sees what the sections wrote. */
PAWL_INTERNAL void cells_shut_out(void);
/* If *gate == open and *cell + n <= bound: *cell += n. The cell is the caller's. */
PAWL_INTERNAL bool cells_add_if(struct pawl_counter_mine *mine, uint64_t *cell, uint64_t n,
                                uint64_t bound, const uint32_t *gate, uint32_t open);
/* If *phase <= 1: cells[*phase] += n. */
PAWL_INTERNAL bool cells_add_phase(struct pawl_counter_mine *mine, uint64_t *cells, uint64_t n,
                                   const uint32_t *phase);

/* ---- The checking variant -------------------------------------------------------------------- */

#if PAWL_CHECKED
#define CELLS_CHECK(bad, what, type, object, name)                                                 \
    do {                                                                                           \
        if (PAWL_UNLIKELY(bad))                                                                    \
            ipawl_report_misuse_(what, type, object, name, __builtin_return_address(0));           \
    } while (0)
/* Notes that the caller uses the object, or no object (NULL) any more; cells_in_use says whether
 * another thread uses it. A thread without a block is not seen. */
PAWL_INTERNAL void cells_using(const void *object);
PAWL_INTERNAL bool cells_in_use(const void *object);
#define CELLS_USING(object) cells_using(object)
#else
#define CELLS_CHECK(bad, what, type, object, name) ((void)0)
#define CELLS_USING(object) ((void)0)
#endif

#endif
