/* SPDX-License-Identifier: MIT */
/*
 * A signal handler at every instruction of a reader's take and drop (x86-64 Linux): the processor
 * traps after each one, and the handler reads under the same lock, or forks. Whatever the
 * instruction, the reader is counted once, and nobody is left in.
 *
 * The interleavings that would fail: the reader loads its counter, the handler changes it for
 * good, the reader stores; or the reader has loaded its ticket, the handler forks, and the child
 * gives the reader's line to another thread.
 */
#include "test.h"

#include <pawl/brlock.h>
#include <pawl/thread.h>

static pawl_brlock lock;

/* A thread whose line is gone, as in a destructor that runs after the library's: the drop may be
 * counted on another counter than the take. */
static void *drops_without_its_line(void *unused)
{
    pawl_brlock_take_read(&lock);
    must(!pawl_brlock_try_write(&lock));
    ipawl_thread_exit_();
    must(!pawl_brlock_try_write(&lock));
    pawl_brlock_drop_read(&lock);
    return NULL;
}

TEST_CASE(a_reader_that_has_given_its_line_back_drops_all_the_same)
{
    test_elsewhere(drops_without_its_line, NULL);
    assert_true(pawl_brlock_try_write(&lock));
    pawl_brlock_drop_write(&lock);
}

#if defined(__x86_64__) && defined(__linux__) && !TEST_SANITIZED && !PAWL_TSAN_

#define TRAP_FLAG UINT64_C(0x100)

static void (*handler_act)(void);
static volatile unsigned steps, most;

static void at_each_instruction(int number)
{
    if (steps < most) {
        steps++;
        handler_act();
    }
}

static inline __attribute__((always_inline)) void trap_from_here(void)
{
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
}

static inline __attribute__((always_inline)) void trap_no_more(void)
{
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~TRAP_FLAG);
}

static bool takes; /* what `reads_once` does: take or try */

/* Not inlined: the traps lie around the inlined take and drop alone. */
__attribute__((noinline)) static bool reads_once(void)
{
    bool got = true;
    trap_from_here();
    if (takes)
        pawl_brlock_take_read(&lock);
    else
        got = pawl_brlock_try_read(&lock);
    if (got)
        pawl_brlock_drop_read(&lock);
    trap_no_more();
    return got;
}

static void reads_in_the_handler(void)
{
    if (pawl_brlock_try_read(&lock))
        pawl_brlock_drop_read(&lock);
}

static bool forked; /* this is a child */

static void forks_in_the_handler(void)
{
    if (forked)
        return;
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        forked = true; /* goes on from the interrupted instruction, and ends in main's place */
        return;
    }
    must(test_wait(child) == 0);
}

static void *reads_and_ends(void *unused)
{
    pawl_brlock_take_read(&lock);
    pawl_brlock_drop_read(&lock);
    return NULL;
}

/* The operation under test has returned: nobody is in, and another thread can read and end. */
static bool nobody_is_left(void)
{
    pthread_t thread;
    const bool free = pawl_brlock_try_write(&lock);
    if (free)
        pawl_brlock_drop_write(&lock);
    return free && pthread_create(&thread, NULL, reads_and_ends, NULL) == 0 &&
           pthread_join(thread, NULL) == 0;
}

static void steps_through(void (*act)(void), unsigned limit, bool by_take)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof(action));
    action.sa_handler = at_each_instruction;
    must(sigaction(SIGTRAP, &action, &before) == 0);
    handler_act = act;
    takes = by_take;
    steps = 0;
    most = 0;
    must(reads_once()); /* registers the thread, with no act in the handler */
    most = limit;
    must(reads_once());
    must(sigaction(SIGTRAP, &before, NULL) == 0);
    if (forked)
        _exit(nobody_is_left() ? 0 : 1);
    assert_true(nobody_is_left());
    assert_true(steps > 20); /* take and drop, instruction by instruction */
}

TEST_CASE(a_handler_at_every_instruction_may_read)
{
    steps_through(reads_in_the_handler, 1000, true);
    steps_through(reads_in_the_handler, 1000, false);
}

TEST_CASE(a_handler_at_every_instruction_may_fork)
{
    steps_through(forks_in_the_handler, 100, true);
}

#endif

TEST_MAIN(must(pawl_brlock_init(&lock, PAWL_BRLOCK_LINES) == 0))
