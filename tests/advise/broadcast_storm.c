/* SPDX-License-Identifier: MIT */
/* A broadcast for each item wakes all consumers, and one gets it. Mended: a signal. */
#include "programs.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t there = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
static int items, asleep, woken, left = 100;
static bool signals;

static void *consumer(void *unused)
{
    must(pthread_mutex_lock(&mutex) == 0);
    while (left > 0) {
        if (items > 0) {
            items--;
            left--;
            continue;
        }
        if (++asleep == 6)
            must(pthread_cond_signal(&idle) == 0);
        must(pthread_cond_wait(&there, &mutex) == 0);
        asleep--;
        woken++;
    }
    must(pthread_cond_signal(&idle) == 0);
    must(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

/* An item only when all sleep that the one before has woken: so each broadcast wakes all. It was
 * enough that all slept. The producer then took the mutex before a thread that it had woken, found
 * all asleep still, and made many items for one wake. It also polled, which is another fault. */
static void *producer(void *unused)
{
    for (int i = 0; i < 100; i++) {
        must(pthread_mutex_lock(&mutex) == 0);
        while (asleep != 6 || (!signals && woken < 6 * i))
            must(pthread_cond_wait(&idle, &mutex) == 0);
        items++;
        if (signals)
            must(pthread_cond_signal(&there) == 0);
        else
            must(pthread_cond_broadcast(&there) == 0);
        must(pthread_mutex_unlock(&mutex) == 0);
    }
    must(pthread_mutex_lock(&mutex) == 0);
    while (left > 0)
        must(pthread_cond_wait(&idle, &mutex) == 0);
    must(pthread_mutex_unlock(&mutex) == 0);
    must(pthread_cond_broadcast(&there) == 0);
    return NULL;
}

static void *either(void *number)
{
    return (size_t)number == 0 ? producer(NULL) : consumer(NULL);
}

int main(int count, char **words)
{
    signals = is_mended(count, words);
    together(either, 7);
    return 0;
}
