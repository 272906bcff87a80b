/* SPDX-License-Identifier: MIT */
/* Step 3 of doc/tutorial.md: an insertion searches beside the readers. */
#include <pawl/lock.h>

struct node {
    int key;
    struct node *child[2];
};

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

/* [quote begin] */
bool tree_insert(struct tree *t, struct node *n)
{
    struct node **link = &t->root;

    pawl_take_seek(&t->lock); /* was: pawl_take_write */
    while (*link && (*link)->key != n->key)
        link = &(*link)->child[n->key > (*link)->key];
    if (*link) {
        pawl_drop_seek(&t->lock);
        return false;
    }
    pawl_seek_to_write(&t->lock); /* new: W for one store */
    *link = n;
    pawl_drop_write(&t->lock);
    return true;
}
/* [quote end] */

static struct tree tree;

#include "tutorial.h"
