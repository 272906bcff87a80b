/* SPDX-License-Identifier: MIT */
/* A thread that waits for the lock of widths.h. For basic.c and life.c. */
#pragma once

#include "pshared/widths.h"

#include <semaphore.h>

static uint64_t now_and(uint64_t ns)
{
    return (uint64_t)(test_now() * 1e9) + ns;
}

static const uint64_t ms = 1000000;

struct task {
    const struct width *x;
    void *lock;
    unsigned as;
    uint64_t deadline;
    bool got;
    sem_t done;
};

static void *take_for(void *argument)
{
    struct task *t = (struct task *)argument;
    t->got = t->x->take[t->as](t->lock, t->deadline);
    must(sem_post(&t->done) == 0);
    return NULL;
}

static pthread_t start(struct task *t, const struct width *x, unsigned as, uint64_t deadline)
{
    t->x = x;
    t->lock = &lock;
    t->as = as;
    t->deadline = deadline;
    t->got = false;
    must(sem_init(&t->done, 0, 0) == 0);
    const pthread_t id = test_start(take_for, t);
    return id;
}

/* Whether somebody sleeps at the lock, as far as the word shows it. */
static bool is_parked(const struct width *x)
{
    const uint64_t word = x->size == sizeof lock.l32 ? pawl_load_relaxed32(&lock.l32.word)
                                                     : pawl_load_relaxed64(&lock.l64.word);
    return (word & PAWL_PSHARED_PARKED) != 0;
}

static void until_parked(const struct width *x)
{
    while (!is_parked(x))
        sched_yield();
    usleep(2000);
}
