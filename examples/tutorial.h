/* SPDX-License-Identifier: MIT */
/* The threads and the checks of the tutorial's programs: each includes this when it has defined
 * struct tree, tree_insert and tree_contains. */
#ifndef PAWL_EXAMPLES_TUTORIAL_H
#define PAWL_EXAMPLES_TUTORIAL_H

#include "example.h"

enum { KEYS = 500, STEP = 241, INSERTERS = 3, ROUNDS = 500 / EXAMPLE_LESS };

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
    static void *(*const work[])(void *) = {insert_all, insert_all, insert_all};

    for (int round = 1; round <= ROUNDS; round++) {
        tree.root = NULL;
        run_threads(INSERTERS, work);
        CHECK(inserted[0] + inserted[1] + inserted[2] == round * KEYS);
        CHECK(count(tree.root, 0, KEYS - 1) == KEYS);
    }
    printf("%d trees of %d keys, each inserted once\n", ROUNDS, KEYS);
    return 0;
}

#endif
