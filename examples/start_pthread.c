/* SPDX-License-Identifier: MIT */
/* The program of doc/start/pthread.md, for a reader who has pthread_rwlock_t today. */
/* [quote begin] */
#include <pawl/lock.h>

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, KEYS = 1000 };

static pawl_lock64 lock = PAWL_LOCK64_INIT; /* was: pthread_rwlock_t, PTHREAD_RWLOCK_INITIALIZER */
static int keys[KEYS], used;

static int found(int key) /* the caller holds the lock, in any mode */
{
    for (int i = 0; i < used; i++)
        if (keys[i] == key)
            return 1;
    return 0;
}

static void insert(int key)
{
    pawl_take_seek(&lock); /* was: pthread_rwlock_wrlock; now readers go on meanwhile */
    if (found(key)) {
        pawl_drop_seek(&lock); /* was: pthread_rwlock_unlock */
        return;
    }
    pawl_seek_to_write(&lock); /* new: waits for the readers that are in */
    keys[used++] = key;
    pawl_drop_write(&lock); /* was: pthread_rwlock_unlock; the name says the mode */
}

static void *worker(void *unused)
{
    int present;
    (void)unused;
    for (int key = 0; key < KEYS; key++) {
        pawl_take_read(&lock); /* was: pthread_rwlock_rdlock */
        present = found(key);
        pawl_drop_read(&lock); /* was: pthread_rwlock_unlock */
        if (!present)
            insert(key);
    }
    return NULL;
}

static void *hasty(void *unused)
{
    const uint64_t deadline = pawl_now() + 10 * 1000 * 1000; /* in 10 ms, whatever the clock says */
    (void)unused;
    printf("try beside a writer: %s\n", pawl_try_read(&lock) ? "granted" : "refused");
    printf("10 ms beside a writer: %s\n",
           pawl_take_read_until(&lock, deadline) ? "granted" : "timed out");
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%d keys, each inserted once\n", used);

    pawl_take_write(&lock);
    pthread_create(&threads[0], NULL, hasty, NULL);
    pthread_join(threads[0], NULL);
    pawl_drop_write(&lock);
    return used == KEYS ? 0 : 1;
}
/* [quote end] */
