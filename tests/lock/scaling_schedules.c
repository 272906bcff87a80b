/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale, under the schedules and programs of lost_wake.h: each lock has BIASED from
 * the start, and each thread has its entries. Faults: a second look that is left out, an
 * entry that is passed by, a reader that does not look for waiters, a waiter that is not counted.
 */
#include "lock/scaling_scene.h"

#define RANDOM_RUNS 4000
#define PREEMPTIONS_OF_TWO 2u
#define PREEMPTIONS_OF_THREE 1u

#include "lock/lost_wake.h"

static unsigned entered; /* by an entry */

static uint64_t count_entries(const struct pawl_operation *o, sched_make_function *make)
{
    entered += o->kind == PAWL_HOOK_FENCE && o->tag == PAWL_ENTRY_TAKE;
    return make(o);
}

static void readers_do_use_their_entries(void **state)
{
    uint64_t bad;
    (void)state;
    sched.fault = count_entries;
    assert_true(random_schedules(1000, &bad));
    sched.fault = NULL;
    assert_true(entered > 500);
}

/* ---- Faults that must show ------------------------------------------------------------------- */

struct fault {
    sched_fault *make;
};

static void run_with(void *fault)
{
    if (shows(((const struct fault *)fault)->make))
        abort();
}

/* A check of the scene ends the child, or its threads get stuck. */
static bool ends_badly(sched_fault *make)
{
    struct fault fault = {make};
    char said[4096];
    return test_in_child(run_with, &fault, said, sizeof said) != 0;
}

static void a_second_look_that_is_left_out_is_caught(void **state)
{
    (void)state;
    assert_true(ends_badly(a_second_look_is_left_out));
}

static void an_entry_that_is_passed_by_is_caught(void **state)
{
    (void)state;
    assert_true(ends_badly(an_entry_is_passed_by));
}

static void a_reader_that_does_not_look_for_waiters_is_caught(void **state)
{
    (void)state;
    assert_true(ends_badly(a_reader_does_not_look));
}

static void a_waiter_that_is_not_counted_is_caught(void **state)
{
    (void)state;
    assert_true(ends_badly(a_waiter_is_not_counted));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        LOST_WAKE_TESTS,
        cmocka_unit_test(readers_do_use_their_entries),
        cmocka_unit_test(a_second_look_that_is_left_out_is_caught),
        cmocka_unit_test(an_entry_that_is_passed_by_is_caught),
        cmocka_unit_test(a_reader_that_does_not_look_for_waiters_is_caught),
        cmocka_unit_test(a_waiter_that_is_not_counted_is_caught),
    };
    scaling_with(SCALING_FROM_THE_START);
    return lost_wake_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
