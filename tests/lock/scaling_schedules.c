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

TEST_CASE(readers_do_use_their_entries)
{
    uint64_t bad;
    sched.fault = count_entries;
    assert_true(random_schedules(1000, &bad));
    sched.fault = NULL;
    assert_true(entered > 500);
}

/* ---- What a thread looks at ------------------------------------------------------------------ */

static unsigned looked; /* at entries */

static uint64_t count_looks(const struct pawl_operation *o, sched_make_function *make)
{
    const char *const address = (const char *)o->address;
    const char *const lines = (const char *)entries_all()->lines;
    looked += address >= lines && address < lines + sizeof entries_all()->lines;
    return make(o);
}

static unsigned looks_of(void (*body)(void *))
{
    looked = 0;
    sched.fault = count_looks;
    scene_begins(NULL);
    assert_true(sched_random(1, &body, NULL, 1));
    scene_ends(NULL);
    sched.fault = NULL;
    return looked;
}

static void write_once(void *unused)
{
    OF(take_write)(&scene.lock);
    enter(PAWL_STATE_W);
    drop(PAWL_STATE_W);
}

static void read_once_by_the_word(void *unused)
{
    scene.lock.word = 0;
    OF(take_read)(&scene.lock);
    enter(PAWL_STATE_R);
    drop(PAWL_STATE_R);
}

/* A writer that met nobody looked at all entries before its claim, and again after it. */
TEST_CASE(a_writer_that_meets_nobody_looks_at_each_entry_once)
{
    assert_int_equal(looks_of(write_once), SCHED_THREADS * PAWL_ENTRIES);
}

static void end_and_write_once(void *unused)
{
    ipawl_thread_exit_();
    looked = 0;
    write_once(unused);
}

/* After a crowd each writer looked at the lines of all threads that there had ever been. */
TEST_CASE(a_writer_passes_the_line_of_a_thread_by_that_has_ended)
{
    assert_int_equal(looks_of(end_and_write_once), (SCHED_THREADS - 1) * PAWL_ENTRIES);
}

/* A thread with a line searched it at each drop, also where all its entries were free. */
TEST_CASE(a_drop_looks_at_no_entry_where_none_is_in_use)
{
    assert_int_equal(looks_of(read_once_by_the_word), 0);
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

#define ENDS_BADLY(name, mistake)                                                                  \
    TEST_CASE(name)                                                                                \
    {                                                                                              \
        assert_true(ends_badly(mistake));                                                          \
    }
ENDS_BADLY(a_second_look_that_is_left_out_is_caught, a_second_look_is_left_out)
ENDS_BADLY(an_entry_that_is_passed_by_is_caught, an_entry_is_passed_by)
ENDS_BADLY(a_reader_that_does_not_look_for_waiters_is_caught, a_reader_does_not_look)
ENDS_BADLY(a_waiter_that_is_not_counted_is_caught, a_waiter_is_not_counted)

int main(int argc, char **argv)
{
    scaling_with(SCALING_FROM_THE_START);
    return lost_wake_main(argc, argv);
}
