/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <errno.h>

/* ---- Records: the heaviest have one of their own --------------------------------------------- */

static uint32_t random_below(uint64_t limit)
{
    struct trace_lane *const lane = trace_self.lane;
    uint64_t x = lane->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    lane->random = x;
    return (uint32_t)((x >> 11) % limit);
}

static void pool(const struct trace_key *key, const struct trace_record *r)
{
    struct trace_record *const p = &trace_self.lane->pool[mode_of(key->lock) % TRACE_MODES];
    p->count += r->count;
    p->hold_sum += r->hold_sum;
    p->hold_max = r->hold_max > p->hold_max ? r->hold_max : p->hold_max;
    p->waits += r->waits;
    p->wait_sum += r->wait_sum;
    p->wait_max = r->wait_max > p->wait_max ? r->wait_max : p->wait_max;
    p->failed += r->failed;
    p->timeouts += r->timeouts;
    p->handoffs += r->handoffs;
    p->overlaps += r->overlaps;
    p->beside += r->beside;
    p->kept += r->kept;
    p->kept_sum += r->kept_sum;
    p->woke += r->woke;
    p->woke_sum += r->woke_sum;
    p->threads++; /* of a pool: how many records went into it */
    for (size_t i = 0; i < TRACE_BUCKETS; i++) {
        p->hold[i] += r->hold[i];
        p->wait[i] += r->wait[i];
    }
}

static struct trace_record *settle(size_t at, const struct trace_key *key, uint32_t late)
{
    struct trace_record *const r = &trace_self.records[at];
    /* Without a key nobody reads the record while it is cleared. */
    trace_self.keys[at].lock = 0;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    memset(r, 0, sizeof *r);
    r->late = late;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    trace_self.keys[at].take = key->take;
    trace_self.keys[at].release = key->release;
    trace_self.keys[at].lock = key->lock;
    trace_know(key->take, key->release != 0 ? key->release : key->take);
    trace_allocated(key->lock);
    return r;
}

/* How much a record is worth: long waits and holds count, too, in steps of 4096 ticks. */
static uint64_t weight(const struct trace_record *r)
{
    return r->count + r->failed + r->waits * 16 + (r->hold_sum + r->wait_sum) / 4096;
}

/* A newcomer takes the lightest record of its set with the probability 1 / (weight + 1), so rare
 * ones do not drive out each other and the heavy ones. What it drives out goes to the pool, and so
 * does a newcomer that is not let in. */
struct trace_record *trace_insert(const struct trace_key *key)
{
    size_t first, i;
    for (;;) {
        first =
            (mixed(key->lock, key->take, key->release) & (trace_self.lane->sets - 1)) * TRACE_WAYS;
        for (i = first; i < first + TRACE_WAYS; i++) {
            const struct trace_key *const k = &trace_self.keys[i];
            if (k->lock == 0)
                return settle(i, key, 0);
            if (k->lock == key->lock && k->take == key->take && k->release == key->release)
                return &trace_self.records[i];
        }
        if (trace_self.lane->ring == TRACE_LARGE_RING)
            break;
        i = trace_self.lane->ring;
        trace_outgrow();
        if (trace_self.lane->ring == i)
            break; /* there is no larger one */
    }
    size_t lightest = first;
    for (i = first + 1; i < first + TRACE_WAYS; i++)
        if (weight(&trace_self.records[i]) < weight(&trace_self.records[lightest]))
            lightest = i;
    if (random_below(weight(&trace_self.records[lightest]) + 1) != 0)
        return &trace_self.lane->pool[mode_of(key->lock) % TRACE_MODES];
    pool(&trace_self.keys[lightest], &trace_self.records[lightest]);
    return settle(lightest, key, 1);
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* Windows begin by the clock alone, so those of all threads begin at the same moment. */
void trace_window_begins(uint64_t now)
{
    struct trace_lane *const lane = trace_self.lane;
    const uint64_t begun = trace_control->ticks_begun, ms = trace_window;
    const uint64_t age = now > begun ? (now - begun) / ms : 0;
    const uint64_t number = age == 0 ? 0 : 64 - (uint64_t)__builtin_clzll(age);
    struct trace_window *const w = &lane->windows[number & 1];
    lane->window = number;
    lane->window_next = begun + (ms << number);
    w->count = 0; /* first: until it is 1 the reader takes nothing of it */
    TRACE_HANDLERS_SEE_THIS_ORDER();
    w->number = number;
    w->missed = 0;
    w->mixed = 0;
}

/* ---- Long holds ------------------------------------------------------------------------------ */

void trace_long_hold(struct trace_record *r, const struct trace_hold *h, uint64_t now)
{
    const uint64_t woke = trace_self.woke_at > h->since ? trace_self.woke_at : h->since;
    if ((h->state & TRACE_WOKE) != 0 && now - woke >= trace_window / TRACE_LONG) {
        r->woke++;
        r->woke_sum += now - woke;
    }
    if (now - h->since >= trace_window && trace_was_only_kept_off(h->since, now)) {
        r->kept++;
        r->kept_sum += now - h->since;
    }
    if ((h->state & TRACE_WOKE) != 0 && now - woke >= trace_window / TRACE_LONG)
        trace_edge(h, trace_self.woke_key,
                   trace_self.woke_site); /* last: the lane may be outgrown */
}

/* ---- Waits ----------------------------------------------------------------------------------- */

void trace_wait_begins(struct trace_wait *w, uint64_t key, uint64_t site)
{
    w->key = key;
    w->site = site;
    w->begun = trace_ticks();
    w->stack = trace_stack(site);
    w->upgrade = NULL;
    trace_self.price.begun = 0;
    trace_look_at_priority();
    trace_looks_who_holds(w, pawl_load_relaxed64(&slot_of(key)->holder));
    if (trace_self.lane->depth != 0)
        trace_order(key, site);
    if (is_write(key))
        trace_upgrade(key, site, w);
    w->at =
        push(key, site, w->begun, TRACE_WAITING) != NULL ? trace_self.lane->depth - 1 : UINT32_MAX;
    if (w->at != UINT32_MAX)
        trace_self.lane->holds[w->at].stack = w->stack;
    leave();
}

/* The hold that stands for the wait. A handler, or a cancelled wait, may have moved it. */
static struct trace_hold *waiting(const struct trace_wait *w)
{
    struct trace_hold *const holds = trace_self.lane->holds;
    return w->at < trace_self.lane->depth && holds[w->at].lock == w->key &&
                   holds[w->at].since == w->begun
               ? &holds[w->at]
               : NULL;
}

static void take_out(uint32_t index)
{
    struct trace_lane *const lane = trace_self.lane;
    const uint32_t depth = lane->depth;
    for (uint32_t i = index; i + 1 < depth; i++)
        lane->holds[i] = lane->holds[i + 1];
    TRACE_HANDLERS_SEE_THIS_ORDER();
    lane->depth = depth - 1;
}

void trace_wait_ends(struct trace_wait *w, bool is_granted, bool timed_out)
{
    const uint64_t now = trace_ticks();
    trace_waits_no_more(w);
    if (!enter()) {
        if (!is_granted)
            trace_forget(w->key & TRACE_ADDRESS);
        return;
    }
    struct trace_hold *h = waiting(w);
    uint64_t waited = now > w->begun ? now - w->begun : 1;
    trace_self.lane->last = now;
    trace_blame(w, now, is_granted);
    trace_stack_waited(w->key, w->stack, waited);
    if (is_granted) {
        uint32_t writes, state;
        if (w->upgrade != NULL)
            trace_changed(w->upgrade, w->key & TRACE_ADDRESS, w->writes);
        if (h != NULL) { /* else nothing would end it */
            state = show(w->key, w->site, &writes);
            h->begun = w->begun;
            h->waited = waited;
            h->writes = writes;
            h->state = state;
            h->since = trace_ticks();
            if (h->since - trace_self.seen_at > trace_window / TRACE_OFTEN_WAITED)
                trace_look_at_processor(h);
        }
    } else {
        struct trace_record *const r = record_of(w->key, w->site, 0);
        if (h != NULL)
            take_out(w->at);
        r->timeouts += timed_out;
        r->failed += !timed_out;
        add_wait(r, w->begun, waited);
        seen_by(r);
    }
    leave();
}

/* The last entry of a small ring may be a hold, a wait or a sleep. */
static inline void grow_if_full(void)
{
    const struct trace_lane *const lane = trace_self.lane;
    if (PAWL_UNLIKELY(lane->events % TRACE_SMALL_RING == 0 && lane->events != 0 &&
                      lane->ring == TRACE_SMALL_RING))
        trace_outgrow();
}

void trace_wait_is_over(struct trace_wait *w, bool is_granted, bool timed_out)
{
    const uint64_t now = trace_ticks();
    const struct trace_event e = {w->key, w->site, 0, w->begun, now > w->begun ? now - w->begun : 1,
                                  0};
    trace_waits_no_more(w);
    if (!enter()) {
        trace_forget(w->key & TRACE_ADDRESS);
        return;
    }
    trace_blame(w, now, is_granted);
    trace_stack_waited(w->key, w->stack, e.wait);
    if (waiting(w) != NULL)
        take_out(w->at);
    struct trace_record *r = record_of(w->key, w->site, 0);
    r->count += is_granted;
    r->timeouts += !is_granted && timed_out;
    r->failed += !is_granted && !timed_out;
    add_wait(r, w->begun, e.wait);
    seen_by(r);
    add_event(&e, now);
    trace_self.timed = NULL;
    trace_self.lane->last = now;
    grow_if_full();
    leave();
}

void trace_waited(uint64_t key, uint64_t site, uint64_t begun, bool waited, int error)
{
    if (!enter())
        return;
    uint64_t now = trace_ticks();
    if (waited && now - begun > trace_window / TRACE_OFTEN)
        trace_note_processor();
    struct trace_record *r = record_of(key, site, 0);
    r->count += error == 0;
    r->timeouts += error == ETIMEDOUT;
    r->failed += error != 0 && error != ETIMEDOUT;
    if (waited) {
        const struct trace_event e = {key, site, 0, begun, now > begun ? now - begun : 1, 0};
        add_wait(r, begun, e.wait);
        add_event(&e, now);
        trace_self.timed = NULL;
        trace_stack_waited(key, trace_stack(site), e.wait);
    }
    seen_by(r);
    trace_self.lane->last = now;
    grow_if_full();
    leave();
}

void trace_called(uint64_t key, uint64_t site, bool failed)
{
    if (!enter())
        return;
    struct trace_record *r = record_of(key, site, 0);
    r->count += !failed;
    r->failed += failed;
    seen_by(r);
    leave();
}

/* The threads that wake may ask for what this one holds. */
static void mark_holds(uint64_t key, uint64_t site)
{
    const uint32_t depth = trace_self.lane->depth;
    struct trace_hold *const holds = trace_self.lane->holds;
    uint32_t i, marked = 0;
    for (i = 0; i < depth; i++) {
        marked |= holds[i].state & TRACE_WOKE;
        if ((holds[i].state & (TRACE_WAITING | TRACE_IN_COND)) == 0)
            holds[i].state |= TRACE_WOKE;
    }
    if (marked != 0)
        return;
    trace_self.woke_at = trace_ticks();
    trace_self.woke_key = key;
    trace_self.woke_site = site;
}

void trace_wakes(uint64_t key, uint64_t site)
{
    if (!enter())
        return;
    struct trace_record *r = record_of(key, site, 0);
    r->count++;
    seen_by(r);
    if (trace_self.lane->depth != 0)
        mark_holds(key, site);
    leave();
}

/* ---- Holds ----------------------------------------------------------------------------------- */

void trace_release_at(uint32_t index, uint64_t site)
{
    const uint64_t now = trace_ticks();
    struct trace_lane *const lane = trace_self.lane;
    struct trace_hold *const h = &lane->holds[index];
    unshow(h, now);
    if ((h->state & TRACE_IN_COND) == 0)
        end_hold(h, site, now); /* may move to a larger lane */
    if (PAWL_LIKELY(index == trace_self.lane->depth - 1)) {
        trace_self.lane->depth = index;
    } else {
        trace_hands_over(&trace_self.lane->holds[index], &trace_self.lane->holds[index + 1]);
        take_out(index);
    }
    grow_if_full();
}

/* A row of its own, as nothing released it: takes by threads that ended. */
void trace_ends_holding(void)
{
    const uint64_t now = trace_ticks();
    for (uint32_t i = 0; i < trace_self.lane->depth; i++) {
        const struct trace_hold h = trace_self.lane->holds[i];
        if ((h.state & TRACE_HELD) == 0 || (h.state & TRACE_IN_COND) != 0)
            continue;
        unshow(&h, now);
        struct trace_record *r = record_of(h.lock, h.take, 0);
        r->count++;
        if (h.waited != 0)
            add_wait(r, h.begun, h.waited);
        seen_by(r);
    }
}

static uint32_t hold_of(uint64_t lock)
{
    uint32_t i;
    for (i = trace_self.lane->depth; i-- > 0;)
        if ((trace_self.lane->holds[i].lock & TRACE_ADDRESS) == lock)
            break;
    return i;
}

/* The hold goes without a record: the recording is stopped. */
void trace_forget(uint64_t lock)
{
    if (trace_self.lane == NULL || trace_self.inside != 0)
        return;
    trace_self.inside = 1;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    uint32_t i = hold_of(lock);
    if (i != UINT32_MAX) {
        if ((trace_self.lane->holds[i].state & TRACE_WAITING) == 0)
            unshow(&trace_self.lane->holds[i], trace_ticks());
        take_out(i);
    }
    leave();
}

void trace_cond_gives_up(const void *mutex, uint64_t site)
{
    const uint64_t lock = (uint64_t)(uintptr_t)mutex & TRACE_ADDRESS;
    if (!enter())
        return;
    uint32_t i = hold_of(lock);
    if (i != UINT32_MAX) {
        const uint64_t now = trace_ticks();
        unshow(&trace_self.lane->holds[i], now);
        end_hold(&trace_self.lane->holds[i], site, now);
        trace_self.timed = NULL;
        trace_self.price.record = NULL;
        trace_self.lane->holds[i].state |= TRACE_IN_COND;
    }
    leave();
}

void trace_cond_is_back(const void *mutex, uint64_t site)
{
    const uint64_t lock = (uint64_t)(uintptr_t)mutex & TRACE_ADDRESS;
    uint32_t writes;
    if (!enter())
        return;
    uint32_t i = hold_of(lock);
    if (i != UINT32_MAX) {
        struct trace_hold *const h = &trace_self.lane->holds[i];
        h->state = show(h->lock, site, &writes);
        h->take = site;
        h->waited = 0;
        h->since = trace_ticks();
        if (h->since - trace_self.seen_at > trace_window / TRACE_OFTEN_WAITED)
            trace_look_at_processor(h);
    }
    leave();
}
