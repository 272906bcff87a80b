/* SPDX-License-Identifier: MIT */
/*
 * The cost of a lock's calls here, and of what the recorder adds to them: one take in some is
 * timed in parts, and its release. Where the lock's line, or the one of its slot, comes from
 * another processor, that time would else count as the program's work. Each look at the clock waits
 * for what stands in front of it, so a part has its own misses and no others.
 */
#include "record.h"

/* Takes of which one is timed: no power of two, as loops of programs often have. */
enum { EVERY = 251, ROWS = 200, OWN_ROWS = 8, TRIES = 16 };

/* The thread did something else in between: it lost its processor, or a handler ran. */
static bool is_disturbed(uint64_t ticks)
{
    return ticks > trace_window / 100;
}

void trace_price_begins(void)
{
    trace_self.price_in = EVERY;
    trace_self.price.record = NULL;
    trace_self.price.begun = trace_ticks_in_order();
}

void trace_price_is_taken(struct trace_hold *h)
{
    struct trace_price *const p = &trace_self.price;
    h->since = trace_ticks_in_order();
    h->state |= TRACE_PRICED;
    p->since = h->since;
    p->part[TRACE_TAKES] = p->tried - p->begun;
    p->part[TRACE_SHOWS] = h->since - p->tried;
    p->begun = 0;
}

void trace_price_is_released(struct trace_record *r, const struct trace_hold *h, uint64_t now)
{
    if (h->since != trace_self.price.since)
        return; /* another take was timed meanwhile */
    trace_self.price.record = r;
    trace_self.price.let_go = now;
    trace_self.timed = NULL; /* it is timed by this */
}

void trace_price_ends(void)
{
    struct trace_price *const p = &trace_self.price;
    struct trace_record *const r = p->record;
    p->record = NULL;
    if (r == NULL)
        return; /* a handler's release has ended it since the caller looked */
    p->part[TRACE_NOTES] = p->noted - p->let_go;
    p->part[TRACE_DROPS] = trace_ticks_in_order() - p->noted;
    for (uint32_t i = 0; i < TRACE_PARTS; i++)
        if (is_disturbed(p->part[i]))
            return;
    r->priced++;
    for (uint32_t i = 0; i < TRACE_PARTS; i++)
        r->part[i] += p->part[i];
}

/* Of a lock that only this thread has: the shortest of each part. */
void trace_price_alone(void)
{
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    const uint64_t key = key_of(&trace_self, TRACE_READ);
    struct trace_slot *const slot = slot_of(key);
    uint32_t *const best = trace_control->alone;
    uint64_t look = UINT64_MAX;
    uint32_t writes;
    if (best[0] != 0 || pawl_load_relaxed64(&slot->lock) != 0)
        return;
    for (uint32_t i = 0; i < ROWS; i++) {
        uint64_t at[TRACE_PARTS + 1];
        const uint64_t before = trace_ticks_in_order();
        at[0] = trace_ticks_in_order();
        look = at[0] - before < look ? at[0] - before : look;
        (void)next()->pthread_rwlock_tryrdlock(&lock);
        at[1] = trace_ticks_in_order();
        (void)show(key, 0, &writes);
        at[2] = trace_ticks_in_order();
        count_out(key, TRACE_COUNTED);
        at[3] = trace_ticks_in_order();
        (void)next()->pthread_rwlock_unlock(&lock);
        at[4] = trace_ticks_in_order();
        for (uint32_t k = 0; k < TRACE_PARTS; k++)
            if (i == 0 || at[k + 1] - at[k] < best[k])
                best[k] = (uint32_t)(at[k + 1] - at[k]);
    }
    trace_control->looks = (uint32_t)look;
    pawl_store_relaxed64(&slot->holder, 0);
    pawl_store_relaxed64(&slot->lock, 0);
}

/* Of a lock that there is not: the shortest of some rows of tries. A processor may read its counter
 * before what stands in front of that, so a single try may seem to take nothing. */
void trace_look_at_own_cost(void)
{
    const uint64_t key = key_of(&trace_self, TRACE_MUTEX);
    struct trace_slot *const slot = slot_of(key);
    uint64_t best = UINT64_MAX, begun, done = 0;
    uint32_t writes;
    if (trace_control->own_ticks != 0 || pawl_load_relaxed64(&slot->lock) != 0)
        return;
    for (uint32_t i = 0; i < OWN_ROWS; i++) {
        begun = trace_ticks();
        for (uint32_t j = 0; j < TRIES; j++) {
            (void)show(key, 0, &writes);
            done = trace_ticks();
        }
        best = done - begun < best ? done - begun : best;
    }
    pawl_store_relaxed64(&slot->holder, 0);
    pawl_store_relaxed64(&slot->lock, 0);
    trace_control->own_ticks = (uint32_t)(best / TRIES);
}
