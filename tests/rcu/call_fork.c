/* SPDX-License-Identifier: MIT */
/* RCU callbacks and fork: what was queued runs once in the parent and once in the child. */
#include "test.h"

#include <pawl/rcu_call.h>
#include <pawl/wait.h>

#include "rcu/rcu_call.h"

#define OBJECTS 500

static pawl_rcu_head heads[OBJECTS];
static uint32_t runs[OBJECTS];
static uint32_t runs_in_all;

static void run(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&runs[head - heads], 1);
    (void)pawl_fetch_add_relaxed32(&runs_in_all, 1);
}

/* A new thread allocates in the sanitizer before its first line. A fork at that moment left the
 * allocator locked in the child, whose own worker then never began: the worker is there before. */
static void wait_for_a_worker(void)
{
    const uint32_t before = pawl_load_relaxed32(&runs_in_all);
    must(pawl_rcu_call(&heads[0], run, 10) == 0);
    test_await(pawl_load_relaxed32(&runs_in_all) != before);
}

static int set_up(void **state)
{
    if (TEST_SANITIZED)
        wait_for_a_worker();
    must(pawl_rcu_barrier() == 0);
    for (unsigned i = 0; i < OBJECTS; i++)
        pawl_store_relaxed32(&runs[i], 0);
    pawl_store_relaxed32(&runs_in_all, 0);
    return 0;
}

static void call_all(void)
{
    for (unsigned i = 0; i < OBJECTS; i++)
        must(pawl_rcu_call(&heads[i], run, 10) == 0);
}

static bool each_ran_once(void)
{
    for (unsigned i = 0; i < OBJECTS; i++)
        if (pawl_load_relaxed32(&runs[i]) != 1)
            return false;
    return true;
}

static bool nothing_is_queued(void)
{
    pawl_rcu_statistics statistics;
    pawl_rcu_domain_statistics(pawl_rcu_default(), &statistics);
    return statistics.queued == 0 && statistics.bytes == 0;
}

static bool ended_well(pid_t child)
{
    const int status = test_wait(child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* In the child: says by its status whether all is well. */
static void report(bool well)
{
    _exit(well ? 0 : 1);
}

TEST_CASE_WITH(queued_callbacks_run_in_both_by_a_barrier, set_up, NULL)
{
    for (unsigned round = 0; round < 20; round++) {
        (void)set_up(state);
        pawl_rcu_read_lock(); /* nothing runs before the fork */
        call_all();
        pid_t child = fork();
        must(child >= 0);
        pawl_rcu_read_unlock();
        if (child == 0) {
            alarm(TEST_HANGS);
            report(pawl_rcu_barrier() == 0 && each_ran_once() && nothing_is_queued());
        }
        assert_int_equal(pawl_rcu_barrier(), 0);
        assert_true(each_ran_once());
        assert_true(ended_well(child));
    }
}

TEST_CASE_WITH(the_first_call_of_the_child_starts_a_worker_of_its_own, set_up, NULL)
{
    pawl_rcu_read_lock();
    call_all();
    pid_t child = fork();
    must(child >= 0);
    pawl_rcu_read_unlock();
    if (child == 0) {
        alarm(TEST_HANGS);
        must(pawl_rcu_domain_free(pawl_rcu_default(), malloc(100), 0, 100) == 0);
        while (pawl_load_relaxed32(&runs_in_all) < OBJECTS)
            sched_yield(); /* nobody helps it */
        report(pawl_rcu_barrier() == 0 && each_ran_once());
    }
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_true(each_ran_once());
    assert_true(ended_well(child));
}

/* Others call and the worker is at work while the fork happens. */
static uint32_t stop_calling;

struct mine {
    pawl_rcu_head head;
    uint32_t *runs;
};

static void run_mine(pawl_rcu_head *head)
{
    struct mine *mine = (struct mine *)(void *)head;
    (void)pawl_fetch_add_relaxed32(mine->runs, 1);
    free(mine);
}

static void *keep_calling(void *counts)
{
    uint32_t *called_and_run = (uint32_t *)counts;
    while (pawl_load_relaxed32(&stop_calling) == 0) {
        struct mine *mine = (struct mine *)malloc(sizeof *mine);
        must(mine != NULL);
        mine->runs = &called_and_run[1];
        must(pawl_rcu_call(&mine->head, run_mine, sizeof *mine) == 0);
        called_and_run[0]++;
    }
    return NULL;
}

TEST_CASE_WITH(a_fork_amid_calls_leaves_both_in_order, set_up, NULL)
{
    static uint32_t counts[2][2];
    pthread_t callers[2];
    if (TEST_SANITIZED) { /* the sanitizer's own allocator may be locked in the child */
        print_message("skipped: needs an allocator that works after any fork\n");
        skip();
    }
    memset(counts, 0, sizeof counts);
    pawl_store_relaxed32(&stop_calling, 0);
    must(pawl_rcu_domain_limit(pawl_rcu_default(), 1000, PAWL_RCU_NO_LIMIT, PAWL_RCU_HELP) == 0);
    for (unsigned i = 0; i < 2; i++)
        callers[i] = test_start(keep_calling, counts[i]);
    for (unsigned round = 0; round < 100; round++) {
        const pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            alarm(TEST_HANGS);
            call_all(); /* the limit holds in the child, and there is room in the end */
            report(pawl_rcu_barrier() == 0 && each_ran_once() && nothing_is_queued());
        }
        assert_true(ended_well(child));
    }
    pawl_store_relaxed32(&stop_calling, 1);
    test_join_all(callers, 2);
    assert_int_equal(pawl_rcu_barrier(), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(counts[i][0], counts[i][1]);
    must(pawl_rcu_domain_limit(pawl_rcu_default(), PAWL_RCU_CALLS, PAWL_RCU_BYTES, PAWL_RCU_HELP) ==
         0);
}

/* ---- Forks and callbacks under way ----------------------------------------------------------- */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static uint32_t at_the_mutex;

static void wait_for_mutex(pawl_rcu_head *head)
{
    pawl_store_relaxed32(&at_the_mutex, 1);
    must(pthread_mutex_lock(&held) == 0);
    must(pthread_mutex_unlock(&held) == 0);
    run(head);
}

/* It would wait for ever if it waited without a limit. The child counts the callback as done. */
TEST_CASE_WITH(a_fork_does_not_wait_for_a_callback_that_waits_for_the_forking_thread, set_up, NULL)
{
    at_the_mutex = 0;
    must(pthread_mutex_lock(&held) == 0);
    must(pawl_rcu_call(&heads[0], wait_for_mutex, 10) == 0);
    test_await(pawl_load_relaxed32(&at_the_mutex) != 0);
    for (unsigned i = 1; i < OBJECTS; i++)
        must(pawl_rcu_call(&heads[i], run, 10) == 0);
    pid_t child = fork();
    must(child >= 0);
    must(pthread_mutex_unlock(&held) == 0);
    if (child == 0) {
        alarm(TEST_HANGS);
        must(pawl_rcu_barrier() == 0);
        pawl_store_relaxed32(&runs[0], 1);
        report(each_ran_once() && nothing_is_queued() &&
               pawl_load_relaxed32(&runs_in_all) == OBJECTS - 1);
    }
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_true(each_ran_once());
    assert_true(ended_well(child));
}

static pid_t forked;

static void end_if_child(pawl_rcu_head *head)
{
    run(head);
    if (forked == 0 && pawl_load_relaxed32(&runs_in_all) == OBJECTS)
        report(each_ran_once());
}

static void fork_here(pawl_rcu_head *head)
{
    forked = fork();
    must(forked >= 0);
    if (forked == 0)
        alarm(TEST_HANGS);
    end_if_child(head);
}

/* The child's one thread is the worker, in the middle of its work, and goes on with that. */
TEST_CASE_WITH(a_callback_may_fork, set_up, NULL)
{
    forked = -1;
    pawl_rcu_read_lock();
    for (unsigned i = 0; i < OBJECTS;
         i++) /* some come before it and some after, whatever their order */
        must(pawl_rcu_call(&heads[i], i == OBJECTS / 2 ? fork_here : end_if_child, 10) == 0);
    pawl_rcu_read_unlock();
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_true(each_ran_once());
    assert_true(ended_well(forked));
}

/* ---- A callback forks beside another one ----------------------------------------------------- */

static pawl_rcu_domain shared_by_two;
static uint32_t in_callback, forked_beside;
static pid_t child_beside;

static void wait_for_the_fork(pawl_rcu_head *head)
{
    pawl_store_relaxed32(&in_callback, 1);
    test_await(pawl_load_relaxed32(&forked_beside) != 0);
    run(head);
}

static void fork_beside(pawl_rcu_head *head)
{
    child_beside = fork();
    must(child_beside >= 0);
    if (child_beside == 0)
        alarm(TEST_HANGS);
    pawl_store_relaxed32(&forked_beside, 1);
    run(head);
}

static void *call_what_waits(void *nothing)
{
    must(pawl_rcu_domain_call(&shared_by_two, &heads[0], wait_for_the_fork, 10) == 0);
    return nothing;
}

static bool its_room_is_back(void)
{
    pawl_rcu_statistics numbers;
    if (pawl_rcu_domain_barrier(&shared_by_two) != 0)
        return false;
    pawl_rcu_domain_statistics(&shared_by_two, &numbers);
    if (numbers.queued != 0 || numbers.bytes != 0 ||
        pawl_rcu_domain_limit(&shared_by_two, 2, 20, PAWL_RCU_REFUSE) != 0)
        return false;
    pawl_rcu_domain_read_lock(&shared_by_two);
    for (unsigned i = 0; i < 2; i++)
        if (pawl_rcu_domain_call(&shared_by_two, &heads[i], run, 10) != 0)
            return false;
    pawl_rcu_domain_read_unlock(&shared_by_two);
    return true;
}

/* 1  The worker is in a callback of the domain.
 * 2  A thread at the limit helps, and the callback that it calls forks.
 * 3  In the child the first callback counts as done, and the second one goes on. The room of both
 *    must come back, or the domain can never be destroyed. */
TEST_CASE_WITH(a_callback_may_fork_while_another_one_runs, set_up, NULL)
{
    in_callback = forked_beside = 0;
    must(pawl_rcu_domain_init(&shared_by_two, "shared by two") == 0);
    must(pawl_rcu_domain_limit(&shared_by_two, 2, 20, PAWL_RCU_HELP) == 0);
    test_elsewhere(call_what_waits, NULL);
    test_await(pawl_load_relaxed32(&in_callback) != 0);
    must(pawl_rcu_domain_call(&shared_by_two, &heads[1], fork_beside, 10) == 0);
    must(pawl_rcu_domain_call(&shared_by_two, &heads[2], run, 10) == 0); /* helps */
    if (child_beside == 0) {
        const bool well = its_room_is_back();
        pawl_rcu_domain_destroy(&shared_by_two);
        report(well);
    }
    assert_true(its_room_is_back());
    pawl_rcu_domain_destroy(&shared_by_two);
    assert_true(ended_well(child_beside));
}

#if PAWL_TSAN_
/* ThreadSanitizer lets no thread begin in the child of a program that had several. */
TEST_SKIPPED("ThreadSanitizer does not support it")
#else
TEST_MAIN()
#endif
