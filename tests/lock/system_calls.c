/* SPDX-License-Identifier: MIT */
/*
 * No system call unless somebody sleeps or must: a child under seccomp's strict mode, in which any
 * call but exit, read and write kills it, goes through all operations; and so does one whose lock
 * another thread has slept on before. That the mode kills is tested too.
 */
#include "test.h"

#include <pawl/lock.h>
#include <pawl/pshared.h>

#include "support/sandbox.h"
#include "support/unused.h"

static pawl_lock32 lock32;
static pawl_lock64 lock64;

static void only_exit_is_allowed(void)
{
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        _exit(77);
}

#define ALL(N)                                                                                     \
    static void everything##N(void)                                                                \
    {                                                                                              \
        pawl_lock##N *l = &lock##N;                                                                \
        pawl_take_read(l);                                                                         \
        must(pawl_try_read(l));                                                                    \
        must(!pawl_try_write(l) && !pawl_try_atomic(l) && !pawl_try_read_to_write(l));             \
        pawl_drop_read(l);                                                                         \
        must(pawl_try_read_to_seek(l));                                                            \
        must(!pawl_try_seek(l));                                                                   \
        pawl_seek_to_write(l);                                                                     \
        must(!pawl_try_read(l) && !pawl_try_seek(l) && !pawl_claim_atomic(l));                     \
        pawl_write_to_seek(l);                                                                     \
        pawl_seek_to_read(l);                                                                      \
        must(pawl_try_read_to_atomic(l));                                                          \
        pawl_take_atomic(l);                                                                       \
        pawl_drop_atomic(l);                                                                       \
        must(pawl_atomic_to_read(l) == PAWL_REGAIN_KEPT);                                          \
        pawl_drop_read(l);                                                                         \
        must(pawl_take_write_until(l, UINT64_MAX));                                                \
        pawl_write_to_read(l);                                                                     \
        pawl_drop_read(l);                                                                         \
        must(pawl_lock##N##_is_free(l));                                                           \
    }
ALL(32)
ALL(64)

static void run_everything(void *unused)
{
    only_exit_is_allowed();
    for (unsigned i = 0; i < 100; i++) {
        everything32();
        everything64();
    }
    syscall(SYS_exit, 0);
}

static void enter_and_leave(void *unused, unsigned index)
{
    (void)unused, (void)index;
    for (unsigned i = 0; i < 2000; i++) {
        pawl_take_write(&lock32);
        pawl_take_write(&lock64);
        if (i % 100 == 0)
            sched_yield();
        pawl_drop_write(&lock64);
        pawl_drop_write(&lock32);
    }
}

/* A yield may cost a slice of time: beside a busy process a deadline in the past took 3.6 ms. */
static void no_yield_is_allowed(void)
{
    if (!sandbox_kills(SYS_sched_yield))
        _exit(77);
}

#define PAST(TYPE)                                                                                 \
    do {                                                                                           \
        static TYPE l;                                                                             \
        TYPE##_take_write(&l);                                                                     \
        must(!TYPE##_take_read_until(&l, 1) && !TYPE##_take_seek_until(&l, 1));                    \
        must(!TYPE##_take_write_until(&l, 1) && !TYPE##_take_atomic_until(&l, 1));                 \
        TYPE##_write_to_seek(&l);                                                                  \
        TYPE##_take_read(&l);                                                                      \
        must(!TYPE##_seek_to_write_until(&l, 1) && !TYPE##_take_write_until(&l, 1));               \
        TYPE##_drop_read(&l);                                                                      \
        TYPE##_drop_seek(&l);                                                                      \
        must(TYPE##_is_free(&l));                                                                  \
    } while (0)

static void fail_at_once(void *unused)
{
    no_yield_is_allowed();
    PAST(pawl_lock32);
    PAST(pawl_lock64);
    PAST(pawl_pshared_lock32);
    PAST(pawl_pshared_lock64);
}

static void yield_once(void *unused)
{
    no_yield_is_allowed();
    sched_yield();
}

static void call_something(void *unused)
{
    only_exit_is_allowed();
    syscall(SYS_getpid);
    syscall(SYS_exit, 0);
}

static int in_child(void (*body)(void *))
{
    char said[4096];
    const int status = test_in_child(body, NULL, said, sizeof said);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("skipped: seccomp is not available here\n");
        skip();
    }
    return status;
}

TEST_CASE(nobody_waiting_means_no_system_call)
{
    const int status = in_child(run_everything);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_CASE(those_who_slept_leave_nothing_that_costs_one)
{
    test_threads(8, enter_and_leave, NULL);
    assert_true(LOCK_IS_UNUSED(lock32) && LOCK_IS_UNUSED(lock64));
    int status = in_child(run_everything);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_CASE(a_system_call_would_have_ended_the_child)
{
    const int status = in_child(call_something);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_CASE(a_deadline_in_the_past_gives_the_cpu_away_to_nobody)
{
    const int status = in_child(fail_at_once);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_CASE(a_yield_would_have_ended_the_child)
{
    const int status = in_child(yield_once);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

int main(int argc, char **argv)
{
    if (TEST_SANITIZED)
        return test_skipped("a sanitizer makes system calls of its own");
    /* The first read of a process whose readers scale maps the memory for their entries. */
    pawl_lock32_take_read(&lock32);
    pawl_lock32_drop_read(&lock32);
    return test_main(argc, argv);
}
