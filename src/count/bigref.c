/* SPDX-License-Identifier: MIT */
/* Big reference counts: everything except the single step on a thread's own part. */
#include <pawl/bigref.h>

#include "cells.h"
#include "../base/base.h"

#define MOST (2 * PAWL_BIGREF_TARGET)

static uint32_t bigref_state_of(uint32_t gate)
{
    return gate & PAWL_BIGREF_STATE_;
}

static uint32_t bigref_gate_of(const pawl_bigref *r)
{
    /* [CELLS_OPEN] acquire: the caller sees the place that belongs to this opening of the gate. */
    return pawl_load_acquire32(&r->gate, PAWL_CELLS_OPEN);
}

static void bigref_set_state(pawl_bigref *r, uint32_t state)
{
    const uint32_t gate = pawl_load_relaxed32(&r->gate);
    pawl_store_relaxed32(&r->gate, (gate & ~PAWL_BIGREF_STATE_) | state);
}

/* Gives the gate a number that no section in progress has seen. */
static void bigref_open_anew(pawl_bigref *r)
{
    const uint32_t gate = pawl_load_relaxed32(&r->gate);
    /* [COUNTER_REOPENED] release: place, owner and cells are set before another thread uses
     * them. */
    pawl_store_release32(&r->gate, (gate | PAWL_BIGREF_STATE_) + 1, PAWL_COUNTER_REOPENED);
}

/* ---- The global part, by atomic instructions ------------------------------------------------- */

/* Adds n unless the count is 0, and returns the new count; returns 0 also when it was 0 before. */
static uint64_t bigref_change_global(pawl_bigref *r, uint64_t n, bool *was_zero)
{
    uint64_t count = pawl_load_relaxed64(&r->global);
    do {
        *was_zero = count == 0;
        if (*was_zero)
            return 0;
        /* [BIGREF_COUNT] acq_rel: work under a reference comes before the count of its drop. All
         * of that comes before the release by the thread that counts to 0. */
    } while (!pawl_cas_acq_rel64(&r->global, &count, count + n, PAWL_BIGREF_COUNT));
    return count + n;
}

/* ---- The local parts, under the latch -------------------------------------------------------- */

/* In a fork's child it is as it was unless the caller settles. */
static void bigref_close(pawl_bigref *r)
{
    cells_note(r, &r->gate, sizeof r->gate);
    bigref_set_state(r, PAWL_BIGREF_CLOSED_);
    cells_shut_out();
}

/* Makes all local counts global. The gate is closed, so no other thread changes the global part.
 * Returns the place, which the caller gives back. */
static uint32_t bigref_collect(pawl_bigref *r)
{
    const uint32_t place = pawl_load_relaxed32(&r->place);
    uint64_t local = pawl_load_relaxed64(&r->own);
    PLAIN_WRITE(r->own);
    if (place >= PAWL_PLACE_FIRST_)
        local += cells_sum_shut(place);
    cells_note(r, &r->own, sizeof r->own);
    cells_note(r, &r->owner, sizeof r->owner);
    cells_note(r, &r->place, sizeof r->place);
    cells_note(r, &r->global, sizeof r->global);
    pawl_store_relaxed64(&r->own, 0);
    PAWL_ADDRESS_(pawl_store_relaxed)(&r->owner, 0);
    pawl_store_relaxed32(&r->place, PAWL_PLACE_NONE_);
    (void)pawl_fetch_add_relaxed64(&r->global, local);
    cells_settle(r, 1); /* the gate: with nothing local it may be open as well */
    return place;
}

static void bigref_give(uint32_t place)
{
    if (place >= PAWL_PLACE_FIRST_)
        cells_give(place);
}

/* A second thread uses the count: from now on each thread has a cell. */
static void bigref_share(pawl_bigref *r)
{
    uint32_t place;
    bigref_close(r);
    bigref_give(bigref_collect(r));
    place = cells_take(CELL_PAIR);
    if (place == 0) {
        bigref_set_state(r, PAWL_BIGREF_GLOBAL_);
    } else {
        pawl_store_relaxed32(&r->place, place);
        bigref_open_anew(r);
    }
    cells_settle(r, 0);
}

/* The caller's part, or NULL when it has none. Sets *again when the caller has just shared the
 * count. The gate is open. */
static uint64_t *bigref_own_part(pawl_bigref *r, bool *again)
{
    struct pawl_counter_mine *mine = cells_join();
    const uint32_t place = pawl_load_relaxed32(&r->place);
    ipawl_address_ owner = PAWL_ADDRESS_(pawl_load_relaxed)(&r->owner);
    *again = false;
    if (mine == NULL)
        return NULL;
    if (place >= PAWL_PLACE_FIRST_)
        return ipawl_cell_(mine->block, place);
    if (owner == 0) {
        owner = (ipawl_address_)(uintptr_t)mine->block;
        PAWL_ADDRESS_(pawl_store_relaxed)(&r->owner, owner);
    }
    if (owner == (ipawl_address_)(uintptr_t)mine->block)
        return &r->own;
    bigref_share(r);
    *again = true;
    return NULL;
}

/* No thread closes the gate meanwhile, and no other thread writes the part. */
static void bigref_change_part(pawl_bigref *r, uint64_t *part, uint64_t n)
{
    const uint64_t sum = pawl_load_relaxed64(part) + n;
    uint64_t left = sum;
    if (sum > MOST) {
        left = n == 1 ? sum - PAWL_BIGREF_TARGET : sum + PAWL_BIGREF_TARGET;
        cells_note(r, &r->global, sizeof r->global);
        cells_note(r, part, sizeof *part);
        (void)pawl_fetch_add_relaxed64(&r->global, sum - left);
    }
    PLAIN_WRITE(*part);
    pawl_store_relaxed64(part, left); /* the latch orders the work under it before this */
    cells_settle(r, 0);
}

/* True when n has been counted locally, or globally while the bias is in place. */
static bool bigref_change_latched(pawl_bigref *r, uint64_t n)
{
    bool again = false;
    uint64_t *part;
    if (bigref_state_of(pawl_load_relaxed32(&r->gate)) != PAWL_BIGREF_OPEN_)
        return false;
    part = bigref_own_part(r, &again);
    if (again)
        return false;
    if (part != NULL)
        bigref_change_part(r, part, n);
    else
        (void)pawl_fetch_add_relaxed64(&r->global, n); /* before a kill, by the latch */
    return true;
}

/* Makes a thread's own step where restartable sequences are missing. */
static bool bigref_step_marked(pawl_bigref *r, uint64_t n, uint32_t gate)
{
    struct pawl_counter_mine *mine = cells_join();
    const uint32_t place = pawl_load_relaxed32(&r->place);
    uint64_t *part = &r->own;
    if (mine == NULL || bigref_state_of(gate) != PAWL_BIGREF_OPEN_)
        return false;
    if (place >= PAWL_PLACE_FIRST_)
        part = ipawl_cell_(mine->block, place);
    else if (PAWL_ADDRESS_(pawl_load_relaxed)(&r->owner) != (ipawl_address_)(uintptr_t)mine->block)
        return false;
    return cells_add_if(mine, part, n, MOST, &r->gate, gate);
}

/* Counts n by the means that the state offers. *was_zero: the count was 0, and nothing was done. */
static bool bigref_change(pawl_bigref *r, uint64_t n, bool *was_zero)
{
    *was_zero = false;
    for (;;) {
        const uint32_t gate = bigref_gate_of(r);
        const uint32_t state = bigref_state_of(gate);
        bool done;
        if (state != PAWL_BIGREF_OPEN_ && state != PAWL_BIGREF_CLOSED_)
            return bigref_change_global(r, n, was_zero) == 0 && !*was_zero;
        if (bigref_step_marked(r, n, gate))
            return false;
        latch_take(cells_latch_of(r));
        done = bigref_change_latched(r, n);
        latch_drop(cells_latch_of(r));
        if (done)
            return false;
    }
}

/* ---- The operations -------------------------------------------------------------------------- */

bool ipawl_bigref_get_slow_(pawl_bigref *r, bool try_only)
{
    bool was_zero;
    PAWL_PROBE1(bigref_slow, r);
    (void)bigref_change(r, 1, &was_zero);
    CELLS_CHECK(was_zero && !try_only, "get after release", "pawl_bigref", r, "pawl_bigref_get");
    (void)try_only;
    return !was_zero;
}

bool ipawl_bigref_drop_slow_(pawl_bigref *r)
{
    bool was_zero;
    const bool last = bigref_change(r, ~UINT64_C(0), &was_zero);
    PAWL_PROBE1(bigref_slow, r);
    CELLS_CHECK(was_zero, "drop after release", "pawl_bigref", r, "pawl_bigref_drop");
    if (last)
        bigref_set_state(r, PAWL_BIGREF_RELEASED_);
    return last;
}

/* Until the bias is removed, at the end, no thread can count to 0, so the object exists. A fork's
 * child finds it not killed, up to that end. */
bool ipawl_bigref_kill_slow_(pawl_bigref *r, bool *last)
{
    uint32_t place = PAWL_PLACE_NONE_;
    uint64_t count;
    uint32_t state;
    PAWL_PROBE1(bigref_kill, r);
    latch_take(cells_latch_of(r));
    state = bigref_state_of(pawl_load_relaxed32(&r->gate));
    if (state == PAWL_BIGREF_KILLED_ || state == PAWL_BIGREF_RELEASED_) {
        latch_drop(cells_latch_of(r));
        return false;
    }
    if (state == PAWL_BIGREF_OPEN_) {
        bigref_close(r);
        place = bigref_collect(r);
    }
    bigref_set_state(r, PAWL_BIGREF_KILLED_);
    cells_settle(r, 0);
    /* [BIGREF_COUNT] acq_rel: work under references that were dropped locally comes before the
     * release by the thread that counts to 0. */
    count = pawl_fetch_add_acq_rel64(&r->global, 0u - PAWL_BIGREF_BIAS, PAWL_BIGREF_COUNT) -
            PAWL_BIGREF_BIAS;
    *last = count == 0;
    if (*last)
        bigref_set_state(r, PAWL_BIGREF_RELEASED_);
    bigref_give(place);
    latch_drop(cells_latch_of(r));
    CELLS_CHECK((int64_t)count < 0, "more drops than gets", "pawl_bigref", r, "pawl_bigref_kill");
    return true;
}

bool pawl_bigref_revive(pawl_bigref *r)
{
    bool was_zero = false;
    uint32_t state;
    latch_take(cells_latch_of(r));
    state = bigref_state_of(pawl_load_relaxed32(&r->gate));
    if (state == PAWL_BIGREF_KILLED_)
        (void)bigref_change_global(r, PAWL_BIGREF_BIAS, &was_zero);
    was_zero = was_zero || state == PAWL_BIGREF_RELEASED_;
    if (!was_zero && state != PAWL_BIGREF_OPEN_)
        bigref_open_anew(r); /* alone: no thread has a part or a place while the gate is not open */
    latch_drop(cells_latch_of(r));
    return !was_zero;
}

int64_t pawl_bigref_read(const pawl_bigref *r)
{
    uint64_t count;
    uint32_t state, place;
    latch_take(cells_latch_of(r));
    state = bigref_state_of(pawl_load_relaxed32(&r->gate));
    place = pawl_load_relaxed32(&r->place);
    count = pawl_load_relaxed64(&r->global) + pawl_load_relaxed64(&r->own);
    if (place >= PAWL_PLACE_FIRST_)
        count += cells_sum(place);
    if (state != PAWL_BIGREF_KILLED_ && state != PAWL_BIGREF_RELEASED_)
        count -= PAWL_BIGREF_BIAS;
    latch_drop(cells_latch_of(r));
    return (int64_t)count;
}

void pawl_bigref_destroy(pawl_bigref *r)
{
    uint32_t state;
    latch_take(cells_latch_of(r));
    state = bigref_state_of(pawl_load_relaxed32(&r->gate));
    bigref_set_state(r, PAWL_BIGREF_RELEASED_);
    if (state == PAWL_BIGREF_OPEN_) {
        cells_shut_out();
        bigref_give(bigref_collect(r));
    }
    pawl_store_relaxed64(&r->global, 0);
    cells_settle(r, 0);
    latch_drop(cells_latch_of(r));
}
