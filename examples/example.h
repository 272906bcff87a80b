/* SPDX-License-Identifier: MIT */
/* The code by which the examples run themselves and report failures. Not part of the library. */
#ifndef PAWL_EXAMPLES_EXAMPLE_H
#define PAWL_EXAMPLES_EXAMPLE_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with status 1 and the text of the condition, in every build type. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { EXAMPLE_THREADS_MAX = 16 };

/* Sanitizers make everything ten times slower, and need less work to find mistakes. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define EXAMPLE_LESS 20
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define EXAMPLE_LESS 20
#endif
#endif
#ifndef EXAMPLE_LESS
#define EXAMPLE_LESS 1
#endif

/* How many times its usual work a program does: its first argument, else 1. Stress tests pass
 * one. */
static inline int example_times(int argc, char **argv)
{
    const int times = argc > 1 ? atoi(argv[1]) : 1;

    CHECK(times > 0);
    return times;
}

struct example_start {
    void *(*work)(void *);
    pthread_mutex_t *gate;
    int number;
};

static inline void *example_thread(void *arg)
{
    const struct example_start *start = (const struct example_start *)arg;

    pthread_mutex_lock(start->gate);
    pthread_mutex_unlock(start->gate);
    return start->work((void *)(intptr_t)start->number);
}

/* Runs work[i] in a thread of its own for each i, with i as its argument, and waits for all. The
 * gate opens when all threads exist; otherwise the first would end before the last start. */
static inline void run_threads(int threads, void *(*const work[])(void *))
{
    pthread_t running[EXAMPLE_THREADS_MAX];
    struct example_start start[EXAMPLE_THREADS_MAX];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

    CHECK(threads <= EXAMPLE_THREADS_MAX);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < threads; i++) {
        start[i].work = work[i];
        start[i].gate = &gate;
        start[i].number = i;
        CHECK(pthread_create(&running[i], NULL, example_thread, &start[i]) == 0);
    }
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < threads; i++)
        CHECK(pthread_join(running[i], NULL) == 0);
}

/* xorshift32; the state must not be zero. */
static inline uint32_t example_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

#endif
