/* SPDX-License-Identifier: MIT */
/* A plug-in that takes a lock, for truth.c. NAME is the function that does it, so that its sites
 * have a name of their own. */
#include <pthread.h>

void takes(pthread_mutex_t *mutex, int n);

static __attribute__((noinline)) void NAME(pthread_mutex_t *mutex, int n)
{
    while (n-- > 0) {
        (void)pthread_mutex_lock(mutex);
        (void)pthread_mutex_unlock(mutex);
    }
}

void takes(pthread_mutex_t *mutex, int n)
{
    NAME(mutex, n);
}
