/* SPDX-License-Identifier: MIT */
/*
 * A signal handler at every instruction of a scaling reader's take, drop and moves (x86-64 Linux).
 * The handler reads under the same locks, and tries to write. Each lock is in as many entries
 * afterwards as it should be, and no word has kept a unit.
 *
 * The interleavings that would fail:
 *   1  A drop has found the entry of its lock.
 *   2  A handler reads that lock by another entry. Its drop frees the one that was found.
 *   3  The outer drop frees it once more: the other entry keeps the lock for ever.
 * and
 *   1  A take has found a free entry.
 *   2  A handler reads another lock, which the thread reads already, by that entry. Its drop frees
 *      the older one.
 *   3  The outer take fills the entry: the read of that other lock is forgotten.
 */
#include "test.h"

#include <pawl/lock.h>

#include "lock/entries.h"

#if PAWL_SCALES_ && defined(__linux__) && defined(__x86_64__) && !TEST_SANITIZED &&                \
    !defined(__SANITIZE_THREAD__)

#include "support/in_entries.h"
#include "support/interrupting.h"

enum { LOCKS = 3 };

static pawl_lock32 locks[LOCKS];
static unsigned handler_reads, handler_writes;
static bool claimed;

static void prepare(void)
{
    for (unsigned i = 0; i < LOCKS; i++)
        locks[i].word = PAWL_LOCK_BIASED;
    claimed = false;
}

static void check(void)
{
    for (unsigned i = 0; i < LOCKS; i++) {
        must(locks[i].word == PAWL_LOCK_BIASED);
        must(in_entries(&locks[i]) == 0);
    }
    must(PAWL_OWN_ENTRIES_ != NULL && PAWL_OWN_ENTRIES_ != PAWL_NO_ENTRIES_);
}

/* Leaves the entries in another order where it can. */
static void reads_and_tries_to_write(void)
{
    bool got[LOCKS];
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < LOCKS; i++)
            got[i] = pawl_lock32_try_read(&locks[i]);
        for (unsigned i = 0; i < LOCKS; i++)
            if (got[i])
                pawl_lock32_drop_read(&locks[i]);
        handler_reads += got[0];
    }
    for (unsigned i = 0; i < LOCKS; i++)
        if (pawl_lock32_try_write(&locks[i])) {
            handler_writes++;
            pawl_lock32_drop_write(&locks[i]);
        }
}

static void reads_in_turn(void)
{
    pawl_lock32_take_read(&locks[1]);
    pawl_lock32_take_read(&locks[2]);
    pawl_lock32_drop_read(&locks[1]); /* now the first entry is free, and the second is not */
    pawl_lock32_take_read(&locks[0]);
    pawl_lock32_drop_read(&locks[2]); /* of a read that was forgotten, the word would have less */
    pawl_lock32_drop_read(&locks[0]);
}

static void tries_in_turn(void)
{
    must(pawl_lock32_try_read(&locks[0]));
    must(pawl_lock32_try_read(&locks[1]));
    must(pawl_lock32_try_read_to_seek(&locks[0]));
    pawl_lock32_drop_seek(&locks[0]);
    pawl_lock32_drop_read(&locks[1]);
}

TEST_CASE(a_handler_at_every_instruction_of_reads_moves_no_entry)
{
    handler_reads = handler_writes = 0;
    assert_true(interrupt_everywhere(prepare, reads_in_turn, reads_and_tries_to_write, check) > 50);
    assert_true(handler_reads > 50 && handler_writes > 50);
}

TEST_CASE(a_handler_at_every_instruction_of_a_move_moves_no_entry)
{
    assert_true(interrupt_everywhere(prepare, tries_in_turn, reads_and_tries_to_write, check) > 50);
}

/* The thread is at the latch of a wait list, which the handler's tries must not wait for. */
static void tries_to_write_in_turn(void)
{
    must(pawl_lock32_try_write(&locks[0]));
    pawl_lock32_write_to_seek(&locks[0]);
    must(pawl_lock32_try_seek_to_write(&locks[0]));
    pawl_lock32_drop_write(&locks[0]);
    must(pawl_lock32_take_write_until(&locks[0], UINT64_MAX));
    pawl_lock32_drop_write(&locks[0]);
}

TEST_CASE(a_handler_at_every_instruction_of_a_try_waits_for_no_latch)
{
    handler_reads = handler_writes = 0;
    assert_true(interrupt_everywhere(prepare, tries_to_write_in_turn, reads_and_tries_to_write,
                                     check) > 200);
    assert_true(handler_writes > 200);
}

/* The handler stands for a writer, too: its claim stays. Where it comes between the two looks of a
 * take, the take gives its entry back, or another one if the handler has freed that. */
static void claims_once(void)
{
    for (unsigned i = 0; i < 2; i++) /* a read before and after, which may free the outer entry */
        if (pawl_lock32_try_read(&locks[0]))
            pawl_lock32_drop_read(&locks[0]);
    (void)pawl_fetch_add_relaxed32(&locks[0].word, PAWL_SPIN32_W + PAWL_SPIN32_S);
    claimed = true;
}

static void tries_beside_a_claim(void)
{
    if (pawl_lock32_try_read(&locks[0]))
        pawl_lock32_drop_read(&locks[0]);
}

static void check_without_the_claim(void)
{
    if (claimed)
        (void)pawl_fetch_sub_relaxed32(&locks[0].word, PAWL_SPIN32_W + PAWL_SPIN32_S);
    check();
}

TEST_CASE(a_take_that_finds_a_claim_gives_back_one_entry)
{
    assert_true(interrupt_everywhere(prepare, tries_beside_a_claim, claims_once,
                                     check_without_the_claim) > 20);
}

int main(int argc, char **argv)
{
    ipawl_entries_mode_(ENTRIES_ON);
    prepare();
    pawl_lock32_take_read(&locks[0]); /* the thread gets its line */
    pawl_lock32_drop_read(&locks[0]);
    return test_main(argc, argv);
}

#else

TEST_SKIPPED("needs scaling readers, and the trap flag of x86-64")

#endif
