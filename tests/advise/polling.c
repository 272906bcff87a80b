/* SPDX-License-Identifier: MIT */
/* Looks every now and then whether there is work. Mended: waits for it. */
#include "programs.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t work;
static bool ready;

static NOINLINE bool is_ready(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    bool now = ready;
    must(pthread_mutex_unlock(&mutex) == 0);
    return now;
}

static NOINLINE void set_ready(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    ready = true;
    must(pthread_mutex_unlock(&mutex) == 0);
    must(sem_post(&work) == 0);
}

static void *fault(void *number)
{
    int looks = 0;
    if ((size_t)number == 1) {
        take(&work); /* the other has looked often enough */
        set_ready();
        return NULL;
    }
    while (!is_ready()) {
        if (++looks == 300)
            must(sem_post(&work) == 0);
        usleep(200);
    }
    return NULL;
}

static void *mended(void *number)
{
    if ((size_t)number == 1)
        set_ready();
    else
        take(&work);
    return NULL;
}

int main(int count, char **words)
{
    must(sem_init(&work, 0, 0) == 0);
    together(is_mended(count, words) ? mended : fault, 2);
    return 0;
}
