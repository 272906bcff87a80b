/* SPDX-License-Identifier: MIT */
/* RCU's callbacks at their limits: who waits for room, helps, or leaves the rest to others is heard
 * of; and the worker's rests. */
#include "rcu_calls.h"

/* How long the worker rests: one process runs the executions of one scene. */
static uint64_t rest;

uint64_t pawl_hook_rest(void)
{
    return rest;
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void limit(pawl_rcu_policy policy)
{
    m_demand(pawl_rcu_domain_limit(&STAGE->domain, 1, 1, policy) == 0, M_PROGRESS, "no limit");
}

static void helps_at_one(void)
{
    without_worker_and_one_shard();
    limit(PAWL_RCU_HELP);
}

static void helps_beside_the_worker_at_one(void)
{
    with_worker_and_one_shard();
    limit(PAWL_RCU_HELP);
}

static void waits_at_one(void)
{
    with_worker_and_one_shard();
    limit(PAWL_RCU_WAIT);
}

static void refuses_at_one(void)
{
    with_worker_and_one_shard();
    limit(PAWL_RCU_REFUSE);
}

static void may_be_refused(uint32_t number)
{
    if (call(number) != 0)
        m_write(STORY(number), HAS_RUN);
}

static void first_may_be_refused(void)
{
    may_be_refused(0);
}

static void second_may_be_refused(void)
{
    may_be_refused(1);
}

/* A reader of another domain never waits. It may take the one head, find no room for its byte and
 * give the head back, while the other caller sleeps for it. */
static void second_may_be_refused_in_a_section(void)
{
    M_STEP(pawl_rcu_read_lock());
    may_be_refused(1);
    M_STEP(pawl_rcu_read_unlock());
}

static void calls_first_and_fills(void)
{
    must_call(0);
    fill(0, 1);
}

/* Room is made by a new limit: whoever waits hears of it. */
static void raises_the_limit(void)
{
    M_STEP(pawl_rcu_domain_limit(&STAGE->domain, 4, 4, PAWL_RCU_WAIT));
}

/* ---- Heard of -------------------------------------------------------------------------------- */

/* Nothing else makes room: what was called waits for thread 1, which reads from the start until
 * the call that waits has been made. */
static void beside_a_reader(void)
{
    m_become(1);
    M_STEP(pawl_rcu_domain_read_lock(&STAGE->domain));
    m_become(0);
}

static void waits_at_one_beside_a_reader(void)
{
    set_up(2);
    limit(PAWL_RCU_WAIT);
    beside_a_reader();
}

static void calls_both_and_tells(void)
{
    calls_both();
    tell(&STAGE->called);
}

static void reads_until_called(void)
{
    sleep_until(&STAGE->called, 1);
    M_STEP(pawl_rcu_domain_read_unlock(&STAGE->domain));
}

static void raises_the_limit_and_reads(void)
{
    raises_the_limit();
    reads_until_called();
}

/* So that each thread has a byte of credit, and the two bytes of another call are all there is when
 * the credit counts no more. */
#define BYTES_WITH_CREDIT (UINT64_C(16) * PAWL_THREAD_LINES)

static void limit_bytes(void)
{
    M_STEP(
        pawl_rcu_domain_limit(&STAGE->domain, PAWL_RCU_NO_LIMIT, BYTES_WITH_CREDIT, PAWL_RCU_WAIT));
}

static void full_of_credit_beside_a_reader(void)
{
    set_up(2);
    limit_bytes();
    m_become(1);
    fill(0, 1);
    m_become(0);
    fill(1, BYTES_WITH_CREDIT - PAWL_THREAD_LINES);
    fill(2, PAWL_THREAD_LINES - 3);
    m_pass_time(RETRY_NS); /* there was no worker for these */
    beside_a_reader();
}

static void calls_two_bytes_and_tells(void)
{
    m_write(STORY(0), CALLED);
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->objects[0].head, reclaim, 2));
    tell(&STAGE->called);
}

static void limits_anew_and_reads(void)
{
    limit_bytes();
    reads_until_called();
}

/* The other caller takes its credit by the limits of before, which are larger than the new ones,
 * after this one has looked for credit there. Nothing else makes room: this one must count the
 * credit that is there now. (With one preemption, in the deep set; it has no end in a minute.) */
static void limits_and_calls_twice(void)
{
    limit(PAWL_RCU_HELP);
    must_call(0);
    fill(0, 1);
}

/* ---- Left to others -------------------------------------------------------------------------- */

static void helps_beside_the_worker_at_two(void)
{
    with_worker_and_one_caller();
    M_STEP(pawl_rcu_domain_limit(&STAGE->domain, 2, 2, PAWL_RCU_HELP));
}

/* The last call runs one of the two on the shard of all, and leaves the other one to the worker,
 * which has looked there before. */
static void helps_with_one_and_sleeps(void)
{
    fill(0, 1);
    sleeps_until_done(1);
    M_STEP((void)!pawl_rcu_domain_try_call(&STAGE->domain, &STAGE->fillers[1], counts, 1));
    M_STEP((void)!pawl_rcu_domain_try_call(&STAGE->domain, &STAGE->fillers[2], counts, 1));
    fill(0, 1);
    sleeps_until_done(4);
}

/* ---- A later call ---------------------------------------------------------------------------- */

/* The callback calls, on the shard that it comes from, and goes on when there is a reader for its
 * own call to wait for. */
static void calls_and_lets_one_in(pawl_rcu_head *head)
{
    (void)!pawl_rcu_domain_try_call(&STAGE->domain, &STAGE->fillers[0], counts, 1);
    tell(&STAGE->again);
    sleep_until(&STAGE->inside, 1);
}

static void with_worker_beside_a_reader(void)
{
    set_up(2);
    *pawl_hook_thread_slot() = &process_here()->lines[PAWL_RCU_LINES];
    beside_a_reader();
}

/* The barrier begins when the callback is in a batch. */
static void waits_beside_a_later_call(void)
{
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->fillers[1], calls_and_lets_one_in, 1));
    while (PAWL_ADDRESS_(pawl_load_relaxed)(&calls_of_scene()->shared.newest) != 0)
        pawl_hook_relax();
    waits_for_all();
    tell(&STAGE->called);
}

/* In from the start, until the barrier waits; and again for what was called later. */
static void reads_before_and_after_it(void)
{
    while (pawl_load_relaxed32(&calls_of_scene()->waiters) == 0)
        pawl_hook_relax();
    M_STEP(pawl_rcu_domain_read_unlock(&STAGE->domain));
    sleep_until(&STAGE->again, 1);
    M_STEP(pawl_rcu_domain_read_lock(&STAGE->domain));
    tell(&STAGE->inside);
    reads_until_called();
}

/* ---- Delays and rests ------------------------------------------------------------------------ */

/* A delay is counted from the first call of its own batch. */
static void calls_one_long_after_the_other(void)
{
    pawl_rcu_statistics numbers;
    calls_first();
    waits_for_all();
    m_pass_time(1000);
    calls_second();
    waits_for_all();
    M_STEP(pawl_rcu_domain_statistics(&STAGE->domain, &numbers));
    m_demand(numbers.longest_delay < 1000, M_VISIBILITY, "a delay that never was");
}

/* After the first take the worker lets others gather. */
static void with_worker_that_rests(void)
{
    rest = 1000;
    with_worker_and_one_shard();
}

/* There a second call finds no room while the first one is queued, and helps. */
static void with_worker_that_rests_at_one(void)
{
    with_worker_that_rests();
    limit_to_one();
}

/* The second call may come in a rest, which nobody but the clock ends. */
static void calls_both_and_time_goes_by(void)
{
    calls_both();
    m_pass_time(2000);
    sleeps_until_done(2);
}

/* A barrier ends a rest that has begun. */
static void calls_in_a_rest_and_waits(void)
{
    calls_and_sleeps();
    calls_second();
    waits_for_all();
}

extern const struct m_scene m_rcu_limit_scenes[];
/* clang-format off */
const struct m_scene m_rcu_limit_scenes[] = {
    {"rcu_call_helps_at_the_limit", helps_at_one, {calls_first, calls_second}, all_have_run,
     "preempt=1 fences=1"},
    {"rcu_call_helps_the_worker", helps_beside_the_worker_at_one, {calls_both}, all_have_run,
     "preempt=0"},
    {"rcu_call_waits_for_room", waits_at_one, {calls_first, calls_second}, all_have_run,
     "preempt=0"},
    {"rcu_call_waits_for_a_limit", waits_at_one, {calls_both, raises_the_limit}, all_have_run,
     "preempt=0"},
    {"rcu_call_may_be_refused", refuses_at_one, {first_may_be_refused, second_may_be_refused},
     all_have_run, "preempt=0"},
    {"rcu_call_gives_a_head_back", helps_at_one,
     {calls_first_and_fills, second_may_be_refused_in_a_section}, all_have_run, "preempt=2"},
    {"rcu_call_hears_of_a_limit", waits_at_one_beside_a_reader,
     {calls_both_and_tells, raises_the_limit_and_reads}, all_have_run, "preempt=0"},
    {"rcu_call_hears_of_old_credit", full_of_credit_beside_a_reader,
     {calls_two_bytes_and_tells, limits_anew_and_reads}, all_have_run, "preempt=0"},
    {"rcu_call_beside_late_credit", without_worker, {calls_second, limits_and_calls_twice},
     all_have_run, "preempt=0"},
    {"rcu_call_leaves_some_to_the_worker", helps_beside_the_worker_at_two,
     {helps_with_one_and_sleeps}, all_have_run, "preempt=0"},
    {"rcu_call_rings_after_it_waited", waits_at_one, {calls_both_and_sleeps}, all_have_run,
     "preempt=0"},
    {"rcu_call_after_a_barrier_began", with_worker_beside_a_reader,
     {waits_beside_a_later_call, reads_before_and_after_it}, all_have_run, "preempt=0"},
    {"rcu_calls_long_after_each_other", with_worker_and_one_caller,
     {calls_one_long_after_the_other}, all_have_run, "preempt=0"},
    {"rcu_barrier_beside_a_rest", with_worker_that_rests, {calls_both, waits_for_all}, all_have_run,
     "preempt=0"},
    {"rcu_call_in_a_rest", with_worker_that_rests, {calls_both_and_time_goes_by}, all_have_run,
     "preempt=1"},
    {"rcu_call_and_a_barrier_in_a_rest", with_worker_that_rests, {calls_in_a_rest_and_waits},
     all_have_run, "preempt=1"},
    {"rcu_call_in_a_rest_at_one", with_worker_that_rests_at_one, {calls_both_and_time_goes_by},
     all_have_run, "preempt=0"},
    {"rcu_call_and_a_barrier_in_a_rest_at_one", with_worker_that_rests_at_one,
     {calls_in_a_rest_and_waits}, all_have_run, "preempt=0"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
