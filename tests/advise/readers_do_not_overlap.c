/* SPDX-License-Identifier: MIT */
/* Reads by one thread after the other. Mended: a mutex. */
#include "programs.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long values[2];

static void *fault(void *unused)
{
    long i, sum = 0;
    for (i = 0; i < 50000; i++) {
        must(pthread_rwlock_rdlock(&lock) == 0);
        sum += values[0];
        must(pthread_rwlock_unlock(&lock) == 0);
    }
    return (void *)sum;
}

static NOINLINE void first(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    values[0]++;
    must(pthread_mutex_unlock(&mutex) == 0);
}

static NOINLINE void second(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    values[1] += values[0];
    must(pthread_mutex_unlock(&mutex) == 0);
}

static void *mended(void *unused)
{
    for (long i = 0; i < 25000; i++) {
        first();
        second();
    }
    return NULL;
}

int main(int count, char **words)
{
    in_turn(is_mended(count, words) ? mended : fault, 2);
    return 0;
}
