/* SPDX-License-Identifier: MIT */
/*
 * Cells: memory in which each thread counts for itself. Internal; counter.h and bigref.h use them.
 *
 *   block of line 0   [ marker | reading | own lock | in use | 4 spare | cells 8 ... | pairs ... ]
 *   block of line 1   [ marker | reading | own lock | in use | 4 spare | cells 8 ... | pairs ... ]
 *                                                                        ^ place of a counter: the
 *                                                                        same offset in every block
 *
 * A counter owns one place: one cell of 64 bits, or a pair, in every block. So a line of memory
 * holds eight counters of one thread and never cells of two threads. Only the thread that owns the
 * line writes the cells of its block, unless it is shut out (see Sections).
 *
 * A block belongs to its line of thread.h, not to the thread. A thread that ends leaves its counts
 * where they are, and the next owner of the line continues from them. So the end of a thread moves
 * nothing and cannot race with a reader. A block is reserved when its line first counts, and stays
 * for ever. A place that was used before is used again first; the memory of a range of pairs goes
 * back to the system when no counter has one there. A thread without a line, or without memory for
 * a block, counts in the counter itself.
 *
 * Sections. Some updates must test before they write: is the counter open? does the count stay in
 * its range? Then test and write form one section. Where the kernel has restartable sequences
 * (rseq.h), a section is such a sequence; elsewhere it lies between two steps of the block's
 * marker. A thread that closes a counter writes its gate and calls cells_shut_out. When that call
 * returns, no section is under way that found the gate open, and every later section finds it
 * closed. With sequences the call waits for no thread. If the end of a time slice cut a sequence
 * short, the kernel sends it back when its thread runs again.
 *
 *   I1  the owner of a line writes its cells. While the owner is shut out, only the thread that
 *       shut it out writes them.
 *   I2  place is written once (0 to another value) while the counter is in use.
 *   I3  a section writes only its cell, in its last step.
 *   I4  no thread holds two latches of counters; a thread that holds one may take the slot latch.
 */
#ifndef PAWL_COUNTER_CELLS_H
#define PAWL_COUNTER_CELLS_H

#include <pawl/detail/rseq.h>
#include <pawl/thread.h>

/* Values of a place below the first cell. Zero bytes are a counter that has none yet. */
#define PAWL_PLACE_NONE_ 0u
#define PAWL_PLACE_SHARED_ 1u /* none was free: all threads count in the counter itself */
#define PAWL_PLACE_DEAD_ 2u   /* destroyed */
#define PAWL_PLACE_SOUGHT_ 3u /* one thread is finding a place; others go on as with none */
#define PAWL_PLACE_FIRST_ 64u

PAWL_C_BEGIN
/* The calling thread's structure. A compiled function: inline, the access would draw a false report
 * of UndefinedBehaviorSanitizer. For that sanitizer gcc tests the address of thread-local storage
 * for null by the flags of an addition. The linker may relax the addition to an instruction that
 * sets no flags. */
PAWL_API struct pawl_counter_mine *PAWL_SYMBOL_(pawl_counter_mine)(void);
PAWL_C_END
#define ipawl_counter_mine_ PAWL_SYMBOL_(pawl_counter_mine)

#if PAWL_HOOKS
#define PAWL_MINE_ (*ipawl_counter_mine_())
#else
#define PAWL_MINE_ PAWL_OWN_.counter /* for fast paths */
#endif

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_ALWAYS_INLINE_ uint64_t *ipawl_cell_(char *block, uint32_t place)
{
    return (uint64_t *)(void *)(block + place);
}

/* Adds to the calling thread's own cell: a load and a store, or one instruction. */
#if !PAWL_CALLS_OUT_ && defined(__x86_64__)
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_cell_add_(uint64_t *cell, uint64_t n)
{
    ipawl_cell_bump_(cell, n); /* faster than three instructions */
}
#else
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_cell_add_(uint64_t *cell, uint64_t n)
{
    pawl_store_relaxed64(cell, pawl_load_relaxed64(cell) + n);
}
#endif

PAWL_INLINE_END

#endif
