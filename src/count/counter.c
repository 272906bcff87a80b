/* SPDX-License-Identifier: MIT */
/* Statistical counters: finding cells, and adding them up. */
#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/counter.h>

#include "cells.h"
#include "../base/base.h"

static uint32_t counter_place_of(const pawl_counter *c)
{
    return pawl_load_relaxed32(&c->place);
}

/* Only the thread that changes the place from none to sought continues, so `before` has one
 * writer. No reader and no handler ever waits for it: while the place is sought, all threads
 * count in the shared word. */
static uint32_t counter_find_place(pawl_counter *c, uint64_t (*sum)(uint32_t))
{
    uint32_t place = PAWL_PLACE_NONE_;
    bool busy;
    if (!pawl_cas_relaxed32(&c->place, &place, PAWL_PLACE_SOUGHT_))
        return place;
    place = cells_try_take(CELL_SINGLE, &busy);
    if (place == 0)
        place = busy ? PAWL_PLACE_NONE_ : PAWL_PLACE_SHARED_; /* busy: the next add tries again */
    else
        pawl_store_relaxed64(&c->before, sum(place));
    /* [COUNTER_PLACED] release: a reader that adds the cells knows what they held before. */
    pawl_store_release32(&c->place, place, PAWL_COUNTER_PLACED);
    return place;
}

static void counter_add_to_thread(pawl_counter *c, uint32_t place, uint64_t n)
{
    struct pawl_counter_mine *mine = cells_join();
    if (mine != NULL && place >= PAWL_PLACE_FIRST_)
        pawl_cell_bump_(pawl_cell_(mine->block, place), n);
    else
        (void)pawl_fetch_add_relaxed64(&c->shared, n);
}

static uint64_t counter_finish(pawl_counter *c, uint32_t place, uint64_t total)
{
    uint32_t found = place;
    if (!pawl_cas_relaxed32(&c->place, &found, PAWL_PLACE_DEAD_))
        return total;
    if (place >= PAWL_PLACE_FIRST_) {
        pawl_store_relaxed64(&c->shared, total);
        cells_give(place);
    }
    return total;
}

static uint64_t counter_sum(const pawl_counter *c, uint64_t (*sum)(uint32_t))
{
    /* [COUNTER_PLACE] acquire: the reader knows what the cells held before. */
    const uint32_t place = pawl_load_acquire32(&c->place, PAWL_COUNTER_PLACE);
    const uint64_t shared = pawl_load_relaxed64(&c->shared);
    if (place < PAWL_PLACE_FIRST_)
        return shared;
    return shared - pawl_load_relaxed64(&c->before) + sum(place);
}

/* ---- Per thread ------------------------------------------------------------------------------ */

void pawl_counter_add_slow_(pawl_counter *c, uint64_t n)
{
    uint32_t place = counter_place_of(c);
    CELLS_CHECK(place == PAWL_PLACE_DEAD_, "use after destroy", "pawl_counter", c,
                "pawl_counter_add");
    CELLS_USING(c);
    PAWL_PROBE1(counter_slow, c);
    if (place == PAWL_PLACE_NONE_)
        place = counter_find_place(c, cells_sum);
    counter_add_to_thread(c, place, n);
    CELLS_USING(NULL);
}

int64_t pawl_counter_read(const pawl_counter *c)
{
    return (int64_t)counter_sum(c, cells_sum);
}

int64_t pawl_counter_destroy(pawl_counter *c)
{
    CELLS_CHECK(counter_place_of(c) == PAWL_PLACE_DEAD_, "destroyed twice", "pawl_counter", c,
                "pawl_counter_destroy");
    CELLS_CHECK(cells_in_use(c), "destroyed while in use", "pawl_counter", c,
                "pawl_counter_destroy");
    return (int64_t)counter_finish(c, counter_place_of(c), counter_sum(c, cells_sum));
}

/* ---- Per CPU --------------------------------------------------------------------------------- */

static char *counter_cpu_cells(void)
{
    struct pawl_counters *all = counters_here();
    /* [CELLS_BLOCK] acquire: the caller sees the limit and the cells. */
    return (char *)(uintptr_t)PAWL_ADDRESS_(pawl_load_acquire)(&all->cpus, PAWL_CELLS_BLOCK);
}

/* The first use of a counter per CPU reserves the cells of all CPUs. */
static char *counter_reserve_cpu_cells(void)
{
    struct pawl_counters *all = counters_here();
    const uint32_t limit = pawl_os_cpu_limit();
    pawl_address_ found = 0;
    char *made = limit == 0 ? NULL : (char *)pawl_os_pages((size_t)limit << PAWL_RSEQ_CPU_SHIFT);
    if (made == NULL)
        return NULL;
    pawl_store_relaxed32(&all->cpu_limit, limit); /* every thread stores the same number */
    /* [CELLS_MADE] release: the cells exist before other threads read them. */
    if (!PAWL_ADDRESS_(pawl_cas_release)(&all->cpus, &found, (pawl_address_)(uintptr_t)made,
                                         PAWL_CELLS_MADE))
        return (char *)(uintptr_t)found;
    return made;
}

/* The sum of all cells that a counter per CPU may be counted in. */
static uint64_t counter_sum_with_cpus(uint32_t place)
{
    const uint32_t limit = pawl_load_relaxed32(&counters_here()->cpu_limit);
    char *cpus = counter_cpu_cells();
    uint64_t sum = cells_sum(place);
    uint32_t i;
    for (i = 0; cpus != NULL && i < limit; i++)
        sum += pawl_load_relaxed64(pawl_cell_(cpus + ((size_t)i << PAWL_RSEQ_CPU_SHIFT), place));
    return sum;
}

static void counter_add_to_cpu(pawl_cpu_counter *c, uint64_t n)
{
    struct pawl_counter_mine *mine = cells_join();
    uint32_t place = counter_place_of(&c->counter);
    if (mine != NULL && mine->rseq != NULL && mine->cpus == NULL) {
        char *cpus = counter_cpu_cells();
        if (cpus == NULL)
            cpus = counter_reserve_cpu_cells();
        mine->cpu_limit = pawl_load_relaxed32(&counters_here()->cpu_limit);
        mine->cpus = cpus;
    }
    if (place == PAWL_PLACE_NONE_)
        place = counter_find_place(&c->counter, counter_sum_with_cpus);
    if (mine != NULL && mine->cpus != NULL && place >= PAWL_PLACE_FIRST_ &&
        pawl_rseq_add_cpu_(mine->rseq, mine->cpus + place, n, mine->cpu_limit))
        return;
    counter_add_to_thread(&c->counter, place, n);
}

void pawl_cpu_counter_add_slow_(pawl_cpu_counter *c, uint64_t n)
{
    CELLS_CHECK(counter_place_of(&c->counter) == PAWL_PLACE_DEAD_, "use after destroy",
                "pawl_cpu_counter",
                c, "pawl_cpu_counter_add");
    CELLS_USING(c);
    PAWL_PROBE1(counter_slow, c);
    counter_add_to_cpu(c, n);
    CELLS_USING(NULL);
}

int64_t pawl_cpu_counter_read(const pawl_cpu_counter *c)
{
    return (int64_t)counter_sum(&c->counter, counter_sum_with_cpus);
}

int64_t pawl_cpu_counter_destroy(pawl_cpu_counter *c)
{
    CELLS_CHECK(counter_place_of(&c->counter) == PAWL_PLACE_DEAD_, "destroyed twice",
                "pawl_cpu_counter", c,
                "pawl_cpu_counter_destroy");
    CELLS_CHECK(cells_in_use(c), "destroyed while in use", "pawl_cpu_counter", c,
                "pawl_cpu_counter_destroy");
    return (int64_t)counter_finish(&c->counter, counter_place_of(&c->counter),
                                   counter_sum(&c->counter, counter_sum_with_cpus));
}
