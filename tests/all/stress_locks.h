/* SPDX-License-Identifier: MIT */
/*
 * The sleeping locks of stress.c. A thread takes any of `places` from the first to the last, so
 * nested reads cannot wait in a circle; at the last one it goes from state to state by the table.
 * Handlers share `quiet` with the threads: there nobody ever waits.
 */
#pragma once

#include "promises/verbs.h"

enum { PLACES = 28, QUIET = 4 };

struct place {
    union any_lock lock;
    const struct verbs *verbs;
    uint64_t a, b;    /* equal, but while a writer is at them */
    uint64_t sum;     /* of atomic users; nobody else is beside them */
    uint32_t handed;  /* counted reads for anybody to drop */
    uint32_t left;    /* R that ended threads have left in the word */
    uint32_t writing; /* holders of W, for a look from outside */
    pawl_cond cond;
};

static struct {
    struct place places[PLACES], quiet[QUIET];
    struct verbs verbs[2]; /* of 32 and 64 bits */
} locks;

static void locks_begin(void)
{
    memset(&locks, 0, sizeof locks);
    verbs_of_this_copy(32, &locks.verbs[0]);
    verbs_of_this_copy(64, &locks.verbs[1]);
    for (unsigned i = 0; i < PLACES; i++)
        locks.places[i].verbs = &locks.verbs[i % 2];
    for (unsigned i = 0; i < QUIET; i++)
        locks.quiet[i].verbs = &locks.verbs[i % 2];
}

/* A holder in that state may rely on this. */
static void place_is_whole(struct place *p, enum pawl_state state)
{
    const bool is_shut = state == PAWL_STATE_R || state == PAWL_STATE_S || state == PAWL_STATE_W;
    const uint64_t a = is_shut ? p->a : 0;
    switch (state) {
    case PAWL_STATE_R:
    case PAWL_STATE_S: must(p->b == a && pawl_load_relaxed32(&p->writing) == 0); break;
    case PAWL_STATE_W:
        must(p->b == a && pawl_fetch_add_relaxed32(&p->writing, 1) == 0);
        p->a = a + 1;
        if ((a & 15) == 0)
            sched_yield();
        p->b = a + 1;
        must(pawl_fetch_sub_relaxed32(&p->writing, 1) == 1);
        break;
    case PAWL_STATE_A:
        must(pawl_load_relaxed32(&p->writing) == 0);
        (void)pawl_fetch_add_relaxed64(&p->sum, 1);
        break;
    default: break;
    }
}

/* An operation that starts in `state`, of those that never wait if so wanted. */
static unsigned some_verb(uint64_t *random, enum pawl_state state, bool never_waits)
{
    for (;;) {
        const unsigned verb = test_random_below(random, OP_COUNT);
        const enum table_kind kind = table_ops[verb].kind;
        if (table_ops[verb].from != state)
            continue;
        if (never_waits && (kind == KIND_take || kind == KIND_claim || kind == KIND_tells ||
                            verb == OP_seek_to_write))
            continue;
        return verb;
    }
}

/* One operation; the state after it. Deadlines of all sizes, in the past too. */
static enum pawl_state place_step(struct place *p, enum pawl_state state, uint64_t *random,
                                  bool never_waits)
{
    const unsigned verb = some_verb(random, state, never_waits);
    bool ok;
    if (!never_waits && p->verbs->until[verb] != NULL && test_random_below(random, 2) == 0) {
        const uint64_t deadline = pawl_now() + (UINT64_C(1) << test_random_below(random, 21));
        ok = p->verbs->until[verb](&p->lock, test_random_below(random, 8) ? deadline : 1);
        if (!ok && verb == OP_atomic_to_read)
            return PAWL_STATE_U;
    } else {
        ok = p->verbs->run[verb](&p->lock);
    }
    if (ok)
        state = table_ops[verb].to;
    place_is_whole(p, state);
    return state;
}

/* A holder waits for an event that comes seldom, in R or W. */
static void place_waits(struct place *p, enum pawl_state state, uint64_t *random)
{
    const uint64_t deadline = pawl_now() + (UINT64_C(1) << test_random_below(random, 19));
    const bool wide = p->verbs->kind.bits == 64;
    if (state == PAWL_STATE_R)
        (void)(wide ? pawl_lock64_cond_wait_read_until(&p->cond, &p->lock.l64, deadline)
                    : pawl_lock32_cond_wait_read_until(&p->cond, &p->lock.l32, deadline));
    else
        (void)(wide ? pawl_lock64_cond_wait_write_until(&p->cond, &p->lock.l64, deadline)
                    : pawl_lock32_cond_wait_write_until(&p->cond, &p->lock.l32, deadline));
    place_is_whole(p, state);
}

/* From U through any states back to U. */
static void place_walk(struct place *p, uint64_t *random, bool never_waits)
{
    enum pawl_state state = place_step(p, PAWL_STATE_U, random, never_waits);
    while (state != PAWL_STATE_U) {
        const unsigned what = test_random_below(random, 16);
        if (never_waits || what >= 3)
            state = place_step(p, state, random, never_waits);
        else if (what == 0 && (state == PAWL_STATE_R || state == PAWL_STATE_W))
            place_waits(p, state, random);
        else if (what == 1)
            (void)p->verbs->run[OP_hand_off](&p->lock);
        else
            (void)pawl_cond_broadcast(&p->cond);
    }
}

/* A counted read that whoever comes by may drop. */
static void place_hands_over(struct place *p, uint64_t *random)
{
    const bool got = test_random_below(random, 2)
                         ? p->verbs->run[OP_try_read_counted](&p->lock)
                         : p->verbs->until[OP_take_read_counted](&p->lock, pawl_now() + 100000);
    if (got) {
        place_is_whole(p, PAWL_STATE_R);
        (void)__atomic_fetch_add(&p->handed, 1, __ATOMIC_RELEASE); /* it has read by now */
    }
}

/* Drops what was handed over or left, where there is something. */
static bool place_drops_one(struct place *p, uint32_t *count)
{
    uint32_t n = pawl_load_relaxed32(count);
    while (n != 0)
        if (__atomic_compare_exchange_n(count, &n, n - 1, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return p->verbs->run[OP_drop_read_counted](&p->lock);
    return false;
}

static void places_drop_all(void)
{
    for (unsigned i = 0; i < PLACES; i++)
        while (place_drops_one(&locks.places[i], &locks.places[i].handed) ||
               place_drops_one(&locks.places[i], &locks.places[i].left))
            continue;
}

/* Reads of up to 28 locks, a walk at the last one, and drops in another order. */
static void places_nest(uint64_t *random)
{
    struct place *held[PLACES];
    const unsigned share = 1 + test_random_below(random, 12);
    unsigned count = 0, i;
    for (i = 0; i < PLACES - 1; i++) {
        struct place *const p = &locks.places[i];
        if (test_random_below(random, share) != 0 ||
            !(test_random_below(random, 3) ? p->verbs->run[OP_take_read](&p->lock)
                                           : p->verbs->run[OP_try_read](&p->lock)))
            continue;
        place_is_whole(p, PAWL_STATE_R);
        held[count++] = p;
    }
    i = count == 0 ? test_random_below(random, PLACES) : PLACES - 1;
    place_walk(&locks.places[i], random, false);
    for (i = 0; i < count; i++)
        place_is_whole(held[i], PAWL_STATE_R);
    while (count > 0) {
        struct place **const one = &held[test_random_below(random, count)];
        (void)(*one)->verbs->run[OP_drop_read](&(*one)->lock);
        *one = held[--count];
    }
}

static uint64_t place_units(const struct place *p)
{
    const uint64_t w = p->verbs->kind.bits == 64 ? PAWL_SYMBOL_(pawl_lock64_look)(&p->lock.l64)
                                                 : PAWL_SYMBOL_(pawl_lock32_look)(&p->lock.l32);
    return w & ~(uint64_t)(PAWL_LOCK_BIASED | PAWL_LOCK_PARKED);
}

/* No thread is in, and no word and no entry remembers one. */
static void places_are_free(struct place *p, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        must(place_units(&p[i]) == 0 && p[i].a == p[i].b);
        must(p[i].verbs->run[OP_try_write](&p[i].lock));
        (void)p[i].verbs->run[OP_drop_write](&p[i].lock);
    }
}
