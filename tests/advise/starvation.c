/* SPDX-License-Identifier: MIT */
/*
 * Two readers hand over: one is always in, and the C library's lock lets it in although a writer
 * waits. Mended: there are moments without a reader.
 */
#include "programs.h"

enum { ROUNDS = 25 };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t turn[2], writes;
static bool hands_over;

static NOINLINE void read_a_while(size_t me)
{
    must(pthread_rwlock_rdlock(&lock) == 0);
    if (hands_over)
        must(sem_post(&turn[1 - me]) == 0);
    usleep(5000);
    if (hands_over)
        take(&turn[me]); /* the other one is in */
    must(pthread_rwlock_unlock(&lock) == 0);
    if (!hands_over) {
        must(sem_post(&turn[1 - me]) == 0);
        take(&turn[me]);
    }
}

static void *reader(void *number)
{
    const size_t me = (size_t)number;
    if (me == 1)
        take(&turn[1]);
    else
        must(sem_post(&writes) == 0);
    for (int i = 0; i < ROUNDS; i++)
        read_a_while(me);
    must(sem_post(&turn[1 - me]) == 0);
    return NULL;
}

static void *writer(void *unused)
{
    take(&writes);
    usleep(2000); /* a reader is in */
    must(pthread_rwlock_wrlock(&lock) == 0);
    must(pthread_rwlock_unlock(&lock) == 0);
    return NULL;
}

static void *either(void *number)
{
    return (size_t)number == 2 ? writer(number) : reader(number);
}

int main(int count, char **words)
{
    hands_over = !is_mended(count, words);
    must(sem_init(&turn[0], 0, 0) == 0 && sem_init(&turn[1], 0, 0) == 0);
    must(sem_init(&writes, 0, 0) == 0);
    together(either, 3);
    return 0;
}
