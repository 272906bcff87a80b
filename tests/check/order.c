/* SPDX-License-Identifier: MIT */
/* The order in which threads take several locks: the checking variant's reports of inversions. */
#include "support/misuse.h"

static pawl_spin32 a, b;
static pawl_spin16 narrow;
static pawl_spin64 wide;

#define INVERSION "pawl: lock-order inversion: "

/* ---- Two locks ------------------------------------------------------------------------------- */

static void take_a_then_b(void *unused)
{
    pawl_take_write(&a);
    pawl_take_seek(&b);
    pawl_drop_seek(&b);
    pawl_drop_write(&a);
}

static void take_b_then_a(void *unused)
{
    pawl_take_write(&b);
    pawl_take_atomic(&a);
    pawl_drop_atomic(&a);
    pawl_drop_write(&b);
}

static void take_both_ways(void *unused)
{
    take_a_then_b(unused);
    take_b_then_a(unused);
}

TEST_CASE(opposite_orders_in_one_thread_are_reported_though_nobody_waits)
{
    assert_reports(take_both_ways, NULL, INVERSION "pawl_spin32 at ", "by pawl_spin32_take_atomic",
                   "while this thread holds", "W of pawl_spin32 at ",
                   "the order was the opposite before", "held W of pawl_spin32 at ",
                   "when it asked for S of pawl_spin32 at ", NULL);
}

REPORTED_CASE(opposite_orders_in_two_threads_are_reported_though_they_never_met, INVERSION,
              "by pawl_spin32_take_atomic")
{
    in_another_thread(take_a_then_b, unused);
    in_another_thread(take_b_then_a, unused);
}

static uint32_t a_is_held;

static void hold_a_and_want_b(void *unused)
{
    pawl_take_write(&a);
    pawl_store_release32(&a_is_held, 1, PAWL_TAG_NONE_);
    pawl_take_write(&b); /* waits: the other holds b and does not let it go */
}

REPORTED_CASE(the_report_comes_before_the_wait_that_would_never_end, INVERSION,
              "by pawl_spin32_take_write")
{
    struct misuse_job job = {hold_a_and_want_b, unused};
    take_a_then_b(unused);
    pawl_take_write(&b);
    (void)test_start(misuse_job_main, &job);
    test_await(pawl_load_acquire32(&a_is_held, PAWL_TAG_NONE_));
    pawl_take_write(&a); /* reported before it waits */
}

static void read_a_then_b(void *unused)
{
    pawl_take_read(&a);
    pawl_take_read(&b);
    pawl_drop_read(&b);
    pawl_drop_read(&a);
}

REPORTED_CASE(opposite_orders_of_reading_are_reported_because_writers_come_between, INVERSION,
              "R of pawl_spin32", "held R of pawl_spin32", "when it asked for R of pawl_spin32")
{
    in_another_thread(read_a_then_b, unused);
    pawl_take_read(&b);
    pawl_take_read(&a);
}

SILENT_CASE(two_locks_named_in_either_order_are_taken_in_one)
{
    pawl_take_two_write(&a, &b);
    pawl_drop_two_write(&a, &b);
    pawl_take_two_write(&b, &a);
    pawl_drop_two_write(&a, &b);
    pawl_take_two_read(&b, &b);
    pawl_drop_two_read(&b, &b);
}

/* ---- Longer chains --------------------------------------------------------------------------- */

static void take_b_then_narrow(void *unused)
{
    pawl_take_read(&b);
    pawl_take_write(&narrow);
    pawl_drop_read(&b); /* not in the opposite order of taking, which is fine */
    pawl_drop_write(&narrow);
}

static void take_narrow_then_wide(void *unused)
{
    pawl_take_seek(&narrow);
    pawl_take_read(&wide);
    pawl_drop_read(&wide);
    pawl_drop_seek(&narrow);
}

static void close_a_circle_of_four(void *unused)
{
    in_another_thread(take_a_then_b, unused);
    in_another_thread(take_b_then_narrow, unused);
    in_another_thread(take_narrow_then_wide, unused);
    pawl_take_write(&wide);
    pawl_take_write(&a);
}

TEST_CASE(a_circle_of_four_locks_of_all_widths_is_reported_link_by_link)
{
    assert_reports(close_a_circle_of_four, NULL, INVERSION "pawl_spin32", "W of pawl_spin64",
                   "held W of pawl_spin32", "asked for S of pawl_spin32", /* a, b */
                   "held R of pawl_spin32", "asked for W of pawl_spin16", /* b, narrow */
                   "held S of pawl_spin16", "asked for R of pawl_spin64", /* narrow, wide */
                   NULL);
}

SILENT_CASE(locks_that_are_taken_in_one_order_are_silent)
{
    in_another_thread(take_a_then_b, unused);
    in_another_thread(take_b_then_narrow, unused);
    in_another_thread(take_narrow_then_wide, unused);
    pawl_take_read(&a);
    pawl_take_read(&wide);
    pawl_drop_read(&a);
    pawl_drop_read(&wide);
    take_a_then_b(unused);
}

/* ---- Tries ----------------------------------------------------------------------------------- */

SILENT_CASE(a_try_never_waits_so_it_may_go_against_the_order)
{
    take_a_then_b(unused);
    pawl_take_write(&b);
    must(pawl_try_write(&a));
    pawl_drop_write(&a);
    pawl_drop_write(&b);
    take_a_then_b(unused);
}

REPORTED_CASE(what_a_try_got_counts_as_held_for_what_comes_after, INVERSION,
              "by pawl_spin32_take_seek", "held W of pawl_spin32", "asked for W of pawl_spin32")
{
    must(pawl_try_write(&b));
    pawl_take_write(&a);
    pawl_drop_write(&a);
    pawl_drop_write(&b);
    take_a_then_b(unused);
}

REPORTED_CASE(a_try_that_may_wait_for_readers_is_in_the_order, INVERSION,
              "by pawl_spin32_claim_write", "held R of pawl_spin32")
{
    read_a_then_b(unused);
    pawl_take_write(&b);
    (void)!pawl_claim_write(&a);
}

/* ---- Waiting for readers only ---------------------------------------------------------------- */

static void upgrade_the_first_after_the_second(void *unused)
{
    for (unsigned i = 0; i < 2; i++) {
        pawl_take_seek(&a);
        pawl_take_seek(&b);
        pawl_seek_to_write(&a);
        pawl_seek_to_write(&b);
        pawl_drop_write(&b);
        pawl_drop_write(&a);
    }
}

TEST_CASE(seeking_two_locks_and_writing_them_in_the_same_order_is_silent)
{
    assert_silent(upgrade_the_first_after_the_second, NULL);
}

REPORTED_CASE(upgrade_before_a_reader_goes_on_is_reported, INVERSION, "by pawl_spin32_take_read",
              "R of pawl_spin32", "held S of pawl_spin32", "asked for W of pawl_spin32")
{
    upgrade_the_first_after_the_second(unused);
    in_another_thread(read_a_then_b, unused);
}

REPORTED_CASE(upgrade_after_a_reader_went_on_is_reported, INVERSION, "by pawl_spin32_seek_to_write",
              "S of pawl_spin32", "held R of pawl_spin32", "asked for R of pawl_spin32")
{
    in_another_thread(read_a_then_b, unused);
    upgrade_the_first_after_the_second(unused);
}

REPORTED_CASE(waiting_for_anybody_is_more_than_waiting_for_readers,
              "so far it was silent\n" INVERSION, "by pawl_spin32_take_atomic")
{
    upgrade_the_first_after_the_second(unused); /* b, then a drained of readers */
    fprintf(stderr, "so far it was silent\n");
    take_b_then_a(unused);
}

REPORTED_CASE(turning_from_atomic_to_read_waits_for_those_who_may_want_what_we_hold, INVERSION,
              "by pawl_spin32_atomic_to_read", "held A of pawl_spin32")
{
    pawl_take_atomic(&a);
    pawl_take_write(&b);
    (void)pawl_atomic_to_read(&a);
}

/* ---- Forgetting, and the rest ---------------------------------------------------------------- */

SILENT_CASE(destroy_and_init_forget_the_orders_of_their_lock)
{
    take_a_then_b(unused);
    pawl_destroy(&b);
    take_b_then_a(unused);
    pawl_init(&a);
    take_a_then_b(unused);
}

REPORTED_CASE(a_lock_that_was_forgotten_is_learnt_again,
              "so far it was silent\n" INVERSION "pawl_spin64")
{
    take_a_then_b(unused);
    take_b_then_narrow(unused);
    take_narrow_then_wide(unused);
    pawl_destroy(&narrow);
    pawl_take_read(&wide);
    take_a_then_b(unused);
    pawl_take_read(&narrow);
    pawl_drop_read(&narrow);
    pawl_drop_read(&wide);
    fprintf(stderr, "so far it was silent\n");
    take_narrow_then_wide(unused);
}

static void go_on_after_reports(void *unused)
{
    misuse_without_lines();
    must(setenv("PAWL_CHECK", "report", 1) == 0);
    take_both_ways(unused);
    take_both_ways(unused);
    take_both_ways(unused);
    fprintf(stderr, "went on");
    abort();
}

TEST_CASE(an_inversion_is_reported_once_when_reports_do_not_abort)
{
    assert_reports(go_on_after_reports, NULL, INVERSION, "went on", NULL);
    const char *first = strstr(misuse_said, INVERSION);
    assert_null(strstr(first + 1, "pawl: "));
}

REPORTED_CASE(a_forked_child_remembers_the_orders_of_its_parent, INVERSION)
{
    take_a_then_b(unused);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0)
        take_b_then_a(unused);
    const int status = test_wait(child);
    must(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    abort();
}

TEST_MAIN()
