/* SPDX-License-Identifier: MIT */
/*
 * All tests of basic.c once more, in threads to which the registry has no line to give: other
 * threads, that is what it is told, own them all. They read in extra lines. And the life of these:
 * who gets which, which come back, and when there must be more.
 */
#define main rcu_basic_main
#include "base/base.h"
#include "rcu/basic.c"
#undef main

#include "support/extra_lines.h"
#include "support/lines.h"

static int argument_count;
static char **arguments;

static void run(void *(*body)(void *), void *argument)
{
    test_elsewhere(body, argument);
}

/* The thread reads without a call wherever others do. */
static void *in_an_extra_line(void *result)
{
    must(ipawl_thread_line_() == NULL);
    *(int *)result = rcu_basic_main(argument_count, arguments);
    must(PAWL_RCU_MINE_.extra != NULL && PAWL_RCU_MINE_.open == 0);
    must((PAWL_RCU_MINE_.line != NULL) == (ipawl_fence_light_free_ != 0));
    return NULL;
}

/* ---- Which line a thread gets ---------------------------------------------------------------- */

static struct pawl_rcu_extra *read_beyond(void)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    return PAWL_RCU_MINE_.extra;
}

static void *get_the_first(void *unused)
{
    must(read_beyond() == extra_line(0));
    must(extra_line(0)->owner == pawl_os_thread_id());
    return unused;
}

static void a_line_is_free_again_when_its_thread_has_ended(void)
{
    run(get_the_first, NULL);
    must(extra_line(0)->owner == 0);
    run(get_the_first, NULL);
}

static void set_owners(uint32_t owner)
{
    for (uint32_t i = 0; i < RCU_EXTRA_IN_BLOCK; i++)
        extra_line(i)->owner = owner;
}

/* The dead one ended in a section. */
static void *get_that_of_the_dead(void *unused)
{
    const uint64_t cookie = pawl_rcu_start_poll();
    must(!pawl_rcu_poll(cookie));
    must(read_beyond()->owner == pawl_os_thread_id());
    must(pawl_rcu_poll(cookie) == (PAWL_RCU_MINE_.extra == extra_line(5)));
    return unused;
}

static void lines_of_the_dead_are_used_before_more_are_mapped(void)
{
    set_owners(INT_MAX); /* no thread has this number */
    extra_line(5)->line.read[PAWL_RCU_DEFAULT_]++;
    rcu_here()->looked = 5;
    run(get_that_of_the_dead, NULL);
    must(extra_lines() == RCU_EXTRA_IN_BLOCK);
}

/* The number of a dead thread comes up again: whoever looks finds that it lives. */
static void *get_rid_of_ones_own(void *other)
{
    const uint64_t cookie = pawl_rcu_start_poll();
    extra_line(7)->owner = pawl_os_thread_id();
    extra_line(7)->line.read[PAWL_RCU_DEFAULT_]++;
    must(!pawl_rcu_poll(cookie));
    if (other != NULL)
        must(read_beyond() != NULL && PAWL_RCU_MINE_.extra != extra_line(7));
    else
        must(ipawl_thread_line_() != NULL);
    must(extra_line(7)->owner == 0);
    must(pawl_rcu_poll(cookie));
    return NULL;
}

static void a_thread_frees_what_a_dead_one_of_its_number_has_left(void)
{
    set_owners(0);
    run(get_rid_of_ones_own, &argument_count);
    lines_free(1);
    run(get_rid_of_ones_own, NULL);
    lines_park_all();
}

static void *get_one_of_the_second_block(void *unused)
{
    must(read_beyond() == extra_line(RCU_EXTRA_IN_BLOCK));
    must(extra_lines() == 2 * RCU_EXTRA_IN_BLOCK);
    pawl_rcu_read_lock();
    uint64_t cookie = pawl_rcu_start_poll();
    must(!pawl_rcu_poll(cookie));
    pawl_rcu_read_unlock();
    must(pawl_rcu_poll(cookie));
    return unused;
}

static void when_all_are_taken_there_are_more(void)
{
    set_owners((uint32_t)getpid());
    run(get_one_of_the_second_block, NULL);
    set_owners(0);
}

/* ---- Sections -------------------------------------------------------------------------------- */

/* A line of the registry becomes free: the thread keeps the extra one. */
static void *keep_the_extra_line(void *unused)
{
    struct pawl_rcu_extra *const extra = read_beyond();
    pawl_rcu_read_lock();
    lines_free(PAWL_THREAD_LINES - 1);
    must(ipawl_thread_line_() != NULL);
    must(pawl_rcu_read_held());
    uint64_t cookie = pawl_rcu_start_poll();
    must(!pawl_rcu_poll(cookie));
    pawl_rcu_read_unlock();
    must(pawl_rcu_poll(cookie));
    for (unsigned i = 0; i < 2000; i++)
        must(read_beyond() == extra);
    return unused;
}

static void *end_in_a_section(void *unused)
{
    pawl_rcu_read_lock();
    return unused;
}

static uint32_t reported;

static void note_thread(const pawl_rcu_stall *stall, void *unused)
{
    pawl_store_relaxed32(&reported, (uint32_t)stall->thread);
}

static void *read_until_reported(void *barrier)
{
    pawl_rcu_read_lock();
    must(PAWL_RCU_MINE_.extra != NULL);
    pthread_barrier_wait((pthread_barrier_t *)barrier);
    test_await(pawl_load_relaxed32(&reported) != 0);
    must(pawl_load_relaxed32(&reported) == pawl_os_thread_id());
    pawl_rcu_read_unlock();
    return NULL;
}

static void a_report_of_a_stall_names_the_thread(void)
{
    pthread_barrier_t barrier;
    must(pthread_barrier_init(&barrier, NULL, 2) == 0);
    const pthread_t thread = test_start(read_until_reported, &barrier);
    pthread_barrier_wait(&barrier);
    pawl_rcu_domain_stall(pawl_rcu_default(), 1, note_thread, NULL);
    pawl_rcu_synchronize();
    pawl_rcu_domain_stall(pawl_rcu_default(), 0, NULL, NULL);
    test_join(thread);
    must(pthread_barrier_destroy(&barrier) == 0);
}

/* Each reads while the others do, so the driver goes through all of their lines. */
static uint32_t stop;

static void *read_all_the_time(void *unused)
{
    while (pawl_load_relaxed32(&stop) == 0) {
        pawl_rcu_read_lock();
        sched_yield();
        pawl_rcu_read_unlock();
    }
    return unused;
}

static void synchronize_beside_many(void)
{
    pthread_t threads[4];
    test_start_all(threads, 4, read_all_the_time);
    for (unsigned i = 0; i < (unsigned)TEST_SCALE(1000); i++)
        pawl_rcu_synchronize();
    pawl_store_relaxed32(&stop, 1);
    test_join_all(threads, 4);
}

int main(int argc, char **argv)
{
    int result = -1;
    argument_count = argc;
    arguments = argv;
    must(ipawl_thread_line_() != NULL);
    lines_park_all();
    run(in_an_extra_line, &result);
    a_line_is_free_again_when_its_thread_has_ended();
    lines_of_the_dead_are_used_before_more_are_mapped();
    a_thread_frees_what_a_dead_one_of_its_number_has_left();
    when_all_are_taken_there_are_more();
    a_report_of_a_stall_names_the_thread();
    synchronize_beside_many();
    run(end_in_a_section, NULL);
    pawl_rcu_synchronize(); /* its end ended the section */
    run(keep_the_extra_line, NULL);
    return result;
}
