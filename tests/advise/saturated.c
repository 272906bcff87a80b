/* SPDX-License-Identifier: MIT */
/* Two threads work inside the section, so one works at a time. Mended: they work outside. */
#include "programs.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long done;

static NOINLINE void work_inside(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    usleep(300);
    done++;
    must(pthread_mutex_unlock(&mutex) == 0);
}

static NOINLINE void work_outside(void)
{
    usleep(300);
    must(pthread_mutex_lock(&mutex) == 0);
    done++;
    must(pthread_mutex_unlock(&mutex) == 0);
}

static void *fault(void *unused)
{
    for (int i = 0; i < 100; i++)
        work_inside();
    return NULL;
}

static void *mended(void *unused)
{
    for (int i = 0; i < 100; i++)
        work_outside();
    return NULL;
}

int main(int count, char **words)
{
    together(is_mended(count, words) ? mended : fault, 2);
    must(done == 200);
    return 0;
}
