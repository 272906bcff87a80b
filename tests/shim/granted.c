/* SPDX-License-Identifier: MIT */
/*
 * A thread that remembers a read that is over asks for the lock at each instruction of another
 * thread's call to write it. It got in beside the writer:
 *
 *   1  T reads a lock, another thread unlocks that read, and the lock is made anew.
 *   2  W takes the lock to write. The word is then as where W waits for a single reader.
 *   3  T asks to read before W has noted itself as the owner. It takes the R of W for its own.
 *   4  W's call returns, and both are in.
 */
#include "actors.h"

#if defined(__linux__) && defined(__x86_64__)

#include "support/interrupting.h"

static pthread_rwlock_t lock;
static struct actor reader; /* T */
static bool reads, written;
static int reads_beside;

static int read_now(pthread_rwlock_t *l)
{
    return pthread_rwlock_tryrdlock(l);
}

/* With a time that is over: it looks whether it may read, and does not wait. */
static int read_by_now(pthread_rwlock_t *l)
{
    const struct timespec past = {1, 0};
    return pthread_rwlock_clockrdlock(l, CLOCK_MONOTONIC, &past);
}

static rwlock_call *ask;

static int unlock_when_w_waits(pthread_rwlock_t *l)
{
    while (!__atomic_load_n(&written, __ATOMIC_ACQUIRE))
        if (thread_state(getpid()) == 'S')
            return pthread_rwlock_unlock(l);
    reads_beside++;
    return pthread_rwlock_unlock(l);
}

/* W is the main thread, inside its call. */
static void ask_to_read(void)
{
    if (actor_do(&reader, ask, &lock) != 0)
        return;
    reads = true;
    actor_begin(&reader, unlock_when_w_waits, &lock);
}

static void write_once(void)
{
    must(pthread_rwlock_wrlock(&lock) == 0);
    __atomic_store_n(&written, true, __ATOMIC_RELEASE);
}

static void end_writing(void)
{
    if (reads)
        must(actor_result(&reader) == 0);
    must(pthread_rwlock_unlock(&lock) == 0);
    must(pthread_rwlock_trywrlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
}

static void nothing_is_held(void)
{
    reads = written = false;
}

static void hand_over_a_read(void)
{
    must(actor_do(&reader, pthread_rwlock_rdlock, &lock) == 0);
    must(pthread_rwlock_unlock(&lock) == 0);
}

static void assert_t_is_never_beside_w(void)
{
    static rwlock_call *const asks[] = {read_now, read_by_now};
    for (size_t i = 0; i < 2; i++) {
        ask = asks[i];
        assert_true(interrupt_everywhere(nothing_is_held, write_once, ask_to_read, end_writing) >
                    5);
        assert_int_equal(reads_beside, 0);
    }
}

TEST_CASE(a_read_of_an_earlier_lock_lets_nobody_in_beside_a_writer)
{
    actor_start(&reader);
    hand_over_a_read();
    assert_int_equal(pthread_rwlock_destroy(&lock), 0);
    assert_int_equal(pthread_rwlock_init(&lock, NULL), 0);
    assert_t_is_never_beside_w();
    actor_end(&reader);
}

TEST_CASE(a_read_that_was_handed_over_lets_nobody_in_beside_a_writer)
{
    actor_start(&reader);
    hand_over_a_read();
    assert_t_is_never_beside_w();
    actor_end(&reader);
}

TEST_MAIN()

#else

TEST_SKIPPED("needs the trap flag of x86-64")

#endif
