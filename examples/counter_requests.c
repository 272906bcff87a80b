/* SPDX-License-Identifier: MIT */
/*
 * Statistics of a server: every request adds to three counters, in cells of its own thread. Now and
 * then a thread prints them. The three numbers need not be of the same instant.
 */
#include <pawl/counter.h>

#include "example.h"

/* [quote begin] */
static pawl_counter requests, bytes_out, open_now; /* zero bytes: ready to count */

static void serve(int64_t answer)
{
    pawl_counter_inc(&requests); /* one addition to memory that no other CPU writes */
    pawl_counter_inc(&open_now);
    pawl_counter_add(&bytes_out, answer);
    pawl_counter_dec(&open_now);
}

static void print_statistics(void)
{
    printf("%lld requests, %lld bytes, %lld open\n", (long long)pawl_counter_read(&requests),
           (long long)pawl_counter_read(&bytes_out), (long long)pawl_counter_read(&open_now));
}
/* [quote end] */

enum { THREADS = 4, EACH = 200000 / EXAMPLE_LESS };

static void *work(void *number)
{
    for (int i = 0; i < EACH; i++) {
        serve(100);
        if (number == NULL && i % (EACH / 4) == 0)
            print_statistics();
    }
    return NULL;
}

int main(void)
{
    static void *(*const all[THREADS])(void *) = {work, work, work, work};

    run_threads(THREADS, all);
    print_statistics(); /* the threads have ended, their counts remain */
    CHECK(pawl_counter_destroy(&requests) == THREADS * EACH);
    CHECK(pawl_counter_destroy(&bytes_out) == (int64_t)THREADS * EACH * 100);
    CHECK(pawl_counter_destroy(&open_now) == 0);
    return 0;
}
