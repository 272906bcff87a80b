/* SPDX-License-Identifier: MIT */
/*
 * What the programs of cases share: PROGRAM JOB THREADS SECONDS has threads do one job again and
 * again, and prints operations a second. They know nothing of Pawl: the read-write locks of the
 * libraries that they use are what is measured.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_THREADS = 256 };

struct job {
    const char *name;
    void (*once)(void);
};

static const struct job *job;
static int stop;

/* Ends the program unless `condition` is true; the program says how, in `fails`. */
#define good(condition) (void)((condition) || (fails(#condition), 0))

static void fails(const char *what);

static double seconds_now(void)
{
    struct timespec t;
    good(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *work(void *count)
{
    uint64_t done = 0;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        job->once();
        done++;
    }
    *(uint64_t *)count = done;
    return NULL;
}

/* All of a main function. `make_all` makes what the threads share. */
static int run_jobs(int argc, char **argv, const struct job *jobs, size_t count,
                    void (*make_all)(void))
{
    static pthread_t threads[MOST_THREADS];
    static uint64_t counts[MOST_THREADS];
    const int wanted = argc == 4 ? atoi(argv[2]) : 0;
    const double seconds = argc == 4 ? atof(argv[3]) : 0;
    struct timespec pause;
    uint64_t all = 0;
    double begin;
    size_t j;
    int i;
    for (j = 0; argc == 4 && j < count; j++)
        if (strcmp(jobs[j].name, argv[1]) == 0)
            job = &jobs[j];
    if (job == NULL || wanted < 1 || wanted > MOST_THREADS || !(seconds > 0 && seconds < 3600)) {
        fprintf(stderr, "%s: say JOB, THREADS (1 to %d) and SECONDS\n", argv[0], MOST_THREADS);
        return 2;
    }
    make_all();
    begin = seconds_now();
    for (i = 0; i < wanted; i++)
        good(pthread_create(&threads[i], NULL, work, &counts[i]) == 0);
    pause.tv_sec = (time_t)seconds;
    pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
    (void)nanosleep(&pause, NULL);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < wanted; i++) {
        good(pthread_join(threads[i], NULL) == 0);
        all += counts[i];
    }
    printf("%.1f\n", (double)all / (seconds_now() - begin));
    return 0;
}
