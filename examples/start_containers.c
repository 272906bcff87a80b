/* SPDX-License-Identifier: MIT */
/* A map of a million entries that eight threads share: the program of doc/start/containers.md. */
/* [quote begin] */
#include <pawl/tree.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 8, ENTRIES = 1000000 };

static struct entry {
    pawl_tree_node node;
    unsigned value;
} entries[ENTRIES];
static pawl_tree map; /* zero bytes: an empty map of numbers */

static void *serve(void *argument)
{
    unsigned *const found = argument, i = *found;
    for (*found = 0; i < ENTRIES; i += THREADS) {
        pawl_rcu_read_lock(); /* a removed entry is freed a grace period later */
        pawl_tree_node *n = pawl_tree_get(&map, pawl_tree_number(i * 40503ull));
        *found += n && PAWL_TREE_OBJECT(struct entry, node, n)->value == i;
        pawl_rcu_read_unlock();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned results[THREADS], i, found = 0;
    for (i = 0; i < ENTRIES; i++) {
        entries[i].value = i;
        pawl_tree_insert(&map, &entries[i].node, pawl_tree_number(i * 40503ull));
    }
    for (i = 0; i < THREADS; i++) {
        results[i] = i;
        pthread_create(&threads[i], NULL, serve, &results[i]);
    }
    for (i = 0; i < THREADS; found += results[i++])
        pthread_join(threads[i], NULL);
    printf("%u of %d look-ups found their entry\n", found, ENTRIES);
    return found != ENTRIES;
}
/* [quote end] */
