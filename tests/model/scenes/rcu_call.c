/* SPDX-License-Identifier: MIT */
/* RCU's callbacks: each runs once, after the readers, and sees what was stored before its call. The
 * domain's worker is one more thread, which the end of the domain stops; or there is none. */
#include "rcu_calls.h"

#include <errno.h>

static void with_worker_and_reader(void)
{
    set_up(3);
}

static void without_worker_but_a_reader(void)
{
    set_up(3);
    m_refuse_threads();
}

static void with_worker_and_reader_at_one(void)
{
    with_worker_and_reader();
    limit_to_one();
}

static void without_worker_but_a_reader_at_one(void)
{
    without_worker_but_a_reader();
    limit_to_one();
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void reads(void)
{
    M_STEP(pawl_rcu_domain_read_lock(&STAGE->domain));
    M_DO(const struct object *found = pawl_rcu_domain_dereference(&STAGE->domain, STAGE->shown));
    m_demand(found == NULL || m_read(CONTENTS(0)) == 5, M_VISIBILITY, "an object that is gone");
    M_STEP(pawl_rcu_domain_read_unlock(&STAGE->domain));
}

/* Allowed where callbacks cannot be waited for; a worker may not be there yet. */
static void tries_to_call(void)
{
    m_write(STORY(1), CALLED);
    M_DO(int error = pawl_rcu_domain_try_call(&STAGE->domain, &STAGE->objects[1].head, reclaim, 1));
    if (error != 0)
        m_write(STORY(1), HAS_RUN);
}

static void beyond_the_lines(void)
{
    set_up(0);
    STAGE->callers = 1;
    *pawl_hook_thread_slot() = &process_here()->lines[PAWL_RCU_LINES];
}

static void beyond_the_lines_at_one(void)
{
    beyond_the_lines();
    limit_to_one();
}

/* The second call is on a line that nobody had when the worker first looked at the lines. */
static void calls_before_it_has_a_line(void)
{
    calls_and_sleeps();
    *pawl_hook_thread_slot() = NULL;
    calls_second();
    sleeps_until_done(2);
}

/* ---- A line that goes from thread to thread -------------------------------------------------- */

/* The shard of thread 0 is not empty: its next call passes no fence. */
static void something_is_queued(void)
{
    set_up(1);
    m_refuse_threads();
    fill(0, 1);
}

static void calls_and_ends(void)
{
    must_call(0);
    M_STEP(ipawl_thread_exit_());
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static void calls_and_says(void)
{
    must_call(0);
    M_STEP(pawl_rcu_assign_pointer(STAGE->made, &STAGE->objects[0]));
}

static void barrier(void)
{
    const struct object *made;
    M_DO(made = pawl_rcu_domain_dereference(&STAGE->domain, STAGE->made));
    M_DO(
        m_demand(pawl_rcu_domain_barrier(&STAGE->domain) == 0, M_PROGRESS, "a barrier is refused"));
    if (made != NULL)
        m_demand(m_read(STORY(0)) == HAS_RUN && m_read(CONTENTS(0)) == 0, M_VISIBILITY,
                 "a barrier was over before a callback");
}

static void calls_and_waits(void)
{
    calls_and_says();
    barrier();
}

static void calls_second_and_waits(void)
{
    calls_second();
    waits_for_all();
}

static void gives_way(pawl_rcu_head *head)
{
    pawl_hook_relax();
}

/* Between the callbacks of a batch a barrier looks, and sleeps on. */
static void waits_for_two(void)
{
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->fillers[0], gives_way, 1));
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->fillers[1], gives_way, 1));
    waits_for_all();
}

/* Every call tries to start a worker, if it is time. */
static void without_worker_but_for_tries(void)
{
    without_worker();
    M_STEP(pawl_rcu_domain_limit(&STAGE->domain, 4, PAWL_RCU_NO_LIMIT, PAWL_RCU_HELP));
}

static void calls_and_tries_again(void)
{
    must_call(0);
    m_pass_time(RETRY_NS);
    must_call(1);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void looks_at_the_numbers(void)
{
    pawl_rcu_statistics numbers;
    M_STEP(pawl_rcu_domain_statistics(&STAGE->domain, &numbers));
    m_demand(numbers.run <= 2 && numbers.called <= 2 && numbers.queued <= 2, M_VISIBILITY,
             "numbers that never were");
}

/* ---- The end of a domain --------------------------------------------------------------------- */

/* What the worker of the last one did is over when another one has its place. */
static void makes_it_again(void)
{
    struct pawl_rcu_calls *calls = calls_here()->calls;
    all_have_run();
    m_renew(calls, PAWL_RCU_DOMAINS * sizeof calls[0]);
    m_demand(pawl_rcu_domain_init(&STAGE->domain, "again") == 0, M_PROGRESS, "no domain");
    m_write(STORY(0), UNCALLED);
    must_call(0);
    all_have_run();
}

static void calls_again(pawl_rcu_head *head)
{
    must_call(1);
}

/* A callback that calls: its domain ends after both. */
static void calls_a_caller(void)
{
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->objects[0].head, calls_again, 1));
}

/* At a limit of one the callback has its own place: its call helps nobody, and is refused. */
static void is_refused_itself(pawl_rcu_head *head)
{
    m_demand(call(1) == EDEADLK, M_EXCLUSION, "a callback is let in beyond the limit");
    m_write(STORY(1), HAS_RUN);
}

static void calls_one_that_is_refused(void)
{
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->objects[0].head, is_refused_itself, 1));
}

/* ---- Fork ------------------------------------------------------------------------------------ */

/* A callback that begins, and ends. */
static void steps_twice(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&STAGE->steps[0], 1);
    (void)pawl_fetch_add_relaxed32(&STAGE->steps[1], 1);
    if (!m_child_goes_on())
        reclaim(head);
}

static void steps_are_queued(void)
{
    m_begin_system();
    without_worker();
    M_STEP(ipawl_set_up_());
    m_write(STORY(0), CALLED);
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->objects[0].head, steps_twice, 1));
}

/* The child calls what nobody had begun to call, and nothing twice. */
static void forks(void)
{
    pawl_rcu_statistics numbers;
    m_before_fork();
    m_goes_on_as_child();
    uint32_t begun = pawl_load_relaxed32(&STAGE->steps[0]);
    M_DO(int error = pawl_rcu_domain_barrier(&STAGE->domain));
    m_demand(error == 0, M_PROGRESS, "a barrier that waits for itself");
    m_demand(pawl_load_relaxed32(&STAGE->steps[0]) == 1, M_EXCLUSION,
             begun == 0 ? "a callback is lost" : "a callback is called twice");
    pawl_rcu_domain_statistics(&STAGE->domain, &numbers);
    m_demand(numbers.queued == 0, M_RESTORED, "a callback that has run is queued");
    m_child_ends();
}

/* As parent, it forks while others work. */
static void forks_as_parent(void)
{
    m_before_fork();
    m_after_fork();
}

static void steps_are_queued_at_one(void)
{
    steps_are_queued();
    limit_to_one();
}

static void calls_another_step(void)
{
    must_call(1);
}

static void waits_for_steps(void)
{
    barrier();
    m_demand(m_read(STORY(0)) == HAS_RUN, M_VISIBILITY, "a barrier was over before a callback");
}

static void waits_in_the_parent(void)
{
    m_lives_in_the_parent(waits_for_steps);
}

static void calls_in_the_parent(void)
{
    m_lives_in_the_parent(calls_another_step);
}

static void something_is_queued_at_one(void)
{
    something_is_queued();
    limit_to_one();
}

static void without_worker_but_for_tries_at_one(void)
{
    without_worker_but_for_tries();
    limit_to_one();
}

extern const struct m_scene m_rcu_call_scenes[];
/* clang-format off */
const struct m_scene m_rcu_call_scenes[] = {
    {"rcu_call_and_sleep", with_worker_and_one_caller, {calls_and_sleeps}, all_have_run,
     "preempt=1"},
    {"rcu_two_calls_and_sleep", with_worker_and_one_caller, {calls_both_and_sleeps}, all_have_run,
     "preempt=1"},
    {"rcu_call_beside_a_reader", with_worker_and_reader, {reads, calls_first}, all_have_run,
     "preempt=1"},
    {"rcu_call_beside_a_call", with_worker, {calls_first, calls_second}, all_have_run,
     "preempt=0"},
    {"rcu_call_beside_a_try", with_worker, {calls_first, tries_to_call}, all_have_run,
     "preempt=0"},
    {"rcu_call_on_the_line_of_another", something_is_queued, {calls_and_ends, calls_second},
     all_have_run, "preempt=1 fences=1"},
    {"rcu_call_beside_a_barrier", with_worker_and_one_shard, {calls_and_says, barrier},
     all_have_run, "preempt=0"},
    {"rcu_barrier_without_worker", without_worker, {calls_and_says, barrier}, all_have_run,
     "preempt=2 fences=1"},
    {"rcu_two_barriers_without_worker", without_worker_and_one_shard, {calls_and_waits, barrier},
     all_have_run, "preempt=0 fences=1"},
    {"rcu_reader_beside_a_barrier", without_worker_but_a_reader, {reads, calls_first, barrier},
     all_have_run, "preempt=1"},
    {"rcu_call_by_a_new_thread", beyond_the_lines, {calls_before_it_has_a_line}, all_have_run,
     "preempt=1"},
    {"rcu_calls_and_a_barrier", with_worker_and_one_caller, {waits_for_two}, all_have_run,
     "preempt=0"},
    {"rcu_barrier_beside_a_try", without_worker_but_for_tries,
     {calls_and_tries_again, waits_for_all}, all_have_run, "preempt=1"},
    {"rcu_statistics_beside_calls", without_worker, {calls_both, looks_at_the_numbers},
     all_have_run, "preempt=2"},
    {"rcu_domain_made_again", with_worker_and_one_caller, {calls_first}, makes_it_again,
     "preempt=0"},
    {"rcu_callback_that_calls", with_worker_and_one_caller, {calls_a_caller}, all_have_run,
     "preempt=0"},
    {"rcu_fork_beside_a_callback", steps_are_queued, {forks, waits_in_the_parent}, NULL,
     "preempt=2 fences=1"},
    {"rcu_fork_of_a_parent_beside_a_callback", steps_are_queued,
     {forks_as_parent, waits_for_steps}, all_have_run, "preempt=1"},
    {"rcu_two_calls_and_sleep_at_one", with_worker_and_one_caller_at_one, {calls_both_and_sleeps},
     all_have_run, "preempt=0"},
    {"rcu_call_beside_a_reader_at_one", with_worker_and_reader_at_one, {reads, calls_both},
     all_have_run, "preempt=0"},
    {"rcu_call_beside_a_call_at_one", with_worker_and_one_shard_at_one,
     {calls_first, calls_second}, all_have_run, "preempt=0"},
    {"rcu_call_beside_a_try_at_one", with_worker_at_one, {calls_first, tries_to_call}, all_have_run,
     "preempt=0"},
    {"rcu_call_beside_a_barrier_at_one", with_worker_and_one_shard_at_one,
     {calls_and_says, barrier}, all_have_run, "preempt=0"},
    {"rcu_two_barriers_without_worker_at_one", without_worker_and_one_shard_at_one,
     {calls_and_waits, calls_second_and_waits}, all_have_run, "preempt=0 fences=1"},
    {"rcu_reader_beside_a_barrier_at_one", without_worker_but_a_reader_at_one,
     {reads, calls_first, calls_second_and_waits}, all_have_run, "preempt=0"},
    {"rcu_call_by_a_new_thread_at_one", beyond_the_lines_at_one, {calls_before_it_has_a_line},
     all_have_run, "preempt=1"},
    {"rcu_statistics_beside_calls_at_one", without_worker_at_one,
     {calls_both, looks_at_the_numbers}, all_have_run, "preempt=0"},
    {"rcu_domain_made_again_at_one", with_worker_and_one_caller_at_one, {calls_both},
     makes_it_again, "preempt=0"},
    {"rcu_call_on_the_line_of_another_at_one", something_is_queued_at_one,
     {calls_and_ends, calls_second}, all_have_run, "preempt=0 fences=1"},
    {"rcu_barrier_without_worker_at_one", without_worker_at_one, {calls_and_says, barrier},
     all_have_run, "preempt=1 fences=1"},
    {"rcu_calls_and_a_barrier_at_one", with_worker_and_one_caller_at_one, {waits_for_two},
     all_have_run, "preempt=0"},
    {"rcu_barrier_beside_a_try_at_one", without_worker_but_for_tries_at_one,
     {calls_and_tries_again, waits_for_all}, all_have_run, "preempt=0"},
    {"rcu_fork_beside_a_callback_at_one", steps_are_queued_at_one, {forks, waits_in_the_parent},
     NULL, "preempt=1 fences=1"},
    {"rcu_fork_beside_a_call_at_one", steps_are_queued_at_one, {forks, calls_in_the_parent},
     NULL, "preempt=1 fences=1"},
    {"rcu_callback_that_calls_at_one", with_worker_and_one_caller_at_one,
     {calls_one_that_is_refused}, all_have_run, "preempt=0"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
