/* SPDX-License-Identifier: MIT */
/*
 * Ordered update with ordered read: the array that grows once more, but array and size stand beside
 * each other. The writer stores the array first and then the size; readers load the size first and
 * then the array. So the array is at least as new as the size, and large enough for it. Both sides
 * need their order at every access. The level of indirection of examples/rcu_indirection.c saves
 * that, and so it is usually the better form.
 */
#include <pawl/rcu.h>
#include <pawl/spin.h>

#include <stdatomic.h>
#include <string.h>

#include "example.h"

struct item {
    size_t number, square;
};

static struct item **new_items(size_t size)
{
    struct item **items = (struct item **)calloc(size, sizeof *items);

    CHECK(items);
    return items;
}

/* [quote begin] */
struct table {
    pawl_spin32 lock; /* between writers */
    size_t used;      /* under the lock */
    _Atomic size_t size;
    struct item **items;
};

/* In a read section, as long as the item is used; NULL: there is none yet. */
struct item *table_find(struct table *t, size_t i)
{
    struct item **items;

    /* Acquire: the array that we load next is at least as new as this size. */
    if (i >= atomic_load_explicit(&t->size, memory_order_acquire))
        return NULL;
    items = pawl_rcu_dereference(t->items);
    return pawl_rcu_dereference(items[i]);
}

/* Under the lock. Returns the array to be freed after a grace period. */
static struct item **grow(struct table *t)
{
    const size_t size = atomic_load_explicit(&t->size, memory_order_relaxed);
    struct item **old = t->items, **larger = new_items(2 * size);

    memcpy(larger, old, size * sizeof old[0]);
    pawl_rcu_assign_pointer(t->items, larger);
    /* Release: a reader that sees this size sees that array. */
    atomic_store_explicit(&t->size, 2 * size, memory_order_release);
    return old;
}
/* [quote end] */

size_t table_add(struct table *t, struct item *item)
{
    struct item **old = NULL;

    pawl_take_write(&t->lock);
    if (t->used == atomic_load_explicit(&t->size, memory_order_relaxed))
        old = grow(t);
    size_t i = t->used++;
    item->number = i;
    item->square = i * i;
    pawl_rcu_assign_pointer(t->items[i], item);
    pawl_drop_write(&t->lock);
    if (old) {
        pawl_rcu_synchronize(); /* the array has no room for a head */
        free(old);
    }
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
        table.items = new_items(1);
        atomic_store(&table.size, 1);
        run_threads(WRITERS + READERS, work);
        CHECK(table.used == ITEMS && atomic_load(&table.size) >= ITEMS);
        for (size_t i = 0; i < ITEMS; i++)
            free(table.items[i]);
        free(table.items);
    }
    printf("%d tables grew to %d items under their readers\n", rounds, ITEMS);
    return 0;
}
