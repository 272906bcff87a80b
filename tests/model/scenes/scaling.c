/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale, where pairs of scripts (src/suite_locks.rs) do not look: heavy fences that
 * interrupt, a line that two writers wait for, entries that are all in use, counted reads, a thread
 * that ends while it reads, signal handlers, scaling that is turned off, lines that are new, and
 * the evidence that turns scaling on. What a writer protects is cell 0.
 */
#include <pawl/detail/hook.h>
#include <pawl/lock.h>
#include <pawl/thread.h>

#include "../../../src/lock/entries.h"
#include "scenes.h"

#include <stddef.h>

/* A value that no access of the library finds: a model with REACH fails unless it was seen. */
#define MARK (UINT64_C(1) << 63)
#define REACH " reach=9223372036854775808"

struct stage {
    pawl_lock32 lock, other;
    uint64_t mark;
    uint32_t nothing; /* for which the reader sleeps that gives up after a while */
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->lock)
#define OTHER (&STAGE->other)

static void scaling(void)
{
    m_readers_scale(3, false);
    LOCK->word = OTHER->word = PAWL_LOCK_BIASED;
}

static void nobody_is_in(void)
{
    m_demand((LOCK->word & ~PAWL_LOCK_BIASED) == 0 && (OTHER->word & ~PAWL_LOCK_BIASED) == 0,
             M_RESTORED, "units, or PARKED, are left");
    m_demand(m_entries_are_free(), M_RESTORED, "an entry has a lock, or a line has a waiter");
}

/* The first thread, before the others run: its entries, as many as there are, and R of the word. */
static void read_once(void)
{
    scaling();
    pawl_take_read(LOCK);
}

static void read_with_all_entries_and_once_more(void)
{
    unsigned i;
    scaling();
    for (i = 0; i <= PAWL_ENTRIES; i++)
        pawl_take_read(LOCK);
}

static void all_entries_have_the_other(void)
{
    unsigned i;
    scaling();
    for (i = 0; i < PAWL_ENTRIES; i++)
        pawl_take_read(OTHER);
}

static void read_both(void)
{
    scaling();
    pawl_take_read(LOCK);
    pawl_take_read(OTHER);
}

static void reads_on_and_drops(void)
{
    (void)m_read(0);
    M_STEP(pawl_drop_read(LOCK));
}

static void reads_on_and_drops_all(void)
{
    unsigned i;
    for (i = 0; i < PAWL_ENTRIES; i++)
        M_STEP(pawl_drop_read(LOCK));
    reads_on_and_drops();
}

static void reads_on_and_drops_both(void)
{
    reads_on_and_drops();
    (void)m_read(1);
    M_STEP(pawl_drop_read(OTHER));
}

static void reads(void)
{
    M_STEP(pawl_take_read(LOCK));
    reads_on_and_drops();
}

static void reads_beside_full_entries(void)
{
    unsigned i;
    reads();
    for (i = 0; i < PAWL_ENTRIES; i++)
        M_STEP(pawl_drop_read(OTHER));
}

static void writes(void)
{
    M_STEP(pawl_take_write(LOCK));
    m_write(0, 1);
    M_STEP(pawl_drop_write(LOCK));
}

static void writes_the_other(void)
{
    M_STEP(pawl_take_write(OTHER));
    m_write(1, 1);
    M_STEP(pawl_drop_write(OTHER));
}

static void writes_in_time(void)
{
    bool in;
    m_begin("pawl_take_write_until");
    in = pawl_take_write_until(LOCK, M_DEADLINE);
    m_end();
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
    bool in;
    m_begin("pawl_try_write");
    in = pawl_try_write(LOCK);
    m_end();
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
    bool in;
    m_begin("pawl_try_read_counted");
    in = pawl_try_read_counted(LOCK);
    m_end();
    if (in)
        reads_on_and_drops_counted();
}

/* ---- The end of a thread --------------------------------------------------------------------- */

/* No drop sets BIASED: a thread that has given back its line gets no other by a drop. */
static void read_once_in_a_life(void)
{
    m_begin_system();
    read_once();
    pawl_entries_mode_(ENTRIES_EVIDENCE);
}

/* The destructor of a key that comes after ours drops R, which is in the word by then. */
static void ends_while_it_reads(void)
{
    M_STEP(pawl_thread_exit_());
    m_demand(entries_all()->lines[0].joined == 0, M_RESTORED, "it has kept its line");
    reads_on_and_drops();
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
    unsigned i;
    scaling();
    pawl_entries_mode_(ENTRIES_EVIDENCE);
    for (i = 0; i < ENTRIES_NOTES; i++) {
        entries_all()->notes[i].identity = (pawl_address_)(uintptr_t)LOCK;
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
    unsigned i;
    scaling();
    for (i = 1; i < PAWL_ENTRIES; i++)
        pawl_take_read(OTHER);
}

static void is_interrupted_beside_full_entries(void)
{
    unsigned i;
    is_interrupted_in_a_take();
    for (i = 1; i < PAWL_ENTRIES; i++)
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
    pawl_entries_mode_(ENTRIES_ON);
    LOCK->word = PAWL_LOCK_BIASED;
}

/* The reader enters after the try's first look, and moves R to the word after the claim. It reads
 * and drops R there, so the claimant's second look finds nothing. Only the word orders the two. */
static void reads_where_a_move_fails(void)
{
    bool moved;
    M_STEP(pawl_take_read(LOCK));
    m_begin("pawl_try_read_to_seek");
    moved = pawl_try_read_to_seek(LOCK);
    m_end();
    (void)m_read(0);
    if (moved)
        M_STEP(pawl_drop_seek(LOCK));
    else
        M_STEP(pawl_drop_read(LOCK));
}

/* Its drop would order more than its entry does, so it stays in until all have ended. */
static void stays_in_if_it_may(void)
{
    bool in;
    m_begin("pawl_try_atomic");
    in = pawl_try_atomic(LOCK);
    m_end();
    if (in)
        pawl_store_relaxed64(&STAGE->mark, 1);
}

/* The other's change of the word alone orders this update after the reads that it waited for. */
static void joins_the_one_that_stays(void)
{
    bool in;
    if (pawl_load_relaxed64(&STAGE->mark) == 0)
        return;
    m_begin("pawl_try_atomic");
    in = pawl_try_atomic(LOCK);
    m_end();
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

/* ---- Evidence: one thread, which plays all parts --------------------------------------------- */

/* The note of the lock is another lock's, of which much is known. */
static void there_is_evidence_of_others(void)
{
    unsigned i;
    m_register_threads(1);
    pawl_entries_mode_(ENTRIES_EVIDENCE);
    for (i = 0; i < ENTRIES_NOTES; i++) {
        entries_all()->notes[i].identity = 1;
        entries_all()->notes[i].readers = 31;
        entries_all()->notes[i].looks = 3;
        entries_all()->notes[i].begun = entries_all()->notes[i].spent = UINT64_MAX / 2;
        entries_all()->notes[i].since = entries_all()->notes[i].away = UINT64_MAX / 2;
        entries_all()->notes[i].off_until = UINT64_MAX;
    }
}

/* The note of the lock: the one that is no longer another's. */
static struct entries_note *note_of_lock(void)
{
    unsigned i;
    for (i = 0; i < ENTRIES_NOTES; i++)
        if (entries_all()->notes[i].identity == (pawl_address_)(uintptr_t)LOCK)
            return &entries_all()->notes[i];
    return NULL;
}

/* Readers whose fast path another reader has disturbed. */
static void readers_meet(unsigned count)
{
    while (count-- > 0) {
        M_STEP(PAWL_SYMBOL_(pawl_lock32_take_read_slow)(LOCK, PAWL_NO_DEADLINE));
        M_STEP(pawl_drop_read(LOCK));
    }
}

static void a_reader_meets_a_writer(void)
{
    M_STEP(pawl_take_write(LOCK));
    m_demand(!pawl_take_read_until(LOCK, 0), M_EXCLUSION, "it reads beside a writer");
    M_STEP(pawl_drop_write(LOCK));
}

static void scales(bool expected, const char *otherwise)
{
    m_demand(((LOCK->word & PAWL_LOCK_BIASED) != 0) == expected, M_RESTORED, otherwise);
}

/* One write in four is timed, and its look takes a nanosecond of the models. */
static void writes_often(unsigned count)
{
    while (count-- > 0)
        writes();
}

static void gathers_evidence(void)
{
    readers_meet(31);
    scales(false, "it has BIASED before 32 readers have met another");
    readers_meet(1);
    scales(true, "it has no BIASED though 32 readers have met another");
    m_pass_time(10); /* one timed look takes less than a third of that, two of them more */
    writes_often(7);
    scales(true, "an account of seven looks takes BIASED away");
    writes_often(1);
    scales(false, "it keeps BIASED though looks have taken more than a third of the time");
    readers_meet(32);
    scales(false, "it has BIASED soon after dear looks");
    m_pass_time(1000);
    readers_meet(31);
    scales(false, "readers from before dear looks count");
    readers_meet(1);
    scales(true, "it has no BIASED, long after dear looks");
    m_pass_time(100000);
    writes_often(16);
    scales(true, "looks that take less than a third of the time take BIASED away");
    writes_often(8);
    scales(false, "it keeps BIASED though looks are dear since the account began anew");
}

/* As after 32 readers that have met another. */
static void enough_readers_meet(void)
{
    note_of_lock()->readers = 31;
    readers_meet(1);
}

/* Looks are as dear as they were above. */
static void looks_pay_where_many_read(void)
{
    unsigned i;
    readers_meet(32);
    m_pass_time(10);
    for (i = 0; i < 16; i++)
        reads();
    writes_often(8);
    scales(true, "dear looks take BIASED away, though the word had taken longer for so many reads");
    writes_often(8); /* the account begins anew */
    m_pass_time(10);
    writes_often(8);
    scales(false, "reads of another account keep BIASED");
    m_pass_time(1000);
    readers_meet(32);
    scales(true, "it has no BIASED, long after dear looks");
    m_pass_time(10);
    reads();
    writes_often(8);
    scales(false, "one read keeps BIASED though looks are dear");
}

/* BIASED comes back and goes at once. Each time it stays away for twice as long as before. */
static void loses_it_again_and_again(void)
{
    uint64_t away = 0;
    unsigned i;
    readers_meet(1); /* the note is this lock's now */
    for (i = 0; i < 3; i++) {
        const uint64_t before = away;
        enough_readers_meet();
        scales(true, "it has no BIASED although its time away is over");
        writes_often(8);
        scales(false, "it keeps BIASED though looks have taken more than a third of the time");
        away = note_of_lock()->away;
        m_demand(i == 0 || away == 2 * before, M_RESTORED, "it is not away for twice as long");
        m_pass_time(away / 2);
        enough_readers_meet();
        scales(false, "it has BIASED before the end of its time away");
        m_pass_time(away);
    }
    enough_readers_meet();
    m_pass_time(1000000);
    writes_often(16);
    scales(true, "looks that take less than a third of the time take BIASED away");
    writes_often(8);
    scales(false, "it keeps BIASED though looks are dear since the account began anew");
    m_demand(note_of_lock()->away < away, M_RESTORED,
             "BIASED was of use, and yet it is away for longer than before");
}

/* While the lock scales, its note becomes another lock's, whose looks were dear. */
static void does_not_pay_for_others(void)
{
    struct entries_note *note;
    readers_meet(32);
    scales(true, "it has no BIASED though 32 readers have met another");
    note = note_of_lock();
    note->identity = 1;
    note->looks = 7;
    note->begun = note->spent = UINT64_MAX / 2;
    writes_often(1);
    scales(true, "looks of another lock take BIASED away");
}

static void a_writer_disturbs_evidence(void)
{
    readers_meet(1);
    a_reader_meets_a_writer();
    readers_meet(31);
    scales(false, "readers from before a writer count");
    readers_meet(1);
    scales(true, "it has no BIASED after a writer and 32 readers");
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
    {"bias_by_evidence", there_is_evidence_of_others, {gathers_evidence}, nobody_is_in, ""},
    {"bias_for_many_reads", there_is_evidence_of_others, {looks_pay_where_many_read}, nobody_is_in,
     ""},
    {"bias_beside_another_account", there_is_evidence_of_others, {does_not_pay_for_others},
     nobody_is_in, ""},
    {"bias_comes_back_later", there_is_evidence_of_others, {loses_it_again_and_again}, nobody_is_in,
     ""},
    {"bias_after_a_writer", there_is_evidence_of_others, {a_writer_disturbs_evidence}, nobody_is_in,
     ""},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
