/* SPDX-License-Identifier: MIT */
/*
 * A try of a lock that nobody holds failed:
 *
 *   1. The lock has BIASED, so a try of W claims under the latch of the lock's wait list.
 *   2. Another lock, whose list has the same latch, is waited for. A thread that has the latch
 *      loses its CPU.
 *   3. The try finds the latch held, and still held after some pauses, and fails.
 *
 * A program that tries a lock before it destroys it took that for a reader. A try now waits for the
 * latch as a drop does. A signal handler that has interrupted its thread at a latch may not: the
 * thread that would drop it may be its own. It still fails, and soon.
 *
 * The latches are taken by a second copy of the table's code, as if by another copy of the library.
 * scaling_handlers.c has handlers above the latches of one copy.
 */
#define PAWL_ONE_FILE_ /* with table.c, below */
#include "test.h"

#include <pawl/lock.h>

#include "support/table_again.h"

#if PAWL_SCALES_ && defined(__linux__)

static pawl_lock32 lock32;
static pawl_lock64 lock64;

/* ---- Another thread has the latch, until the try sleeps for it or has failed ----------------- */

static const void *address;
static uint32_t held, tried;

/* The word has more than HELD (1): a waiter. */
static bool somebody_waits_for(const struct pawl_bucket *bucket)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch) != 1;
}

static void *has_the_latch(void *unused)
{
    struct pawl_bucket *const bucket = table_lock(address);
    pawl_store_relaxed32(&held, 1);
    while (!somebody_waits_for(bucket) && pawl_load_relaxed32(&tried) == 0)
        sched_yield();
    table_unlock(bucket);
    return unused;
}

#define IN_SPITE_OF_A_HELD_LATCH(l, call)                                                          \
    do {                                                                                           \
        pthread_t holder;                                                                          \
        bool got;                                                                                  \
        address = (l);                                                                             \
        held = tried = 0;                                                                          \
        holder = test_start(has_the_latch, NULL);                                                  \
        while (pawl_load_relaxed32(&held) == 0)                                                    \
            sched_yield();                                                                         \
        got = (call);                                                                              \
        pawl_store_relaxed32(&tried, 1);                                                           \
        test_join(holder);                                                                         \
        assert_true(got);                                                                          \
    } while (0)

#define TRIES(l)                                                                                   \
    do {                                                                                           \
        (l)->word = PAWL_LOCK_BIASED;                                                              \
        IN_SPITE_OF_A_HELD_LATCH(l, pawl_try_write(l));                                            \
        pawl_drop_write(l);                                                                        \
        IN_SPITE_OF_A_HELD_LATCH(l, pawl_try_atomic(l));                                           \
        pawl_drop_atomic(l);                                                                       \
        pawl_take_seek(l);                                                                         \
        IN_SPITE_OF_A_HELD_LATCH(l, pawl_try_seek_to_write(l));                                    \
        pawl_write_to_read(l);                                                                     \
        IN_SPITE_OF_A_HELD_LATCH(l, pawl_try_read_to_write(l));                                    \
        pawl_write_to_read(l);                                                                     \
        IN_SPITE_OF_A_HELD_LATCH(l, pawl_try_read_to_atomic(l));                                   \
        pawl_drop_atomic(l);                                                                       \
        assert_int_equal((l)->word, PAWL_LOCK_BIASED);                                             \
    } while (0)

TEST_CASE(a_try_of_a_free_lock_succeeds_although_the_latch_of_its_list_is_held)
{
    TRIES(&lock32);
    TRIES(&lock64);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static uint32_t handled;

static void tries_to_write(int number)
{
    must(!pawl_try_write(&lock32));
    pawl_store_relaxed32(&handled, pawl_load_relaxed32(&handled) + 1);
}

static void begin(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = tries_to_write;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    lock32.word = PAWL_LOCK_BIASED;
    handled = 0;
}

TEST_CASE(a_handler_above_the_holder_of_the_latch_fails_and_returns)
{
    begin();
    struct pawl_bucket *bucket = table_lock(&lock32);
    must(raise(SIGUSR1) == 0);
    table_unlock(bucket);
    assert_int_equal(handled, 1);
    assert_true(pawl_try_write(&lock32)); /* nothing was left behind */
    pawl_drop_write(&lock32);
}

static void *waits_for_the_latch(void *unused)
{
    table_unlock(table_lock(&lock32));
    return unused;
}

/* Only the thread itself would drop the latch again, once it has been woken. */
TEST_CASE(a_handler_above_a_sleeper_for_the_latch_fails_and_returns)
{
    begin();
    struct pawl_bucket *bucket = table_lock(&lock32);
    const pthread_t sleeper = test_start(waits_for_the_latch, NULL);
    test_await(somebody_waits_for(bucket));
    must(pthread_kill(sleeper, SIGUSR1) == 0);
    test_await(pawl_load_relaxed32(&handled) != 0);
    table_unlock(bucket);
    test_join(sleeper);
    assert_int_equal(lock32.word, PAWL_LOCK_BIASED);
}

TEST_MAIN()

#else

TEST_SKIPPED("readers do not scale on this system")

#endif
