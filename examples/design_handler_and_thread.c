/* SPDX-License-Identifier: MIT */
/*
 * Data shared by a thread and its signal handler. The handler interrupts the thread at any point,
 * so it can never wait for the thread: not for a lock that the thread holds. It tries. If the
 * thread is inside, the handler leaves a note, and the thread does the handler's work after its
 * drop. Then the thread looks again, because a signal can come at any instant.
 */
#define _POSIX_C_SOURCE 200809L
#include <pawl/spin.h>

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "example.h"

struct shared {
    pawl_spin32 lock;
    unsigned long events, events_too; /* equal whenever the lock is free */
};

static struct shared shared;
static atomic_ulong notes; /* events not yet entered; lock-free, so handlers may use it */

/* [quote begin] */
static void enter_notes(struct shared *s)
{
    while (atomic_load(&notes) != 0 && pawl_try_write(&s->lock)) {
        const unsigned long n = atomic_exchange(&notes, 0);
        s->events += n;
        s->events_too += n;
        pawl_drop_write(&s->lock); /* a note left meanwhile: the loop looks again */
    }
}

static void handler(int number)
{
    (void)number;
    atomic_fetch_add(&notes, 1);
    enter_notes(&shared); /* fails at once if the thread is inside */
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum { SIGNALS = 400 / EXAMPLE_LESS };

static pthread_t worker;
static atomic_bool started, ended;
static atomic_ulong handled;     /* by the handler's own count */
static atomic_ulong left_a_note; /* it found the thread inside */

static void counting_handler(int number)
{
    atomic_fetch_add(&handled, 1);
    if (!pawl_spin32_is_free(&shared.lock))
        atomic_fetch_add(&left_a_note, 1);
    handler(number);
}

static void *work(void *arg)
{
    unsigned long rounds = 0;

    (void)arg;
    worker = pthread_self();
    atomic_store(&started, true);
    while (!atomic_load(&ended)) {
        pawl_take_write(&shared.lock); /* the handler never holds it when the thread runs */
        CHECK(shared.events == shared.events_too);
        shared.events++;
        pawl_cpu_relax();
        shared.events_too++;
        pawl_drop_write(&shared.lock);
        enter_notes(&shared);
        rounds++;
    }
    CHECK(shared.events == shared.events_too && atomic_load(&notes) == 0);
    CHECK(shared.events == rounds + atomic_load(&handled));
    return NULL;
}

static void *send(void *arg)
{
    (void)arg;
    while (!atomic_load(&started))
        sched_yield();
    /* Wait for each signal: several pending signals of one kind count as one. */
    for (int i = 0; i < SIGNALS; i++) {
        CHECK(pthread_kill(worker, SIGUSR1) == 0);
        while (atomic_load(&handled) <= (unsigned long)i)
            sched_yield();
    }
    atomic_store(&ended, true);
    return NULL;
}

int main(void)
{
    static void *(*const all[])(void *) = {work, send};
    struct sigaction action = {0};

    action.sa_handler = counting_handler;
    sigemptyset(&action.sa_mask);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    run_threads(2, all);
    CHECK(atomic_load(&handled) == SIGNALS);
    printf("%d signals, %lu of them while the thread was inside; none lost\n", SIGNALS,
           atomic_load(&left_a_note));
    return 0;
}
