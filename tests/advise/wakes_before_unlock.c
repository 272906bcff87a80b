/* SPDX-License-Identifier: MIT */
/* A signal, and then work, before the mutex is released that the woken thread needs. Mended: the
 * signal comes after the release, and the work after both. */
#include "programs.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t there = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
static int round_number;
static bool is_asleep;
static bool early;

enum { ROUNDS = 40 };

static int64_t cpu_ns(void)
{
    struct timespec t;
    must(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void work(void)
{
    const int64_t begun = cpu_ns();
    while (cpu_ns() - begun < 500000)
        continue;
}

static void *waiter(void *unused)
{
    int seen = 0;
    must(pthread_mutex_lock(&mutex) == 0);
    while (seen < ROUNDS) {
        is_asleep = true;
        must(pthread_cond_signal(&idle) == 0);
        while (round_number == seen)
            must(pthread_cond_wait(&there, &mutex) == 0);
        seen++;
    }
    must(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

static NOINLINE void wake_and_work(void)
{
    must(pthread_cond_signal(&there) == 0);
    work();
    must(pthread_mutex_unlock(&mutex) == 0);
}

static NOINLINE void unlock_and_wake(void)
{
    must(pthread_mutex_unlock(&mutex) == 0);
    must(pthread_cond_signal(&there) == 0);
    work();
}

static void *waker(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        must(pthread_mutex_lock(&mutex) == 0);
        while (!is_asleep)
            must(pthread_cond_wait(&idle, &mutex) == 0);
        is_asleep = false;
        round_number++;
        if (early)
            wake_and_work();
        else
            unlock_and_wake();
    }
    return NULL;
}

static void *either(void *number)
{
    return (size_t)number == 0 ? waker(NULL) : waiter(NULL);
}

int main(int count, char **words)
{
    early = !is_mended(count, words);
    together(either, 2);
    return 0;
}
