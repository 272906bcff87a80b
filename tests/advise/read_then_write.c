/* SPDX-License-Identifier: MIT */
/* Looks under the read lock, drops it, writes. Mended: looks and writes under one lock. */
#include "programs.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long value;

static NOINLINE void look_then_write(long wanted)
{
    must(pthread_rwlock_rdlock(&lock) == 0);
    long seen = value;
    must(pthread_rwlock_unlock(&lock) == 0);
    if (seen == wanted)
        return;
    must(pthread_rwlock_wrlock(&lock) == 0);
    value = wanted;
    must(pthread_rwlock_unlock(&lock) == 0);
}

static NOINLINE void look_and_write(long wanted)
{
    must(pthread_rwlock_wrlock(&lock) == 0);
    if (value != wanted)
        value = wanted;
    must(pthread_rwlock_unlock(&lock) == 0);
}

static void *fault(void *number)
{
    for (long i = 0; i < 20000; i++)
        look_then_write(i * 2 + (long)number);
    return NULL;
}

static void *mended(void *number)
{
    for (long i = 0; i < 20000; i++)
        look_and_write(i * 2 + (long)number);
    return NULL;
}

int main(int count, char **words)
{
    together(is_mended(count, words) ? mended : fault, 2);
    return 0;
}
