/* SPDX-License-Identifier: MIT */
/*
 * Must all threads agree on the sequence of a counter's values? Three threads add 1, 5 and 7. If
 * the counter is one atomic word, there is one sequence, and every read returns a value of it. If
 * it is a cell for each thread, summed by the reader, then one reader can see 5 and another one 1.
 * No sequence of the three additions has both. The readers still agree on the important facts:
 * nothing is counted twice or lost, no reader ever sees the sum fall, and in the end all see 13.
 *
 * The advice: tolerate dissent. A program that needs agreement pays for it with every addition.
 */
#define _POSIX_C_SOURCE 200809L
#include <pawl/atomic.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

enum { CELLS = 3, FINAL = 13 };
static const long amounts[CELLS] = {1, 5, 7};

/* [quote begin] */
static atomic_long cells[CELLS]; /* each written by one thread, without a locked instruction */

static void add(int thread, long amount)
{
    const long old = atomic_load_explicit(&cells[thread], memory_order_relaxed);
    atomic_store_explicit(&cells[thread], old + amount, memory_order_release);
}

static long sum(void)
{
    long total = 0;

    for (int i = 0; i < CELLS; i++)
        total += atomic_load_explicit(&cells[i], memory_order_acquire);
    return total;
}
/* [quote end] */

/* ---- It runs: two readers that disagree, step by step ---------------------------------------- */

static atomic_int step;

static void wait_for_step(int number)
{
    while (atomic_load(&step) < number)
        sched_yield();
}

static void done_with_step(int number)
{
    atomic_store(&step, number + 1);
}

static long seen_by_slow, seen_by_quick;

/* It has read the first cell when the first addition comes. */
static void *slow_reader(void *arg)
{
    (void)arg;
    wait_for_step(0);
    seen_by_slow = atomic_load_explicit(&cells[0], memory_order_acquire);
    done_with_step(0);
    wait_for_step(4);
    seen_by_slow += atomic_load_explicit(&cells[1], memory_order_acquire);
    seen_by_slow += atomic_load_explicit(&cells[2], memory_order_acquire);
    return NULL;
}

static void *quick_reader(void *arg)
{
    (void)arg;
    wait_for_step(2);
    seen_by_quick = sum();
    done_with_step(2);
    return NULL;
}

static void *adder_of_1(void *arg)
{
    (void)arg;
    wait_for_step(1);
    add(0, 1);
    done_with_step(1);
    return NULL;
}

static void *adder_of_5(void *arg)
{
    (void)arg;
    wait_for_step(3);
    add(1, 5);
    done_with_step(3);
    return NULL;
}

static void dissent(void)
{
    static void *(*const work[])(void *) = {slow_reader, quick_reader, adder_of_1, adder_of_5};

    run_threads(4, work);
    CHECK(seen_by_quick == 1); /* so 1 was added first */
    CHECK(seen_by_slow == 5);  /* so 5 was added first */
    add(2, 7);
    CHECK(sum() == FINAL); /* and all agree in the end */
}

/* ---- It runs: both counters, at full speed --------------------------------------------------- */

enum { ROUNDS = 5000 / EXAMPLE_LESS, THREADS = CELLS + 2 };

static pthread_barrier_t barrier;
static atomic_long word;  /* all agree on the values of this counter */
static long after[CELLS]; /* its value after each addition */
static atomic_int adders; /* the number not yet done in this round */

static bool a_sum_of_some(long value)
{
    for (int some = 0; some < 1 << CELLS; some++) {
        long total = 0;
        for (int i = 0; i < CELLS; i++)
            total += (some >> i & 1) * amounts[i];
        if (total == value)
            return true;
    }
    return false;
}

static bool in_the_sequence(long value)
{
    return value == 0 || value == after[0] || value == after[1] || value == after[2];
}

static void adder(int me)
{
    after[me] = atomic_fetch_add(&word, amounts[me]) + amounts[me];
    add(me, amounts[me]);
    atomic_fetch_sub(&adders, 1);
}

/* Returns how many values of the word it has seen; all must be in the one sequence. */
static int reader(long *values)
{
    long last_sum = 0, now;
    int seen = 0;
    bool done;

    do {
        done = atomic_load(&adders) == 0;
        now = sum();
        CHECK(now >= last_sum && a_sum_of_some(now));
        last_sum = now;
        now = atomic_load(&word);
        if (seen == 0 || now != values[seen - 1]) {
            CHECK(seen <= CELLS);
            values[seen++] = now;
        }
        if (!done)
            sched_yield(); /* the adders may have no CPU */
    } while (!done);
    CHECK(last_sum == FINAL && values[seen - 1] == FINAL);
    return seen;
}

static void *run(void *arg)
{
    const int me = (int)(intptr_t)arg;
    long values[CELLS + 1];
    int seen;

    for (int round = 0; round < ROUNDS; round++) {
        if (me == 0) {
            for (int i = 0; i < CELLS; i++)
                atomic_store(&cells[i], 0);
            atomic_store(&word, 0);
            atomic_store(&adders, CELLS);
        }
        pthread_barrier_wait(&barrier);
        seen = 0;
        if (me < CELLS)
            adder(me);
        else
            seen = reader(values);
        pthread_barrier_wait(&barrier); /* now `after` is complete */
        while (seen > 0)
            CHECK(in_the_sequence(values[--seen]));
    }
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {run, run, run, run, run};

    dissent();
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    run_threads(THREADS, work);
    pthread_barrier_destroy(&barrier);
    printf("one reader saw %ld, another %ld, and both ended at %d\n", seen_by_slow, seen_by_quick,
           FINAL);
    return 0;
}
