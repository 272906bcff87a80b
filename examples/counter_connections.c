/* SPDX-License-Identifier: MIT */
/* At most LIMIT connections at a time. Nearly always the answer comes from the thread's own credit,
 * and it is never wrong. */
#include <pawl/counter.h>

#include "example.h"

enum { LIMIT = 100, THREADS = 4, EACH = 100000 / EXAMPLE_LESS, HELD = 40 };

/* [quote begin] */
static pawl_counter_limit connections = PAWL_COUNTER_LIMIT_INIT(LIMIT);

static bool open_connection(void)
{
    return pawl_counter_limit_try_add(&connections, 1); /* false: busy, come again */
}

static void close_connection(void)
{
    pawl_counter_limit_sub(&connections, 1);
}
/* [quote end] */

static uint64_t really_open, most;

static void *work(void *number)
{
    int i, held = 0;
    (void)number;
    for (i = 0; i < EACH; i++) {
        if (held < HELD && open_connection()) {
            const uint64_t open = pawl_fetch_add_relaxed64(&really_open, 1) + 1;
            if (open > pawl_load_relaxed64(&most))
                pawl_store_relaxed64(&most, open);
            CHECK(open <= LIMIT);
            held++;
        } else if (held > 0) {
            (void)pawl_fetch_sub_relaxed64(&really_open, 1);
            close_connection();
            held--;
        }
    }
    for (; held > 0; held--) {
        (void)pawl_fetch_sub_relaxed64(&really_open, 1);
        close_connection();
    }
    return NULL;
}

int main(void)
{
    static void *(*const all[THREADS])(void *) = {work, work, work, work};

    run_threads(THREADS, all);
    printf("never more than %d, at most %llu\n", LIMIT, (unsigned long long)most);
    CHECK(pawl_counter_limit_destroy(&connections) == 0);
    return 0;
}
