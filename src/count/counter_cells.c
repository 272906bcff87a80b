/* SPDX-License-Identifier: MIT */
/* Blocks, places and latches of the counters. counter_cells.h has the picture. */
#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/counter.h>

#include "../base/base.h"
#include "cells.h"

#define BLOCK_BYTES (2u * PAWL_COUNTER_CELLS * 8u)
#define FIRST_PAIR (PAWL_COUNTER_CELLS * 8u)
#define RANGE_PAIRS (PAWL_COUNTER_RANGE_BYTES / 16u)
#define HEADER_CELLS (PAWL_PLACE_FIRST_ / 8u)

/* Uses that a thread without a block counts elsewhere before it asks for a block again. */
#define USES_BEFORE_ANOTHER_TRY 1000

PAWL_SHARED_DEFINE(struct pawl_counters, counters_object);

#if !PAWL_HOOKS
__attribute__((noinline)) struct pawl_counter_mine *ipawl_counter_mine_(void)
{
    return &pawl_os_own()->counter;
}
#endif

/* ---- Latches --------------------------------------------------------------------------------- */

PAWL_INTERNAL struct pawl_latch *cells_latch_of_brlock(void)
{
    return &counters_here()->latches[0];
}

PAWL_INTERNAL struct pawl_latch *cells_latch_of(const void *object)
{
    const uint32_t mixed = (uint32_t)((uintptr_t)object >> 4) * UINT32_C(2654435761);
    return &counters_here()->latches[1 + (mixed >> 8) % (PAWL_COUNTER_LATCHES - 1)];
}

static struct cells_log *cells_log_of(const void *object)
{
    struct pawl_counters *const all = counters_here();
    return &all->logs[cells_latch_of(object) - all->latches];
}

PAWL_INTERNAL void cells_note(const void *object, const void *at, uint32_t bytes)
{
    struct cells_log *const log = cells_log_of(object);
    struct cells_note *const note = &log->notes[log->count];
    note->at = (ipawl_address_)(uintptr_t)at;
    note->bytes = bytes;
    note->before = bytes == 4 ? pawl_load_relaxed32((const uint32_t *)at)
                              : pawl_load_relaxed64((const uint64_t *)at);
    log->thread = (ipawl_address_)(uintptr_t)pawl_os_thread_slot();
    HANDLERS_SEE_THIS_ORDER();
    log->count++;
    HANDLERS_SEE_THIS_ORDER();
}

PAWL_INTERNAL void cells_settle(const void *object, uint32_t count)
{
    HANDLERS_SEE_THIS_ORDER();
    cells_log_of(object)->count = count;
    HANDLERS_SEE_THIS_ORDER();
}

PAWL_INTERNAL void cells_fold(const void *counter, bool folds)
{
    struct cells_log *const log = cells_log_of(counter);
    log->thread = (ipawl_address_)(uintptr_t)pawl_os_thread_slot();
    HANDLERS_SEE_THIS_ORDER();
    log->fold = folds ? (ipawl_address_)(uintptr_t)counter : 0;
    HANDLERS_SEE_THIS_ORDER();
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

PAWL_INTERNAL uint32_t cells_lines(void)
{
    const uint32_t used = pawl_load_relaxed32(&process_here()->lines_used);
    return used < PAWL_COUNTER_LINES ? used : PAWL_COUNTER_LINES;
}

PAWL_INTERNAL char *cells_block(uint32_t line)
{
    /* [CELLS_BLOCK] acquire: the block exists before the caller reads it. */
    char *block = (char *)(uintptr_t)PAWL_ADDRESS_(pawl_load_acquire)(
        &counters_here()->blocks[line], PAWL_CELLS_BLOCK);
    if (block != NULL)
        PLAIN_READ(*block);
    return block;
}

#if PAWL_HOOKS
#define CELLS_PAGES(line) counters_here()->cells[line]
#define CELLS_MINE(number)                                                                         \
    ((number) < PAWL_COUNTER_LINES ? &counters_here()->mine[number] : &cells_of_nobody)
static struct pawl_counter_mine cells_of_nobody;
#else
#define CELLS_PAGES(line) ((void)(line), pawl_os_pages(BLOCK_BYTES))
#define CELLS_MINE(number) ((void)(number), ipawl_counter_mine_())
#endif

static char *cells_new_block(uint32_t line)
{
    char *made = (char *)CELLS_PAGES(line);
    ipawl_address_ found = 0;
    if (made == NULL)
        return NULL;
    PLAIN_WRITE(*made); /* the system's zeroes */
    /* [CELLS_MADE] release: the block exists before other threads read it. */
    if (!PAWL_ADDRESS_(pawl_cas_release)(&counters_here()->blocks[line], &found,
                                         (ipawl_address_)(uintptr_t)made, PAWL_CELLS_MADE))
        return (char *)(uintptr_t)found; /* a signal handler of this thread was first */
    return made;
}

static char *cells_block_of_this_thread(void)
{
    const struct pawl_thread_line *line = ipawl_thread_line_();
    uint32_t index;
    char *block;
    if (line == NULL)
        return NULL;
    index = (uint32_t)(line - process_here()->lines);
    if (index >= PAWL_COUNTER_LINES)
        return NULL;
    block = cells_block(index);
    return block != NULL ? block : cells_new_block(index);
}

#if PAWL_HOOKS
struct pawl_counter_mine *ipawl_counter_mine_(void)
{
    static struct pawl_counter_mine nobody; /* for threads without a line; never changes */
    const struct pawl_thread_line *line = ipawl_thread_line_();
    const size_t index = line == NULL ? PAWL_COUNTER_LINES : (size_t)(line - process_here()->lines);
    return index < PAWL_COUNTER_LINES ? &counters_here()->mine[index] : &nobody;
}
#endif

PAWL_INTERNAL struct pawl_counter_mine *cells_join(void)
{
    struct pawl_counter_mine *mine = ipawl_counter_mine_();
    char *block;
    if (PAWL_LIKELY(mine->block != NULL))
        return mine;
    if (mine->wait > 0) {
        mine->wait--;
        return NULL;
    }
    block = cells_block_of_this_thread();
    if (block == NULL) {
        if (!PAWL_HOOKS)
            mine->wait = USES_BEFORE_ANOTHER_TRY;
        return NULL;
    }
    mine->block = block; /* first: the inline functions take rseq for a sign of it */
    HANDLERS_SEE_THIS_ORDER();
    mine->rseq = pawl_os_rseq();
    return mine;
}

/* The line still belongs to the thread, so no other thread counts in the block yet. A handler finds
 * no line any more: one that finds no block gets none. */
static void cells_leave(uint32_t number)
{
    struct pawl_counter_mine *const mine = CELLS_MINE(number);
    mine->cpus = NULL;
    HANDLERS_SEE_THIS_ORDER();
    mine->rseq = NULL;
    HANDLERS_SEE_THIS_ORDER();
    mine->block = NULL;
    HANDLERS_SEE_THIS_ORDER();
    mine->wait = 0;
}

/* ---- Places ---------------------------------------------------------------------------------- */

static uint32_t cells_bits_of(enum cell_sort sort)
{
    return sort == CELL_SINGLE ? PAWL_COUNTER_CELLS : PAWL_COUNTER_CELLS / 2;
}

/* The lowest free bit. If any free place was used before, the lowest one was. So counters that
 * come and go use the same memory again. The caller holds the slot latch. */
static uint32_t cells_find_free(enum cell_sort sort)
{
    const struct pawl_counters *all = counters_here();
    const uint32_t words = cells_bits_of(sort) / 32;
    const uint32_t header = sort == CELL_SINGLE ? (UINT32_C(1) << HEADER_CELLS) - 1 : 0;
    PLAIN_WRITE(all->used[sort]);
    for (uint32_t word = all->next[sort] / 32; word < words; word++) {
        const uint32_t free = ~(all->used[sort][word] | (word == 0 ? header : 0));
        if (free != 0)
            return word * 32 + (uint32_t)__builtin_ctz(free);
    }
    return words * 32;
}

static uint32_t cells_take_latched(enum cell_sort sort)
{
    struct pawl_counters *all = counters_here();
    const uint32_t bit = cells_find_free(sort);
    if (bit == cells_bits_of(sort))
        return 0;
    all->used[sort][bit / 32] |= UINT32_C(1) << bit % 32;
    all->next[sort] = bit + 1;
    if (sort == CELL_SINGLE)
        return bit * 8;
    all->pairs[bit / RANGE_PAIRS]++;
    all->touched |= UINT32_C(1) << bit / RANGE_PAIRS;
    return FIRST_PAIR + bit * 16;
}

PAWL_INTERNAL uint32_t cells_take(enum cell_sort sort)
{
    uint32_t place;
    latch_take(&counters_here()->slots);
    place = cells_take_latched(sort);
    latch_drop(&counters_here()->slots);
    return place;
}

PAWL_INTERNAL uint32_t cells_try_take(enum cell_sort sort, bool *busy)
{
    uint32_t place;
    *busy = !latch_try(&counters_here()->slots);
    if (*busy)
        return 0;
    place = cells_take_latched(sort);
    latch_drop(&counters_here()->slots);
    return place;
}

/* A store of zero over zero would give memory to a block that has none there. */
static void cells_clear(uint64_t *cell)
{
    PLAIN_WRITE(*cell);
    if (pawl_load_relaxed64(cell) != 0)
        pawl_store_relaxed64(cell, 0);
}

/* The other threads have stopped writing the pair; the next user finds zeroes, as the first one
 * did. */
static void cells_clear_pair(uint32_t place)
{
    const uint32_t lines = cells_lines();
    for (uint32_t i = 0; i < lines; i++) {
        char *block = cells_block(i);
        if (block == NULL)
            continue;
        cells_clear(ipawl_cell_(block, place));
        cells_clear(ipawl_cell_(block, place + 8));
    }
}

/* The ranges of pairs that may have memory although no counter has a place there. */
static uint32_t cells_spare_ranges(void)
{
    const struct pawl_counters *all = counters_here();
    uint32_t spare = 0;
    for (uint32_t range = 0; range < PAWL_COUNTER_RANGES; range++)
        if (all->pairs[range] == 0)
            spare |= UINT32_C(1) << range;
    return spare & all->touched;
}

/* False: the system does not take the memory, and the pairs read zero all the same. */
static bool cells_return_range(uint32_t range)
{
    const uint32_t lines = cells_lines();
    bool done = true;
    for (uint32_t i = 0; i < lines && done; i++) {
        char *block = cells_block(i);
        if (block != NULL)
            done = pawl_os_return_pages(block + FIRST_PAIR + range * PAWL_COUNTER_RANGE_BYTES,
                                        PAWL_COUNTER_RANGE_BYTES);
    }
    return done;
}

/* A range has lost its last pair. One spare range stays, so that counters that come and go at its
 * edge cost no system call. Of two, the higher one goes. Places are taken from below, so a whole
 * range must fill before a thread touches that memory again. The caller holds the slot latch, so
 * no thread takes a place there. */
static void cells_return_spare(void)
{
    const uint32_t spare = cells_spare_ranges();
    uint32_t highest;
    if ((spare & (spare - 1)) == 0)
        return;
    highest = 31 - (uint32_t)__builtin_clz(spare);
    if (cells_return_range(highest))
        counters_here()->touched &= ~(UINT32_C(1) << highest);
}

PAWL_INTERNAL void cells_give(uint32_t place)
{
    struct pawl_counters *all = counters_here();
    const enum cell_sort sort = place < FIRST_PAIR ? CELL_SINGLE : CELL_PAIR;
    const uint32_t bit = sort == CELL_SINGLE ? place / 8 : (place - FIRST_PAIR) / 16;
    if (sort == CELL_PAIR)
        cells_clear_pair(place);
    latch_take(&all->slots);
    PLAIN_WRITE(all->used[sort]);
    all->used[sort][bit / 32] &= ~(UINT32_C(1) << bit % 32);
    if (bit < all->next[sort])
        all->next[sort] = bit;
    if (sort == CELL_PAIR && --all->pairs[bit / RANGE_PAIRS] == 0)
        cells_return_spare();
    latch_drop(&all->slots);
}

PAWL_INTERNAL uint64_t cells_sum(uint32_t place)
{
    const uint32_t lines = cells_lines();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < lines; i++) {
        char *block = cells_block(i);
        if (block != NULL)
            sum += pawl_load_relaxed64(ipawl_cell_(block, place));
    }
    return sum;
}

PAWL_INTERNAL uint64_t cells_sum_shut(uint32_t place)
{
    const uint32_t lines = PAWL_HOOKS ? cells_lines() : 0;
    for (uint32_t i = 0; i < lines; i++) {
        char *block = cells_block(i);
        if (block != NULL)
            PLAIN_READ(*ipawl_cell_(block, place));
    }
    return cells_sum(place);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

/* A section that a handler has interrupted to fork goes on in the child. */
static void cells_mend_section(struct cells_log *log)
{
    pawl_counter_exact *const folded = (pawl_counter_exact *)(uintptr_t)log->fold;
    const uint32_t place = folded != NULL ? pawl_load_relaxed32(&folded->place) : 0;
    if (log->thread == (ipawl_address_)(uintptr_t)pawl_os_thread_slot())
        return;
    for (; log->count > 0; log->count--) {
        const struct cells_note *note = &log->notes[log->count - 1];
        if (note->bytes == 4)
            pawl_store_relaxed32((uint32_t *)(uintptr_t)note->at, (uint32_t)note->before);
        else
            pawl_store_relaxed64((uint64_t *)(uintptr_t)note->at, note->before);
    }
    if (place >= PAWL_PLACE_FIRST_) {
        folded->stood[0] = cells_sum(place);
        folded->stood[1] = cells_sum(place + 8);
    }
    log->fold = 0;
}

/* A thread was taking a place, or giving one back. A place that it had not noted in its counter is
 * lost. */
static void cells_mend_places(struct pawl_counters *all)
{
    all->next[CELL_SINGLE] = all->next[CELL_PAIR] = 0;
    for (uint32_t range = 0; range < PAWL_COUNTER_RANGES; range++) {
        const uint32_t words = RANGE_PAIRS / 32;
        uint32_t pairs = 0;
        for (uint32_t word = range * words; word < (range + 1) * words; word++)
            pairs += (uint32_t)__builtin_popcount(all->used[CELL_PAIR][word]);
        all->pairs[range] = pairs;
        if (pairs != 0)
            all->touched |= UINT32_C(1) << range;
    }
}

/* The other threads do not exist in the child. Their unfinished operations are over, and their
 * counts stay. */
static void cells_after_fork_in_child(void)
{
    const char *own = ipawl_counter_mine_()->block;
    struct pawl_counters *all;
    uint64_t *own_lock;
    if (!PAWL_SHARED_IS_THERE(counters_object))
        return; /* the child asks for no memory, either */
    all = counters_here();
    for (uint32_t i = 0; i < PAWL_COUNTER_LATCHES; i++) {
        cells_mend_section(&all->logs[i]);
        pawl_store_relaxed32(&all->latches[i].word, LATCH_FREE);
    }
    if (pawl_load_relaxed32(&all->slots.word) != LATCH_FREE)
        cells_mend_places(all);
    pawl_store_relaxed32(&all->slots.word, LATCH_FREE);
    pawl_store_relaxed32(&all->br_writer, 0);
    for (uint32_t i = 0; i < cells_lines(); i++) {
        char *block = cells_block(i);
        if (block == NULL)
            continue;
        own_lock = ipawl_cell_(block, CELL_BR_OWN * 8);
        if (pawl_load_relaxed64(own_lock) != LOCK_NOT_JOINED) /* so reads include its counts */
            pawl_store_relaxed64(own_lock, LOCK_FREE);
        if (block == own)
            continue;
        pawl_store_relaxed64(ipawl_cell_(block, CELL_MARKER * 8), 0);
        pawl_store_relaxed64(ipawl_cell_(block, CELL_BR_READING * 8), 0);
        pawl_store_relaxed64(ipawl_cell_(block, CELL_IN_USE * 8), 0);
    }
}

static const struct pawl_subsystem cells_subsystem = {
    NULL, NULL, NULL, cells_leave, NULL, cells_after_fork_in_child,
};

PAWL_SUBSYSTEM(PAWL_FLOOR_COUNT, cells_subsystem);
