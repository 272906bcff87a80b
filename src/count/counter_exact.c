/* SPDX-License-Identifier: MIT */
/* Exact counters: the two ways to fold, and the two big-reader locks of the published
 * algorithms. */
#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/counter.h>

#include "../base/base.h"
#include "cells.h"

static uint64_t *exact_word_of(char *block, unsigned index)
{
    return ipawl_cell_(block, index * 8);
}

static struct pawl_latch *cells_latch_of_reads(const pawl_counter_exact *c)
{
    return c->mode >= PAWL_EXACT_BRLOCK ? cells_latch_of_brlock() : cells_latch_of(c);
}

/* ---- Updates --------------------------------------------------------------------------------- */

static uint32_t exact_place(pawl_counter_exact *c)
{
    /* [COUNTER_PLACE] acquire: the caller's cells of the pair read zero. */
    uint32_t place = pawl_load_acquire32(&c->place, PAWL_COUNTER_PLACE);
    if (place != PAWL_PLACE_NONE_)
        return place;
    latch_take(cells_latch_of_reads(c));
    place = pawl_load_relaxed32(&c->place);
    if (place == PAWL_PLACE_NONE_) {
        place = cells_take(CELL_PAIR);
        if (place == 0)
            place = PAWL_PLACE_SHARED_;
        /* [COUNTER_PLACED] release: the pair reads zero before a thread counts in it. */
        pawl_store_release32(&c->place, place, PAWL_COUNTER_PLACED);
    }
    latch_drop(cells_latch_of_reads(c));
    return place;
}

/* A read's latch excludes the caller, so this addition is in the value before the read or after
 * it. */
static void exact_add_shared(pawl_counter_exact *c, uint64_t n)
{
    latch_take(cells_latch_of_reads(c));
    pawl_store_relaxed64(&c->shared, pawl_load_relaxed64(&c->shared) + n);
    latch_drop(cells_latch_of_reads(c));
}

static void exact_add_own_cell(uint64_t *cell, uint64_t n)
{
    PLAIN_WRITE(*cell);
    pawl_store_relaxed64(cell, pawl_load_relaxed64(cell) + n);
}

/* Whether no destroy came first. The lock that destroy holds excludes the caller, so the caller
 * sees it. */
static bool exact_is_placed(const pawl_counter_exact *c)
{
    return pawl_load_relaxed32(&c->place) >= PAWL_PLACE_FIRST_;
}

/* The read side of the big-reader lock: the reader sets its flag, passes a fence, and looks for
 * the writer. */
static bool exact_add_under_brlock(const pawl_counter_exact *c, char *block, uint64_t *cell,
                                   uint64_t n)
{
    const uint32_t *writer = &counters_here()->br_writer;
    uint64_t *reading = exact_word_of(block, CELL_BR_READING);
    bool placed;
    for (;;) {
        uint32_t seen;
        pawl_store_relaxed64(reading, 1);
        /* [BR_ENTER] full: either the writer sees the reader's flag, or the reader sees the
         * writer. */
        pawl_fence_full(PAWL_BR_ENTER);
        /* [BR_OPEN] acquire: the reader's count comes after the sum of the writer that has left. */
        if (pawl_load_acquire32(writer, PAWL_BR_OPEN) == 0)
            break;
        pawl_store_relaxed64(reading, 0);
        process_sees_forks();
        WAIT_UNTIL(seen, pawl_load_relaxed32(writer), seen == 0);
    }
    placed = exact_is_placed(c);
    if (placed)
        exact_add_own_cell(cell, n);
    /* [BR_LEAVE] release: the count is stored before the writer sees the flag fall. */
    pawl_store_release64(reading, 0, PAWL_BR_LEAVE);
    return placed;
}

static void exact_lock_word(uint64_t *word)
{
    uint64_t found;
    process_sees_forks();
    for (;;) {
        WAIT_UNTIL(found, pawl_load_relaxed64(word), found == LOCK_FREE);
        /* [BR_LOCK] acquire: the holder's count comes after that of the last holder. */
        if (pawl_cas_acquire64(word, &found, LOCK_TAKEN, PAWL_BR_LOCK))
            return;
    }
}

static void exact_unlock_word(uint64_t *word)
{
    /* [BR_UNLOCK] release: the count is stored before the next holder takes the lock. */
    pawl_store_release64(word, LOCK_FREE, PAWL_BR_UNLOCK);
}

static bool exact_add_under_own_lock(const pawl_counter_exact *c, char *block, uint64_t *cell,
                                     uint64_t n)
{
    uint64_t *own = exact_word_of(block, CELL_BR_OWN);
    bool placed;
    if (pawl_load_relaxed64(own) == LOCK_NOT_JOINED) {
        latch_take(cells_latch_of_brlock());
        pawl_store_relaxed64(own, LOCK_FREE);
        latch_drop(cells_latch_of_brlock());
    }
    exact_lock_word(own);
    placed = exact_is_placed(c);
    if (placed)
        exact_add_own_cell(cell, n);
    exact_unlock_word(own);
    return placed;
}

static void exact_add(pawl_counter_exact *c, uint64_t n)
{
    const uint32_t place = exact_place(c);
    struct pawl_counter_mine *mine = cells_join();
    bool added = false;

    if (mine != NULL && place >= PAWL_PLACE_FIRST_) {
        uint64_t *cells = ipawl_cell_(mine->block, place);
        if (c->mode == PAWL_EXACT_BRLOCK)
            added = exact_add_under_brlock(c, mine->block, cells, n);
        else if (c->mode == PAWL_EXACT_LOCKS)
            added = exact_add_under_own_lock(c, mine->block, cells, n);
        else
            added = cells_add_phase(mine, cells, n, &c->phase);
    }
    if (!added) /* also when a read has closed it; the latch waits for the read */
        exact_add_shared(c, n);
}

void ipawl_counter_exact_add_slow_(pawl_counter_exact *c, uint64_t n)
{
    CELLS_CHECK(pawl_load_relaxed32(&c->place) == PAWL_PLACE_DEAD_, "use after destroy",
                "pawl_counter_exact", c, "pawl_counter_exact_add");
    CELLS_USING(c);
    PAWL_PROBE1(counter_slow, c);
    exact_add(c, n);
    CELLS_USING(NULL);
}

/* ---- Reads; the caller holds the latch ------------------------------------------------------- */

/* I1: sums the cells that no section can touch any more; new sections count in the other phase. */
static uint64_t exact_fold(pawl_counter_exact *c, uint32_t place)
{
    const uint32_t old = pawl_load_relaxed32(&c->phase);
    cells_fold(c, true);
    /* [COUNTER_REOPENED] release: the last sum of the other phase is taken before a thread
     * counts in it again. */
    pawl_store_release32(&c->phase, 1 - old, PAWL_COUNTER_REOPENED);
    cells_shut_out();
    PLAIN_WRITE(c->stood);
    c->stood[old] = cells_sum_shut(place + old * 8);
    cells_fold(c, false);
    return c->stood[0] + c->stood[1];
}

static uint64_t exact_stall(pawl_counter_exact *c, uint32_t place)
{
    uint64_t sum;
    cells_note(c, &c->phase, sizeof c->phase);
    pawl_store_relaxed32(&c->phase, PAWL_EXACT_CLOSED_);
    cells_shut_out();
    sum = cells_sum_shut(place);
    /* [COUNTER_REOPENED] release: the sum is taken before a thread counts again. */
    pawl_store_release32(&c->phase, 0, PAWL_COUNTER_REOPENED);
    cells_settle(c, 0);
    return sum;
}

/* Closes the cells for good: a thread that has not counted by now counts in the object. */
static uint64_t exact_close_cells(pawl_counter_exact *c, uint32_t place)
{
    pawl_store_relaxed32(&c->phase, PAWL_EXACT_CLOSED_);
    cells_shut_out();
    return cells_sum_shut(place) + cells_sum_shut(place + 8);
}

/* For the last read, by destroy: a later thread finds no place. */
static void exact_leave_place(pawl_counter_exact *c)
{
    pawl_store_relaxed32(&c->place, PAWL_PLACE_DEAD_);
}

static uint64_t exact_sum_as_br_writer(pawl_counter_exact *c, uint32_t place, bool last)
{
    uint32_t *writer = &counters_here()->br_writer;
    uint64_t sum, reading;
    uint32_t lines;
    pawl_store_relaxed32(writer, 1);
    /* [BR_WRITE] full: either the writer sees a reader's flag, or the reader sees the writer. */
    pawl_fence_full(PAWL_BR_WRITE);
    lines = cells_lines(); /* after the fence: an uncounted thread sees the writer */
    for (uint32_t i = 0; i < lines; i++) {
        char *block = cells_block(i);
        if (block == NULL)
            continue;
        /* [BR_EMPTY] acquire: the writer sees what the reader counted. */
        WAIT_UNTIL(reading,
                   pawl_load_acquire64(exact_word_of(block, CELL_BR_READING), PAWL_BR_EMPTY),
                   reading == 0);
    }
    sum = cells_sum_shut(place);
    if (last)
        exact_leave_place(c);
    /* [BR_DONE] release: the sum is taken before a thread counts again. */
    pawl_store_release32(writer, 0, PAWL_BR_DONE);
    return sum;
}

static uint64_t exact_sum_under_all_locks(pawl_counter_exact *c, uint32_t place, bool last)
{
    const uint32_t lines = cells_lines();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < lines; i++) {
        char *block = cells_block(i);
        if (block == NULL ||
            pawl_load_relaxed64(exact_word_of(block, CELL_BR_OWN)) == LOCK_NOT_JOINED)
            continue;
        exact_lock_word(exact_word_of(block, CELL_BR_OWN));
        PLAIN_READ(*ipawl_cell_(block, place));
        sum += pawl_load_relaxed64(ipawl_cell_(block, place));
    }
    if (last)
        exact_leave_place(c);
    for (uint32_t i = 0; i < lines; i++) {
        char *block = cells_block(i);
        if (block != NULL &&
            pawl_load_relaxed64(exact_word_of(block, CELL_BR_OWN)) != LOCK_NOT_JOINED)
            exact_unlock_word(exact_word_of(block, CELL_BR_OWN));
    }
    return sum;
}

static uint64_t exact_read_latched(pawl_counter_exact *c, bool last)
{
    const uint32_t place = pawl_load_relaxed32(&c->place);
    const uint64_t shared = pawl_load_relaxed64(&c->shared);
    if (place < PAWL_PLACE_FIRST_)
        return shared;
    switch (c->mode) {
    case PAWL_EXACT_STALL:
        return shared + (last ? exact_close_cells(c, place) : exact_stall(c, place));
    case PAWL_EXACT_BRLOCK: return shared + exact_sum_as_br_writer(c, place, last);
    case PAWL_EXACT_LOCKS: return shared + exact_sum_under_all_locks(c, place, last);
    default: return shared + (last ? exact_close_cells(c, place) : exact_fold(c, place));
    }
}

int64_t pawl_counter_exact_read(pawl_counter_exact *c)
{
    uint64_t value;
    latch_take(cells_latch_of_reads(c));
    value = exact_read_latched(c, false);
    latch_drop(cells_latch_of_reads(c));
    return (int64_t)value;
}

int64_t pawl_counter_exact_destroy(pawl_counter_exact *c)
{
    uint32_t place;
    uint64_t value;
    CELLS_CHECK(pawl_load_relaxed32(&c->place) == PAWL_PLACE_DEAD_, "destroyed twice",
                "pawl_counter_exact", c, "pawl_counter_exact_destroy");
    CELLS_CHECK(cells_in_use(c), "destroyed while in use", "pawl_counter_exact", c,
                "pawl_counter_exact_destroy");
    latch_take(cells_latch_of_reads(c));
    place = pawl_load_relaxed32(&c->place);
    value = exact_read_latched(c, true);
    pawl_store_relaxed64(&c->shared, value);
    exact_leave_place(c);
    if (place >= PAWL_PLACE_FIRST_)
        cells_give(place);
    latch_drop(cells_latch_of_reads(c));
    return (int64_t)value;
}
