/* SPDX-License-Identifier: MIT */
/*
 * Two locks whose queues stand in one list of the table, under a virtual clock and random
 * schedules. The time between two turns (PAWL_LOCK_HANDOFF_NS) is kept for each lock by itself.
 */
#include "explorer/explorer.h"

#include <pawl/lock.h>

#include "lock/table.h"

enum { RUNS = 3000 };

static bool seeker_in;
static pawl_lock32 *neighbours[2]; /* in one bucket of the table */
static unsigned had_turns;         /* a bit for each of the two who wait */
static unsigned both_had_turns;    /* runs */

static void find_neighbours(void)
{
    static pawl_lock32 all[64 << PAWL_TABLE_BITS];
    unsigned i;
    memset(all, 0, sizeof all);
    neighbours[0] = &all[0];
    for (i = 1; table_hash(&all[i], 0) != table_hash(&all[0], 0); i++)
        continue;
    neighbours[1] = &all[i];
}

/* A claim turns PARKED round. */
static bool adds_seek(const struct pawl_operation *o, uint64_t found)
{
    return o->kind == PAWL_HOOK_COMPARE_EXCHANGE &&
           (o->operand & ~(uint64_t)PAWL_LOCK_PARKED) ==
               (found & ~(uint64_t)PAWL_LOCK_PARKED) + PAWL_SPIN32_S;
}

/* A seeker that adds S beside the holder's S keeps a claim: it has its turn. */
static uint64_t watch_neighbours(const struct pawl_operation *o,
                                 uint64_t (*make)(const struct pawl_operation *))
{
    const unsigned me = sched.current;
    const uint64_t found = make(o);
    if (me < 2 && o->address == &neighbours[me]->word && adds_seek(o, found) &&
        found >= PAWL_SPIN32_S)
        had_turns |= 1u << me;
    return found;
}

static void seek_own(void *unused)
{
    pawl_lock32 *const own = neighbours[sched.current];
    while (!seeker_in)
        pawl_cpu_relax();
    pawl_take_seek(own);
    pawl_drop_seek(own);
}

/* Lets the time until a turn pass once, when both sleep. Each drop wakes a seeker. It then finds S
 * taken again, in most runs. */
static void seek_both(void *unused)
{
    sched.slept = 0;
    pawl_take_seek(neighbours[0]);
    pawl_take_seek(neighbours[1]);
    seeker_in = true;
    while (sched.slept < 2)
        pawl_cpu_relax();
    sched.clock += PAWL_LOCK_HANDOFF_NS;
    for (unsigned i = 0; i < 2; i++) {
        pawl_drop_seek(neighbours[i]);
        pawl_take_seek(neighbours[i]);
        for (unsigned tries = 0; tries < 50 && (had_turns & 1u << i) == 0; tries++)
            pawl_cpu_relax();
    }
    both_had_turns += had_turns == 3;
    pawl_drop_seek(neighbours[0]);
    pawl_drop_seek(neighbours[1]);
}

/* The time of the last turn belonged to the list. So who waited for one lock had its turn, and who
 * waited for another lock of that list had to wait for 0.6 ms more. */
TEST_CASE(turns_of_one_lock_postpone_no_turn_of_another)
{
    static void (*const bodies[])(void *) = {seek_own, seek_own, seek_both};
    uint64_t seed = test_seed();
    find_neighbours();
    both_had_turns = 0;
    sched.fault = watch_neighbours;
    for (unsigned run = 0; run < RUNS; run++) {
        memset(table_here(), 0, sizeof *table_here());
        seeker_in = false;
        had_turns = 0;
        assert_true(sched_random(3, bodies, NULL, test_random(&seed)));
        assert_true(neighbours[0]->word == 0 && neighbours[1]->word == 0);
    }
    sched.fault = NULL;
    print_message("both had their turn at once in %u of %u runs\n", both_had_turns, (unsigned)RUNS);
    assert_true(both_had_turns > 0);
}

int main(int argc, char **argv)
{
    if (TEST_SANITIZED) /* they do not follow a thread from stack to stack */
        return test_skipped("sanitizers know nothing of fibers");
    return test_main(argc, argv);
}
