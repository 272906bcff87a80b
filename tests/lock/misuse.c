/* SPDX-License-Identifier: MIT */
/*
 * The checking variant on locks that sleep. What it says of an operation is tested on the
 * spinlocks, which share the code (holds.c, order.c); here: that the same operations are covered,
 * that deadlines are, and that threads asleep are no misuse.
 */
#include "support/misuse.h"

#include <pawl/lock.h>

static pawl_lock32 narrow;
static pawl_lock64 wide, other;

/* ---- Every operation without its state ------------------------------------------------------- */

struct wrong {
    const char *name;
    enum pawl_state from;
    bool drops;
    void (*run)(void);
};

/* The result of a call does not matter: it reports. */
#define WRONG_void(call) call
#define WRONG_bool(call) (void)!(call)
#define WRONG_pawl_regained(call) (void)(call)
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    static void wrong_##name(void)                                                                 \
    {                                                                                              \
        WRONG_##result(pawl_lock64_##name(&wide));                                                 \
    }
#include <pawl/detail/transitions.def>
#define PAWL_UNTIL(name, from, to)                                                                 \
    static void wrong_##name##_until(void)                                                         \
    {                                                                                              \
        WRONG_bool(pawl_lock64_##name##_until(&wide, 0));                                          \
    }
#include <pawl/detail/until.def>

static void wrong_atomic_to_read_until(void)
{
    must(pawl_lock64_atomic_to_read_until(&wide, 0) != PAWL_REGAIN_KEPT);
}

#define DROPS_drop true
#define DROPS_take false
#define DROPS_try false
#define DROPS_claim false
#define DROPS_move false
#define DROPS_tells false

static const struct wrong all_wrong[] = {
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    {"pawl_lock64_" #name, PAWL_STATE_##from, DROPS_##kind, wrong_##name},
#include <pawl/detail/transitions.def>
#define PAWL_UNTIL(name, from, to)                                                                 \
    {"pawl_lock64_" #name "_until", PAWL_STATE_##from, false, wrong_##name##_until},
#include <pawl/detail/until.def>
    {"pawl_lock64_atomic_to_read_until", PAWL_STATE_A, false, wrong_atomic_to_read_until},
};

static void run_wrong(void *opaque)
{
    misuse_without_lines();
    ((const struct wrong *)opaque)->run();
}

TEST_CASE(each_operation_from_a_state_that_is_not_held_is_reported)
{
    unsigned i, looked_at = 0;
    for (i = 0; i < sizeof all_wrong / sizeof all_wrong[0]; i++) {
        struct wrong w = all_wrong[i];
        if (w.from == PAWL_STATE_U)
            continue;
        looked_at++;
        assert_reports(run_wrong, &w,
                       w.drops ? "pawl: drop of what is not held: pawl_lock64 at "
                               : "pawl: transition of what is not held: pawl_lock64 at ",
                       w.name, NULL);
    }
    assert_true(looked_at > 15);
}

/* ---- Deadlines ------------------------------------------------------------------------------- */

SILENT_CASE(what_ends_by_a_deadline_leaves_the_books_right)
{
    pawl_take_write(&wide);
    must(!pawl_take_write_until(&wide, pawl_now() + 1000000)); /* of its own hold: it ends */
    must(!pawl_take_read_until(&wide, 0));
    pawl_drop_write(&wide);
    pawl_take_seek(&wide);
    must(pawl_seek_to_write_until(&wide, 0));
    pawl_drop_write(&wide);
    pawl_take_atomic(&narrow);
    must(pawl_atomic_to_read_until(&narrow, 0) == PAWL_REGAIN_KEPT);
    pawl_drop_read(&narrow);
    pawl_destroy(&narrow);
    pawl_destroy(&wide);
}

REPORTED_CASE(a_drop_of_what_timed_out_is_reported,
              "pawl: drop of what is not held: pawl_lock64 at ")
{
    misuse_without_lines();
    wide.word = PAWL_SPIN64_W; /* an atomic user that is not a thread of ours */
    must(!pawl_take_read_until(&wide, 0));
    pawl_drop_read(&wide);
}

/* ---- Order, destruction, sleepers ------------------------------------------------------------ */

static void take_both_ways(void *unused)
{
    pawl_take_write(&wide);
    pawl_take_write(&other);
    pawl_drop_write(&other);
    pawl_drop_write(&wide);
    pawl_take_write(&other);
    pawl_take_read(&wide);
}

TEST_CASE(an_inversion_of_two_locks_is_reported_before_it_deadlocks)
{
    assert_reports(take_both_ways, NULL, "pawl_lock64 at ", "take_both_ways", NULL);
}

REPORTED_CASE(the_destruction_of_a_held_lock_is_reported,
              "pawl: destroyed while in use: pawl_lock32 at ")
{
    pawl_take_read(&narrow);
    pawl_destroy(&narrow);
}

/* ---- Reads that may be in an entry (PAWL_BIAS=on) -------------------------------------------- */

/* After its first drop of R a thread reads by its entries, where readers scale. */
static void read_by_an_entry(void)
{
    pawl_take_read(&narrow);
    pawl_drop_read(&narrow);
    pawl_take_read(&narrow);
}

static void drop_read_of_narrow(void *unused)
{
    pawl_drop_read(&narrow);
}

REPORTED_CASE(a_read_that_another_thread_drops_is_reported_with_both_sites,
              "pawl: drop of what is not held: pawl_lock32 at ", "drop_read_of_narrow",
              "holds R, taken at ", "read_by_an_entry")
{
    read_by_an_entry();
    in_another_thread(drop_read_of_narrow, unused);
}

static void destroy_narrow(void *unused)
{
    pawl_destroy(&narrow);
}

REPORTED_CASE(the_destruction_of_a_lock_that_others_read_is_reported_with_the_reader,
              "pawl: destroyed while in use: pawl_lock32 at ", "destroy_narrow",
              "holds R, taken at ", "read_by_an_entry")
{
    read_by_an_entry();
    in_another_thread(destroy_narrow, unused);
}

static void know_what_is_held(void *unused)
{
    read_by_an_entry();
    pawl_assert_held_read(&narrow);
    must(pawl_lock32_is_read(&narrow) && !pawl_lock32_is_free(&narrow));
    must(pawl_try_read_to_seek(&narrow));
    pawl_assert_held_seek(&narrow);
    pawl_seek_to_read(&narrow);
    pawl_assert_held_read(&narrow);
    pawl_drop_read(&narrow);
    must(!pawl_lock32_is_read(&narrow) && pawl_lock32_is_free(&narrow));
}

static void say_that_it_is_held(void *unused)
{
    know_what_is_held(unused);
    pawl_assert_held_read(&narrow);
}

TEST_CASE(what_is_held_is_known_of_reads_in_entries)
{
    assert_silent(know_what_is_held, NULL);
    assert_reports(say_that_it_is_held, NULL, "pawl_lock32 at ", "say_that_it_is_held", NULL);
}

/* ---- Threads that sleep ---------------------------------------------------------------------- */

static unsigned entered;

static void enter(void *unused, unsigned index)
{
    for (unsigned i = 0; i < 300; i++) {
        if (index % 2) {
            pawl_take_write(&wide);
            entered++;
            sched_yield();
            pawl_drop_write(&wide);
        } else if (pawl_take_seek_until(&wide, pawl_now() + 10000)) {
            pawl_seek_to_write(&wide);
            entered++;
            pawl_drop_write(&wide);
        }
    }
}

SILENT_CASE(threads_that_sleep_for_a_lock_are_no_misuse)
{
    test_threads(6, enter, NULL);
    must(entered >= 900 && pawl_lock64_is_free(&wide));
}

TEST_MAIN()
