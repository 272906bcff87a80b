/* SPDX-License-Identifier: MIT */
/*
 * In the child of a fork some reads of the parent's other threads were over, and others were not:
 *
 *   1. A thread reads a lock by an entry. Another one reads a lock by its word: its line was full,
 *      a move had failed, or it had no line.
 *   2. A third thread forks.
 *   3. The child clears the entries of threads that it does not have. It can write under the first
 *      lock, and never under the second. No program can tell which of them it has.
 *
 * All of them stay held now, as what others hold in other modes: the child counts in the word what
 * it finds in entries. An entry beside a W that is granted is of a reader that is about to give up,
 * and counts as none.
 */
#include "test.h"

#include <pawl/lock.h>

#include "lock/entries.h"

#if PAWL_SCALES_

#include "lock/scaling_reads.h"
#include "support/in_entries.h"
#include "support/lines.h"

#include <sched.h>

static pawl_lock32 lock, others[PAWL_ENTRIES];
static pawl_lock64 wide;

/* ---- A thread that holds, and a fork --------------------------------------------------------- */

struct reader {
    void (*takes)(void);
    void (*drops)(void);
};

static pthread_barrier_t reads, ends;

static void *reads_until_told(void *of_a_kind)
{
    const struct reader *const kind = (const struct reader *)of_a_kind;
    kind->takes();
    (void)pthread_barrier_wait(&reads);
    (void)pthread_barrier_wait(&ends);
    kind->drops();
    return NULL;
}

static void beside(const struct reader *kind, bool (*is_right)(void))
{
    must(pthread_barrier_init(&reads, NULL, 2) == 0 && pthread_barrier_init(&ends, NULL, 2) == 0);
    const pthread_t thread = test_start(reads_until_told, (void *)(uintptr_t)kind);
    (void)pthread_barrier_wait(&reads);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0)
        _exit(is_right() ? 0 : 1);
    const int status = test_wait(child);
    (void)pthread_barrier_wait(&ends);
    test_join(thread);
    assert_int_equal(status, 0);
}

/* ---- Each kind of read ----------------------------------------------------------------------- */

static bool no_entry_is_left(void)
{
    return in_entries(&lock) == 0;
}

static void cannot_write(void)
{
    must(!pawl_try_write(&lock) && !pawl_take_write_until(&lock, 1));
}

/* Held by one reader, which no thread of the child is; anew after init. ThreadSanitizer starts no
 * thread in such a child, so this one does all. */
static bool stays_held_until_init(void)
{
    const bool held = no_entry_is_left() && pawl_lock32_is_read(&lock) && pawl_try_read(&lock);
    pawl_drop_read(&lock);
    cannot_write();
    pawl_lock32_init(&lock);
    make_biased(&lock);
    pawl_take_read(&lock);
    cannot_write();
    pawl_drop_read(&lock);
    return held && pawl_try_write(&lock);
}

static void takes_by_an_entry(void)
{
    make_biased(&lock); /* gives the thread a line */
    pawl_take_read(&lock);
    must(in_entries(&lock) == 1);
}

static void drops(void)
{
    pawl_drop_read(&lock);
    must(lock.word == BIASED);
}

static const struct reader by_an_entry = {takes_by_an_entry, drops};

TEST_CASE(a_read_in_an_entry_stays_held)
{
    beside(&by_an_entry, stays_held_until_init);
}

static void takes_and_moves(void)
{
    takes_by_an_entry();
    pawl_take_seek(&lock);
    must(!pawl_try_read_to_seek(&lock)); /* R is in the word then */
    pawl_drop_seek(&lock);
    must(in_entries(&lock) == 0 && lock.word == BIASED + PAWL_SPIN32_R);
}

static const struct reader moved = {takes_and_moves, drops};

TEST_CASE(a_read_that_a_move_brought_to_the_word_stays_held)
{
    beside(&moved, stays_held_until_init);
}

static void takes_one_more_than_fit(void)
{
    for (unsigned i = 0; i < PAWL_ENTRIES; i++) {
        make_biased(&others[i]);
        pawl_take_read(&others[i]);
    }
    make_biased(&lock);
    pawl_take_read(&lock);
    must(in_entries(&lock) == 0 && in_entries(&others[0]) == 1);
}

static void drops_all(void)
{
    for (unsigned i = 0; i < PAWL_ENTRIES; i++)
        pawl_drop_read(&others[i]);
    drops();
}

static const struct reader of_many = {takes_one_more_than_fit, drops_all};

static bool all_stay_held(void)
{
    for (unsigned i = 0; i < PAWL_ENTRIES; i++)
        if (in_entries(&others[i]) != 0 || pawl_try_write(&others[i]))
            return false;
    return stays_held_until_init();
}

TEST_CASE(a_read_beyond_the_entries_stays_held_like_those_in_them)
{
    beside(&of_many, all_stay_held);
}

static void takes_without_a_line(void)
{
    pawl_take_read(&lock);
    must(in_entries(&lock) == 0);
}

static const struct reader without_a_line = {takes_without_a_line, drops};

TEST_CASE(a_read_of_a_thread_without_a_line_stays_held)
{
    make_biased(&lock);
    lines_park_all();
    beside(&without_a_line, stays_held_until_init);
    lines_free_all();
}

static void takes_counted(void)
{
    make_biased(&lock);
    pawl_take_read_counted(&lock);
}

static void drops_counted(void)
{
    pawl_drop_read_counted(&lock);
}

static void drops_counted_elsewhere(void)
{
    in_another_thread(drops_counted);
}

static const struct reader counted = {takes_counted, drops_counted_elsewhere};

TEST_CASE(a_counted_read_stays_held)
{
    beside(&counted, stays_held_until_init);
}

/* ---- Width, own reads, and writers ----------------------------------------------------------- */

static void takes_wide(void)
{
    pawl_take_read(&wide);
    pawl_drop_read(&wide);
    pawl_take_read(&wide);
    must(wide.word == BIASED);
}

static void drops_wide(void)
{
    pawl_drop_read(&wide);
}

static const struct reader of_wide = {takes_wide, drops_wide};

static bool wide_stays_held(void)
{
    return wide.word == BIASED + PAWL_SPIN64_R && !pawl_try_write(&wide);
}

TEST_CASE(the_child_knows_the_width_of_the_word)
{
    beside(&of_wide, wide_stays_held);
}

static bool own_read_can_be_dropped(void)
{
    bool right = in_entries(&others[0]) == 1 && !pawl_try_write(&others[0]);
    pawl_drop_read(&others[0]);
    right = right && pawl_try_write(&others[0]);
    return right && stays_held_until_init();
}

TEST_CASE(the_child_goes_on_with_its_own_reads)
{
    make_biased(&others[0]);
    pawl_take_read(&others[0]);
    beside(&by_an_entry, own_read_can_be_dropped);
    pawl_drop_read(&others[0]);
}

/* The forking thread holds W. A reader has filled its entry, has not yet looked at the word, and
 * will give up. */
static void is_about_to_give_up(void)
{
    pawl_take_read(&others[0]);
    pawl_drop_read(&others[0]);
    must(ipawl_entries_fill_(PAWL_OWN_ENTRIES_, (ipawl_address_)(uintptr_t)&lock) == 0);
}

static void gives_up(void)
{
    ipawl_entries_take_back_(PAWL_OWN_ENTRIES_, 0, (ipawl_address_)(uintptr_t)&lock);
}

static const struct reader late = {is_about_to_give_up, gives_up};

static bool only_the_writer_is_in(void)
{
    pawl_drop_write(&lock);
    return no_entry_is_left() && pawl_try_write(&lock);
}

TEST_CASE(a_reader_that_gives_up_beside_the_forking_writer_leaves_nothing)
{
    make_biased(&lock);
    pawl_take_write(&lock);
    beside(&late, only_the_writer_is_in);
    pawl_drop_write(&lock);
}

/* The claim of a writer that waits for the entry is no W by then: the child has taken it back. */
static pthread_t writer;

static void *writes_once(void *unused)
{
    pawl_take_write(&lock);
    pawl_drop_write(&lock);
    return unused;
}

static void takes_and_lets_a_writer_wait(void)
{
    takes_by_an_entry();
    writer = test_start(writes_once, NULL);
    while (pawl_load_relaxed32(&PAWL_OWN_ENTRIES_->waiters) == 0)
        (void)sched_yield();
}

static void drops_and_lets_it_write(void)
{
    pawl_drop_read(&lock);
    test_join(writer);
}

static const struct reader before_a_writer = {takes_and_lets_a_writer_wait,
                                              drops_and_lets_it_write};

TEST_CASE(a_read_that_a_writer_waited_for_stays_held)
{
    beside(&before_a_writer, stays_held_until_init);
}

TEST_MAIN(ipawl_entries_mode_(ENTRIES_ON))

#else

TEST_SKIPPED("readers do not scale on this system")

#endif
