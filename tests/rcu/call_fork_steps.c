/* SPDX-License-Identifier: MIT */
/*
 * A signal handler forks at each instruction of a call at its limit, of a barrier and of a wait
 * for a grace period. Meanwhile another thread is in a callback, waits too, or reads. The child
 * goes on where the handler interrupted it. There nothing hangs, each callback has run once, the
 * domain's account is even, and the domain can end.
 *
 * Another thread is in a callback:
 *   1  It calls a callback, which waits.
 *   2  A handler of the first thread forks. After 10 ms the fork does not wait any longer.
 *   3  In the child that callback counts as done: its room must come back.
 *
 * A thread helps:
 *   1  It claims a batch, to take the callbacks that are queued.
 *   2  A handler interrupts it and forks, and waits until no other thread takes any.
 *   3  The fork must not take the claim of its own thread for another one's.
 */
#include "test.h"

#include <pawl/rcu_call.h>

#include "rcu/rcu_call.h"

#if defined(__linux__) && defined(__x86_64__) && !TEST_SANITIZED

#include <dlfcn.h>

#include "support/forking.h"

/* ---- Threads that cannot be started ---------------------------------------------------------- */

static bool no_threads;

/* clang-format off */
#ifdef __cplusplus
extern "C"
#endif
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument)
/* clang-format on */
{
    typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create *real;
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&real, &found, sizeof real);
    return no_threads ? EAGAIN : real(thread, attributes, body, argument);
}

/* ---- The scene ------------------------------------------------------------------------------- */

enum { OWN = 3, HELD = OWN, ALL = OWN + 1 }; /* heads; HELD waits in the worker until let go */

struct scene {
    void (*operation)(void);
    unsigned queued; /* calls before it */
    uint64_t limit;
    pawl_rcu_policy policy;
    bool worker, held, reader, synchronizer; /* what the other threads do meanwhile */
};

static const struct scene *scene;
static pawl_rcu_domain domain;
static pawl_rcu_head heads[ALL];
static uint32_t runs[ALL];
static uint32_t there, may_go;

static struct pawl_rcu_calls *calls_of_domain(void)
{
    return &calls_here()->calls[domain.index];
}

static void run(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&runs[head - heads], 1);
}

static void run_when_let_go(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&there, 1);
    while (pawl_load_relaxed32(&may_go) == 0)
        usleep(100);
    run(head);
}

static void call(unsigned number)
{
    must(pawl_rcu_domain_call(&domain, &heads[number], run, 1) == 0);
}

static void call_last(void)
{
    call(OWN - 1);
}

static void barrier(void)
{
    must(pawl_rcu_domain_barrier(&domain) == 0);
}

static void synchronize(void)
{
    for (unsigned i = 0; i < 10; i++)
        pawl_rcu_domain_synchronize(&domain);
}

static void limit(uint64_t to, pawl_rcu_policy policy)
{
    must(pawl_rcu_domain_limit(&domain, to, to, policy) == 0);
}

/* ---- Other threads --------------------------------------------------------------------------- */

static void *call_held(void *nothing)
{
    must(pawl_rcu_domain_call(&domain, &heads[HELD], run_when_let_go, 1) == 0);
    return nothing;
}

static void *read_again_and_again(void *nothing)
{
    (void)pawl_fetch_add_relaxed32(&there, 1);
    while (pawl_load_relaxed32(&may_go) == 0) {
        pawl_rcu_domain_read_lock(&domain);
        usleep(200);
        pawl_rcu_domain_read_unlock(&domain);
    }
    return nothing;
}

static void *synchronize_again_and_again(void *nothing)
{
    (void)pawl_fetch_add_relaxed32(&there, 1);
    while (pawl_load_relaxed32(&may_go) == 0)
        pawl_rcu_domain_synchronize(&domain);
    return nothing;
}

static void *let_go_of_the_held(void *nothing)
{
    while (pawl_load_relaxed32(&calls_of_domain()->waiters) == 0)
        usleep(100);
    usleep(50000); /* meanwhile it goes to sleep, or soon after */
    pawl_store_relaxed32(&may_go, 1);
    return nothing;
}

static pthread_t others[4];
static unsigned other_count;

static void start(void *(*body)(void *))
{
    others[other_count++] = test_start(body, NULL);
}

static void wait_until_there(uint32_t count)
{
    while (pawl_load_relaxed32(&there) < count)
        usleep(100);
}

static void begin(const struct scene *what)
{
    scene = what;
    other_count = 0;
    there = may_go = 0;
    must(pawl_rcu_domain_init(&domain, "stepped") == 0);
    memset(heads, 0, sizeof heads);
    if (what->worker) {
        call(0);
        barrier();
    }
    memset(runs, 0, sizeof runs);
    if (what->held) {
        start(call_held);
        wait_until_there(1);
    }
    no_threads = !what->worker;
    for (unsigned i = 0; i < what->queued; i++)
        call(i);
    limit(what->limit, what->policy);
    no_threads = false;
    if (what->reader)
        start(read_again_and_again);
    if (what->synchronizer)
        start(synchronize_again_and_again);
    wait_until_there((what->held ? 1u : 0u) + (what->reader ? 1u : 0u) +
                     (what->synchronizer ? 1u : 0u));
    if (what->held && what->policy != PAWL_RCU_HELP)
        start(let_go_of_the_held);
    no_threads = !what->worker;
}

static void end(void)
{
    no_threads = false;
    pawl_store_relaxed32(&may_go, 1);
    while (other_count > 0)
        test_join(others[--other_count]);
    barrier();
    pawl_rcu_domain_destroy(&domain);
}

/* A callback that ran in a thread that is gone counts as done: a worker that lost its processor may
 * have been in one for the 10 ms that a fork waits. */
static void check_child(void)
{
    unsigned cut_off = 0;
    pawl_rcu_statistics numbers;
    const struct pawl_rcu_calls *calls = calls_of_domain();
    int64_t taken[2];
    no_threads = false;
    barrier();
    for (unsigned i = 0; i < OWN; i++) {
        const bool called = i < scene->queued || (i == OWN - 1 && scene->operation == call_last);
        must(runs[i] <= called);
        cut_off += called - runs[i];
    }
    must(cut_off <= (scene->worker && !scene->held));
    must(runs[HELD] <= (scene->held ? 1u : 0u));
    pawl_rcu_domain_statistics(&domain, &numbers);
    must(numbers.queued == 0 && numbers.bytes == 0);
    taken[0] = (int64_t)calls->taken[0];
    taken[1] = (int64_t)calls->taken[1];
    for (unsigned i = 0; i < CALLS_SHARDS; i++) {
        taken[0] -= (int64_t)calls->shards[i].credit[0];
        taken[1] -= (int64_t)calls->shards[i].credit[1];
    }
    must(taken[0] <= 0 && taken[0] >= -1); /* the handler may have interrupted one call */
    must(taken[1] <= 0 && taken[1] >= -1);
    /* One too many costs a needless wake; the handler may have come just before it was counted. */
    must(calls->waiters <= 1 && rcu_here()->states[domain.index].sleepers <= 1);
    limit(1, PAWL_RCU_WAIT);
    call(0);
    call(1); /* waits, and is woken */
    barrier();
    pawl_rcu_domain_destroy(&domain);
}

/* ---- A fork at each instruction -------------------------------------------------------------- */

static uint64_t chance;

/* Beside a callback that is held, a fork takes 10 ms. */
static bool is_one_too_many(void)
{
    return scene->held && test_random_below(&chance, 4) != 0;
}

static void fork_at_every_instruction_of(const struct scene *what)
{
    chance = test_seed();
    forking.passes = is_one_too_many;
    begin(what);
    fork_at_each_instruction_of(what->operation, check_child);
    end();
    forking_went_well();
}

/* ---- Operations ------------------------------------------------------------------------------ */

TEST_CASE(a_call_that_helps)
{
    static const struct scene alone = {call_last, 1, 1, PAWL_RCU_HELP, false, false, false, false};
    static const struct scene beside = {call_last, 1, 1, PAWL_RCU_HELP, false, false, true, true};
    fork_at_every_instruction_of(&alone);
    fork_at_every_instruction_of(&beside);
}

TEST_CASE(a_call_that_helps_while_the_worker_is_in_a_callback)
{
    static const struct scene held = {call_last, 1, 2, PAWL_RCU_HELP, true, true, false, false};
    fork_at_every_instruction_of(&held);
}

TEST_CASE(a_call_that_waits_while_the_worker_is_in_a_callback)
{
    static const struct scene held = {call_last, 0, 1, PAWL_RCU_WAIT, true, true, false, false};
    fork_at_every_instruction_of(&held);
}

TEST_CASE(a_call_that_finds_room)
{
    static const struct scene idle = {call_last, 1, 100, PAWL_RCU_HELP, true, false, false, false};
    fork_at_every_instruction_of(&idle);
}

TEST_CASE(a_barrier_without_a_worker)
{
    static const struct scene alone = {barrier, 2, 9, PAWL_RCU_HELP, false, false, false, false};
    static const struct scene beside = {barrier, 2, 9, PAWL_RCU_HELP, false, false, true, true};
    fork_at_every_instruction_of(&alone);
    fork_at_every_instruction_of(&beside);
}

TEST_CASE(a_barrier_while_the_worker_is_in_a_callback)
{
    static const struct scene held = {barrier, 2, 9, PAWL_RCU_WAIT, true, true, false, false};
    fork_at_every_instruction_of(&held);
}

TEST_CASE(a_wait_for_a_grace_period_that_another_thread_drives)
{
    static const struct scene beside = {synchronize, 0, 9, PAWL_RCU_WAIT, true, false, true, true};
    fork_at_every_instruction_of(&beside);
}

TEST_MAIN()

#else

TEST_SKIPPED("needs the trap flag of x86-64, and no sanitizer")

#endif
