/* SPDX-License-Identifier: MIT */
/*
 * The restartable sequences under the counters (Linux, x86-64 and aarch64 with glibc 2.35): that
 * they are used, leave nothing behind, and end under a debugger that sends each of them back.
 *
 * The library once left them out everywhere: a header that says which systems have them was no
 * longer included, and these tests asked the library whether to skip. So the test asks the system.
 */
#include "test.h"

#include <pawl/bigref.h>
#include <pawl/counter.h>

#include "os/os.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__GLIBC__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
#if __GLIBC_PREREQ(2, 35)
#include <sys/rseq.h>
#define MAY_HAVE_SEQUENCES 1
#endif
#endif

static pawl_counter_exact exact;
static pawl_cpu_counter by_cpu;
static pawl_counter_limit limited = PAWL_COUNTER_LIMIT_INIT(1000000);
static pawl_bigref ref = PAWL_BIGREF_INIT(NULL, NULL);

static void use_all(void)
{
    pawl_counter_exact_add(&exact, 1);
    pawl_cpu_counter_add(&by_cpu, 1);
    must(pawl_counter_limit_try_add(&limited, 1));
    pawl_counter_limit_sub(&limited, 1);
    pawl_bigref_get(&ref);
    pawl_bigref_drop(&ref);
}

#ifdef MAY_HAVE_SEQUENCES

static bool is_forbidden(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != 0 && strcmp(value, "0") != 0;
}

/* The C library has registered them, and the kernel has a membarrier that sends them back. */
static bool the_system_has_sequences(void)
{
    const long found = syscall(SYS_membarrier, 0 /* which are there? */, 0, 0);
    return !is_forbidden("PAWL_NO_MEMBARRIER") && !is_forbidden("PAWL_NO_RSEQ") &&
           __rseq_size > 0 && found >= 0 && (found & 1 << 8) != 0;
}

#else

static bool the_system_has_sequences(void)
{
    return false;
}

#endif

static bool sequences_are_there(void)
{
    use_all();
    if (the_system_has_sequences())
        return true;
    print_message("skipped: no restartable sequences, or no membarrier that stops them\n");
    return false;
}

TEST_CASE(the_library_finds_them_where_they_are)
{
    use_all();
    assert_int_equal(pawl_os_rseq() != NULL, the_system_has_sequences());
}

TEST_CASE(a_thread_that_counts_uses_them_where_they_are)
{
    use_all();
    assert_ptr_equal(ipawl_counter_mine_()->rseq, pawl_os_rseq());
    if (!sequences_are_there())
        skip();
    assert_non_null(ipawl_counter_mine_()->cpus);
    assert_true(ipawl_rseq_add_phase_(
        pawl_os_rseq(), ipawl_cell_(ipawl_counter_mine_()->block, exact.place), 0, &exact.phase));
}

TEST_CASE(a_test_that_refuses_leaves_the_cell_alone)
{
    uint64_t cell = 5;
    uint32_t gate = 7;
    if (!sequences_are_there())
        skip();
    assert_true(ipawl_rseq_add_if_(pawl_os_rseq(), &cell, 1, 6, &gate, 7));
    assert_int_equal(cell, 6);
    /* too much, below zero, closed */
    assert_false(ipawl_rseq_add_if_(pawl_os_rseq(), &cell, 1, 6, &gate, 7));
    assert_false(ipawl_rseq_add_if_(pawl_os_rseq(), &cell, 0 - UINT64_C(7), 6, &gate, 7));
    assert_false(ipawl_rseq_add_if_(pawl_os_rseq(), &cell, 0, 6, &gate, 8));
    gate = 2;
    assert_false(ipawl_rseq_add_phase_(pawl_os_rseq(), &cell, 1, &gate));
    assert_false(ipawl_rseq_add_cpu_(pawl_os_rseq(), (char *)&cell, 1, 0));
    assert_int_equal(cell, 6);
}

/* The kernel reads through this pointer; its target may lie in a plug-in that is unloaded next. */
TEST_CASE(no_descriptor_is_left_behind)
{
    uint64_t descriptor;
    if (!sequences_are_there())
        skip();
    use_all();
    memcpy(&descriptor, pawl_os_rseq() + 8, sizeof descriptor);
    assert_int_equal(descriptor, 0);
}

/* ---- A debugger ------------------------------------------------------------------------------ */

static void step_through(void)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(77);
    raise(SIGSTOP);
    use_all();
    _exit(pawl_counter_exact_read(&exact) == 2 && pawl_cpu_counter_read(&by_cpu) == 2 ? 0 : 1);
}

/* Every step interrupts whatever sequence is under way. */
TEST_CASE(single_steps_end)
{
    int status = 0;
    long steps;
    use_all();
    pawl_counter_exact_sub(&exact, pawl_counter_exact_read(&exact) - 1);
    pawl_cpu_counter_sub(&by_cpu, pawl_cpu_counter_read(&by_cpu) - 1);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0)
        step_through();
    must(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("skipped: may not trace\n");
        skip();
    }
    for (steps = 0; steps < 2000000 && !WIFEXITED(status); steps++) {
        must(WIFSTOPPED(status));
        must(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0);
        must(waitpid(child, &status, 0) == child);
    }
    if (!WIFEXITED(status)) {
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        fail_msg("still stepping after %ld instructions", steps);
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_MAIN()
