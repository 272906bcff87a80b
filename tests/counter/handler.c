/* SPDX-License-Identifier: MIT */
/* Counters that a signal handler of the same thread adds to: nothing is lost, however the signals
 * fall. steps.c shows what the plain form would lose. */
#include "support/counter_again.h"

#include <pawl/counter.h>

static pawl_counter by_thread;
static pawl_cpu_counter by_cpu;
static volatile sig_atomic_t handled;
static uint32_t stop;
static pthread_t counting;

static void on_signal(int number)
{
    pawl_counter_add_in_handler(&by_thread, 1000000);
    pawl_cpu_counter_add(&by_cpu, 1000000);
    handled = handled + 1;
}

static void *send_signals(void *unused)
{
    while (pawl_load_relaxed32(&stop) == 0) {
        must(pthread_kill(counting, SIGUSR1) == 0);
        sched_yield();
    }
    return NULL;
}

TEST_CASE(counts_of_a_thread_and_of_its_handler_add_up)
{
    struct sigaction action, before;
    int64_t i;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    must(sigaction(SIGUSR1, &action, &before) == 0);
    counting = pthread_self();
    const pthread_t sender = test_start(send_signals, NULL);
    for (i = 0; i < 400000 || handled < TEST_SCALE(200); i++) {
        pawl_counter_add_in_handler(&by_thread, 1);
        pawl_cpu_counter_add(&by_cpu, 1);
    }
    pawl_store_relaxed32(&stop, 1);
    test_join(sender);
    must(sigaction(SIGUSR1, &before, NULL) == 0);
    assert_int_equal(pawl_counter_read(&by_thread), i + (int64_t)handled * 1000000);
    assert_int_equal(pawl_cpu_counter_read(&by_cpu), i + (int64_t)handled * 1000000);
}

/* The handler is the first to use the counter, and the first of its thread to count at all. */
static pawl_counter fresh;

static void on_first_signal(int number)
{
    pawl_counter_add_in_handler(&fresh, 2);
}

static void *raise_once(void *unused)
{
    must(raise(SIGUSR2) == 0);
    pawl_counter_add_in_handler(&fresh, 1);
    return NULL;
}

TEST_CASE(a_handler_may_be_the_first_to_count)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_first_signal;
    must(sigaction(SIGUSR2, &action, &before) == 0);
    test_elsewhere(raise_once, NULL);
    must(sigaction(SIGUSR2, &before, NULL) == 0);
    assert_int_equal(pawl_counter_destroy(&fresh), 3);
}

TEST_MAIN(again_arguments(argv))
