/* SPDX-License-Identifier: MIT */
/* What one thread may do with one lock, given what it holds: the checking variant's reports. */
#include "support/misuse.h"

static pawl_spin16 lock16;
pawl_spin32 lock32; /* not static: C++ would mangle its name */
static pawl_spin64 lock64;
static void *const locks[WIDTHS] = {&lock16, &lock32, &lock64};

/* ---- Every operation from every state -------------------------------------------------------- */

struct attempt {
    unsigned width;
    const struct operation *operation;
    enum pawl_state state;
};

static void make_attempt(void *opaque)
{
    const struct attempt *a = (const struct attempt *)opaque;
    misuse_without_lines();
    reach(a->width, locks[a->width], a->state);
    (void)a->operation->run(locks[a->width]);
}

/* NULL: the checking variant has nothing to say. */
static const char *expected_report(const struct operation *o, enum pawl_state state)
{
    const bool drop = o->kind == KIND_drop;
    if (o->from == state)
        return NULL;
    if (o->from == PAWL_STATE_U)
        return o->kind == KIND_take || (o->kind == KIND_claim && state == PAWL_STATE_R)
                   ? "pawl: taken again by its holder: "
                   : NULL;
    if (state == PAWL_STATE_U)
        return drop ? "pawl: drop of what is not held: " : "pawl: transition of what is not held: ";
    return drop ? "pawl: drop of the wrong mode: " : "pawl: transition from the wrong mode: ";
}

TEST_CASE(each_operation_is_reported_in_exactly_the_states_that_forbid_it)
{
    static const enum pawl_state states[] = {PAWL_STATE_U, PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W,
                                             PAWL_STATE_A};
    struct attempt a;
    for (a.width = 0; a.width < WIDTHS; a.width++)
        for (unsigned i = 0; i < OPERATIONS; i++)
            for (unsigned k = 0; k < sizeof states / sizeof states[0]; k++) {
                a.operation = &operations_of[a.width][i];
                a.state = states[k];
                const char *report = expected_report(a.operation, a.state);
                if (report == NULL)
                    assert_silent(make_attempt, &a);
                else
                    assert_reports(make_attempt, &a, report, a.operation->name, NULL);
            }
}

/* ---- What the reports say -------------------------------------------------------------------- */

static void drop_nothing(void *unused)
{
    pawl_drop_read(&lock32);
}

TEST_CASE(a_report_names_width_address_operation_and_thread)
{
    char first[100];
    char thread[40];
    snprintf(first, sizeof first, "pawl: drop of what is not held: pawl_spin32 at %#lx (lock32)\n",
             (unsigned long)(uintptr_t)&lock32);
    snprintf(thread, sizeof thread, "  by pawl_spin32_drop_read in thread ");
    assert_reports(drop_nothing, NULL, first, thread, "this thread holds nothing of it",
                   "the word was 0x0: W 0, S 0, R 0, application 0", NULL);
}

REPORTED_CASE(a_report_names_the_mode_held_and_the_fields_of_the_word,
              "pawl: drop of the wrong mode: pawl_spin64 at ", "this thread holds S, taken at ",
              "the word was 0x100000006: W 0, S 1, R 1, application 2")
{
    (void)pawl_set_bits(&lock64, 2);
    pawl_take_seek(&lock64);
    pawl_drop_write(&lock64);
}

REPORTED_CASE(write_inside_read_of_the_same_thread_is_reported_instead_of_waiting,
              "pawl: taken again by its holder: pawl_spin32 at ", "by pawl_spin32_take_write",
              "this thread holds R")
{
    pawl_take_read(&lock32);
    pawl_take_write(&lock32);
}

/* ---- Other threads --------------------------------------------------------------------------- */

static void drop_it(void *unused)
{
    pawl_drop_write(&lock16);
}

REPORTED_CASE(a_drop_by_another_thread_names_the_holder,
              "pawl: drop of what is not held: pawl_spin16", "this thread holds nothing of it",
              "    thread ", "holds W, taken at ")
{
    pawl_take_write(&lock16);
    in_another_thread(drop_it, unused);
}

static void take_and_forget(void *unused)
{
    pawl_take_read(&lock32);
}

REPORTED_CASE(a_thread_that_ends_while_it_holds_is_reported,
              "pawl: still held at the end of its thread: pawl_spin32", "this thread holds R")
{
    in_another_thread(take_and_forget, unused);
}

static pthread_key_t dropping_key;

static void drop_at_end(void *lock)
{
    pawl_drop_read((pawl_spin32 *)lock);
}

static void take_and_arm(void *unused)
{
    must(pthread_setspecific(dropping_key, &lock32) == 0);
    pawl_take_read(&lock32);
}

SILENT_CASE(a_destructor_of_thread_data_may_drop)
{
    must(pthread_key_create(&dropping_key, drop_at_end) == 0);
    in_another_thread(take_and_arm, unused);
}

/* ---- Waiting for oneself --------------------------------------------------------------------- */

REPORTED_CASE(a_claim_that_waits_for_the_own_second_hold_is_reported,
              "pawl: waits for its own hold: pawl_spin32", "read_claim_write", "this thread")
{
    must(pawl_try_read(&lock32));
    must(pawl_try_read(&lock32));
    (void)!pawl_read_claim_write(&lock32);
}

/* ---- init and destroy ------------------------------------------------------------------------ */

REPORTED_CASE(destroying_a_held_lock_is_reported, "pawl: destroyed while in use: pawl_spin64",
              "by pawl_spin64_destroy", "this thread holds R")
{
    pawl_take_read(&lock64);
    pawl_destroy(&lock64);
}

static void take_it(void *unused)
{
    pawl_take_atomic(&lock16);
    for (;;)
        sched_yield();
}

REPORTED_CASE(destroying_what_another_thread_holds_names_that_thread,
              "pawl: destroyed while in use: pawl_spin16", "this thread holds nothing of it",
              "    thread ")
{
    struct misuse_job job = {take_it, unused};
    (void)test_start(misuse_job_main, &job);
    test_await(pawl_spin16_is_atomic(&lock16));
    pawl_destroy(&lock16);
}

REPORTED_CASE(initialising_a_held_lock_is_reported, "pawl: initialised while in use: pawl_spin32",
              "by pawl_spin32_init", "this thread holds S")
{
    pawl_take_seek(&lock32);
    pawl_init(&lock32);
}

SILENT_CASE(init_of_any_memory_and_destroy_with_application_bits_set_are_silent)
{
    pawl_spin32 lock;
    memset(&lock, 0xa5, sizeof lock);
    pawl_init(&lock);
    (void)pawl_set_bits(&lock, 3);
    pawl_take_write(&lock);
    pawl_drop_write(&lock);
    pawl_destroy(&lock);
}

/* ---- assert_held ----------------------------------------------------------------------------- */

struct assertion {
    enum pawl_state held, asserted;
};

static void make_assertion(void *opaque)
{
    const struct assertion *a = (const struct assertion *)opaque;
    misuse_without_lines();
    reach(1, &lock32, a->held);
    switch (a->asserted) {
    case PAWL_STATE_R: pawl_assert_held_read(&lock32); break;
    case PAWL_STATE_S: pawl_assert_held_seek(&lock32); break;
    case PAWL_STATE_W: pawl_assert_held_write(&lock32); break;
    default: pawl_assert_held_atomic(&lock32); break;
    }
}

TEST_CASE(an_assertion_is_met_by_the_state_it_names_or_a_stronger_one)
{
    /* held, in the order U R S W A; met by: read R S W, seek S W, write W, atomic A */
    static const char *const met[] = {"", "read", "read seek", "read seek write", "atomic"};
    static const char *const names[] = {"", "read", "seek", "write", "atomic"};
    static const enum pawl_state states[] = {PAWL_STATE_U, PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W,
                                             PAWL_STATE_A};
    for (unsigned held = 0; held < 5; held++)
        for (unsigned asserted = 1; asserted < 5; asserted++) {
            struct assertion a = {states[held], states[asserted]};
            if (strstr(met[held], names[asserted]) != NULL)
                assert_silent(make_assertion, &a);
            else
                assert_reports(make_assertion, &a, "pawl: not held as asserted: pawl_spin32",
                               names[asserted], NULL);
        }
}

TEST_MAIN()
