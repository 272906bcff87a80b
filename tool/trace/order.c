/* SPDX-License-Identifier: MIT */
/* What follows what: locks that are taken while others are held, and reads before writes. */
#include "record.h"

/* ---- Tables of 2^n entries, some places for each key ----------------------------------------- */

/* The edge's place; where there is none, one that is free, or NULL. */
static struct trace_edge *edge_at(const struct trace_edge *wanted)
{
    enum { PLACES = 8 };
    const struct trace_lane *const lane = trace_self.lane;
    const uint64_t hash =
        mixed(wanted->held, wanted->taken, wanted->held_site ^ wanted->taken_site);
    for (uint32_t i = 0; i < PLACES; i++) {
        struct trace_edge *const e = &trace_self.edges[(hash + i) & (lane->edges - 1)];
        if (e->count == 0 ||
            (e->held == wanted->held && e->taken == wanted->taken &&
             e->held_site == wanted->held_site && e->taken_site == wanted->taken_site))
            return e;
    }
    return NULL;
}

void trace_edge(const struct trace_hold *h, uint64_t key, uint64_t site)
{
    const struct trace_edge wanted = {.held = h->lock,
                                      .taken = key,
                                      .held_site = h->take,
                                      .taken_site = site,
                                      .held_life = pawl_load_relaxed32(&slot_of(h->lock)->lives),
                                      .taken_life = pawl_load_relaxed32(&slot_of(key)->lives)};
    struct trace_edge *e = edge_at(&wanted);
    if (e == NULL && trace_self.lane->ring == TRACE_SMALL_RING) {
        trace_outgrow();
        e = edge_at(&wanted);
    }
    if (e == NULL) {
        trace_self.lane->lost_edges++;
        return;
    }
    if (e->count == 0)
        *e = wanted;
    e->held_life = wanted.held_life;
    e->taken_life = wanted.taken_life;
    e->count++;
}

/* The lock is released before the one that was taken after it. */
void trace_hands_over(const struct trace_hold *h, const struct trace_hold *then)
{
    const struct trace_edge wanted = {
        .held = h->lock, .taken = then->lock, .held_site = h->take, .taken_site = then->take};
    struct trace_edge *const e = edge_at(&wanted);
    if (e != NULL && e->count != 0)
        e->handed++;
}

void trace_order(uint64_t key, uint64_t site)
{
    const struct trace_hold *const h = &trace_self.lane->holds[trace_self.lane->depth - 1];
    if (((h->lock ^ key) & TRACE_ADDRESS) != 0) /* else: locked again */
        trace_edge(h, key, site);
}

/* A lock that may be held twice by one thread is shown, and held, by its outermost hold. */
bool trace_among_others(uint64_t key, uint64_t site, bool only_tried)
{
    struct trace_lane *const lane = trace_self.lane;
    if (lane->depth == TRACE_HOLDS) {
        lane->deep++;
        return true;
    }
    for (uint32_t i = lane->depth; i-- > 0 && (mode_of(key) == TRACE_MUTEX || is_read(key));) {
        if (lane->holds[i].lock != key || (lane->holds[i].state & TRACE_HELD) == 0 ||
            (lane->holds[i].state & TRACE_IN_COND) != 0)
            continue;
        (void)push(key, site, trace_ticks(), TRACE_HELD | TRACE_AGAIN);
        return true;
    }
    if (!only_tried)
        trace_order(key, site);
    return false;
}

void trace_lock_ends(const volatile void *lock)
{
    if (trace_control == NULL)
        return;
    struct trace_slot *slot = slot_of((uint64_t)(uintptr_t)lock);
    if (pawl_load_relaxed64(&slot->lock) == ((uint64_t)(uintptr_t)lock & TRACE_ADDRESS))
        (void)pawl_fetch_add_relaxed32(&slot->lives, 1);
}

static struct trace_upgrade *add_upgrade(uint64_t key, const struct trace_dropped *d, uint64_t site,
                                         uint64_t gap)
{
    for (uint32_t i = 0; i < TRACE_UPGRADES; i++) {
        struct trace_upgrade *const u = &trace_self.lane->upgrades[i];
        if (u->count == 0) {
            u->lock = key;
            u->read = d->read;
            u->write = site;
        } else if (u->lock != key || u->read != d->read || u->write != site) {
            continue;
        }
        u->count++;
        u->gap_sum += gap;
        return u;
    }
    trace_self.lane->lost_upgrades++;
    return NULL;
}

void trace_changed(struct trace_upgrade *u, uint64_t lock, uint32_t writes)
{
    u->changed += pawl_load_relaxed32(&slot_of(lock)->writes) != writes;
}

/* Called for each write lock: did this thread drop the lock for reading a moment ago? A writer that
 * waits looks after its wait whether another thread wrote: that is what most waits are for. */
void trace_upgrade(uint64_t key, uint64_t site, struct trace_wait *wait)
{
    const uint64_t lock = key & TRACE_ADDRESS;
    uint64_t now;
    for (uint32_t i = 1; i <= TRACE_DROPPED; i++) {
        struct trace_dropped *const d =
            &trace_self.dropped[(trace_self.dropped_next - i) % TRACE_DROPPED];
        if (d->lock != lock)
            continue;
        now = wait != NULL ? wait->begun : trace_ticks();
        if (now - d->at <= trace_window) {
            struct trace_upgrade *const u = add_upgrade(key, d, site, now - d->at);
            if (wait != NULL) {
                wait->upgrade = u;
                wait->writes = d->writes;
            } else if (u != NULL) {
                trace_changed(u, lock, d->writes);
            }
        }
        d->lock = 0;
        return;
    }
}
