/* SPDX-License-Identifier: MIT */
/* Step 1 of doc/tutorial.md: one mutex. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct node {
    int key;
    struct node *child[2];
};

/* [quote begin] */
struct tree {
    pthread_mutex_t lock;
    struct node *root;
};

bool tree_contains(struct tree *t, int key)
{
    pthread_mutex_lock(&t->lock);
    const struct node *n = t->root;
    while (n && n->key != key)
        n = n->child[key > n->key];
    pthread_mutex_unlock(&t->lock);
    return n != NULL;
}

bool tree_insert(struct tree *t, struct node *n)
{
    struct node **link = &t->root;

    pthread_mutex_lock(&t->lock);
    while (*link && (*link)->key != n->key)
        link = &(*link)->child[n->key > (*link)->key];
    if (*link) {
        pthread_mutex_unlock(&t->lock); /* the key is there already */
        return false;
    }
    *link = n;
    pthread_mutex_unlock(&t->lock);
    return true;
}
/* [quote end] */

static struct tree tree = {PTHREAD_MUTEX_INITIALIZER, NULL};

#include "tutorial.h"
