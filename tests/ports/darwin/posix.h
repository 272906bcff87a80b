/* SPDX-License-Identifier: MIT */
/* Put before each test that is built for macOS (-include), which lacks the barrier of POSIX. */
#pragma once

#include <pthread.h>
#include <stddef.h>

#define PTHREAD_BARRIER_SERIAL_THREAD 1

typedef struct pthread_barrier {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    unsigned count, arrived, round;
} pthread_barrier_t;

static inline int pthread_barrier_init(pthread_barrier_t *b, const void *attributes, unsigned count)
{
    b->count = count;
    b->arrived = b->round = 0;
    return pthread_mutex_init(&b->mutex, NULL) || pthread_cond_init(&b->condition, NULL);
}

static inline int pthread_barrier_destroy(pthread_barrier_t *b)
{
    return pthread_cond_destroy(&b->condition) || pthread_mutex_destroy(&b->mutex);
}

static inline int pthread_barrier_wait(pthread_barrier_t *b)
{
    unsigned round;
    (void)pthread_mutex_lock(&b->mutex);
    round = b->round;
    int last = ++b->arrived == b->count;
    if (last) {
        b->arrived = 0;
        b->round++;
        (void)pthread_cond_broadcast(&b->condition);
    }
    while (b->round == round)
        (void)pthread_cond_wait(&b->condition, &b->mutex);
    (void)pthread_mutex_unlock(&b->mutex);
    return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
