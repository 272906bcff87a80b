/* SPDX-License-Identifier: MIT */
/*
 * Shared by the two sources of hash tables. A link (a bucket's head, or a node's next) is a node,
 * or an end with the level of the cut. Bit 1 of a node's own link says that the node has been
 * removed.
 */
#ifndef PAWL_TABLE_PARTS_H
#define PAWL_TABLE_PARTS_H

#include <pawl/table.h>

#include "../base/base.h"

/* The end in the head of a bucket whose nodes are in the other array: no look-up is at that level,
 * so each goes on there. */
#define HASH_MOVED 64

#define HASH_END ((uintptr_t)1)
#define HASH_OUT ((uintptr_t)2)

/* ---- Links ----------------------------------------------------------------------------------- */

static inline pawl_table_node *hash_end(uint32_t level)
{
    return (pawl_table_node *)((uintptr_t)level << 2 | HASH_END);
}

static inline bool hash_is_end(const pawl_table_node *word)
{
    return ((uintptr_t)word & HASH_END) != 0;
}

static inline uint32_t hash_level(const pawl_table_node *word)
{
    return (uint32_t)((uintptr_t)word >> 2);
}

static inline pawl_table_node *hash_node(pawl_table_node *word)
{
    return (pawl_table_node *)((uintptr_t)word & ~HASH_OUT);
}

/* Under the lock that its stores need. */
static inline pawl_table_node *hash_read(pawl_table_node *const *link)
{
    return pawl_rcu_dereference_protected(*link);
}

static inline bool hash_is_in(const pawl_table_node *n)
{
    const pawl_table_node *const word = hash_read(&n->next);
    return word != NULL && ((uintptr_t)word & HASH_OUT) == 0;
}

/* ---- Buckets --------------------------------------------------------------------------------- */

static inline struct ipawl_table_bucket_ *hash_bucket(const struct ipawl_table_array_ *array,
                                                      uint64_t order)
{
    return &array->buckets[(size_t)(order >> (64 - array->level))];
}

static inline size_t hash_size(const struct ipawl_table_array_ *array)
{
    return (size_t)1 << array->level;
}

#endif
