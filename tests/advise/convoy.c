/* SPDX-License-Identifier: MIT */
/* Eight threads stay in their section most of the time. Mended: each has a lock of its own. */
#include "programs.h"

static pthread_mutex_t mutexes[8];

static NOINLINE void work(pthread_mutex_t *mutex)
{
    for (int i = 0; i < 60; i++) {
        must(pthread_mutex_lock(mutex) == 0);
        usleep(100);
        must(pthread_mutex_unlock(mutex) == 0);
        usleep(1); /* another thread has its turn */
    }
}

static void *fault(void *unused)
{
    work(&mutexes[0]);
    return NULL;
}

static void *mended(void *number)
{
    work(&mutexes[(size_t)number]);
    return NULL;
}

int main(int count, char **words)
{
    for (size_t i = 0; i < 8; i++)
        must(pthread_mutex_init(&mutexes[i], NULL) == 0);
    together(is_mended(count, words) ? mended : fault, 8);
    return 0;
}
