/* SPDX-License-Identifier: MIT */
/*
 * An expedited grace period on a machine whose CPUs are oversubscribed.
 *
 * The interleaving: a reader is in, and other threads want the CPU of the caller. The caller polls.
 * Each of its looks yields the CPU, so each costs a slice of another thread's time, hundreds of
 * times, where a sleeper would be woken as soon as the reader has left. Here a yield kills the
 * process, and the readers stay until the caller sleeps.
 */
#include "test.h"

#include <pawl/rcu.h>

#include "base/base.h"
#include "rcu/rcu.h"
#include "support/sandbox.h"

#include <signal.h>
#include <ucontext.h>

#if defined(__x86_64__) && defined(__linux__)
#define ANSWERS_SYSTEM_CALLS 1
#else
#define ANSWERS_SYSTEM_CALLS 0
#endif

static pthread_barrier_t is_in;
static uint32_t looked_for;

static bool driver_waits(void)
{
    const uint32_t number = thread_number(thread_registered());
    const struct pawl_rcu_line *line = &rcu_here()->lines[number];
    return (pawl_load_relaxed32(&line->waited) & UINT32_C(1) << looked_for) != 0;
}

static void *stay_until_the_caller_sleeps(void *domain)
{
    pawl_rcu_domain *d = (pawl_rcu_domain *)domain;
    pawl_rcu_domain_read_lock(d);
    pthread_barrier_wait(&is_in);
    while (!driver_waits())
        usleep(100);
    pawl_rcu_domain_read_unlock(d);
    return NULL;
}

static void synchronize_beside_a_reader(pawl_rcu_domain *d, void (*synchronize)(pawl_rcu_domain *))
{
    looked_for = d->index;
    must(pthread_barrier_init(&is_in, NULL, 2) == 0);
    const pthread_t reader = test_start(stay_until_the_caller_sleeps, d);
    pthread_barrier_wait(&is_in);
    synchronize(d);
    test_join(reader);
    must(pthread_barrier_destroy(&is_in) == 0);
}

static void synchronize_without_a_yield(void *expedited)
{
    if (!sandbox_kills(SYS_sched_yield))
        _exit(77);
    synchronize_beside_a_reader(pawl_rcu_default(), expedited != NULL
                                                        ? pawl_rcu_domain_synchronize_expedited
                                                        : pawl_rcu_domain_synchronize);
}

static void yield_once(void *unused)
{
    if (!sandbox_kills(SYS_sched_yield))
        _exit(77);
    sched_yield();
}

static int in_child(void (*body)(void *), void *argument)
{
    static char said[4096];
    if (TEST_SANITIZED)
        skip(); /* a sanitizer yields for itself */
    int status = test_in_child(body, argument, said, sizeof said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    return status;
}

TEST_CASE(an_expedited_grace_period_gives_its_cpu_away_to_nobody)
{
    static int expedited;
    assert_int_equal(in_child(synchronize_without_a_yield, &expedited), 0);
}

TEST_CASE(an_ordinary_one_does_not_either)
{
    assert_int_equal(in_child(synchronize_without_a_yield, NULL), 0);
}

TEST_CASE(a_yield_would_have_ended_the_child)
{
    const int status = in_child(yield_once, NULL);
    assert_true(WIFSIGNALED(status));
}

static uint32_t skips_of(const pawl_rcu_domain *d)
{
    return pawl_load_relaxed32(&rcu_here()->states[d->index].skip_polling);
}

TEST_CASE(long_polling_that_finds_nothing_is_not_repeated_at_once)
{
    pawl_rcu_domain d;
    must(pawl_rcu_domain_init(&d, "test") == 0);
    assert_int_equal(skips_of(&d), 0);
    synchronize_beside_a_reader(&d, pawl_rcu_domain_synchronize_expedited);
    uint32_t skips = skips_of(&d);
    assert_int_not_equal(skips, 0);
    pawl_rcu_domain_synchronize(&d);
    assert_int_equal(skips_of(&d), skips);
    pawl_rcu_domain_synchronize_expedited(&d);
    assert_int_equal(skips_of(&d), skips - 1);
    pawl_rcu_domain_destroy(&d);
    must(pawl_rcu_domain_init(&d, "again") == 0);
    assert_int_equal(skips_of(&d), 0);
    pawl_rcu_domain_destroy(&d);
}

static uint32_t short_polls_of(const pawl_rcu_domain *d)
{
    return pawl_load_relaxed32(&rcu_here()->states[d->index].short_polls);
}

/* A reader that shares the updater's CPU runs once the updater sleeps: polling only delays it. */
TEST_CASE(after_polling_that_found_nothing_the_next_calls_sleep_sooner)
{
    pawl_rcu_domain d;
    must(pawl_rcu_domain_init(&d, "test") == 0);
    assert_int_equal(short_polls_of(&d), 0);
    synchronize_beside_a_reader(&d, pawl_rcu_domain_synchronize);
    uint32_t polls = short_polls_of(&d);
    assert_int_not_equal(polls, 0);
    while (polls-- > 0) {
        pawl_rcu_domain_synchronize(&d);
        assert_int_equal(short_polls_of(&d), polls);
    }
    pawl_rcu_domain_synchronize(&d);
    assert_int_equal(short_polls_of(&d), 0);
    pawl_rcu_domain_destroy(&d);
}

/* ---- System calls ---------------------------------------------------------------------------- */

#if ANSWERS_SYSTEM_CALLS

enum { GRACE_PERIODS = 50 };

static volatile unsigned membarriers;

static void answer_a_membarrier(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    membarriers = membarriers + 1;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 0;
}

/* No thread reads here, so each call needs one membarrier. A yield, a sleep or a wake kills. */
static void synchronize_by_one_membarrier_each(void *unused)
{
    struct sigaction action;
    pawl_rcu_synchronize(); /* sets the process up */
    memset(&action, 0, sizeof action);
    action.sa_sigaction = answer_a_membarrier;
    action.sa_flags = SA_SIGINFO;
    must(sigaction(SIGSYS, &action, NULL) == 0);
    if (!sandbox_kills(SYS_sched_yield) || !sandbox_kills(SYS_futex) ||
        !sandbox_answers(SYS_membarrier, SECCOMP_RET_TRAP))
        _exit(77);
    pawl_rcu_synchronize();
    if (membarriers == 0)
        _exit(77); /* full fences: the system has no membarrier */
    membarriers = 0;
    for (unsigned i = 0; i < GRACE_PERIODS; i++)
        pawl_rcu_synchronize();
    must(membarriers == GRACE_PERIODS);
    for (unsigned i = 0; i < GRACE_PERIODS; i++)
        pawl_rcu_synchronize_expedited();
    must(membarriers == 2 * GRACE_PERIODS);
}

#endif

TEST_CASE(without_readers_both_make_one_membarrier_and_no_other_call)
{
#if ANSWERS_SYSTEM_CALLS
    assert_int_equal(in_child(synchronize_by_one_membarrier_each, NULL), 0);
#else
    skip();
#endif
}

TEST_MAIN()
