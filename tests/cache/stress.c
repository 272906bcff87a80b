/* SPDX-License-Identifier: MIT */
/*
 * A cache under threads that look up, keep, load, insert and remove. Its entries are plain memory
 * from malloc, overwritten and freed by their release, so the sanitizers see a hit or a reference
 * that comes too late, and what orders the last use before the release.
 */
#include "test.h"

#include <pawl/cache.h>

enum { FIRST_STEPS = 2000, THREADS = 8, KEYS = 96, LIMIT = 64 };

struct thing {
    pawl_cache_entry entry;
    uint64_t number, complement;
    uint32_t uses; /* by holders of references; plain for the releaser */
};

static struct {
    pawl_cache cache;
    uint64_t seed;
    unsigned steps;
    uint32_t made, freed;
    uint32_t loading[KEYS]; /* loaders of a key that nobody changes */
} shared;

static void release(pawl_rcu_head *head)
{
    struct thing *const o = PAWL_CACHE_OBJECT(struct thing, entry, head);
    pawl_cache_entry_destroy(&o->entry);
    memset(o, 0x5a, sizeof *o);
    free(o);
    (void)pawl_fetch_add_relaxed32(&shared.freed, 1);
}

static pawl_cache_entry *make(uint64_t number, uint64_t cost, uint64_t life)
{
    struct thing *const o = (struct thing *)malloc(sizeof *o);
    must(o != NULL);
    o->number = number;
    o->complement = ~number;
    o->uses = 0;
    pawl_cache_entry_init(&o->entry, pawl_cache_number(number), cost, life);
    (void)pawl_fetch_add_relaxed32(&shared.made, 1);
    return &o->entry;
}

static void look(pawl_cache_entry *e, uint64_t number)
{
    const struct thing *const o = PAWL_CACHE_OBJECT(struct thing, entry, e);
    must(o->number == number && o->complement == ~number);
}

static pawl_cache_entry *loads(pawl_cache_key key, void *random)
{
    const uint64_t number = key.value.number;
    const unsigned what = test_random_below((uint64_t *)random, 16);
    if (number % 4 == 0) /* only loads bring it in, so one at a time does */
        must(pawl_fetch_add_relaxed32(&shared.loading[number], 1) == 0);
    if (what == 0)
        sched_yield();
    if (number % 4 == 0)
        (void)pawl_fetch_sub_relaxed32(&shared.loading[number], 1);
    return what == 1 ? NULL : make(number, 1 + what % 3, what == 2 ? 1000 : 0);
}

static void use(pawl_cache_entry *e, uint64_t number)
{
    if (e == NULL)
        return;
    look(e, number);
    (void)pawl_fetch_add_relaxed32(&PAWL_CACHE_OBJECT(struct thing, entry, e)->uses, 1);
    if (number % 8 == 0)
        sched_yield();
    look(e, number);
    pawl_cache_drop(&shared.cache, e);
}

static void get(uint64_t number, bool keeps)
{
    pawl_rcu_read_lock();
    pawl_cache_entry *e = pawl_cache_get(&shared.cache, pawl_cache_number(number));
    if (e != NULL)
        look(e, number);
    if (e != NULL && (!keeps || !pawl_cache_keep(e)))
        e = NULL;
    pawl_rcu_read_unlock();
    use(e, number);
}

static void work(void *unused, unsigned index)
{
    uint64_t random = shared.seed + index * UINT64_C(0x632be59bd9b4e019);
    for (unsigned i = 0; i < shared.steps; i++) {
        const uint64_t number = test_random_below(&random, KEYS);
        const pawl_cache_key key = pawl_cache_number(number);
        const unsigned what = test_random_below(&random, 32);
        if (what < 8)
            use(pawl_cache_load(&shared.cache, key, loads, &random), number);
        else if (what < 12)
            use(pawl_cache_hold(&shared.cache, key), number);
        else if (what == 12 && number % 4 != 0)
            must(pawl_cache_insert(&shared.cache, make(number, what % 5, 0)));
        else if (what == 13 && number % 4 != 0)
            (void)pawl_cache_remove(&shared.cache, key);
        else
            get(number, what % 4 == 0);
    }
}

TEST_CASE(whatever_comes_and_goes_hits_and_references_are_whole)
{
    const double end = test_now() + test_seconds(4);
    pawl_cache_statistics all;
    pawl_cache_options options;
    unsigned round = 0;
    memset(&options, 0, sizeof options);
    options.limit = LIMIT;
    options.release = release;
    assert_int_equal(pawl_cache_init(&shared.cache, &options), 0);
    shared.seed = test_seed();
    shared.steps = TEST_SCALE(FIRST_STEPS);
    do {
        test_threads(2 + round % (THREADS - 1), work, NULL);
        shared.seed += THREADS;
        if (round % 4 == 3)
            pawl_cache_clear(&shared.cache);
        if (++round % 8 == 0)
            shared.steps *= 2;
    } while (test_now() < end);
    pawl_cache_read(&shared.cache, &all);
    assert_true(all.cost <= LIMIT && all.hits != 0 && all.evictions != 0 && all.loads != 0);
    pawl_cache_destroy(&shared.cache);
    assert_int_equal(shared.made, shared.freed);
}

TEST_MAIN()
