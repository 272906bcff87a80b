/* SPDX-License-Identifier: MIT */
/*
 * Locks share the words on which their writers sleep.
 *
 *   writer of A     sleeps, because a reader stays in
 *   reader of B     takes and drops; A and B share a drain; the drain says that a writer sleeps
 *
 * and each drop of B woke the writer of A: an atomic addition and a system call, as long as that
 * writer slept. In the child of a fork no writer slept, and the drain said so for ever. Now a drain
 * names the lock whose writer sleeps, and the child forgets the names.
 */
#include "test.h"

#include <pawl/brlock.h>

#include "base/base.h"

enum { PAIRS = 1000 };

static pawl_brlock locks[3];
static pawl_brlock *const a = &locks[0], *const b = &locks[1], *const c = &locks[2];

static void three_locks_on_a_drain(void)
{
    for (unsigned i = 0; i < 3; i++) {
        must(pawl_brlock_init(&locks[i], 0) == EINVAL); /* without lines it works all the same */
        locks[i].drain = locks[0].drain;
    }
}

static ipawl_address_ named(void)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)(&a->drain->whose);
}

static uint32_t wakes(void)
{
    return pawl_load_relaxed32(&a->drain->turn);
}

static void until_it_names(ipawl_address_ whose)
{
    test_await(named() == whose);
}

static ipawl_address_ name_of(const pawl_brlock *l)
{
    return (ipawl_address_)(uintptr_t)l;
}

static void *write_once(void *lock)
{
    pawl_brlock_take_write((pawl_brlock *)lock);
    pawl_brlock_drop_write((pawl_brlock *)lock);
    return NULL;
}

static pthread_t start_writer(pawl_brlock *lock)
{
    const pthread_t thread = test_start(write_once, lock);
    return thread;
}

static void read_pairs(pawl_brlock *lock)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        pawl_brlock_take_read(lock);
        pawl_brlock_drop_read(lock);
    }
}

TEST_CASE(readers_of_another_lock_wake_no_writer)
{
    pawl_brlock_take_read(a);
    pthread_t writer = start_writer(a);
    until_it_names(name_of(a));
    uint32_t before = wakes();
    read_pairs(b);
    assert_int_equal(wakes(), before);
    pawl_brlock_drop_read(a);
    assert_int_not_equal(wakes(), before);
    test_join(writer);
    assert_true(named() == 0);
}

/* While two writers sleep the drain cannot name both. */
TEST_CASE(when_one_of_two_writers_has_left_only_the_other_is_woken)
{
    pawl_brlock_take_read(a);
    pawl_brlock_take_read(c);
    pthread_t first = start_writer(a);
    until_it_names(name_of(a));
    pthread_t second = start_writer(c);
    until_it_names(DRAIN_SEVERAL);
    pawl_brlock_drop_read(c);
    test_join(second);
    until_it_names(name_of(a));
    uint32_t before = wakes();
    read_pairs(b);
    read_pairs(c);
    assert_int_equal(wakes(), before);
    pawl_brlock_drop_read(a);
    test_join(first);
    assert_true(named() == 0);
}

static void wake_nobody_in_the_child(void *unused)
{
    const uint32_t before = wakes();
    must(named() == 0);
    read_pairs(b);
    read_pairs(c);
    must(wakes() == before);
    write_once(b);
}

TEST_CASE(readers_in_a_child_of_fork_wake_no_writer_of_the_parent)
{
    static char said[4096];
    pawl_brlock_take_read(a);
    pthread_t writer = start_writer(a);
    until_it_names(name_of(a));
    assert_int_equal(test_in_child(wake_nobody_in_the_child, NULL, said, sizeof said), 0);
    assert_true(named() == name_of(a));
    pawl_brlock_drop_read(a);
    test_join(writer);
}

/* A writer forks in a signal handler while it sleeps. In the child the handler drops what the
 * reader holds; so the writer is granted there when the handler has returned. */
static volatile sig_atomic_t handled;
static volatile pid_t child;

static void fork_in_handler(int number)
{
    child = fork();
    if (child == 0) {
        alarm(TEST_HANGS);
        pawl_brlock_drop_read_any(a);
    }
    handled = 1;
}

static void *write_in_both(void *unused)
{
    pawl_brlock_take_write(a);
    if (child == 0)
        _exit(42);
    pawl_brlock_drop_write(a);
    return NULL;
}

TEST_CASE(a_writer_that_forks_in_a_handler_is_granted_in_the_child_too)
{
    struct sigaction action;
    if (PAWL_TSAN_) {
        print_message("skipped: ThreadSanitizer runs no handler while the writer sleeps\n");
        skip();
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = fork_in_handler;
    action.sa_flags = SA_RESTART;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    pawl_brlock_take_read_any(a);
    pthread_t writer = test_start(write_in_both, NULL);
    until_it_names(name_of(a));
    must(pthread_kill(writer, SIGUSR1) == 0);
    test_await(handled != 0);
    const int status = test_wait(child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    pawl_brlock_drop_read_any(a);
    test_join(writer);
    assert_true(named() == 0);
}

TEST_MAIN(three_locks_on_a_drain())
