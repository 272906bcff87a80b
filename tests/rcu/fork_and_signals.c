/* SPDX-License-Identifier: MIT */
/*
 * RCU where threads come to their ends and where they are interrupted: signal handlers, fork,
 * destructors of threads, exit handlers, sections left open, waits that could never end.
 */
#include "test.h"

#include <sys/syscall.h>

#include <pawl/rcu.h>

#include "os/os.h"
#include "rcu/rcu.h"

#define ASSERT_CHILD_IS_WELL(body, argument)                                                       \
    do {                                                                                           \
        static char said_[4096];                                                                   \
        const int status_ = test_in_child(body, argument, said_, sizeof said_);                    \
        if (status_ != 0)                                                                          \
            fail_msg("the child ended with %#x: %s", (unsigned)status_, said_);                    \
    } while (0)

/* ---- Handlers -------------------------------------------------------------------------------- */

static struct object {
    uint32_t alive;
} objects[2], *current_object;
static uint32_t handled, stop;
static bool may_poll;

static void read_in_handler(int number)
{
    const int saved = errno;
    pawl_rcu_read_lock();
    struct object *o = pawl_rcu_dereference(current_object);
    must(o == NULL || pawl_load_relaxed32(&o->alive) == 1);
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    must(o == NULL || pawl_load_relaxed32(&o->alive) == 1);
    pawl_rcu_read_unlock();
    if (may_poll)
        (void)pawl_rcu_poll(pawl_rcu_start_poll());
    (void)pawl_fetch_add_relaxed32(&handled, 1);
    errno = saved;
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    must(sigaction(number, &action, NULL) == 0);
}

static void *read_all_the_time(void *unused)
{
    while (pawl_load_relaxed32(&stop) == 0) {
        pawl_rcu_read_lock();
        struct object *o = pawl_rcu_dereference(current_object);
        must(o == NULL || pawl_load_relaxed32(&o->alive) == 1);
        pawl_rcu_read_unlock();
    }
    must(!pawl_rcu_read_held());
    return NULL;
}

static void *sleep_all_the_time(void *unused)
{
    while (pawl_load_relaxed32(&stop) == 0)
        usleep(100);
    return NULL;
}

/* The updater's objects change place; each is dead from the end of its grace period until it is
 * published again. */
static void replace_object(void)
{
    struct object *made = &objects[current_object == &objects[0]];
    pawl_store_relaxed32(&made->alive, 1);
    struct object *old = pawl_rcu_xchg_pointer(&current_object, made);
    pawl_rcu_synchronize();
    if (old != NULL)
        pawl_store_relaxed32(&old->alive, 0);
}

static void interrupt_while_updating(void *(*body)(void *))
{
    handle(SIGUSR1, read_in_handler);
    pawl_store_relaxed32(&stop, 0);
    pawl_store_relaxed32(&handled, 0);
    const pthread_t thread = test_start(body, NULL);
    for (unsigned i = 0; i < (unsigned)TEST_SCALE(3000) || pawl_load_relaxed32(&handled) < 100;
         i++) {
        must(pthread_kill(thread, SIGUSR1) == 0);
        if (i % 16 == 0)
            raise(SIGUSR1);
        replace_object();
    }
    pawl_store_relaxed32(&stop, 1);
    test_join(thread);
    pawl_rcu_synchronize();
}

TEST_CASE(a_handler_may_read_wherever_it_interrupts_a_reader)
{
    interrupt_while_updating(read_all_the_time);
}

TEST_CASE(the_first_read_of_a_thread_may_be_in_a_handler)
{
    interrupt_while_updating(sleep_all_the_time);
}

static void *synchronize_all_the_time(void *unused)
{
    while (pawl_load_relaxed32(&stop) == 0)
        pawl_rcu_synchronize();
    return NULL;
}

TEST_CASE(a_handler_may_read_and_poll_wherever_it_interrupts_a_synchronize)
{
    may_poll = true;
    interrupt_while_updating(synchronize_all_the_time);
    may_poll = false;
}

static void synchronize_in_handler(int number)
{
    pawl_rcu_synchronize();
}

static void interrupt_a_reader(void *unused)
{
    pawl_os_remember_errors(); /* what the test redirects */
    handle(SIGUSR1, synchronize_in_handler);
    raise(SIGUSR1); /* here it is well */
    pawl_rcu_read_lock();
    raise(SIGUSR1);
}

TEST_CASE(synchronize_in_a_handler_that_interrupted_a_reader_ends_the_program)
{
    assert_aborts_saying(interrupt_a_reader, NULL, "in a section of its domain");
}

static void *stay_in(void *barrier)
{
    pawl_rcu_read_lock();
    pthread_barrier_wait((pthread_barrier_t *)barrier);
    for (;;)
        pause();
    return NULL;
}

static pthread_t main_thread;

static void *interrupt_main(void *unused)
{
    struct pawl_rcu_state *state = &rcu_here()->states[PAWL_RCU_DEFAULT_];
    test_await(PAWL_ADDRESS_(pawl_load_relaxed)(&state->driver) != 0);
    must(pthread_kill(main_thread, SIGUSR1) == 0);
    return NULL;
}

static void interrupt_a_synchronize(void *unused)
{
    static pthread_barrier_t barrier;
    pawl_os_remember_errors();
    main_thread = pthread_self();
    handle(SIGUSR1, synchronize_in_handler);
    must(pthread_barrier_init(&barrier, NULL, 2) == 0);
    (void)test_start(stay_in, &barrier);
    pthread_barrier_wait(&barrier);
    (void)test_start(interrupt_main, NULL);
    pawl_rcu_synchronize();
}

TEST_CASE(synchronize_in_a_handler_that_interrupted_a_synchronize_ends_the_program)
{
    if (PAWL_TSAN_)
        skip(); /* keeps a signal back until its thread calls something that it knows to sleep */
    assert_aborts_saying(interrupt_a_synchronize, NULL, "interrupted the same");
}

static void synchronize_in_a_section(void *unused)
{
    pawl_os_remember_errors();
    pawl_rcu_read_lock();
    pawl_rcu_synchronize();
}

TEST_CASE(synchronize_in_a_section_ends_the_program)
{
    assert_aborts_saying(synchronize_in_a_section, NULL, "pawl_rcu_synchronize in a section");
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static void child_of_a_reader(void *unused)
{
    must(pawl_rcu_read_held()); /* the forking thread's section is the child's */
    uint64_t cookie = pawl_rcu_start_poll();
    must(!pawl_rcu_poll(cookie));
    pawl_rcu_read_unlock();
    must(pawl_rcu_poll(cookie)); /* the other reader stayed in the parent */
    pawl_rcu_synchronize();
}

static void *read_until_told(void *barrier)
{
    pawl_rcu_read_lock();
    pthread_barrier_wait((pthread_barrier_t *)barrier);
    pthread_barrier_wait((pthread_barrier_t *)barrier);
    pawl_rcu_read_unlock();
    return NULL;
}

TEST_CASE(a_child_forked_in_a_section_has_that_section_and_no_other)
{
    pthread_barrier_t barrier;
    must(pthread_barrier_init(&barrier, NULL, 2) == 0);
    const pthread_t thread = test_start(read_until_told, &barrier);
    pthread_barrier_wait(&barrier);
    pawl_rcu_read_lock();
    ASSERT_CHILD_IS_WELL(child_of_a_reader, NULL);
    assert_true(pawl_rcu_read_held());
    assert_false(pawl_rcu_poll(pawl_rcu_start_poll()));
    pawl_rcu_read_unlock();
    pthread_barrier_wait(&barrier);
    test_join(thread);
    pthread_barrier_destroy(&barrier);
    pawl_rcu_synchronize();
}

static void child_of_a_driver(void *unused)
{
    for (unsigned i = 0; i < 10; i++)
        pawl_rcu_synchronize();
}

static void *synchronize_once(void *unused)
{
    pawl_rcu_synchronize();
    return NULL;
}

/* The one that drives and the one that waits for it are both not in the child. */
TEST_CASE(a_child_forked_during_a_grace_period_drives_its_own)
{
    struct pawl_rcu_state *domain = &rcu_here()->states[PAWL_RCU_DEFAULT_];
    pthread_barrier_t barrier;
    pthread_t reader, waiters[2];
    must(pthread_barrier_init(&barrier, NULL, 2) == 0);
    reader = test_start(read_until_told, &barrier);
    pthread_barrier_wait(&barrier);
    test_start_all(waiters, 2, synchronize_once);
    test_await(pawl_load_relaxed32(&domain->sleepers) != 0);
    ASSERT_CHILD_IS_WELL(child_of_a_driver, NULL);
    pthread_barrier_wait(&barrier);
    test_join(reader);
    test_join_all(waiters, 2);
    pthread_barrier_destroy(&barrier);
}

TEST_CASE(a_child_forked_at_any_moment_of_others_grace_periods_can_synchronize)
{
    pthread_t threads[2];
    pawl_store_relaxed32(&stop, 0);
    current_object = NULL;
    threads[0] = test_start(synchronize_all_the_time, NULL);
    threads[1] = test_start(read_all_the_time, NULL);
    for (unsigned i = 0; i < (unsigned)TEST_SCALE(100); i++)
        ASSERT_CHILD_IS_WELL(child_of_a_driver, NULL);
    pawl_store_relaxed32(&stop, 1);
    test_join_all(threads, 2);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void *end_in_a_section(void *nested)
{
    pawl_rcu_read_lock();
    if (nested != NULL)
        pawl_rcu_read_lock();
    return NULL;
}

TEST_CASE(a_section_left_open_ends_with_its_thread)
{
    pthread_t thread;
    for (unsigned i = 0; i < 4; i++) {
        test_elsewhere(end_in_a_section, i % 2 ? &thread : NULL);
        pawl_rcu_synchronize();
    }
}

#if defined(__linux__) && !TEST_SANITIZED && !PAWL_TSAN_
static void *vanish_in_a_section(void *unused)
{
    pawl_rcu_read_lock();
    syscall(SYS_exit, 0); /* tells nobody */
    return NULL;
}

TEST_CASE(a_section_of_a_thread_that_vanished_holds_nobody_up)
{
    test_elsewhere(vanish_in_a_section, NULL);
    pawl_rcu_synchronize();
}
#else
TEST_CASE(a_section_of_a_thread_that_vanished_holds_nobody_up)
{
    skip();
}
#endif

static pthread_key_t early_key, late_key;
static uint32_t destructors;

static void read_in_destructor(void *unused)
{
    pawl_rcu_read_lock();
    must(pawl_rcu_read_held());
    pawl_rcu_read_unlock();
    pawl_rcu_synchronize();
    (void)pawl_fetch_add_relaxed32(&destructors, 1);
}

static void leave_in_destructor(void *unused)
{
    must(pawl_rcu_read_held());
    pawl_rcu_read_unlock();
    (void)pawl_fetch_add_relaxed32(&destructors, 1);
}

static void *with_destructor(void *reads_first)
{
    if (reads_first != NULL)
        read_in_destructor(NULL);
    must(pthread_setspecific(early_key, &destructors) == 0);
    return NULL;
}

static void *leaves_in_destructor(void *unused)
{
    pawl_rcu_read_lock();
    must(pthread_setspecific(late_key, &destructors) == 0);
    return NULL;
}

TEST_CASE(destructors_of_threads_may_read_and_synchronize)
{
    pthread_t thread;
    must(pthread_key_create(&early_key, read_in_destructor) == 0);
    destructors = 0;
    for (unsigned i = 0; i < 4; i++) {
        test_elsewhere(with_destructor, i % 2 ? &thread : NULL);
    }
    assert_int_equal(destructors, 6);
    must(pthread_key_delete(early_key) == 0);
    pawl_rcu_synchronize();
}

TEST_CASE(a_section_that_a_destructor_leaves_lasts_until_then)
{
    must(pthread_key_create(&late_key, leave_in_destructor) == 0);
    destructors = 0;
    test_elsewhere(leaves_in_destructor, NULL);
    assert_int_equal(destructors, 1);
    must(pthread_key_delete(late_key) == 0);
    pawl_rcu_synchronize();
}

static void at_exit(void)
{
    static const char text[] = "read at exit";
    read_in_destructor(NULL);
    must(write(STDERR_FILENO, text, sizeof text - 1) > 0);
}

static void exit_with_handler(void *unused)
{
    must(atexit(at_exit) == 0);
    exit(3);
}

TEST_CASE(exit_handlers_may_read_and_synchronize)
{
    char said[4096];
    int status = test_in_child(exit_with_handler, NULL, said, sizeof said);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_non_null(strstr(said, "read at exit"));
}

TEST_MAIN()
