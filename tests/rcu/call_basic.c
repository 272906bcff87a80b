/* SPDX-License-Identifier: MIT */
/* RCU callbacks: when they run, what barriers wait for, and bad input. */
#include "test.h"

#include <pawl/rcu_call.h>
#include <pawl/wait.h>

#define FIRST_MANY 1000

struct object {
    uint64_t before;
    pawl_rcu_head head;
    uint32_t runs;
};

static struct object many[FIRST_MANY];
static uint32_t runs_in_all;

static struct object *object_of(pawl_rcu_head *head)
{
    return (struct object *)(void *)((char *)head - offsetof(struct object, head));
}

static void run(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&object_of(head)->runs, 1);
    (void)pawl_fetch_add_relaxed32(&runs_in_all, 1);
}

static int set_up(void **state)
{
    must(pawl_rcu_barrier() == 0);
    must(pawl_rcu_domain_limit(pawl_rcu_default(), PAWL_RCU_CALLS, PAWL_RCU_BYTES, PAWL_RCU_HELP) ==
         0);
    memset(many, 0, sizeof many);
    pawl_store_relaxed32(&runs_in_all, 0);
    return 0;
}

static pawl_rcu_statistics numbers(pawl_rcu_domain *d)
{
    pawl_rcu_statistics statistics;
    pawl_rcu_domain_statistics(d, &statistics);
    return statistics;
}

/* ---- A reader that stays until it is let go -------------------------------------------------- */

struct reader {
    pthread_t id;
    pawl_rcu_domain *domain;
    uint32_t in, go;
};

static void *read_until_let_go(void *opaque)
{
    struct reader *reader = (struct reader *)opaque;
    pawl_rcu_domain_read_lock(reader->domain);
    pawl_store_relaxed32(&reader->in, 1);
    (void)pawl_wake_all(&reader->in);
    while (pawl_load_relaxed32(&reader->go) == 0)
        (void)pawl_wait32(&reader->go, 0);
    pawl_rcu_domain_read_unlock(reader->domain);
    return NULL;
}

static void enter(struct reader *reader, pawl_rcu_domain *domain)
{
    memset(reader, 0, sizeof *reader);
    reader->domain = domain;
    reader->id = test_start(read_until_let_go, reader);
    while (pawl_load_relaxed32(&reader->in) == 0)
        (void)pawl_wait32(&reader->in, 0);
}

static void let_go(struct reader *reader)
{
    pawl_store_relaxed32(&reader->go, 1);
    (void)pawl_wake_all(&reader->go);
    test_join(reader->id);
}

/* ---- When callbacks run ---------------------------------------------------------------------- */

TEST_CASE_WITH(a_callback_runs_once_with_its_head, set_up, NULL)
{
    assert_int_equal(pawl_rcu_call(&many[0].head, run, sizeof many[0]), 0);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(pawl_load_relaxed32(&many[0].runs), 1);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(pawl_load_relaxed32(&many[0].runs), 1);
}

/* Nobody asks for it: neither a barrier nor another call. */
TEST_CASE_WITH(a_callback_runs_by_itself, set_up, NULL)
{
    for (unsigned round = 0; round < 20; round++) {
        assert_int_equal(pawl_rcu_call(&many[round].head, run, 1), 0);
        test_await(pawl_load_relaxed32(&many[round].runs) != 0);
        if (round % 4 == 3)
            usleep(1000); /* the worker goes to sleep */
    }
}

TEST_CASE_WITH(no_callback_runs_while_a_reader_stays_that_was_there, set_up, NULL)
{
    struct reader reader;
    enter(&reader, pawl_rcu_default());
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(pawl_rcu_call(&many[i].head, run, 1), 0);
    usleep(20000); /* time enough for an engine that does not look at readers */
    assert_int_equal(pawl_load_relaxed32(&runs_in_all), 0);
    assert_int_equal(numbers(pawl_rcu_default()).queued, 10);
    let_go(&reader);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(pawl_load_relaxed32(&runs_in_all), 10);
}

TEST_CASE_WITH(a_reader_of_one_domain_does_not_hold_up_another, set_up, NULL)
{
    pawl_rcu_domain other;
    struct reader reader;
    assert_int_equal(pawl_rcu_domain_init(&other, "other"), 0);
    enter(&reader, pawl_rcu_default());
    assert_int_equal(pawl_rcu_call(&many[0].head, run, 1), 0);
    assert_int_equal(pawl_rcu_domain_call(&other, &many[1].head, run, 1), 0);
    assert_int_equal(pawl_rcu_domain_barrier(&other), 0);
    assert_int_equal(pawl_load_relaxed32(&many[0].runs), 0);
    assert_int_equal(pawl_load_relaxed32(&many[1].runs), 1);
    let_go(&reader);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(pawl_load_relaxed32(&many[0].runs), 1);
    pawl_rcu_domain_destroy(&other);
}

TEST_CASE_WITH(calls_inside_a_section_are_queued, set_up, NULL)
{
    pawl_rcu_read_lock();
    assert_int_equal(pawl_rcu_call(&many[0].head, run, 1), 0);
    usleep(5000);
    assert_int_equal(pawl_load_relaxed32(&many[0].runs), 0);
    pawl_rcu_read_unlock();
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(pawl_load_relaxed32(&many[0].runs), 1);
}

static void *call_hundred(void *first)
{
    struct object *objects = (struct object *)first;
    for (unsigned i = 0; i < 100; i++)
        must(pawl_rcu_call(&objects[i].head, run, 1) == 0);
    return NULL;
}

TEST_CASE_WITH(callbacks_of_a_thread_that_has_ended_run, set_up, NULL)
{
    struct reader reader;
    enter(&reader, pawl_rcu_default());
    for (unsigned round = 0; round < 3; round++) { /* the next one gets the same line */
        test_elsewhere(call_hundred, &many[100 * round]);
    }
    let_go(&reader);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(pawl_load_relaxed32(&runs_in_all), 300);
}

static void call_share(void *argument, unsigned index)
{
    const unsigned share = FIRST_MANY / 4;
    for (unsigned i = 0; i < share; i++)
        must(pawl_rcu_call(&many[index * share + i].head, run, 8) == 0);
    must(pawl_rcu_barrier() == 0);
    for (unsigned i = 0; i < share; i++)
        must(pawl_load_relaxed32(&many[index * share + i].runs) == 1);
}

TEST_CASE_WITH(each_barrier_waits_for_what_its_thread_has_called, set_up, NULL)
{
    for (unsigned round = 0; round < 20; round++) {
        (void)set_up(state);
        test_threads(4, call_share, NULL);
        assert_int_equal(pawl_load_relaxed32(&runs_in_all), FIRST_MANY);
    }
}

/* ---- In callbacks ---------------------------------------------------------------------------- */

static int barrier_in_callback, held_in_callback;

static void try_barrier(pawl_rcu_head *head)
{
    barrier_in_callback = pawl_rcu_barrier();
    pawl_rcu_read_lock();
    held_in_callback = pawl_rcu_read_held();
    pawl_rcu_read_unlock();
    pawl_rcu_synchronize();
    run(head);
}

TEST_CASE_WITH(a_callback_may_read_and_synchronize_but_a_barrier_there_is_refused, set_up, NULL)
{
    barrier_in_callback = held_in_callback = 0;
    assert_int_equal(pawl_rcu_call(&many[0].head, try_barrier, 1), 0);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(barrier_in_callback, EDEADLK);
    assert_int_equal(held_in_callback, 1);
    assert_int_equal(pawl_load_relaxed32(&many[0].runs), 1);
}

static void again(pawl_rcu_head *head)
{
    struct object *object = object_of(head);
    if (object->before-- > 1)
        must(pawl_rcu_call(head, again, 1) == 0);
    run(head);
}

TEST_CASE_WITH(a_callback_may_call_again, set_up, NULL)
{
    many[0].before = 10;
    assert_int_equal(pawl_rcu_call(&many[0].head, again, 1), 0);
    for (unsigned rounds = 0; pawl_load_relaxed32(&many[0].runs) < 10; rounds++) {
        assert_true(rounds < 10); /* each barrier waits for one more at least */
        assert_int_equal(pawl_rcu_barrier(), 0);
    }
    assert_int_equal(pawl_load_relaxed32(&many[0].runs), 10);
}

static uint32_t blocked_signals;

static void look_at_signals(pawl_rcu_head *head)
{
    sigset_t now;
    must(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0);
    blocked_signals = sigismember(&now, SIGINT) == 1 && sigismember(&now, SIGALRM) == 1 &&
                      sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGPROF) == 1 &&
                      sigismember(&now, SIGSEGV) == 0;
    run(head);
}

TEST_CASE_WITH(the_worker_has_signals_blocked, set_up, NULL)
{
    blocked_signals = 0;
    assert_int_equal(pawl_rcu_call(&many[0].head, look_at_signals, 1), 0);
    test_await(pawl_load_relaxed32(&many[0].runs) != 0);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(blocked_signals, 1);
}

/* ---- Freeing --------------------------------------------------------------------------------- */

TEST_CASE_WITH(defer_free_frees, set_up, NULL)
{
    struct reader reader;
    struct object *object, *const nothing = NULL;
    enter(&reader, pawl_rcu_default());
    for (unsigned i = 0; i < 100; i++) { /* leaks and early frees are AddressSanitizer's to find */
        object = (struct object *)calloc(1, sizeof *object);
        must(object != NULL);
        assert_int_equal(pawl_rcu_defer_free(object, head), 0);
    }
    assert_int_equal(pawl_rcu_defer_free(nothing, head), 0);
    assert_int_equal(numbers(pawl_rcu_default()).bytes, 100 * sizeof *object);
    let_go(&reader);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(numbers(pawl_rcu_default()).queued, 0);
}

/* ---- Domains --------------------------------------------------------------------------------- */

TEST_CASE_WITH(the_end_of_a_domain_runs_what_is_queued_and_the_next_begins_anew, set_up, NULL)
{
    pawl_rcu_domain domain;
    for (unsigned round = 0; round < 20; round++) {
        (void)set_up(state);
        assert_int_equal(pawl_rcu_domain_init(&domain, "short-lived"), 0);
        assert_int_equal(numbers(&domain).called, 0);
        assert_false(numbers(&domain).worker);
        assert_int_equal(pawl_rcu_domain_limit(&domain, 50, PAWL_RCU_NO_LIMIT, PAWL_RCU_WAIT), 0);
        for (unsigned i = 0; i < 200; i++)
            assert_int_equal(pawl_rcu_domain_call(&domain, &many[i].head, run, 1), 0);
        pawl_rcu_domain_destroy(&domain);
        assert_int_equal(pawl_load_relaxed32(&runs_in_all), 200);
    }
    assert_int_equal(pawl_rcu_domain_init(&domain, NULL), 0);
    assert_int_equal(numbers(&domain).limit_count, PAWL_RCU_CALLS);
    pawl_rcu_domain_destroy(&domain); /* never called */
}

TEST_CASE_WITH(the_domain_of_quiescent_states_has_callbacks_too, set_up, NULL)
{
    pawl_rcu_qs_online();
    assert_int_equal(pawl_rcu_domain_call(pawl_rcu_qs(), &many[0].head, run, 1), 0);
    usleep(5000);
    assert_int_equal(pawl_load_relaxed32(&many[0].runs), 0);
    assert_int_equal(pawl_rcu_domain_barrier(pawl_rcu_qs()), EDEADLK);
    pawl_rcu_qs_quiescent();
    while (pawl_load_relaxed32(&many[0].runs) == 0)
        pawl_rcu_qs_quiescent();
    pawl_rcu_qs_offline();
    assert_int_equal(pawl_rcu_domain_barrier(pawl_rcu_qs()), 0);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

TEST_CASE_WITH(bad_input_is_refused_and_changes_nothing, set_up, NULL)
{
    const uint64_t called = numbers(pawl_rcu_default()).called;
    pawl_rcu_domain *d = pawl_rcu_default();
    assert_int_equal(pawl_rcu_call(NULL, run, 1), EINVAL);
    assert_int_equal(pawl_rcu_call(&many[0].head, NULL, 1), EINVAL);
    assert_int_equal(pawl_rcu_try_call(NULL, run, 1), EINVAL);
    assert_int_equal(pawl_rcu_try_call(&many[0].head, NULL, 1), EINVAL);
    assert_int_equal(pawl_rcu_domain_free(d, &many[0], 65536, 1), EINVAL);
    assert_int_equal(pawl_rcu_call(&many[0].head, run, (size_t)PAWL_RCU_BYTES + 1), E2BIG);
    assert_int_equal(pawl_rcu_call(&many[0].head, run, SIZE_MAX), E2BIG);
    assert_int_equal(pawl_rcu_try_call(&many[0].head, run, SIZE_MAX), E2BIG);
    assert_int_equal(pawl_rcu_domain_limit(d, 0, 1, PAWL_RCU_WAIT), EINVAL);
    assert_int_equal(pawl_rcu_domain_limit(d, 1, 0, PAWL_RCU_WAIT), EINVAL);
    assert_int_equal(pawl_rcu_domain_limit(d, UINT64_MAX, 1, PAWL_RCU_WAIT), EINVAL);
    assert_int_equal(pawl_rcu_domain_limit(d, 1, 1, (pawl_rcu_policy)3), EINVAL);
    assert_int_equal(numbers(d).called, called);
    assert_int_equal(numbers(d).limit_count, PAWL_RCU_CALLS);
}

TEST_CASE_WITH(a_barrier_inside_a_section_of_any_domain_is_refused, set_up, NULL)
{
    pawl_rcu_domain other;
    assert_int_equal(pawl_rcu_domain_init(&other, "other"), 0);
    pawl_rcu_domain_read_lock(&other);
    assert_int_equal(pawl_rcu_barrier(), EDEADLK);
    assert_int_equal(pawl_rcu_domain_barrier(&other), EDEADLK);
    pawl_rcu_domain_read_unlock(&other);
    assert_int_equal(pawl_rcu_barrier(), 0);
    pawl_rcu_domain_destroy(&other);
}

TEST_CASE_WITH(the_numbers_add_up, set_up, NULL)
{
    const pawl_rcu_statistics before = numbers(pawl_rcu_default());
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(pawl_rcu_call(&many[i].head, run, 7), 0);
    assert_int_equal(pawl_rcu_barrier(), 0);
    pawl_rcu_statistics after = numbers(pawl_rcu_default());
    assert_int_equal(after.called - before.called, 100);
    assert_int_equal(after.run - before.run, 100);
    assert_int_equal(after.queued, 0);
    assert_int_equal(after.bytes, 0);
    assert_true(after.grace_periods > before.grace_periods);
    assert_true(after.grace_periods - before.grace_periods <= 100);
    assert_true(after.longest_delay > 0);
    assert_true(after.worker);
}

TEST_MAIN()
