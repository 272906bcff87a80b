/* SPDX-License-Identifier: MIT */
/* Two faults more for gains.py, and the changes that mend them. */
#include "../advise/programs.h"

static pthread_mutex_t hashed[16];
static volatile long number;
static bool mended;

/* One mutex for a whole hash; or sixteen. */
static void *hash(void *me)
{
    for (size_t i = 0; i < 3000; i++) {
        pthread_mutex_t *const m = &hashed[mended ? (i + 4 * (size_t)me) % 16 : 0];
        must(pthread_mutex_lock(m) == 0);
        for (int k = 0; k < 40000; k++)
            __asm__ volatile("");
        must(pthread_mutex_unlock(m) == 0);
    }
    return NULL;
}

/* A stream is locked for each character, and one thread reads; or it is not. */
static void *characters(void *me)
{
    for (int i = 0; me == NULL && i < 1000000; i++) {
        if (!mended)
            must(pthread_mutex_lock(hashed) == 0);
        number += i;
        if (!mended)
            must(pthread_mutex_unlock(hashed) == 0);
    }
    return NULL;
}

int main(int count, char **words)
{
    for (int i = 0; i < 16; i++)
        must(pthread_mutex_init(&hashed[i], NULL) == 0);
    mended = is_mended(count, words);
    together(count == 3 ? hash : characters, 4);
    return 0;
}
