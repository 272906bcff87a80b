/* SPDX-License-Identifier: MIT */
/*
 * A search tree: an insertion searches its place under S, beside the readers. It holds W only for
 * the one store that links the new node in.
 */
#include <pawl/spin.h>

#include "example.h"

struct node {
    int key;
    struct node *child[2];
};

struct tree {
    pawl_spin32 lock;
    struct node *root;
};

bool tree_insert(struct tree *t, struct node *n)
{
    /* [quote begin] */
    struct node **link = &t->root;
    pawl_take_seek(&t->lock); /* readers go on, other inserters wait */
    while (*link && (*link)->key != n->key)
        link = &(*link)->child[n->key > (*link)->key];
    if (*link) {
        pawl_drop_seek(&t->lock); /* the key is there already */
        return false;
    }
    pawl_seek_to_write(&t->lock); /* waits for the readers inside; no newcomer is granted */
    *link = n;
    pawl_drop_write(&t->lock);
    return true;
    /* [quote end] */
}

bool tree_contains(struct tree *t, int key)
{
    pawl_take_read(&t->lock);
    const struct node *n = t->root;
    while (n && n->key != key)
        n = n->child[key > n->key];
    pawl_drop_read(&t->lock);
    return n != NULL;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { KEYS = 500, STEP = 241, INSERTERS = 3, READERS = 1, ROUNDS = 2000 / EXAMPLE_LESS };

static struct tree tree; /* zero: an unlocked lock, an empty tree */
static struct node nodes[INSERTERS][KEYS];
static int inserted[INSERTERS];

/* All inserters try all keys in nearly the same order: they collide as often as they can. */
static void *insert_all(void *arg)
{
    const int me = (int)(intptr_t)arg;

    for (int i = 0; i < KEYS; i++) {
        struct node *n = &nodes[me][i];
        n->key = (i + me) * STEP % KEYS; /* all of them: STEP shares no factor with KEYS */
        n->child[0] = n->child[1] = NULL;
        if (tree_insert(&tree, n))
            inserted[me]++;
        CHECK(tree_contains(&tree, n->key));
    }
    return NULL;
}

/* A node that was once in the tree stays in it. */
static void *read_all(void *arg)
{
    bool seen[KEYS] = {false};

    (void)arg;
    for (int pass = 0; pass < 3; pass++) {
        for (int key = 0; key < KEYS; key++) {
            const bool here = tree_contains(&tree, key);
            CHECK(here || !seen[key]);
            seen[key] = here;
        }
    }
    return NULL;
}

/* Number of nodes, all keys between low and high in order. */
static int count(const struct node *n, int low, int high)
{
    if (!n)
        return 0;
    CHECK(low <= n->key && n->key <= high);
    return 1 + count(n->child[0], low, n->key - 1) + count(n->child[1], n->key + 1, high);
}

int main(void)
{
    static void *(*const work[])(void *) = {insert_all, insert_all, insert_all, read_all};

    for (int round = 1; round <= ROUNDS; round++) {
        tree.root = NULL;
        run_threads(INSERTERS + READERS, work);
        CHECK(inserted[0] + inserted[1] + inserted[2] == round * KEYS);
        CHECK(count(tree.root, 0, KEYS - 1) == KEYS);
        CHECK(pawl_spin32_is_free(&tree.lock));
    }
    printf("%d trees of %d keys, each inserted once\n", ROUNDS, KEYS);
    return 0;
}
