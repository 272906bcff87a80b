/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical locking: the lock of a table finds an entry, the entry's own lock is for the long
 * work on it. A thread holds the upper lock until it holds the lower one, and then drops the upper
 * one at once. So while one thread works on an entry, the others find theirs. A deleter takes the
 * upper lock for writing, so no thread is on its way to the entry. Then it waits for the lower
 * lock, so no thread works on the entry.
 *
 * Always downwards: no thread asks for the table's lock while it holds an entry's.
 */
#include <pawl/spin.h>

#include "example.h"

struct entry {
    struct entry *next;
    int key;
    pawl_spin32 lock; /* everything below */
    unsigned long used, used_too;
};

struct table {
    pawl_spin32 lock; /* the links */
    struct entry *first;
};

static struct entry **find(struct table *t, int key)
{
    struct entry **link = &t->first;

    while (*link && (*link)->key != key)
        link = &(*link)->next;
    return link;
}

/* The entry with its lock held for writing, or NULL. */
struct entry *table_take(struct table *t, int key)
{
    /* [quote begin] */

    pawl_take_read(&t->lock);
    struct entry *e = *find(t, key);
    if (e)
        pawl_take_write(&e->lock); /* before the table is dropped, or a deleter comes between */
    pawl_drop_read(&t->lock);
    return e;
    /* [quote end] */
}

void table_add(struct table *t, int key)
{
    struct entry *e = (struct entry *)calloc(1, sizeof *e); /* zero bytes are an unlocked lock */

    CHECK(e);
    e->key = key;
    pawl_take_write(&t->lock);
    e->next = t->first;
    t->first = e;
    pawl_drop_write(&t->lock);
}

/* How often the entry was used, or -1 if there is none. */
long table_delete(struct table *t, int key)
{
    struct entry **link, *gone;
    long used = -1;

    pawl_take_write(&t->lock);
    link = find(t, key);
    gone = *link;
    if (gone) {
        pawl_take_write(&gone->lock); /* waits for its last user */
        *link = gone->next;
    }
    pawl_drop_write(&t->lock);
    if (!gone)
        return used;
    CHECK(gone->used == gone->used_too);
    used = (long)gone->used;
    gone->used = ~0ul; /* a user that still has it would notice */
    pawl_drop_write(&gone->lock);
    free(gone);
    return used;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { KEYS = 16, TURNS = 500000 / EXAMPLE_LESS, USERS = 3 };

static struct table table;
static long uses[USERS], deleted_uses;

static void *use(void *arg)
{
    const int me = (int)(intptr_t)arg;
    uint32_t random = (uint32_t)me + 1;

    for (int i = 0; i < TURNS; i++) {
        struct entry *e = table_take(&table, (int)(example_random(&random) % KEYS));
        if (!e)
            continue;
        CHECK(e->used == e->used_too);
        e->used++;
        pawl_cpu_relax(); /* long work, during which the table is free */
        e->used_too++;
        uses[me]++;
        pawl_drop_write(&e->lock);
    }
    return NULL;
}

static void *replace(void *arg)
{
    uint32_t random = 12345;

    (void)arg;
    for (int i = 0; i < TURNS / 4; i++) {
        const int key = (int)(example_random(&random) % KEYS);
        const long used = table_delete(&table, key);
        if (used >= 0)
            deleted_uses += used;
        table_add(&table, key);
    }
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {use, use, use, replace};
    long sum = 0;

    for (int key = 0; key < KEYS; key++)
        table_add(&table, key);
    run_threads(4, work);
    for (int key = 0; key < KEYS; key++) {
        const long used = table_delete(&table, key);
        CHECK(used >= 0);
        sum += used;
    }
    CHECK(table.first == NULL && pawl_spin32_is_free(&table.lock));
    CHECK(sum + deleted_uses == uses[0] + uses[1] + uses[2]);
    printf("%ld uses, each of an entry that was there\n", sum + deleted_uses);
    return 0;
}
