/* SPDX-License-Identifier: MIT */
/*
 * The puzzle: move an element from one list to another. Each list has a lock of its own, and a
 * thread holds one lock at a time. The element is not copied, because others have references to it.
 * No observer may find it in both lists. An observer that misses it in the old list must find it in
 * the new one.
 *
 * A list does not link the element but a place for it, and the element names the one place that
 * counts. So it can have a place in both lists at once and still be in only one of them:
 *
 *   1  under the new list's lock: link a fresh place. It does not count yet.
 *   2  under the old list's lock: unlink the old place, and let the element name the fresh one.
 *
 * The store in step 2 is the move; at every instant exactly one place counts.
 *
 * The observer's rule: an element is in a list if a place there has it and it names that place.
 * - Looks in the old list first, misses: then it looks in the new one and finds. Its miss came
 *   after step 2, since both hold the old list's lock; so it sees the store, and the fresh place
 *   has been there since step 1.
 * - Looks in the new list first, finds: then it misses in the old one. It saw the store that the
 *   mover made under the old list's lock, so it gets that lock after step 2.
 * - Looks in the old list, finds, and still looks in the new one: it may find again, because the
 *   element may have moved between the two looks. This is so with every kind of move.
 * - Looks in the new list first, misses: it must look in the old one. If it misses there too, it
 *   must look in the new one once more.
 * - Holds both locks at once: finds it in exactly one. This is also the rule for observers that do
 *   not know which list is the old one.
 */
#define _POSIX_C_SOURCE 200809L
#include <pawl/spin.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct element {
    int key;
    _Atomic(struct place *) at; /* the place that counts; written under the lock of its list */
};

struct place {
    struct place *next;
    struct element *element;
};

struct list {
    pawl_spin32 lock;
    struct place *first;
};

static void link_place(struct list *l, struct place *p)
{
    p->next = l->first;
    l->first = p;
}

static void unlink_place(struct list *l, const struct place *p)
{
    struct place **link = &l->first;

    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
}

/* The place that makes the element with this key one of the list; the caller holds the lock. */
static struct place *find(const struct list *l, int key)
{
    for (struct place *p = l->first; p; p = p->next)
        if (p->element->key == key &&
            atomic_load_explicit(&p->element->at, memory_order_acquire) == p)
            return p;
    return NULL;
}

bool list_has(struct list *l, int key)
{
    pawl_take_read(&l->lock);
    bool found = find(l, key) != NULL;
    pawl_drop_read(&l->lock);
    return found;
}

static struct place *new_place(struct element *e)
{
    struct place *p = (struct place *)malloc(sizeof *p);

    CHECK(p);
    p->element = e;
    return p;
}

/* False if it was not in `from`, because another thread has moved it. */
bool list_move(struct element *e, struct list *from, struct list *to)
{
    /* [quote begin] */
    struct place *fresh = new_place(e), *gone;

    pawl_take_write(&to->lock);
    link_place(to, fresh); /* e names another place: no thread finds it here yet */
    pawl_drop_write(&to->lock);

    pawl_take_write(&from->lock);
    gone = find(from, e->key);
    if (gone) {
        unlink_place(from, gone);
        atomic_store_explicit(&e->at, fresh, memory_order_release); /* now it is there */
    }
    pawl_drop_write(&from->lock);
    /* [quote end] */

    if (!gone) {
        pawl_take_write(&to->lock);
        unlink_place(to, fresh);
        pawl_drop_write(&to->lock);
    }
    free(gone ? gone : fresh);
    return gone != NULL;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { ELEMENTS = 8, ROUNDS = 10000 / EXAMPLE_LESS, MOVERS = 2, THREADS = 5 };

static struct element elements[ELEMENTS];
static struct list lists[2]; /* in even rounds all go from 0 to 1, in odd ones back */
static pthread_barrier_t barrier;
static atomic_int moved; /* in this round */

static bool round_goes_on(void)
{
    sched_yield();
    return atomic_load(&moved) < ELEMENTS;
}

/* Two movers that want the same elements, in opposite orders. */
static void move_all(int mover, struct list *from, struct list *to)
{
    for (int i = 0; i < ELEMENTS; i++) {
        struct element *e = &elements[mover ? ELEMENTS - 1 - i : i];
        if (list_move(e, from, to))
            atomic_fetch_add(&moved, 1);
    }
}

static void watch_old_then_new(struct list *from, struct list *to, int key)
{
    if (!list_has(from, key))
        CHECK(list_has(to, key));
}

static void watch_new_then_old(struct list *from, struct list *to, int key)
{
    if (list_has(to, key))
        CHECK(!list_has(from, key));
}

static void watch_both(struct list *from, struct list *to, int key)
{
    pawl_take_two_read(&from->lock, &to->lock);
    CHECK((find(from, key) != NULL) + (find(to, key) != NULL) == 1);
    pawl_drop_two_read(&from->lock, &to->lock);
}

static void *run(void *arg)
{
    static void (*const watch[])(struct list *, struct list *,
                                 int) = {watch_old_then_new, watch_new_then_old, watch_both};
    const int me = (int)(intptr_t)arg;
    uint32_t random = (uint32_t)me + 1;

    for (int round = 0; round < ROUNDS; round++) {
        struct list *from = &lists[round % 2], *to = &lists[1 - round % 2];

        pthread_barrier_wait(&barrier);
        if (me < MOVERS)
            move_all(me, from, to);
        else
            do
                watch[me - MOVERS](from, to, (int)(example_random(&random) % ELEMENTS));
            while (round_goes_on());
        pthread_barrier_wait(&barrier);
        if (me == 0)
            CHECK(atomic_exchange(&moved, 0) == ELEMENTS);
    }
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {run, run, run, run, run};

    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (int i = 0; i < ELEMENTS; i++) {
        struct place *p = new_place(&elements[i]);
        elements[i].key = i;
        atomic_init(&elements[i].at, p);
        link_place(&lists[0], p);
    }
    run_threads(THREADS, work);
    for (int i = 0; i < ELEMENTS; i++) {
        struct place *p = elements[i].at;
        unlink_place(&lists[ROUNDS % 2], p);
        free(p);
    }
    CHECK(!lists[0].first && !lists[1].first);
    pthread_barrier_destroy(&barrier);
    printf("%d elements moved %d times each, and nobody saw one missing or twice\n", ELEMENTS,
           ROUNDS);
    return 0;
}
