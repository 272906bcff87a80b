/* SPDX-License-Identifier: MIT */
/*
 * Who asks for reports of stalls wakes a driver that sleeps without an end. The driver looked for
 * when to report first, and then what turn it is:
 *
 *   driver    no reports are asked for: sleep without an end
 *   asker     notes the time, makes the turn go on, wakes nobody
 *   driver    reads the new turn, sleeps until it goes on
 *
 * and no report came while the reader stayed, however long. Now it reads the turn first.
 */
#include "explorer/explorer.h"

#include <pawl/rcu.h>

static uint32_t reading, reported;

static void report(const pawl_rcu_stall *stall, void *argument)
{
    (void)stall, (void)argument;
    pawl_store_relaxed32(&reported, 1);
    (void)pawl_hook_wake(&reported, 1);
}

static void begin(void)
{
    sched_new_process();
    reading = reported = 0;
}

static void end(void)
{
    must(reported == 1);
}

/* It stays until it has been reported. */
static void read_until_reported(void *nothing)
{
    pawl_rcu_read_lock();
    pawl_store_relaxed32(&reading, 1);
    while (pawl_load_relaxed32(&reported) == 0)
        (void)pawl_hook_wait(&reported, 0, UINT64_MAX);
    pawl_rcu_read_unlock();
}

static void synchronize(void *nothing)
{
    while (pawl_load_relaxed32(&reading) == 0)
        pawl_hook_relax();
    pawl_rcu_synchronize();
}

static void ask(void *nothing)
{
    pawl_rcu_domain_stall(pawl_rcu_default(), 1, report, NULL);
}

TEST_CASE(a_driver_hears_of_a_wish_for_reports)
{
    static void (*const bodies[])(void *) = {read_until_reported, synchronize, ask};
    if (PAWL_TSAN_) /* it does not follow a thread from stack to stack */
        skip();
    assert_true(explore_with_deadlines(begin, bodies, 3, end, 2) > 100);
}

TEST_MAIN()
