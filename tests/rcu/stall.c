/* SPDX-License-Identifier: MIT */
/* Readers that keep a grace period waiting are reported, and hold no other domain up. */
#include "test.h"

#include <pawl/rcu.h>

#include "rcu/rcu.h"
#include "os/os.h"

static struct seen {
    uint32_t count;
    uint32_t thread;
    uint64_t first_age, last_age;
    char domain[32], name[32];
} seen;

static pthread_barrier_t step;
static uint32_t reader_id, told;

static void note(const pawl_rcu_stall *stall, void *argument)
{
    struct seen *s = (struct seen *)argument;
    s->thread = stall->thread;
    if (s->count == 0)
        s->first_age = stall->age;
    s->last_age = stall->age;
    (void)snprintf(s->domain, sizeof s->domain, "%s", stall->domain);
    (void)snprintf(s->name, sizeof s->name, "%s", stall->name);
    s->count++;
    if (s->count == 3) /* enough: the reader may go */
        pawl_store_relaxed32(&told, 1);
}

static void *read_until_reported(void *opaque)
{
    pawl_rcu_domain *d = (pawl_rcu_domain *)opaque;
#ifdef __linux__
    must(pthread_setname_np(pthread_self(), "slow reader") == 0);
#endif
    reader_id = pawl_os_thread_id();
    pawl_rcu_domain_read_lock(d);
    pthread_barrier_wait(&step);
    while (pawl_load_relaxed32(&told) == 0)
        usleep(100);
    pawl_rcu_domain_read_unlock(d);
    return NULL;
}

static void *synchronize(void *domain)
{
    pawl_rcu_domain_synchronize((pawl_rcu_domain *)domain);
    return NULL;
}

static void start(pthread_t *thread, pawl_rcu_domain *d)
{
    memset(&seen, 0, sizeof seen);
    pawl_store_relaxed32(&told, 0);
    must(pthread_barrier_init(&step, NULL, 2) == 0);
    must(pthread_create(thread, NULL, read_until_reported, d) == 0);
    pthread_barrier_wait(&step);
}

static void end(pthread_t thread)
{
    test_join(thread);
    pthread_barrier_destroy(&step);
}

static void assert_seen(const char *domain)
{
    assert_true(seen.count >= 3);
    assert_int_equal(seen.thread, reader_id);
    assert_string_equal(seen.domain, domain);
    assert_true(seen.first_age >= 2000000);
    assert_true(seen.last_age >= 4 * seen.first_age); /* each report when the age has doubled */
#ifdef __linux__
    assert_string_equal(seen.name, "slow reader");
#endif
}

TEST_CASE(a_slow_reader_is_reported_again_and_again_while_a_synchronize_waits)
{
    pthread_t reader;
    pawl_rcu_domain_stall(pawl_rcu_default(), 2000000, note, &seen);
    start(&reader, pawl_rcu_default());
    pawl_rcu_synchronize();
    end(reader);
    pawl_rcu_domain_stall(pawl_rcu_default(), 0, NULL, NULL);
    assert_seen("default");
}

/* ---- Polls ----------------------------------------------------------------------------------- */

static pawl_rcu_domain polled;
static uint64_t polled_cookie;
static bool over_in_handler;

static void poll_here(int number)
{
    over_in_handler = pawl_rcu_domain_poll(&polled, polled_cookie);
}

static void begin_poll(pthread_t *reader, uint64_t ns)
{
#ifdef _WIN32
    printf("skipped: Windows has no handlers of such signals\n");
    skip();
#endif
    must(pawl_rcu_domain_init(&polled, "polled") == 0);
    pawl_rcu_domain_stall(&polled, ns, note, &seen);
    start(reader, &polled);
    polled_cookie = pawl_rcu_domain_start_poll(&polled);
    must(!pawl_rcu_domain_poll(&polled, polled_cookie)); /* the reader is noted */
    must(signal(SIGUSR1, poll_here) != SIG_ERR);
}

static void end_poll(pthread_t reader)
{
    must(signal(SIGUSR1, SIG_DFL) != SIG_ERR);
    pawl_store_relaxed32(&told, 1);
    end(reader);
    pawl_rcu_domain_destroy(&polled);
}

/* A poll is allowed anywhere. With the latch of the reports:
 *   1  a thread changes a domain's report, or forks, and holds the latch
 *   2  a handler interrupts it and polls, while a report is due
 *   3  the poll must not wait for the latch: its own thread would have to release it */
TEST_CASE(a_poll_in_a_handler_waits_for_no_report)
{
    pthread_t reader;
    begin_poll(&reader, 1);
    alarm(TEST_HANGS);
    latch_take(&rcu_here()->stalls);
    must(raise(SIGUSR1) == 0);
    latch_drop(&rcu_here()->stalls);
    alarm(0);
    assert_false(over_in_handler);
    assert_int_equal(seen.count, 0); /* a report is no work for a handler */
    end_poll(reader);
}

/* The age counts from the first poll. */
TEST_CASE(a_thread_that_waits_reports_the_reader_that_polls_found)
{
    pthread_t reader;
    begin_poll(&reader, 2000000);
    usleep(4000);
    assert_false(pawl_rcu_domain_poll(&polled, polled_cookie));
    assert_int_equal(seen.count, 0);
    pawl_rcu_domain_synchronize_cond(&polled, polled_cookie); /* its reports let the reader go */
    end_poll(reader);
    assert_seen("polled");
}

TEST_CASE(a_driver_that_sleeps_already_hears_that_reports_are_wanted)
{
    pthread_t reader;
    pawl_rcu_domain d;
    assert_int_equal(pawl_rcu_domain_init(&d, "asleep"), 0);
    struct pawl_rcu_state *domain = &rcu_here()->states[d.index];
    start(&reader, &d);
    const pthread_t waiter = test_start(synchronize, &d);
    test_await(PAWL_ADDRESS_(pawl_load_relaxed)(&domain->driver) != 0);
    usleep(1000);
    pawl_rcu_domain_stall(&d, 2000000, note, &seen);
    test_join(waiter);
    end(reader);
    assert_seen("asleep");
    pawl_rcu_domain_destroy(&d);
}

TEST_CASE(others_go_on_while_one_domain_stalls)
{
    pthread_t reader;
    pawl_rcu_domain d;
    assert_int_equal(pawl_rcu_domain_init(&d, "stalled"), 0);
    pawl_rcu_domain_stall(&d, 2000000, note, &seen);
    start(&reader, &d);
    assert_false(pawl_rcu_domain_poll(&d, pawl_rcu_domain_start_poll(&d)));
    for (unsigned i = 0; i < 100; i++)
        pawl_rcu_synchronize();
    pawl_rcu_domain_synchronize(&d);
    end(reader);
    assert_seen("stalled");
    pawl_rcu_domain_destroy(&d);
}

/* Passes on what comes by a pipe; with the first line the reader may go. */
static void *pass_on(void *pipe_ends)
{
    const int *ends = (const int *)pipe_ends;
    char c;
    while (read(ends[0], &c, 1) == 1) {
        must(write(ends[1], &c, 1) == 1);
        if (c == '\n')
            pawl_store_relaxed32(&told, 1);
    }
    return NULL;
}

static void stall_to_standard_error(void *unused)
{
    pthread_t reader;
    int ends[2], passed[2];
    must(pipe(ends) == 0);
    passed[0] = ends[0];
    passed[1] = dup(STDERR_FILENO);
    must(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO && close(ends[1]) == 0);
    pawl_os_remember_errors();
    pawl_rcu_domain_stall(pawl_rcu_default(), 2000000, NULL, NULL);
    start(&reader, pawl_rcu_default());
    const pthread_t teller = test_start(pass_on, passed);
    pawl_rcu_synchronize();
    must(dup2(passed[1], STDERR_FILENO) == STDERR_FILENO); /* the end of the pipe */
    test_join(teller);
    end(reader);
}

TEST_CASE(without_a_function_a_line_on_standard_error_reports)
{
    char said[4096];
    int status = test_in_child(stall_to_standard_error, NULL, said, sizeof said);
    if (status != 0 || !strstr(said, "pawl: rcu domain default: thread ") ||
        !strstr(said, " has been reading for "))
        fail_msg("status %#x: %s", (unsigned)status, said);
}

TEST_MAIN()
