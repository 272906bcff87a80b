/* SPDX-License-Identifier: MIT */
/*
 * What a fork, a signal handler and a cancellation find: the child of a process in which others
 * sleep can use every lock that was free, and sees nobody waiting; a handler may try; a thread that
 * waits for a lock is not cancelled there.
 */
#include "test.h"

#include <pawl/lock.h>

#include "support/unused.h"

static pawl_lock64 busy, idle;

static void wait_for_busy(void *unused)
{
    pawl_take_write(&busy);
    pawl_drop_write(&busy);
}

static void *waiter_main(void *unused)
{
    wait_for_busy(unused);
    return NULL;
}

static void until_somebody_sleeps(void)
{
    test_await((__atomic_load_n(&busy.word, __ATOMIC_RELAXED) & PAWL_LOCK_PARKED) != 0);
}

static void *enter(void *lock)
{
    pawl_take_write((pawl_lock64 *)lock);
    pawl_drop_write((pawl_lock64 *)lock);
    return NULL;
}

static void work_as_child(void *unused)
{
    pthread_t thread;
    /* A lock that was free: also contended, so that the wait lists are used. (ThreadSanitizer
     * allows no new threads in the child of a program with several.) */
    pawl_take_write(&idle);
    if (!PAWL_TSAN_) {
        thread = test_start(enter, &idle);
        test_await((__atomic_load_n(&idle.word, __ATOMIC_RELAXED) & PAWL_LOCK_PARKED) != 0);
    }
    pawl_drop_write(&idle);
    if (!PAWL_TSAN_)
        test_join(thread);
    must(LOCK_IS_UNUSED(idle));
    /* The one that the forking thread holds is the child's to drop; its sleepers stayed behind. */
    pawl_drop_write(&busy);
    must(pawl_try_write(&busy));
    pawl_drop_write(&busy);
}

TEST_CASE(the_child_can_use_every_free_lock_and_nobody_waits_there)
{
    char said[4096];
    pawl_take_write(&busy);
    const pthread_t sleeper = test_start(waiter_main, NULL);
    until_somebody_sleeps();
    int status = test_in_child(work_as_child, NULL, said, sizeof said);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the child ended with %#x: %s", (unsigned)status, said);
    pawl_drop_write(&busy); /* the parent's sleeper is woken here, and nowhere else */
    test_join(sleeper);
    assert_true(LOCK_IS_UNUSED(busy));
}

/* ---- A child of a process in which others keep claims ---------------------------------------- */

static pawl_lock32 claimed;
static enum pawl_state held_by_us, wanted_by_others;

static void take_claimed(enum pawl_state how)
{
    if (how == PAWL_STATE_R)
        pawl_take_read(&claimed);
    else if (how == PAWL_STATE_S)
        pawl_take_seek(&claimed);
    else if (how == PAWL_STATE_W)
        pawl_take_write(&claimed);
    else
        pawl_take_atomic(&claimed);
}

static void drop_claimed(enum pawl_state how)
{
    if (how == PAWL_STATE_R)
        pawl_drop_read(&claimed);
    else if (how == PAWL_STATE_S)
        pawl_drop_seek(&claimed);
    else if (how == PAWL_STATE_W)
        pawl_drop_write(&claimed);
    else
        pawl_drop_atomic(&claimed);
}

static void *take_and_drop_claimed(void *unused)
{
    take_claimed(wanted_by_others);
    drop_claimed(wanted_by_others);
    return unused;
}

static void drop_alone_in_the_child(void *unused)
{
    drop_claimed(held_by_us);
    must(LOCK_IS_UNUSED(claimed));
    must(pawl_try_write(&claimed));
    pawl_drop_write(&claimed);
}

static bool lets_in_beside(enum pawl_state held, enum pawl_state wanted)
{
    return (held == PAWL_STATE_R && (wanted == PAWL_STATE_R || wanted == PAWL_STATE_S)) ||
           (held == PAWL_STATE_S && wanted == PAWL_STATE_R) ||
           (held == PAWL_STATE_A && wanted == PAWL_STATE_A);
}

/* The parent's waiters keep claims in the word: a writer W+S+R beside readers, one whose turn has
 * come W+S or S. In the child nobody withdrew them: its lock stayed held for ever, also when the
 * forking thread alone held it. The forks come while the two waiters claim, keep, and sleep. */
TEST_CASE(the_child_is_rid_of_the_claims_of_the_parents_waiters)
{
    char said[4096];
    pthread_t waiters[2];
    int status;
    if (TEST_TSAN_OF_CLANG)
        skip();
    for (unsigned held = PAWL_STATE_R; held <= PAWL_STATE_A; held++) {
        for (unsigned wanted = PAWL_STATE_R; wanted <= PAWL_STATE_A; wanted++) {
            held_by_us = (enum pawl_state)held;
            wanted_by_others = (enum pawl_state)wanted;
            if (lets_in_beside(held_by_us, wanted_by_others))
                continue;
            for (unsigned round = 0; round < 3; round++) {
                take_claimed(held_by_us);
                test_start_all(waiters, 2, take_and_drop_claimed);
                if (round > 0)
                    while ((__atomic_load_n(&claimed.word, __ATOMIC_RELAXED) & PAWL_LOCK_PARKED) ==
                           0)
                        sched_yield();
                if (round > 1)
                    usleep(2000); /* a turn comes after 0.6 ms, if somebody looks */
                status = test_in_child(drop_alone_in_the_child, NULL, said, sizeof said);
                if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                    fail_msg("%c held, %c wanted: the child ended with %#x: %s", "URSWA"[held],
                             "URSWA"[wanted], (unsigned)status, said);
                drop_claimed(held_by_us);
                test_join_all(waiters, 2);
                assert_true(LOCK_IS_UNUSED(claimed));
            }
        }
    }
}

static void cancelled_later(void *unused)
{
    must(LOCK_IS_UNUSED(busy));
}

static void *cancelled_main(void *unused)
{
    pthread_cleanup_push(cancelled_later, NULL);
    wait_for_busy(unused);
    pthread_testcancel(); /* the first cancellation point */
    must(!"the thread was not cancelled");
    pthread_cleanup_pop(0);
    return NULL;
}

TEST_CASE(a_waiter_is_no_cancellation_point)
{
    void *how;
    pawl_take_write(&busy);
    const pthread_t thread = test_start(cancelled_main, NULL);
    until_somebody_sleeps();
    must(pthread_cancel(thread) == 0);
    pawl_drop_write(&busy);
    must(pthread_join(thread, &how) == 0);
    assert_true(how == PTHREAD_CANCELED);
    assert_true(LOCK_IS_UNUSED(busy));
}

static int handled, granted; /* by any thread's handler */

static void try_in_handler(int number)
{
    const int saved = errno; /* ThreadSanitizer's own calls may change it */
    if (pawl_try_read(&busy)) {
        pawl_drop_read(&busy);
        __atomic_fetch_add(&granted, 1, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    errno = saved;
}

TEST_CASE(a_handler_may_try_and_interrupts_a_sleeper_without_harm)
{
    struct sigaction action, before;
    pthread_t sleeper;
    int i;
#if defined(__SANITIZE_THREAD__)
    /* It calls handlers where the thread calls the C library, which a sleeper need not do. */
    skip();
#endif
    memset(&action, 0, sizeof action);
    action.sa_handler = try_in_handler;
    must(sigaction(SIGUSR1, &action, &before) == 0);
    pawl_take_write(&busy);
    sleeper = test_start(waiter_main, NULL);
    until_somebody_sleeps();
    for (i = 0; i < 20; i++) {
        must(pthread_kill(sleeper, SIGUSR1) == 0);
        test_await(__atomic_load_n(&handled, __ATOMIC_RELAXED) > i);
    }
    assert_int_equal(__atomic_load_n(&granted, __ATOMIC_RELAXED), 0);
    pawl_drop_write(&busy);
    test_join(sleeper);
    raise(SIGUSR1);
    assert_int_equal(granted, 1);
    must(sigaction(SIGUSR1, &before, NULL) == 0);
    assert_true(LOCK_IS_UNUSED(busy));
}

TEST_MAIN()
