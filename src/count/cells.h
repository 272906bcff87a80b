/* SPDX-License-Identifier: MIT */
/* What the counters and bigref.c share: counter_cells.c behind <pawl/detail/counter_cells.h>. */
#ifndef PAWL_CELLS_H
#define PAWL_CELLS_H

#include <pawl/detail/counter_cells.h>

enum cell_sort { CELL_SINGLE, CELL_PAIR };

/* States of a thread's own lock, for exact counters in mode LOCKS. A thread joins under the latch
 * that a read holds; a read passes over blocks that have not joined. */
enum { LOCK_NOT_JOINED, LOCK_FREE, LOCK_TAKEN };

/* ---- Latches: short mutual exclusion between threads, never for signal handlers -------------- */

/* Also the only lock of each exact, limit and reference counter: outside the object, so that who
 * unlocks touches nothing that may be gone, and fork can hold them all. */
static struct pawl_counter_latch *cells_latch_of(const void *object);
static struct pawl_counter_latch *cells_latch_of_brlock(void);
static bool cells_latch_try(struct pawl_counter_latch *latch);
static void cells_latch_take(struct pawl_counter_latch *latch);
static void cells_latch_drop(struct pawl_counter_latch *latch);

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* The caller's own, with a block; NULL when it has none, and then it must count elsewhere. */
static struct pawl_counter_mine *cells_join(void);
/* The block of a line, NULL if it has never counted. Everything below `lines` may be asked for. */
static char *cells_block(uint32_t line);
static uint32_t cells_lines(void);
/* The end of a thread: its block stays, and belongs to the line. */
static void cells_leave(void);
static __attribute__((unused)) void cells_set_up(void); /* simulated processes do not fork */

/* ---- Places ---------------------------------------------------------------------------------- */

/* A free place, whose pairs read zero and whose single cells hold what was left; or 0. */
static uint32_t cells_take(enum cell_sort sort);
/* The same, but 0 rather than waiting for another thread: for signal handlers. */
static uint32_t cells_try_take(enum cell_sort sort, bool *busy);
/* Nobody uses the place any more; the users of a pair have been shut out. */
static void cells_give(uint32_t place);
/* The sum over all blocks, each cell read once. */
static uint64_t cells_sum(uint32_t place);
/* The same where nobody counts meanwhile. */
static uint64_t cells_sum_shut(uint32_t place);

/* ---- Sections -------------------------------------------------------------------------------- */

/* The caller has closed a gate: returns when no section is under way that found it open. What the
 * sections wrote is seen. */
static void cells_shut_out(void);
/* If *gate == open and *cell + n <= bound: *cell += n. The cell is the caller's. */
static bool cells_add_if(struct pawl_counter_mine *mine, uint64_t *cell, uint64_t n, uint64_t bound,
                         const uint32_t *gate, uint32_t open);
/* If *phase <= 1: cells[*phase] += n. */
static bool cells_add_phase(struct pawl_counter_mine *mine, uint64_t *cells, uint64_t n,
                            const uint32_t *phase);

/* ---- The checking variant -------------------------------------------------------------------- */

#if PAWL_CHECKED
/* Reports misuse of an object at the return address `site`; aborts, unless PAWL_CHECK=report. */
static void cells_report(const char *what, const char *type, const void *object, const char *name,
                         void *site);
#define CELLS_CHECK(bad, what, type, object, name)                                                 \
    do {                                                                                           \
        if (PAWL_UNLIKELY(bad))                                                                    \
            cells_report(what, type, object, name, __builtin_return_address(0));                   \
    } while (0)
/* The caller is using the object, or none (NULL) any more; and whether another thread is. A thread
 * without a block is not seen. */
static void cells_using(const void *object);
static bool cells_in_use(const void *object);
#define CELLS_USING(object) cells_using(object)
#else
#define CELLS_CHECK(bad, what, type, object, name) ((void)0)
#define CELLS_USING(object) ((void)0)
#endif

#endif
