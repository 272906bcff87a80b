/* SPDX-License-Identifier: MIT */
/*
 * A fork beside a thread that waits for a lock, at each of its instructions: while it claims, joins
 * the list, sleeps, takes its claim back and leaves. In the child the lock has what the forking
 * thread holds, and no more.
 *
 *   1  A thread holds the latch of a wait list, and is about to claim a lock, or has just done so.
 *   2  Another thread forks. It cannot wait for the latch: handlers of fork may wait for others.
 *   3  The child finds the latch held by nobody, and a list in which a waiter may be half linked.
 *      It cannot see from the waiter's entry alone whether the claim is in the word.
 */
#include "test.h"

#if defined(__linux__) && defined(__x86_64__) && !TEST_SANITIZED && !defined(__SANITIZE_THREAD__)

#include <pawl/lock.h>

#include "lock/table.h"
#include "support/fork_beside.h"

static pawl_lock32 lock;
static pawl_lock64 wide;

static void no_list_has_anybody(void)
{
    must(table_here()->queues == 0);
    for (uint32_t i = 0; i < 1u << PAWL_TABLE_BITS; i++) {
        const struct pawl_bucket *bucket = &table_here()->first[i];
        must(bucket->queues == NULL && bucket->urgent == 0 && bucket->awake_for == 0);
    }
}

#define UNUSED_BY_OTHERS(l)                                                                        \
    do {                                                                                           \
        must(((l)->word & ~(uint64_t)PAWL_LOCK_BIASED) == 0);                                      \
        must(pawl_try_write(l));                                                                   \
        pawl_drop_write(l);                                                                        \
        pawl_take_read(l);                                                                         \
        pawl_drop_read(l);                                                                         \
        no_list_has_anybody();                                                                     \
    } while (0)

/* So long that the wait is over soon after the last fork. */
static uint64_t soon(void)
{
    return pawl_now() + UINT64_C(1500000000);
}

/* The mode that is held keeps out the one that is wanted. */
#define BESIDE(held, wanted)                                                                       \
    static void wants_##wanted##_beside_##held(void)                                               \
    {                                                                                              \
        must(!pawl_take_##wanted##_until(&lock, soon()));                                          \
    }                                                                                              \
    static void check_##held##_##wanted(void)                                                      \
    {                                                                                              \
        pawl_drop_##held(&lock);                                                                   \
        UNUSED_BY_OTHERS(&lock);                                                                   \
    }                                                                                              \
    TEST_CASE(a_thread_wants_##wanted##_beside_##held)                                             \
    {                                                                                              \
        pawl_take_##held(&lock);                                                                   \
        fork_beside_each_instruction_of(wants_##wanted##_beside_##held, check_##held##_##wanted);  \
        pawl_drop_##held(&lock);                                                                   \
        UNUSED_BY_OTHERS(&lock);                                                                   \
    }
BESIDE(read, write)
BESIDE(read, atomic)
BESIDE(seek, seek)
BESIDE(seek, atomic)
BESIDE(write, read)
BESIDE(write, write)
BESIDE(atomic, seek)

/* ---- The lock with the wider word ------------------------------------------------------------ */

static void wants_wide(void)
{
    must(!pawl_take_write_until(&wide, soon()));
}

static void check_wide(void)
{
    pawl_drop_read(&wide);
    UNUSED_BY_OTHERS(&wide);
}

TEST_CASE(a_thread_wants_the_wide_lock)
{
    pawl_take_read(&wide);
    fork_beside_each_instruction_of(wants_wide, check_wide);
    check_wide();
}

/* ---- A thread that makes the claim of another one, which sleeps ------------------------------ */

static uint32_t holds;

static void *writes_when_it_holds(void *nothing)
{
    test_await(pawl_load_relaxed32(&holds) != 0);
    pawl_take_write(&lock);
    pawl_drop_write(&lock);
    return nothing;
}

static void hands_off(void)
{
    pawl_take_write(&lock);
    pawl_store_relaxed32(&holds, 1);
    test_await((pawl_load_relaxed32(&lock.word) & PAWL_LOCK_PARKED) != 0);
    pawl_hand_off(&lock);
    pawl_drop_write(&lock);
}

/* One of the two threads may have the lock. */
static void check_for_one_writer(void)
{
    const uint32_t w = lock.word & ~PAWL_LOCK_BIASED;
    must(w == 0 || w == PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R);
    no_list_has_anybody();
}

TEST_CASE(a_thread_claims_for_a_sleeper)
{
    holds = 0;
    const pthread_t writer = test_start(writes_when_it_holds, NULL);
    fork_beside_each_instruction_of(hands_off, check_for_one_writer);
    test_join(writer);
    UNUSED_BY_OTHERS(&lock);
}

/* ---- Readers that scale ---------------------------------------------------------------------- */

#if PAWL_SCALES_

static void wants_write_beside_an_entry(void)
{
    must(!pawl_take_write_until(&lock, soon()));
}

static void tries_beside_an_entry(void)
{
    must(!pawl_try_write(&lock));
    must(!pawl_try_atomic(&lock));
}

static void check_beside_an_entry(void)
{
    pawl_drop_read(&lock);
    UNUSED_BY_OTHERS(&lock);
}

TEST_CASE(a_thread_claims_beside_an_entry)
{
    static void (*const operations[])(void) = {wants_write_beside_an_entry, tries_beside_an_entry};
    for (unsigned i = 0; i < 2; i++) {
        lock.word = PAWL_LOCK_BIASED;
        pawl_take_read(&lock);
        must(lock.word == PAWL_LOCK_BIASED);
        fork_beside_each_instruction_of(operations[i], check_beside_an_entry);
        check_beside_an_entry();
    }
}

#endif

TEST_MAIN(alarm(TEST_HANGS))

#else

TEST_SKIPPED("needs the trap flag of x86-64, and no sanitizer")

#endif
