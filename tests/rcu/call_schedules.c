/* SPDX-License-Identifier: MIT */
/*
 * RCU callbacks in every order of a few threads. No wake is lost between callers, the worker,
 * barriers and threads that wait for room. Each callback runs once, and not before the readers have
 * left. The limit holds. The worker is a simulated thread like the others; without it callers do
 * its work.
 */
#include "explorer/explorer.h"

#include <pawl/rcu_call.h>

enum { HEADS = 3 };

static pawl_rcu_domain domain;
static pawl_rcu_head heads[HEADS];
static uint32_t runs[HEADS];
static uint32_t runs_in_all, ended, most_queued;
static uint32_t in_section, too_early;

/* ---- The worker's thread --------------------------------------------------------------------- */

static bool with_worker, all_ended;
static void (*worker_body)(void *);
static void *worker_argument;

/* clang-format off */
#ifdef __cplusplus
extern "C"
#endif
bool pawl_hook_start_thread(void (*body)(void *argument), void *argument)
/* clang-format on */
{
    if (!with_worker)
        return false;
    worker_argument = argument;
    worker_body = body;
    return true;
}

static void worker(void *nothing)
{
    while (worker_body == NULL && !all_ended)
        pawl_hook_relax();
    if (worker_body != NULL)
        worker_body(worker_argument);
}

/* ---- The scene ------------------------------------------------------------------------------- */

static pawl_rcu_policy policy;
static uint64_t limit, limit_of_bytes = PAWL_RCU_NO_LIMIT;

static void begin(void)
{
    sched_new_process();
    memset(heads, 0, sizeof heads);
    memset(runs, 0, sizeof runs);
    runs_in_all = ended = most_queued = in_section = too_early = 0;
    worker_body = NULL;
    all_ended = false;
    must(pawl_rcu_domain_init(&domain, "explored") == 0);
    must(pawl_rcu_domain_limit(&domain, limit, limit_of_bytes, policy) == 0);
}

static void run(pawl_rcu_head *head)
{
    pawl_rcu_statistics statistics;
    pawl_rcu_domain_statistics(&domain, &statistics);
    if (statistics.queued > most_queued)
        most_queued = (uint32_t)statistics.queued;
    if (head < &heads[2])
        too_early |= in_section;
    runs[head - heads]++;
    runs_in_all++;
}

static void call(unsigned number)
{
    must(pawl_rcu_domain_call(&domain, &heads[number], run, 1) == 0);
}

/* The last of the callers ends the domain, and with it the worker. */
static void leave(unsigned callers)
{
    if (++ended < callers)
        return;
    pawl_rcu_domain_destroy(&domain);
    all_ended = true;
}

static unsigned expected_runs;

static void end(void)
{
    for (unsigned i = 0; i < HEADS; i++)
        must(runs[i] == (i < expected_runs));
    must(most_queued <= limit);
    must(too_early == 0);
}

static unsigned explored(void (*const *bodies)(void *), unsigned count, unsigned preemptions)
{
    if (PAWL_TSAN_) /* it does not follow a thread from stack to stack */
        skip();
    unsigned executions = explore(begin, bodies, count, end, preemptions);
    assert_true(executions > 100);
    return executions;
}

/* ---- Scenarios ------------------------------------------------------------------------------- */

/* It goes to sleep until all callbacks have run: nobody else will see to that. */
static uint32_t all_have_run;

static void run_and_wake(pawl_rcu_head *head)
{
    run(head);
    if (runs_in_all < expected_runs)
        return;
    pawl_store_relaxed32(&all_have_run, 1);
    (void)pawl_hook_wake(&all_have_run, 1);
}

static void call_and_sleep(void *nothing)
{
    pawl_store_relaxed32(&all_have_run, 0);
    for (unsigned i = 0; i < expected_runs; i++)
        must(pawl_rcu_domain_call(&domain, &heads[i], run_and_wake, 1) == 0);
    while (pawl_load_relaxed32(&all_have_run) == 0)
        (void)pawl_hook_wait(&all_have_run, 0, UINT64_MAX);
    leave(1);
}

TEST_CASE(the_worker_runs_what_is_called_while_it_goes_to_sleep)
{
    static void (*const bodies[])(void *) = {worker, call_and_sleep};
    with_worker = true;
    limit = 10;
    policy = PAWL_RCU_HELP;
    expected_runs = 1;
    (void)explored(bodies, 2, 2);
}

/* The third call helps with one, and leaves one in a batch. */
TEST_CASE(the_worker_runs_what_a_helper_leaves)
{
    static void (*const bodies[])(void *) = {worker, call_and_sleep};
    with_worker = true;
    limit = 2;
    policy = PAWL_RCU_HELP;
    expected_runs = 3;
    (void)explored(bodies, 2, 1);
}

static void call_two(void *nothing)
{
    call(0);
    call(1);
    leave(2);
}

static void call_another(void *nothing)
{
    call(2);
    leave(2);
}

static void callers_at_the_limit_go_on(bool worker_too, pawl_rcu_policy what)
{
    static void (*const bodies[])(void *) = {call_two, call_another, worker};
    with_worker = worker_too;
    limit = limit_of_bytes = 1;
    policy = what;
    expected_runs = 3;
    (void)explored(bodies, worker_too ? 3 : 2, 1);
    limit_of_bytes = PAWL_RCU_NO_LIMIT;
}

TEST_CASE(callers_who_wait_for_room_get_it_from_the_worker)
{
    callers_at_the_limit_go_on(true, PAWL_RCU_WAIT);
}

TEST_CASE(callers_who_help_beside_the_worker_go_on)
{
    callers_at_the_limit_go_on(true, PAWL_RCU_HELP);
}

TEST_CASE(callers_without_a_worker_do_its_work)
{
    callers_at_the_limit_go_on(false, PAWL_RCU_WAIT);
}

/* A section of another domain: such a caller never waits. */
static bool let_in;

static void call_in_a_section(void *nothing)
{
    pawl_rcu_read_lock();
    int error = pawl_rcu_domain_call(&domain, &heads[2], run, 1);
    pawl_rcu_read_unlock();
    must(error == 0 || error == EDEADLK);
    let_in = error == 0;
    leave(2);
}

static void end_with_two_or_three(void)
{
    expected_runs = let_in ? 3 : 2;
    end();
}

/* One call and one byte may be queued.
 *   1  Thread 0 helps: it calls back, gives the head back, and is interrupted before the byte.
 *   2  Thread 1 takes the head, finds no room for its byte, and is interrupted.
 *   3  Thread 0 gives the byte back, finds no room for a head, and goes to sleep.
 *   4  Thread 1 gives the head back. It must tell thread 0, because nothing is queued any more. */
TEST_CASE(a_caller_that_gives_a_head_back_tells_those_who_wait)
{
    static void (*const bodies[])(void *) = {call_two, call_in_a_section};
    with_worker = false;
    limit = limit_of_bytes = 1;
    policy = PAWL_RCU_HELP;
    if (PAWL_TSAN_)
        skip();
    assert_true(explore(begin, bodies, 2, end_with_two_or_three, 2) > 100);
    limit_of_bytes = PAWL_RCU_NO_LIMIT;
}

static void call_and_wait(void *nothing)
{
    call(0);
    call(1);
    must(pawl_rcu_domain_barrier(&domain) == 0);
    must(runs[0] == 1 && runs[1] == 1);
    leave(2);
}

static void call_and_wait_too(void *nothing)
{
    call(2);
    must(pawl_rcu_domain_barrier(&domain) == 0);
    must(runs[2] == 1);
    leave(2);
}

/* With and without a worker; with room for all, and for one callback and one byte. */
TEST_CASE(a_barrier_waits_for_what_was_called_whoever_runs_it)
{
    static void (*const bodies[])(void *) = {call_and_wait, call_and_wait_too, worker};
    policy = PAWL_RCU_HELP;
    expected_runs = 3;
    for (unsigned i = 0; i < 4; i++) {
        with_worker = i % 2 == 0;
        limit = limit_of_bytes = i < 2 ? 10 : 1;
        (void)explored(bodies, with_worker ? 3 : 2, 1);
    }
    limit_of_bytes = PAWL_RCU_NO_LIMIT;
}

static void read_a_while(void *nothing)
{
    pawl_rcu_domain_read_lock(&domain);
    pawl_hook_relax();
    pawl_rcu_domain_read_unlock(&domain);
    leave(2);
}

static void call_and_wait_alone(void *nothing)
{
    call(0);
    pawl_hook_relax(); /* the worker takes it, and waits for the reader */
    call(1);
    must(pawl_rcu_domain_barrier(&domain) == 0);
    must(runs[0] == 1 && runs[1] == 1);
    leave(2);
}

TEST_CASE(a_barrier_waits_for_both_batches)
{
    static void (*const bodies[])(void *) = {read_a_while, call_and_wait_alone, worker};
    policy = PAWL_RCU_HELP;
    expected_runs = 2;
    with_worker = true;
    for (unsigned i = 0; i < 2; i++) {
        limit = limit_of_bytes = i == 0 ? 10 : 1;
        (void)explored(bodies, 3, 1);
    }
    limit_of_bytes = PAWL_RCU_NO_LIMIT;
}

/* The callback may not run in here once it was called in here. A limit of one would refuse the
 * second call, because its caller reads. */
static void read_while_called(void *nothing)
{
    pawl_rcu_domain_read_lock(&domain);
    call(0);
    in_section = 1;
    pawl_hook_relax();
    call(1);
    pawl_hook_relax();
    in_section = 0;
    pawl_rcu_domain_read_unlock(&domain);
    leave(2);
}

TEST_CASE(nothing_runs_before_its_readers_have_left)
{
    static void (*const bodies[])(void *) = {read_while_called, call_another, worker};
    limit = 10;
    policy = PAWL_RCU_HELP;
    expected_runs = 3;
    for (unsigned i = 0; i < 2; i++) {
        with_worker = i == 0;
        (void)explored(bodies, with_worker ? 3 : 2, 1);
    }
}

TEST_MAIN()
