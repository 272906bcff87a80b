/* SPDX-License-Identifier: MIT */
/*
 * A clock, as a kernel keeps it. Now and then a timer thread notes the time, the count of a fast
 * counter at that time, and the rate of the counter. All other threads read the note and add the
 * counter's progress since then. Threads read it under a sequence lock. Signal handlers, which may
 * have interrupted the timer thread in the middle of a note, read a latch.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pawl/seq.h>

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "example.h"

enum { READERS = 2, TICKS = 20000 / EXAMPLE_LESS, SIGNALS = 1000 / EXAMPLE_LESS };

struct note {
    uint64_t count; /* of the counter */
    uint64_t ns;    /* of the clock, then */
    uint64_t rate;  /* ns of the clock in 1024 counts since */
    uint64_t sum;   /* of the three, to be checked */
};

/* Stands for the CPU's counter. */
static uint64_t counter(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t time_at(const struct note *n, uint64_t count)
{
    CHECK(n->sum == n->count + n->ns + n->rate);
    return count <= n->count ? n->ns : n->ns + (count - n->count) * n->rate / 1024;
}

/* [quote begin] */
PAWL_SEQ_TYPE(note_seq, struct note);
PAWL_SEQ_LATCH_TYPE(note_latch, struct note);

static note_seq note = PAWL_SEQ_TYPE_INIT;
static note_latch note_for_handlers = PAWL_SEQ_LATCH_TYPE_INIT;

uint64_t clock_read(void)
{
    struct note n;
    uint64_t count;
    pawl_seq_word begun;
    do {
        begun = pawl_seq_begin(&note.seq);
        note_seq_peek(&note, &n);
        count = counter(); /* in the section: the note is the one of this moment */
    } while (pawl_seq_retry(&note.seq, begun));
    return time_at(&n, count);
}

uint64_t clock_read_in_handler(void)
{
    struct note n;
    note_latch_read(&note_for_handlers, &n); /* never waits for the interrupted thread */
    return time_at(&n, counter());
}

void clock_tick(uint64_t rate) /* the timer thread only: no lock is needed between writers */
{
    struct note n;
    pawl_seq_begin_write(&note.seq);
    note_seq_peek(&note, &n);
    uint64_t count = counter();
    n.ns = time_at(&n, count);
    n.count = count;
    n.rate = rate;
    n.sum = n.count + n.ns + n.rate;
    pawl_seq_copy_in(note.words, &n, sizeof n);
    pawl_seq_end_write(&note.seq);
    note_latch_write_alone(&note_for_handlers, &n);
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

/* The time by which the clock may seem to go back to a thread. The rate changes by some percent,
 * and a note is not quite as old as the count beside it. */
#define SLACK_NS 100000u

static atomic_uint ticks_left = TICKS, handled;
static pthread_t timer;
static atomic_bool timer_runs, timer_may_end;

static void handler(int number)
{
    (void)number;
    (void)clock_read_in_handler(); /* checks that the note was whole */
    atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
}

static void *tick(void *unused)
{
    uint32_t random = 1;
    (void)unused;
    timer = pthread_self();
    atomic_store(&timer_runs, true);
    pawl_seq_declare_writer(&note.seq);
    pawl_seq_latch_declare_writer(&note_for_handlers.seq);
    while (atomic_load(&ticks_left) > 0) {
        clock_tick(1000 + example_random(&random) % 48);
        atomic_fetch_sub(&ticks_left, 1);
    }
    while (!atomic_load(&timer_may_end))
        clock_tick(1024);
    return NULL;
}

static void *read_on(void *unused)
{
    uint64_t last = 0;
    (void)unused;
    while (atomic_load(&ticks_left) > 0) {
        const uint64_t now = clock_read();
        CHECK(now + SLACK_NS >= last);
        last = now;
    }
    return NULL;
}

static void *disturb(void *unused)
{
    (void)unused;
    while (!atomic_load(&timer_runs))
        sched_yield();
    for (unsigned i = 0; i < SIGNALS; i++) {
        CHECK(pthread_kill(timer, SIGUSR1) == 0);
        while (atomic_load_explicit(&handled, memory_order_relaxed) == i)
            sched_yield();
    }
    atomic_store(&timer_may_end, true);
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {tick, read_on, read_on, disturb};
    struct sigaction action = {0};

    action.sa_handler = handler;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    run_threads(2 + READERS, work);
    CHECK(atomic_load(&handled) == SIGNALS);
    printf("%d ticks, %d handlers in the middle of them, every note whole\n", TICKS, SIGNALS);
    return 0;
}
