/* SPDX-License-Identifier: MIT */
/*
 * On many cores a writer waits long, and its pauses grow with the wait: with a bound of some
 * hundred thousand hints one pause alone lasts tens of milliseconds, during which the lock becomes
 * free and is taken again and again by others. Here no pause exceeds PAWL_SPIN_LONGEST_PAUSE
 * hints, however long the wait: about the time of one context switch.
 */
#include "test.h"
#include "spin/backoff_alone.h"

/* The slowest hint that we know (PAUSE of Intel's cores since Skylake) takes about 140 cycles. */
enum { SLOWEST_HINT_CYCLES = 140, CYCLES_PER_US = 3000 };

static int seed;

TEST_CASE(no_pause_is_longer_than_the_bound_however_long_the_wait)
{
    struct backoff b = BACKOFF_INIT;
    for (unsigned i = 0; i < 100000; i++) {
        assert_in_range(pause_length(&b, &seed), 2, PAWL_SPIN_LONGEST_PAUSE);
        clock_now += 10000;
    }
}

TEST_CASE(the_bound_is_far_below_a_millisecond_on_the_slowest_hint)
{
    assert_true(PAWL_SPIN_LONGEST_PAUSE * SLOWEST_HINT_CYCLES / CYCLES_PER_US < 20);
}

TEST_MAIN()
