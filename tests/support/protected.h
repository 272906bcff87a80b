/* SPDX-License-Identifier: MIT */
/* What a lock protects in a stress test, and what a thread does with it in each mode. Before it the
 * includer may define WORKER_ALSO_HAS, further fields of a thread, and LINGER_ALSO(w, kind), a
 * further delay. */
#pragma once

#include "test.h"

#ifndef LINGER_ALSO
#define LINGER_ALSO(w, kind) (void)0
#endif

/* W changes all; A adds to `sum`; S owns `seeker`. */
struct protected_data {
    uint64_t number, complement; /* one is always the other's complement when nobody is in W */
    uint64_t sum;
    uint64_t seeker;
};

struct worker {
    struct protected_data *data;
    uint64_t *writes, *additions; /* how many it has done */
    uint64_t random;
    unsigned index;
    WORKER_ALSO_HAS
};

/* A delay of any size, so that others come at every moment. */
static void linger(struct worker *w)
{
    const unsigned kind = test_random_below(&w->random, 64);
    unsigned hints = kind < 40 ? 0 : test_random_below(&w->random, 1u << (kind % 10));
    if (kind == 63)
        sched_yield();
    LINGER_ALSO(w, kind);
    while (hints-- > 0)
        pawl_cpu_relax();
}

static uint64_t look(struct worker *w)
{
    const uint64_t number = w->data->number;
    must(w->data->complement == ~number);
    linger(w);
    must(w->data->number == number);
    return number;
}

static uint64_t read_all(struct worker *w)
{
    const uint64_t sum = w->data->sum;
    const uint64_t number = look(w);
    must(w->data->sum == sum); /* nobody adds beside a reader */
    return number;
}

static uint64_t seek(struct worker *w)
{
    w->data->seeker = w->index;
    const uint64_t number = read_all(w);
    must(w->data->seeker == w->index);
    return number;
}

static void write_all(struct worker *w)
{
    w->data->number++;
    linger(w);
    w->data->complement = ~w->data->number;
    w->data->sum++;
    w->writes[0]++;
    w->additions[0]++;
}

static uint64_t add(struct worker *w)
{
    __atomic_fetch_add(&w->data->sum, 1, __ATOMIC_RELAXED);
    w->additions[0]++;
    return look(w);
}
