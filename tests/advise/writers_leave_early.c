/* SPDX-License-Identifier: MIT */
/* Takes the write lock to look, and writes seldom. Mended: looks under the read lock. */
#include "programs.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static long values[20000];
static sem_t inside[2];

static NOINLINE void refresh(long i)
{
    for (long n = 0; n < 20000; n++)
        values[n] += i;
}

static NOINLINE bool is_stale(long i)
{
    return i % 10 == 0 && values[0] < i;
}

static NOINLINE void look(long i)
{
    must(pthread_rwlock_rdlock(&lock) == 0);
    (void)is_stale(i);
    must(pthread_rwlock_unlock(&lock) == 0);
}

/* Readers that meet: that is what a read-write lock is for. */
static void meet(long number)
{
    for (int i = 0; i < 20; i++) {
        must(pthread_rwlock_rdlock(&lock) == 0);
        must(sem_post(&inside[1 - number]) == 0);
        take(&inside[number]);
        must(pthread_rwlock_unlock(&lock) == 0);
    }
}

static void *fault(void *number)
{
    meet((long)number);
    for (long i = 0; i < 400; i++) {
        look(i);
        must(pthread_rwlock_wrlock(&lock) == 0);
        if (i % 10 == 0)
            refresh(i);
        must(pthread_rwlock_unlock(&lock) == 0);
    }
    return NULL;
}

/* Each thread's writes are few: what is read before them is no pattern. */
static void *mended(void *number)
{
    meet((long)number);
    for (long i = 0; i < 400; i++) {
        look(i);
        if (i % 10 == 5 * (long)number) {
            must(pthread_rwlock_wrlock(&lock) == 0);
            refresh(i);
            must(pthread_rwlock_unlock(&lock) == 0);
        }
    }
    return NULL;
}

int main(int count, char **words)
{
    must(sem_init(&inside[0], 0, 0) == 0 && sem_init(&inside[1], 0, 0) == 0);
    together(is_mended(count, words) ? mended : fault, 2);
    return 0;
}
