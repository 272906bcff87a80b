/* SPDX-License-Identifier: MIT */
/*
 * A real-time thread waits for a lock that an ordinary one holds. Mended: it tries, and goes on.
 * Ends with 77 where the system allows no real-time thread.
 */
#include "programs.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t held, tried;
static bool mended;

static void *urgent(void *unused)
{
    take(&held);
    if (mended) {
        must(pthread_mutex_trylock(&mutex) != 0);
        must(sem_post(&tried) == 0);
        return NULL;
    }
    must(sem_post(&tried) == 0);
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

int main(int count, char **words)
{
    const struct sched_param priority = {.sched_priority = 1};
    pthread_attr_t how;
    pthread_t id;
    mended = is_mended(count, words);
    must(sem_init(&held, 0, 0) == 0 && sem_init(&tried, 0, 0) == 0);
    must(pthread_attr_init(&how) == 0);
    must(pthread_attr_setinheritsched(&how, PTHREAD_EXPLICIT_SCHED) == 0);
    must(pthread_attr_setschedpolicy(&how, SCHED_FIFO) == 0);
    must(pthread_attr_setschedparam(&how, &priority) == 0);
    if (pthread_create(&id, &how, urgent, NULL) != 0)
        return 77;
    must(pthread_mutex_lock(&mutex) == 0);
    must(sem_post(&held) == 0);
    take(&tried);
    usleep(20000); /* the other one must be waiting by now */
    must(pthread_mutex_unlock(&mutex) == 0);
    must(pthread_join(id, NULL) == 0);
    return 0;
}
