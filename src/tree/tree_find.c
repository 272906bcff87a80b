/* SPDX-License-Identifier: MIT */
/*
 * Trees: searches, under a lock and without. A key is a row of bits, and no key is the beginning of
 * another one. A number has 64. In a block a one stands before each byte, in a prefix before each
 * bit, and a zero behind the last. So one search serves all kinds. The place where a prefix ends is
 * a bit of its own, which match looks at.
 */
#include "tree_parts.h"

/* ---- Keys ------------------------------------------------------------------------------------ */

/* How many first bits two keys of blocks or prefixes have in common. All before `from` are. */
static inline uint32_t tree_common_bytes(uint32_t kind, const pawl_tree_key *key,
                                         const pawl_tree_node *n, uint32_t from)
{
    const unsigned char *const a = (const unsigned char *)key->value.bytes;
    const unsigned char *const b = (const unsigned char *)n->value.bytes;
    const uint32_t least = key->length < n->length ? key->length : n->length;
    const uint32_t bits = least * kind;
    uint32_t i = from / (kind + 1) * kind & ~7U;
    for (; i < bits; i += 8) {
        const unsigned differ = a[i / 8] ^ b[i / 8];
        if (differ != 0) {
            i += (uint32_t)__builtin_clz(differ) - 24;
            break;
        }
    }
    if (i < bits)
        return i / kind * (kind + 1) + 1 + i % kind;
    return key->length == n->length ? TREE_EQUAL : least * (kind + 1);
}

PAWL_ALWAYS_INLINE_ static inline uint32_t tree_common(uint32_t kind, const pawl_tree_key *key,
                                                       const pawl_tree_node *n, uint32_t from)
{
    if (kind == PAWL_TREE_NUMBERS) {
        const uint64_t differ = key->value.number ^ n->value.number;
        return differ == 0 ? TREE_EQUAL : (uint32_t)__builtin_clzll(differ);
    }
    return tree_common_bytes(kind, key, n, from);
}

/* ---- Searching ------------------------------------------------------------------------------- */

PAWL_ALWAYS_INLINE_ static inline struct tree_place
tree_search_kind(const pawl_tree *t, uint32_t kind, const pawl_tree_key *key)
{
    struct tree_place place = {tree_root(t), tree_read(t->root), 0};
    uint32_t from = 0;
    while (place.word != NULL) {
        pawl_tree_node *const n = tree_node(place.word);
        const uint32_t depth = tree_depth(place.word);
        unsigned side;
        place.common = tree_common(kind, key, n, from);
        if (place.common < depth)
            break;
        side = tree_bit(kind, key, depth);
        place.up = tree_up(n, side);
        place.word = tree_read(&n->branch[side]);
        from = depth;
    }
    return place;
}

PAWL_INTERNAL struct tree_place tree_search(const pawl_tree *t, const pawl_tree_key *key)
{
    const uint32_t kind = tree_kind(t);
    if (kind == PAWL_TREE_NUMBERS)
        return tree_search_kind(t, PAWL_TREE_NUMBERS, key);
    if (kind == PAWL_TREE_BYTES)
        return tree_search_kind(t, PAWL_TREE_BYTES, key);
    return tree_search_kind(t, PAWL_TREE_PREFIXES, key);
}

PAWL_INTERNAL pawl_tree_node *tree_outermost(pawl_tree_node *word, unsigned side)
{
    while (word != NULL && !tree_is_leaf(word))
        word = tree_read(&word->branch[side]);
    return tree_node(word);
}

/* The node behind (0) or before (1) all that is below. */
static pawl_tree_node *tree_beside(uintptr_t up, unsigned towards)
{
    while ((up & TREE_ROOT) == 0 && (up & 1) != towards)
        up = tree_above(up)->inner_up;
    if ((up & TREE_ROOT) != 0)
        return NULL;
    return tree_outermost(tree_read(&tree_above(up)->branch[!towards]), towards);
}

pawl_tree_node *pawl_tree_near(const pawl_tree *t, pawl_tree_key key, unsigned towards)
{
    const struct tree_place place = tree_search(t, &key);
    if (place.word == NULL)
        return NULL;
    if (place.common == TREE_EQUAL || tree_bit(tree_kind(t), &key, place.common) == towards)
        return tree_outermost(place.word, towards);
    return tree_beside(place.up, towards);
}

pawl_tree_node *pawl_tree_end(const pawl_tree *t, unsigned towards)
{
    return tree_outermost(tree_read(t->root), towards);
}

pawl_tree_node *pawl_tree_step(const pawl_tree_node *n, unsigned towards)
{
    return tree_beside(n->leaf_up, towards);
}

/* The first branch of a part that parts where a key ends is that key. */
pawl_tree_node *pawl_tree_match(const pawl_tree *t, pawl_tree_key key)
{
    const uint32_t kind = tree_kind(t), unit = kind + 1;
    pawl_tree_node *word = tree_read(t->root), *best = NULL;
    uint32_t from = 0;
    while (word != NULL && unit != 1) {
        pawl_tree_node *const n = tree_node(word);
        const uint32_t depth = tree_depth(word), common = tree_common(kind, &key, n, from);
        if (common < depth) {
            if (common == TREE_EQUAL || common == n->length * unit)
                best = word;
            break;
        }
        if (depth % unit == 0)
            best = tree_read(&n->branch[0]);
        word = tree_read(&n->branch[tree_bit(kind, &key, depth)]);
        from = depth;
    }
    return tree_outermost(best, 0);
}

/* ---- Look-ups of one key --------------------------------------------------------------------- */

static inline pawl_tree_node *tree_follow(pawl_tree_node *const *link, const pawl_seq_word *begun)
{
    return begun != NULL ? pawl_rcu_dereference(*link) : tree_read(link);
}

/* The part's own leaf lies below it, so a part whose node has the key ends the look-up. This saves
 * the lowest parts, which no CPU's cache has in a large tree. With twins the first node is further
 * down: their insertion says so before it stores a link, and whoever saw that link sees it. */
static inline bool tree_is_here(const pawl_tree *t, uint32_t kind, const pawl_tree_key *key,
                                const pawl_tree_node *word)
{
    return kind == PAWL_TREE_NUMBERS && word->value.number == key->value.number &&
           (pawl_load_relaxed32(&t->kind) & TREE_TWINS) == 0;
}

/* Goes down by the bits alone, and compares at the end. With `begun`, no lock is held: each word is
 * followed only while the sequence is as it was when the look-up began. Both branches are read, so
 * that neither waits for the depth. */
PAWL_ALWAYS_INLINE_ static inline bool tree_descend(const pawl_tree *t, uint32_t kind,
                                                    const pawl_tree_key *key,
                                                    const pawl_seq_word *begun,
                                                    pawl_tree_node **found)
{
    pawl_tree_node *word = tree_follow(t->root, begun);
    for (;;) {
        pawl_tree_node *first, *second;
        if (begun != NULL && pawl_seq_retry(&t->sequence, *begun))
            return false;
        if (word == NULL || tree_is_leaf(word) || tree_is_here(t, kind, key, word))
            break;
        first = tree_follow(&word->branch[0], begun);
        second = tree_follow(&word->branch[1], begun);
        word = tree_bit(kind, key, tree_depth(word)) != 0 ? second : first;
    }
    *found = tree_node(word);
    if (word != NULL)
        PLAIN_READ((*found)->length);
    if (word != NULL && tree_common(kind, key, *found, 0) != TREE_EQUAL)
        *found = NULL;
    return true;
}

static bool tree_look_up(const pawl_tree *t, const pawl_tree_key *key, const pawl_seq_word *begun,
                         pawl_tree_node **found)
{
    const uint32_t kind = tree_kind(t);
    if (kind == PAWL_TREE_BYTES)
        return tree_descend(t, PAWL_TREE_BYTES, key, begun, found);
    if (kind == PAWL_TREE_PREFIXES)
        return tree_descend(t, PAWL_TREE_PREFIXES, key, begun, found);
    return begun == NULL ? tree_descend(t, PAWL_TREE_NUMBERS, key, NULL, found)
                         : tree_descend(t, PAWL_TREE_NUMBERS, key, begun, found);
}

pawl_tree_node *pawl_tree_find(const pawl_tree *t, pawl_tree_key key)
{
    pawl_tree_node *found;
    (void)tree_look_up(t, &key, NULL, &found);
    return found;
}

pawl_tree_node *pawl_tree_get(pawl_tree *t, pawl_tree_key key)
{
    pawl_tree_node *found;
    pawl_seq_word begun;
    unsigned tries;
    for (tries = 0; tries < PAWL_TREE_TRIES; tries++)
        if (pawl_seq_try_begin(&t->sequence, &begun) && tree_look_up(t, &key, &begun, &found))
            return found;
    pawl_lock64_take_read(&t->lock);
    (void)tree_look_up(t, &key, NULL, &found);
    pawl_lock64_drop_read(&t->lock);
    return found;
}
