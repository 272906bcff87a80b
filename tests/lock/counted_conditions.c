/* SPDX-License-Identifier: MIT */
/*
 * A thread waits for a condition under a read that any thread may drop:
 *
 *   1. The lock has BIASED. take_read_counted adds R to the word.
 *   2. The wait drops R. The thread has no entry of the lock, so R leaves the word.
 *   3. The wait ends and takes R again. A plain take fills an entry.
 *   4. drop_read_counted subtracts R from a word that has none. From then on the word shows more
 *      readers than there are threads, and no writer enters any more.
 *
 * Nothing tells the wait which kind of read it is. So it takes R again in the word, where the drop
 * of either kind finds it. Here reads of each kind and place wait, with and without a signal.
 */
#include "test.h"

#include <pawl/cond.h>
#include <pawl/lock.h>

#include "lock/entries.h"

#if PAWL_SCALES_

static pawl_lock32 lock32;
static pawl_lock64 lock64;
static pawl_cond changed;

#define FOR_EACH_WIDTH(test) test(32) test(64)

/* ---- Without a signal ------------------------------------------------------------------------ */

#define BEGIN(N)                                                                                   \
    memset(&lock##N, 0, sizeof lock##N);                                                           \
    pawl_take_read(&lock##N);                                                                      \
    pawl_drop_read(&lock##N);                                                                      \
    assert_int_equal(lock##N.word, PAWL_LOCK_BIASED);

#define WAIT(N) assert_false(pawl_cond_wait_read_until(&changed, &lock##N, pawl_now() + 1000));

#define END(N)                                                                                     \
    assert_int_equal(lock##N.word, PAWL_LOCK_BIASED);                                              \
    assert_true(pawl_try_write(&lock##N));                                                         \
    pawl_drop_write(&lock##N);

#define COUNTED(N)                                                                                 \
    BEGIN(N)                                                                                       \
    pawl_take_read_counted(&lock##N);                                                              \
    WAIT(N)                                                                                        \
    assert_int_equal(lock##N.word, PAWL_LOCK_BIASED + PAWL_SPIN##N##_R);                           \
    pawl_drop_read_counted(&lock##N);                                                              \
    END(N)

TEST_CASE(a_counted_read_waits_and_is_dropped_as_counted){FOR_EACH_WIDTH(COUNTED)}

#define IN_AN_ENTRY(N)                                                                             \
    BEGIN(N)                                                                                       \
    pawl_take_read(&lock##N);                                                                      \
    assert_int_equal(lock##N.word, PAWL_LOCK_BIASED);                                              \
    WAIT(N)                                                                                        \
    assert_false(pawl_try_write(&lock##N));                                                        \
    pawl_drop_read(&lock##N);                                                                      \
    END(N)

TEST_CASE(a_read_in_an_entry_waits_and_is_dropped){FOR_EACH_WIDTH(IN_AN_ENTRY)}

#define IN_THE_WORD(N)                                                                             \
    BEGIN(N)                                                                                       \
    pawl_take_write(&lock##N);                                                                     \
    pawl_write_to_read(&lock##N);                                                                  \
    WAIT(N)                                                                                        \
    assert_int_equal(lock##N.word, PAWL_LOCK_BIASED + PAWL_SPIN##N##_R);                           \
    pawl_drop_read(&lock##N);                                                                      \
    END(N)

TEST_CASE(a_plain_read_in_the_word_waits_and_is_dropped){FOR_EACH_WIDTH(IN_THE_WORD)}

/* The wait may give up the other one of the two, and both drops find theirs. */
#define BESIDE_A_PLAIN_ONE(N)                                                                      \
    BEGIN(N)                                                                                       \
    pawl_take_read(&lock##N);                                                                      \
    pawl_take_read_counted(&lock##N);                                                              \
    WAIT(N)                                                                                        \
    pawl_drop_read_counted(&lock##N);                                                              \
    assert_false(pawl_try_write(&lock##N));                                                        \
    pawl_drop_read(&lock##N);                                                                      \
    END(N)

TEST_CASE(a_counted_read_waits_beside_a_plain_one_of_its_thread)
{
    FOR_EACH_WIDTH(BESIDE_A_PLAIN_ONE)
}

/* ---- With a signal, in a thread that has never read before ----------------------------------- */

static uint32_t waits, goes_on;

static void *waits_under_a_counted_read(void *unused)
{
    pawl_take_read_counted(&lock64);
    pawl_store_relaxed32(&waits, 1);
    while (pawl_load_relaxed32(&goes_on) == 0)
        pawl_cond_wait_read(&changed, &lock64);
    return unused; /* another thread drops the read */
}

TEST_CASE(a_counted_read_waits_for_a_signal_and_is_dropped_by_another_thread)
{
    BEGIN(64)
    const pthread_t thread = test_start(waits_under_a_counted_read, NULL);
    test_await(pawl_load_relaxed32(&waits) != 0);
    pawl_take_write(&lock64); /* not before the thread has let its read go */
    pawl_store_relaxed32(&goes_on, 1);
    pawl_drop_write(&lock64);
    (void)pawl_cond_signal(&changed);
    test_join(thread);
    assert_int_equal(lock64.word, PAWL_LOCK_BIASED + PAWL_SPIN64_R);
    pawl_drop_read_counted(&lock64);
    END(64)
}

TEST_MAIN(ipawl_entries_mode_(ENTRIES_ON))

#else

TEST_SKIPPED("readers do not scale on this system")

#endif
