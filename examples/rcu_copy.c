/* SPDX-License-Identifier: MIT */
/*
 * Substitute a copy for the original. Several fields have to change together, and readers exclude
 * no thread. So no writer changes data that a reader can see. The writer copies the element,
 * changes the copy, and puts it in the place of the original by one store. A reader has the old
 * element or the new one, whole; the old one is freed when the last reader has left it.
 *
 * A reader may hold the old one for as long as its section lasts. A reader that looks twice may see
 * the new one first, and then never sees the old one again.
 */
#include <pawl/rcu_call.h>
#include <pawl/rcu_list.h>
#include <pawl/spin.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct route {
    uint32_t network, gateway;
    unsigned port;    /* of that gateway: belongs to it */
    unsigned version; /* counts changes, so that a check can see that time runs forwards */
};

struct element {
    struct route route; /* never changes while readers can see it */
    pawl_list link;     /* may change */
    pawl_rcu_head rcu;
};

struct routes {
    pawl_spin32 lock; /* between writers */
    pawl_list list;
};

static unsigned port_of(uint32_t gateway)
{
    return gateway % 61;
}

static struct element *new_element(void)
{
    struct element *e = (struct element *)malloc(sizeof *e);

    CHECK(e);
    return e;
}

/* [quote begin] */
bool route_find(struct routes *t, uint32_t network, struct route *found)
{
    const struct element *e;

    pawl_rcu_read_lock();
    pawl_list_for_each_rcu(e, &t->list, link)
        if (e->route.network == network) {
            *found = e->route; /* all of one version */
            break;
        }
    pawl_rcu_read_unlock();
    return e != NULL;
}

bool route_move(struct routes *t, uint32_t network, uint32_t gateway)
{
    struct element *old, *copy = new_element();

    pawl_take_write(&t->lock); /* between writers */
    pawl_list_for_each(old, &t->list, link)
        if (old->route.network == network)
            break;
    if (old) {
        copy->route = old->route;
        copy->route.gateway = gateway;
        copy->route.port = port_of(gateway);
        copy->route.version++;
        pawl_list_replace_rcu(&old->link, &copy->link); /* all of it changes by this one store */
    }
    pawl_drop_write(&t->lock);
    if (!old) {
        free(copy);
        return false;
    }
    pawl_rcu_defer_free(old, rcu);
    return true;
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum { NETWORKS = 8, ROUNDS = 100000 / EXAMPLE_LESS, WRITERS = 2 };

static struct routes routes = {PAWL_SPIN32_INIT, PAWL_LIST_INIT(routes.list)};
static atomic_int writing = WRITERS;
static atomic_long looks;
static int times;

static void *move(void *arg)
{
    uint32_t random = 1 + (uint32_t)(intptr_t)arg;

    for (int i = 0; i < ROUNDS * times; i++) {
        CHECK(route_move(&routes, example_random(&random) % NETWORKS, example_random(&random)));
        while (atomic_load(&looks) < i)
            sched_yield(); /* so that there are lookups in between */
    }
    CHECK(!route_move(&routes, NETWORKS, 0));
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

static void *look(void *arg)
{
    uint32_t random = 100 + (uint32_t)(intptr_t)arg;
    unsigned seen[NETWORKS] = {0};

    while (atomic_load(&writing) > 0) {
        const uint32_t network = example_random(&random) % NETWORKS;
        struct route r;
        CHECK(route_find(&routes, network, &r)); /* replaced, not deleted and added */
        CHECK(r.port == port_of(r.gateway));
        CHECK(r.version >= seen[network]);
        seen[network] = r.version;
        atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {move, move, look, look};
    struct element *e;
    unsigned long changes = 0;
    uint32_t i;

    times = example_times(argc, argv);
    for (i = 0; i < NETWORKS; i++) {
        const struct route first = {i, 0, port_of(0), 0};
        e = new_element();
        e->route = first;
        pawl_list_add_tail_rcu(&e->link, &routes.list);
    }
    run_threads(4, work);
    for (i = 0; (e = pawl_list_first(struct element, &routes.list, link)) != NULL; i++) {
        CHECK(e->route.network == i); /* a copy stands where its original stood */
        changes += e->route.version;
        pawl_list_del_rcu(&e->link);
        free(e);
    }
    CHECK(i == NETWORKS && changes == (unsigned long)WRITERS * ROUNDS * (unsigned long)times);
    pawl_rcu_barrier();
    printf("%lu changes, each of several fields, and nobody saw half of one\n", changes);
    return 0;
}
