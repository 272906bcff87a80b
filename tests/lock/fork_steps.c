/* SPDX-License-Identifier: MIT */
/*
 * A signal handler forks at each instruction of a drop and of a wake, beside threads that sleep.
 * The child goes on where the handler interrupted it.
 *
 *   1  A thread drops a lock, and works on the list of the sleepers. It holds the list's latch.
 *   2  A handler interrupts it and forks.
 *   3  The child had emptied the list and freed the latch. The thread went on in a list that was
 *      another one, and dropped a latch that was free: it took the oldest of nobody who waited for
 *      it, by a null pointer.
 *
 *   1  A thread sleeps for the latch.
 *   2  A handler interrupts it and forks.
 *   3  In the child no thread was left to wake it.
 */
#define PAWL_ONE_FILE_ /* with table.c, below */
#include "test.h"

#if defined(__linux__) && defined(__x86_64__) && !TEST_SANITIZED && !defined(__SANITIZE_THREAD__)

#include <pawl/bitlock.h>
#include <pawl/cond.h>
#include <pawl/lock.h>
#include <pawl/wait.h>

#include "support/asleep.h"

#include "support/forking.h"

enum { SLEEPERS = 3 };

static pawl_lock32 lock;
static pawl_cond condition;
static pawl_lock64 beside_condition;
static uint32_t word, other_word;

static struct pawl_bucket *bucket_of(const void *address)
{
    return &table_here()->first[table_hash(address, 0)];
}

/* ---- Sleepers -------------------------------------------------------------------------------- */

static void *write_once(void *nothing)
{
    pawl_take_write(&lock);
    pawl_drop_write(&lock);
    return nothing;
}

static void *read_once(void *nothing)
{
    pawl_take_read(&lock);
    pawl_drop_read(&lock);
    return nothing;
}

/* The mask makes it sleep in the lists. */
static void *wait_once(void *nothing)
{
    while ((pawl_load_acquire32(&word, PAWL_WAIT_WAKE) & 1) == 0)
        (void)pawl_wait32_masked(&word, 1, 0);
    return nothing;
}

static void *lock_bit_once(void *nothing)
{
    pawl_bitlock32_take(&word, 0);
    pawl_bitlock32_drop(&word, 0);
    return nothing;
}

static void *wait_for_condition(void *nothing)
{
    pawl_take_write(&beside_condition);
    while (word == 0)
        pawl_cond_wait_write(&condition, &beside_condition);
    pawl_drop_write(&beside_condition);
    return nothing;
}

static pthread_t sleepers[SLEEPERS];

static void start(unsigned number, void *(*body)(void *), const void *address)
{
    sleepers[number] = test_start(body, NULL);
    until_asleep_at(address, number + 1);
}

static void join_all(void)
{
    test_join_all(sleepers, SLEEPERS);
}

/* ---- What holds in each child ---------------------------------------------------------------- */

static void *enter(void *nothing)
{
    pawl_take_write(&lock);
    pawl_drop_write(&lock);
    return nothing;
}

/*
 *   1  A drop wakes a sleeper.
 *   2  The sleeper takes the lock.
 *   3  A handler interrupts the end of the drop and forks. The sleeper is gone in the child, and
 *      holds the lock there.
 *
 * That is what doc/lock.md says of locks that other threads hold; the child makes them anew.
 */
static void make_anew_what_the_woken_hold(void)
{
    const uint32_t w = lock.word;
    if (w == PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R ||
        (w % PAWL_SPIN32_R == 0 && w / PAWL_SPIN32_R <= SLEEPERS))
        pawl_lock32_init(&lock);
}

/* The lists are as of a process with one thread, and serve threads that come now. */
static void check_lists(void)
{
    make_anew_what_the_woken_hold();
    must(lock.word == 0);
    pawl_take_write(&lock);
    const pthread_t thread = test_start(enter, NULL);
    until_asleep_at(&lock, 1);
    pawl_drop_write(&lock);
    test_join(thread);
    must(lock.word == 0);
    for (uint32_t i = 0; i < 1u << PAWL_TABLE_BITS; i++) {
        const struct pawl_bucket *bucket = &table_here()->first[i];
        must(bucket->latch == 0 && bucket->holder == 0 && bucket->latch_oldest == NULL);
        must(bucket->queues == NULL && bucket->urgent == 0 && bucket->awake_for == 0);
        must(bucket->sleepers == 0);
    }
}

static void check_lists_and_condition(void)
{
    must(condition.waiting == 0);
    check_lists();
}

/* ---- Drops and wakes ------------------------------------------------------------------------- */

static void drop_write(void)
{
    pawl_drop_write(&lock);
}

TEST_CASE(a_drop_beside_sleepers)
{
    pawl_take_write(&lock);
    start(0, write_once, &lock);
    start(1, read_once, &lock);
    start(2, read_once, &lock);
    fork_at_each_instruction_of(drop_write, check_lists);
    join_all();
    forking_went_well();
    assert_true(lock.word == 0);
}

static void drop_read(void)
{
    pawl_drop_read(&lock);
}

/* The first writer has claimed the lock. In the child its claim goes with it. */
TEST_CASE(a_drop_beside_a_claim)
{
    pawl_take_read(&lock);
    start(0, write_once, &lock);
    start(1, write_once, &lock);
    start(2, read_once, &lock);
    fork_at_each_instruction_of(drop_read, check_lists);
    join_all();
    forking_went_well();
    assert_true(lock.word == 0);
}

static void wake_all(void)
{
    (void)pawl_wake_all(&word);
}

static void wake_the_sleepers(void)
{
    pawl_store_release32(&word, 1, PAWL_WAIT_WAKE);
    (void)pawl_wake_all(&word);
    (void)pawl_wake_all(&other_word);
    join_all();
    word = 0;
}

TEST_CASE(a_wake_beside_sleepers)
{
    for (unsigned i = 0; i < SLEEPERS; i++)
        start(i, wait_once, &word);
    fork_at_each_instruction_of(wake_all, check_lists);
    wake_the_sleepers();
    forking_went_well();
}

static void requeue(void)
{
    (void)pawl_requeue(&word, &other_word, 1, SLEEPERS);
}

TEST_CASE(a_requeue_beside_sleepers)
{
    for (unsigned i = 0; i < SLEEPERS; i++)
        start(i, wait_once, &word);
    fork_at_each_instruction_of(requeue, check_lists);
    wake_the_sleepers();
    forking_went_well();
}

static void drop_bit(void)
{
    pawl_bitlock32_drop(&word, 0);
}

static void check_bit_and_lists(void)
{
    must(word == 0);
    check_lists();
}

TEST_CASE(a_drop_of_a_bit_beside_sleepers)
{
    pawl_bitlock32_take(&word, 0);
    for (unsigned i = 0; i < SLEEPERS; i++)
        start(i, lock_bit_once, &word);
    fork_at_each_instruction_of(drop_bit, check_bit_and_lists);
    join_all();
    forking_went_well();
}

static void broadcast(void)
{
    (void)pawl_cond_broadcast(&condition);
}

TEST_CASE(a_broadcast_beside_sleepers)
{
    for (unsigned i = 0; i < SLEEPERS; i++)
        start(i, wait_for_condition, &condition);
    pawl_take_write(&beside_condition);
    word = 1;
    pawl_drop_write(&beside_condition);
    fork_at_each_instruction_of(broadcast, check_lists_and_condition);
    join_all();
    forking_went_well();
    word = 0;
}

/* ---- A thread that sleeps for a latch -------------------------------------------------------- */

static uint32_t latched, may_unlatch, forked;
static pthread_t dropper;
static bool holds_until_the_fork_is_over;

static void *hold_the_latch(void *nothing)
{
    struct pawl_bucket *bucket = table_lock(&lock);
    pawl_store_release32(&latched, 1, PAWL_WAIT_WAKE);
    while (pawl_load_acquire32(&may_unlatch, PAWL_WAIT_WAKE) == 0)
        usleep(100);
    table_unlock(bucket);
    return nothing;
}

static void fork_in_handler(int number)
{
    const int saved = errno;
    if (!holds_until_the_fork_is_over)
        pawl_store_release32(&may_unlatch, 1, PAWL_WAIT_WAKE);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        forking.is_child = true;
        alarm(TEST_HANGS);
    } else {
        must(test_wait(child) == 0);
        pawl_store_release32(&may_unlatch, 1, PAWL_WAIT_WAKE);
        pawl_store_release32(&forked, 1, PAWL_WAIT_WAKE);
    }
    errno = saved;
}

static bool sleeps_for_the_latch(void)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)(&bucket_of(&lock)->latch) > 3;
}

static void *interrupt_the_dropper(void *nothing)
{
    while (!sleeps_for_the_latch())
        usleep(100);
    usleep(10000); /* meanwhile it goes to sleep, or soon after */
    must(pthread_kill(dropper, SIGUSR1) == 0);
    return nothing;
}

/* The child lacks the word of the writer who slept: where the latch was held all the time, nobody
 * could look what the writer had kept. */
static void fork_while_it_sleeps_for_the_latch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = fork_in_handler;
    action.sa_flags = SA_RESTART;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    latched = may_unlatch = forked = 0;
    dropper = pthread_self();
    pawl_take_write(&lock);
    start(0, write_once, &lock);
    const pthread_t holder = test_start(hold_the_latch, NULL);
    while (pawl_load_acquire32(&latched, PAWL_WAIT_WAKE) == 0)
        usleep(100);
    const pthread_t killer = test_start(interrupt_the_dropper, NULL);
    pawl_drop_write(&lock);
    if (forking.is_child) {
        pawl_lock32_init(&lock);
        check_lists();
        _exit(0);
    }
    must(forked == 1);
    test_join(killer);
    test_join(holder);
    test_join(sleepers[0]);
    must(lock.word == 0);
}

TEST_CASE(a_thread_that_sleeps_for_a_latch_wakes_in_the_child)
{
    holds_until_the_fork_is_over = false;
    fork_while_it_sleeps_for_the_latch();
    holds_until_the_fork_is_over = true;
    fork_while_it_sleeps_for_the_latch();
}

/* ---------------------------------------------------------------------------------------------- */

TEST_MAIN()

#else

TEST_SKIPPED("needs the trap flag of x86-64, and no sanitizer")

#endif
