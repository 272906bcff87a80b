/* SPDX-License-Identifier: MIT */
/* How a waiter pauses: doubling, with jitter, up to a bound; the clock is asked and the CPU offered
 * only by those who have waited for long. The clock here is virtual. */
#include "test.h"
#include "spin/backoff_alone.h"

static int seed;

TEST_CASE(each_bound_is_twice_the_last_and_each_pause_at_least_half_of_it)
{
    struct backoff b = BACKOFF_INIT;
    for (unsigned bound = 4; bound < PAWL_SPIN_LONGEST_PAUSE; bound *= 2)
        assert_in_range(pause_length(&b, &seed), bound / 2, bound);
    assert_in_range(pause_length(&b, &seed), PAWL_SPIN_LONGEST_PAUSE / 2, PAWL_SPIN_LONGEST_PAUSE);
}

/* An address at the same depth of the stack of another thread: 8 MiB and a guard page further. */
static const void *stack(unsigned thread)
{
    return (const void *)((uintptr_t)0x40000f38 + thread * (uintptr_t)0x801000);
}

TEST_CASE(threads_that_wait_together_do_not_pause_together)
{
    unsigned same = 0;
    for (unsigned i = 1; i < 64; i++) {
        struct backoff a = BACKOFF_INIT;
        struct backoff b = BACKOFF_INIT;
        bool alike = true;
        for (unsigned k = 0; k < 12; k++)
            alike = (pause_length(&a, stack(0)) == pause_length(&b, stack(i))) && alike;
        same += alike;
    }
    assert_int_equal(same, 0);
}

TEST_CASE(a_short_wait_asks_no_clock)
{
    struct backoff b = BACKOFF_INIT;
    clock_reads = 0;
    while (b.longest < PAWL_SPIN_LONGEST_PAUSE)
        backoff_pause_once(&b, &seed);
    assert_int_equal(clock_reads, 0);
    backoff_pause_once(&b, &seed);
    assert_int_equal(clock_reads, 1);
}

TEST_CASE(the_cpu_is_offered_only_after_the_time_to_suspect)
{
    struct backoff b = BACKOFF_INIT;
    yields_made = 0;
    clock_now = 1000;
    while (b.since == 0)
        backoff_pause_once(&b, &seed);
    for (unsigned i = 0; i < 1000; i++)
        backoff_pause_once(&b, &seed);
    assert_int_equal(yields_made, 0);
    clock_now = 1000 + PAWL_SPIN_SUSPECT_NS;
    backoff_pause_once(&b, &seed);
    assert_int_equal(yields_made, 0);
    clock_now++;
    for (unsigned i = 1; i <= 10; i++) {
        backoff_pause_once(&b, &seed);
        assert_int_equal(yields_made, i); /* from then on each pause ends in one */
    }
}

TEST_MAIN()
