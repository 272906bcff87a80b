/* SPDX-License-Identifier: MIT */
/*
 * Routes that are looked up all the time and updated now and then, by more threads than there are
 * cores. An update searches under S beside the readers. If it cannot have W in time, it withdraws
 * its claim, still holds S, and counts the update as deferred. So it keeps the readers out no
 * longer.
 */
#include <pawl/lock.h>

#include "example.h"

enum { ROUTES = 256 };

struct routes {
    pawl_lock64 lock; /* zero is unlocked */
    unsigned target[ROUTES];
    unsigned deferred; /* under S: updates that did not get W in time */
};

bool route_update(struct routes *r, unsigned route, unsigned target, uint64_t patience_ns)
{
    /* [quote begin] */
    const uint64_t deadline = pawl_now() + patience_ns;
    if (!pawl_take_seek_until(&r->lock, deadline))
        return false;                 /* another updater holds S */
    if (r->target[route] == target) { /* readers go on meanwhile */
        pawl_drop_seek(&r->lock);
        return true;
    }
    if (!pawl_seek_to_write_until(&r->lock, deadline)) { /* a reader takes too long: */
        r->deferred++;                                   /* we still hold S */
        pawl_drop_seek(&r->lock);
        return false;
    }
    r->target[route] = target;
    pawl_drop_write(&r->lock);
    return true;
    /* [quote end] */
}

unsigned route_lookup(struct routes *r, unsigned route)
{
    unsigned target;
    pawl_take_read(&r->lock);
    target = r->target[route];
    pawl_drop_read(&r->lock);
    return target;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { UPDATERS = 4, READERS = 12, ROUNDS = 20000 / EXAMPLE_LESS };

static struct routes routes;
static unsigned done[UPDATERS];

static void *update_all(void *arg)
{
    const unsigned me = (unsigned)(intptr_t)arg;
    for (unsigned i = 0; i < ROUNDS; i++)
        done[me] += route_update(&routes, i % ROUTES, (i << 8) + me, i % 3 ? 1000000 : 100);
    return NULL;
}

static void *look_up_all(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        const unsigned target = route_lookup(&routes, i % ROUTES);
        CHECK((target & 255) < UPDATERS);
    }
    return NULL;
}

int main(void)
{
    void *(*work[UPDATERS + READERS])(void *);
    unsigned all = 0;
    for (int i = 0; i < UPDATERS + READERS; i++)
        work[i] = i < UPDATERS ? update_all : look_up_all;
    run_threads(UPDATERS + READERS, work);
    for (int i = 0; i < UPDATERS; i++)
        all += done[i];
    CHECK(all + routes.deferred <= (unsigned)UPDATERS * ROUNDS);
    CHECK(all > 0);
    CHECK(pawl_lock64_is_free(&routes.lock));
    printf("%u updates in time, %u deferred, the others met another updater\n", all,
           routes.deferred);
    return 0;
}
