/* SPDX-License-Identifier: MIT */
/*
 * Whom a thread waited for. It may be many: a wait goes on from one hold to the next.
 *
 * While somebody waits for a lock, each holder notes its hold before it releases; holds of one site
 * in a row are one run. A waiter that is granted shares its wait out: to each run the time in which
 * it and the wait overlap. What lies behind a run, until the next one begins, is its holder's too,
 * as past: nobody held the lock, and the next holder was on its way to a processor.
 *
 * Runs of some locks share a queue, and threads write it without agreement: a torn one is evidence
 * of little worth, and no share is longer than the wait. All of it is the process's own memory.
 */
#include "record.h"

enum { QUEUES = 128, RUNS = 16, GAP = 4 };

struct run {
    uint64_t lock, holder;
    uint64_t since, until, held; /* ticks; held: without the gaps between its holds */
};

struct queue {
    uint32_t next;
    struct run runs[RUNS];
};

static struct queue queues[QUEUES];

static struct queue *queue_of(uint64_t key)
{
    return &queues[mixed(key & TRACE_ADDRESS, 0, 0) % QUEUES];
}

void trace_looks_who_holds(struct trace_wait *w, uint64_t holder)
{
    struct trace_slot *const slot = slot_of(w->key);
    (void)pawl_fetch_add_relaxed32(&slot->waiters, 1);
    if (pawl_load_relaxed64(&slot->lock) != (w->key & TRACE_ADDRESS))
        holder = 0;
    w->holder = holder & UINT64_C(0xffffffffffff);
    w->inverted =
        holder != 0 && trace_self.realtime != 0 && (holder & (TRACE_REALTIME | TRACE_PAST)) == 0;
}

/* The child of a fork in a handler has another file by now. */
void trace_waits_no_more(const struct trace_wait *w)
{
    if (trace_control == NULL)
        return;
    struct trace_slot *slot = slot_of(w->key);
    if (pawl_load_relaxed32(&slot->waiters) != 0)
        (void)pawl_fetch_sub_relaxed32(&slot->waiters, 1);
}

/* A gap of some holds' length ends a run: a wait that falls into it has another reason. */
void trace_held_meanwhile(const struct trace_hold *h, uint64_t now)
{
    const uint64_t lock = h->lock & TRACE_ADDRESS, hold = now > h->since ? now - h->since : 0;
    struct queue *const q = queue_of(lock);
    struct run *r = &q->runs[(pawl_load_relaxed32(&q->next) - 1) % RUNS];
    if (r->lock == lock && r->holder == h->take && r->until <= now &&
        h->since <= r->until + GAP * hold) {
        r->held += hold;
        r->until = now;
        return;
    }
    r = &q->runs[pawl_fetch_add_relaxed32(&q->next, 1) % RUNS];
    r->lock = 0;
    r->holder = h->take;
    r->since = h->since;
    r->until = now;
    r->held = hold;
    r->lock = lock;
}

/* ---- The waiter ------------------------------------------------------------------------------ */

static void add(const struct trace_wait *w, uint64_t holder, uint64_t ticks, uint64_t past)
{
    const uint64_t hash = mixed(w->key, w->site, holder);
    for (uint32_t i = 0; i < 2; i++) {
        struct trace_blame *const b =
            &trace_self.blames[(hash + i) & (trace_self.lane->blames - 1)];
        if (b->count == 0) {
            b->lock = w->key;
            b->site = w->site;
            b->holder = holder;
        } else if (b->lock != w->key || b->site != w->site || b->holder != holder) {
            continue;
        }
        b->count++;
        b->inverted += w->inverted && holder == w->holder;
        b->wait_sum += ticks;
        b->past_sum += past;
        if (ticks > b->wait_max)
            b->wait_max = ticks;
        return;
    }
    trace_self.lane->lost_blames++;
}

struct shares {
    struct share {
        uint64_t holder, ticks, past;
    } all[RUNS + 1];
    uint32_t count;
};

static void share(struct shares *s, uint64_t holder, uint64_t ticks, uint64_t past)
{
    uint32_t i;
    for (i = 0; i < s->count && s->all[i].holder != holder; i++)
        continue;
    if (i == s->count)
        s->all[s->count++] = (struct share){holder, 0, 0};
    s->all[i].ticks += ticks;
    s->all[i].past += past;
}

/* The part of the wait from `at` to `until` that lies in the run; what the run held of it. */
static uint64_t held_between(const struct run *r, uint64_t at, uint64_t until)
{
    const uint64_t span = r->until - r->since;
    return r->held >= span ? until - at
                           : (uint64_t)((double)(until - at) * (double)r->held / (double)span);
}

/* The lock's holder of now, where the wait ended without the lock; 0: none is seen. */
static uint64_t holder_of_now(const struct trace_wait *w)
{
    const struct trace_slot *const slot = slot_of(w->key);
    const uint64_t holder = pawl_load_relaxed64(&slot->holder);
    return pawl_load_relaxed64(&slot->lock) != (w->key & TRACE_ADDRESS) ||
                   (holder & TRACE_PAST) != 0
               ? 0
               : holder & UINT64_C(0xffffffffffff);
}

void trace_blame(const struct trace_wait *w, uint64_t now, bool granted)
{
    const struct queue *const q = queue_of(w->key);
    const uint32_t first = pawl_load_relaxed32(&q->next);
    struct shares s = {.count = 0};
    uint64_t at = w->begun, holder = w->holder, still = granted ? 0 : holder_of_now(w);
    for (uint32_t i = 0; i < RUNS; i++) {
        const struct run r = q->runs[(first + i) % RUNS];
        const uint64_t since = r.since > at ? r.since : at, until = r.until < now ? r.until : now;
        if (r.lock != (w->key & TRACE_ADDRESS) || r.until <= r.since || until <= since)
            continue;
        if (since > at)
            share(&s, holder, since - at, since - at);
        holder = r.holder;
        share(&s, holder, until - since, until - since - held_between(&r, since, until));
        at = until;
    }
    if (at < now && still != 0)
        share(&s, still, now - at, 0);
    else if (at < now)
        share(&s, holder, now - at, now - at);
    for (uint32_t i = 0; i < s.count; i++)
        add(w, s.all[i].holder, s.all[i].ticks, s.all[i].past);
}
