/* SPDX-License-Identifier: MIT */
/* Ports by name. Look-ups take no lock; a new port takes the place of the old one. */
#include <pawl/rcu_call.h>
#include <pawl/table.h>

#include "example.h"

#include <string.h>

/* [quote begin] */
struct service {
    pawl_table_node node;
    pawl_rcu_head rcu;
    int port;
    char name[16];
};

static bool same(const pawl_table_node *n, const void *name)
{
    return strcmp(PAWL_TABLE_OBJECT(const struct service, node, n)->name, name) == 0;
}

static void release(pawl_rcu_head *rcu)
{
    free((char *)rcu - offsetof(struct service, rcu));
}

/* The port, or -1. */
static int look_up(const pawl_table *services, const char *name)
{
    int port = -1;
    pawl_rcu_read_lock();
    const pawl_table_node *n = pawl_table_get(services, pawl_table_bytes(name, strlen(name)));
    if (n != NULL)
        port = PAWL_TABLE_OBJECT(const struct service, node, n)->port;
    pawl_rcu_read_unlock();
    return port;
}

/* Threads may set one name at once: the last one stays. */
static void set(pawl_table *services, struct service *fresh)
{
    const pawl_table_key key = pawl_table_bytes(fresh->name, strlen(fresh->name));
    pawl_table_node *n;
    pawl_rcu_read_lock();
    while ((n = pawl_table_insert_unique(services, &fresh->node, key)) != NULL &&
           !pawl_table_replace(services, n, &fresh->node))
        ; /* another thread has replaced it */
    pawl_rcu_read_unlock();
    if (n != NULL) {
        struct service *const old = PAWL_TABLE_OBJECT(struct service, node, n);
        CHECK(pawl_rcu_call(&old->rcu, release, sizeof *old) == 0);
    }
}
/* [quote end] */

static struct service *make(const char *name, int port)
{
    struct service *const s = calloc(1, sizeof *s);
    CHECK(s != NULL);
    (void)snprintf(s->name, sizeof s->name, "%s", name);
    s->port = port;
    return s;
}

int main(void)
{
    const pawl_table_options options = {.same = same};
    pawl_table services;
    pawl_table_init(&services, &options);
    set(&services, make("ssh", 22));
    set(&services, make("http", 80));
    set(&services, make("http", 8080));
    CHECK(look_up(&services, "http") == 8080);
    CHECK(look_up(&services, "ssh") == 22);
    CHECK(look_up(&services, "smtp") == -1);
    pawl_rcu_read_lock();
    for (pawl_table_node *n = pawl_table_from(&services, 0); n != NULL;
         n = pawl_table_step(&services, n)) {
        struct service *const s = PAWL_TABLE_OBJECT(struct service, node, n);
        CHECK(pawl_table_remove(&services, n));
        CHECK(pawl_rcu_call(&s->rcu, release, sizeof *s) == 0);
    }
    pawl_rcu_read_unlock();
    CHECK(pawl_rcu_barrier() == 0);
    pawl_table_destroy(&services);
    return 0;
}
