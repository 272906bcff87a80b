/* SPDX-License-Identifier: MIT */
/*
 * A table that threads read while others replace it. A read begins in one thread and ends in
 * another, which does the long part. Where readers scale (PAWL_BIAS=on), R of take_read is in an
 * entry of the thread that took it, and no other thread may drop it. So this R is counted in the
 * lock's word.
 */
#include <pawl/cond.h>
#include <pawl/lock.h>

#include "example.h"

enum { PLACES = 64, ROOM = 8 };

struct table {
    pawl_lock64 lock;       /* zero is unlocked */
    unsigned place[PLACES]; /* all the same, but while a thread replaces them */
};

struct jobs {
    pawl_lock32 lock;
    pawl_cond changed;
    struct table *table[ROOM];
    unsigned come, gone;
};

static void put(struct jobs *jobs, struct table *t)
{
    pawl_take_write(&jobs->lock);
    while (jobs->come - jobs->gone == ROOM)
        pawl_cond_wait_write(&jobs->changed, &jobs->lock);
    jobs->table[jobs->come++ % ROOM] = t;
    pawl_drop_write(&jobs->lock);
    (void)pawl_cond_broadcast(&jobs->changed);
}

static struct table *get(struct jobs *jobs)
{
    pawl_take_write(&jobs->lock);
    while (jobs->come == jobs->gone)
        pawl_cond_wait_write(&jobs->changed, &jobs->lock);
    struct table *t = jobs->table[jobs->gone++ % ROOM];
    pawl_drop_write(&jobs->lock);
    (void)pawl_cond_broadcast(&jobs->changed);
    return t;
}

static unsigned sum_of(const struct table *t)
{
    unsigned i, sum = 0;
    for (i = 0; i < PLACES; i++)
        sum += t->place[i];
    return sum;
}

/* [quote begin] */
void table_begin_sum(struct jobs *jobs, struct table *t)
{
    pawl_take_read_counted(&t->lock); /* any thread may drop it */
    put(jobs, t);
}

unsigned table_end_sum(struct jobs *jobs) /* in another thread */
{
    struct table *const t = get(jobs);
    const unsigned sum = sum_of(t);
    pawl_drop_read_counted(&t->lock);
    return sum;
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum { ROUNDS = 2000 / EXAMPLE_LESS };

static struct table table;
static struct jobs jobs;

static void *begin_sums(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        table_begin_sum(&jobs, &table);
    return unused;
}

static void *end_sums(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        CHECK(table_end_sum(&jobs) % PLACES == 0);
    return unused;
}

static void *replace_and_look(void *unused)
{
    for (unsigned round = 1; round <= ROUNDS; round++) {
        pawl_take_write(&table.lock);
        for (unsigned i = 0; i < PLACES; i++)
            table.place[i] = round;
        pawl_drop_write(&table.lock);
        pawl_take_read(&table.lock); /* ends here: it may be in an entry of this thread */
        CHECK(table.place[round % PLACES] == round);
        pawl_drop_read(&table.lock);
    }
    return unused;
}

int main(void)
{
    void *(*work[])(void *) = {begin_sums, end_sums, replace_and_look};
    run_threads(3, work);
    CHECK(pawl_lock64_is_free(&table.lock));
    printf("%u sums, each begun in one thread and ended in another\n", (unsigned)ROUNDS);
    return 0;
}
