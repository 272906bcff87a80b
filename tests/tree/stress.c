/* SPDX-License-Identifier: MIT */
/*
 * A tree under threads that insert, remove, walk, and look up with and without a lock. Half of the
 * keys are always in, so a look-up that misses one has gone wrong. The others are plain memory from
 * malloc, freed a grace period after their removal, so the sanitizers see a look-up that comes too
 * late, and what the locks order.
 */
#include "test.h"

#include <pawl/rcu_call.h>
#include <pawl/tree.h>

enum { FIRST_STEPS = 2000, THREADS = 8, KEYS = 64 };

struct thing {
    pawl_rcu_head head;
    pawl_tree_node node;
    uint64_t number, complement;
};

static struct {
    pawl_tree tree;
    struct thing always[KEYS]; /* of the even numbers */
    uint64_t seed;
    unsigned steps;
    uint32_t freed, met;
} shared;

static struct thing *of(pawl_tree_node *n)
{
    return PAWL_TREE_OBJECT(struct thing, node, n);
}

static void release(pawl_rcu_head *head)
{
    struct thing *const o = (struct thing *)(void *)head;
    pawl_tree_node_destroy(&o->node);
    memset(o, 0x5a, sizeof *o);
    free(o);
    (void)pawl_fetch_add_relaxed32(&shared.freed, 1);
}

/* The order of the numbers and that of the keys have nothing in common. */
static pawl_tree_key key_of(uint64_t number)
{
    return pawl_tree_number(number * UINT64_C(0x9e3779b97f4a7c15));
}

static void look(const struct thing *o, uint64_t number)
{
    must(o->number == number && o->complement == ~number);
}

static struct thing *insert(uint64_t number)
{
    struct thing *o = (struct thing *)calloc(1, sizeof *o);
    must(o != NULL);
    o->number = number;
    o->complement = ~number;
    pawl_tree_insert(&shared.tree, &o->node, key_of(number));
    return o;
}

static void take_out(struct thing *o, bool batch)
{
    if (batch) {
        pawl_lock64_take_atomic(&shared.tree.lock);
        must(pawl_tree_remove_as(&shared.tree, &o->node, PAWL_TREE_HAS_ATOMIC));
        pawl_lock64_drop_atomic(&shared.tree.lock);
    } else {
        must(pawl_tree_remove(&shared.tree, &o->node));
    }
    test_await(pawl_rcu_call(&o->head, release, sizeof *o) == 0);
}

static void get(uint64_t number)
{
    pawl_rcu_read_lock();
    pawl_tree_node *n = pawl_tree_get(&shared.tree, key_of(number));
    must(n != NULL || number % 2 == 1);
    if (n != NULL)
        look(of(n), number);
    if (n != NULL && number % 2 == 1)
        (void)pawl_fetch_add_relaxed32(&shared.met, 1);
    pawl_rcu_read_unlock();
}

static void find(uint64_t number)
{
    pawl_lock64_take_read(&shared.tree.lock);
    pawl_tree_node *n = pawl_tree_find(&shared.tree, key_of(number));
    must(n != NULL || number % 2 == 1);
    if (n != NULL)
        look(of(n), number);
    n = pawl_tree_near(&shared.tree, key_of(number), 0);
    must(n == NULL || n->value.number >= key_of(number).value.number);
    pawl_lock64_drop_read(&shared.tree.lock);
}

/* A node that is always in is met once, whatever else comes and goes. */
static void walk(void)
{
    uint64_t last = 0, met = 0;
    pawl_tree_node *n;
    pawl_tree_walk w;
    pawl_tree_walk_begin(&shared.tree, &w);
    do {
        pawl_lock64_take_read(&shared.tree.lock);
        n = pawl_tree_walk_next(&w);
        if (n != NULL) {
            look(of(n), of(n)->number);
            must(n->value.number >= last);
            last = n->value.number;
            met += of(n)->number % 2 == 0;
        }
        pawl_lock64_drop_read(&shared.tree.lock);
    } while (n != NULL);
    pawl_tree_walk_end(&shared.tree, &w);
    must(met == KEYS);
}

static void work(void *unused, unsigned index)
{
    struct thing *mine[8] = {NULL};
    uint64_t random = shared.seed + index * UINT64_C(0x632be59bd9b4e019);
    for (unsigned i = 0; i < shared.steps; i++) {
        const uint64_t number = test_random_below(&random, 2 * KEYS);
        struct thing **const place = &mine[test_random_below(&random, 8)];
        const unsigned what = test_random_below(&random, index % 2 == 0 ? 4 : 16);
        if (what < 2) {
            if (*place != NULL)
                take_out(*place, what == 0 && number % 4 == 0);
            *place = *place == NULL ? insert(number | 1) : NULL;
        } else if (what == 2) {
            find(number);
        } else if (what == 3 && number < 2) {
            walk();
        } else {
            get(number);
        }
    }
    for (unsigned i = 0; i < 8; i++)
        if (mine[i] != NULL)
            take_out(mine[i], false);
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
        pawl_tree_insert(&shared.tree, &o->node, key_of(o->number));
    }
    do {
        test_threads(2 + round % (THREADS - 1), work, NULL);
        shared.seed += THREADS;
        if (++round % 8 == 0)
            shared.steps *= 2;
    } while (test_now() < end || pawl_load_relaxed32(&shared.met) == 0);
    for (i = 0; i < KEYS; i++)
        assert_true(pawl_tree_remove(&shared.tree, &shared.always[i].node));
    assert_null(shared.tree.root[0]);
    assert_int_equal(pawl_rcu_barrier(), 0);
    pawl_tree_destroy(&shared.tree);
}

TEST_MAIN()
