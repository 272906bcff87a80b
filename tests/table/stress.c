/* SPDX-License-Identifier: MIT */
/*
 * A table under threads that insert, remove, replace, walk and look up, while it grows and shrinks
 * by a factor of 64. Some keys are always in, so a look-up that misses one has gone wrong. The
 * others are plain memory from malloc, freed a grace period after their removal, so the sanitizers
 * see a look-up that comes too late.
 */
#include "test.h"

#include <pawl/rcu_call.h>
#include <pawl/table.h>

enum { FIRST_STEPS = 1000, THREADS = 8, KEYS = 64, MINE = 512 };

struct thing {
    pawl_rcu_head head;
    pawl_table_node node;
    uint64_t number, complement;
};

static struct {
    pawl_table table;
    struct thing always[KEYS]; /* of the even numbers below 2 * KEYS */
    uint64_t seed;
    unsigned steps;
    uint32_t met;
} shared;

static struct thing *of(pawl_table_node *n)
{
    return PAWL_TABLE_OBJECT(struct thing, node, n);
}

static void release(pawl_rcu_head *head)
{
    struct thing *const o = (struct thing *)(void *)head;
    pawl_table_node_destroy(&o->node);
    memset(o, 0x5a, sizeof *o);
    free(o);
}

static void retire(struct thing *o)
{
    test_await(pawl_rcu_call(&o->head, release, sizeof *o) == 0);
}

static void look(const struct thing *o, uint64_t number)
{
    must(o->number == number && o->complement == ~number);
}

static struct thing *make(uint64_t number)
{
    struct thing *o = (struct thing *)calloc(1, sizeof *o);
    must(o != NULL);
    o->number = number;
    o->complement = ~number;
    return o;
}

static struct thing *insert(uint64_t number)
{
    struct thing *const o = make(number);
    pawl_table_insert(&shared.table, &o->node, pawl_table_number(number));
    return o;
}

static struct thing *replace(struct thing *old)
{
    struct thing *const o = make(old->number);
    must(pawl_table_replace(&shared.table, &old->node, &o->node));
    retire(old);
    return o;
}

static void take_out(struct thing *o)
{
    must(pawl_table_remove(&shared.table, &o->node));
    retire(o);
}

static void get(uint64_t number)
{
    pawl_rcu_read_lock();
    pawl_table_node *n = pawl_table_get(&shared.table, pawl_table_number(number));
    must(n != NULL || number % 2 == 1);
    if (n != NULL)
        look(of(n), number);
    if (n != NULL && number % 2 == 1)
        (void)pawl_fetch_add_relaxed32(&shared.met, 1);
    pawl_rcu_read_unlock();
}

/* A node that is always in is met once, whatever else comes and goes. */
static void walk(void)
{
    uint64_t last = 0, met = 0;
    pawl_rcu_read_lock();
    for (pawl_table_node *n = pawl_table_from(&shared.table, 0); n != NULL;
         n = pawl_table_step(&shared.table, n)) {
        look(of(n), of(n)->number);
        must(n->order >= last);
        last = n->order;
        met += of(n)->number % 2 == 0;
    }
    pawl_rcu_read_unlock();
    must(met == KEYS);
}

/* Goes up to many nodes and down to none, by turns. */
static void work(void *unused, unsigned index)
{
    static struct thing *things[THREADS][MINE];
    struct thing **const mine = things[index];
    uint64_t random = shared.seed + index * UINT64_C(0x632be59bd9b4e019);
    unsigned i, count = 0;
    bool up = true;
    for (i = 0; i < shared.steps; i++) {
        const uint64_t number = test_random_below(&random, 2 * KEYS);
        const unsigned what = test_random_below(&random, 8);
        if (count == 0 || count == MINE)
            up = count == 0;
        if (what < 4 && up)
            mine[count] = insert((number + 2 * KEYS * (uint64_t)count) | 1), count++;
        else if (what < 4)
            take_out(mine[--count]);
        else if (what == 4 && count != 0)
            mine[number % count] = replace(mine[number % count]);
        else if (what == 5 && number == 0)
            walk();
        else
            get(number);
    }
    while (count != 0)
        take_out(mine[--count]);
}

/* The thread that removes a node frees it, and no other. */
static void race(void *unused, unsigned index)
{
    uint64_t random = shared.seed + index;
    for (unsigned i = 0; i < shared.steps; i++) {
        const uint64_t number = test_random_below(&random, 16);
        struct thing *const fresh = make(number);
        pawl_rcu_read_lock();
        pawl_table_node *n =
            pawl_table_insert_unique(&shared.table, &fresh->node, pawl_table_number(number));
        if (n != NULL)
            look(of(n), number);
        bool mine = n != NULL && pawl_table_remove(&shared.table, n);
        pawl_rcu_read_unlock();
        if (n != NULL)
            free(fresh);
        if (mine)
            retire(of(n));
    }
}

TEST_CASE(what_is_in_is_found_whatever_else_comes_and_goes)
{
    const double end = test_now() + test_seconds(4);
    unsigned round = 0, i;
    shared.seed = test_seed();
    shared.steps = TEST_SCALE(FIRST_STEPS);
    for (i = 0; i < KEYS; i++) {
        struct thing *const o = &shared.always[i];
        o->number = 2 * i;
        o->complement = ~o->number;
        pawl_table_insert(&shared.table, &o->node, pawl_table_number(o->number));
    }
    do {
        test_threads(2 + round % (THREADS - 1), work, NULL);
        shared.seed += THREADS;
        if (++round % 8 == 0)
            shared.steps *= 2;
    } while (test_now() < end || pawl_load_relaxed32(&shared.met) == 0);
    for (i = 0; i < KEYS; i++)
        assert_true(pawl_table_remove(&shared.table, &shared.always[i].node));
    assert_int_equal(pawl_rcu_barrier(), 0);
    pawl_table_destroy(&shared.table);
}

TEST_CASE(a_node_is_removed_by_one_of_those_that_race_for_it)
{
    pawl_table_node *n;
    unsigned left = 0;
    pawl_table_init(&shared.table, NULL);
    shared.seed = test_seed();
    shared.steps = TEST_SCALE(FIRST_STEPS);
    test_threads(4, race, NULL);
    do {
        pawl_rcu_read_lock();
        n = pawl_table_from(&shared.table, 0);
        pawl_rcu_read_unlock();
        if (n != NULL)
            take_out(of(n));
    } while (n != NULL && ++left <= 16);
    assert_true(left <= 16);
    assert_int_equal(pawl_rcu_barrier(), 0);
    pawl_table_destroy(&shared.table);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
