/* SPDX-License-Identifier: MIT */
/*
 * A table that threads change and search, and that the handler of a periodic timer signal reads:
 * here a sampler that adds up all entries at one instant. With pthread_rwlock the handler could not
 * read at all, or a writer would block the signal while it waits for the slowest reader. Here the
 * signal is blocked only while the table changes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pawl/sift.h>

#include "example.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { ENTRIES = 64, WRITERS = 2, SEARCHERS = 1, CHANGES = 20000 / EXAMPLE_LESS };

/* [quote begin] */
static struct table {
    pawl_sift lock;
    int64_t entries[ENTRIES]; /* their sum never changes */
} table;

static atomic_int samples, wrong; /* handlers run in several threads at once */

static void on_tick(int number) /* may interrupt any thread, also one that reads or writes */
{
    int64_t sum = 0;
    (void)number;
    pawl_sift_take_read(&table.lock, PAWL_SIFT_INTERRUPT);
    for (int i = 0; i < ENTRIES; i++)
        sum += table.entries[i];
    pawl_sift_drop_read(&table.lock, PAWL_SIFT_INTERRUPT);
    samples++;
    wrong += sum != 0;
}

static void move(int from, int to, int64_t amount)
{
    pawl_sift_take_write(&table.lock); /* SIGALRM is blocked from here */
    table.entries[from] -= amount;
    table.entries[to] += amount;
    pawl_sift_drop_write(&table.lock); /* to here, and nowhere else */
}

static int make_table(void)
{
    pawl_sift_use use;
    memset(&use, 0, sizeof use);
    use.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT);
    use.interrupt = PAWL_SIFT_SIGNAL(SIGALRM);
    return pawl_sift_init(&table.lock, &use); /* before the timer starts */
}
/* [quote end] */

/* Slow: it looks at all entries, and rests in between. */
static int64_t walk(void)
{
    const struct timespec rest = {0, 100000};
    int64_t sum = 0;
    pawl_sift_take_read(&table.lock, PAWL_SIFT_THREAD);
    for (int i = 0; i < ENTRIES; i++) {
        sum += table.entries[i];
        if (i == ENTRIES / 2)
            (void)nanosleep(&rest, NULL);
    }
    pawl_sift_drop_read(&table.lock, PAWL_SIFT_THREAD);
    return sum;
}

static void *change(void *arg)
{
    uint32_t random = (uint32_t)(intptr_t)arg + 1;
    for (int i = 0; i < CHANGES; i++) {
        const int from = (int)(example_random(&random) % ENTRIES);
        const int to = (int)(example_random(&random) % ENTRIES);
        move(from, to, (int64_t)(example_random(&random) % 1000));
    }
    return NULL;
}

static void *search(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50; i++)
        CHECK(walk() == 0);
    return NULL;
}

static void tick_each(long us)
{
    struct itimerval every;
    memset(&every, 0, sizeof every);
    every.it_interval.tv_usec = us;
    every.it_value.tv_usec = us;
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
}

int main(void)
{
    static void *(*const work[])(void *) = {change, change, search};
    struct sigaction action;

    CHECK(make_table() == 0);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_tick;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    tick_each(1000);
    run_threads(WRITERS + SEARCHERS, work);
    while (samples < 3) /* a quick machine is done before the first one */
        CHECK(walk() == 0);
    tick_each(0);
    CHECK(wrong == 0);
    pawl_sift_destroy(&table.lock);
    printf("each sample saw a whole table\n");
    return 0;
}
