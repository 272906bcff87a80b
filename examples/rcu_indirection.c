/* SPDX-License-Identifier: MIT */
/*
 * Impose a level of indirection. An array that grows is two things, the array and its size. A
 * reader that gets the old array and the new size reads past the end. Both go into one structure
 * behind one pointer: a reader loads that pointer, and the two parts that it finds belong together.
 * The writer fills a larger structure and switches the pointer. The only fences are those of the
 * pointer.
 *
 * examples/rcu_ordered_growth.c has the same table without the indirection, and its cost.
 */
#include <pawl/rcu_call.h>
#include <pawl/spin.h>

#include <stdatomic.h>
#include <string.h>

#include "example.h"

struct item {
    size_t number, square;
};

struct array;
static struct array *new_array(size_t size);

/* [quote begin] */
struct array {
    pawl_rcu_head rcu;
    size_t size;
    struct item *items[];
};

struct table {
    pawl_spin32 lock;    /* between writers */
    size_t used;         /* under the lock */
    struct array *array; /* the indirection */
};

/* In a read section, as long as the item is used; NULL: there is none yet. */
struct item *table_find(struct table *t, size_t i)
{
    struct array *a = pawl_rcu_dereference(t->array);

    return i < a->size ? pawl_rcu_dereference(a->items[i]) : NULL;
}

/* Under the lock. Readers find all earlier items, in the old array or the new one. Returns the
 * array to be freed after a grace period. */
static struct array *grow(struct table *t)
{
    struct array *old = t->array, *larger = new_array(2 * old->size);

    memcpy(larger->items, old->items, old->size * sizeof old->items[0]);
    pawl_rcu_assign_pointer(t->array, larger);
    return old;
}
/* [quote end] */

static struct array *new_array(size_t size)
{
    struct array *a = (struct array *)calloc(1, sizeof *a + size * sizeof a->items[0]);

    CHECK(a);
    a->size = size;
    return a;
}

size_t table_add(struct table *t, struct item *item)
{
    struct array *old = NULL;

    pawl_take_write(&t->lock);
    if (t->used == t->array->size)
        old = grow(t);
    size_t i = t->used++;
    item->number = i;
    item->square = i * i;
    pawl_rcu_assign_pointer(t->array->items[i], item);
    pawl_drop_write(&t->lock);
    if (old)
        pawl_rcu_defer_free(old, rcu);
    return i;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { ITEMS = 3000, ROUNDS = 60 / (EXAMPLE_LESS > 10 ? 10 : 1), WRITERS = 2, READERS = 2 };

static struct table table;

static void *add(void *arg)
{
    (void)arg;
    for (int i = 0; i < ITEMS / WRITERS; i++) {
        struct item *item = (struct item *)malloc(sizeof *item);
        CHECK(item);
        CHECK(table_add(&table, item) < ITEMS);
    }
    return NULL;
}

static bool has(size_t i)
{
    pawl_rcu_read_lock();
    const struct item *item = table_find(&table, i);
    if (item)
        CHECK(item->number == i && item->square == i * i);
    pawl_rcu_read_unlock();
    return item != NULL;
}

/* An item that was there once is always there, through all growing. */
static void *look(void *arg)
{
    uint32_t random = 100 + (uint32_t)(intptr_t)arg;
    size_t known = 0;

    while (known < ITEMS) {
        if (known > 0)
            CHECK(has(example_random(&random) % known));
        CHECK(!has(ITEMS + example_random(&random) % 10000));
        while (known < ITEMS && has(known))
            known++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {add, add, look, look};
    const int rounds = ROUNDS * example_times(argc, argv);

    for (int round = 0; round < rounds; round++) {
        table.used = 0;
        table.array = new_array(1);
        run_threads(WRITERS + READERS, work);
        CHECK(table.used == ITEMS && table.array->size >= ITEMS);
        for (size_t i = 0; i < ITEMS; i++)
            free(table.array->items[i]);
        free(table.array);
    }
    pawl_rcu_barrier();
    printf("%d tables grew to %d items under their readers\n", rounds, ITEMS);
    return 0;
}
