/* SPDX-License-Identifier: MIT */
/* Step 2 of doc/tutorial.md: readers beside each other. */
#include <pawl/lock.h>

struct node {
    int key;
    struct node *child[2];
};

/* [quote begin] */
struct tree {
    pawl_lock64 lock; /* zero is unlocked */
    struct node *root;
};

bool tree_contains(struct tree *t, int key)
{
    pawl_take_read(&t->lock);
    const struct node *n = t->root;
    while (n && n->key != key)
        n = n->child[key > n->key];
    pawl_drop_read(&t->lock);
    return n != NULL;
}

bool tree_insert(struct tree *t, struct node *n)
{
    struct node **link = &t->root;

    pawl_take_write(&t->lock);
    while (*link && (*link)->key != n->key)
        link = &(*link)->child[n->key > (*link)->key];
    if (*link) {
        pawl_drop_write(&t->lock); /* the key is there already */
        return false;
    }
    *link = n;
    pawl_drop_write(&t->lock);
    return true;
}
/* [quote end] */

static struct tree tree;

#include "tutorial.h"
