/* SPDX-License-Identifier: MIT */
/*
 * As lock_schedules.c, with readers that scale. The input also says when the lock has BIASED.
 *
 *   input   number of threads; enum scaling_bias; then whatever is to be chosen next
 */
#include "fuzz/fuzz.h"
#include "lock/scaling_scene.h"

static sched_fault *choose_bias(struct fuzz *input)
{
    scaling_with((enum scaling_bias)fuzz_below(input, SCALING_BIASES));
    if (fuzz_mistake("a_second_look_is_left_out"))
        return a_second_look_is_left_out;
    if (fuzz_mistake("an_entry_is_passed_by"))
        return an_entry_is_passed_by;
    if (fuzz_mistake("a_reader_does_not_look"))
        return a_reader_does_not_look;
    if (fuzz_mistake("a_waiter_is_not_counted"))
        return a_waiter_is_not_counted;
    if (fuzz_mistake("biased_is_cleared_by_a_reader"))
        return biased_is_cleared_by_a_reader;
    return sched.fault;
}

#define CHOOSE_MORE() choose_bias(&choices)

#include "fuzz/lock_schedules.c"
