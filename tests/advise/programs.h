/* SPDX-License-Identifier: MIT */
/*
 * What the programs of this folder share. Each shows one rule of `pawl advise`; started with the
 * word `mended` it does the same job without the fault, and no rule may speak.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../support/program.h"

static inline bool is_mended(int count, char **words)
{
    return count > 1 && strcmp(words[1], "mended") == 0;
}

static inline void take(sem_t *s)
{
    while (sem_wait(s) != 0)
        continue;
}

/* All threads at once. */
static inline void together(void *(*call)(void *), size_t n)
{
    pthread_t ids[16];
    for (size_t i = 0; i < n; i++)
        must(pthread_create(&ids[i], NULL, call, (void *)i) == 0);
    for (size_t i = 0; i < n; i++)
        must(pthread_join(ids[i], NULL) == 0);
}

/* One after the other. */
static inline void in_turn(void *(*call)(void *), size_t n)
{
    pthread_t id;
    for (size_t i = 0; i < n; i++)
        must(pthread_create(&id, NULL, call, (void *)i) == 0 && pthread_join(id, NULL) == 0);
}
