/* SPDX-License-Identifier: MIT */
/* A program written against plock: a list that readers search, seekers change, and a count. */
#include "plock.h"
#include "atomic-ops.h"

#include <stddef.h>

struct node {
    unsigned long key;
    struct node *next;
};

static struct node *first;
static unsigned long lock;
static unsigned int count;

unsigned int next_number(unsigned int *number);

static int has(unsigned long key)
{
    const struct node *n;
    pl_take_r(&lock);
    for (n = first; n != NULL && n->key != key; n = n->next)
        continue;
    pl_drop_r(&lock);
    return n != NULL;
}

static int insert(struct node *node)
{
    pl_take_s(&lock);
    for (struct node *n = first; n != NULL; n = n->next)
        if (n->key == node->key) {
            pl_drop_s(&lock);
            return 0;
        }
    pl_stow(&lock);
    node->next = first;
    first = node;
    pl_xadd(&count, 1);
    pl_drop_w(&lock);
    return 1;
}

int main(void)
{
    static struct node a = {7, NULL}, b = {7, NULL};
    unsigned int number = 0;
    if (!insert(&a) || insert(&b) || !has(7) || has(8) || pl_load(&count) != 1)
        return 1;
    pl_store(&number, 0);
    return next_number(&number) == 11 && pl_load(&lock) == 0 ? 0 : 2;
}
