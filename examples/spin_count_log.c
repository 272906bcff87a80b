/* SPDX-License-Identifier: MIT */
/*
 * Counts the lines of a log by two criteria, and shows what mode A is for: a program that goes from
 * a lock to atomic operations in steps.
 *
 *   1. Each line is counted under W: one thread counts, all others wait.
 *   2. The counters become atomic, and counting takes A: threads count beside each other. All else
 *      still takes R, S and W, unchanged, and excludes them. (This program.)
 *   3. The search becomes lock-free as well, and the lock can go.
 *
 * A line makes two accesses, one for each criterion. Under R no thread is between the two, so both
 * tables have counted the same lines. Without the lock a reader would find more in one.
 */
#include <pawl/spin.h>

#include <stdatomic.h>

#include "example.h"

enum { HOSTS = 8, CODES = 5, LINES = 200000 / EXAMPLE_LESS, COUNTERS = 3 };

static struct report {
    pawl_spin32 lock;
    atomic_long by_host[HOSTS], by_code[CODES];
    long since; /* lines of earlier reports; changes under W */
} report;

static void count_line(struct report *r, uint32_t host, uint32_t code)
{
    pawl_take_atomic(&r->lock); /* beside other counters, and nobody else */
    atomic_fetch_add_explicit(&r->by_host[host], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&r->by_code[code], 1, memory_order_relaxed);
    pawl_drop_atomic(&r->lock);
}

static long sum(atomic_long *counts, int n)
{
    long all = 0;

    while (n-- > 0)
        all += atomic_load_explicit(&counts[n], memory_order_relaxed);
    return all;
}

static long look(struct report *r)
{
    pawl_take_read(&r->lock);
    long lines = sum(r->by_host, HOSTS);
    CHECK(lines == sum(r->by_code, CODES)); /* no line is counted by one criterion alone */
    lines += r->since;
    pawl_drop_read(&r->lock);
    return lines;
}

static void begin_anew(struct report *r)
{
    pawl_take_write(&r->lock);
    r->since += sum(r->by_host, HOSTS);
    for (int i = 0; i < HOSTS; i++)
        atomic_store_explicit(&r->by_host[i], 0, memory_order_relaxed);
    for (int i = 0; i < CODES; i++)
        atomic_store_explicit(&r->by_code[i], 0, memory_order_relaxed);
    pawl_drop_write(&r->lock);
}

/* ---- It runs --------------------------------------------------------------------------------- */

static void *count(void *arg)
{
    uint32_t random = 1 + (uint32_t)(intptr_t)arg;

    for (int i = 0; i < LINES; i++) {
        const uint32_t line = example_random(&random);
        count_line(&report, line % HOSTS, line / HOSTS % CODES);
    }
    return NULL;
}

static void *watch(void *arg)
{
    long before = 0, now;

    (void)arg;
    for (int i = 0; before < (long)COUNTERS * LINES; i++) {
        now = look(&report);
        CHECK(now >= before);
        before = now;
        if (i % 100 == 99)
            begin_anew(&report);
    }
    return NULL;
}

int main(void)
{
    static void *(*const all[])(void *) = {count, count, count, watch};

    run_threads(COUNTERS + 1, all);
    CHECK(look(&report) == (long)COUNTERS * LINES);
    printf("%ld lines, the same by host and by code in every report\n", look(&report));
    return 0;
}
