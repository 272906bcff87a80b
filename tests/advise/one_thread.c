/* SPDX-License-Identifier: MIT */
/* A lock that only one thread takes. Mended: without it. */
#include "programs.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long value;

static NOINLINE void add(bool locked)
{
    if (locked)
        must(pthread_mutex_lock(&mutex) == 0);
    value++;
    if (locked)
        must(pthread_mutex_unlock(&mutex) == 0);
}

int main(int count, char **words)
{
    const bool locked = !is_mended(count, words);
    for (long i = 0; i < 100000; i++)
        add(locked);
    return 0;
}
