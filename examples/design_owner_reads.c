/* SPDX-License-Identifier: MIT */
/*
 * Data ownership the other way round: the owner reads, others update. Each worker has settings of
 * its own, on a line of its own, and looks at them in every round. Any thread may change those of
 * any worker, which is rare. So a look is a load from the nearest cache, as of a private variable.
 *
 * The kernel's DEFINE_PER_CPU is an array here, with an element for each owner; per_cpu(x, n) is
 * element n, and __get_cpu_var(x) is a thread-local pointer to the own one.
 */
#define _POSIX_C_SOURCE 200809L

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

enum { WORKERS = 3, SETTINGS = 200 / EXAMPLE_LESS };

static struct worker {
    _Alignas(128) atomic_int patience; /* others write it; every other line stays where it is */
    _Alignas(128) long rounds;         /* the owner's alone */
} workers[WORKERS];

static _Thread_local struct worker *mine;

/* [quote begin] */
static void set_patience(int worker, int patience)
{
    atomic_store_explicit(&workers[worker].patience, patience, memory_order_relaxed);
}

static int my_patience(void)
{
    return atomic_load_explicit(&mine->patience, memory_order_relaxed);
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

static void *work(void *arg)
{
    int seen = 0;

    mine = &workers[(intptr_t)arg];
    while (seen < SETTINGS) {
        const int now = my_patience();

        CHECK(now >= seen); /* stores to one word are seen in their order */
        seen = now;
        if (++mine->rounds % 64 == 0)
            sched_yield();
    }
    return NULL;
}

static void *administer(void *arg)
{
    (void)arg;
    for (int i = 1; i <= SETTINGS; i++)
        set_patience(i % WORKERS, i);
    for (int i = 0; i < WORKERS; i++)
        set_patience(i, SETTINGS);
    return NULL;
}

int main(void)
{
    static void *(*const all[])(void *) = {work, work, work, administer};

    run_threads(WORKERS + 1, all);
    printf("%ld rounds by three owners, under settings that another thread changed\n",
           workers[0].rounds + workers[1].rounds + workers[2].rounds);
    return 0;
}
