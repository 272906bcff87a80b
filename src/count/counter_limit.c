/* SPDX-License-Identifier: MIT */
/* Limit counters: handing out credit, calling it in, and the exact count in between. */
#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/counter.h>

#include "cells.h"
#include "../base/base.h"

#define MOST_CREDIT (2u * PAWL_LIMIT_CREDIT)

enum { GATE_OPEN, GATE_CLOSED, GATE_DEAD };

/* ---- All of these run under the latch -------------------------------------------------------- */

/* Room for that much credit for each thread that may ask. */
static uint64_t limit_room_for_all(uint64_t credit)
{
    return credit * cells_lines();
}

static uint64_t limit_room_left(const pawl_counter_limit *c)
{
    const int64_t limit = (int64_t)pawl_load_relaxed64(&c->limit);
    const int64_t taken = (int64_t)pawl_load_relaxed64(&c->taken);
    return taken >= limit ? 0 : (uint64_t)limit - (uint64_t)taken;
}

static void limit_change_taken(pawl_counter_limit *c, uint64_t n)
{
    pawl_store_relaxed64(&c->taken, pawl_load_relaxed64(&c->taken) + n);
}

static bool limit_take_room(pawl_counter_limit *c, uint64_t n)
{
    if (n > limit_room_left(c))
        return false;
    limit_change_taken(c, n);
    return true;
}

/* After this no thread touches a credit until the gate opens again. In a fork's child it is open
 * unless the caller settles. */
static void limit_close_gate(pawl_counter_limit *c)
{
    cells_note(c, &c->gate, sizeof c->gate);
    pawl_store_relaxed32(&c->gate, GATE_CLOSED);
    if (pawl_load_relaxed32(&c->place) >= PAWL_PLACE_FIRST_)
        cells_shut_out();
}

static void limit_open_gate(pawl_counter_limit *c)
{
    /* [COUNTER_REOPENED] release: the caller's changes of the credits come before those of other
     * threads. */
    pawl_store_release32(&c->gate, GATE_OPEN, PAWL_COUNTER_REOPENED);
}

/* The gate is closed, and stays closed. */
static void limit_call_in(pawl_counter_limit *c)
{
    const uint32_t place = pawl_load_relaxed32(&c->place);
    const uint32_t lines = cells_lines();
    for (uint32_t i = 0; place >= PAWL_PLACE_FIRST_ && i < lines; i++) {
        char *block = cells_block(i);
        uint64_t credit;
        if (block == NULL)
            continue;
        PLAIN_WRITE(*ipawl_cell_(block, place));
        credit = pawl_load_relaxed64(ipawl_cell_(block, place));
        if (credit == 0) /* a store would give memory to a block that has none there */
            continue;
        cells_note(c, &c->taken, sizeof c->taken);
        cells_note(c, ipawl_cell_(block, place), sizeof credit);
        limit_change_taken(c, 0 - credit);
        pawl_store_relaxed64(ipawl_cell_(block, place), 0);
        cells_settle(c, 1); /* the gate */
    }
    cells_settle(c, 0);
}

static void limit_open_if_there_is_room(pawl_counter_limit *c)
{
    if (pawl_load_relaxed32(&c->gate) == GATE_CLOSED &&
        pawl_load_relaxed32(&c->place) >= PAWL_PLACE_FIRST_ &&
        limit_room_left(c) >= 2 * limit_room_for_all(2 * PAWL_LIMIT_LEAST_CREDIT))
        limit_open_gate(c);
}

static uint32_t limit_place(pawl_counter_limit *c)
{
    uint32_t place = pawl_load_relaxed32(&c->place);
    if (place != PAWL_PLACE_NONE_)
        return place;
    place = cells_take(CELL_PAIR);
    if (place == 0)
        place = PAWL_PLACE_SHARED_;
    /* [COUNTER_PLACED] release: the credits read zero before a thread has any. */
    pawl_store_release32(&c->place, place, PAWL_COUNTER_PLACED);
    return place;
}

/* The caller's credit, or NULL when it can have none now. */
static uint64_t *limit_own_credit(pawl_counter_limit *c)
{
    const uint32_t place = limit_place(c);
    struct pawl_counter_mine *mine = cells_join();
    if (mine == NULL || place < PAWL_PLACE_FIRST_ || pawl_load_relaxed32(&c->gate) != GATE_OPEN)
        return NULL;
    return ipawl_cell_(mine->block, place);
}

/* The gate is open: only the caller writes its credit. It takes more than n, for later calls. */
static bool limit_add_with_credit(pawl_counter_limit *c, uint64_t *credit, uint64_t n)
{
    const uint64_t have = pawl_load_relaxed64(credit);
    const uint64_t room = limit_room_left(c);
    const uint64_t lack = have < n ? n - have : 0;
    const uint64_t lines = cells_lines();
    uint64_t more;

    if (lack > room || room - lack < limit_room_for_all(2 * PAWL_LIMIT_LEAST_CREDIT))
        return false;
    more = lack == 0 ? 0 : (room - lack) / (2 * lines);
    if (more > PAWL_LIMIT_CREDIT)
        more = PAWL_LIMIT_CREDIT;
    cells_note(c, &c->taken, sizeof c->taken);
    cells_note(c, credit, sizeof *credit);
    limit_change_taken(c, lack + more);
    PLAIN_WRITE(*credit);
    pawl_store_relaxed64(credit, have + lack + more - n);
    cells_settle(c, 0);
    return true;
}

/* ---- Operations ------------------------------------------------------------------------------ */

static bool limit_change_own(pawl_counter_limit *c, uint64_t n)
{
    struct pawl_counter_mine *mine = cells_join();
    /* [COUNTER_PLACE] acquire: the caller's credit reads zero until it has taken some. */
    const uint32_t place = pawl_load_acquire32(&c->place, PAWL_COUNTER_PLACE);
    return mine != NULL && place >= PAWL_PLACE_FIRST_ &&
           cells_add_if(mine, ipawl_cell_(mine->block, place), n, MOST_CREDIT, &c->gate, GATE_OPEN);
}

static bool limit_add_latched(pawl_counter_limit *c, uint64_t n)
{
    uint64_t *credit;
    if (pawl_load_relaxed32(&c->gate) == GATE_DEAD)
        return false;
    limit_open_if_there_is_room(c);
    credit = limit_own_credit(c);
    if (credit != NULL && limit_add_with_credit(c, credit, n))
        return true;
    if (pawl_load_relaxed32(&c->gate) == GATE_OPEN && (credit != NULL || n > limit_room_left(c))) {
        limit_close_gate(c);
        limit_call_in(c);
    }
    return limit_take_room(c, n);
}

bool ipawl_counter_limit_try_add_slow_(pawl_counter_limit *c, uint64_t n)
{
    bool added;
    CELLS_CHECK(pawl_load_relaxed32(&c->gate) == GATE_DEAD, "use after destroy",
                "pawl_counter_limit", c, "pawl_counter_limit_try_add");
    if (n > INT64_MAX)
        return false;
    CELLS_USING(c);
    PAWL_PROBE1(counter_slow, c);
    added = n <= MOST_CREDIT && limit_change_own(c, 0 - n);
    if (!added) {
        latch_take(cells_latch_of(c));
        added = limit_add_latched(c, n);
        latch_drop(cells_latch_of(c));
    }
    CELLS_USING(NULL);
    return added;
}

static void limit_sub_latched(pawl_counter_limit *c, uint64_t n)
{
    uint64_t *credit;
    if (pawl_load_relaxed32(&c->gate) == GATE_DEAD)
        return;
    credit = limit_own_credit(c);
    if (credit != NULL && pawl_load_relaxed64(credit) > PAWL_LIMIT_CREDIT) {
        n += pawl_load_relaxed64(credit) - PAWL_LIMIT_CREDIT;
        cells_note(c, &c->taken, sizeof c->taken);
        cells_note(c, credit, sizeof *credit);
        PLAIN_WRITE(*credit);
        pawl_store_relaxed64(credit, PAWL_LIMIT_CREDIT);
    }
    limit_change_taken(c, 0 - n);
    cells_settle(c, 0);
    limit_open_if_there_is_room(c);
}

void ipawl_counter_limit_sub_slow_(pawl_counter_limit *c, uint64_t n)
{
    CELLS_CHECK(pawl_load_relaxed32(&c->gate) == GATE_DEAD, "use after destroy",
                "pawl_counter_limit", c, "pawl_counter_limit_sub");
    CELLS_USING(c);
    PAWL_PROBE1(counter_slow, c);
    if (n > MOST_CREDIT || !limit_change_own(c, n)) {
        latch_take(cells_latch_of(c));
        limit_sub_latched(c, n);
        latch_drop(cells_latch_of(c));
    }
    CELLS_USING(NULL);
}

/* No thread may use credit from a higher limit under a lower one. */
void pawl_counter_limit_set_limit(pawl_counter_limit *c, uint64_t limit)
{
    latch_take(cells_latch_of(c));
    if (pawl_load_relaxed32(&c->gate) == GATE_OPEN) {
        limit_close_gate(c);
        limit_call_in(c);
    }
    pawl_store_relaxed64(&c->limit, limit > INT64_MAX ? (uint64_t)INT64_MAX : limit);
    limit_open_if_there_is_room(c);
    latch_drop(cells_latch_of(c));
}

int64_t pawl_counter_limit_read(pawl_counter_limit *c)
{
    uint64_t count;
    uint32_t place;
    latch_take(cells_latch_of(c));
    place = pawl_load_relaxed32(&c->place);
    count = pawl_load_relaxed64(&c->taken);
    if (place >= PAWL_PLACE_FIRST_ && pawl_load_relaxed32(&c->gate) == GATE_OPEN) {
        limit_close_gate(c);
        count -= cells_sum_shut(place);
        limit_open_gate(c);
        cells_settle(c, 0);
    }
    latch_drop(cells_latch_of(c));
    return (int64_t)count;
}

int64_t pawl_counter_limit_destroy(pawl_counter_limit *c)
{
    uint32_t place;
    int64_t count;
    CELLS_CHECK(pawl_load_relaxed32(&c->gate) == GATE_DEAD, "destroyed twice", "pawl_counter_limit",
                c, "pawl_counter_limit_destroy");
    CELLS_CHECK(cells_in_use(c), "destroyed while in use", "pawl_counter_limit", c,
                "pawl_counter_limit_destroy");
    latch_take(cells_latch_of(c));
    place = pawl_load_relaxed32(&c->place);
    if (pawl_load_relaxed32(&c->gate) == GATE_OPEN) {
        limit_close_gate(c);
        limit_call_in(c);
    }
    count = (int64_t)pawl_load_relaxed64(&c->taken);
    pawl_store_relaxed32(&c->place, PAWL_PLACE_DEAD_);
    pawl_store_relaxed32(&c->gate, GATE_DEAD);
    if (place >= PAWL_PLACE_FIRST_)
        cells_give(place);
    latch_drop(cells_latch_of(c));
    return count;
}
