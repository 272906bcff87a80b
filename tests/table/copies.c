/* SPDX-License-Identifier: MIT */
/* Two copies of the library work on one table that grows and shrinks: an array that one of them
 * replaces stays while a thread of the other reads it. */
#include "table/calls.h"
#include "test.h"

#include <dlfcn.h>

enum { THREADS = 4, NODES = 1000 };

static pawl_table table;
static pawl_table_node nodes[THREADS][NODES];
static struct table_calls copies[2];

/* Numbers of thread i: i, i + THREADS, ... A removed node is not inserted again. */
static void work(void *unused, unsigned index)
{
    const struct table_calls *const own = &copies[index % 2];
    for (uint64_t i = 0; i < NODES; i++) {
        must(own->insert(&table, &nodes[index][i], i * THREADS + index));
        must(own->get(&table, i / 2 * THREADS + index) == &nodes[index][i / 2]);
    }
    for (uint64_t i = 0; i < NODES; i++) {
        must(own->remove(&table, &nodes[index][i]));
        must(own->get(&table, i * THREADS + index) == NULL);
    }
}

TEST_CASE(copies_of_the_library_share_a_table)
{
    void *const copy = dlopen(PROMISES_COPY, RTLD_NOW | RTLD_LOCAL);
    struct table_calls (*calls)(void);
    if (copy == NULL || PAWL_TSAN_) /* its clocks of RCU are each copy's own (rcu_told.h) */
        skip();
    *(void **)&calls = dlsym(copy, "promises_table");
    must(calls != NULL);
    copies[0] = table_calls_of_this_copy();
    copies[1] = calls();
    must(copies[0].insert != copies[1].insert);
    pawl_rcu_read_lock();
    assert_true(copies[1].reads()); /* they know one another */
    pawl_rcu_read_unlock();
    for (unsigned i = 0; i < TEST_SCALE(20u); i++) {
        memset(nodes, 0, sizeof nodes);
        test_threads(THREADS, work, NULL);
    }
    pawl_table_destroy(&table);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
