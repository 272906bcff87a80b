/* SPDX-License-Identifier: MIT */
/* The program of doc/start/rcu.md, for a reader who has the kernel's RCU or liburcu today. */
/* [quote begin] */
#include <pawl/lock.h>
#include <pawl/rcu_call.h>
#include <pawl/rcu_list.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { READERS = 3, UPDATES = 1000 };

struct route {
    int network, gateway, port; /* the port belongs to the gateway */
    pawl_list link;
    pawl_rcu_head rcu;
};

static pawl_list routes = PAWL_LIST_INIT(routes);
static pawl_lock64 updates = PAWL_LOCK64_INIT; /* between updaters, as before */

static void move(int network, int gateway)
{
    struct route *old, *fresh = (struct route *)malloc(sizeof *fresh);
    if (fresh == NULL)
        abort();
    fresh->network = network;
    fresh->gateway = gateway;
    fresh->port = gateway % 61;
    pawl_take_write(&updates);
    pawl_list_for_each(old, &routes, link)
        if (old->network == network)
            break;
    if (old == NULL) /* after a walk without a break; the kernel's macro leaves no NULL */
        pawl_list_add_rcu(&fresh->link, &routes);
    else
        pawl_list_replace_rcu(&old->link, &fresh->link);
    pawl_drop_write(&updates);
    if (old != NULL)
        pawl_rcu_defer_free(old, rcu); /* was: kfree_rcu(old, rcu), or call_rcu */
}

static void *reader(void *mixed)
{
    const struct route *r; /* no rcu_register_thread before the loop */
    for (int i = 0; i < UPDATES; i++) {
        pawl_rcu_read_lock();
        pawl_list_for_each_rcu(r, &routes, link)
            if (r->port != r->gateway % 61)
                *(int *)mixed = 1;
        pawl_rcu_read_unlock();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[READERS];
    int mixed[READERS] = {0}, i, bad = 0;
    move(10, 0);
    for (i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, reader, &mixed[i]);
    for (i = 1; i <= UPDATES; i++)
        move(10, i);
    for (i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        bad += mixed[i];
    }
    if (pawl_rcu_barrier() != 0) /* was: rcu_barrier(); here it has a result */
        return 1;
    printf("%d updates, %d readers saw a mixed route\n", UPDATES, bad);
    free(pawl_list_first(struct route, &routes, link));
    return bad;
}
/* [quote end] */
