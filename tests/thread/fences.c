/* SPDX-License-Identifier: MIT */
/*
 * The mode of the fences belongs to the process; what a sandbox does to it. Two copies of the
 * library: tests/package/plugins/orders.c. Each test works in a child that no thread has used the
 * library in.
 *
 * A sandbox that goes up later. A reader enters by a light fence. The sandbox forbids membarrier.
 * A writer removes what the reader has found, and its heavy fence fails. It can neither wait for
 * the reader nor know that there is none, so the process ends with a message.
 */
#include "test.h"

#include <pawl/pawl.h>

#include "base/base.h"
#include "support/sandbox.h"

#include <errno.h>

static char **arguments;

static void into_the_sandbox(void)
{
    pawl_os_remember_errors(); /* what the test redirects */
    if (!sandbox_refuses(SYS_membarrier))
        _exit(77);
}

static void read_once(void)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
}

static void use_everything(void *unused)
{
    static pawl_counter_exact counter = PAWL_COUNTER_EXACT_INIT;
    pawl_brlock lock;
    read_once();
    pawl_rcu_synchronize();
    must(pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) == 0);
    pawl_brlock_take_read(&lock);
    must(!pawl_brlock_try_write(&lock));
    pawl_brlock_drop_read(&lock);
    pawl_brlock_take_write(&lock);
    pawl_brlock_drop_write(&lock);
    pawl_brlock_destroy(&lock);
    pawl_counter_exact_add(&counter, 3);
    must(pawl_counter_exact_read(&counter) == 3);
}

static bool is_light(void)
{
    return ipawl_fence_light_free_ != 0;
}

static void make_it_strong(void *unused)
{
    must(pawl_fences_strong() == 0 && !is_light());
    into_the_sandbox();
    use_everything(NULL);
    must(PAWL_RCU_MINE_.line == NULL && pawl_os_rseq() == NULL);
    must(pawl_fences_strong() == 0); /* again, and by a thread that reads */
}

#define BORN_IN_THE_SANDBOX "PAWL_TEST_SANDBOXED"

static void be_born_in_the_sandbox(void *unused)
{
    into_the_sandbox();
    must(setenv(BORN_IN_THE_SANDBOX, "1", 1) == 0);
    execv("/proc/self/exe", arguments);
    must(!"execv has failed");
}

/* The same program, in that sandbox. */
static int live_in_the_sandbox(void)
{
    must(!is_light() && pawl_fences_strong() == 0);
    use_everything(NULL);
    return 0;
}

static void ask_too_late(void *unused)
{
    const bool was = is_light();
    read_once();
    must(pawl_fences_strong() == (was ? EBUSY : 0));
    must(is_light() == was);
    use_everything(NULL);
}

static void *read_in_a_thread(void *unused)
{
    read_once();
    return NULL;
}

static void ask_when_the_readers_have_ended(void *unused)
{
    test_elsewhere(read_in_a_thread, NULL);
    must(pawl_fences_strong() == 0 && !is_light());
    into_the_sandbox();
    use_everything(NULL);
}

static void ask_and_fork(void *unused)
{
    must(pawl_fences_strong() == 0);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        alarm(TEST_HANGS);
        must(!is_light());
        into_the_sandbox();
        use_everything(unused);
        _exit(0);
    }
    const int status = test_wait(child);
    must(WIFEXITED(status));
    if (status != 0)
        _exit(WEXITSTATUS(status));
}

static void synchronize_in_the_sandbox(void *unused)
{
    into_the_sandbox();
    pawl_rcu_synchronize();
    if (!is_light())
        _exit(77); /* a system without membarrier */
}

static void write_in_the_sandbox(void *unused)
{
    static pawl_brlock lock; /* zero bytes are one without lines */
    into_the_sandbox();
    pawl_brlock_take_write(&lock);
    if (!is_light())
        _exit(77);
}

static void read_exactly_in_the_sandbox(void *unused)
{
    static pawl_counter_exact counter = PAWL_COUNTER_EXACT_INIT;
    pawl_counter_exact_add(&counter, 1);
    into_the_sandbox();
    (void)pawl_counter_exact_read(&counter);
    if (!is_light())
        _exit(77);
}

static void holds(void (*body)(void *))
{
    static char said[65536];
    const int status = test_in_child(body, NULL, said, sizeof said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    if (status != 0)
        fail_msg("status %#x; wrote:\n%s", (unsigned)status, said);
}

static void ends_with_a_message(void (*body)(void *))
{
    static char said[65536];
    const int status = test_in_child(body, NULL, said, sizeof said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
        strstr(said, "calls pawl_fences_strong() before") == NULL)
        fail_msg("status %#x; wrote:\n%s", (unsigned)status, said);
}

TEST_CASE(with_strong_fences_a_sandbox_changes_nothing)
{
    holds(make_it_strong);
}

TEST_CASE(a_process_that_starts_in_a_sandbox_has_strong_fences)
{
    holds(be_born_in_the_sandbox);
}

TEST_CASE(fences_stay_as_they_are_once_a_thread_has_read)
{
    holds(ask_too_late);
}

TEST_CASE(fences_can_be_made_strong_when_all_readers_have_ended)
{
    holds(ask_when_the_readers_have_ended);
}

TEST_CASE(a_child_of_fork_inherits_strong_fences)
{
    holds(ask_and_fork);
}

TEST_CASE(in_a_later_sandbox_a_grace_period_ends_the_process_with_a_message)
{
    ends_with_a_message(synchronize_in_the_sandbox);
}

TEST_CASE(in_a_later_sandbox_a_writer_ends_the_process_with_a_message)
{
    ends_with_a_message(write_in_the_sandbox);
}

TEST_CASE(in_a_later_sandbox_an_exact_read_ends_the_process_with_a_message)
{
    ends_with_a_message(read_exactly_in_the_sandbox);
}

int main(int argc, char **argv)
{
    arguments = argv;
    if (getenv(BORN_IN_THE_SANDBOX) != NULL)
        return live_in_the_sandbox();
    return test_main(argc, argv);
}
