/* SPDX-License-Identifier: MIT */
/* A reader that holds callbacks up for as long as a test likes. The includer defines READ_LOCK()
 * and READ_UNLOCK(). */
#pragma once

#include "test.h"

struct reader {
    pthread_barrier_t step;
    pthread_t thread;
};

static void *read_meanwhile(void *opaque)
{
    struct reader *r = (struct reader *)opaque;
    READ_LOCK();
    pthread_barrier_wait(&r->step);
    pthread_barrier_wait(&r->step);
    READ_UNLOCK();
    return NULL;
}

static void reader_begins(struct reader *r)
{
    must(pthread_barrier_init(&r->step, NULL, 2) == 0);
    r->thread = test_start(read_meanwhile, r);
    pthread_barrier_wait(&r->step);
}

static void reader_ends(struct reader *r)
{
    pthread_barrier_wait(&r->step);
    test_join(r->thread);
    pthread_barrier_destroy(&r->step);
}
