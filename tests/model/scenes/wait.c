/* SPDX-License-Identifier: MIT */
/* Waiting on addresses, bit locks, condition variables, event counts: no wake is lost, and who is
 * woken sees what was done before. */
#include <pawl/bitlock.h>
#include <pawl/cond.h>
#include <pawl/wait.h>

#include "scenes.h"

#include <stddef.h>

#define OS_LATCH_REST(tries) ((void)(tries), pawl_cpu_relax())
#include "../../../src/os/latch.h"

struct stage {
    uint64_t wide;
    uint32_t word;
    uint32_t other;
    uint8_t narrow;
    struct os_latch latch;
    pawl_lock32 lock;
    pawl_spin32 spin;
    pawl_cond cond;
    pawl_eventcount event;
};
#define STAGE M_SCENE(struct stage)

/* ---- One word -------------------------------------------------------------------------------- */

static void waits32(void)
{
    m_begin("pawl_wait32");
    while (pawl_load_relaxed32(&STAGE->word) == 0)
        (void)pawl_wait32(&STAGE->word, 0);
    m_end();
}

static void wakes32(void)
{
    m_begin("pawl_wake_one");
    pawl_store_relaxed32(&STAGE->word, 1);
    (void)pawl_wake_one(&STAGE->word);
    m_end();
}

static void wakes_all32(void)
{
    m_begin("pawl_wake_all");
    pawl_store_relaxed32(&STAGE->word, 1);
    (void)pawl_wake_all(&STAGE->word);
    m_end();
}

static void waits64(void)
{
    m_begin("pawl_wait64");
    while (pawl_load_relaxed64(&STAGE->wide) == 0)
        (void)pawl_wait64(&STAGE->wide, 0);
    m_end();
}

static void wakes64(void)
{
    m_begin("pawl_wake_one");
    pawl_store_relaxed64(&STAGE->wide, 1);
    (void)pawl_wake_one(&STAGE->wide);
    m_end();
}

static void wakes_all64(void)
{
    m_begin("pawl_wake_all");
    pawl_store_relaxed64(&STAGE->wide, 1);
    (void)pawl_wake_all(&STAGE->wide);
    m_end();
}

static void waits8(void)
{
    m_begin("pawl_wait8");
    while (pawl_load_relaxed8(&STAGE->narrow) == 0)
        (void)pawl_wait8(&STAGE->narrow, 0);
    m_end();
}

static void wakes8(void)
{
    m_begin("pawl_wake_one");
    pawl_store_relaxed8(&STAGE->narrow, 1);
    (void)pawl_wake_one(&STAGE->narrow);
    m_end();
}

/* The time may be over at any moment; the word says what came of it. */
static void waits_until(void)
{
    M_STEP(pawl_wait64_until(&STAGE->wide, 0, 1000));
}

/* The look is where threads may change. */
static void time_goes_by(void)
{
    (void)pawl_load_relaxed32(&STAGE->word);
    m_pass_time(2000);
}

static void waits_shared(void)
{
    m_begin("pawl_wait32_shared");
    while (pawl_load_relaxed32(&STAGE->word) == 0)
        (void)pawl_wait32_shared(&STAGE->word, 0);
    m_end();
}

static void wakes_shared(void)
{
    m_begin("pawl_wake_all_shared");
    pawl_store_relaxed32(&STAGE->word, 1);
    (void)pawl_wake_all_shared(&STAGE->word);
    m_end();
}

static void waits_for_any(void)
{
    struct pawl_watch watches[2];
    uint32_t which = 0;
    watches[0].address = &STAGE->word;
    watches[0].bits = 32;
    watches[0].mask = UINT32_MAX;
    watches[0].value = 0;
    watches[1] = watches[0];
    watches[1].address = &STAGE->other;
    m_begin("pawl_wait_any");
    while (pawl_load_relaxed32(&STAGE->word) == 0 && pawl_load_relaxed32(&STAGE->other) == 0)
        (void)pawl_wait_any(watches, 2, &which);
    m_end();
}

static void wakes_other(void)
{
    m_begin("pawl_wake_one");
    pawl_store_relaxed32(&STAGE->other, 1);
    (void)pawl_wake_one(&STAGE->other);
    m_end();
}

/* ---- A bit as a lock ------------------------------------------------------------------------- */

static void counts_and_drops_bit(void)
{
    m_write(0, m_read(0) + 1);
    M_STEP(pawl_bitlock32_drop(&STAGE->word, 3));
}

static void counts_under_bit(void)
{
    M_STEP(pawl_bitlock32_take(&STAGE->word, 3));
    counts_and_drops_bit();
}

static void counts_twice_under_bit(void)
{
    counts_under_bit();
    counts_under_bit();
}

static void counts_if_free(void)
{
    M_DO(bool got = pawl_bitlock32_try(&STAGE->word, 3));
    if (got)
        counts_and_drops_bit();
}

static void counts_in_time(void)
{
    M_DO(bool got = pawl_bitlock32_take_until(&STAGE->word, 3, 1000));
    if (got)
        counts_and_drops_bit();
}

static void counts_under_latch(void)
{
    M_STEP(os_latch_enter(&STAGE->latch));
    m_write(0, m_read(0) + 1);
    M_STEP(os_latch_leave(&STAGE->latch));
}

static void counted(uint64_t least, uint64_t most)
{
    const uint64_t sections = m_read(0);
    m_demand(least <= sections && sections <= most, M_EXCLUSION, "two were in at once");
    m_demand(pawl_load_relaxed32(&STAGE->word) == 0, M_RESTORED, "a bit is left");
}

static void one_counted_at_least(void)
{
    counted(1, 2);
}

static void two_counted_at_least(void)
{
    counted(2, 3);
}

static void two_counted(void)
{
    counted(2, 2);
}

static void three_counted(void)
{
    counted(3, 3);
}

static void four_counted(void)
{
    counted(4, 4);
}

/* ---- Condition variable and event count ------------------------------------------------------ */

static void waits_for_item(void)
{
    M_STEP(pawl_lock32_take_write(&STAGE->lock));
    m_begin("pawl_cond_wait_write");
    while (m_read(0) == 0)
        pawl_lock32_cond_wait_write(&STAGE->cond, &STAGE->lock);
    m_end();
    m_write(0, 0);
    M_STEP(pawl_lock32_drop_write(&STAGE->lock));
}

static void puts_item(void)
{
    M_STEP(pawl_lock32_take_write(&STAGE->lock));
    m_write(0, 1);
    M_STEP(pawl_lock32_drop_write(&STAGE->lock));
    M_STEP(pawl_cond_signal(&STAGE->cond));
}

/* All who wait for it see it; those who write follow each other into the lock. */
static void waits_to_write(void)
{
    M_STEP(pawl_spin32_take_write(&STAGE->spin));
    m_begin("pawl_cond_wait_write");
    while (m_read(0) == 0)
        pawl_spin32_cond_wait_write(&STAGE->cond, &STAGE->spin);
    m_end();
    m_write(1, m_read(1) + 1);
    M_STEP(pawl_spin32_drop_write(&STAGE->spin));
}

static void waits_to_read(void)
{
    M_STEP(pawl_spin32_take_read(&STAGE->spin));
    m_begin("pawl_cond_wait_read");
    while (m_read(0) == 0)
        pawl_spin32_cond_wait_read(&STAGE->cond, &STAGE->spin);
    m_end();
    M_STEP(pawl_spin32_drop_read(&STAGE->spin));
}

static void waits_to_write_until(void)
{
    M_STEP(pawl_spin32_take_write(&STAGE->spin));
    m_begin("pawl_cond_wait_write_until");
    if (m_read(0) == 0 && pawl_spin32_cond_wait_write_until(&STAGE->cond, &STAGE->spin, 1000))
        m_demand(m_read(0) == 1, M_VISIBILITY, "signalled, and nothing has changed");
    m_end();
    M_STEP(pawl_spin32_drop_write(&STAGE->spin));
}

static void changes(void)
{
    M_STEP(pawl_spin32_take_write(&STAGE->spin));
    m_write(0, 1);
    M_STEP(pawl_spin32_drop_write(&STAGE->spin));
}

static void changes_and_tells_all(void)
{
    changes();
    M_STEP(pawl_cond_broadcast(&STAGE->cond));
}

static void changes_and_tells_one(void)
{
    changes();
    M_STEP(pawl_cond_signal(&STAGE->cond));
}

static void nobody_waits(void)
{
    m_demand(STAGE->cond.waiting == 0, M_RESTORED, "a waiter is still counted");
    m_demand(STAGE->spin.word == 0, M_RESTORED, "the lock is still held");
}

/* Whether it was in time or late, what was changed before the notification that it saw is seen. */
static void waits_for_event_until(void)
{
    M_DO(uint32_t key = pawl_eventcount_prepare(&STAGE->event));
    m_begin("pawl_eventcount_commit_until");
    if (pawl_eventcount_commit_until(&STAGE->event, key, 1000))
        m_demand(m_read(0) == 1, M_VISIBILITY, "notified, and nothing has changed");
    m_end();
}

static void nobody_is_about_to_sleep(void)
{
    m_demand(STAGE->event.waiters == 0, M_RESTORED, "a waiter is still counted");
}

static void writes_and_notifies(void)
{
    m_write(0, 1);
    M_STEP(pawl_eventcount_notify_one(&STAGE->event));
}

static void waits_for_event(void)
{
    for (;;) {
        M_DO(uint32_t key = pawl_eventcount_prepare(&STAGE->event));
        if (pawl_load_relaxed32(&STAGE->word) != 0) {
            M_STEP(pawl_eventcount_cancel(&STAGE->event));
            return;
        }
        M_STEP(pawl_eventcount_commit(&STAGE->event, key));
    }
}

static void notifies(void)
{
    m_begin("pawl_eventcount_notify_one");
    pawl_store_relaxed32(&STAGE->word, 1);
    pawl_eventcount_notify_one(&STAGE->event);
    m_end();
}

static void notifies_all(void)
{
    m_begin("pawl_eventcount_notify_all");
    pawl_store_relaxed32(&STAGE->word, 1);
    pawl_eventcount_notify_all(&STAGE->event);
    m_end();
}

extern const struct m_scene m_wait_scenes[];
/* clang-format off */
const struct m_scene m_wait_scenes[] = {
    {"wait_in_the_kernel", NULL, {waits32, wakes32}, NULL, "preempt=3"},
    {"wait_in_the_kernel_of_two", NULL, {wakes_all32, waits32, waits32}, NULL, "preempt=2"},
    {"wait_in_the_list", NULL, {waits64, wakes64}, NULL, "preempt=3"},
    {"wait_in_the_list_of_two", NULL, {wakes_all64, waits64, waits64}, NULL, "preempt=2"},
    {"wait_on_a_byte", NULL, {waits8, wakes8}, NULL, "preempt=3"},
    {"wait_that_may_be_late", NULL, {waits_until, wakes64, time_goes_by}, NULL, "preempt=2"},
    {"wait_for_one_of_two", NULL, {waits_for_any, wakes32}, NULL, "preempt=2"},
    {"wait_for_the_other_of_two", NULL, {waits_for_any, wakes_other}, NULL, "preempt=2"},
    {"bitlock_of_two", NULL, {counts_under_bit, counts_under_bit}, two_counted,
     "preempt=3 fences=1"},
    {"bitlock_taken_twice_beside_one", NULL, {counts_twice_under_bit, counts_under_bit},
     three_counted, "preempt=3 fences=1"},
    {"bitlock_taken_twice_beside_two", NULL,
     {counts_twice_under_bit, counts_under_bit, counts_under_bit}, four_counted,
     "preempt=2 fences=1"},
    {"bitlock_that_may_be_late", NULL, {counts_twice_under_bit, counts_in_time, time_goes_by},
     two_counted_at_least, "preempt=2 fences=1"},
    {"bitlock_tried_beside_a_holder", NULL, {counts_if_free, counts_under_bit},
     one_counted_at_least, "preempt=3"},
    {"bitlock_tried_by_two", NULL, {counts_if_free, counts_if_free}, one_counted_at_least,
     "preempt=3"},
    {"os_latch_of_two", NULL, {counts_under_latch, counts_under_latch}, two_counted, "preempt=3"},
    {"cond_signal_beside_a_wait", NULL, {waits_for_item, puts_item}, NULL, "preempt=2"},
    {"event_notified", NULL, {waits_for_event, notifies}, nobody_is_about_to_sleep, "preempt=3"},
    {"event_notified_to_two", NULL, {notifies_all, waits_for_event, waits_for_event},
     nobody_is_about_to_sleep, "preempt=2"},
    {"wait_between_processes", NULL, {waits_shared, wakes_shared}, NULL, "preempt=3"},
    {"cond_broadcast_to_two_writers", NULL,
     {waits_to_write, waits_to_write, changes_and_tells_all}, nobody_waits, "preempt=2"},
    {"cond_broadcast_to_readers_and_writers", NULL,
     {waits_to_write, waits_to_read, changes_and_tells_all}, nobody_waits, "preempt=2"},
    {"cond_wait_that_may_be_late", NULL,
     {waits_to_write_until, changes_and_tells_one, time_goes_by}, nobody_waits, "preempt=2"},
    {"event_that_may_be_late", NULL, {waits_for_event_until, writes_and_notifies, time_goes_by},
     nobody_is_about_to_sleep, "preempt=2"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
