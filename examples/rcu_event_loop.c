/* SPDX-License-Identifier: MIT */
/*
 * The quiescent-state flavour. A thread with an event loop holds no pointer to shared data between
 * two events, and announces this once in a round. In return its read sections begin and end without
 * an instruction. Before it sleeps it goes offline; otherwise an update would wait until it wakes
 * up.
 *
 * This is for threads and loops of the program's own. A library cannot ask its callers for
 * quiescent states, and a thread that forgets to announce them stops every update. So the flavour
 * has a domain of its own, pawl_rcu_qs().
 */
#define _POSIX_C_SOURCE 200809L
#include <pawl/rcu.h>
#include <pawl/spin.h>

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "example.h"

struct settings {
    unsigned version;
    unsigned limits[8]; /* each is the version */
};

static struct settings *settings;
static pawl_spin32 changing;

static bool next_event(unsigned *events);
static void wait_for_events(void);
static void handle(const struct settings *s);
static void fill(struct settings *s, unsigned version);

/* [quote begin] */
static void *event_loop(void *arg)
{
    unsigned events = (unsigned)(intptr_t)arg;

    pawl_rcu_qs_online();
    while (next_event(&events)) {
        pawl_rcu_qs_read_lock(); /* no instruction, but for the checking variant */
        handle(pawl_rcu_domain_dereference(pawl_rcu_qs(), settings));
        pawl_rcu_qs_read_unlock();
        pawl_rcu_qs_quiescent(); /* this thread keeps no pointer from this round */
        if (events % 512 == 0) {
            pawl_rcu_qs_offline(); /* no update waits for us while we sleep */
            wait_for_events();
            pawl_rcu_qs_online();
        }
    }
    pawl_rcu_qs_offline();
    return NULL;
}

void change_settings(struct settings *fresh)
{
    pawl_take_write(&changing);
    fill(fresh, settings->version + 1);
    struct settings *old = pawl_rcu_xchg_pointer(&settings, fresh);
    pawl_drop_write(&changing);
    pawl_rcu_domain_synchronize(pawl_rcu_qs()); /* each loop has come round, or sleeps */
    memset(old, 0, sizeof *old);
    free(old);
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum { CHANGES = 4000 / EXAMPLE_LESS, LOOPS = 3, THREADS = LOOPS + 1 };

static atomic_bool over;
static atomic_ulong handled;
static int times;

static bool next_event(unsigned *events)
{
    ++*events;
    return !atomic_load_explicit(&over, memory_order_relaxed);
}

static void wait_for_events(void)
{
    const struct timespec nap = {0, 20000};

    nanosleep(&nap, NULL);
}

static void handle(const struct settings *s)
{
    const unsigned long before = atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);

    for (int i = 0; i < 8; i++) {
        if (before % 64 == 0)
            sched_yield();                                    /* time for a change */
        CHECK(s->version != 0 && s->limits[i] == s->version); /* whole, and not freed */
    }
}

static void fill(struct settings *s, unsigned version)
{
    s->version = version;
    for (int i = 0; i < 8; i++)
        s->limits[i] = version;
}

static struct settings *new_settings(void)
{
    struct settings *s = (struct settings *)calloc(1, sizeof *s);

    CHECK(s);
    return s;
}

static void *change(void *arg)
{
    (void)arg;
    for (unsigned long i = 0; i < (unsigned long)CHANGES * (unsigned long)times; i++) {
        change_settings(new_settings());
        while (atomic_load(&handled) < i)
            sched_yield(); /* so that there is an event for each */
    }
    atomic_store(&over, true);
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {event_loop, event_loop, event_loop, change};

    times = example_times(argc, argv);
    settings = new_settings();
    fill(settings, 1);
    run_threads(THREADS, work);
    CHECK(settings->version == 1 + (unsigned)(CHANGES * times));
    printf("%lu events handled while the settings changed %d times\n", atomic_load(&handled),
           CHANGES * times);
    free(settings);
    return 0;
}
