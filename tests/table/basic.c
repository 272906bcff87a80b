/* SPDX-License-Identifier: MIT */
/* Tables: what is found, in which order, what growing and shrinking keep, and where arrays come
 * from. */
#include "test.h"

#include <pawl/table.h>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

enum { NODES = 4000 };

struct thing {
    int before; /* the node need not come first */
    pawl_table_node node;
    char name[12];
    uint64_t number;
    bool in;
};

static struct thing things[NODES];
static pawl_table table;
static unsigned arrays;
static bool no_memory;

static struct thing *of(const pawl_table_node *n)
{
    return n == NULL ? NULL : PAWL_TABLE_OBJECT(struct thing, node, n);
}

static bool same(const pawl_table_node *n, const void *key)
{
    return strcmp(of(n)->name, (const char *)key) == 0;
}

static void *allocate(size_t bytes, void *arg)
{
    void *const memory = no_memory ? NULL : malloc(bytes);
    assert_ptr_equal(arg, &arrays);
    arrays += memory != NULL;
    if (memory != NULL)
        memset(memory, 0x5a, bytes); /* what is not written is wrong */
    return memory;
}

static void release(void *memory, size_t bytes, void *arg)
{
    assert_ptr_equal(arg, &arrays);
    memset(memory, 0x5a, bytes);
    free(memory);
    arrays--;
}

static int begin(void **state)
{
    const pawl_table_options options = {NULL, allocate, release, &arrays};
    memset(things, 0, sizeof things);
    pawl_table_init(&table, &options);
    arrays = 0;
    no_memory = false;
    return 0;
}

static int end(void **state)
{
    pawl_table_destroy(&table);
    return arrays != 0;
}

static void put(unsigned i, uint64_t number)
{
    things[i].number = number;
    pawl_table_insert(&table, &things[i].node, pawl_table_number(number));
    things[i].in = true;
}

static void take(unsigned i)
{
    assert_true(pawl_table_remove(&table, &things[i].node));
    things[i].in = false;
}

static struct thing *get(uint64_t number)
{
    pawl_rcu_read_lock();
    struct thing *found = of(pawl_table_get(&table, pawl_table_number(number)));
    pawl_rcu_read_unlock();
    return found;
}

/* A walk meets what is in, in the order of the hashes. */
static unsigned walk(void)
{
    uint64_t last = 0;
    unsigned met = 0;
    pawl_rcu_read_lock();
    for (const pawl_table_node *n = pawl_table_from(&table, 0); n != NULL;
         n = pawl_table_step(&table, n), met++) {
        assert_true(of(n)->in);
        assert_true(n->order >= last);
        last = n->order;
    }
    pawl_rcu_read_unlock();
    return met;
}

static unsigned level(void)
{
    return table.array->level;
}

TEST_CASE_WITH(nothing_is_in_at_first, begin, end)
{
    assert_null(get(1));
    assert_int_equal(walk(), 0);
    put(0, 1);
    assert_ptr_equal(get(1), &things[0]);
    assert_null(get(2));
    take(0);
    assert_null(get(1));
    assert_int_equal(walk(), 0);
    assert_int_equal(arrays, 0);
}

TEST_CASE_WITH(it_grows_and_shrinks_with_its_nodes_and_loses_none, begin, end)
{
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < NODES; i++) {
            put(i, (uint64_t)i << (round * 20));
            if (i % 97 == 0)
                assert_int_equal(walk(), i + 1);
        }
        assert_in_range(level(), 10, 13);
        for (unsigned i = 0; i < NODES; i++) {
            assert_ptr_equal(get((uint64_t)i << (round * 20)), &things[i]);
            assert_null(get(((uint64_t)i << (round * 20)) + NODES));
        }
        for (unsigned i = 0; i < NODES; i++) {
            take(i);
            if (i % 97 == 0)
                assert_int_equal(walk(), NODES - 1 - i);
        }
        for (unsigned i = 0; i < NODES; i++) { /* each update does its part of the shrinking */
            if (i % 16 == 0)
                pawl_rcu_synchronize();
            put(i, i);
            take(i);
        }
        assert_int_equal(level(), 6);
    }
}

TEST_CASE_WITH(without_memory_nothing_is_lost, begin, end)
{
    unsigned i;
    no_memory = true;
    for (i = 0; i < 500; i++)
        put(i, i);
    assert_int_equal(level(), PAWL_TABLE_FIRST);
    assert_int_equal(walk(), 500);
    no_memory = false;
    for (; i < NODES; i++)
        put(i, i);
    assert_in_range(level(), 10, 13);
    for (i = 0; i < NODES; i++)
        assert_ptr_equal(get(i), &things[i]);
}

TEST_CASE_WITH(nodes_of_one_key_stay_in_order_of_insertion, begin, end)
{
    for (unsigned i = 0; i < 40; i++)
        put(i, 7);
    put(40, 8);
    take(0);
    take(20);
    assert_ptr_equal(get(7), &things[1]);
    pawl_rcu_read_lock();
    const pawl_table_node *n = pawl_table_get(&table, pawl_table_number(7));
    for (unsigned i = 1; i < 40; i++) {
        if (i == 20)
            continue;
        assert_ptr_equal(of(n), &things[i]);
        n = pawl_table_step(&table, n);
    }
    pawl_rcu_read_unlock();
    assert_true(level() < 6); /* one key needs no buckets */
}

TEST_CASE_WITH(of_one_key_a_unique_insertion_leaves_the_first, begin, end)
{
    put(0, 5);
    assert_ptr_equal(pawl_table_insert_unique(&table, &things[1].node, pawl_table_number(5)),
                     &things[0].node);
    assert_null(pawl_table_insert_unique(&table, &things[1].node, pawl_table_number(6)));
    things[1].in = true;
    assert_int_equal(walk(), 2);
}

TEST_CASE_WITH(a_node_takes_the_place_of_another, begin, end)
{
    put(0, 5);
    put(1, 5);
    assert_true(pawl_table_replace(&table, &things[0].node, &things[2].node));
    things[2].in = true;
    things[0].in = false;
    assert_ptr_equal(get(5), &things[2]);
    assert_int_equal(walk(), 2);
    take(2);
    assert_ptr_equal(get(5), &things[1]);
}

#if !PAWL_CHECKED
TEST_CASE_WITH(mistakes_leave_the_table_as_it_was, begin, end)
{
    put(0, 5);
    put(1, 6);
    assert_ptr_equal(pawl_table_insert_unique(&table, &things[0].node, pawl_table_number(9)),
                     &things[0].node);
    assert_false(pawl_table_replace(&table, &things[0].node, &things[1].node));
    take(0);
    assert_false(pawl_table_remove(&table, &things[0].node));
    assert_false(pawl_table_remove(&table, &things[2].node));
    assert_false(pawl_table_replace(&table, &things[0].node, &things[2].node));
    assert_int_equal(walk(), 1);
}
#endif

TEST_CASE(keys_of_equal_hash_are_told_apart_by_the_program)
{
    pawl_table_options options = {NULL, NULL, NULL, NULL};
    pawl_table names;
    memset(things, 0, sizeof things);
    options.same = same;
    pawl_table_init(&names, &options);
    for (unsigned i = 0; i < 100; i++) {
        (void)snprintf(things[i].name, sizeof things[i].name, "name %u", i);
        assert_null(pawl_table_insert_unique(&names, &things[i].node,
                                             pawl_table_hashed(i % 5, things[i].name)));
    }
    assert_ptr_equal(
        pawl_table_insert_unique(&names, &things[100].node, pawl_table_hashed(2, "name 97")),
        &things[97].node);
    pawl_rcu_read_lock();
    for (unsigned i = 0; i < 100; i++)
        assert_ptr_equal(pawl_table_get(&names, pawl_table_hashed(i % 5, things[i].name)),
                         &things[i].node);
    assert_null(pawl_table_get(&names, pawl_table_hashed(1, "name 0")));
    pawl_rcu_read_unlock();
    assert_int_not_equal(pawl_table_bytes("ab", 2).order, pawl_table_bytes("ba", 2).order);
    pawl_table_destroy(&names);
}

TEST_CASE_WITH(a_walk_goes_on_after_the_removal_of_its_node, begin, end)
{
    unsigned i, met = 0;
    for (i = 0; i < 300; i++)
        put(i, i);
    pawl_rcu_read_lock();
    for (const pawl_table_node *n = pawl_table_from(&table, 0); n != NULL;
         n = pawl_table_step(&table, n), met++)
        take((unsigned)(of(n) - things));
    pawl_rcu_read_unlock();
    assert_int_equal(met, 300);
    assert_int_equal(walk(), 0);
}

TEST_CASE_WITH(a_walk_of_several_sections_goes_on_behind_the_last_order, begin, end)
{
    uint64_t order = 0;
    unsigned i, met = 0;
    bool more = true;
    for (i = 0; i < 100; i++)
        put(i, i);
    while (more) {
        pawl_rcu_read_lock();
        const pawl_table_node *n = pawl_table_from(&table, order);
        more = n != NULL;
        if (more) {
            met++;
            order = n->order + 1;
        }
        pawl_rcu_read_unlock();
        put(100 + met, 1000 + met); /* may be met too */
        take(100 + met);
    }
    assert_int_equal(met, 100);
}

/* Windows has no fork. */
#ifndef _WIN32
TEST_CASE_WITH(the_child_of_a_fork_goes_on_with_the_table, begin, end)
{
    unsigned i;
    int status = 0;
    for (i = 0; i < 65; i++) /* a growth has begun */
        put(i, i);
    pid_t child = fork();
    if (child == 0) {
        for (; i < 1000; i++)
            put(i, i);
        for (i = 0; i < 1000; i++) {
            must(get(i) == &things[i]);
            must(pawl_table_remove(&table, &things[i].node));
        }
        must(get(1) == NULL);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(walk(), 65);
}
#endif

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
