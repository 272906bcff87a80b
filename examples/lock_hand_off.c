/* SPDX-License-Identifier: MIT */
/*
 * A table that one thread goes through in pieces, while others change places of it. That thread
 * takes the lock again right after it has dropped it, so it would mostly come before a thread that
 * has to wake up first. It hands the lock over before each drop.
 */
#include <pawl/lock.h>

#include "example.h"

enum { PLACES = 4096, PIECE = 64 };

struct table {
    pawl_lock32 lock; /* zero is unlocked */
    unsigned age[PLACES];
};

/* [quote begin] */
void table_age(struct table *t)
{
    for (unsigned from = 0; from < PLACES; from += PIECE) {
        pawl_take_write(&t->lock);
        for (unsigned i = from; i < from + PIECE; i++)
            t->age[i]++;
        pawl_hand_off(&t->lock); /* the oldest sleeper is the next */
        pawl_drop_write(&t->lock);
    }
}
/* [quote end] */

static unsigned table_use(struct table *t, unsigned place)
{
    unsigned age;
    pawl_take_write(&t->lock);
    age = t->age[place];
    t->age[place] = 0;
    pawl_drop_write(&t->lock);
    return age;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { ROUNDS = 200 / EXAMPLE_LESS };

static struct table table;
static unsigned used[2]; /* ages, by each user, that the table no longer has */

static void *age_all(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++)
        table_age(&table);
    return unused;
}

static void use_every_other(unsigned which)
{
    for (unsigned i = which; i < PLACES; i += 2)
        used[which] += table_use(&table, i);
}

static void *use_even(void *unused)
{
    use_every_other(0);
    return unused;
}

static void *use_odd(void *unused)
{
    use_every_other(1);
    return unused;
}

int main(void)
{
    void *(*work[])(void *) = {age_all, use_even, use_odd};
    unsigned i, left = 0;
    run_threads(3, work);
    for (i = 0; i < PLACES; i++)
        left += table.age[i];
    CHECK(left + used[0] + used[1] == (unsigned)ROUNDS * PLACES);
    CHECK(pawl_lock32_is_free(&table.lock));
    printf("%u times %u places aged, each counted once\n", (unsigned)ROUNDS, (unsigned)PLACES);
    return 0;
}
