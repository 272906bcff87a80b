/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale (PAWL_BIAS=on), and threads that end while they read, read as they end, or
 * have no line. fork_reads.c has forks.
 */
#include "test.h"

#include <pawl/lock.h>

#include "lock/entries.h"

#if PAWL_SCALES_

#include "lock/scaling_reads.h"
#include "support/in_entries.h"
#include "support/lines.h"

#include <sched.h>
#include <sys/syscall.h>

static pawl_lock32 lock;

/* ---- Threads --------------------------------------------------------------------------------- */

static void reads_and_ends(void)
{
    pawl_lock32_take_read(&lock);
    pawl_lock32_drop_read(&lock);
    pawl_lock32_take_read(&lock);
    must(in_entries(&lock) == 1);
}

TEST_CASE(a_thread_that_ends_while_it_reads_leaves_r_in_the_word)
{
    make_biased(&lock);
    in_another_thread(reads_and_ends);
    assert_int_equal(in_entries(&lock), 0);
    assert_int_equal(lock.word, BIASED + PAWL_SPIN32_R);
    pawl_lock32_drop_read(&lock);
    assert_int_equal(lock.word, BIASED);
}

/* The lines that a claimant looks at. */
static unsigned lines_looked_at(void)
{
    unsigned lines = 0, i;
    for (i = 0; i < ENTRIES_LINES / 32; i++)
        lines += (unsigned)__builtin_popcount(pawl_load_relaxed32(&entries_all()->joined[i]));
    return lines;
}

enum { CROWD = 300 }; /* more than a block has */

static pthread_barrier_t crowd;

static void *reads_in_a_crowd(void *unused)
{
    pawl_lock32_take_read(&lock);
    pawl_lock32_drop_read(&lock);
    (void)pthread_barrier_wait(&crowd);
    (void)pthread_barrier_wait(&crowd);
    return unused;
}

TEST_CASE(lines_of_threads_that_have_ended_are_looked_at_no_more)
{
    static pthread_t threads[CROWD];
    make_biased(&lock);
    unsigned before = lines_looked_at();
    must(pthread_barrier_init(&crowd, NULL, CROWD + 1) == 0);
    test_start_all(threads, CROWD, reads_in_a_crowd);
    (void)pthread_barrier_wait(&crowd);
    assert_int_equal(lines_looked_at(), before + CROWD);
    (void)pthread_barrier_wait(&crowd);
    test_join_all(threads, CROWD);
    assert_int_equal(lines_looked_at(), before);
    must(pthread_barrier_destroy(&crowd) == 0);
}

static pawl_lock64 wide;

static void reads_wide_and_ends(void)
{
    pawl_lock64_take_read(&wide);
    pawl_lock64_drop_read(&wide);
    must(wide.word == BIASED);
    pawl_lock64_take_read(&wide);
    must(wide.word == BIASED);
}

TEST_CASE(its_end_knows_the_width_of_the_word)
{
    memset(&wide, 0, sizeof wide);
    in_another_thread(reads_wide_and_ends);
    assert_true(wide.word == BIASED + PAWL_SPIN64_R);
    pawl_lock64_drop_read(&wide);
}

static void gives_its_line_back(void)
{
    pawl_lock32_take_read(&lock);
    pawl_lock32_drop_read(&lock);
    pawl_lock32_take_read(&lock);
    must(lock.word == BIASED && in_entries(&lock) == 1);
    ipawl_thread_exit_(); /* as before a destructor that runs after the library's */
    must(lock.word == BIASED + PAWL_SPIN32_R);
    pawl_lock32_drop_read(&lock);
    must(lock.word == BIASED);
    pawl_lock32_take_read(&lock);
    must(!pawl_lock32_try_write(&lock));
    pawl_lock32_drop_read(&lock);
}

TEST_CASE(a_thread_reads_on_after_its_line_is_gone)
{
    make_biased(&lock);
    in_another_thread(gives_its_line_back);
    assert_true(pawl_lock32_try_write(&lock));
    pawl_lock32_drop_write(&lock);
}

/* The destructor of a key that was made after the library's. It is called three times. */
static pthread_key_t later;
static unsigned late_reads;

static void reads_late(void *left)
{
    pawl_lock32_take_read(&lock);
    must(!pawl_lock32_try_write(&lock));
    pawl_lock32_drop_read(&lock);
    must(pawl_lock32_try_write(&lock));
    pawl_lock32_drop_write(&lock);
    if (++late_reads < 3)
        must(pthread_setspecific(later, left) == 0);
}

static void ends_before_its_last_reads(void)
{
    pawl_lock32_take_read(&lock);
    pawl_lock32_drop_read(&lock); /* now it has a line */
    pawl_lock32_take_read(&lock);
    must(in_entries(&lock) == 1);
    pawl_lock32_drop_read(&lock);
    must(pthread_setspecific(later, &late_reads) == 0);
}

TEST_CASE(destructors_after_the_librarys_may_read)
{
    if (TEST_TSAN_OF_CLANG)
        skip();
    make_biased(&lock); /* the library has its key by now */
    late_reads = 0;
    must(pthread_key_create(&later, reads_late) == 0);
    in_another_thread(ends_before_its_last_reads);
    must(pthread_key_delete(later) == 0);
    assert_int_equal(late_reads, 3);
    assert_int_equal(in_entries(&lock), 0);
    assert_true(pawl_lock32_try_write(&lock));
    pawl_lock32_drop_write(&lock);
}

static void reads_by_the_word(void)
{
    pawl_lock32_take_read(&lock);
    must(lock.word == BIASED + PAWL_SPIN32_R);
    must(!pawl_lock32_try_write(&lock));
    pawl_lock32_drop_read(&lock);
    must(lock.word == BIASED);
}

TEST_CASE(a_thread_without_a_line_counts_in_the_word)
{
    make_biased(&lock);
    lines_park_all();
    in_another_thread(reads_by_the_word);
    lines_free_all();
}

static pawl_lock32 other;

static void takes_a_line(void)
{
    pawl_lock32_take_read(&other);
    pawl_lock32_drop_read(&other);
}

/* Its end runs no destructor, so its entry stays, and the writer waits. The thread that takes the
 * line over ends the read, and must wake the writer. */
static void reads_and_ends_unseen(void)
{
    pawl_lock32_take_read(&lock);
    must(in_entries(&lock) == 1);
    (void)syscall(SYS_exit, 0);
}

static void *writes_once(void *unused)
{
    pawl_lock32_take_write(&lock);
    pawl_lock32_drop_write(&lock);
    return unused;
}

TEST_CASE(the_read_of_a_thread_that_ended_unseen_ends_with_its_line)
{
    if (TEST_SANITIZED)
        skip(); /* a sanitizer waits for the thread's own end */
    make_biased(&lock);
    in_another_thread(reads_and_ends_unseen);
    assert_int_equal(in_entries(&lock), 1);
    assert_false(pawl_lock32_try_write(&lock));
    assert_false(pawl_lock32_take_write_until(&lock, pawl_now() + 1000000));
    const pthread_t writer = test_start(writes_once, NULL);
    while (pawl_load_relaxed32(&lock.word) == BIASED)
        (void)sched_yield();
    lines_park_all();
    pawl_store_relaxed32(&process_here()->looked, 0); /* the search begins at the first lines */
    in_another_thread(takes_a_line);
    test_join(writer);
    lines_free_all();
    assert_int_equal(in_entries(&lock), 0);
    assert_int_equal(lock.word, BIASED);
    assert_int_equal(lines_looked_at(), 1); /* the caller's: the one of the dead is its own now */
}

TEST_MAIN(ipawl_entries_mode_(ENTRIES_ON))

#else

TEST_SKIPPED("readers do not scale on this system")

#endif
