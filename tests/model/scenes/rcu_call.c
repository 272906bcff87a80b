/* SPDX-License-Identifier: MIT */
/* RCU's callbacks: each runs once, after the readers, and sees what was stored before its call. The
 * domain's worker is one more thread, which the end of the domain stops; or there is none. */
#include <pawl/hook.h>
#include <pawl/rcu_call.h>

#include "scenes.h"

#include <stddef.h>

#define OBJECTS 2

struct object {
    pawl_rcu_head head;
    uint32_t number;
};

struct stage {
    pawl_rcu_domain domain;
    struct object objects[OBJECTS];
    pawl_rcu_head filler; /* a head that is of no interest */
    struct object *shown; /* the first one, while readers may find it */
    struct object *made;  /* not NULL: the first call has been made */
    uint32_t done;        /* callbacks that have run, for those who sleep until then */
    uint32_t steps[2];    /* of a callback that takes two */
};
#define STAGE M_SCENE(struct stage)

/* Cells: the contents of each object (5, or 0 when it has been freed), and its story. */
#define CONTENTS(number) (number)
#define STORY(number) (OBJECTS + (number))
enum { UNCALLED, CALLED, HAS_RUN };

/* How long the worker rests: one process runs the executions of one scene. */
static uint64_t rest;

uint64_t pawl_hook_rest(void)
{
    return rest;
}

/* ---- What all of them do --------------------------------------------------------------------- */

static void set_up(uint32_t lines)
{
    uint32_t i;
    m_register_threads(lines);
    m_demand(pawl_rcu_domain_init(&STAGE->domain, "scene") == 0, M_PROGRESS, "no domain");
    for (i = 0; i < OBJECTS; i++) {
        STAGE->objects[i].number = i;
        m_write(CONTENTS(i), 5);
        m_write(STORY(i), UNCALLED);
    }
    STAGE->shown = &STAGE->objects[0];
}

static void with_worker(void)
{
    set_up(2);
}

static void with_worker_and_one_caller(void)
{
    set_up(1);
}

static void with_worker_and_reader(void)
{
    set_up(3);
}

/* The callers are beyond the lines, and queue on the shard of all: fewer shards to look at. */
static void with_worker_and_one_shard(void)
{
    uint32_t i;
    set_up(0);
    for (i = 0; i < 2; i++) {
        m_become(i);
        *pawl_hook_thread_slot() = &pawl_hook_process()->lines[PAWL_RCU_LINES + i];
    }
    m_become(0);
}

static void without_worker_and_one_shard(void)
{
    with_worker_and_one_shard();
    m_refuse_threads();
}

static void without_worker(void)
{
    set_up(2);
    m_refuse_threads();
}

static void without_worker_but_a_reader(void)
{
    set_up(3);
    m_refuse_threads();
}

/* The callback: the object is freed. */
static void reclaim(pawl_rcu_head *head)
{
    const uint32_t number = ((struct object *)(void *)head)->number;
    m_demand(m_read(STORY(number)) == CALLED, M_VISIBILITY,
             "a callback ran twice, or without what was stored before its call");
    m_write(STORY(number), HAS_RUN);
    m_write(CONTENTS(number), 0);
    (void)pawl_fetch_add_relaxed32(&STAGE->done, 1);
    (void)pawl_hook_wake(&STAGE->done, UINT32_MAX);
}

static int call(uint32_t number)
{
    int error;
    m_write(STORY(number), CALLED);
    m_begin("pawl_rcu_domain_call");
    error = pawl_rcu_domain_call(&STAGE->domain, &STAGE->objects[number].head, reclaim, 1);
    m_end();
    return error;
}

static void must_call(uint32_t number)
{
    m_demand(call(number) == 0, M_PROGRESS, "a call is refused");
}

static void hide(void)
{
    m_begin("pawl_rcu_assign_pointer");
    pawl_rcu_assign_pointer(STAGE->shown, NULL);
    m_end();
}

static void destroy(void)
{
    M_STEP(pawl_rcu_domain_destroy(&STAGE->domain));
}

static void all_have_run(void)
{
    uint32_t i;
    destroy();
    for (i = 0; i < OBJECTS; i++)
        m_demand(m_read(STORY(i)) != CALLED, M_PROGRESS, "a callback did not run");
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void calls_first(void)
{
    hide();
    must_call(0);
}

static void calls_second(void)
{
    must_call(1);
}

static void calls_both(void)
{
    calls_first();
    calls_second();
}

/* Nobody but the caller can wake the worker. */
static void sleeps_until_done(uint32_t count)
{
    uint32_t done;
    while ((done = pawl_load_relaxed32(&STAGE->done)) < count)
        (void)pawl_hook_wait(&STAGE->done, done, UINT64_MAX);
}

static void calls_and_sleeps(void)
{
    must_call(0);
    sleeps_until_done(1);
}

static void calls_both_and_sleeps(void)
{
    calls_both();
    sleeps_until_done(2);
}

static void reads(void)
{
    const struct object *found;
    M_STEP(pawl_rcu_domain_read_lock(&STAGE->domain));
    m_begin("pawl_rcu_domain_dereference");
    found = pawl_rcu_domain_dereference(&STAGE->domain, STAGE->shown);
    m_end();
    m_demand(found == NULL || m_read(CONTENTS(0)) == 5, M_VISIBILITY, "an object that is gone");
    M_STEP(pawl_rcu_domain_read_unlock(&STAGE->domain));
}

/* Allowed where callbacks cannot be waited for; a worker may not be there yet. */
static void tries_to_call(void)
{
    int error;
    m_write(STORY(1), CALLED);
    m_begin("pawl_rcu_domain_try_call");
    error = pawl_rcu_domain_try_call(&STAGE->domain, &STAGE->objects[1].head, reclaim, 1);
    m_end();
    if (error != 0)
        m_write(STORY(1), HAS_RUN);
}

/* ---- A line that goes from thread to thread -------------------------------------------------- */

static void does_nothing(pawl_rcu_head *head)
{
    (void)head;
}

/* The shard of thread 0 is not empty: its next call passes no fence. */
static void something_is_queued(void)
{
    set_up(1);
    m_refuse_threads();
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->filler, does_nothing, 1));
}

static void calls_and_ends(void)
{
    must_call(0);
    M_STEP(pawl_thread_exit_());
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static void calls_and_says(void)
{
    must_call(0);
    m_begin("pawl_rcu_assign_pointer");
    pawl_rcu_assign_pointer(STAGE->made, &STAGE->objects[0]);
    m_end();
}

static void barrier(void)
{
    const struct object *made;
    m_begin("pawl_rcu_domain_dereference");
    made = pawl_rcu_domain_dereference(&STAGE->domain, STAGE->made);
    m_end();
    m_begin("pawl_rcu_domain_barrier");
    m_demand(pawl_rcu_domain_barrier(&STAGE->domain) == 0, M_PROGRESS, "a barrier is refused");
    m_end();
    if (made != NULL)
        m_demand(m_read(STORY(0)) == HAS_RUN && m_read(CONTENTS(0)) == 0, M_VISIBILITY,
                 "a barrier was over before a callback");
}

static void calls_and_waits(void)
{
    calls_and_says();
    barrier();
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static void limit(pawl_rcu_policy policy)
{
    m_demand(pawl_rcu_domain_limit(&STAGE->domain, 1, PAWL_RCU_NO_LIMIT, policy) == 0, M_PROGRESS,
             "no limit");
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

/* Room is made by a new limit: whoever waits hears of it. */
static void raises_the_limit(void)
{
    m_begin("pawl_rcu_domain_limit");
    (void)pawl_rcu_domain_limit(&STAGE->domain, 4, PAWL_RCU_NO_LIMIT, PAWL_RCU_WAIT);
    m_end();
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void counts(void)
{
    pawl_rcu_statistics numbers;
    m_begin("pawl_rcu_domain_statistics");
    pawl_rcu_domain_statistics(&STAGE->domain, &numbers);
    m_end();
    m_demand(numbers.run <= 2 && numbers.called <= 2 && numbers.queued <= 2, M_VISIBILITY,
             "numbers that never were");
}

/* ---- Rest ------------------------------------------------------------------------------------ */

/* After the first take the worker lets others gather. */
static void with_worker_that_rests(void)
{
    rest = 1000;
    with_worker_and_one_shard();
}

/* The second call may come in a rest, which nobody but the clock ends. */
static void calls_both_and_time_goes_by(void)
{
    calls_both();
    m_pass_time(2000);
    sleeps_until_done(2);
}

/* ---- The end of a domain --------------------------------------------------------------------- */

/* What the worker of the last one did is over when another one has its place. */
static void makes_it_again(void)
{
    struct pawl_rcu_calls *calls = pawl_hook_process()->callbacks.calls;
    all_have_run();
    m_renew(calls, PAWL_RCU_DOMAINS * sizeof calls[0]);
    m_demand(pawl_rcu_domain_init(&STAGE->domain, "again") == 0, M_PROGRESS, "no domain");
    m_write(STORY(0), UNCALLED);
    must_call(0);
    all_have_run();
}

static void calls_again(pawl_rcu_head *head)
{
    (void)head;
    must_call(1);
}

/* A callback that calls: its domain ends after both. */
static void calls_a_caller(void)
{
    m_begin("pawl_rcu_domain_call");
    (void)pawl_rcu_domain_call(&STAGE->domain, &STAGE->objects[0].head, calls_again, 1);
    m_end();
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static void steps_twice(pawl_rcu_head *head)
{
    pawl_store_relaxed32(&STAGE->steps[0], 1);
    pawl_store_relaxed32(&STAGE->steps[1], 1);
    reclaim(head);
}

static void steps_are_queued(void)
{
    m_begin_system();
    without_worker();
    M_STEP(pawl_set_up_());
    m_write(STORY(0), CALLED);
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->objects[0].head, steps_twice, 1));
}

/* The memory as the child gets it. */
static void forks(void)
{
    uint32_t first, second;
    m_before_fork();
    second = pawl_load_relaxed32(&STAGE->steps[1]);
    first = pawl_load_relaxed32(&STAGE->steps[0]);
    m_demand(first == second, M_EXCLUSION, "a fork in the middle of a callback");
    m_after_fork();
}

static void waits_for_steps(void)
{
    barrier();
    m_demand(m_read(STORY(0)) == HAS_RUN, M_VISIBILITY, "a barrier was over before a callback");
}

extern const struct m_scene m_rcu_call_scenes[];
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
    {"rcu_statistics_beside_calls", without_worker, {calls_both, counts}, all_have_run,
     "preempt=2"},
    {"rcu_barrier_beside_a_rest", with_worker_that_rests, {calls_both, barrier}, all_have_run,
     "preempt=0"},
    {"rcu_call_in_a_rest", with_worker_that_rests, {calls_both_and_time_goes_by}, all_have_run,
     "preempt=1"},
    {"rcu_domain_made_again", with_worker_and_one_caller, {calls_first}, makes_it_again,
     "preempt=0"},
    {"rcu_callback_that_calls", with_worker_and_one_caller, {calls_a_caller}, all_have_run,
     "preempt=0"},
    {"rcu_fork_beside_a_callback", steps_are_queued, {forks, waits_for_steps}, all_have_run,
     "preempt=2 fences=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
