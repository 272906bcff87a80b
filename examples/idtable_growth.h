/* SPDX-License-Identifier: MIT */
/*
 * The common parts of both forms of a growing table of objects (idtable_growth_indirection.c and
 * idtable_growth_ordered.c): objects with a lock and a deleted flag, their insertion and removal,
 * and the threads that show it.
 */
#ifndef PAWL_EXAMPLES_IDTABLE_GROWTH_H
#define PAWL_EXAMPLES_IDTABLE_GROWTH_H

#include <pawl/rcu_call.h>
#include <pawl/spin.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "example.h"

struct object {
    pawl_spin32 lock;
    bool deleted;
    size_t number;
    unsigned long uses;
    pawl_rcu_head rcu;
};

/* The parts in which the two forms differ. */
struct table;

/* The object at that place, locked; NULL: there is none. */
struct object *table_lock(struct table *t, size_t place);
pawl_spin32 *table_writers(struct table *t);
/* Under the writers' lock: the places, and their number. */
struct object **table_places(struct table *t, size_t *size);
/* Doubles the table. Returns the head for table_free, to be called after a grace period. */
pawl_rcu_head *table_grow(struct table *t);
void table_free(pawl_rcu_head *old);

/* In a read section, which keeps the object from being freed while we wait for its lock. */
static inline struct object *lock_unless_deleted(struct object *o)
{
    if (!o)
        return NULL;
    pawl_take_write(&o->lock);
    if (!o->deleted)
        return o;
    pawl_drop_write(&o->lock);
    return NULL;
}

/* ---- Insertion and removal ------------------------------------------------------------------- */

static inline void add_object(struct table *t, size_t place)
{
    struct object *o = (struct object *)calloc(1, sizeof *o);
    pawl_rcu_head *old = NULL;
    size_t size;

    CHECK(o);
    o->number = place;
    pawl_take_write(table_writers(t));
    (void)table_places(t, &size);
    if (place >= size)
        old = table_grow(t);
    struct object **places = table_places(t, &size);
    CHECK(place < size);
    pawl_rcu_assign_pointer(places[place], o);
    pawl_drop_write(table_writers(t));
    if (old) /* not under the lock: the call might have to wait until others have been freed */
        CHECK(pawl_rcu_call(old, table_free, size / 2 * sizeof(struct object *)) == 0);
}

/* Mark obsolete objects: a thread that has found it already, and waits for its lock, sees the
 * flag. */
static inline bool remove_object(struct table *t, size_t place)
{
    struct object *o = table_lock(t, place);
    size_t size;

    if (!o)
        return false;
    o->deleted = true;
    pawl_take_write(table_writers(t));
    struct object **places = table_places(t, &size);
    pawl_rcu_assign_pointer(places[place], NULL);
    pawl_drop_write(table_writers(t));
    pawl_drop_write(&o->lock);
    CHECK(pawl_rcu_defer_free(o, rcu) == 0);
    return true;
}

/* ---- The threads ----------------------------------------------------------------------------- */

enum { OBJECTS = 40000 / EXAMPLE_LESS, PERMANENT = 7, LOOKERS = 2 };

static struct table *the_table;
static unsigned long looked[LOOKERS];
static atomic_bool changed; /* all of it: each looker visits each place once more, and ends */

/* Adds all, and removes again all but every seventh. */
static void *change_it(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < OBJECTS; i++) {
        add_object(the_table, i);
        if (i % PERMANENT != 0)
            CHECK(remove_object(the_table, i));
    }
    atomic_store(&changed, true);
    return NULL;
}

static bool look_at_place(size_t place, size_t me)
{
    struct object *o = table_lock(the_table, place);

    if (!o)
        return false;
    CHECK(o->number == place && !o->deleted);
    o->uses++;
    looked[me]++;
    pawl_drop_write(&o->lock);
    return true;
}

static void *look_at_it(void *arg)
{
    const size_t me = (size_t)(intptr_t)arg - 1;
    uint32_t random = (uint32_t)me + 1;

    while (!atomic_load(&changed))
        (void)look_at_place(example_random(&random) % (OBJECTS + OBJECTS / 2), me);
    for (size_t i = 0; i < 2 * OBJECTS; i++)
        CHECK(look_at_place(i, me) == (i < OBJECTS && i % PERMANENT == 0));
    return NULL;
}

static inline void run_table(struct table *t, const char *form)
{
    static void *(*const work[1 + LOOKERS])(void *) = {change_it, look_at_it, look_at_it};
    unsigned long here = 0;
    size_t i, size, left = 0;

    the_table = t;
    run_threads(1 + LOOKERS, work);
    CHECK(pawl_rcu_barrier() == 0);
    struct object **places = table_places(t, &size);
    for (i = 0; i < size; i++)
        if (places[i]) {
            CHECK(places[i]->number == i && i % PERMANENT == 0);
            here += places[i]->uses;
            left++;
            free(places[i]);
        }
    CHECK(left == (OBJECTS + PERMANENT - 1) / PERMANENT);
    CHECK(here <= looked[0] + looked[1]); /* the other lookups found objects since removed */
    printf("%s: %zu objects of %d left, %lu lookups found one\n", form, left, OBJECTS,
           looked[0] + looked[1]);
}

#endif
