/* SPDX-License-Identifier: MIT */
/* Is a queue empty? Producers and consumers count in their own cells. The sum must be a number that
 * the queue really had; otherwise a supervisor would stop a queue that was never empty. */
#include <pawl/counter.h>

#include "example.h"

enum { THREADS = 3, EACH = 30000 / EXAMPLE_LESS };

/* [quote begin] */
static pawl_counter_exact in_flight = PAWL_COUNTER_EXACT_INIT;

static void begin_item(void)
{
    pawl_counter_exact_add(&in_flight, 1);
}

static void end_item(void)
{
    pawl_counter_exact_sub(&in_flight, 1);
}

static bool all_done(void)
{
    return pawl_counter_exact_read(&in_flight) == 0; /* one membarrier */
}
/* [quote end] */

static uint32_t ended;

static void *work(void *number)
{
    (void)number;
    for (int i = 0; i < EACH; i++) {
        begin_item();
        end_item();
    }
    (void)pawl_fetch_add_relaxed32(&ended, 1);
    return NULL;
}

static void *watch(void *number)
{
    (void)number;
    while (pawl_load_relaxed32(&ended) < THREADS)
        CHECK(!all_done()); /* main's own item is in flight all the time */
    return NULL;
}

int main(void)
{
    static void *(*const all[THREADS + 1])(void *) = {work, work, work, watch};

    begin_item();
    run_threads(THREADS + 1, all);
    CHECK(!all_done());
    end_item();
    CHECK(all_done());
    CHECK(pawl_counter_exact_destroy(&in_flight) == 0);
    puts("never empty before the end");
    return 0;
}
