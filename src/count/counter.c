/* SPDX-License-Identifier: MIT */
/* Statistical counters: finding cells, and adding them up. counter_cpu.c has those per CPU. */
#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/counter.h>

#include "counter_parts.h"
#include "../base/base.h"

PAWL_INTERNAL uint32_t counter_place_of(const pawl_counter *c)
{
    return pawl_load_relaxed32(&c->place);
}

/* Only the thread that changes the place from none to sought continues, so `before` has one
 * writer. No reader and no handler ever waits for it: while the place is sought, all threads
 * count in the shared word. */
PAWL_INTERNAL uint32_t counter_find_place(pawl_counter *c, uint64_t (*sum)(uint32_t))
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

PAWL_INTERNAL void counter_add_to_thread(pawl_counter *c, uint32_t place, uint64_t n)
{
    struct pawl_counter_mine *mine = cells_join();
    if (mine != NULL && place >= PAWL_PLACE_FIRST_)
        ipawl_cell_bump_(ipawl_cell_(mine->block, place), n);
    else
        (void)pawl_fetch_add_relaxed64(&c->shared, n);
}

PAWL_INTERNAL uint64_t counter_finish(pawl_counter *c, uint32_t place, uint64_t total)
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

PAWL_INTERNAL uint64_t counter_sum(const pawl_counter *c, uint64_t (*sum)(uint32_t))
{
    /* [COUNTER_PLACE] acquire: the reader knows what the cells held before. */
    const uint32_t place = pawl_load_acquire32(&c->place, PAWL_COUNTER_PLACE);
    const uint64_t shared = pawl_load_relaxed64(&c->shared);
    if (place < PAWL_PLACE_FIRST_)
        return shared;
    return shared - pawl_load_relaxed64(&c->before) + sum(place);
}

/* ---- Per thread ------------------------------------------------------------------------------ */

void ipawl_counter_add_slow_(pawl_counter *c, uint64_t n)
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
