/* SPDX-License-Identifier: MIT */
/*
 * Two events at each pair of instructions of a scaling reader's take (x86-64 Linux): a handler that
 * reads the lock, and a writer.
 *
 * The interleaving that left R in the word for ever:
 *   1  The thread reads another lock by an entry. Its take of a lock has seen BIASED.
 *   2  A writer comes and goes, and takes BIASED away.
 *   3  The take fills an entry. A handler tries to read: it counts in the word, as there is no
 *      BIASED. Its drop finds the take's entry, and frees that.
 *   4  The take sees no BIASED, and finds no entry to give back. The handler's R stays.
 * The same:
 *   1  The take fills the last entry. A handler tries to read: no entry is free, so it counts in
 *      the word. Its drop frees the take's entry.
 *   2  A writer claims.
 *   3  The take sees W, and finds no entry to give back.
 * Where the handler comes as the take counts its entry, the count of filled entries kept one too
 * many. After seven such takes the count would have begun anew.
 */
#include "test.h"

#include <pawl/lock.h>

#include "lock/entries.h"

#if PAWL_SCALES_ && defined(__linux__) && defined(__x86_64__) && !TEST_SANITIZED &&                \
    !defined(__SANITIZE_THREAD__)

#include "support/in_entries.h"
#include "support/interrupting.h"

#define BIASED PAWL_LOCK_BIASED

static pawl_lock32 lock, other;
static bool claimed, counted; /* by the events */
static volatile bool taken;   /* by the steps, or refused */
static bool late;             /* the last event came after that, and did nothing */

/* ---- The events ------------------------------------------------------------------------------ */

/* As a writer whose look was dear: it has come and gone. Where a reader is in, it would wait. */
static void a_writer_takes_biased_away(void)
{
    if (in_entries(&lock) == 0 && lock.word == BIASED && !taken)
        lock.word = 0;
}

static void a_writer_claims(void)
{
    late = taken;
    if (late)
        return;
    (void)pawl_fetch_add_relaxed32(&lock.word, PAWL_SPIN32_W + PAWL_SPIN32_S);
    claimed = true;
}

static void a_handler_reads(void)
{
    const uint32_t before = lock.word;
    late = taken;
    if (late || !pawl_lock32_try_read(&lock))
        return;
    counted = lock.word != before;
    pawl_lock32_drop_read(&lock);
}

/* ---- The steps ------------------------------------------------------------------------------- */

static void begins(void)
{
    lock.word = other.word = BIASED;
    claimed = counted = taken = false;
}

static void takes_and_drops(void)
{
    pawl_lock32_take_read(&lock);
    taken = true;
    pawl_lock32_drop_read(&lock);
}

static void tries_and_drops(void)
{
    const bool in = pawl_lock32_try_read(&lock);
    taken = true;
    if (in)
        pawl_lock32_drop_read(&lock);
}

/* Whether nothing of the reads is left. The thread reads the other lock by so many entries. */
static void check(unsigned others)
{
    const struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    if (claimed)
        (void)pawl_fetch_sub_relaxed32(&lock.word, PAWL_SPIN32_W + PAWL_SPIN32_S);
    must((lock.word & ~BIASED) == 0 && other.word == BIASED);
    must(in_entries(&lock) == 0 && in_entries(&other) == others);
    must(ipawl_entries_are_(own) && own->eager == 0);
    if (counted) /* else a drop by entries does not count anew, and need not */
        must(ipawl_entries_busy_(own) == others);
}

/* ---- Each pair ------------------------------------------------------------------------------- */

static unsigned pairs, met;

/* The first event comes after each instruction of the take, the second after each later one. Where
 * the first has no effect that matters, the pairs with it are left out. */
static void at_each_pair(void (*steps)(void), void (*first)(void), void (*second)(void),
                         bool (*matters)(void), unsigned others)
{
    long at;
    bool ended;
    pairs = met = 0;
    for (at = 0, ended = false; !ended; at++)
        for (long later = at + 1;; later++) {
            begins();
            must(interrupt_twice(at, later, steps, first, second));
            check(others);
            if (late || !matters()) {
                ended = late && later == at + 1;
                break;
            }
            pairs++;
            met += counted;
        }
    print_message("%u pairs, in %u of them the handler counted in the word\n", pairs, met);
}

static bool biased_has_gone(void)
{
    return (lock.word & BIASED) == 0;
}

static bool it_has_counted(void)
{
    return counted;
}

TEST_CASE(a_read_that_beside_it_loses_biased_leaves_no_unit)
{
    begins();
    pawl_lock32_take_read(&other);
    at_each_pair(takes_and_drops, a_writer_takes_biased_away, a_handler_reads, biased_has_gone, 1);
    assert_true(pairs > 20 && met > 20);
    pawl_lock32_drop_read(&other);
}

TEST_CASE(a_read_by_the_last_entry_leaves_no_unit_beside_a_claim)
{
    begins();
    for (unsigned i = 1; i < PAWL_ENTRIES; i++)
        pawl_lock32_take_read(&other);
    at_each_pair(tries_and_drops, a_handler_reads, a_writer_claims, it_has_counted,
                 PAWL_ENTRIES - 1);
    assert_true(pairs > 20 && met > 20);
    for (unsigned i = 1; i < PAWL_ENTRIES; i++)
        pawl_lock32_drop_read(&other);
}

int main(int argc, char **argv)
{
    ipawl_entries_mode_(ENTRIES_EVIDENCE);
    begins();
    pawl_lock32_take_read(&other); /* the thread gets its line */
    pawl_lock32_drop_read(&other);
    return test_main(argc, argv);
}

#else

TEST_SKIPPED("needs scaling readers, and the trap flag of x86-64")

#endif
