/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale (PAWL_BIAS=on). A signal handler forks at each instruction of a reader's drop,
 * while a writer sleeps for the reader's entry. The child goes on where the handler interrupted the
 * drop. fork_steps.c has the drops from the word.
 */
#include "test.h"

#include <pawl/lock.h>

#include "lock/entries.h"

#if PAWL_SCALES_ && defined(__x86_64__) && !TEST_SANITIZED && !defined(__SANITIZE_THREAD__)

#include "lock/scaling_reads.h"
#include "support/forking.h"
#include "support/in_entries.h"

static pawl_lock32 lock;

static uint32_t counted(const struct pawl_entries *line)
{
    return pawl_load_relaxed32(&line->waiters);
}

static void nobody_is_counted(void)
{
    for (unsigned i = 0; i < ENTRIES_IN_BLOCK; i++)
        must(counted(&entries_all()->lines[i]) == 0);
}

static const struct pawl_entries *take_by_an_entry(void)
{
    pawl_take_read(&lock);
    pawl_drop_read(&lock); /* gives the thread a line */
    pawl_take_read(&lock);
    return PAWL_OWN_ENTRIES_;
}

/* ---- What holds in each child ---------------------------------------------------------------- */

static void *reads_until_a_writer_is_counted(void *nothing)
{
    const struct pawl_entries *const own = take_by_an_entry();
    while (counted(own) == 0)
        usleep(100);
    usleep(1000); /* it goes to sleep */
    pawl_drop_read(&lock);
    return nothing;
}

static void write_once(void)
{
    pawl_take_write(&lock);
    pawl_drop_write(&lock);
}

/* The reader's drop wakes the writer, as if there had been no fork. */
static void a_writer_waits_for_a_new_reader(void)
{
    const pthread_t reader = test_start(reads_until_a_writer_is_counted, NULL);
    while (in_entries(&lock) == 0)
        usleep(100);
    write_once();
    test_join(reader);
}

/* The writer is not here, and its claim is: who forks makes such a lock anew (doc/lock.md). */
static void the_childs_read_is_over(void)
{
    pawl_lock32_init(&lock);
    must(in_entries(&lock) == 0);
    nobody_is_counted();
    a_writer_waits_for_a_new_reader();
    in_another_thread(write_once);
    nobody_is_counted();
}

/* ---- The drops ------------------------------------------------------------------------------- */

static void *writes_once(void *nothing)
{
    write_once();
    return nothing;
}

static void *writes_in_time(void *nothing)
{
    must(pawl_take_write_until(&lock, pawl_now() + UINT64_C(60000000000)));
    pawl_drop_write(&lock);
    return nothing;
}

static void drop_read(void)
{
    pawl_drop_read(&lock);
}

static void a_drop_beside(void *(*writes)(void *))
{
    make_biased(&lock);
    const struct pawl_entries *own = take_by_an_entry();
    must(in_entries(&lock) == 1);
    const pthread_t sleeper = test_start(writes, NULL);
    while (counted(own) == 0)
        usleep(100);
    usleep(20000); /* it goes to sleep */
    fork_at_each_instruction_of(drop_read, the_childs_read_is_over);
    test_join(sleeper);
    forking_went_well();
    nobody_is_counted();
    assert_int_equal(lock.word, BIASED);
}

TEST_CASE(a_drop_beside_a_writer)
{
    a_drop_beside(writes_once);
}

TEST_CASE(a_drop_beside_a_writer_with_a_deadline)
{
    a_drop_beside(writes_in_time);
}

TEST_MAIN(ipawl_entries_mode_(ENTRIES_ON))

#else

TEST_SKIPPED("needs the trap flag of x86-64, and no sanitizer")

#endif
