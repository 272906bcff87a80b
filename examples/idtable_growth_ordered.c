/* SPDX-License-Identifier: MIT */
/*
 * A table of objects that grows under its lookups: ordered update with ordered read. Size and
 * places are apart. The writer stores the places first and then the size; a reader loads the size
 * first and then the places. So a reader may have new places with an old size, which only hides the
 * latest objects. It never has old places with a new size, which would lead it past their end.
 *
 * It saves the readers no load, and both sides must keep their order. So the level of indirection
 * is usually better (idtable_growth_indirection.c).
 */
#include <stdatomic.h>

#include "idtable_growth.h"

enum { FIRST = 4 };

/* [quote begin] */
struct table {
    pawl_spin32 lock;
    struct object **places;
    atomic_size_t size;
};

struct object *table_lock(struct table *t, size_t place)
{
    struct object *o = NULL;
    struct object **places;

    pawl_rcu_read_lock();
    /* Acquire: the places that we load next are at least as new as the size. */
    if (place < atomic_load_explicit(&t->size, memory_order_acquire)) {
        places = pawl_rcu_dereference(t->places);
        o = lock_unless_deleted(pawl_rcu_dereference(places[place]));
    }
    pawl_rcu_read_unlock();
    return o;
}

/* The old places have no room for a head of their own: one goes with them. */
struct old_places {
    pawl_rcu_head rcu;
    struct object **places;
};

pawl_rcu_head *table_grow(struct table *t)
{
    const size_t size = atomic_load_explicit(&t->size, memory_order_relaxed);
    struct object **fresh = (struct object **)calloc(2 * size, sizeof *fresh);
    struct old_places *old = (struct old_places *)malloc(sizeof *old);

    CHECK(fresh && old);
    old->places = t->places;
    memcpy(fresh, old->places, size * sizeof *fresh);
    pawl_rcu_assign_pointer(t->places, fresh);
    /* Release: a reader that sees the new size sees the new places. */
    atomic_store_explicit(&t->size, 2 * size, memory_order_release);
    return &old->rcu;
}

void table_free(pawl_rcu_head *head)
{
    struct old_places *old = (struct old_places *)(void *)head; /* its first member */
    free(old->places);
    free(old);
}
/* [quote end] */

struct object **table_places(struct table *t, size_t *size)
{
    *size = atomic_load_explicit(&t->size, memory_order_relaxed);
    return t->places;
}

pawl_spin32 *table_writers(struct table *t)
{
    return &t->lock;
}

int main(void)
{
    static struct table table;

    table.places = (struct object **)calloc(FIRST, sizeof *table.places);
    CHECK(table.places);
    atomic_init(&table.size, FIRST);
    run_table(&table, "places, then size");
    free(table.places);
    return 0;
}
