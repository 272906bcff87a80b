/* SPDX-License-Identifier: MIT */
/* A mutex around a number. Mended: each thread adds up, and adds its sum at the end. */
#include "programs.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long hits;

static NOINLINE void add(long n)
{
    must(pthread_mutex_lock(&mutex) == 0);
    hits += n;
    must(pthread_mutex_unlock(&mutex) == 0);
}

static void *fault(void *unused)
{
    for (long i = 0; i < 50000; i++)
        add(1);
    return NULL;
}

static void *mended(void *unused)
{
    volatile long mine = 0;
    while (mine < 50000)
        mine++;
    add(mine);
    return NULL;
}

int main(int count, char **words)
{
    together(is_mended(count, words) ? mended : fault, 2);
    must(hits == 100000);
    return 0;
}
