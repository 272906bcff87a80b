/* SPDX-License-Identifier: MIT */
/* How the worker of RCU callbacks is scheduled: as the process, not as the thread that happens to
 * make a domain's first call; or as the program says. */
#include "test.h"

#include <pawl/rcu_call.h>

static pawl_rcu_domain domain;
static pawl_rcu_head head;

static void first_call(pawl_rcu_function *function)
{
    must(pawl_rcu_domain_call(&domain, &head, function, 1) == 0);
    must(pawl_rcu_domain_barrier(&domain) == 0);
}

/* ---- The usual scheduling -------------------------------------------------------------------- */

#ifdef __linux__

static struct scheduling {
    int policy, priority;
    cpu_set_t cpus;
} at_start, of_worker;

static void note(struct scheduling *s)
{
    struct sched_param parameters;
    s->policy = sched_getscheduler(0);
    must(sched_getparam(0, &parameters) == 0);
    s->priority = parameters.sched_priority;
    must(sched_getaffinity(0, sizeof s->cpus, &s->cpus) == 0);
}

static void note_worker(pawl_rcu_head *unused)
{
    note(&of_worker);
}

/* Real-time scheduling needs a right; the class for batches does not. */
static void leave_the_usual(int policy)
{
    struct sched_param parameters;
    cpu_set_t one;
    size_t cpu = 0;
    memset(&parameters, 0, sizeof parameters);
    parameters.sched_priority = policy == SCHED_FIFO ? 1 : 0;
    while (!CPU_ISSET(cpu, &at_start.cpus))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    must(sched_setaffinity(0, sizeof one, &one) == 0);
    if (sched_setscheduler(0, policy, &parameters) != 0)
        must(policy == SCHED_FIFO && errno == EPERM);
}

static void *call_from_there(void *policy)
{
    leave_the_usual((int)(intptr_t)policy);
    first_call(note_worker);
    return NULL;
}

TEST_CASE(the_worker_takes_nothing_from_the_first_caller)
{
    static const int policies[] = {SCHED_BATCH, SCHED_FIFO};
    for (unsigned i = 0; i < 2; i++) {
        must(pawl_rcu_domain_init(&domain, "scheduled") == 0);
        memset(&of_worker, 0xff, sizeof of_worker);
        test_elsewhere(call_from_there, (void *)(intptr_t)policies[i]);
        assert_int_equal(of_worker.policy, SCHED_OTHER);
        assert_int_equal(of_worker.priority, 0);
        assert_true(CPU_EQUAL(&of_worker.cpus, &at_start.cpus));
        pawl_rcu_domain_destroy(&domain);
    }
}

#endif

/* ---- The program's --------------------------------------------------------------------------- */

static uint32_t began, began_with;
static bool began_first, began_on_worker;
static pthread_t beginner;

static void worker_begins(void *argument)
{
    began_with = *(const uint32_t *)argument;
    beginner = pthread_self();
    (void)pawl_fetch_add_relaxed32(&began, 1);
}

static void look(pawl_rcu_head *unused)
{
    began_first = pawl_load_relaxed32(&began) == 1;
    began_on_worker = pthread_equal(beginner, pthread_self());
}

static void look_at_least(void)
{
    pawl_store_relaxed32(&began, 0);
    began_first = began_on_worker = false;
    first_call(look);
    must(began_first && began_on_worker && began_with == 42);
}

TEST_CASE(the_worker_first_calls_what_the_program_gives)
{
    static const uint32_t number = 42;
    pid_t child;
    must(pawl_rcu_domain_init(&domain, "given") == 0);
    assert_int_equal(pawl_rcu_domain_worker(&domain, worker_begins, (void *)(uintptr_t)&number), 0);
    look_at_least();
    assert_int_equal(pawl_rcu_domain_worker(&domain, NULL, NULL), EBUSY);
    if (!TEST_SANITIZED) { /* whose allocator may be locked in the child */
        child = fork();
        must(child >= 0);
        if (child == 0) {
            alarm(TEST_HANGS);
            look_at_least();
            _exit(0);
        }
        assert_int_equal(test_wait(child), 0);
    }
    pawl_rcu_domain_destroy(&domain);
    must(pawl_rcu_domain_init(&domain, "another") == 0);
    pawl_store_relaxed32(&began, 0);
    first_call(look);
    assert_int_equal(began, 0); /* the next domain has none */
    pawl_rcu_domain_destroy(&domain);
}

int main(int argc, char **argv)
{
#ifdef __linux__
    note(&at_start);
#endif
    return test_main(argc, argv);
}
