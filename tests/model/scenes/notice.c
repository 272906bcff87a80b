/* SPDX-License-Identifier: MIT */
/*
 * Requests of an event loop beside wakes, drops and other waiters. The descriptor is a word of the
 * scene, by which the harness lets the loop sleep. It orders nothing, so the loop sees by the
 * request what others did.
 */
#include <pawl/detail/hook.h>
#include <pawl/notice.h>

#include "scenes.h"

#include <stddef.h>

struct stage {
    pawl_lock64 lock;
    uint64_t word;
    uint32_t told; /* how often the descriptor was written */
    pawl_notice request;
};
#define STAGE M_SCENE(struct stage)

void pawl_hook_tell(int descriptor)
{
    (void)descriptor;
    (void)pawl_fetch_add_relaxed32(&STAGE->told, 1);
    (void)pawl_hook_wake(&STAGE->told, 1);
}

/* The turns of a loop: it sleeps until the descriptor is written once more, and goes on. */
static void until_ready(void)
{
    uint32_t heard = 0;
    while (pawl_notice_go_on(&STAGE->request) == PAWL_NOTICE_PENDING) {
        while (pawl_load_relaxed32(&STAGE->told) == heard)
            (void)pawl_hook_wait(&STAGE->told, heard, UINT64_MAX);
        heard = pawl_load_relaxed32(&STAGE->told);
    }
}

static void made(void)
{
    (void)pawl_notice_init(&STAGE->request, 0);
}

/* ---- At a word ------------------------------------------------------------------------------- */

static void loop_waits_for_the_word(void)
{
    const struct pawl_watch watch = {&STAGE->word, 0, UINT64_MAX, 64};
    m_begin("pawl_notice_watch");
    while (pawl_load_relaxed64(&STAGE->word) == 0)
        if (pawl_notice_watch(&STAGE->request, &watch) == PAWL_NOTICE_PENDING)
            until_ready();
    m_end();
}

static void loop_cancels_at_the_word(void)
{
    const struct pawl_watch watch = {&STAGE->word, 0, UINT64_MAX, 64};
    m_begin("pawl_notice_cancel");
    (void)pawl_notice_watch(&STAGE->request, &watch);
    pawl_notice_cancel(&STAGE->request);
    m_end();
}

static void thread_waits_for_the_word(void)
{
    m_begin("pawl_wait64");
    while (pawl_load_relaxed64(&STAGE->word) == 0)
        (void)pawl_wait64(&STAGE->word, 0);
    m_end();
}

static void wakes_one(void)
{
    m_begin("pawl_wake_one");
    pawl_store_relaxed64(&STAGE->word, 1);
    (void)pawl_wake_one(&STAGE->word);
    m_end();
}

/* ---- At a lock ------------------------------------------------------------------------------- */

static void loop_writes(void)
{
    m_begin("pawl_notice_lock64");
    if (pawl_notice_lock64(&STAGE->request, &STAGE->lock, PAWL_STATE_W) == PAWL_NOTICE_PENDING)
        until_ready();
    m_write(0, m_read(0) + 1);
    pawl_notice_drop64(&STAGE->lock, PAWL_STATE_W);
    m_end();
}

static void loop_reads(void)
{
    m_begin("pawl_notice_lock64");
    if (pawl_notice_lock64(&STAGE->request, &STAGE->lock, PAWL_STATE_R) == PAWL_NOTICE_PENDING)
        until_ready();
    (void)m_read(0);
    pawl_notice_drop64(&STAGE->lock, PAWL_STATE_R);
    m_end();
}

static void loop_cancels_a_write(void)
{
    m_begin("pawl_notice_cancel");
    if (pawl_notice_lock64(&STAGE->request, &STAGE->lock, PAWL_STATE_W) == PAWL_NOTICE_READY) {
        m_write(0, m_read(0) + 1);
        pawl_notice_drop64(&STAGE->lock, PAWL_STATE_W);
    } else {
        pawl_notice_cancel(&STAGE->request);
    }
    m_end();
}

static void thread_writes(void)
{
    m_begin("pawl_lock64_take_write");
    pawl_lock64_take_write(&STAGE->lock);
    m_write(0, m_read(0) + 1);
    pawl_lock64_drop_write(&STAGE->lock);
    m_end();
}

static void thread_reads(void)
{
    m_begin("pawl_lock64_take_read");
    pawl_lock64_take_read(&STAGE->lock);
    (void)m_read(0);
    pawl_lock64_drop_read(&STAGE->lock);
    m_end();
}

static void the_lock_is_free(void)
{
    m_demand(STAGE->lock.word == 0, M_RESTORED, "the lock has a claim left, or a sleeper");
}

extern const struct m_scene m_notice_scenes[];
/* clang-format off */
const struct m_scene m_notice_scenes[] = {
    {"notice_at_a_word", made, {loop_waits_for_the_word, wakes_one}, NULL, "preempt=3"},
    {"notice_cancelled_beside_a_wake", made,
     {loop_cancels_at_the_word, thread_waits_for_the_word, wakes_one}, NULL, "preempt=2"},
    {"notice_writes_beside_a_writer", made, {loop_writes, thread_writes}, the_lock_is_free,
     "preempt=3"},
    {"notice_writes_beside_a_reader", made, {loop_writes, thread_reads}, the_lock_is_free,
     "preempt=3"},
    {"notice_reads_beside_a_writer", made, {loop_reads, thread_writes}, the_lock_is_free,
     "preempt=3"},
    {"notice_cancelled_at_a_lock", made, {loop_cancels_a_write, thread_writes, thread_reads},
     the_lock_is_free, "preempt=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
