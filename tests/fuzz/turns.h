/* SPDX-License-Identifier: MIT */
/*
 * A few real threads that take turns, so that what they do together is one sequence: `turn_of(i,
 * function, argument)` calls the function in thread i and returns when it has returned. A thread
 * may be ended, by turn_ends(i), with what it holds; the next turn of i starts another one.
 */
#pragma once

#include "test.h"

#include <semaphore.h>

enum { TURNS = 3 };

static struct turn_thread {
    pthread_t id;
    sem_t go, done;
    void (*function)(void *); /* NULL: end */
    void *argument;
    bool runs;
} turn_threads[TURNS];

static inline void turn_wait(sem_t *s)
{
    while (sem_wait(s) != 0)
        must(errno == EINTR);
}

static inline void *turn_main(void *opaque)
{
    struct turn_thread *self = (struct turn_thread *)opaque;
    for (;;) {
        turn_wait(&self->go);
        if (self->function == NULL)
            return NULL;
        self->function(self->argument);
        must(sem_post(&self->done) == 0);
    }
}

static inline void turn_of(unsigned i, void (*function)(void *), void *argument)
{
    struct turn_thread *t = &turn_threads[i];
    if (!t->runs) {
        must(sem_init(&t->go, 0, 0) == 0 && sem_init(&t->done, 0, 0) == 0);
        t->id = test_start(turn_main, t);
        t->runs = true;
    }
    t->function = function;
    t->argument = argument;
    must(sem_post(&t->go) == 0);
    turn_wait(&t->done);
}

static inline void turn_ends(unsigned i)
{
    struct turn_thread *t = &turn_threads[i];
    if (!t->runs)
        return;
    t->function = NULL;
    must(sem_post(&t->go) == 0);
    test_join(t->id);
    must(sem_destroy(&t->go) == 0 && sem_destroy(&t->done) == 0);
    t->runs = false;
}

static inline void turns_end(void)
{
    for (unsigned i = 0; i < TURNS; i++)
        turn_ends(i);
}
