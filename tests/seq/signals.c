/* SPDX-License-Identifier: MIT */
/* Sequence locks where threads stop anywhere: signal handlers, and the child of a fork. */
#include "test.h"

#include <pawl/seq.h>

struct value {
    uint64_t n[5];
};

PAWL_SEQ_TYPE(value_seq, struct value);
PAWL_SEQ_LATCH_TYPE(value_latch, struct value);

static struct value value_of(uint64_t n)
{
    struct value v;
    for (unsigned i = 0; i < 5; i++)
        v.n[i] = n * (i + 1);
    return v;
}

static bool whole(const struct value *v)
{
    for (unsigned i = 1; i < 5; i++)
        if (v->n[i] != v->n[0] * (i + 1))
            return false;
    return true;
}

static value_seq lock;
static value_latch latch;
static uint32_t handled, failed_tries, stop; /* by the seam: read and written across threads */

static void look(int number)
{
    struct value v;
    value_latch_read(&latch, &v);
    must(whole(&v));
    if (value_seq_try_read(&lock, &v))
        must(whole(&v));
    else
        (void)pawl_fetch_add_relaxed32(&failed_tries, 1);
    (void)pawl_fetch_add_relaxed32(&handled, 1);
}

static void *write_on(void *unused)
{
    uint64_t n = 0;
    while (pawl_load_relaxed32(&stop) == 0) {
        const struct value v = value_of(++n);
        value_latch_write_alone(&latch, &v);
        value_seq_write_alone(&lock, &v);
    }
    return NULL;
}

static pthread_t start_writer(void)
{
    pawl_store_relaxed32(&stop, 0);
    const pthread_t writer = test_start(write_on, NULL);
    return writer;
}

static void stop_writer(pthread_t writer)
{
    pawl_store_relaxed32(&stop, 1);
    test_join(writer);
}

TEST_CASE(a_handler_finds_a_whole_value_wherever_it_interrupts_the_writer)
{
    const uint32_t wanted = TEST_SCALE(1000);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = look;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    pthread_t writer = start_writer();
    while (pawl_load_relaxed32(&handled) < wanted) {
        const uint32_t before = pawl_load_relaxed32(&handled);
        must(pthread_kill(writer, SIGUSR1) == 0);
        test_await(pawl_load_relaxed32(&handled) != before);
    }
    stop_writer(writer);
    print_message("%u of %u tries met a write\n", failed_tries, handled);
}

TEST_CASE(the_child_of_a_fork_reads_and_repairs_what_a_thread_was_writing)
{
    const unsigned forks = TEST_SCALE(40);
    const pthread_t writer = start_writer();
    for (unsigned i = 0; i < forks; i++) {
        pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            const struct value v = value_of(7);
            struct value got;
            alarm(TEST_HANGS);
            value_latch_read(&latch, &got);
            if (!whole(&got))
                _exit(1);
            value_latch_write_alone(&latch, &v);
            value_latch_read(&latch, &got);
            if (memcmp(&got, &v, sizeof v) != 0)
                _exit(2);
            value_seq_write_alone(&lock, &v); /* until then its readers might wait for ever */
            value_seq_read(&lock, &got);
            _exit(memcmp(&got, &v, sizeof v) == 0 ? 0 : 3);
        }
        assert_int_equal(test_wait(child), 0);
    }
    stop_writer(writer);
}

TEST_MAIN()
