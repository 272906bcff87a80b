/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale (PAWL_BIAS=on): what doc/lock.md promises of locks that a thread reads by its
 * entries, and of each case in which it does not.
 */
#include "test.h"

#include <pawl/lock.h>
#include <pawl/cond.h>

#include "lock/entries.h"

#if PAWL_SCALES_

#include "lock/scaling_reads.h"
#include "support/in_entries.h"
#ifdef __linux__
#include "support/sandbox.h"
#endif

/* ---- One reader ------------------------------------------------------------------------------ */

static pawl_lock32 lock;

static void nobody_else_gets_in(void)
{
    must(!pawl_lock32_try_write(&lock));
    must(!pawl_lock32_try_atomic(&lock));
    must(!pawl_lock32_take_write_until(&lock, pawl_now() + 1000));
    must(!pawl_lock32_take_atomic_until(&lock, 0));
    must(!pawl_lock32_claim_write_until(&lock, 1));
    must(pawl_lock32_try_read(&lock));
    pawl_lock32_drop_read(&lock);
    must(pawl_lock32_try_seek(&lock));
    must(!pawl_lock32_try_seek_to_write(&lock));
    must(!pawl_lock32_seek_to_write_until(&lock, pawl_now() + 1000));
    pawl_lock32_drop_seek(&lock);
    must(lock.word == BIASED);
}

TEST_CASE(a_scaling_reader_writes_no_word_and_keeps_writers_out)
{
    make_biased(&lock);
    pawl_lock32_take_read(&lock);
    assert_int_equal(lock.word, BIASED);
    assert_int_equal(in_entries(&lock), 1);
    assert_true(pawl_lock32_is_read(&lock) && !pawl_lock32_is_free(&lock));
    in_another_thread(nobody_else_gets_in);
    pawl_lock32_drop_read(&lock);
    assert_true(pawl_lock32_is_free(&lock) && !pawl_lock32_is_read(&lock));
    assert_true(pawl_lock32_try_write(&lock));
    assert_int_equal(lock.word, BIASED + PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R);
    pawl_lock32_drop_write(&lock);
    assert_int_equal(lock.word, BIASED);
}

TEST_CASE(a_ninth_lock_counts_in_its_word)
{
    pawl_lock32 many[PAWL_ENTRIES + 2];
    for (unsigned i = 0; i < PAWL_ENTRIES + 2; i++)
        make_biased(&many[i]);
    for (unsigned i = 0; i < PAWL_ENTRIES + 2; i++)
        pawl_lock32_take_read(&many[i]);
    for (unsigned i = 0; i < PAWL_ENTRIES + 2; i++) {
        assert_int_equal(in_entries(&many[i]), i < PAWL_ENTRIES);
        assert_int_equal(many[i].word, i < PAWL_ENTRIES ? BIASED : BIASED + PAWL_SPIN32_R);
        assert_false(pawl_lock32_try_write(&many[i]));
    }
    for (unsigned i = 0; i < PAWL_ENTRIES + 2; i++)
        pawl_lock32_drop_read(&many[i]);
    for (unsigned i = 0; i < PAWL_ENTRIES + 2; i++) {
        assert_int_equal(many[i].word, BIASED);
        assert_true(pawl_lock32_try_write(&many[i]));
    }
}

TEST_CASE(one_lock_twice_is_two_reads)
{
    make_biased(&lock);
    pawl_lock32_take_read(&lock);
    pawl_lock32_take_read(&lock);
    assert_int_equal(in_entries(&lock), 2);
    pawl_lock32_drop_read(&lock);
    assert_false(pawl_lock32_try_write(&lock));
    pawl_lock32_drop_read(&lock);
    assert_true(pawl_lock32_try_write(&lock));
    pawl_lock32_drop_write(&lock);
}

TEST_CASE(what_was_counted_in_the_word_is_dropped_there)
{
    make_biased(&lock);
    pawl_lock32_take_write(&lock);
    pawl_lock32_write_to_read(&lock);
    assert_int_equal(lock.word, BIASED + PAWL_SPIN32_R);
    pawl_lock32_take_read(&lock); /* by an entry */
    assert_int_equal(in_entries(&lock), 1);
    pawl_lock32_drop_read(&lock);
    pawl_lock32_drop_read(&lock);
    assert_int_equal(lock.word, BIASED);
    assert_int_equal(in_entries(&lock), 0);
    pawl_lock32_take_atomic(&lock);
    assert_int_equal(pawl_lock32_atomic_to_read(&lock), PAWL_REGAIN_KEPT);
    pawl_lock32_drop_read(&lock);
    assert_int_equal(lock.word, BIASED);
}

TEST_CASE(a_scaling_reader_can_move)
{
    make_biased(&lock);
    pawl_lock32_take_read(&lock);
    assert_true(pawl_lock32_try_read_to_seek(&lock));
    pawl_lock32_seek_to_write(&lock);
    pawl_lock32_write_to_seek(&lock);
    assert_true(pawl_lock32_try_seek_to_write(&lock));
    pawl_lock32_drop_write(&lock);
    pawl_lock32_take_read(&lock);
    assert_true(pawl_lock32_try_read_to_write(&lock));
    pawl_lock32_drop_write(&lock);
    pawl_lock32_take_read(&lock);
    assert_true(pawl_lock32_read_claim_write(&lock));
    pawl_lock32_drop_write(&lock);
    pawl_lock32_take_read(&lock);
    assert_true(pawl_lock32_try_read_to_atomic(&lock));
    assert_true(pawl_lock32_try_atomic(&lock)); /* two atomic users */
    pawl_lock32_drop_atomic(&lock);
    pawl_lock32_drop_atomic(&lock);
    pawl_lock32_take_read(&lock);
    assert_true(pawl_lock32_read_claim_atomic(&lock));
    pawl_lock32_drop_atomic(&lock);
    assert_int_equal(lock.word, BIASED);
    assert_int_equal(in_entries(&lock), 0);
}

static void move_beside_another_reader(void)
{
    pawl_lock32_take_read(&lock);
    must(!pawl_lock32_try_read_to_write(&lock));
    must(!pawl_lock32_try_read_to_atomic(&lock));
    must(!pawl_lock32_read_claim_write_until(&lock, pawl_now() + 1000));
    must(!pawl_lock32_read_claim_atomic_until(&lock, pawl_now() + 1000));
    must(pawl_lock32_try_read_to_seek(&lock));
    pawl_lock32_seek_to_read(&lock);
    pawl_lock32_drop_read(&lock);
}

TEST_CASE(a_move_that_finds_another_scaling_reader_fails_and_keeps_r)
{
    make_biased(&lock);
    pawl_lock32_take_read(&lock);
    in_another_thread(move_beside_another_reader);
    assert_int_equal(lock.word, BIASED);
    pawl_lock32_drop_read(&lock);
    assert_true(pawl_lock32_try_write(&lock));
    pawl_lock32_drop_write(&lock);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static uint32_t order;

static void write_once(void)
{
    pawl_lock32_take_write(&lock);
    must(pawl_fetch_add_relaxed32(&order, 1) == 1);
    pawl_lock32_drop_write(&lock);
}

static void *write_in_a_thread(void *unused)
{
    write_once();
    return NULL;
}

/* A writer has counted itself on the line of the main thread, which reads. */
static void reads_until_a_writer_sleeps(void)
{
    const struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    order = 0;
    pawl_lock32_take_read(&lock);
    must(in_entries(&lock) == 1);
    const pthread_t writer = test_start(write_in_a_thread, NULL);
    while (pawl_load_relaxed32(&own->waiters) == 0)
        pawl_os_yield();
    must(pawl_fetch_add_relaxed32(&order, 1) == 0);
    pawl_lock32_drop_read(&lock);
    test_join(writer);
    must(order == 2 && own->waiters == 0);
}

TEST_CASE(a_writer_sleeps_for_the_entry_and_is_woken)
{
    make_biased(&lock);
    reads_until_a_writer_sleeps();
    assert_int_equal(lock.word, BIASED);
}

static void newcomers_are_refused(void)
{
    must(!pawl_lock32_try_read(&lock));
    must(!pawl_lock32_take_read_until(&lock, pawl_now() + 1000000));
    must(!pawl_lock32_try_seek(&lock));
}

static void gives_up_in_time(void)
{
    must(!pawl_lock32_take_write_until(&lock, pawl_now() + 2000000));
}

static void newcomers_enter(void)
{
    must(pawl_lock32_try_read(&lock));
    pawl_lock32_drop_read(&lock);
}

TEST_CASE(a_waiting_writer_keeps_newcomers_out)
{
    const struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    make_biased(&lock);
    order = 1;
    pawl_lock32_take_read(&lock);
    const pthread_t writer = test_start(write_in_a_thread, NULL);
    while (pawl_load_relaxed32(&own->waiters) == 0)
        pawl_os_yield();
    in_another_thread(newcomers_are_refused);
    pawl_lock32_drop_read(&lock);
    test_join(writer);
    in_another_thread(newcomers_enter);
}

TEST_CASE(a_deadline_takes_the_claim_and_the_count_back)
{
    make_biased(&lock);
    pawl_lock32_take_read(&lock);
    in_another_thread(gives_up_in_time);
    assert_int_equal(PAWL_OWN_ENTRIES_->waiters, 0);
    assert_int_equal(lock.word, BIASED);
    in_another_thread(newcomers_enter);
    pawl_lock32_drop_read(&lock);
}

#ifdef __linux__
static void loses_membarrier(void *unused)
{
    make_biased(&lock);
    if (sandbox_refuses(SYS_membarrier))
        reads_until_a_writer_sleeps();
}

TEST_CASE(a_sandbox_that_comes_later_ends_no_program)
{
    char said[4096];
    assert_int_equal(test_in_child(loses_membarrier, NULL, said, sizeof said), 0);
    assert_string_equal(said, "");
}
#endif

static pawl_cond condition;
static uint32_t flag;

static void signals(void)
{
    pawl_lock32_take_write(&lock);
    flag = 1;
    pawl_lock32_drop_write(&lock);
    (void)pawl_cond_broadcast(&condition);
}

static void *signals_in_a_thread(void *unused)
{
    signals();
    return NULL;
}

TEST_CASE(a_condition_waits_under_a_scaling_read)
{
    make_biased(&lock);
    flag = 0;
    pawl_lock32_take_read(&lock);
    const pthread_t thread = test_start(signals_in_a_thread, NULL);
    while (flag == 0)
        pawl_lock32_cond_wait_read(&condition, &lock);
    pawl_lock32_drop_read(&lock);
    test_join(thread);
    assert_int_equal(lock.word, BIASED);
}

/* ---- Counted reads --------------------------------------------------------------------------- */

static void drops_counted(void)
{
    pawl_lock32_drop_read_counted(&lock);
}

TEST_CASE(a_counted_read_is_dropped_by_any_thread)
{
    make_biased(&lock);
    pawl_lock32_take_read_counted(&lock);
    assert_int_equal(lock.word, BIASED + PAWL_SPIN32_R);
    pawl_lock32_take_read(&lock); /* by an entry, which the counted drops leave alone */
    assert_true(pawl_lock32_try_read_counted(&lock));
    assert_true(pawl_lock32_take_read_counted_until(&lock, 0));
    assert_int_equal(lock.word, BIASED + 3 * PAWL_SPIN32_R);
    in_another_thread(drops_counted);
    in_another_thread(drops_counted);
    drops_counted();
    assert_int_equal(lock.word, BIASED);
    assert_int_equal(in_entries(&lock), 1);
    pawl_lock32_drop_read(&lock);
    pawl_lock32_take_write(&lock);
    assert_false(pawl_lock32_try_read_counted(&lock));
    assert_false(pawl_lock32_take_read_counted_until(&lock, 1));
    pawl_lock32_drop_write(&lock);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

TEST_CASE(two_widths_at_one_address_are_two_locks)
{
    union {
        pawl_lock32 narrow;
        pawl_lock64 wide;
    } memory;
    memset(&memory, 0, sizeof memory);
    pawl_lock64_take_read(&memory.wide);
    pawl_lock64_drop_read(&memory.wide);
    pawl_lock64_take_read(&memory.wide); /* by an entry; nobody drops it */
    must(memory.wide.word == BIASED);
    assert_int_equal(in_entries(&memory.narrow), 0);
    assert_true(pawl_lock32_try_write(&memory.narrow));
    pawl_lock32_drop_write(&memory.narrow);
    pawl_lock64_drop_read(&memory.wide);
}

/* ---- The environment ------------------------------------------------------------------------- */

static void starts_with_nonsense(void *unused)
{
    must(setenv("PAWL_BIAS", "maybe", 1) == 0);
    execl("/proc/self/exe", "scaling", "says", (char *)NULL);
}

TEST_CASE(an_odd_value_of_the_environment_is_told_and_means_evidence)
{
    char said[4096];
    assert_int_equal(test_in_child(starts_with_nonsense, NULL, said, sizeof said), 0);
    assert_string_equal(said, "pawl: PAWL_BIAS is none of evidence, on and off: readers scale by "
                              "evidence\n");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "says") == 0) { /* started by the last test */
        pawl_lock32_take_read(&lock);
        pawl_lock32_drop_read(&lock);
        return lock.word == 0 ? 0 : 1;
    }
    ipawl_entries_mode_(ENTRIES_ON);
    return test_main(argc, argv);
}

#else

TEST_SKIPPED("readers do not scale on this system")

#endif
