/* SPDX-License-Identifier: MIT */
/*
 * Pure RCU: handlers come and go while many threads dispatch events. There is no structure to read,
 * only code. All threads must have left that code before its context is closed. So the remover
 * takes the handler out of its slot and then waits for a grace period. After that no thread runs
 * the handler, or will run it: its context can be closed and freed.
 *
 * Dispatch costs two loads and an indirect call. A handler must not wait for its remover. One that
 * starts itself again, as a timer's does, is first asked to stop, and the remover waits for its
 * answer: no grace period ends a chain of restarts.
 */
#include <pawl/rcu.h>
#include <pawl/wait.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct handler {
    void (*run)(struct handler *self, int event);
    void *context;
};

enum { EVENTS = 4, TICKS = EVENTS };

static struct handler *handlers[EVENTS + 1];

/* [quote begin] */
bool dispatch(int event)
{
    pawl_rcu_read_lock();
    struct handler *h = pawl_rcu_dereference(handlers[event]);
    if (h)
        h->run(h, event); /* the handler cannot go away before it returns */
    pawl_rcu_read_unlock();
    return h != NULL;
}

/* False: the slot is taken. */
bool install(int event, struct handler *h)
{
    return pawl_rcu_cmpxchg_pointer(&handlers[event], NULL, h) == NULL;
}

/* Returns when no thread runs the handler any more; not from inside a handler. */
struct handler *take_out(int event)
{
    struct handler *h = pawl_rcu_xchg_pointer(&handlers[event], NULL);

    pawl_rcu_synchronize();
    return h;
}

struct timer {
    struct handler handler;
    atomic_bool stop;
    uint32_t stopped;
};

static void stop_timer(struct timer *t) /* the handler does not start itself again */
{
    atomic_store(&t->stop, true);
    while (__atomic_load_n(&t->stopped, __ATOMIC_ACQUIRE) == 0)
        pawl_wait32(&t->stopped, 0);
}
/* [quote end] */

static void run_timer(struct handler *self, int event)
{
    struct timer *t = (struct timer *)self->context;

    (void)event;
    if (!atomic_load(&t->stop))
        return; /* a timer would be started again here */
    __atomic_store_n(&t->stopped, 1, __ATOMIC_RELEASE);
    pawl_wake_all(&t->stopped);
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { ROUNDS = 1000 / EXAMPLE_LESS, DISPATCHERS = 3 };

struct device {
    struct handler handler;
    bool open; /* plain: only the grace period keeps the close from coming between */
    int event;
    atomic_long runs;
};

static atomic_long dispatched, run_by_devices;
static atomic_bool over;
static int times;

static void run_device(struct handler *self, int event)
{
    struct device *d = (struct device *)self->context;

    CHECK(d->open && d->event == event);
    atomic_fetch_add_explicit(&d->runs, 1, memory_order_relaxed);
}

static struct device *new_device(int event)
{
    struct device *d = (struct device *)calloc(1, sizeof *d);

    CHECK(d);
    d->handler.run = run_device;
    d->handler.context = d;
    d->event = event;
    d->open = true;
    return d;
}

static void *come_and_go(void *arg)
{
    uint32_t random = 1 + (uint32_t)(intptr_t)arg;
    struct timer *timer = (struct timer *)calloc(1, sizeof *timer);

    CHECK(timer);
    timer->handler.run = run_timer;
    timer->handler.context = timer;
    CHECK(install(TICKS, &timer->handler));
    for (int i = 0; i < ROUNDS * times; i++) {
        const int event = (int)(example_random(&random) % EVENTS);
        struct device *d = new_device(event), *refused = new_device(event);
        CHECK(install(event, &d->handler));
        CHECK(!install(event, &refused->handler));
        free(refused);
        if (i % 16 == 0)
            sched_yield(); /* so that events find it on few CPUs too */
        CHECK(take_out(event) == &d->handler);
        d->open = false;
        run_by_devices += atomic_load_explicit(&d->runs, memory_order_relaxed);
        free(d);
    }
    stop_timer(timer);
    CHECK(take_out(TICKS) == &timer->handler);
    free(timer);
    atomic_store(&over, true);
    return NULL;
}

static void *send(void *arg)
{
    uint32_t random = 100 + (uint32_t)(intptr_t)arg;

    while (!atomic_load(&over)) {
        dispatch(TICKS);
        if (dispatch((int)(example_random(&random) % EVENTS)))
            atomic_fetch_add_explicit(&dispatched, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {come_and_go, send, send, send};

    times = example_times(argc, argv);
    run_threads(1 + DISPATCHERS, work);
    CHECK(atomic_load(&dispatched) == atomic_load(&run_by_devices));
    printf("%d handlers came and went, and %ld events met one\n", ROUNDS * times,
           atomic_load(&dispatched));
    return 0;
}
