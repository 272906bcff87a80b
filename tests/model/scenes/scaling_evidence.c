/* SPDX-License-Identifier: MIT */
/* The evidence that turns scaling on, and dear looks that turn it off. */
#include <pawl/lock.h>

#include "scaling.h"

#include <stddef.h>

/* ---- Evidence: one thread, which plays all parts --------------------------------------------- */

/* The note of the lock is another lock's, of which much is known. */
static void there_is_evidence_of_others(void)
{
    m_register_threads(1);
    ipawl_entries_mode_(ENTRIES_EVIDENCE);
    for (unsigned i = 0; i < ENTRIES_NOTES; i++) {
        entries_all()->notes[i].identity = 1;
        entries_all()->notes[i].readers = 23;
        entries_all()->notes[i].looks = 3;
        entries_all()->notes[i].begun = entries_all()->notes[i].spent = UINT64_MAX / 2;
        entries_all()->notes[i].since = entries_all()->notes[i].away = UINT64_MAX / 2;
        entries_all()->notes[i].off_until = UINT64_MAX;
    }
}

/* The note of the lock: the one that is no longer another's. */
static struct entries_note *note_of_lock(void)
{
    for (unsigned i = 0; i < ENTRIES_NOTES; i++)
        if (entries_all()->notes[i].identity == (ipawl_address_)(uintptr_t)LOCK)
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
    readers_meet(23);
    scales(false, "it has BIASED before 24 readers have met another");
    readers_meet(1);
    scales(true, "it has no BIASED though 24 readers have met another");
    m_pass_time(10); /* one timed look takes less than a third of that, two of them more */
    writes_often(7);
    scales(true, "an account of seven looks takes BIASED away");
    writes_often(1);
    scales(false, "it keeps BIASED though looks have taken more than a third of the time");
    readers_meet(24);
    scales(false, "it has BIASED soon after dear looks");
    m_pass_time(1000);
    readers_meet(23);
    scales(false, "readers from before dear looks count");
    readers_meet(1);
    scales(true, "it has no BIASED, long after dear looks");
    m_pass_time(100000);
    writes_often(16);
    scales(true, "looks that take less than a third of the time take BIASED away");
    writes_often(8);
    scales(false, "it keeps BIASED though looks are dear since the account began anew");
}

/* As after 24 readers that have met another. */
static void enough_readers_meet(void)
{
    note_of_lock()->readers = 23;
    readers_meet(1);
}

/* Looks are as dear as they were above. */
static void looks_pay_where_many_read(void)
{
    readers_meet(24);
    m_pass_time(10);
    for (unsigned i = 0; i < 16; i++)
        reads();
    writes_often(8);
    scales(true, "dear looks take BIASED away, though the word had taken longer for so many reads");
    writes_often(8); /* the account begins anew */
    m_pass_time(10);
    writes_often(8);
    scales(false, "reads of another account keep BIASED");
    m_pass_time(1000);
    readers_meet(24);
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
    readers_meet(1); /* the note is this lock's now */
    for (unsigned i = 0; i < 3; i++) {
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
    readers_meet(24);
    scales(true, "it has no BIASED though 24 readers have met another");
    struct entries_note *note = note_of_lock();
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
    readers_meet(23);
    scales(false, "readers from before a writer count");
    readers_meet(1);
    scales(true, "it has no BIASED after a writer and 24 readers");
}

extern const struct m_scene m_scaling_evidence_scenes[];
/* clang-format off */
const struct m_scene m_scaling_evidence_scenes[] = {
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
