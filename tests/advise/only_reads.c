/* SPDX-License-Identifier: MIT */
/* A mutex around sections that only look. Mended: a table of one's own. */
#include "programs.h"

enum { KEYS = 512 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long table[KEYS];

static NOINLINE long find(const long *all, long key, pthread_mutex_t *m)
{
    long i, found = -1;
    (void)pthread_mutex_lock(m);
    for (i = 0; i < KEYS; i++)
        if (all[i] == key)
            found = i;
    (void)pthread_mutex_unlock(m);
    return found;
}

static void *fault(void *unused)
{
    for (int i = 0; i < 30000; i++)
        must(find(table, 1 + i, &mutex) == -1);
    return NULL;
}

static void *mended(void *unused)
{
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    long copy[KEYS] = {0};
    for (int i = 0; i < 3000; i++)
        must(find(copy, 1 + i, &own) == -1);
    return NULL;
}

int main(int count, char **words)
{
    together(is_mended(count, words) ? mended : fault, 4);
    return 0;
}
