/* SPDX-License-Identifier: MIT */
/* Eight locks, and a hash that gives nearly all to one. Mended: one that spreads. */
#include "programs.h"

static pthread_mutex_t locks[8];
static long sums[8];

static NOINLINE void add(size_t at)
{
    must(pthread_mutex_lock(&locks[at]) == 0);
    usleep(100);
    sums[at]++;
    must(pthread_mutex_unlock(&locks[at]) == 0);
}

static void *fault(void *number)
{
    for (size_t i = 0; i < 100; i++)
        add(i % 10 == 0 ? (i / 10 + (size_t)number) % 8 : 0);
    return NULL;
}

/* Each thread is at another lock than the other at a time. */
static void *mended(void *number)
{
    for (size_t i = 0; i < 100; i++)
        add((i % 4) + 4 * (size_t)number);
    return NULL;
}

int main(int count, char **words)
{
    for (size_t i = 0; i < 8; i++)
        must(pthread_mutex_init(&locks[i], NULL) == 0);
    together(is_mended(count, words) ? mended : fault, 2);
    return 0;
}
