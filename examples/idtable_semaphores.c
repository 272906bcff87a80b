/* SPDX-License-Identifier: MIT */
/*
 * System V's semaphores, as an operating system keeps them. A number names each, and any thread
 * may work on any of them. Now and then one is made or removed. An ID table finds the semaphore
 * without a common lock and returns it locked. So threads that work on different semaphores do not
 * disturb each other. The table refuses the ID of a removed semaphore, even if its place has a new
 * owner.
 */
#include <pawl/idtable.h>

#include <errno.h>

#include "example.h"

/* [quote begin] */
struct semaphore {
    pawl_idtable_entry entry;
    pawl_spin32 lock;
    int value;
};

PAWL_IDTABLE_TYPE(semaphores, struct semaphore, entry, lock);

static void semaphore_free(pawl_rcu_head *head) /* a grace period after its removal */
{
    free(semaphores_of_head(head));
}

static pawl_idtable table = PAWL_IDTABLE_INIT(semaphore_free);

/* Makes a semaphore. The table grows by itself, under the lookups of other threads. */
int semaphore_get(int value, pawl_id *id)
{
    struct semaphore *s = (struct semaphore *)calloc(1, sizeof *s);
    int error = ENOMEM;

    if (s) {
        s->value = value;
        error = semaphores_insert(&table, s, id); /* from now on others can find it */
        if (error)
            free(s);
    }
    return error;
}

/* Adds `change` unless the value would fall below zero: EAGAIN. EINVAL: the semaphore never existed
 * or has been removed. */
int semaphore_operation(pawl_id id, int change)
{
    struct semaphore *s = semaphores_take_write(&table, id);
    int error = EAGAIN;

    if (!s)
        return EINVAL;
    if (s->value + change >= 0) { /* no thread removes it as long as we hold its lock */
        s->value += change;
        error = 0;
    }
    semaphores_drop_write(s);
    return error;
}

int semaphore_remove(pawl_id id)
{
    return semaphores_remove_id(&table, id) ? 0 : EINVAL;
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum { THREADS = 4, SHARED = 8, TURNS = 40000 / EXAMPLE_LESS };

static pawl_id shared[SHARED];
static long added[THREADS];

/* Makes and removes semaphores; an ID is valid for its own semaphore only, until the removal. */
static void make_and_remove(void)
{
    pawl_id first, second;

    CHECK(semaphore_get(1, &first) == 0);
    CHECK(semaphore_operation(first, -1) == 0);
    CHECK(semaphore_operation(first, -1) == EAGAIN);
    CHECK(semaphore_remove(first) == 0);
    CHECK(semaphore_get(5, &second) == 0);
    CHECK(second != first);
    CHECK(semaphore_operation(first, 1) == EINVAL);
    CHECK(semaphore_remove(first) == EINVAL);
    CHECK(semaphore_remove(second) == 0);
}

static void *work(void *arg)
{
    const int me = (int)(intptr_t)arg;
    uint32_t random = (uint32_t)me + 1;

    for (int i = 0; i < TURNS; i++) {
        const pawl_id id = shared[example_random(&random) % SHARED];
        const int change = example_random(&random) % 2 ? 1 : -1;
        const int error = semaphore_operation(id, change);

        CHECK(error == 0 || (error == EAGAIN && change < 0));
        if (error == 0)
            added[me] += change;
        if (i % 64 == 0)
            make_and_remove();
    }
    return NULL;
}

int main(void)
{
    static void *(*const all[THREADS])(void *) = {work, work, work, work};
    pawl_id id = PAWL_ID_NONE;
    struct semaphore *s;
    long sum = 0;

    for (int i = 0; i < SHARED; i++)
        CHECK(semaphore_get(100, &shared[i]) == 0);
    run_threads(THREADS, all);
    while ((s = semaphores_next_read(&table, &id)) != NULL) {
        sum += s->value - 100;
        semaphores_drop_read(s);
    }
    for (int i = 0; i < THREADS; i++)
        sum -= added[i];
    CHECK(sum == 0);
    CHECK(pawl_idtable_count(&table) == SHARED);
    pawl_idtable_destroy(&table); /* frees the remaining ones */
    printf("%d operations by %d threads, none lost\n", THREADS * TURNS, THREADS);
    return 0;
}
