/* SPDX-License-Identifier: MIT */
/* Shared by the two sources of trees: words, bits of keys, and the place that a search finds. */
#ifndef PAWL_TREE_PARTS_H
#define PAWL_TREE_PARTS_H

#include <pawl/tree.h>

#include "../base/base.h"

/* Above these are the depths of inner parts whose nodes have one key: UINT32_MAX less the height. A
 * leaf has height 0. Each insertion of a key adds one to a counter of heights, hence the 64. */
#define TREE_EQUAL (UINT32_MAX - 64)

/* Words that point up: the address of the branches there, the side, and whether it is the root. */
#define TREE_ROOT ((uintptr_t)2)

/* ---- Words ----------------------------------------------------------------------------------- */

static inline pawl_tree_node *tree_leaf(pawl_tree_node *n)
{
    return (pawl_tree_node *)((uintptr_t)n | 1);
}

static inline bool tree_is_leaf(const pawl_tree_node *word)
{
    return ((uintptr_t)word & 1) != 0;
}

static inline pawl_tree_node *tree_node(pawl_tree_node *word)
{
    return (pawl_tree_node *)((uintptr_t)word & ~(uintptr_t)1);
}

static inline uintptr_t tree_up(pawl_tree_node *n, unsigned side)
{
    return (uintptr_t)n | side;
}

static inline uintptr_t tree_root(const pawl_tree *t)
{
    return (uintptr_t)t->root | TREE_ROOT;
}

/* The word that points to what has this word up. */
static inline pawl_tree_node **tree_link(uintptr_t up)
{
    return (pawl_tree_node **)(up & ~(uintptr_t)3) + (up & 1);
}

static inline pawl_tree_node *tree_above(uintptr_t up)
{
    return (pawl_tree_node *)(up & ~(uintptr_t)3);
}

static inline pawl_tree_node *tree_read(pawl_tree_node *const *link)
{
    return pawl_rcu_dereference_protected(*link);
}

/* In the kind: two nodes had one key. */
#define TREE_TWINS (UINT32_C(1) << 31)

static inline uint32_t tree_kind(const pawl_tree *t)
{
    return pawl_load_relaxed32(&t->kind) & ~TREE_TWINS;
}

static inline uint32_t tree_depth(const pawl_tree_node *word)
{
    return tree_is_leaf(word) ? UINT32_MAX : pawl_load_relaxed32(&word->depth);
}

static inline void tree_hang(pawl_tree_node *word, uintptr_t up)
{
    if (tree_is_leaf(word))
        tree_node(word)->leaf_up = up;
    else
        word->inner_up = up;
}

/* ---- Searching (tree_find.c) ----------------------------------------------------------------- */

/* The bit at that depth. Beyond the key's end, and among nodes of one key: 0, the first. */
PAWL_ALWAYS_INLINE_ static inline unsigned tree_bit(uint32_t kind, const pawl_tree_key *key,
                                                    uint32_t depth)
{
    uint32_t at, i;
    if (kind == PAWL_TREE_NUMBERS)
        return depth < 64 ? (unsigned)(key->value.number >> (63 - depth)) & 1 : 0;
    at = depth / (kind + 1);
    if (at >= key->length || depth % (kind + 1) == 0)
        return at < key->length;
    i = at * kind + depth % (kind + 1) - 1;
    return ((const unsigned char *)key->value.bytes)[i / 8] >> (7 - i % 8) & 1;
}

/* Where a key belongs: the word that is to be replaced, and up from there. Below it all keys have
 * `common` bits in common with this one; TREE_EQUAL: all are this key. */
struct tree_place {
    uintptr_t up;
    pawl_tree_node *word;
    uint32_t common;
};

PAWL_INTERNAL struct tree_place tree_search(const pawl_tree *t, const pawl_tree_key *key);
/* The first (0) or last (1) node below. */
PAWL_INTERNAL pawl_tree_node *tree_outermost(pawl_tree_node *word, unsigned side);

#endif
