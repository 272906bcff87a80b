/* SPDX-License-Identifier: MIT */
/*
 * Handlers of pthread_atfork use the library. Some were registered before its own, and so run after
 * it before a fork and before it in the child. Others are of the program's constructors, or come
 * later, as of a library that dlopen has loaded.
 *
 *   1  A thread forks. The library's handler took all latches of wait lists and counters, and held
 *      callbacks up.
 *   2  A handler that was registered before it runs now. It takes a lock for which it must wait,
 *      reads a counter, or waits for callbacks; or it waits for a mutex, whose holder does so.
 *   3  The latch was the forking thread's own, or the callbacks waited for the fork: it never
 *      returned.
 */
#include "test.h"

#include <pawl/bigref.h>
#include <pawl/counter.h>
#include <pawl/lock.h>
#include <pawl/rcu_call.h>

#include <sched.h>

/* ---- The handlers ---------------------------------------------------------------------------- */

enum order { BEFORE_OURS, BY_A_CONSTRUCTOR, LATER, ORDERS };

static struct story {
    void (*before)(void);
    void (*in_parent)(void);
    void (*in_child)(void);
} story;
static enum order whose; /* the handlers that tell the story */

static void tell(enum order order, void (*part)(void))
{
    if (order == whose && part != NULL)
        part();
}

#define HANDLERS(order, name)                                                                      \
    static void before_##name(void)                                                                \
    {                                                                                              \
        tell(order, story.before);                                                                 \
    }                                                                                              \
    static void in_parent_##name(void)                                                             \
    {                                                                                              \
        tell(order, story.in_parent);                                                              \
    }                                                                                              \
    static void in_child_##name(void)                                                              \
    {                                                                                              \
        tell(order, story.in_child);                                                               \
    }                                                                                              \
    static void register_##name(void)                                                              \
    {                                                                                              \
        must(pthread_atfork(before_##name, in_parent_##name, in_child_##name) == 0);               \
    }
HANDLERS(BEFORE_OURS, early)
HANDLERS(BY_A_CONSTRUCTOR, built)
HANDLERS(LATER, late)

/* As early as a constructor of a shared library that the program needs. */
#ifdef __ELF__
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = register_early;
#else
__attribute__((constructor(101))) static void early(void)
{
    register_early();
}
#endif
__attribute__((constructor)) static void built(void)
{
    register_built();
}

static void forks_with(struct story told, void (*child)(void))
{
    story = told;
    fflush(NULL);
    pid_t pid = fork();
    must(pid >= 0);
    if (pid == 0) {
        alarm(TEST_HANGS);
        child();
        _exit(0);
    }
    assert_int_equal(test_wait(pid), 0);
    memset(&story, 0, sizeof story);
}

/* ---- A lock for which the handler waits ------------------------------------------------------ */

static pawl_lock32 lock;
static uint32_t held, stop;

static bool somebody_sleeps(void)
{
    return (pawl_load_relaxed32(&lock.word) & PAWL_LOCK_PARKED) != 0;
}

static void *holds_until_the_handler_sleeps(void *nothing)
{
    pawl_take_write(&lock);
    pawl_store_relaxed32(&held, 1);
    test_await(somebody_sleeps());
    pawl_drop_write(&lock);
    return nothing;
}

static void takes(void)
{
    pawl_take_write(&lock);
}

static void drops(void)
{
    pawl_drop_write(&lock);
}

static void uses_the_lock(void)
{
    must((lock.word & ~PAWL_LOCK_BIASED) == 0);
    pawl_take_read(&lock);
    pawl_drop_read(&lock);
    pawl_take_write(&lock);
    pawl_drop_write(&lock);
    must((lock.word & ~PAWL_LOCK_BIASED) == 0);
}

TEST_CASE(a_handler_waits_for_a_lock)
{
    const struct story told = {takes, drops, drops};
    pthread_t holder;
    for (whose = BEFORE_OURS; whose < ORDERS; whose++) {
        held = 0;
        holder = test_start(holds_until_the_handler_sleeps, NULL);
        test_await(pawl_load_relaxed32(&held) != 0);
        forks_with(told, uses_the_lock);
        test_join(holder);
    }
}

/* In the child the handler drops the lock, beside waiters that it does not have. */
static void *writes_and_writes(void *nothing)
{
    while (pawl_load_relaxed32(&stop) == 0) {
        pawl_take_write(&lock);
        pawl_drop_write(&lock);
    }
    return nothing;
}

static void *reads_and_reads(void *nothing)
{
    while (pawl_load_relaxed32(&stop) == 0) {
        pawl_take_read(&lock);
        pawl_drop_read(&lock);
    }
    return nothing;
}

static void takes_and_lets_wait(void)
{
    pawl_take_write(&lock);
    test_await(somebody_sleeps());
}

TEST_CASE(a_handler_holds_a_lock_for_which_others_wait)
{
    const struct story told = {takes_and_lets_wait, drops, drops};
    pthread_t others[3];
    stop = 0;
    for (unsigned i = 0; i < 3; i++)
        others[i] = test_start(i == 0 ? writes_and_writes : reads_and_reads, NULL);
    for (whose = BEFORE_OURS; whose < ORDERS; whose++)
        for (unsigned i = 0; i < 20; i++)
            forks_with(told, uses_the_lock);
    pawl_store_relaxed32(&stop, 1);
    test_join_all(others, 3);
}

/* ---- A mutex, whose holder waits for a lock -------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t handlers_run;

static void *holds_until_handlers_run(void *nothing)
{
    pawl_take_write(&lock);
    pawl_store_relaxed32(&held, 1);
    test_await(pawl_load_relaxed32(&handlers_run) != 0);
    pawl_drop_write(&lock);
    return nothing;
}

static void *waits_under_the_mutex(void *nothing)
{
    must(pthread_mutex_lock(&mutex) == 0);
    pawl_take_write(&lock);
    pawl_drop_write(&lock);
    must(pthread_mutex_unlock(&mutex) == 0);
    return nothing;
}

static void locks_the_mutex(void)
{
    pawl_store_relaxed32(&handlers_run, 1);
    must(pthread_mutex_lock(&mutex) == 0);
}

static void unlocks_the_mutex(void)
{
    must(pthread_mutex_unlock(&mutex) == 0);
}

TEST_CASE(a_handler_waits_for_a_thread_that_waits_for_a_lock)
{
    const struct story told = {locks_the_mutex, unlocks_the_mutex, unlocks_the_mutex};
    pthread_t holder, waiter;
    for (whose = BEFORE_OURS; whose < ORDERS; whose++) {
        held = handlers_run = 0;
        holder = test_start(holds_until_handlers_run, NULL);
        test_await(pawl_load_relaxed32(&held) != 0);
        waiter = test_start(waits_under_the_mutex, NULL);
        test_await(somebody_sleeps());
        forks_with(told, uses_the_lock);
        test_join(holder);
        test_join(waiter);
    }
}

/* ---- Exact counters -------------------------------------------------------------------------- */

enum { MODES = PAWL_EXACT_LOCKS + 1 };
static pawl_counter_exact counters[MODES];
static pawl_counter_limit limited;
static pawl_bigref references;

static void *counts_and_reads(void *nothing)
{
    for (unsigned n = 0; pawl_load_relaxed32(&stop) == 0; n++) {
        for (unsigned i = 0; i < MODES; i++)
            pawl_counter_exact_add(&counters[i], 1);
        if (n % 16 == 0)
            (void)pawl_counter_exact_read(&counters[n / 16 % MODES]);
        if (pawl_counter_limit_try_add(&limited, 1))
            pawl_counter_limit_sub(&limited, 1);
    }
    return nothing;
}

static void reads_counters(void)
{
    for (unsigned i = 0; i < MODES; i++)
        must(pawl_counter_exact_read(&counters[i]) >= 0);
    must(pawl_counter_limit_read(&limited) >= 0);
    must(pawl_bigref_read(&references) == 1);
}

/* The first reads may mend nothing that the later ones would tell otherwise. */
static void counts_in_the_child(void)
{
    int64_t seen[MODES];
    for (unsigned i = 0; i < MODES; i++)
        seen[i] = pawl_counter_exact_read(&counters[i]);
    for (unsigned round = 1; round < 4; round++)
        for (unsigned i = 0; i < MODES; i++) {
            pawl_counter_exact_add(&counters[i], 1);
            must(pawl_counter_exact_read(&counters[i]) == seen[i] + (int64_t)round);
        }
    must(pawl_counter_limit_read(&limited) <= 3);
    reads_counters();
}

TEST_CASE(a_handler_reads_counters)
{
    const struct story told = {reads_counters, reads_counters, reads_counters};
    pthread_t others[3];
    for (unsigned i = 0; i < MODES; i++)
        pawl_counter_exact_init(&counters[i], (enum pawl_exact_mode)i);
    pawl_counter_limit_init(&limited, 1000000);
    pawl_bigref_init(&references, NULL, NULL);
    stop = 0;
    test_start_all(others, 3, counts_and_reads);
    for (whose = BEFORE_OURS; whose < ORDERS; whose++)
        for (unsigned i = 0; i < 20; i++)
            forks_with(told, counts_in_the_child);
    pawl_store_relaxed32(&stop, 1);
    test_join_all(others, 3);
}

/* ---- Callbacks ------------------------------------------------------------------------------- */

static pawl_rcu_head head, other_head;
static uint32_t runs, other_runs;

static void runs_once(pawl_rcu_head *called)
{
    (void)pawl_fetch_add_relaxed32(called == &head ? &runs : &other_runs, 1);
}

static void calls_and_waits(void)
{
    const uint32_t before = pawl_load_relaxed32(&runs);
    must(pawl_rcu_call(&head, runs_once, 1) == 0);
    must(pawl_rcu_barrier() == 0);
    must(pawl_load_relaxed32(&runs) == before + 1);
    pawl_rcu_synchronize();
}

static void *calls_too(void *nothing)
{
    while (pawl_load_relaxed32(&stop) == 0) {
        must(pawl_rcu_call(&other_head, runs_once, 1) == 0);
        must(pawl_rcu_barrier() == 0);
    }
    return nothing;
}

static void queues_in_the_child(void)
{
    pawl_rcu_statistics numbers;
    calls_and_waits();
    pawl_rcu_domain_statistics(pawl_rcu_default(), &numbers);
    must(numbers.queued == 0 && numbers.run == numbers.called);
}

TEST_CASE(a_handler_waits_for_callbacks)
{
    const struct story told = {calls_and_waits, calls_and_waits, calls_and_waits};
    stop = 0;
    const pthread_t other = test_start(calls_too, NULL);
    for (whose = BEFORE_OURS; whose < ORDERS; whose++)
        for (unsigned i = 0; i < 20; i++)
            forks_with(told, queues_in_the_child);
    pawl_store_relaxed32(&stop, 1);
    test_join(other);
}

int main(int argc, char **argv)
{
    if (PAWL_TSAN_)
        return test_skipped("ThreadSanitizer lets no thread begin in the child");
    register_late();
    alarm(TEST_HANGS);
    return test_main(argc, argv);
}
