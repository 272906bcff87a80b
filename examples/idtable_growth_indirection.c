/* SPDX-License-Identifier: MIT */
/*
 * A table of objects that grows under its lookups: impose a level of indirection. Size and places
 * are in one block behind one pointer. So a thread that loads the pointer has a size and places
 * that belong together, in any block. idtable.h works this way.
 */
#include "idtable_growth.h"

enum { FIRST = 4 };

/* [quote begin] */
struct array {
    pawl_rcu_head rcu;
    size_t size;
    struct object *places[];
};

struct table {
    pawl_spin32 lock;
    struct array *array;
};

struct object *table_lock(struct table *t, size_t place)
{
    struct object *o = NULL;
    struct array *array;

    pawl_rcu_read_lock();
    array = pawl_rcu_dereference(t->array);
    if (place < array->size)
        o = lock_unless_deleted(pawl_rcu_dereference(array->places[place]));
    pawl_rcu_read_unlock();
    return o;
}

pawl_rcu_head *table_grow(struct table *t)
{
    struct array *old = t->array;
    const size_t bytes = old->size * sizeof old->places[0];
    struct array *fresh = (struct array *)calloc(1, sizeof *fresh + 2 * bytes);

    CHECK(fresh);
    fresh->size = 2 * old->size;
    memcpy(fresh->places, old->places, bytes);
    pawl_rcu_assign_pointer(t->array, fresh); /* both at once */
    return &old->rcu;
}

void table_free(pawl_rcu_head *old)
{
    free((struct array *)(void *)old); /* its first member */
}
/* [quote end] */

struct object **table_places(struct table *t, size_t *size)
{
    *size = t->array->size;
    return t->array->places;
}

pawl_spin32 *table_writers(struct table *t)
{
    return &t->lock;
}

int main(void)
{
    static struct table table;

    table.array = (struct array *)calloc(1, sizeof *table.array + FIRST * sizeof(struct object *));
    CHECK(table.array);
    table.array->size = FIRST;
    run_table(&table, "one pointer");
    free(table.array);
    return 0;
}
