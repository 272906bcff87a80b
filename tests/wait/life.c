/* SPDX-License-Identifier: MIT */
/* What becomes of waits across fork, cancellation, signals, and when very many threads wait. */
#include "test.h"

#include <pawl/wait.h>

#include <pawl/thread.h>

#include "lock/table.h"
#include "support/lines.h"

static uint64_t word __attribute__((aligned(8)));

static void *wait_for_a_change(void *unused)
{
    while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 1)
        (void)pawl_wait64(&word, 1);
    return unused;
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static int wait_and_wake_in_the_child(void)
{
    must(pawl_wake_all(&word) == 0); /* the parent's waiters are not ours */
    if (!PAWL_TSAN_) {               /* which allows no thread in such a child */
        const pthread_t thread = test_start(wait_for_a_change, NULL);
        test_await(pawl_wake_one(&word) != 0);
        __atomic_store_n(&word, 2, __ATOMIC_RELEASE);
        (void)pawl_wake_all(&word);
        test_join(thread);
    }
    word = 2;
    must(pawl_wait64_until(&word, 2, 0) == PAWL_WAIT_EXPIRED);
    return 0;
}

TEST_CASE(a_child_forked_while_others_sleep_starts_with_nobody_asleep)
{
    pthread_t threads[3];
    word = 1;
    test_start_all(threads, 3, wait_for_a_change);
    for (unsigned moved = 0;
         moved < 3;) /* until all of them sleep, and then back to where they came from */
        moved += pawl_requeue(&word, (char *)&word + 4, 0, 1);
    while (pawl_requeue((char *)&word + 4, &word, 0, 3) != 0)
        continue;
    const int status = test_fork(wait_and_wake_in_the_child);
    __atomic_store_n(&word, 2, __ATOMIC_RELEASE);
    assert_int_equal(pawl_wake_all(&word), 3); /* the parent's still sleep */
    test_join_all(threads, 3);
    assert_int_equal(status, 0);
}

/* ---- Cancellation and signals ---------------------------------------------------------------- */

static bool went_on;

static void *wait_and_go_on(void *wide)
{
    enum pawl_waited how = wide ? pawl_wait64(&word, 1) : pawl_wait32((uint32_t *)(void *)&word, 1);
    must(how == PAWL_WAIT_WOKEN || how == PAWL_WAIT_DIFFERS);
    __atomic_store_n(&went_on, true, __ATOMIC_RELEASE);
    pthread_testcancel();
    must(!"cancelled at the first cancellation point");
    return NULL;
}

TEST_CASE(a_wait_is_no_cancellation_point)
{
    static int wide;
    pthread_t thread;
    void *result;
    for (unsigned i = 0; i < 2; i++) {
        word = 1;
        went_on = false;
        thread = test_start(wait_and_go_on, i ? &wide : NULL);
        test_await(pawl_requeue(&word, (char *)&word + 4, 0, 1) != 0);
        must(pthread_cancel(thread) == 0);
        usleep(2000);
        assert_false(__atomic_load_n(&went_on, __ATOMIC_ACQUIRE));
        assert_int_equal(pawl_wake_one((char *)&word + 4), 1); /* it was still in its list */
        must(pthread_join(thread, &result) == 0);
        assert_ptr_equal(result, PTHREAD_CANCELED);
        assert_true(went_on);
    }
}

static unsigned signals;

static void count_signal(int number)
{
    __atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

/* Thread 1 asleep in a system call of ours; 0 sends it a signal; ThreadSanitizer keeps the signal
 * until 1 calls a function that it intercepts; 1 sleeps on, and its handler never runs. */
static void signals_reach_a_sleeper(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count_signal;
    action.sa_flags = flags;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    word = 1;
    signals = 0;
    const pthread_t thread = test_start(wait_for_a_change, NULL);
    for (unsigned i = 0; i < 50; i++) {
        must(pthread_kill(thread, SIGUSR1) == 0);
        test_await(__atomic_load_n(&signals, __ATOMIC_RELAXED) > i);
    }
    __atomic_store_n(&word, 2, __ATOMIC_RELEASE);
    (void)pawl_wake_one(&word);
    test_join(thread);
}

TEST_CASE(a_signal_handler_does_not_end_the_sleep_for_good_or_lose_a_wake)
{
    signals_reach_a_sleeper(0);
    signals_reach_a_sleeper(SA_RESTART);
}

/* ---- Threads without a line ------------------------------------------------------------------ */

TEST_CASE(a_thread_for_which_no_line_is_left_sleeps_and_wakes_as_well)
{
    must(ipawl_thread_line_() != NULL);
    lines_park_all();
    word = 1;
    const pthread_t thread = test_start(wait_for_a_change, NULL);
    test_await(pawl_wake_one(&word) != 0);
    __atomic_store_n(&word, 2, __ATOMIC_RELEASE);
    (void)pawl_wake_one(&word);
    test_join(thread);
    lines_free_all();
}

/* ---- Many ------------------------------------------------------------------------------------ */

enum { CROWD = 200 };
static uint64_t crowd[CROWD] __attribute__((aligned(8)));
static unsigned asleep;

static void wait_for_own_or_wake_all(void *unused, unsigned index)
{
    if (index > 0) {
        __atomic_fetch_add(&asleep, 1, __ATOMIC_RELAXED);
        while (__atomic_load_n(&crowd[index], __ATOMIC_ACQUIRE) == 0)
            (void)pawl_wait64(&crowd[index], 0);
        return;
    }
    test_await(__atomic_load_n(&asleep, __ATOMIC_RELAXED) >= CROWD - 1);
    usleep(20000);
    for (unsigned i = 1; i < CROWD; i++) {
        __atomic_store_n(&crowd[i], 1, __ATOMIC_RELEASE);
        (void)pawl_wake_one(&crowd[i]);
    }
}

TEST_CASE(each_of_a_crowd_is_found_at_its_own_address)
{
    memset(crowd, 0, sizeof crowd);
    asleep = 0;
    test_threads(CROWD, wait_for_own_or_wake_all, NULL);
    assert_int_equal(table_here()->queues, 0);
}

TEST_MAIN()
