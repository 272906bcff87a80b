/* SPDX-License-Identifier: MIT */
/* The calls of a table by one copy of the library. */
#pragma once

#include <pawl/rcu.h>
#include <pawl/table.h>

struct table_calls {
    bool (*insert)(pawl_table *t, pawl_table_node *n, uint64_t number);
    bool (*remove)(pawl_table *t, pawl_table_node *n);
    pawl_table_node *(*get)(pawl_table *t, uint64_t number);
    bool (*reads)(void);
};

static inline bool table_insert(pawl_table *t, pawl_table_node *n, uint64_t number)
{
    return pawl_table_insert_unique(t, n, pawl_table_number(number)) == NULL;
}

static inline bool table_remove(pawl_table *t, pawl_table_node *n)
{
    return pawl_table_remove(t, n);
}

static inline pawl_table_node *table_get(pawl_table *t, uint64_t number)
{
    pawl_rcu_read_lock();
    pawl_table_node *n = pawl_table_get(t, pawl_table_number(number));
    pawl_rcu_read_unlock();
    return n;
}

static inline bool table_reads(void)
{
    return pawl_rcu_read_held();
}

static inline struct table_calls table_calls_of_this_copy(void)
{
    const struct table_calls calls = {table_insert, table_remove, table_get, table_reads};
    return calls;
}
