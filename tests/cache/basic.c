/* SPDX-License-Identifier: MIT */
/* Caches: what is found, what is evicted, when entries end, and what a load does. */
#include "test.h"

#include <pawl/cache.h>

enum { THINGS = 72 };

struct thing {
    int before; /* the entry need not come first */
    pawl_cache_entry entry;
    unsigned value;
};

static struct thing things[THINGS];
static pawl_cache cache;
static uint32_t released;

static struct thing *of(pawl_cache_entry *e)
{
    return e == NULL ? NULL : PAWL_CACHE_OBJECT(struct thing, entry, e);
}

static void release(pawl_rcu_head *head)
{
    struct thing *const o = PAWL_CACHE_OBJECT(struct thing, entry, head);
    pawl_cache_entry_destroy(&o->entry);
    o->value = 0;
    (void)pawl_fetch_add_relaxed32(&released, 1);
    if (o < things || o >= things + sizeof things / sizeof things[0])
        free(o);
}

static void begin_with(uint64_t limit, uint64_t life)
{
    pawl_cache_options options;
    memset(&options, 0, sizeof options);
    options.limit = limit;
    options.life = life;
    options.release = release;
    assert_int_equal(pawl_cache_init(&cache, &options), 0);
}

static int begin(void **state)
{
    memset(things, 0, sizeof things);
    released = 0;
    begin_with(4, 0);
    return 0;
}

static int end(void **state)
{
    pawl_cache_destroy(&cache);
    return 0;
}

static void make(unsigned i, uint64_t cost, uint64_t life)
{
    things[i].value = i + 1;
    pawl_cache_entry_init(&things[i].entry, pawl_cache_number(i), cost, life);
}

static void put(unsigned i)
{
    make(i, 1, 0);
    assert_true(pawl_cache_insert(&cache, &things[i].entry));
}

static struct thing *get_key(pawl_cache_key key)
{
    pawl_rcu_read_lock();
    struct thing *o = of(pawl_cache_get(&cache, key));
    pawl_rcu_read_unlock();
    return o;
}

static struct thing *get(unsigned i)
{
    return get_key(pawl_cache_number(i));
}

static pawl_cache_statistics statistics(void)
{
    pawl_cache_statistics all;
    pawl_cache_read(&cache, &all);
    return all;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

TEST_CASE_WITH(keys_of_all_kinds_and_lengths_are_told_apart, begin, end)
{
    static const char text[] = "the first letters of this are the keys";
    uint64_t same = 7;
    pawl_cache_destroy(&cache);
    begin_with(THINGS, 0);
    for (unsigned i = 0; i < 30; i++) {
        pawl_cache_entry_init(&things[i].entry, pawl_cache_bytes(text, i), 0, 0);
        assert_true(pawl_cache_insert(&cache, &things[i].entry));
    }
    pawl_cache_entry_init(&things[30].entry, pawl_cache_number(7), 0, 0);
    assert_true(pawl_cache_insert(&cache, &things[30].entry));
    pawl_cache_entry_init(&things[31].entry, pawl_cache_bytes(&same, sizeof same), 0, 0);
    assert_true(pawl_cache_insert(&cache, &things[31].entry));
    for (unsigned i = 0; i < 30; i++)
        assert_ptr_equal(get_key(pawl_cache_bytes(text, i)), &things[i]);
    assert_ptr_equal(get(7), &things[30]);
    assert_ptr_equal(get_key(pawl_cache_bytes(&same, sizeof same)), &things[31]);
    assert_ptr_equal(get_key(pawl_cache_string("the first")), &things[9]);
    assert_null(get_key(pawl_cache_string("the worst")));
    assert_null(get(8));
}

TEST_CASE_WITH(an_index_of_one_place_finds_all, begin, end)
{
    static pawl_cache_entry *place[1];
    pawl_cache_options options;
    pawl_cache_destroy(&cache);
    memset(&options, 0, sizeof options);
    options.limit = THINGS;
    options.entries = 1;
    options.release = release;
    options.index = place;
    assert_int_equal(pawl_cache_init(&cache, &options), 0);
    for (unsigned i = 0; i < THINGS; i++)
        put(i);
    for (unsigned i = 0; i < THINGS; i += 2)
        assert_true(pawl_cache_remove(&cache, pawl_cache_number(i)));
    for (unsigned i = 0; i < THINGS; i++)
        assert_ptr_equal(get(i), i % 2 == 0 ? NULL : &things[i]);
}

/* ---- Eviction -------------------------------------------------------------------------------- */

TEST_CASE_WITH(the_oldest_unused_entry_is_evicted, begin, end)
{
    for (unsigned i = 0; i < 4; i++)
        put(i);
    assert_non_null(get(0));
    assert_non_null(get(2));
    put(4);
    assert_null(get(1));
    put(5); /* the hand goes on at 2, and clears it */
    assert_null(get(3));
    put(6); /* 4 is unused, and newer than the hand */
    assert_null(get(4));
    assert_non_null(get(0));
    assert_non_null(get(2));
    assert_int_equal(statistics().evictions, 3);
    assert_int_equal(statistics().entries, 4);
}

TEST_CASE_WITH(where_all_are_used_the_hand_comes_round, begin, end)
{
    for (unsigned i = 0; i < 4; i++) {
        put(i);
        assert_non_null(get(i));
    }
    put(4);
    assert_null(get(0));
    put(5);
    assert_null(get(1));
}

TEST_CASE_WITH(a_hit_of_a_used_entry_writes_nothing_in_it, begin, end)
{
    pawl_cache_entry before;
    put(0);
    assert_non_null(get(0));
    memcpy(&before, &things[0].entry, sizeof before);
    assert_non_null(get(0));
    assert_memory_equal(&before, &things[0].entry, sizeof before);
}

TEST_CASE_WITH(costs_bound_the_cache, begin, end)
{
    make(0, 2, 0);
    assert_true(pawl_cache_insert(&cache, &things[0].entry));
    put(1);
    put(2);
    make(3, 3, 0);
    assert_true(pawl_cache_insert(&cache, &things[3].entry));
    assert_null(get(0));
    assert_null(get(1));
    assert_non_null(get(2));
    make(4, 5, 0);
    assert_false(pawl_cache_insert(&cache, &things[4].entry)); /* more than all */
    assert_int_equal(statistics().cost, 4);
    make(5, 4, 0);
    assert_true(pawl_cache_insert(&cache, &things[5].entry));
    assert_int_equal(statistics().entries, 1);
}

/* A random walk: the sum of the costs keeps the limit, and all that is found is what was put. */
TEST_CASE_WITH(whatever_comes_and_goes_the_counts_are_right, begin, end)
{
    uint64_t random = test_seed();
    pawl_cache_destroy(&cache);
    begin_with(40, 0);
    for (unsigned step = 0; step < 4000; step++) {
        struct thing *const o = (struct thing *)calloc(1, sizeof *o);
        const unsigned key = test_random_below(&random, 50);
        (void)get(test_random_below(&random, 50));
        if (test_random_below(&random, 4) == 0) {
            const bool there = get(key) != NULL;
            assert_int_equal(pawl_cache_remove(&cache, pawl_cache_number(key)), there);
            free(o);
        } else {
            pawl_cache_entry_init(&o->entry, pawl_cache_number(key),
                                  1 + test_random_below(&random, 9), 0);
            assert_true(pawl_cache_insert(&cache, &o->entry));
            assert_ptr_equal(get(key), o);
        }
        pawl_cache_statistics all = statistics();
        assert_true(all.cost <= 40 && all.entries <= all.cost);
    }
    for (unsigned i = 0; i < 50; i++)
        (void)pawl_cache_remove(&cache, pawl_cache_number(i));
    assert_int_equal(statistics().cost, 0);
    assert_int_equal(statistics().entries, 0);
    assert_null(cache.newest);
    assert_null(cache.oldest);
    assert_null(cache.hand);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(released, statistics().insertions);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

TEST_CASE_WITH(an_entry_whose_time_is_over_is_a_miss, begin, end)
{
    make(0, 1, 1);
    assert_true(pawl_cache_insert(&cache, &things[0].entry));
    make(1, 1, PAWL_CACHE_FOREVER - 1);
    assert_true(pawl_cache_insert(&cache, &things[1].entry));
    while (pawl_now() < things[0].entry.ends)
        continue;
    assert_null(get(0));
    assert_non_null(get(1));
    assert_null(pawl_cache_hold(&cache, pawl_cache_number(0)));
    put(2);
    put(3);
    put(4); /* the one whose time is over makes room */
    assert_non_null(get(1));
    assert_non_null(get(2));
    assert_int_equal(statistics().evictions, 1);
}

TEST_CASE_WITH(the_caches_life_is_that_of_entries_without_one, begin, end)
{
    pawl_cache_destroy(&cache);
    begin_with(4, 1);
    put(0);
    make(1, 1, PAWL_CACHE_FOREVER);
    assert_true(pawl_cache_insert(&cache, &things[1].entry));
    while (pawl_now() < things[0].entry.ends)
        continue;
    assert_null(get(0));
    assert_non_null(get(1));
}

/* ---- References and releases ----------------------------------------------------------------- */

TEST_CASE_WITH(a_reference_keeps_what_has_left_the_cache, begin, end)
{
    put(0);
    pawl_cache_entry *e = pawl_cache_hold(&cache, pawl_cache_number(0));
    assert_ptr_equal(of(e), &things[0]);
    assert_true(pawl_cache_remove(&cache, pawl_cache_number(0)));
    assert_false(pawl_cache_remove(&cache, pawl_cache_number(0)));
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(of(e)->value, 1);
    pawl_rcu_read_lock();
    assert_true(pawl_cache_keep(e)); /* a holder may make more */
    pawl_cache_drop(&cache, e);
    pawl_cache_drop(&cache, e);
    assert_false(pawl_cache_keep(e)); /* its memory lasts until the section ends, and no longer */
    assert_int_equal(of(e)->value, 1);
    pawl_rcu_read_unlock();
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(released, 1);
}

TEST_CASE_WITH(a_replaced_entry_is_released, begin, end)
{
    put(0);
    pawl_cache_entry_init(&things[1].entry, pawl_cache_number(0), 1, 0);
    assert_true(pawl_cache_insert(&cache, &things[1].entry));
    assert_ptr_equal(get(0), &things[1]);
    assert_int_equal(statistics().entries, 1);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(released, 1);
}

/* The domain refuses, and a section is open: the release waits in the cache for a later change. */
TEST_CASE_WITH(without_room_for_callbacks_entries_wait_in_the_cache, begin, end)
{
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(pawl_rcu_domain_limit(pawl_rcu_default(), 1, 1 << 20, PAWL_RCU_REFUSE), 0);
    for (unsigned i = 0; i < 4; i++)
        put(i);
    pawl_rcu_read_lock();
    for (unsigned i = 0; i < 4; i++)
        assert_true(pawl_cache_remove(&cache, pawl_cache_number(i)));
    assert_non_null(cache.late);
    pawl_rcu_read_unlock();
    assert_int_equal(
        pawl_rcu_domain_limit(pawl_rcu_default(), PAWL_RCU_CALLS, PAWL_RCU_BYTES, PAWL_RCU_HELP),
        0);
    put(4);
    assert_null(cache.late);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(released, 4);
}

TEST_CASE_WITH(clear_takes_all_out, begin, end)
{
    for (unsigned i = 0; i < 3; i++)
        put(i);
    pawl_cache_clear(&cache);
    assert_null(get(1));
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(released, 3);
}

/* The first releases put their entries in again. */
static unsigned come_back;

static void release_and_insert(pawl_rcu_head *head)
{
    struct thing *const o = PAWL_CACHE_OBJECT(struct thing, entry, head);
    if (come_back != 0) {
        come_back--;
        put((unsigned)(o - things));
    }
}

/* 1. A step of clear takes entries out.  2. Others insert as many: here their releases, which the
 * domain at its limit makes clear call itself.  3. A step that goes on until none is left finds
 * those, and so does each after it. */
TEST_CASE_WITH(clear_ends_though_others_insert, begin, end)
{
    unsigned i;
    pawl_cache_destroy(&cache);
    begin_with(THINGS, 0);
    cache.release = release_and_insert;
    come_back = 10 * THINGS;
    for (i = 0; i < THINGS; i++)
        put(i);
    assert_int_equal(pawl_rcu_domain_limit(pawl_rcu_default(), 1, 1 << 20, PAWL_RCU_HELP), 0);
    pawl_cache_clear(&cache);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(come_back, 9 * THINGS);
    come_back = 0;
    (void)pawl_rcu_domain_limit(pawl_rcu_default(), PAWL_RCU_CALLS, PAWL_RCU_BYTES, PAWL_RCU_HELP);
}

TEST_CASE(a_cache_without_a_limit_or_a_release_is_refused)
{
    static pawl_cache_entry *index[1];
    pawl_cache_options options;
    memset(&options, 0, sizeof options);
    options.release = release;
    assert_int_equal(pawl_cache_init(&cache, &options), EINVAL);
    options.limit = 1;
    options.index = index; /* of how many places? */
    assert_int_equal(pawl_cache_init(&cache, &options), EINVAL);
    options.index = NULL;
    options.release = NULL;
    assert_int_equal(pawl_cache_init(&cache, &options), EINVAL);
}

/* ---- Loads ----------------------------------------------------------------------------------- */

static pawl_cache_entry *loads(pawl_cache_key key, void *argument)
{
    unsigned *const calls = (unsigned *)argument;
    ++*calls;
    make((unsigned)key.value.number, 1, 0);
    return &things[key.value.number].entry;
}

static pawl_cache_entry *fails(pawl_cache_key key, void *argument)
{
    return NULL;
}

TEST_CASE_WITH(a_miss_loads_and_a_hit_does_not, begin, end)
{
    unsigned calls = 0, i;
    assert_null(pawl_cache_load(&cache, pawl_cache_number(3), fails, NULL));
    for (i = 0; i < 3; i++) {
        pawl_cache_entry *const e = pawl_cache_load(&cache, pawl_cache_number(3), loads, &calls);
        assert_ptr_equal(of(e), &things[3]);
        pawl_cache_drop(&cache, e);
    }
    assert_int_equal(calls, 1);
    assert_int_equal(statistics().loads, 2);
    assert_int_equal(statistics().failed, 1);
    assert_int_equal(statistics().hits, 2);
    assert_int_equal(statistics().misses, 2);
}

static pawl_cache_entry *loads_too_much(pawl_cache_key key, void *argument)
{
    make(0, 5, 0);
    return &things[0].entry;
}

TEST_CASE_WITH(what_costs_too_much_is_returned_and_not_kept, begin, end)
{
    pawl_cache_entry *const e = pawl_cache_load(&cache, pawl_cache_number(0), loads_too_much, NULL);
    assert_ptr_equal(of(e), &things[0]);
    assert_null(get(0));
    pawl_cache_drop(&cache, e);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(released, 1);
}

static pawl_cache_entry *loads_beside_a_change(pawl_cache_key key, void *argument)
{
    const bool *const removes = (const bool *)argument;
    if (*removes)
        must(!pawl_cache_remove(&cache, key));
    else
        put(1);
    pawl_cache_entry_init(&things[2].entry, key, 1, 0);
    return &things[2].entry;
}

TEST_CASE_WITH(a_load_that_is_older_than_a_change_is_not_kept, begin, end)
{
    bool removes = true;
    pawl_cache_entry *e =
        pawl_cache_load(&cache, pawl_cache_number(1), loads_beside_a_change, &removes);
    assert_ptr_equal(of(e), &things[2]);
    assert_null(get(1));
    pawl_cache_drop(&cache, e);
    assert_int_equal(pawl_rcu_barrier(), 0);
    removes = false;
    e = pawl_cache_load(&cache, pawl_cache_number(1), loads_beside_a_change, &removes);
    assert_ptr_equal(of(e), &things[2]);
    assert_ptr_equal(get(1), &things[1]);
    pawl_cache_drop(&cache, e);
}

/* The first loader returns when all others have missed. One that is late finds the entry, or where
 * the loader failed it loads again. */
struct crowd {
    uint32_t calls;
    bool fails;
};

static pawl_cache_entry *loads_for_a_crowd(pawl_cache_key key, void *argument)
{
    struct crowd *const crowd = (struct crowd *)argument;
    if (pawl_fetch_add_relaxed32(&crowd->calls, 1) == 0)
        test_await(statistics().misses == 8);
    if (crowd->fails)
        return NULL;
    make(1, 1, 0);
    return &things[1].entry;
}

static void load_in_a_crowd(void *argument, unsigned index)
{
    struct crowd *const crowd = (struct crowd *)argument;
    pawl_cache_entry *const e =
        pawl_cache_load(&cache, pawl_cache_number(1), loads_for_a_crowd, crowd);
    must((e == NULL) == crowd->fails);
    must(e == NULL || of(e)->value == 2);
    if (e != NULL)
        pawl_cache_drop(&cache, e);
}

TEST_CASE_WITH(concurrent_misses_of_a_key_call_one_loader, begin, end)
{
    struct crowd crowd = {0, false};
    test_threads(8, load_in_a_crowd, &crowd);
    assert_int_equal(crowd.calls, 1);
    assert_int_equal(statistics().loads, 1);
    assert_ptr_equal(get(1), &things[1]);
    assert_int_equal(things[1].entry.references, PAWL_CACHE_IN_);
}

TEST_CASE_WITH(the_failure_of_a_load_is_that_of_all_who_wait, begin, end)
{
    struct crowd crowd = {0, true};
    test_threads(8, load_in_a_crowd, &crowd);
    assert_int_equal(statistics().loads, crowd.calls);
    assert_int_equal(statistics().failed, crowd.calls);
    assert_int_equal(statistics().waited, 8 - crowd.calls);
}

/* ---- Forks ----------------------------------------------------------------------------------- */

/* Windows has no fork, and qemu-user ends where a child of a program with threads starts one. */
#if !defined(_WIN32) && !defined(__aarch64__)

static struct {
    pid_t child;
    uint32_t forking, loading, over;
} forked;

static void wait_for(const uint32_t *word)
{
    test_await(pawl_load_relaxed32(word) != 0);
}

static pawl_cache_entry *forks(pawl_cache_key key, void *argument)
{
    pawl_store_relaxed32(&forked.forking, 1);
    wait_for(&forked.loading);
    test_await(statistics().misses == 3);
    pawl_lock64_take_write(&cache.lock); /* no other thread is changing the cache */
    forked.child = fork();
    pawl_lock64_drop_write(&cache.lock);
    must(forked.child >= 0);
    return loads(key, argument);
}

static pawl_cache_entry *loads_until_the_fork(pawl_cache_key key, void *argument)
{
    pawl_store_relaxed32(&forked.loading, 1);
    wait_for(&forked.over);
    return loads(key, argument);
}

static void go_on_in_the_child(pawl_cache_entry *e)
{
    unsigned calls = 0;
    must(of(e) == &things[2] && things[2].entry.references == 1 && get(2) == NULL);
    if (PAWL_TSAN_)
        return; /* it lets no child start threads, and a release needs one */
    pawl_cache_drop(&cache, e);
    e = pawl_cache_load(&cache, pawl_cache_number(1), loads, &calls); /* the other load is gone */
    must(of(e) == &things[1] && calls == 1);
    must(things[1].entry.references == (PAWL_CACHE_IN_ | 1));
    pawl_cache_drop(&cache, e);
    must(get(1) == &things[1]);
}

/* Thread 0 forks in its load of key 2; thread 1 waits for that; thread 2 loads key 1 meanwhile. */
static void load_beside_a_fork(void *unused, unsigned index)
{
    pawl_cache_loader *const loader = index == 0   ? forks
                                      : index == 1 ? fails
                                                   : loads_until_the_fork;
    unsigned calls = 0;
    if (index == 1)
        wait_for(&forked.forking);
    pawl_cache_entry *e =
        pawl_cache_load(&cache, pawl_cache_number(index == 2 ? 1 : 2), loader, &calls);
    if (index == 0 && forked.child == 0) {
        go_on_in_the_child(e);
        _exit(0);
    }
    if (index == 0)
        pawl_store_relaxed32(&forked.over, 1);
    must(of(e) == &things[index == 2 ? 1 : 2]);
    pawl_cache_drop(&cache, e);
}

TEST_CASE_WITH(a_loader_that_forks_goes_on_in_both, begin, end)
{
    int status = -1;
    memset(&forked, 0, sizeof forked);
    test_threads(3, load_beside_a_fork, NULL);
    assert_int_equal(waitpid(forked.child, &status, 0), forked.child);
    assert_int_equal(status, 0);
    assert_int_equal(get(1)->value, 2);
    assert_int_equal(get(2)->value, 3);
}

#endif

TEST_MAIN()
