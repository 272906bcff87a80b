/* SPDX-License-Identifier: MIT */
/* The program of doc/start/plock.md, for a reader who has plock today: half of it has new names. */
/* [quote begin] */
#include <pawl/compat/plock.h> /* was: #include "plock.h" and "atomic-ops.h" */
#include <pawl/spin.h>

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, KEYS = 1000 };

struct set {
    int used, keys[KEYS];
};

static unsigned long old_lock; /* 0 is unlocked, as before */
static pawl_spin64 new_lock = PAWL_SPIN64_INIT;
static struct set old_set, new_set;

static int found(const struct set *s, int key) /* the caller holds the lock, in any mode */
{
    for (int i = 0; i < s->used; i++)
        if (s->keys[i] == key)
            return 1;
    return 0;
}

static void insert_by_old_names(int key)
{
    pl_take_s(&old_lock);
    if (found(&old_set, key)) {
        pl_drop_s(&old_lock);
        return;
    }
    pl_stow(&old_lock);
    old_set.keys[old_set.used++] = key;
    pl_drop_w(&old_lock);
}

static void insert_by_new_names(int key)
{
    pawl_take_seek(&new_lock);
    if (found(&new_set, key)) {
        pawl_drop_seek(&new_lock);
        return;
    }
    pawl_seek_to_write(&new_lock);
    new_set.keys[new_set.used++] = key;
    pawl_drop_write(&new_lock);
}

static void *worker(void *unused)
{
    (void)unused;
    for (int key = 0; key < KEYS; key++) {
        insert_by_old_names(key);
        insert_by_new_names(key);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("old names: %d keys, each inserted once\n", old_set.used);
    printf("new names: %d keys, each inserted once\n", new_set.used);
    return old_set.used == KEYS && new_set.used == KEYS ? 0 : 1;
}
/* [quote end] */
