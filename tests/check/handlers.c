/* SPDX-License-Identifier: MIT */
/*
 * Locks that sleep, in signal handlers: what the checking variant reports. In each test the handler
 * interrupts a thread that waits for `taken`, which another thread holds. That thread sends the
 * signal once the word shows that the other one is about to sleep.
 */
#include "support/misuse.h"

#include <signal.h>

static pawl_lock32 taken, other;
static pawl_spin32 spin;
static pthread_t interrupted;
static void (*handle)(void);
static uint32_t is_taken, is_handled;

static void handler(int number)
{
    handle();
    pawl_store_relaxed32(&is_handled, 1);
}

static void until_parked(pawl_lock32 *lock)
{
    test_await((pawl_load_relaxed32(&lock->word) & PAWL_LOCK_PARKED) != 0);
}

static void *holder_main(void *unused)
{
    pawl_take_write(&taken);
    pawl_store_relaxed32(&is_taken, 1);
    until_parked(&taken);
    must(pthread_kill(interrupted, SIGUSR1) == 0);
    test_await(pawl_load_relaxed32(&is_handled) != 0);
    pawl_drop_write(&taken);
    return unused;
}

/* The calling thread waits for `taken`, and the handler interrupts that. */
static void wait_and_handle(void (*handles)(void))
{
    struct sigaction action;
    misuse_without_lines();
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    handle = handles;
    interrupted = pthread_self();
    const pthread_t holder = test_start(holder_main, NULL);
    test_await(pawl_load_relaxed32(&is_taken) != 0);
    pawl_take_read(&taken);
    pawl_drop_read(&taken);
    test_join(holder);
}

static void *other_waiter_main(void *unused)
{
    pawl_take_write(&other);
    pawl_drop_write(&other);
    return unused;
}

/* ---- What handlers do ------------------------------------------------------------------------ */

static void takes(void)
{
    pawl_take_read(&other);
}

static void claims(void)
{
    (void)!pawl_claim_write(&other);
}

static void drops(void)
{
    pawl_drop_read(&other);
}

static void downgrades(void)
{
    pawl_seek_to_read(&other);
}

static void upgrades(void)
{
    pawl_seek_to_write(&other);
}

static void tries_and_drops(void)
{
    must(pawl_try_write(&other));
    pawl_drop_write(&other);
    must(!pawl_try_read(&taken));
}

static void spins(void)
{
    pawl_take_write(&spin);
    pawl_drop_write(&spin);
}

#define WAITS "pawl: waits in a signal handler: pawl_lock32 at "
#define DROPS "pawl: dropped in a signal handler beside waiters: pawl_lock32 at "

REPORTED_CASE(take_in_a_handler_is_reported, WAITS, "by pawl_lock32_take_read")
{
    wait_and_handle(takes);
}

REPORTED_CASE(claim_in_a_handler_is_reported, WAITS, "by pawl_lock32_claim_write")
{
    wait_and_handle(claims);
}

REPORTED_CASE(upgrade_in_a_handler_is_reported, WAITS, "by pawl_lock32_seek_to_write")
{
    pawl_take_seek(&other);
    wait_and_handle(upgrades);
}

static void another_thread_waits(void)
{
    (void)test_start(other_waiter_main, NULL);
    until_parked(&other);
}

REPORTED_CASE(drop_beside_a_waiter_is_reported, DROPS, "by pawl_lock32_drop_read")
{
    pawl_take_read(&other);
    another_thread_waits();
    wait_and_handle(drops);
}

REPORTED_CASE(downgrade_beside_a_waiter_is_reported, DROPS, "by pawl_lock32_seek_to_read")
{
    pawl_take_seek(&other);
    another_thread_waits();
    wait_and_handle(downgrades);
}

SILENT_CASE(a_try_and_its_drop_beside_no_waiter_are_silent)
{
    wait_and_handle(tries_and_drops);
}

SILENT_CASE(a_spinlock_is_silent)
{
    wait_and_handle(spins);
}

TEST_MAIN()
