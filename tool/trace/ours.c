/* SPDX-License-Identifier: MIT */
/*
 * Pawl's own locks: programs that define PAWL_TRACED call these (include/pawl/detail/traced.h), and
 * libpawl-trace-waits.so does for others (waits.c).
 *
 * A transition ends a hold and begins another one in its place. One that waits ends the first hold
 * when it asks: what passes then is the wait for the stronger state. If it fails, the first state
 * goes on as a new hold.
 */
#include "record.h"

#define PAWL_TRACE_DEFINES_
#include <pawl/detail/traced.h>

#define EXPORTED __attribute__((visibility("default")))

/* Behind the caller's opaque memory. */
struct our_wait {
    struct trace_wait base;       /* key 0: not recorded */
    uint64_t from_key, from_take; /* the hold that it ended; 0: none */
    uint32_t from_state, what;
};

_Static_assert(sizeof(struct our_wait) <= sizeof(struct ipawl_trace_wait_), "the wait fits");
_Static_assert(_Alignof(struct our_wait) <= _Alignof(struct ipawl_trace_wait_), "and is aligned");

static uint32_t before(uint32_t what)
{
    return what >> 8 & 0xff;
}

static uint64_t our_key(const volatile void *lock, uint32_t what)
{
    const uint64_t state = what >> 16 & 0xff, type = what & 0xff;
    return ((uint64_t)(uintptr_t)lock & TRACE_ADDRESS) |
           (TRACE_OUR_READ - 1 + state) << TRACE_ADDRESS_BITS |
           type << (TRACE_ADDRESS_BITS + TRACE_MODE_BITS);
}

/* The thread's newest hold of the lock; UINT32_MAX: it has none. */
static uint32_t own(uint64_t key)
{
    const struct trace_lane *const lane = trace_self.lane;
    uint32_t i;
    for (i = lane->depth; i-- > 0;)
        if (((lane->holds[i].lock ^ key) & TRACE_ADDRESS) == 0 &&
            (lane->holds[i].state & TRACE_WAITING) == 0)
            break;
    return i;
}

static void put(uint32_t index, uint64_t key, uint64_t site, uint64_t since, uint64_t waited)
{
    struct trace_hold *const h = &trace_self.lane->holds[index];
    h->lock = key;
    h->take = site;
    h->since = since;
    h->begun = since - waited;
    h->waited = waited;
}

/* A transition without a wait. */
static void move(uint64_t key, uint64_t site)
{
    const uint32_t i = own(key);
    const uint64_t now = trace_ticks();
    uint32_t writes;
    if (i == UINT32_MAX) {
        trace_self.lane->strange++;
        granted(key, site);
        return;
    }
    struct trace_hold *h = &trace_self.lane->holds[i];
    ends_for_others(h, now);
    end_hold(h, site, now); /* may move to a larger lane */
    trace_self.timed = NULL;
    put(i, key, site, now, 0);
    h = &trace_self.lane->holds[i];
    h->state = show(key, site, &writes);
    h->writes = writes;
}

static void done(const volatile void *lock, uint32_t what, uint64_t site, bool moved)
{
    const uint64_t key = our_key(lock, what);
    if (!moved || (what & PAWL_TRACED_NO_HOLD_) != 0) {
        trace_called(key, site, !moved);
        return;
    }
    if (!enter())
        return;
    if (before(what) == PAWL_TRACED_U)
        granted_at_once(key, site, (what & PAWL_TRACED_TRIED_) != 0);
    else
        move(key, site);
    leave();
}

/* The caller holds the lock, and waits for a stronger state of it. */
static void asks_for_more(struct our_wait *w, uint32_t i)
{
    const struct trace_slot *const slot = slot_of(w->base.key);
    const uint64_t holder = pawl_load_relaxed64(&slot->reader); /* whom it waits for */
    if (i != trace_self.lane->depth - 1)
        trace_order(w->base.key, w->base.site); /* may move to a larger lane */
    const struct trace_hold *h = &trace_self.lane->holds[i];
    w->from_key = h->lock;
    w->from_take = h->take;
    w->from_state = h->state & ~(uint32_t)TRACE_WOKE;
    w->base.begun = trace_ticks();
    w->base.stack = trace_stack(w->base.site);
    w->base.upgrade = NULL;
    w->base.at = i;
    trace_look_at_priority();
    trace_looks_who_holds(&w->base,
                          TRACE_NUMBER(holder) != (trace_self.number & 0x3fff) ? holder : 0);
    end_hold(h, w->base.site, w->base.begun);
    trace_self.timed = NULL;
    put(i, w->base.key, w->base.site, w->base.begun, 0);
    trace_self.lane->holds[i].state = TRACE_WAITING;
    trace_self.lane->holds[i].stack = w->base.stack;
}

static void asks(const volatile void *lock, uint32_t what, uint64_t site, struct our_wait *w)
{
    const uint64_t key = our_key(lock, what);
    uint32_t i = UINT32_MAX;
    w->base.key = 0;
    if (trace_self.asking != 0 || !enter())
        return; /* a wait inside the wait of one operation; or the recording is stopped */
    trace_self.asking = 1;
    w->base.key = key;
    w->base.site = site;
    w->from_key = 0;
    w->what = what;
    if (before(what) != PAWL_TRACED_U && (what & PAWL_TRACED_NO_HOLD_) == 0)
        i = own(key);
    if (i == UINT32_MAX) {
        trace_wait_begins(&w->base, key, site); /* leaves */
        return;
    }
    asks_for_more(w, i);
    leave();
}

static void gets_more(struct our_wait *w, bool moved)
{
    const uint64_t now = trace_ticks();
    const uint64_t waited = now > w->base.begun ? now - w->base.begun : 1;
    const uint32_t i = w->base.at;
    uint32_t writes;
    trace_waits_no_more(&w->base);
    if (!enter())
        return;
    trace_self.lane->last = now;
    trace_blame(&w->base, now, moved);
    trace_stack_waited(w->base.key, w->base.stack, waited);
    if (!moved) {
        struct trace_record *const r = record_of(w->base.key, w->base.site, 0);
        r->timeouts += (w->what & PAWL_TRACED_UNTIL_) != 0;
        r->failed += (w->what & PAWL_TRACED_UNTIL_) == 0;
        add_wait(r, w->base.begun, waited);
        seen_by(r);
    }
    struct trace_hold *h = &trace_self.lane->holds[i];
    if (i < trace_self.lane->depth && h->lock == w->base.key && h->since == w->base.begun) {
        if (moved) {
            count_out(w->from_key, w->from_state);
            put(i, w->base.key, w->base.site, now, waited);
            h->state = show(w->base.key, w->base.site, &writes);
            h->writes = writes;
        } else {
            put(i, w->from_key, w->from_take, now, 0);
            h->state = w->from_state;
        }
    }
    leave();
}

static void got(struct our_wait *w, bool moved)
{
    const bool timed_out = !moved && (w->what & PAWL_TRACED_UNTIL_) != 0;
    if (w->base.key == 0)
        return;
    trace_self.asking = 0;
    if ((w->what & PAWL_TRACED_NO_HOLD_) != 0)
        trace_wait_is_over(&w->base, moved, timed_out);
    else if (w->from_key != 0)
        gets_more(w, moved);
    else
        trace_wait_ends(&w->base, moved, timed_out);
}

/* ---- What programs call ---------------------------------------------------------------------- */

EXPORTED void ipawl_trace_done_(const volatile void *lock, uint32_t what, bool moved)
{
    done(lock, what, TRACE_HERE(), moved);
}

EXPORTED void ipawl_trace_asks_(const volatile void *lock, uint32_t what,
                                struct ipawl_trace_wait_ *wait)
{
    asks(lock, what, TRACE_HERE(), (struct our_wait *)(void *)wait);
}

EXPORTED void ipawl_trace_asks_at_(const volatile void *lock, uint32_t what, uint64_t site,
                                   struct ipawl_trace_wait_ *wait)
{
    asks(lock, what, site, (struct our_wait *)(void *)wait);
}

EXPORTED void ipawl_trace_got_(struct ipawl_trace_wait_ *wait, bool moved)
{
    got((struct our_wait *)(void *)wait, moved);
}

EXPORTED void ipawl_trace_drops_(const volatile void *lock)
{
    releases(lock, TRACE_HERE());
}

EXPORTED void ipawl_trace_dropped_(void)
{
    released();
}

EXPORTED void ipawl_trace_made_(const volatile void *lock)
{
    trace_initialised((const void *)(uintptr_t)lock, TRACE_HERE());
}
