/* SPDX-License-Identifier: MIT */
/*
 * A table that every thread searches all the time and that rarely changes: a big-reader lock, whose
 * readers do not disturb each other. A thread that may have to add a route searches in the seek
 * state, beside the readers, and keeps them out only for the change itself.
 */
#include <pawl/brlock.h>

#include "example.h"

enum { THREADS = 4, ROUTES = 200, LOOKUPS = 40000 / EXAMPLE_LESS };

struct route {
    uint32_t network, gateway;
};

struct routes {
    pawl_brlock lock;
    struct route table[ROUTES]; /* sorted by network */
    int count;
};

/* The index at which the network stands, or would stand. */
static int place_of(const struct routes *r, uint32_t network)
{
    int low = 0, high = r->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (r->table[middle].network < network)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* [quote begin] */
uint32_t routes_find(struct routes *r, uint32_t network)
{
    uint32_t gateway = 0;
    pawl_brlock_take_read(&r->lock); /* writes only a line of our own thread */
    int i = place_of(r, network);
    if (i < r->count && r->table[i].network == network)
        gateway = r->table[i].gateway;
    pawl_brlock_drop_read(&r->lock);
    return gateway;
}

bool routes_add(struct routes *r, struct route fresh)
{
    pawl_brlock_take_seek(&r->lock); /* readers go on, other updaters wait */
    int i = place_of(r, fresh.network);
    if (i < r->count && r->table[i].network == fresh.network) {
        pawl_brlock_drop_seek(&r->lock);
        return false;
    }
    pawl_brlock_seek_to_write(&r->lock); /* waits for the readers that are in */
    for (int k = r->count++; k > i; k--)
        r->table[k] = r->table[k - 1];
    r->table[i] = fresh;
    pawl_brlock_drop_write(&r->lock);
    return true;
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

static struct routes routes;
static int added[THREADS];

static uint32_t gateway_of(uint32_t network)
{
    return network * 7 + 1;
}

static void *route(void *arg)
{
    const int me = (int)(intptr_t)arg;
    uint32_t random = (uint32_t)me + 1;

    for (int i = 0; i < LOOKUPS; i++) {
        struct route one;
        one.network = example_random(&random) % ROUTES;
        one.gateway = gateway_of(one.network);
        uint32_t found = routes_find(&routes, one.network);
        CHECK(found == 0 || found == one.gateway);
        if (found == 0)
            added[me] += routes_add(&routes, one);
        CHECK(routes_find(&routes, one.network) == one.gateway);
    }
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {route, route, route, route};

    CHECK(pawl_brlock_init(&routes.lock, PAWL_BRLOCK_LINES) == 0);
    run_threads(THREADS, work);
    CHECK(added[0] + added[1] + added[2] + added[3] == routes.count);
    for (int i = 1; i < routes.count; i++)
        CHECK(routes.table[i - 1].network < routes.table[i].network);
    pawl_brlock_destroy(&routes.lock);
    printf("%d routes, each added once\n", routes.count);
    return 0;
}
