/* SPDX-License-Identifier: MIT */
/*
 * Hazard pointers under threads that replace objects and read them. The objects are plain memory
 * from malloc, overwritten and freed by their function, so the sanitizers see a reader that comes
 * too late, and what orders its last read before the function.
 */
#include "test.h"

#include <pawl/hazard.h>

enum { FIRST_STEPS = 2000, THREADS = 8, PLACES = 4 };

struct thing {
    uint64_t number, complement;
    pawl_hazard_head head;
    uint32_t reads; /* by readers, atomically; plain for the function */
};

static struct {
    struct thing *places[PLACES];
    uint64_t seed;
    unsigned steps;
    uint32_t made, freed;
} shared;

static void release(void *object)
{
    memset(object, 0x5a, sizeof(struct thing));
    free(object);
    (void)pawl_fetch_add_relaxed32(&shared.freed, 1);
}

static struct thing *make(uint64_t number)
{
    struct thing *const o = (struct thing *)malloc(sizeof *o);
    must(o != NULL);
    o->number = number;
    o->complement = ~number;
    o->reads = 0;
    (void)pawl_fetch_add_relaxed32(&shared.made, 1);
    return o;
}

static void look(struct thing *o)
{
    if (o == NULL)
        return;
    must(o->number == ~o->complement);
    (void)pawl_fetch_add_relaxed32(&o->reads, 1);
}

static void replace(struct thing **place, struct thing *fresh)
{
    struct thing *const old = pawl_rcu_xchg_pointer(place, fresh);
    if (old != NULL)
        pawl_hazard_retire(&old->head, old, release);
}

static void work(void *unused, unsigned index)
{
    uint64_t random = shared.seed + index * UINT64_C(0x632be59bd9b4e019);
    pawl_hazard *one = pawl_hazard_make();
    for (unsigned i = 0; i < shared.steps; i++) {
        struct thing **const place = &shared.places[test_random_below(&random, PLACES)];
        const unsigned what = test_random_below(&random, 16);
        struct thing *const o = pawl_hazard_protect(one, place);
        look(o);
        if (what < 4) {
            replace(place, what == 0 ? NULL : make(i));
        } else if (what == 4) {
            pawl_hazard *const second = pawl_hazard_make();
            look(pawl_hazard_protect(second, place));
            if (index % 2 == 0)
                sched_yield();
            pawl_hazard_drop(one);
            one = second;
            look((struct thing *)(uintptr_t)(one->object <= 1 ? 0 : one->object));
        } else if (what == 5) {
            sched_yield();
            look(o);
        }
    }
    pawl_hazard_drop(one);
}

TEST_CASE(whatever_is_replaced_what_is_named_is_whole)
{
    const double end = test_now() + test_seconds(4);
    unsigned round = 0;
    shared.seed = test_seed();
    shared.steps = TEST_SCALE(FIRST_STEPS);
    do {
        test_threads(2 + round % (THREADS - 1), work, NULL);
        shared.seed += THREADS;
        if (++round % 8 == 0)
            shared.steps *= 2;
    } while (test_now() < end);
    assert_true(shared.freed != 0);
    for (unsigned i = 0; i < PLACES; i++)
        replace(&shared.places[i], NULL);
    pawl_hazard_clean_up();
    assert_int_equal(shared.made, shared.freed);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
