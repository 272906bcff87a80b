/* SPDX-License-Identifier: MIT */
/*
 * The frame of the cases of this folder, which have a known answer for `pawl advise`. Each is the
 * shape of a lock in a public report or a real program, which its comment names. The comment begins
 * with `fault` and rules of which one must speak, or with `innocent`: then no rule may. The test is
 * tests/tool/test_advise_table.py.
 *
 *     faults NAME
 */
#pragma once

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "../../support/program.h"

enum { MOST = 100, POOL = 200 };

static struct {
    const char *name;
    void (*call)(int);
    int threads, idle;
} cases[MOST];
static int cases_known, case_chosen;

/* The body of one of `n` threads, that has its number in `me`, beside `i` of a pool that sleep. */
#define CASE_WITH(c, n, i)                                                                         \
    static void c(int me);                                                                         \
    __attribute__((constructor)) static void add_##c(void)                                         \
    {                                                                                              \
        cases[cases_known].name = #c;                                                              \
        cases[cases_known].call = c;                                                               \
        cases[cases_known].threads = n;                                                            \
        cases[cases_known++].idle = i;                                                             \
    }                                                                                              \
    static void c(int me)
#define CASE(c, n) CASE_WITH(c, n, 0)

/* A lock in a function of its own, as most large programs have it. */
static NOINLINE void take(pthread_mutex_t *m)
{
    must(pthread_mutex_lock(m) == 0);
}

static NOINLINE void drop(pthread_mutex_t *m)
{
    must(pthread_mutex_unlock(m) == 0);
}

#define IN(m, what) (take(m), what, drop(m))

/* About so many microseconds of work. */
static NOINLINE void work(double us)
{
    for (long i = (long)(us * 2000); i > 0; i--)
        __asm__ volatile("");
}

static void *one_thread(void *me)
{
    cases[case_chosen].call((int)(long)me);
    return NULL;
}

static void *one_idle(void *pool)
{
    pthread_mutex_t *const mutex = (pthread_mutex_t *)pool;
    static pthread_cond_t job = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(mutex);
    for (;;)
        pthread_cond_wait(&job, mutex);
    return NULL;
}

/* A program that hangs is ended by an alarm. */
static inline void hang_for(long us)
{
    struct itimerval soon;
    memset(&soon, 0, sizeof soon);
    soon.it_value.tv_usec = us;
    must(setitimer(ITIMER_REAL, &soon, NULL) == 0);
}

int main(int count, char **words)
{
    static pthread_mutex_t pool = PTHREAD_MUTEX_INITIALIZER;
    pthread_t ids[16], other;
    while (count > 1 && case_chosen < cases_known && strcmp(words[1], cases[case_chosen].name) != 0)
        case_chosen++;
    must(count == 2 && case_chosen < cases_known);
    for (long i = 0; i < cases[case_chosen].idle; i++)
        must(pthread_create(&other, NULL, one_idle, &pool) == 0);
    for (long i = 0; i < cases[case_chosen].threads; i++)
        must(pthread_create(&ids[i], NULL, one_thread, (void *)i) == 0);
    for (long i = 0; i < cases[case_chosen].threads; i++)
        must(pthread_join(ids[i], NULL) == 0);
    fflush(NULL);
    _exit(0);
}
