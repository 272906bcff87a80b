/* SPDX-License-Identifier: MIT */
/*
 * All tests of basic.c once more, in threads that have no line and no memory for an extra one, and
 * so are counted. Other threads own all lines: that is what the registry is told. The time to ask
 * for an extra line has not come. And what happens when a line becomes free meanwhile.
 */
#define main rcu_basic_main
#include "base/base.h"
#include "rcu/basic.c"
#undef main

#include "support/lines.h"

static int argument_count;
static char **arguments;

/* As if so many sections had to pass until the caller asks for a line again. */
static void be_refused(uint32_t sections)
{
    must(ipawl_thread_line_() == NULL);
    PAWL_RCU_MINE_.wait = sections;
}

static void *without_a_line(void *result)
{
    be_refused(UINT32_MAX);
    *(int *)result = rcu_basic_main(argument_count, arguments);
    must(PAWL_RCU_MINE_.line == NULL && PAWL_RCU_MINE_.open == 0);
    return NULL;
}

/* In a section, then a line becomes free: the section goes on as it began. */
static void *get_one_in_a_section(void *unused)
{
    be_refused(1000);
    pawl_rcu_read_lock();
    lines_free(PAWL_THREAD_LINES - 1);
    pawl_rcu_read_lock();
    must(PAWL_RCU_MINE_.line == NULL);
    pawl_rcu_read_unlock();
    uint64_t cookie = pawl_rcu_start_poll();
    must(!pawl_rcu_poll(cookie));
    pawl_rcu_read_unlock();
    must(pawl_rcu_poll(cookie));
    for (unsigned i = 0; i < 2000; i++) { /* it does not ask each time */
        pawl_rcu_read_lock();
        pawl_rcu_read_unlock();
    }
    pawl_rcu_read_lock();
    must((PAWL_RCU_MINE_.line != NULL) == (ipawl_fence_light_free_ != 0));
    must(pawl_rcu_read_held() && PAWL_RCU_MINE_.open == 0);
    pawl_rcu_read_unlock();
    must(!pawl_rcu_read_held());
    return NULL;
}

static void *end_in_a_section(void *unused)
{
    be_refused(UINT32_MAX);
    pawl_rcu_read_lock();
    must(PAWL_RCU_MINE_.open == 1);
    return NULL;
}

/* Readers that come and go all the time, so that one side is never empty for long. */
static uint32_t stop;

static void *overlap(void *unused)
{
    be_refused(UINT32_MAX);
    while (pawl_load_relaxed32(&stop) == 0) {
        pawl_rcu_read_lock();
        sched_yield();
        pawl_rcu_read_unlock();
    }
    return NULL;
}

static void never_empty(void)
{
    pthread_t threads[4];
    test_start_all(threads, 4, overlap);
    for (unsigned i = 0; i < (unsigned)TEST_SCALE(2000); i++)
        pawl_rcu_synchronize();
    pawl_store_relaxed32(&stop, 1);
    test_join_all(threads, 4);
}

static void run(void *(*body)(void *), void *argument)
{
    test_elsewhere(body, argument);
}

int main(int argc, char **argv)
{
    int result = -1;
    argument_count = argc;
    arguments = argv;
    lines_park_all();
    run(without_a_line, &result);
    run(end_in_a_section, NULL);
    pawl_rcu_synchronize(); /* its end ended the section */
    never_empty();
    run(get_one_in_a_section, NULL);
    return result;
}
