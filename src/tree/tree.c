/* SPDX-License-Identifier: MIT */
/* Trees: insertion, removal, walks and ends. */
#include "tree_parts.h"

#include <stdio.h>

#include "../check/check.h"

/* ---- The mode of a change -------------------------------------------------------------------- */

static void tree_begin(pawl_tree *t, unsigned how)
{
    if ((how & PAWL_TREE_HAS_ATOMIC) != 0) {
        pawl_lock64_assert_held_atomic(&t->lock);
        pawl_seq_take_write(&t->sequence);
    } else if ((how & PAWL_TREE_HAS_WRITE) != 0) {
        pawl_lock64_assert_held_write(&t->lock);
    } else {
        pawl_lock64_take_seek(&t->lock);
    }
}

static void tree_upgrade(pawl_tree *t, unsigned how)
{
    if ((how & (PAWL_TREE_HAS_WRITE | PAWL_TREE_HAS_ATOMIC)) == 0)
        pawl_lock64_seek_to_write(&t->lock);
}

static void tree_leave(pawl_tree *t, unsigned how, bool upgraded)
{
    if ((how & PAWL_TREE_HAS_ATOMIC) != 0)
        pawl_seq_drop_write(&t->sequence);
    else if ((how & PAWL_TREE_HAS_WRITE) != 0)
        return;
    else if (upgraded)
        pawl_lock64_drop_write(&t->lock);
    else
        pawl_lock64_drop_seek(&t->lock);
}

#if PAWL_CHECKED
#define TREE_SITE(n) ((n)->site = __builtin_return_address(0))
#define TREE_MISUSE(what, n, call) tree_misuse(what, n, call, __builtin_return_address(0))

/* The second place: of the call that brought the node where it is. */
static void tree_misuse(const char *what, const pawl_tree_node *n, const char *call,
                        const void *site)
{
    char text[256], place[160];
    ipawl_report_name_((ipawl_address_)(uintptr_t)n->site, place, sizeof place);
    (void)snprintf(text, sizeof text, n->site == NULL ? "%s" : "%s, last changed at %s", what,
                   place);
    ipawl_report_misuse_(text, "pawl_tree_node", n, call, site);
}
#else
#define TREE_SITE(n) ((void)(n))
#define TREE_MISUSE(what, n, call) ((void)(n))
#endif

/* ---- Inserting ------------------------------------------------------------------------------- */

/* Nodes of one key: the lowest place on the last branches where a height is missing, so that
 * heights grow as a counter does, and the depth is logarithmic. Returns the part's depth. */
static uint32_t tree_behind_equals(struct tree_place *place)
{
    struct tree_place at = *place;
    uint32_t above = 0, height, chosen = 0;
    for (;;) {
        height = UINT32_MAX - tree_depth(at.word);
        if (above == 0 || above > height + 1) {
            *place = at;
            chosen = height + 1;
        }
        if (height == 0)
            return UINT32_MAX - chosen;
        above = height;
        at.up = tree_up(at.word, 1);
        at.word = tree_read(tree_link(at.up));
    }
}

/* Hangs the node and its inner part into the place. For get it is one store (I1). */
static void tree_put(const struct tree_place *place, pawl_tree_node *n, uint32_t depth,
                     unsigned side)
{
    pawl_tree_node *word = tree_leaf(n);
    n->inner_up = 0;
    n->leaf_up = place->up;
    if (place->word != NULL) {
        pawl_store_relaxed32(&n->depth, depth);
        pawl_rcu_assign_pointer(n->branch[side], tree_leaf(n));
        pawl_rcu_assign_pointer(n->branch[!side], place->word);
        n->leaf_up = tree_up(n, side);
        n->inner_up = place->up;
        tree_hang(place->word, tree_up(n, !side));
        word = n;
    }
    pawl_rcu_assign_pointer(*tree_link(place->up), word);
}

pawl_tree_node *pawl_tree_insert_as(pawl_tree *t, pawl_tree_node *n, pawl_tree_key key,
                                    unsigned how)
{
    struct tree_place place;
    uint32_t depth;
    unsigned side = 1;
    tree_begin(t, how);
    place = tree_search(t, &key);
    if (n->leaf_up != 0)
        TREE_MISUSE("inserted twice", n, "pawl_tree_insert");
    if (n->leaf_up != 0 || (place.common == TREE_EQUAL && (how & PAWL_TREE_UNIQUE) != 0)) {
        pawl_tree_node *const there = n->leaf_up != 0 ? n : tree_outermost(place.word, 0);
        tree_leave(t, how, false);
        return there;
    }
    depth = place.common;
    if (depth == TREE_EQUAL) {
        depth = tree_behind_equals(&place);
        pawl_store_relaxed32(&t->kind, tree_kind(t) | TREE_TWINS);
    } else {
        side = tree_bit(tree_kind(t), &key, depth);
    }
    PLAIN_WRITE(n->length);
    n->value = key.value;
    n->length = key.length;
    TREE_SITE(n);
    tree_upgrade(t, how);
    tree_put(&place, n, depth, side);
    tree_leave(t, how, true);
    return NULL;
}

/* ---- Removing -------------------------------------------------------------------------------- */

/* The free part takes the place of the removed node's. Readers may stand in either. */
static void tree_move(pawl_tree *t, pawl_tree_node *free, const pawl_tree_node *n)
{
    unsigned side;
    pawl_seq_begin_write(&t->sequence);
    free->inner_up = n->inner_up;
    pawl_store_relaxed32(&free->depth, n->depth);
    for (side = 0; side < 2; side++) {
        pawl_tree_node *const word = tree_read(&n->branch[side]);
        pawl_rcu_assign_pointer(free->branch[side], word);
        tree_hang(word, tree_up(free, side));
    }
    pawl_rcu_assign_pointer(*tree_link(n->inner_up), free);
    pawl_seq_end_write(&t->sequence);
}

static void tree_take(pawl_tree *t, pawl_tree_node *n)
{
    pawl_tree_node *const above = tree_above(n->leaf_up), *other;
    pawl_tree_walk *w;
    for (w = t->walks; w != NULL; w = w->next)
        if (w->at == n)
            w->at = pawl_tree_step(n, 0);
    if ((n->leaf_up & TREE_ROOT) != 0) {
        pawl_rcu_assign_pointer(t->root[0], (pawl_tree_node *)NULL);
        return;
    }
    other = tree_read(&above->branch[!(n->leaf_up & 1)]);
    pawl_rcu_assign_pointer(*tree_link(above->inner_up), other);
    tree_hang(other, above->inner_up);
    above->inner_up = 0;
    if (above != n && n->inner_up != 0)
        tree_move(t, above, n);
}

bool pawl_tree_remove_as(pawl_tree *t, pawl_tree_node *n, unsigned how)
{
    bool in;
    tree_begin(t, how);
    in = n->leaf_up != 0;
    if (in) {
        tree_upgrade(t, how);
        tree_take(t, n);
        n->inner_up = n->leaf_up = 0;
        TREE_SITE(n);
    } else {
        TREE_MISUSE("removed what is not in", n, "pawl_tree_remove");
    }
    tree_leave(t, how, in);
    return in;
}

/* ---- Walks and ends -------------------------------------------------------------------------- */

void pawl_tree_walk_begin(pawl_tree *t, pawl_tree_walk *w)
{
    pawl_lock64_take_seek(&t->lock);
    w->at = pawl_tree_end(t, 0);
    w->next = t->walks;
    t->walks = w;
    pawl_lock64_drop_seek(&t->lock);
}

void pawl_tree_walk_end(pawl_tree *t, pawl_tree_walk *w)
{
    pawl_tree_walk **link;
    pawl_lock64_take_seek(&t->lock);
    for (link = &t->walks; *link != NULL && *link != w; link = &(*link)->next)
        continue;
    if (*link != NULL)
        *link = w->next;
    pawl_lock64_drop_seek(&t->lock);
}

void pawl_tree_node_destroy(pawl_tree_node *n)
{
    if (n->leaf_up != 0)
        TREE_MISUSE("destroyed in the tree", n, "pawl_tree_node_destroy");
}

void pawl_tree_destroy(pawl_tree *t)
{
    if (t->walks != NULL)
        MISUSE("destroyed beside a walk", "pawl_tree", t, "pawl_tree_destroy");
    pawl_seq_destroy(&t->sequence);
    pawl_lock64_destroy(&t->lock);
}
