/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale, where pairs of scripts (src/suite_locks.rs) do not look. Heavy fences
 * interrupt, two writers wait for a line, entries are all in use, and reads are counted. A thread
 * ends while it reads, handlers of signals run, scaling is turned off, and lines are new.
 * What a writer protects is cell 0.
 */
#include <pawl/detail/hook.h>
#include <pawl/lock.h>
#include <pawl/thread.h>

#include "scaling.h"

#include <stddef.h>

/* A value that no access of the library finds: a model with REACH fails unless it was seen. */
#define MARK (UINT64_C(1) << 63)
#define REACH " reach=9223372036854775808"

/* The first thread, before the others run: its entries, as many as there are, and R of the word. */
static void read_once(void)
{
    scaling();
    pawl_take_read(LOCK);
}

static void read_with_all_entries_and_once_more(void)
{
    scaling();
    for (unsigned i = 0; i <= PAWL_ENTRIES; i++)
        pawl_take_read(LOCK);
}

static void all_entries_have_the_other(void)
{
    scaling();
    for (unsigned i = 0; i < PAWL_ENTRIES; i++)
        pawl_take_read(OTHER);
}

static void read_both(void)
{
    scaling();
    pawl_take_read(LOCK);
    pawl_take_read(OTHER);
}

static void reads_on_and_drops_all(void)
{
    for (unsigned i = 0; i < PAWL_ENTRIES; i++)
        M_STEP(pawl_drop_read(LOCK));
    reads_on_and_drops();
}

static void reads_on_and_drops_both(void)
{
    reads_on_and_drops();
    (void)m_read(1);
    M_STEP(pawl_drop_read(OTHER));
}

static void reads_beside_full_entries(void)
{
    reads();
    for (unsigned i = 0; i < PAWL_ENTRIES; i++)
        M_STEP(pawl_drop_read(OTHER));
}

static void writes_the_other(void)
{
    M_STEP(pawl_take_write(OTHER));
    m_write(1, 1);
    M_STEP(pawl_drop_write(OTHER));
}

static void writes_in_time(void)
{
    M_DO(bool in = pawl_take_write_until(LOCK, M_DEADLINE));
    if (!in)
        return;
    m_write(0, 1);
    M_STEP(pawl_drop_write(LOCK));
}

static void read_once_while_time_flies(void)
{
    read_once();
    m_time_flies();
}

static void writes_if_it_may(void)
{
    M_DO(bool in = pawl_try_write(LOCK));
    if (!in)
        return;
    m_write(0, 1);
    M_STEP(pawl_drop_write(LOCK));
}

/* ---- Counted reads --------------------------------------------------------------------------- */

static void counted_once(void)
{
    scaling();
    pawl_take_read_counted(LOCK);
}

static void reads_on_and_drops_counted(void)
{
    (void)m_read(0);
    M_STEP(pawl_drop_read_counted(LOCK));
}

static void reads_counted(void)
{
    M_STEP(pawl_take_read_counted(LOCK));
    reads_on_and_drops_counted();
}

static void reads_counted_if_it_may(void)
{
    M_DO(bool in = pawl_try_read_counted(LOCK));
    if (in)
        reads_on_and_drops_counted();
}

/* ---- The end of a thread --------------------------------------------------------------------- */

/* No drop sets BIASED: a thread that has given back its line gets no other by a drop. */
static void read_once_in_a_life(void)
{
    m_begin_system();
    read_once();
    ipawl_entries_mode_(ENTRIES_EVIDENCE);
}

/* The destructor of a key that comes after ours drops R, which is in the word by then. */
static void ends_while_it_reads(void)
{
    M_STEP(ipawl_thread_exit_());
    m_demand(entries_all()->lines[0].joined == 0, M_RESTORED, "it has kept its line");
    m_demand((entries_all()->joined[0] & 1) == 0, M_RESTORED, "claimants look at its line");
    reads_on_and_drops();
}

/* A claimant that finds its line given back passes its entries by. */
static void drops_and_ends(void)
{
    reads_on_and_drops();
    M_STEP(ipawl_thread_exit_());
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static void tries_to_read(void)
{
    if (!pawl_try_read(LOCK))
        return;
    (void)m_read(0);
    pawl_drop_read(LOCK);
}

/* The handler finds the entry filled, and perhaps R not yet granted. */
static void is_interrupted_in_a_take(void)
{
    m_handle(PAWL_ENTRY_TAKE, tries_to_read);
    reads();
}

/* It comes between the free entry and the line that is shown again. */
static void is_interrupted_in_a_drop(void)
{
    m_handle(PAWL_ENTRY_DROP, tries_to_read);
    reads_on_and_drops();
}

/* And after the second look, so before an entry that was filled for nothing is taken back. */
static void is_interrupted_before_it_takes_back(void)
{
    m_handle(PAWL_SPIN_R_TAKE, tries_to_read);
    reads();
}

/* A claim that fails in a handler of a thread at a wait list leaves nothing. */
static void tries_to_write(void)
{
    if (!pawl_try_write(LOCK))
        return;
    m_write(0, 2);
    pawl_drop_write(LOCK);
}

static void is_interrupted_at_the_wait_list(void)
{
    m_handle(PAWL_TABLE_ENTER, tries_to_write);
    writes();
}

/* ---- Scaling is turned off ------------------------------------------------------------------- */

/* The next look is timed, and those before have taken more than all the time since. */
static void looks_are_dear(void)
{
    scaling();
    ipawl_entries_mode_(ENTRIES_EVIDENCE);
    for (unsigned i = 0; i < ENTRIES_NOTES; i++) {
        entries_all()->notes[i].identity = (ipawl_address_)(uintptr_t)LOCK;
        entries_all()->notes[i].looks = 7; /* with the next look the account is judged */
        entries_all()->notes[i].begun = 1;
        entries_all()->notes[i].spent = 1000000;
    }
}

static void turns_it_off(void)
{
    writes();
    if (!(LOCK->word & PAWL_LOCK_BIASED)) {
        m_begin("has turned it off");
        pawl_store_relaxed64(&STAGE->mark, MARK);
        (void)pawl_load_relaxed64(&STAGE->mark);
        m_end();
    }
}

/* The second claim finds no BIASED, and looks at no line. */
static void turns_it_off_and_writes_again(void)
{
    turns_it_off();
    writes();
}

/* As the party does whose look was dear: its W is in the word, and it has looked at all lines. */
static void clears_it_and_writes_again(void)
{
    M_STEP(pawl_take_write(LOCK));
    m_write(0, 1);
    (void)pawl_fetch_and_relaxed32(&LOCK->word, ~(uint32_t)PAWL_LOCK_BIASED);
    M_STEP(pawl_drop_write(LOCK));
    writes();
}

/* Its handler finds no BIASED and counts in the word. As the thread reads another lock by an entry,
 * the handler's drop frees the entry of the take. */
static void read_the_other(void)
{
    scaling();
    pawl_take_read(OTHER);
}

static void is_interrupted_beside_the_other(void)
{
    is_interrupted_in_a_take();
    M_STEP(pawl_drop_read(OTHER));
}

static void all_but_one_entry_have_the_other(void)
{
    scaling();
    for (unsigned i = 1; i < PAWL_ENTRIES; i++)
        pawl_take_read(OTHER);
}

static void is_interrupted_beside_full_entries(void)
{
    is_interrupted_in_a_take();
    for (unsigned i = 1; i < PAWL_ENTRIES; i++)
        M_STEP(pawl_drop_read(OTHER));
}

static void clears_it(void)
{
    M_STEP(pawl_take_write(LOCK));
    m_write(0, 1);
    (void)pawl_fetch_and_relaxed32(&LOCK->word, ~(uint32_t)PAWL_LOCK_BIASED);
    M_STEP(pawl_drop_write(LOCK));
}

static void reads_if_it_may(void)
{
    if (pawl_try_read(LOCK))
        reads_on_and_drops();
}

/* ---- Lines that are new, and R that moves beside a try --------------------------------------- */

/* No thread has a line yet. */
static void nobody_has_a_line(void)
{
    m_register_threads(2);
    ipawl_entries_mode_(ENTRIES_ON);
    LOCK->word = PAWL_LOCK_BIASED;
}

/* The reader enters after the try's first look, and moves R to the word after the claim. It reads
 * and drops R there, so the claimant's second look finds nothing. Only the word orders the two. */
static void reads_where_a_move_fails(void)
{
    M_STEP(pawl_take_read(LOCK));
    M_DO(bool moved = pawl_try_read_to_seek(LOCK));
    (void)m_read(0);
    if (moved)
        M_STEP(pawl_drop_seek(LOCK));
    else
        M_STEP(pawl_drop_read(LOCK));
}

/* Its drop would order more than its entry does, so it stays in until all have ended. */
static void stays_in_if_it_may(void)
{
    M_DO(bool in = pawl_try_atomic(LOCK));
    if (in)
        pawl_store_relaxed64(&STAGE->mark, 1);
}

/* The other's change of the word alone orders this update after the reads that it waited for. */
static void joins_the_one_that_stays(void)
{
    if (pawl_load_relaxed64(&STAGE->mark) == 0)
        return;
    M_DO(bool in = pawl_try_atomic(LOCK));
    if (!in)
        return; /* it has read the word as it was before the other came in */
    m_write(0, 1);
    M_STEP(pawl_drop_atomic(LOCK));
}

/* A heavy fence need not wait for who is asleep. So the writer goes on at once, and the reader may
 * free its entry and change the turn between the writer's fence and its look at the turn. (Where
 * the writer has paused, loom shows it the entry as it is by now, whatever the orders.) */
static void sleeps_and_drops(void)
{
    m_begin("sleeps for a while");
    (void)pawl_hook_wait(&STAGE->nothing, 0, 1000);
    m_end();
    reads_on_and_drops();
}

static void the_one_that_stayed_leaves(void)
{
    if (STAGE->mark != 0)
        pawl_drop_atomic(LOCK);
    nobody_is_in();
}

extern const struct m_scene m_scaling_scenes[];
/* clang-format off */
const struct m_scene m_scaling_scenes[] = {
    {"bias_drop_interrupted", read_once, {reads_on_and_drops, writes}, nobody_is_in,
     "preempt=3 ipi=1"},
    {"bias_drop_beside_a_deadline", read_once_while_time_flies,
     {reads_on_and_drops, writes_in_time}, nobody_is_in, "preempt=3"},
    {"bias_drop_beside_a_deadline_and_a_reader", read_once_while_time_flies,
     {reads_on_and_drops, writes_in_time, reads}, nobody_is_in, "preempt=1"},
    {"bias_two_writers_of_one_line", read_both,
     {reads_on_and_drops_both, writes, writes_the_other}, nobody_is_in, "preempt=1 ipi=1"},
    {"bias_more_reads_than_entries", read_with_all_entries_and_once_more,
     {reads_on_and_drops_all, writes}, nobody_is_in, "preempt=2"},
    {"bias_read_beside_full_entries", all_entries_have_the_other,
     {reads_beside_full_entries, writes}, nobody_is_in, "preempt=2"},
    {"bias_counted_read_beside_a_writer", scaling, {reads_counted, writes}, nobody_is_in,
     "preempt=2"},
    {"bias_counted_try_beside_a_writer", scaling, {reads_counted_if_it_may, writes}, nobody_is_in,
     "preempt=2"},
    {"bias_counted_read_dropped_by_another", counted_once, {writes, reads_on_and_drops_counted},
     nobody_is_in, "preempt=2"},
    {"bias_thread_ends_beside_a_writer", read_once_in_a_life, {ends_while_it_reads, writes},
     nobody_is_in, "preempt=3"},
    {"bias_thread_drops_and_ends", read_once_in_a_life, {drops_and_ends, writes}, nobody_is_in,
     "preempt=3"},
    {"bias_thread_ends_beside_a_try", read_once_in_a_life,
     {ends_while_it_reads, writes_if_it_may}, nobody_is_in, "preempt=3"},
    {"bias_handler_in_a_take", scaling, {is_interrupted_in_a_take, writes}, nobody_is_in,
     "preempt=1"},
    {"bias_handler_in_a_drop", read_once, {is_interrupted_in_a_drop, writes}, nobody_is_in,
     "preempt=3"},
    {"bias_handler_before_a_take_back", scaling,
     {is_interrupted_before_it_takes_back, writes}, nobody_is_in, "preempt=2"},
    {"bias_handler_beside_a_loss", read_the_other, {is_interrupted_beside_the_other, clears_it},
     nobody_is_in, "preempt=2"},
    {"bias_handler_in_the_last_entry", all_but_one_entry_have_the_other,
     {is_interrupted_beside_full_entries, writes}, nobody_is_in, "preempt=2"},
    {"bias_handler_at_a_wait_list", scaling, {is_interrupted_at_the_wait_list, reads},
     nobody_is_in, "preempt=2"},
    {"bias_turned_off_beside_a_reader", looks_are_dear, {reads, turns_it_off_and_writes_again},
     nobody_is_in, "preempt=1 time=1000" REACH},
    {"bias_turned_off_beside_a_writer", looks_are_dear, {reads, turns_it_off, writes},
     nobody_is_in, "preempt=0 time=1000" REACH},
    {"bias_cleared_between_two_writes", scaling, {reads_if_it_may, clears_it_and_writes_again},
     nobody_is_in, "preempt=2"},
    {"bias_newcomer_beside_a_try", nobody_has_a_line, {writes_if_it_may, reads}, nobody_is_in,
     "preempt=2"},
    {"bias_try_beside_a_move", scaling, {writes_if_it_may, reads_where_a_move_fails},
     nobody_is_in, "preempt=3"},
    {"bias_update_after_a_read", scaling,
     {stays_in_if_it_may, reads_if_it_may, joins_the_one_that_stays}, the_one_that_stayed_leaves,
     "preempt=3"},
    {"bias_drop_after_a_sleep", read_once, {sleeps_and_drops, writes}, nobody_is_in,
     "preempt=2 ipi=1 time=2000"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
