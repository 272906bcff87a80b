/* SPDX-License-Identifier: MIT */
/* RCU callbacks: the bound, what happens at it, and calls from signal handlers. */
#include "test.h"

#include <pawl/rcu_call.h>
#include <pawl/thread.h>
#include <pawl/wait.h>

#include "base/base.h"
#include "support/lines.h"

#define OBJECTS 4096

static pawl_rcu_head heads[OBJECTS];
static pawl_rcu_domain domain;
static uint32_t runs;

static void run(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&runs, 1);
}

static pawl_rcu_statistics numbers(void)
{
    pawl_rcu_statistics statistics;
    pawl_rcu_domain_statistics(&domain, &statistics);
    return statistics;
}

static int set_up(void **state)
{
    must(pawl_rcu_domain_init(&domain, "limited") == 0);
    memset(heads, 0, sizeof heads);
    pawl_store_relaxed32(&runs, 0);
    return 0;
}

static int tear_down(void **state)
{
    pawl_rcu_domain_destroy(&domain);
    return 0;
}

static void limit(uint64_t count, uint64_t bytes, pawl_rcu_policy policy)
{
    assert_int_equal(pawl_rcu_domain_limit(&domain, count, bytes, policy), 0);
}

static int call(unsigned number, size_t bytes)
{
    return pawl_rcu_domain_call(&domain, &heads[number], run, bytes);
}

/* ---- A reader that stays until it is let go -------------------------------------------------- */

static uint32_t reader_in, reader_go;
static pthread_t reader;

static void *read_until_let_go(void *nothing)
{
    pawl_rcu_domain_read_lock(&domain);
    pawl_store_relaxed32(&reader_in, 1);
    (void)pawl_wake_all(&reader_in);
    while (pawl_load_relaxed32(&reader_go) == 0)
        (void)pawl_wait32(&reader_go, 0);
    pawl_rcu_domain_read_unlock(&domain);
    return nothing;
}

static void enter(void)
{
    pawl_store_relaxed32(&reader_in, 0);
    pawl_store_relaxed32(&reader_go, 0);
    reader = test_start(read_until_let_go, NULL);
    while (pawl_load_relaxed32(&reader_in) == 0)
        (void)pawl_wait32(&reader_in, 0);
}

static void let_go(void)
{
    pawl_store_relaxed32(&reader_go, 1);
    (void)pawl_wake_all(&reader_go);
    test_join(reader);
}

/* ---- Refusal --------------------------------------------------------------------------------- */

TEST_CASE_WITH(the_count_is_exact_and_a_refused_call_changes_nothing, set_up, tear_down)
{
    limit(10, PAWL_RCU_NO_LIMIT, PAWL_RCU_REFUSE);
    enter();
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(call(i, 100), 0);
    assert_int_equal(call(10, 100), EAGAIN);
    assert_int_equal(call(10, 0), EAGAIN);
    assert_int_equal(numbers().queued, 10);
    assert_int_equal(numbers().bytes, 1000);
    assert_int_equal(numbers().refusals, 2);
    let_go();
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    assert_int_equal(pawl_load_relaxed32(&runs), 10);
    assert_int_equal(call(10, 100), 0);
}

TEST_CASE_WITH(the_bytes_are_exact, set_up, tear_down)
{
    limit(PAWL_RCU_NO_LIMIT, 1000, PAWL_RCU_REFUSE);
    enter();
    for (unsigned i = 0; i < 10; i++)
        assert_int_equal(call(i, 100), 0);
    assert_int_equal(call(10, 1), EAGAIN);
    assert_int_equal(call(10, 0), 0);
    assert_int_equal(call(11, 1001), E2BIG);
    assert_int_equal(numbers().bytes, 1000);
    let_go();
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    assert_int_equal(call(11, 1000), 0);
}

static void *call_and_end(void *number)
{
    must(call((unsigned)(uintptr_t)number, 10) == 0);
    return NULL;
}

/* Threads that were there before have credit under the old limits; it counts no more. */
TEST_CASE_WITH(limits_can_change_while_threads_have_credit, set_up, tear_down)
{
    assert_int_equal(call(0, 10), 0);
    test_elsewhere(call_and_end, (void *)(uintptr_t)1);
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    limit(8, 800, PAWL_RCU_REFUSE);
    enter();
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(call(i, 100), 0);
    assert_int_equal(call(8, 0), EAGAIN);
    limit(9, 801, PAWL_RCU_REFUSE);
    assert_int_equal(call(8, 2), EAGAIN);
    assert_int_equal(call(8, 1), 0);
    assert_int_equal(call(9, 0), EAGAIN);
    limit(4, 100, PAWL_RCU_REFUSE); /* below what is queued */
    assert_int_equal(call(9, 0), EAGAIN);
    let_go();
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(call(i, 25), 0);
}

/* ---- Where waiting would deadlock ------------------------------------------------------------ */

TEST_CASE_WITH(a_reader_at_the_limit_is_refused_whatever_the_policy, set_up, tear_down)
{
    static const pawl_rcu_policy policies[] = {PAWL_RCU_HELP, PAWL_RCU_WAIT};
    for (unsigned i = 0; i < 2; i++) {
        limit(1, PAWL_RCU_NO_LIMIT, policies[i]);
        enter();
        assert_int_equal(call(0, 1), 0);
        pawl_rcu_domain_read_lock(&domain);
        assert_int_equal(call(1, 1), EDEADLK);
        pawl_rcu_domain_read_unlock(&domain);
        pawl_rcu_read_lock(); /* a section of another domain */
        assert_int_equal(call(1, 1), EDEADLK);
        pawl_rcu_read_unlock();
        let_go();
        assert_int_equal(call(1, 1), 0);
        assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    }
    assert_int_equal(numbers().refusals, 4);
    assert_int_equal(pawl_load_relaxed32(&runs), 4);
}

static int in_callback[3];

static void call_in_callback(pawl_rcu_head *head)
{
    in_callback[0] = call(1, 1);
    in_callback[1] = call(2, 1); /* the limit is two, and we are one of them */
    in_callback[2] = pawl_rcu_domain_barrier(&domain);
    run(head);
}

TEST_CASE_WITH(a_callback_at_the_limit_is_refused_whatever_the_policy, set_up, tear_down)
{
    static const pawl_rcu_policy policies[] = {PAWL_RCU_HELP, PAWL_RCU_WAIT};
    for (unsigned i = 0; i < 2; i++) {
        limit(2, PAWL_RCU_NO_LIMIT, policies[i]);
        assert_int_equal(pawl_rcu_domain_call(&domain, &heads[0], call_in_callback, 1), 0);
        assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
        assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
        assert_int_equal(in_callback[0], 0);
        assert_int_equal(in_callback[1], EDEADLK);
        assert_int_equal(in_callback[2], EDEADLK);
    }
}

/* ---- Helping and waiting --------------------------------------------------------------------- */

static uint32_t most_queued;

/* The statistics count what has run first, and then what was called. A thread that is preempted in
 * between sees a queue that never was: such a sample does not count. */
static void watch_queue(void)
{
    const pawl_rcu_statistics sample = numbers();
    const uint32_t queued = numbers().run == sample.run ? (uint32_t)sample.queued : 0;
    uint32_t most = pawl_load_relaxed32(&most_queued);
    while (queued > most && !pawl_cas_relaxed32(&most_queued, &most, queued))
        continue;
}

static void flood(void *nothing, unsigned index)
{
    const unsigned times = TEST_SCALE(20000);
    for (unsigned i = 0; i < times; i++) {
        pawl_rcu_head *head = (pawl_rcu_head *)malloc(sizeof *head);
        must(head != NULL);
        if (i % 16 == index)
            pawl_rcu_domain_synchronize(&domain);
        must(pawl_rcu_domain_free(&domain, head, 0, sizeof *head) == 0);
        if (i % 64 == 0)
            watch_queue();
    }
}

TEST_CASE_WITH(a_flood_stays_within_the_limit, set_up, tear_down)
{
    static const pawl_rcu_policy policies[] = {PAWL_RCU_HELP, PAWL_RCU_WAIT};
    unsigned floods = 0;
    do { /* until the limit has been reached, by those who help and by those who wait */
        const unsigned i = floods % 2;
        pawl_store_relaxed32(&most_queued, 0);
        limit(100 + 400 * i, PAWL_RCU_NO_LIMIT, policies[i]);
        test_threads(4, flood, NULL);
        assert_in_range(pawl_load_relaxed32(&most_queued), 0, 100 + 400 * i);
        assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
        assert_int_equal(numbers().queued, 0);
    } while (++floods < 2 || numbers().waits == 0 || numbers().helped == 0);
    assert_int_equal(numbers().called, floods * 4 * TEST_SCALE(20000));
    assert_int_equal(numbers().run, numbers().called);
    assert_int_equal(numbers().refusals, 0);
}

static void *let_go_when_the_caller_waits(void *nothing)
{
    test_await(numbers().waits != 0);
    must(pawl_load_relaxed32(&runs) == 0);
    let_go();
    return nothing;
}

TEST_CASE_WITH(a_caller_at_the_limit_goes_on_when_there_is_room, set_up, tear_down)
{
    static const pawl_rcu_policy policies[] = {PAWL_RCU_HELP, PAWL_RCU_WAIT};
    pthread_t helper;
    for (unsigned i = 0; i < 2; i++) {
        if (i > 0) {
            tear_down(state);
            set_up(state);
        }
        limit(1, PAWL_RCU_NO_LIMIT, policies[i]);
        enter();
        assert_int_equal(call(0, 1), 0);
        helper = test_start(let_go_when_the_caller_waits, NULL);
        assert_int_equal(call(1, 1), 0);
        assert_true(pawl_load_relaxed32(&runs) >= 1); /* the second may have run by now */
        test_join(helper);
    }
}

static void *raise_limit_when_the_caller_waits(void *nothing)
{
    test_await(numbers().waits != 0);
    must(pawl_rcu_domain_limit(&domain, 2, PAWL_RCU_NO_LIMIT, PAWL_RCU_WAIT) == 0);
    return nothing;
}

TEST_CASE_WITH(a_caller_that_waits_goes_on_when_the_limit_is_raised, set_up, tear_down)
{
    limit(1, PAWL_RCU_NO_LIMIT, PAWL_RCU_WAIT);
    enter();
    assert_int_equal(call(0, 1), 0);
    const pthread_t helper = test_start(raise_limit_when_the_caller_waits, NULL);
    assert_int_equal(call(1, 1), 0);
    assert_int_equal(pawl_load_relaxed32(&runs), 0);
    test_join(helper);
    let_go();
}

/* ---- Online threads -------------------------------------------------------------------------- */

static void wait_for_quiescent_states(pawl_rcu_head *head)
{
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
    run(head);
}

static void have_one_that_waits(void)
{
    must(pawl_rcu_domain_call(&domain, &heads[0], wait_for_quiescent_states, 1) == 0);
}

/* 1  an online thread waits for room, or in a barrier
 * 2  the callback that it waits for synchronizes pawl_rcu_qs(), and waits for that thread */
TEST_CASE_WITH(an_online_caller_does_not_wait_for_a_callback_that_waits_for_it, set_up, tear_down)
{
    static const pawl_rcu_policy policies[] = {PAWL_RCU_WAIT, PAWL_RCU_HELP};
    alarm(TEST_HANGS);
    for (unsigned i = 0; i < 2; i++) {
        limit(1, 1, policies[i]);
        pawl_rcu_qs_online();
        have_one_that_waits();
        assert_int_equal(call(1, 1), EDEADLK);
        assert_int_equal(pawl_rcu_domain_barrier(&domain), EDEADLK);
        assert_int_equal(pawl_load_relaxed32(&runs), 2 * i);
        pawl_rcu_qs_quiescent(); /* now the callback can return */
        pawl_rcu_qs_offline();
        assert_int_equal(call(1, 1), 0);
        assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    }
    assert_int_equal(numbers().refusals, 2);
    assert_int_equal(pawl_load_relaxed32(&runs), 4);
    alarm(0);
}

TEST_CASE_WITH(an_online_caller_waits_for_other_callbacks, set_up, tear_down)
{
    limit(1, 1, PAWL_RCU_WAIT);
    pawl_rcu_qs_online();
    assert_int_equal(call(0, 1), 0);
    assert_int_equal(call(1, 1), 0);
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    assert_int_equal(pawl_load_relaxed32(&runs), 2);
    pawl_rcu_qs_offline();
}

/* ---- Threads beyond the lines ---------------------------------------------------------------- */

static void *call_without_a_line(void *nothing)
{
    must(ipawl_thread_line_() == NULL);
    for (unsigned i = 0; i < 100; i++)
        must(call(i, 1) == 0);
    must(pawl_rcu_domain_barrier(&domain) == 0);
    must(pawl_load_relaxed32(&runs) == 100);
    return nothing;
}

/* All lines are made to belong to a thread that lives. */
TEST_CASE_WITH(a_thread_without_a_line_calls_and_waits_too, set_up, tear_down)
{
    assert_int_equal(call(OBJECTS - 1, 1), 0); /* the worker has begun */
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    pawl_store_relaxed32(&runs, 0);
    limit(10, 10, PAWL_RCU_HELP);
    lines_park_all();
    test_elsewhere(call_without_a_line, NULL);
    lines_free_all();
    assert_int_equal(pawl_load_relaxed32(&runs), 100);
}

/* ---- Signal handlers ------------------------------------------------------------------------- */

static uint32_t queued_by_handler, refused_by_handler;

static void on_signal(int number)
{
    const uint32_t next = pawl_load_relaxed32(&queued_by_handler);
    if (next < OBJECTS && pawl_rcu_domain_try_call(&domain, &heads[next], run, 1) == 0)
        pawl_store_relaxed32(&queued_by_handler, next + 1);
    else
        pawl_store_relaxed32(&refused_by_handler, 1);
}

TEST_CASE_WITH(try_call_works_in_a_handler_that_interrupts_calls, set_up, tear_down)
{
    static pawl_rcu_head own[64];
    struct sigaction action;
    uint64_t called = 0;
    timer_t timer;
    struct sigevent event;
    const struct itimerspec often = {{0, 50000}, {0, 50000}};
    const struct itimerspec never = {{0, 0}, {0, 0}};
    queued_by_handler = 0;
    assert_int_equal(pawl_rcu_domain_try_call(&domain, &own[0], run, 1), EAGAIN); /* no worker */
    assert_int_equal(call(OBJECTS - 1, 1), 0);
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    must(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    must(timer_settime(timer, 0, &often, NULL) == 0);
    double end = test_now() + 0.2;
    while ((test_now() < end || queued_by_handler == 0) && queued_by_handler < OBJECTS - 1) {
        for (unsigned i = 0; i < 64; i++, called++)
            assert_int_equal(pawl_rcu_domain_call(&domain, &own[i], run, 1), 0);
        assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    }
    must(timer_settime(timer, 0, &never, NULL) == 0);
    must(timer_delete(timer) == 0);
    must(signal(SIGUSR1, SIG_IGN) != SIG_ERR);
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    assert_int_equal(pawl_load_relaxed32(&runs), 1 + called + queued_by_handler);
    assert_int_equal(numbers().queued, 0);
}

TEST_CASE_WITH(try_call_at_the_limit_never_waits, set_up, tear_down)
{
    limit(1, PAWL_RCU_NO_LIMIT, PAWL_RCU_WAIT);
    enter();
    assert_int_equal(call(0, 1), 0);
    assert_int_equal(pawl_rcu_domain_try_call(&domain, &heads[1], run, 1), EAGAIN);
    assert_int_equal(numbers().waits, 0);
    let_go();
}

TEST_MAIN()
