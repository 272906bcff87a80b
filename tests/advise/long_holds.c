/* SPDX-License-Identifier: MIT */
/* Sleeps in its section while another thread waits. Mended: sleeps before it. */
#include "programs.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t go, done;
static volatile long value, seen;

static void *waiter(void *unused)
{
    for (int i = 0; i < 10; i++) {
        take(&go);
        must(pthread_mutex_lock(&mutex) == 0);
        seen += value;
        must(pthread_mutex_unlock(&mutex) == 0);
        must(sem_post(&done) == 0);
    }
    return NULL;
}

static NOINLINE void slow_inside(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    must(sem_post(&go) == 0);
    usleep(5000);
    must(pthread_mutex_unlock(&mutex) == 0);
}

static NOINLINE void slow_outside(void)
{
    usleep(5000);
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_mutex_unlock(&mutex) == 0);
    must(sem_post(&go) == 0);
}

int main(int count, char **words)
{
    const bool mended = is_mended(count, words);
    pthread_t id;
    must(sem_init(&go, 0, 0) == 0 && sem_init(&done, 0, 0) == 0);
    must(pthread_create(&id, NULL, waiter, NULL) == 0);
    for (int i = 0; i < 10; i++) {
        if (mended)
            slow_outside();
        else
            slow_inside();
        take(&done);
    }
    must(pthread_join(id, NULL) == 0);
    return 0;
}
