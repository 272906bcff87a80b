/* SPDX-License-Identifier: MIT */
/*
 * Locks that sleep, where scripts (src/suite_locks.rs) do not look: hand-overs and the time between
 * them, the hint by which releasers leave the queue alone, wakes that come to nothing. And the
 * words by which the system layer lends priority.
 */
#include <pawl/detail/hook.h>
#include <pawl/lock.h>
#include <pawl/thread.h>

#include "../../../src/lock/table.h"
#include "scenes.h"

#include <stddef.h>

/* A value that no access of the library finds: a model with REACH fails unless it was seen. */
#define MARK (UINT64_C(1) << 63)
#define REACH " reach=9223372036854775808"

struct stage {
    pawl_lock32 lock;
    uint32_t lent;
    uint32_t inside;
    uint32_t handed; /* hand-overs that somebody saw */
    uint32_t came;   /* for which another sleeps */
    uint64_t mark;
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->lock)

static void held_for_writing(void)
{
    pawl_take_write(LOCK);
}

static void give_way(void)
{
    m_begin("gives way");
    pawl_hook_yield();
    m_end();
}

static void reach(void)
{
    pawl_store_relaxed64(&STAGE->mark, MARK);
    (void)pawl_load_relaxed64(&STAGE->mark);
}

/* ---- The hint -------------------------------------------------------------------------------- */

/* The reader is awake and in the queue at some moment, and the bucket says so. */
static void looks_for_the_hint_and_drops(void)
{
    const struct pawl_bucket *buckets = table_here()->first;
    const ipawl_address_ lock = (ipawl_address_)(uintptr_t)LOCK;
    m_begin("looks for the hint");
    for (uint32_t i = 0; i < 1u << PAWL_TABLE_BITS; i++)
        if (PAWL_ADDRESS_(pawl_load_relaxed)(&buckets[i].awake_for) == lock &&
            pawl_load_relaxed64(&buckets[i].quiet_until) > pawl_hook_now())
            reach();
    m_end();
    M_STEP(pawl_drop_write(LOCK));
}

static void reads(void)
{
    M_STEP(pawl_take_read(LOCK));
    M_STEP(pawl_drop_read(LOCK));
}

static void nobody_is_left(void)
{
    const struct pawl_lists *table = table_here();
    m_demand(pawl_load_relaxed32(&LOCK->word) == 0, M_RESTORED, "units are left");
    m_demand(pawl_load_relaxed32(&table->queues) == 0, M_RESTORED, "a queue is left");
    for (uint32_t i = 0; i < 1u << PAWL_TABLE_BITS; i++) {
        m_demand(table->first[i].queues == NULL && table->first[i].urgent == 0, M_RESTORED,
                 "a bucket seems to hold somebody");
        m_demand(table->first[i].awake_for == 0, M_RESTORED, "somebody seems to be awake");
    }
}

/* It wakes both readers, overtakes them, and wakes them again. */
static void wakes_both_twice(void)
{
    give_way();
    M_STEP(pawl_drop_write(LOCK));
    m_pass_time(1000);
    M_STEP(pawl_take_write(LOCK));
    give_way();
    M_STEP(pawl_drop_write(LOCK));
    m_begin("waits for a reader");
    while (pawl_load_relaxed32(&STAGE->came) == 0)
        (void)pawl_hook_wait(&STAGE->came, 0, PAWL_NO_DEADLINE);
    m_end();
    m_pass_time(100);
}

static void reads_and_tells(void)
{
    reads();
    m_begin("tells that it has read");
    pawl_store_relaxed32(&STAGE->came, 1);
    (void)pawl_hook_wake(&STAGE->came, 1);
    m_end();
}

/* ---- Who gives up looks for those who stay --------------------------------------------------- */

static void held_for_seeking(void)
{
    pawl_take_seek(LOCK);
}

/* One seeker sleeps, another asks once and is on its way out. The drop may find the hint that this
 * one is awake, and leave the sleeper to it. So this one, having taken the hint back, must find the
 * drop when it looks; or the drop finds the hint taken back. */
static void drops_seek(void)
{
    M_STEP(pawl_drop_seek(LOCK));
}

static void asks_once(void)
{
    m_begin("pawl_take_seek_until, in the past");
    bool in = pawl_take_seek_until(LOCK, 0);
    m_end();
    if (in)
        drops_seek();
}

static void seeks(void)
{
    M_STEP(pawl_take_seek(LOCK));
    drops_seek();
}

/* ---- Hand-overs ------------------------------------------------------------------------------ */

/* The caller holds W. Besides its own units the word may show those of claims, which have R with
 * them, and those of one who keeps a claim. */
static void looks_for_a_keeper(void)
{
    give_way();
    m_begin("looks whether the lock is handed over");
    uint32_t w = pawl_load_relaxed32(&LOCK->word);
    if (w / PAWL_SPIN32_W > (w & (PAWL_SPIN32_S - 1)) / PAWL_SPIN32_R) {
        STAGE->handed++;
        reach();
    }
    m_demand(STAGE->handed <= 1, M_PROGRESS, "the lock is handed over twice in one moment");
    m_end();
}

/* When both others have slept long enough it lets go, and overtakes whom it has woken. */
static void overtakes(void)
{
    give_way();
    m_pass_time(PAWL_LOCK_HANDOFF_NS);
    M_STEP(pawl_drop_write(LOCK));
    M_STEP(pawl_take_write(LOCK));
    looks_for_a_keeper();
    M_STEP(pawl_drop_write(LOCK));
}

/* To whom the lock is handed over, and who then overtakes too. */
static void writes_twice(void)
{
    M_STEP(pawl_take_write(LOCK));
    M_STEP(pawl_drop_write(LOCK));
    M_STEP(pawl_take_write(LOCK));
    looks_for_a_keeper();
    M_STEP(pawl_drop_write(LOCK));
}

/* It wakes the reader, overtakes it and drops again. The reader's turn has come by then. It is
 * awake, so the drop finds the hint, and locks no latch that the reader locks too. */
static void drops_by_the_hint(void)
{
    give_way();
    m_pass_time(PAWL_LOCK_HANDOFF_NS);
    M_STEP(pawl_drop_write(LOCK));
    M_STEP(pawl_take_write(LOCK));
    m_write(0, 1);
    give_way();
    M_STEP(pawl_drop_write(LOCK));
}

static void reads_what_was_written(void)
{
    M_STEP(pawl_take_read(LOCK));
    (void)m_read(0);
    M_STEP(pawl_drop_read(LOCK));
}

/* ---- Handed over before a drop --------------------------------------------------------------- */

/* True when a sleeper has a claim in the word: who tries now must find it, until it has been in. */
static bool hands_over(void)
{
    const uint32_t before = pawl_load_relaxed32(&LOCK->word);
    M_STEP(pawl_hand_off(LOCK));
    if (pawl_load_relaxed32(&LOCK->word) - before < PAWL_SPIN32_S)
        return false;
    reach();
    return true;
}

static void tries(bool handed)
{
    m_begin("pawl_try_write, after the drop");
    bool in = pawl_try_write(LOCK);
    m_end();
    if (!in)
        return;
    m_demand(!handed || pawl_load_relaxed32(&STAGE->came) != 0, M_PROGRESS,
             "a try overtakes the sleeper that was handed the lock");
    m_write(0, 2);
    M_STEP(pawl_drop_write(LOCK));
}

#define HANDS_OVER(mode)                                                                           \
    static void hands_over_##mode(void)                                                            \
    {                                                                                              \
        bool handed;                                                                               \
        give_way();                                                                                \
        handed = hands_over();                                                                     \
        M_STEP(pawl_drop_##mode(LOCK));                                                            \
        tries(handed);                                                                             \
    }
HANDS_OVER(read)
HANDS_OVER(seek)
#undef HANDS_OVER

/* What it writes, the sleeper finds written. */
static void writes_and_hands_over(void)
{
    m_write(0, 1);
    give_way();
    bool handed = hands_over();
    M_STEP(pawl_drop_write(LOCK));
    tries(handed);
}

/* The downgrade wakes one of two sleepers. The other one claims over the reader, in its sleep. */
static void downgrades_and_hands_over(void)
{
    m_write(0, 1);
    give_way();
    M_STEP(pawl_write_to_read(LOCK));
    hands_over_read();
}

static void comes(void)
{
    pawl_store_relaxed32(&STAGE->came, 1);
}

#define WAITS(mode, use)                                                                           \
    static void waits_for_##mode(void)                                                             \
    {                                                                                              \
        M_STEP(pawl_take_##mode(LOCK));                                                            \
        comes();                                                                                   \
        use;                                                                                       \
        M_STEP(pawl_drop_##mode(LOCK));                                                            \
    }
WAITS(read, (void)m_read(0))
WAITS(seek, (void)m_read(0))
WAITS(write, m_write(0, 3))
WAITS(atomic, m_write(0, 3))
#undef WAITS

/* Its deadline may pass when it has been handed the lock: then it takes it, or withdraws whole. */
static void waits_for_write_until(void)
{
    M_DO(bool in = pawl_take_write_until(LOCK, M_DEADLINE));
    comes();
    if (!in)
        return;
    m_write(0, 3);
    M_STEP(pawl_drop_write(LOCK));
}

/* ---- From reading to updating ---------------------------------------------------------------- */

static void two_read(void)
{
    pawl_take_read(LOCK);
    pawl_take_read(LOCK);
}

/* The other reader may leave between the claim and the look. Then the claimant does not sleep, and
 * its change of the word alone orders what it has read before the next atomic user. */
static void reads_and_updates(void)
{
    (void)m_read(0);
    M_DO(bool turned = pawl_read_claim_atomic(LOCK));
    m_demand(turned, M_PROGRESS, "a claim fails beside a reader");
    M_STEP(pawl_drop_atomic(LOCK));
}

static void drops_read(void)
{
    M_STEP(pawl_drop_read(LOCK));
}

static void updates_if_it_may(void)
{
    M_DO(bool in = pawl_try_atomic(LOCK));
    if (!in)
        return;
    m_write(0, 1);
    M_STEP(pawl_drop_atomic(LOCK));
}

/* ---- Readers that pass claims ---------------------------------------------------------------- */

/* It stays as a reader until the others are done. So it needs the reader that passes. */
static void writes_then_reads_until_another_came(void)
{
    m_write(0, 1);
    give_way();
    M_STEP(pawl_write_to_read(LOCK));
    m_begin("waits for a reader");
    while (pawl_load_relaxed32(&STAGE->came) == 0)
        (void)pawl_hook_wait(&STAGE->came, 0, PAWL_NO_DEADLINE);
    m_end();
    M_STEP(pawl_drop_read(LOCK));
}

static void passes_and_tells(void)
{
    m_begin("take_read_counted_ranked, passing");
    bool in = PAWL_SYMBOL_(pawl_lock32_take_read_counted_ranked)(LOCK, PAWL_NO_DEADLINE,
                                                                 PAWL_LOCK_PASSES);
    m_end();
    m_demand(in, M_PROGRESS, "it waits for ever");
    (void)m_read(0);
    M_STEP(pawl_drop_read_counted(LOCK));
    m_begin("tells that it has read");
    pawl_store_relaxed32(&STAGE->came, 1);
    (void)pawl_hook_wake(&STAGE->came, 1);
    m_end();
}

static void writes_once(void)
{
    M_STEP(pawl_take_write(LOCK));
    m_write(0, 2);
    M_STEP(pawl_drop_write(LOCK));
}

/* ---- Lent words ------------------------------------------------------------------------------ */

static void lends(void)
{
    M_DO(m_demand(pawl_os_lend(&STAGE->lent, PAWL_NO_DEADLINE), M_PROGRESS, "it waits for ever"));
    m_demand(STAGE->inside++ == 0, M_EXCLUSION, "two have the word");
    give_way();
    STAGE->inside--;
    M_STEP(pawl_os_lent(&STAGE->lent));
}

static void nobody_lends(void)
{
    m_demand(pawl_load_relaxed32(&STAGE->lent) == 0, M_RESTORED, "the word is free");
}

extern const struct m_scene m_lock_scenes[];
/* clang-format off */
const struct m_scene m_lock_scenes[] = {
    {"lock_hint_beside_a_release", held_for_writing, {looks_for_the_hint_and_drops, reads},
     nobody_is_left, "preempt=2" REACH},
    {"lock_two_wakes_of_each", held_for_writing, {wakes_both_twice, reads_and_tells, reads},
     nobody_is_left, "preempt=0"},
    {"lock_asked_once_beside_a_release", held_for_seeking, {drops_seek, asks_once, seeks},
     nobody_is_left, "preempt=2"},
    {"lock_handed_over_once_in_a_while", held_for_writing, {overtakes, writes_twice, reads},
     nobody_is_left, "preempt=0" REACH},
    {"lock_turn_of_a_reader_beside_the_hint", held_for_writing,
     {drops_by_the_hint, reads_what_was_written}, nobody_is_left, "preempt=2"},
    {"lock_handed_to_a_writer", held_for_writing, {writes_and_hands_over, waits_for_write},
     nobody_is_left, "preempt=2" REACH},
    {"lock_handed_to_a_reader", held_for_writing, {writes_and_hands_over, waits_for_read},
     nobody_is_left, "preempt=2" REACH},
    {"lock_handed_to_a_seeker", held_for_writing, {writes_and_hands_over, waits_for_seek},
     nobody_is_left, "preempt=2" REACH},
    {"lock_handed_to_an_atomic_user", held_for_writing,
     {writes_and_hands_over, waits_for_atomic}, nobody_is_left, "preempt=2" REACH},
    {"lock_handed_from_seeker_to_seeker", held_for_seeking, {hands_over_seek, waits_for_seek},
     nobody_is_left, "preempt=2" REACH},
    {"lock_handed_over_a_reader_to_a_writer", held_for_writing,
     {downgrades_and_hands_over, waits_for_write, waits_for_write}, nobody_is_left,
     "preempt=0" REACH},
    {"lock_handed_over_a_reader_to_an_atomic_user", held_for_writing,
     {downgrades_and_hands_over, waits_for_read, waits_for_atomic}, nobody_is_left,
     "preempt=0" REACH},
    {"lock_handed_to_one_that_may_be_late", held_for_writing,
     {writes_and_hands_over, waits_for_write_until}, nobody_is_left, "preempt=2" REACH},
    {"lock_read_to_atomic_beside_a_reader", two_read,
     {reads_and_updates, drops_read, updates_if_it_may}, nobody_is_left, "preempt=2"},
    {"lock_passes_a_claim", held_for_writing,
     {writes_then_reads_until_another_came, writes_once, passes_and_tells}, nobody_is_left,
     "preempt=1"},
    {"os_lend_of_two", NULL, {lends, lends}, nobody_lends, "preempt=2"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
