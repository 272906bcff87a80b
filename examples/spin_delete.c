/* SPDX-License-Identifier: MIT */
/*
 * A list from which entries are deleted and freed while other threads read it. The search runs
 * under S, beside the readers; W is held for the one store that takes the entry out. Once W is
 * dropped, no thread can have a pointer to the entry, so it is freed outside the lock.
 */
#include <pawl/spin.h>

#include "example.h"

struct entry {
    struct entry *next;
    int key;
    int twice; /* always 2 * key, until it is freed */
};

struct list {
    pawl_spin32 lock;
    struct entry *first; /* keys rise from here */
};

/* The link that points to the key's entry, or to the first one beyond it. */
static struct entry **find(struct list *l, int key)
{
    struct entry **link = &l->first;
    while (*link && (*link)->key < key)
        link = &(*link)->next;
    return link;
}

bool list_delete(struct list *l, int key)
{
    struct entry **link, *gone;

    pawl_take_seek(&l->lock);
    link = find(l, key);
    gone = *link;
    if (!gone || gone->key != key) {
        pawl_drop_seek(&l->lock);
        return false;
    }
    pawl_seek_to_write(&l->lock); /* no thread moved between: `link` is still right */
    *link = gone->next;
    pawl_drop_write(&l->lock);
    gone->twice = -1; /* a reader that still sees it would notice */
    free(gone);
    return true;
}

bool list_insert(struct list *l, int key)
{
    struct entry **link, *fresh = (struct entry *)malloc(sizeof *fresh);

    CHECK(fresh);
    pawl_take_seek(&l->lock);
    link = find(l, key);
    if (*link && (*link)->key == key) {
        pawl_drop_seek(&l->lock);
        free(fresh);
        return false;
    }
    fresh->key = key;
    fresh->twice = 2 * key;
    fresh->next = *link;
    pawl_seek_to_write(&l->lock);
    *link = fresh;
    pawl_drop_write(&l->lock);
    return true;
}

/* Walks the whole list; returns the number of entries. */
int list_check(struct list *l)
{
    int n = 0, last = -1;

    pawl_take_read(&l->lock);
    for (const struct entry *e = l->first; e; e = e->next) {
        CHECK(e->key > last && e->twice == 2 * e->key);
        last = e->key;
        n++;
    }
    pawl_drop_read(&l->lock);
    return n;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { KEYS = 64, TURNS = 1000000 / EXAMPLE_LESS, WRITERS = 2 };

static struct list list;
static int balance[WRITERS]; /* insertions less deletions */

static void *change(void *arg)
{
    const int me = (int)(intptr_t)arg;
    uint32_t random = (uint32_t)me * 2654435761u + 1;

    for (int i = 0; i < TURNS; i++) {
        const uint32_t r = example_random(&random);
        const int key = (int)((r >> 8) % KEYS);
        if (r & 1)
            balance[me] += list_insert(&list, key);
        else
            balance[me] -= list_delete(&list, key);
    }
    return NULL;
}

static void *watch(void *arg)
{
    (void)arg;
    for (int i = 0; i < TURNS; i++)
        CHECK(list_check(&list) <= KEYS);
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {change, change, watch, watch};
    int key, left = 0;

    run_threads(4, work);
    CHECK(list_check(&list) == balance[0] + balance[1]);
    for (key = 0; key < KEYS; key++)
        left += list_delete(&list, key);
    CHECK(left == balance[0] + balance[1]);
    CHECK(list.first == NULL && pawl_spin32_is_free(&list.lock));
    printf("%d entries were left, none is now\n", left);
    return 0;
}
