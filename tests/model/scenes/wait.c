/* SPDX-License-Identifier: MIT */
/* Waiting on addresses, bit locks, condition variables, event counts: no wake is lost, and who is
 * woken sees what was done before. */
#include <pawl/bitlock.h>
#include <pawl/cond.h>
#include <pawl/wait.h>

#include "scenes.h"

#include <stddef.h>

struct stage {
    uint64_t wide;
    uint32_t word;
    uint32_t other;
    uint8_t narrow;
    pawl_lock32 lock;
    pawl_cond cond;
    pawl_event event;
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
    m_begin("pawl_wait64_until");
    (void)pawl_wait64_until(&STAGE->wide, 0, 1000);
    m_end();
}

static void time_goes_by(void)
{
    m_pass_time(2000);
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

static void counts_under_bit(void)
{
    m_begin("pawl_bitlock32_take");
    pawl_bitlock32_take(&STAGE->word, 3);
    m_end();
    m_write(0, m_read(0) + 1);
    m_begin("pawl_bitlock32_drop");
    pawl_bitlock32_drop(&STAGE->word, 3);
    m_end();
}

static void two_counted(void)
{
    m_demand(m_read(0) == 2, M_EXCLUSION, "two were in at once");
    m_demand(pawl_load_relaxed32(&STAGE->word) == 0, M_RESTORED, "a bit is left");
}

/* ---- Condition variable and event count ------------------------------------------------------ */

static void waits_for_item(void)
{
    m_begin("pawl_lock32_take_write");
    pawl_lock32_take_write(&STAGE->lock);
    m_end();
    m_begin("pawl_cond_wait_write");
    while (m_read(0) == 0)
        pawl_lock32_cond_wait_write(&STAGE->cond, &STAGE->lock);
    m_end();
    m_write(0, 0);
    m_begin("pawl_lock32_drop_write");
    pawl_lock32_drop_write(&STAGE->lock);
    m_end();
}

static void puts_item(void)
{
    m_begin("pawl_lock32_take_write");
    pawl_lock32_take_write(&STAGE->lock);
    m_end();
    m_write(0, 1);
    m_begin("pawl_lock32_drop_write");
    pawl_lock32_drop_write(&STAGE->lock);
    m_end();
    m_begin("pawl_cond_signal");
    (void)pawl_cond_signal(&STAGE->cond);
    m_end();
}

static void waits_for_event(void)
{
    for (;;) {
        uint32_t key;
        m_begin("pawl_event_prepare");
        key = pawl_event_prepare(&STAGE->event);
        m_end();
        if (pawl_load_relaxed32(&STAGE->word) != 0) {
            m_begin("pawl_event_cancel");
            pawl_event_cancel(&STAGE->event);
            m_end();
            return;
        }
        m_begin("pawl_event_commit");
        pawl_event_commit(&STAGE->event, key);
        m_end();
    }
}

static void notifies(void)
{
    m_begin("pawl_event_notify_one");
    pawl_store_relaxed32(&STAGE->word, 1);
    pawl_event_notify_one(&STAGE->event);
    m_end();
}

static void notifies_all(void)
{
    m_begin("pawl_event_notify_all");
    pawl_store_relaxed32(&STAGE->word, 1);
    pawl_event_notify_all(&STAGE->event);
    m_end();
}

extern const struct m_scene m_wait_scenes[];
const struct m_scene m_wait_scenes[] = {
    {"wait_in_the_kernel", NULL, {waits32, wakes32}, NULL, "preempt=3"},
    {"wait_in_the_kernel_of_two", NULL, {wakes_all32, waits32, waits32}, NULL, "preempt=2"},
    {"wait_in_the_list", NULL, {waits64, wakes64}, NULL, "preempt=3"},
    {"wait_in_the_list_of_two", NULL, {wakes_all64, waits64, waits64}, NULL, "preempt=2"},
    {"wait_on_a_byte", NULL, {waits8, wakes8}, NULL, "preempt=3"},
    {"wait_that_may_be_late", NULL, {time_goes_by, waits_until, wakes64}, NULL, "preempt=2"},
    {"wait_for_one_of_two", NULL, {waits_for_any, wakes32}, NULL, "preempt=2"},
    {"wait_for_the_other_of_two", NULL, {waits_for_any, wakes_other}, NULL, "preempt=2"},
    {"bitlock_of_two", NULL, {counts_under_bit, counts_under_bit}, two_counted, "preempt=3"},
    {"cond_signal_beside_a_wait", NULL, {waits_for_item, puts_item}, NULL, "preempt=2"},
    {"event_notified", NULL, {waits_for_event, notifies}, NULL, "preempt=3"},
    {"event_notified_to_two", NULL, {notifies_all, waits_for_event, waits_for_event}, NULL,
     "preempt=2"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
