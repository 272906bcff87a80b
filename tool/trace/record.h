/* SPDX-License-Identifier: MIT */
/*
 * What the recorder does at each call. A thread writes its own lane only, so nothing here is
 * atomic but the slots, which say who holds a lock; those are read and written relaxed.
 *
 * A signal handler may interrupt any line. `inside` is 1 while the lane is being changed: the
 * handler's calls are then counted and not recorded. While a thread waits, `inside` is 0. The
 * handler leaves the holds as it found them.
 *
 * Nothing here allocates, waits, or changes errno.
 */
#pragma once

#include "state.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

static inline struct trace_record *record_of(uint64_t lock, uint64_t take, uint64_t release)
{
    const struct trace_key key = {lock, take, release};
    const size_t first = (mixed(lock, take, release) & (trace_self.lane->sets - 1)) * TRACE_WAYS;
    for (size_t i = first; i < first + TRACE_WAYS; i++) {
        const struct trace_key *const k = &trace_self.keys[i];
        if (k->lock == lock && k->take == take && k->release == release)
            return &trace_self.records[i];
    }
    return trace_insert(&key);
}

static inline void seen_by(struct trace_record *r)
{
    if (PAWL_UNLIKELY(r->last_thread != trace_self.number)) {
        r->last_thread = trace_self.number;
        r->threads++;
    }
}

static inline void add_wait(struct trace_record *r, uint64_t begun, uint64_t ticks)
{
    if (r->waits++ == 0)
        r->first_wait = begun;
    r->wait_sum += ticks;
    if (ticks > r->wait_max)
        r->wait_max = ticks;
    r->wait[bucket_of(ticks)]++;
}

static inline void add_to_window(const struct trace_event *e, uint64_t now)
{
    struct trace_lane *const lane = trace_self.lane;
    uint64_t count;
    if (PAWL_UNLIKELY(now >= lane->window_next))
        trace_window_begins(now);
    struct trace_window *w = &lane->windows[lane->window & 1];
    count = w->count;
    if (count == lane->ring) {
        w->missed++;
        return;
    }
    trace_self.windows[lane->window & 1][count] = *e;
    trace_self.timed = &trace_self.windows[lane->window & 1][count];
    trace_self.timed_at = now;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    w->count = count + 1;
    if (PAWL_UNLIKELY((count & (count + 1)) == 0))
        trace_window_looks_at_clock(w, now);
}

static inline void add_event(const struct trace_event *e, uint64_t now)
{
    struct trace_lane *const lane = trace_self.lane;
    trace_self.events[lane->events & (lane->ring - 1)] = *e;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    lane->events++;
    add_to_window(e, now);
}

/* ---- Taking ---------------------------------------------------------------------------------- */

/* Pushes a hold. NULL: the thread holds too many. */
static inline struct trace_hold *push(uint64_t key, uint64_t site, uint64_t now, uint32_t state)
{
    struct trace_lane *const lane = trace_self.lane;
    struct trace_hold *const h = &lane->holds[lane->depth];
    if (PAWL_UNLIKELY(lane->depth == TRACE_HOLDS)) {
        lane->deep++;
        return NULL;
    }
    h->lock = key;
    h->take = site;
    h->since = now;
    h->waited = 0;
    h->state = state;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    lane->depth++;
    lane->last = now;
    return h;
}

/* What others see, and what they had left there. */
static inline uint32_t show(uint64_t key, uint64_t site, uint32_t *writes)
{
    struct trace_slot *const slot = slot_of(key);
    const uint64_t lock = key & TRACE_ADDRESS;
    const uint32_t cpu = (uint32_t)sched_getcpu();
    const uint64_t holder = (site & UINT64_C(0xffffffffffff)) | trace_self.realtime |
                            (uint64_t)(trace_self.number & 0x3fff) << 48;
    uint32_t state = TRACE_HELD;
    if (PAWL_LIKELY(pawl_load_relaxed64(&slot->lock) == lock)) {
        if (pawl_load_relaxed32(&slot->cpu) != cpu) {
            state |= TRACE_HANDED_OFF;
            pawl_store_relaxed32(&slot->cpu, cpu);
        }
        if (is_counted(key) && pawl_load_relaxed32(&slot->readers) != 0)
            state |= is_seek(key) ? TRACE_BESIDE : TRACE_OVERLAPPED;
        if (mode_of(key) == TRACE_OUR_READ && pawl_load_relaxed32(&slot->seekers) != 0)
            state |= TRACE_BESIDE;
    } else {
        pawl_store_relaxed64(&slot->lock, lock);
        pawl_store_relaxed32(&slot->cpu, cpu);
        pawl_store_relaxed32(&slot->writes, pawl_load_relaxed32(&slot->writes) + 1);
    }
    if (is_counted(key)) {
        state |= TRACE_COUNTED;
        (void)pawl_fetch_add_relaxed32(is_read(key) ? &slot->readers : &slot->seekers, 1);
    }
    *writes = pawl_load_relaxed32(&slot->writes);
    pawl_store_relaxed64(&slot->holder, holder);
    if (PAWL_UNLIKELY(mode_of(key) == TRACE_OUR_READ))
        pawl_store_relaxed64(&slot->reader, holder);
    return state;
}

/* The lock is held, without a wait. A caller that only tried would not have waited, so no order of
 * locks follows from it. The clock is read last: what others see may cost a line of their caches,
 * and a section would look that much longer. */
static inline void granted_at_once(uint64_t key, uint64_t site, bool only_tried)
{
    const bool priced = trace_self.price.begun != 0;
    uint32_t writes;
    if (PAWL_UNLIKELY(priced))
        trace_self.price.tried = trace_ticks_in_order();
    if (PAWL_UNLIKELY(trace_self.lane->depth != 0) && trace_among_others(key, site, only_tried)) {
        trace_self.price.begun = 0;
        return;
    }
    if (is_write(key))
        trace_upgrade(key, site, NULL);
    uint32_t state = show(key, site, &writes);
    struct trace_hold *h = push(key, site, trace_ticks(), state);
    h->writes = writes;
    if (PAWL_UNLIKELY(h->since - trace_self.seen_at > trace_window / TRACE_OFTEN))
        trace_look_at_processor(h);
    if (PAWL_UNLIKELY(--trace_self.stack_in == 0))
        trace_stack_taken();
    if (PAWL_UNLIKELY(priced))
        trace_price_is_taken(h);
}

static inline void granted(uint64_t key, uint64_t site)
{
    granted_at_once(key, site, false);
}

/* ---- Releasing ------------------------------------------------------------------------------- */

/* The hold is copied, for looking for its record may move the thread to a larger lane. */
static inline void end_hold(const struct trace_hold *held, uint64_t release, uint64_t now)
{
    struct trace_event e;
    const struct trace_hold copy = *held, *const h = &copy;
    struct trace_record *const r = record_of(h->lock, h->take, release);
    const uint64_t passed = now > h->since ? now - h->since : 0;
    const uint64_t hold = (h->state & TRACE_AGAIN) == 0 ? passed : 0; /* the outer one has it */
    r->count++;
    r->hold_sum += hold;
    if (hold > r->hold_max)
        r->hold_max = hold;
    r->hold[bucket_of(hold)]++;
    if (PAWL_UNLIKELY(h->waited != 0))
        add_wait(r, h->begun, h->waited);
    r->handoffs += (h->state & TRACE_HANDED_OFF) != 0;
    r->overlaps += (h->state & TRACE_OVERLAPPED) != 0;
    r->beside += (h->state & TRACE_BESIDE) != 0;
    seen_by(r);
    if (PAWL_UNLIKELY(hold >= trace_window / TRACE_LONG))
        trace_long_hold(r, h, now);
    e.lock = h->lock;
    e.take = h->take;
    e.release = release;
    e.begun = h->waited != 0 ? h->begun : h->since;
    e.wait = h->since - e.begun;
    e.hold = passed;
    add_event(&e, now);
    if (PAWL_UNLIKELY((h->state & TRACE_PRICED) != 0) && hold < trace_window / TRACE_LONG)
        trace_price_is_released(r, h, now); /* else the record may have moved */
    trace_self.lane->pairs++;
    trace_self.lane->last = now;
}

/* A reader or seeker less. */
static inline void count_out(uint64_t key, uint32_t state)
{
    struct trace_slot *const slot = slot_of(key);
    if ((state & TRACE_COUNTED) == 0)
        return;
    (void)pawl_fetch_sub_relaxed32(is_read(key) ? &slot->readers : &slot->seekers, 1);
    if (mode_of(key) == TRACE_OUR_READ &&
        TRACE_NUMBER(pawl_load_relaxed64(&slot->reader)) == (trace_self.number & 0x3fff))
        pawl_store_relaxed64(&slot->reader, 0);
}

static inline void ends_for_others(const struct trace_hold *h, uint64_t now)
{
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&slot_of(h->lock)->waiters) != 0))
        trace_held_meanwhile(h, now);
    count_out(h->lock, h->state);
}

/* Others see that the lock is free, as far as this thread is concerned, and who had it last. */
static inline void unshow(const struct trace_hold *h, uint64_t now)
{
    struct trace_slot *const slot = slot_of(h->lock);
    const uint64_t holder = pawl_load_relaxed64(&slot->holder);
    if (PAWL_UNLIKELY((h->state & TRACE_AGAIN) != 0))
        return;
    ends_for_others(h, now);
    if (is_read(h->lock)) {
        struct trace_dropped *const d =
            &trace_self.dropped[trace_self.dropped_next++ % TRACE_DROPPED];
        d->lock = h->lock & TRACE_ADDRESS;
        d->at = now;
        d->read = h->take;
        d->writes = h->writes;
    } else if (is_write(h->lock) || mode_of(h->lock) == TRACE_OUR_ATOMIC) {
        pawl_store_relaxed32(&slot->writes, pawl_load_relaxed32(&slot->writes) + 1);
    }
    if (TRACE_NUMBER(holder) == (trace_self.number & 0x3fff))
        pawl_store_relaxed64(&slot->holder, holder | TRACE_PAST);
}

TRACE_HIDDEN void trace_release_at(uint32_t index, uint64_t site);

/* Before the lock is released. */
static inline void releases(const volatile void *address, uint64_t site)
{
    const uint64_t lock = (uint64_t)(uintptr_t)address & TRACE_ADDRESS;
    uint32_t i;
    if (PAWL_UNLIKELY(!enter())) {
        trace_forget(lock);
        return;
    }
    for (i = trace_self.lane->depth; i-- > 0;)
        if ((trace_self.lane->holds[i].lock & TRACE_ADDRESS) == lock &&
            (trace_self.lane->holds[i].state & TRACE_WAITING) == 0)
            break;
    if (PAWL_LIKELY(i != UINT32_MAX))
        trace_release_at(i, site);
    else
        trace_self.lane->strange++;
    leave();
    if (PAWL_UNLIKELY(trace_self.price.record != NULL))
        trace_self.price.noted = trace_ticks_in_order();
}

/* After it. A call that wakes a waiter takes far longer than one that does not, and that time is
 * the lock's, not the program's. */
static inline void released(void)
{
    struct trace_event *const e = trace_self.timed;
    if (PAWL_LIKELY(e == NULL)) {
        if (PAWL_UNLIKELY(trace_self.price.record != NULL))
            trace_price_ends();
        return;
    }
    trace_self.timed = NULL;
    uint64_t units = (trace_ticks() - trace_self.timed_at) >> TRACE_CALL_UNIT;
    if (units >> (64 - TRACE_SITE_BITS) != 0)
        units = (UINT64_C(1) << (64 - TRACE_SITE_BITS)) - 1;
    e->release = (e->release & ((UINT64_C(1) << TRACE_SITE_BITS) - 1)) | units << TRACE_SITE_BITS;
}
