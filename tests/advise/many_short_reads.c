/* SPDX-License-Identifier: MIT */
/* Short reads, all of them beside another reader, that is in all the time. Mended: long ones. */
#include "programs.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile long value;

static NOINLINE void read_often(void)
{
    long i, sum = 0;
    for (i = 0; i < 50000; i++) {
        must(pthread_rwlock_rdlock(&lock) == 0);
        sum += value;
        must(pthread_rwlock_unlock(&lock) == 0);
    }
    must(sum == 0);
}

static NOINLINE void read_long(void)
{
    long i, k, sum = 0;
    for (i = 0; i < 10; i++) {
        must(pthread_rwlock_rdlock(&lock) == 0);
        for (k = 0; k < 5000; k++)
            sum += value;
        must(pthread_rwlock_unlock(&lock) == 0);
    }
    must(sum == 0);
}

static void *fault(void *unused)
{
    read_often();
    return NULL;
}

static void *mended(void *unused)
{
    read_long();
    return NULL;
}

int main(int count, char **words)
{
    must(pthread_rwlock_rdlock(&lock) == 0);
    together(is_mended(count, words) ? mended : fault, 2);
    must(pthread_rwlock_unlock(&lock) == 0);
    return 0;
}
