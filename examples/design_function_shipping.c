/* SPDX-License-Identifier: MIT */
/*
 * Data ownership with function shipping: each thread alone touches its own data, without lock or
 * atomic. A thread that needs work on another thread's data sends it a function. The owner runs the
 * functions in its mailbox at points of its choosing. Here each thread counts for itself, and now
 * and then a thread has all counts drained into one total.
 *
 * A thread that waits for an answer keeps serving its own mailbox; otherwise two threads that wait
 * for each other would wait for ever. A thread that has done its own work serves its mailbox until
 * no thread can send any more.
 */
#define _POSIX_C_SOURCE 200809L
#include <pawl/spin.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct owner {
    _Atomic(struct request *) mail; /* any thread pushes, the owner takes all */
    pthread_t thread;
    long count; /* the owner's, no other thread reads or writes it */
};

struct request {
    struct request *next;
    void (*run)(struct owner *mine, void *argument);
    void *argument;
    atomic_bool done;
};

static void ship(struct owner *to, struct request *r)
{
    r->next = atomic_load_explicit(&to->mail, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&to->mail, &r->next, r, memory_order_release,
                                                  memory_order_relaxed))
        continue;
}

static void serve(struct owner *mine)
{
    struct request *r, *next;

    if (!atomic_load_explicit(&mine->mail, memory_order_relaxed))
        return;
    r = atomic_exchange_explicit(&mine->mail, NULL, memory_order_acquire);
    for (; r; r = next) {
        next = r->next; /* once it is done the sender may reuse it */
        r->run(mine, r->argument);
        atomic_store_explicit(&r->done, true, memory_order_release);
    }
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { OWNERS = 4, TURNS = 200000 / EXAMPLE_LESS, DRAIN_EVERY = 1000 / EXAMPLE_LESS };

static struct owner owners[OWNERS];
static atomic_int busy = OWNERS;

struct total {
    pawl_spin32 lock;
    long sum;
};
static struct total total;

static void drain(struct owner *mine, void *argument)
{
    struct total *t = (struct total *)argument;

    CHECK(pthread_equal(mine->thread, pthread_self()));
    pawl_take_write(&t->lock);
    t->sum += mine->count;
    pawl_drop_write(&t->lock);
    mine->count = 0;
}

/* [quote begin] */
static void drain_all(struct owner *mine)
{
    struct request requests[OWNERS];

    for (int i = 0; i < OWNERS; i++) {
        requests[i].run = drain;
        requests[i].argument = &total;
        atomic_init(&requests[i].done, false);
        ship(&owners[i], &requests[i]);
    }
    for (int i = 0; i < OWNERS; i++)
        while (!atomic_load_explicit(&requests[i].done, memory_order_acquire)) {
            serve(mine); /* the owner that we wait for may be waiting for us */
            sched_yield();
        }
}
/* [quote end] */

static void *work(void *arg)
{
    struct owner *mine = &owners[(intptr_t)arg];

    mine->thread = pthread_self();
    for (int i = 0; i < TURNS; i++) {
        mine->count++; /* plain: only the owner may */
        if (i % DRAIN_EVERY == (int)(intptr_t)arg)
            drain_all(mine);
        serve(mine);
    }
    atomic_fetch_sub(&busy, 1);
    while (atomic_load(&busy) > 0) { /* a working thread may still send */
        serve(mine);
        sched_yield();
    }
    drain(mine, &total);
    return NULL;
}

int main(void)
{
    static void *(*const all[])(void *) = {work, work, work, work};

    run_threads(OWNERS, all);
    for (int i = 0; i < OWNERS; i++)
        CHECK(owners[i].count == 0 && atomic_load(&owners[i].mail) == NULL);
    CHECK(total.sum == (long)OWNERS * TURNS);
    printf("%ld counted without a lock, none lost\n", total.sum);
    return 0;
}
