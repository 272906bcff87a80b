/* SPDX-License-Identifier: MIT */
/* A log and a table under one lock, each of one thread. Mended: a lock each. */
#include "programs.h"

static pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER, of_log = PTHREAD_MUTEX_INITIALIZER;
static sem_t inside;
static long lines, entries;

/* The other thread begins while this one is in: so it waits. */
static NOINLINE void add_line(pthread_mutex_t *m)
{
    must(pthread_mutex_lock(m) == 0);
    must(sem_post(&inside) == 0);
    usleep(200);
    lines++;
    must(pthread_mutex_unlock(m) == 0);
}

static NOINLINE void add_entry(pthread_mutex_t *m)
{
    take(&inside);
    must(pthread_mutex_lock(m) == 0);
    entries++;
    must(pthread_mutex_unlock(m) == 0);
}

static void run(long number, pthread_mutex_t *log, pthread_mutex_t *table)
{
    for (int i = 0; i < 100; i++) {
        if (number == 0)
            add_line(log);
        else
            add_entry(table);
    }
}

static void *fault(void *number)
{
    run((long)number, &global, &global);
    return NULL;
}

static void *mended(void *number)
{
    run((long)number, &of_log, &global);
    return NULL;
}

int main(int count, char **words)
{
    must(sem_init(&inside, 0, 0) == 0);
    together(is_mended(count, words) ? mended : fault, 2);
    return 0;
}
