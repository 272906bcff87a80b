/* SPDX-License-Identifier: MIT */
/* The account of RCU's callbacks: no call is refused while there is room, none is let in when there
 * is none, and the numbers are those of what has happened. One thread plays all parts, one after
 * the other, so each scene has one execution; where there is a worker it is one more. */
#include <pawl/detail/hook.h>
#include <pawl/rcu_call.h>

#include "../../../src/rcu/rcu_call.h"
#include "scenes.h"

#include <errno.h>
#include <stddef.h>

#define HEADS 4
#define RETRY_NS 10000000 /* of the library: before another try to start a worker */

struct stage {
    pawl_rcu_domain domain;
    pawl_rcu_head heads[HEADS];
    uint32_t ran;
    uint32_t again; /* 1: a callback that calls itself goes on to do so */
};
#define STAGE M_SCENE(struct stage)

/* Limits of so many bytes give each thread one byte of credit. */
#define BYTES_WITH_CREDIT (UINT64_C(16) * PAWL_THREAD_LINES)
/* And of so many calls, one call beside the one that it makes. */
#define CALLS_WITH_CREDIT (UINT64_C(2) * 16 * PAWL_THREAD_LINES)

static void runs(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&STAGE->ran, 1);
}

/* Threads 0 and 1 have shards of their own, and thread 2 queues on that of all. */
static void set_up(void)
{
    m_register_threads(2);
    m_become(2);
    *pawl_hook_thread_slot() = &process_here()->lines[PAWL_RCU_LINES];
    m_become(0);
    m_demand(pawl_rcu_domain_init(&STAGE->domain, "account") == 0, M_PROGRESS, "no domain");
}

static void without_worker(void)
{
    set_up();
    m_refuse_threads();
}

static int call(uint32_t number, size_t bytes)
{
    M_DO(int error = pawl_rcu_domain_call(&STAGE->domain, &STAGE->heads[number], runs, bytes));
    return error;
}

static void is_let_in(uint32_t number, size_t bytes)
{
    m_demand(call(number, bytes) == 0, M_PROGRESS, "a call is refused though there is room");
}

static void is_refused(uint32_t number, size_t bytes, int error)
{
    m_demand(call(number, bytes) == error, M_EXCLUSION, "a call is let in though there is no room");
}

static void barrier(void)
{
    M_STEP(pawl_rcu_domain_barrier(&STAGE->domain));
}

static pawl_rcu_statistics numbers(void)
{
    pawl_rcu_statistics found;
    M_STEP(pawl_rcu_domain_statistics(&STAGE->domain, &found));
    return found;
}

#define TELLS(condition) m_demand(condition, M_VISIBILITY, "a wrong number: " #condition)

static void limit(uint64_t count, uint64_t bytes, pawl_rcu_policy policy)
{
    M_STEP(pawl_rcu_domain_limit(&STAGE->domain, count, bytes, policy));
    pawl_rcu_statistics found = numbers();
    TELLS(found.limit_count == count);
    TELLS(found.limit_bytes == bytes);
    TELLS(found.policy == policy);
}

/* Nothing is queued, so what is taken of the limits is the credit of the threads; and nobody
 * waits. */
static void account_is_even(void)
{
    const struct pawl_rcu_calls *calls = &calls_here()->calls[STAGE->domain.index];
    uint64_t credit[2] = {0, 0};
    for (uint32_t i = 0; i < PAWL_RCU_LINES; i++) {
        credit[0] += calls->shards[i].credit[0];
        credit[1] += calls->shards[i].credit[1];
    }
    m_demand(calls->taken[0] == credit[0] && calls->taken[1] == credit[1], M_RESTORED,
             "room that nobody has is taken");
    m_demand(calls->waiters == 0, M_RESTORED, "somebody seems to wait");
}

static void ends_even(void)
{
    barrier();
    account_is_even();
    M_STEP(pawl_rcu_domain_destroy(&STAGE->domain));
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void three_call(void)
{
    m_pass_time(5000);
    is_let_in(0, 3);
    m_become(1);
    is_let_in(1, 4);
    m_become(2);
    is_let_in(2, 5);
    m_become(0);
    pawl_rcu_statistics found = numbers();
    TELLS(found.called == 3 && found.queued == 3 && found.bytes == 12);
    TELLS(found.run == 0 && found.helped == 0 && found.longest_delay == 0);
    m_pass_time(1000);
    barrier();
    found = numbers();
    TELLS(found.called == 3 && found.queued == 0 && found.bytes == 0);
    TELLS(found.run == 3);
    TELLS(found.helped == 3);
    TELLS(found.grace_periods == 1); /* one for all */
    TELLS(found.longest_delay >= 1000 && found.longest_delay < 2000);
    TELLS(found.refusals == 0 && found.waits == 0 && !found.worker);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void one_at_a_time(void)
{
    limit(1, PAWL_RCU_NO_LIMIT, PAWL_RCU_REFUSE);
    is_let_in(0, 1);
    is_refused(1, 1, EAGAIN);
    m_become(2);
    is_refused(1, 1, EAGAIN);
    m_become(0);
    pawl_rcu_statistics found = numbers();
    TELLS(found.refusals == 2);
    barrier();
    is_let_in(1, 1);
    limit(1, PAWL_RCU_NO_LIMIT, PAWL_RCU_HELP);
    is_let_in(2, 1); /* it runs the one before */
    found = numbers();
    TELLS(found.run == 2 && found.queued == 1);
    TELLS(found.waits == 1);
    TELLS(found.helped == 2);
}

static void one_and_its_byte_at_a_time(void)
{
    limit(1, 1, PAWL_RCU_REFUSE);
    is_let_in(0, 1);
    is_refused(1, 0, EAGAIN);
    is_refused(1, 2, E2BIG);
    barrier();
    is_let_in(1, 0);
    is_refused(2, 1, EAGAIN);
    limit(1, 1, PAWL_RCU_HELP);
    is_let_in(2, 1);
    barrier();
    is_let_in(3, 1);
}

static void two_bytes_at_a_time(void)
{
    limit(2, 2, PAWL_RCU_REFUSE);
    is_let_in(0, 2);
    is_refused(1, 1, EAGAIN); /* and gives back the room for a call that it had got */
    is_refused(1, 3, E2BIG);
    is_let_in(1, 0);
    barrier();
    is_let_in(2, 2);
}

/* What a thread had of more generous limits counts no more. */
static void limits_are_lowered(void)
{
    limit(CALLS_WITH_CREDIT, PAWL_RCU_NO_LIMIT, PAWL_RCU_REFUSE);
    is_let_in(0, 0);
    limit(1, PAWL_RCU_NO_LIMIT, PAWL_RCU_REFUSE);
    is_refused(1, 0, EAGAIN);
    limit(2, PAWL_RCU_NO_LIMIT, PAWL_RCU_REFUSE);
    is_let_in(1, 0);
    is_refused(2, 0, EAGAIN);
}

/* Credit that thread 0 does not use takes room, until the limits change. */
static void credit_of_another(void)
{
    limit(PAWL_RCU_NO_LIMIT, BYTES_WITH_CREDIT, PAWL_RCU_REFUSE);
    is_let_in(0, BYTES_WITH_CREDIT - PAWL_THREAD_LINES);
    m_become(1);
    is_let_in(1, PAWL_THREAD_LINES - 1);
    is_refused(2, 1, EAGAIN);
    limit(PAWL_RCU_NO_LIMIT, BYTES_WITH_CREDIT, PAWL_RCU_REFUSE);
    is_let_in(2, 1);
    is_refused(3, 1, EAGAIN);
    m_become(0);
}

/* ---- The worker ------------------------------------------------------------------------------ */

/* The first call, before the threads run, finds that there is none to be had. */
static void no_thread_at_first(void)
{
    set_up();
    M_STEP(pawl_rcu_domain_limit(&STAGE->domain, HEADS, PAWL_RCU_NO_LIMIT, PAWL_RCU_WAIT));
    is_let_in(0, 1);
}

static void calls_before_and_after_a_while(void)
{
    is_let_in(1, 1);
    TELLS(!numbers().worker);
    m_pass_time(RETRY_NS);
    is_let_in(2, 1);
    TELLS(numbers().worker);
}

/* ---- A barrier beside calls without end ------------------------------------------------------ */

static void calls_itself(pawl_rcu_head *head)
{
    runs(head);
    if (STAGE->again != 0)
        (void)pawl_rcu_domain_call(&STAGE->domain, head, calls_itself, 1);
}

/* By the worker, on the shard that it comes from; meanwhile who waits may look. */
static void tries_itself(pawl_rcu_head *head)
{
    runs(head);
    if (STAGE->again == 0)
        return;
    (void)!pawl_rcu_domain_try_call(&STAGE->domain, head, tries_itself, 1);
    pawl_hook_relax();
}

static void with_worker_and_one_shard(void)
{
    set_up();
    *pawl_hook_thread_slot() = &process_here()->lines[PAWL_RCU_LINES];
}

static void calls_without_end(pawl_rcu_function *function)
{
    STAGE->again = 1;
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->heads[0], function, 1));
    barrier();
    m_demand(STAGE->ran >= 1, M_VISIBILITY, "a barrier was over before a callback");
    STAGE->again = 0;
}

static void waits_for_the_first_only(void)
{
    calls_without_end(calls_itself);
}

static void waits_for_the_first_of_the_worker(void)
{
    calls_without_end(tries_itself);
}

extern const struct m_scene m_rcu_account_scenes[];
/* clang-format off */
const struct m_scene m_rcu_account_scenes[] = {
    {"rcu_calls_counted", without_worker, {three_call}, ends_even, ""},
    {"rcu_calls_limited_by_count", without_worker, {one_at_a_time}, ends_even, ""},
    {"rcu_calls_limited_to_one", without_worker, {one_and_its_byte_at_a_time}, ends_even, ""},
    {"rcu_calls_limited_by_bytes", without_worker, {two_bytes_at_a_time}, ends_even, ""},
    {"rcu_calls_limited_anew", without_worker, {limits_are_lowered}, ends_even, ""},
    {"rcu_calls_beside_idle_credit", without_worker, {credit_of_another}, ends_even, ""},
    {"rcu_calls_retry_the_worker", no_thread_at_first, {calls_before_and_after_a_while}, ends_even,
     "preempt=0"},
    {"rcu_calls_without_end", without_worker, {waits_for_the_first_only}, ends_even, ""},
    {"rcu_calls_without_end_by_the_worker", with_worker_and_one_shard,
     {waits_for_the_first_of_the_worker}, ends_even, "preempt=0"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
