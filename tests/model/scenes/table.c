/* SPDX-License-Identifier: MIT */
/* Wait lists: their growth beside waiters and wakers, requeue, waits on several addresses. Nobody
 * is lost on the way, and what a latch protects is touched under it (src/base/plain.h). */
#include <pawl/thread.h>
#include <pawl/wait.h>

#include "../../../src/lock/table.h"
#include "scenes.h"

#include <stddef.h>

#define WORDS 6

struct stage {
    uint64_t words[WORDS];
    char pages[4096] __attribute__((aligned(PAWL_CACHE_LINE)));
};
#define STAGE M_SCENE(struct stage)
#define WORD(i) (&STAGE->words[i])

/* ---- Memory for longer tables ---------------------------------------------------------------- */

static size_t pages_left;
static unsigned refusals;

/* Zero at the start of an execution, like all of m_memory. */
void *pawl_hook_pages(size_t size)
{
    if (size > pages_left) {
        refusals++;
        return NULL;
    }
    pages_left -= size;
    return &STAGE->pages[pages_left];
}

static void without_pages(void)
{
    pages_left = 0;
    refusals = 0;
}

/* And hints of lock.c in each bucket, of locks that do not exist. */
static void with_pages(void)
{
    struct pawl_bucket *first = table_here()->first;
    pages_left = sizeof STAGE->pages;
    for (unsigned i = 0; i < 1u << PAWL_TABLE_BITS; i++) {
        first[i].quiet_until = 20 + i;
        first[i].awake_for = 30 + i;
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void tells(unsigned i)
{
    m_begin("pawl_wake_all");
    pawl_store_relaxed64(WORD(i), 1);
    (void)pawl_wake_all(WORD(i));
    m_end();
}

static void waits(unsigned i)
{
    m_begin("pawl_wait64");
    while (pawl_load_relaxed64(WORD(i)) == 0)
        (void)pawl_wait64(WORD(i), 0);
    m_end();
}

/* For `count` words from the first one on, until that one is told. */
static void waits_for_any(unsigned first, unsigned count)
{
    struct pawl_watch watches[PAWL_WAIT_WATCHES];
    uint32_t which = 0;
    for (unsigned i = 0; i < count; i++) {
        watches[i].address = WORD(first + i);
        watches[i].bits = 64;
        watches[i].mask = UINT64_MAX;
        watches[i].value = 0;
    }
    m_begin("pawl_wait_any");
    while (pawl_load_relaxed64(WORD(first)) == 0)
        (void)pawl_wait_any(watches, count, &which);
    m_end();
}

static void waits_for_0(void)
{
    waits(0);
}

static void waits_for_1(void)
{
    waits(1);
}

static void tells_0(void)
{
    tells(0);
}

static void tells_0_and_1(void)
{
    tells(0);
    tells(1);
}

/* ---- The latch: some queue for it, and one comes when it is free again ----------------------- */

static void looks_in(void)
{
    M_STEP(pawl_wait64_until(WORD(0), 0, 0));
}

/* ---- Growth: three queues are more than two buckets ------------------------------------------ */

static void crowds(void)
{
    waits_for_any(0, 3);
}

static void crowds_too(void)
{
    waits_for_any(3, 3);
}

static void tells_the_crowd(void)
{
    tells(0);
    tells(3);
}

static void waits_beside_the_crowd(void)
{
    waits(3);
}

/* ---- Requeue --------------------------------------------------------------------------------- */

static void moves_to_1_and_wakes(void)
{
    pawl_store_relaxed64(WORD(0), 1);
    M_STEP(pawl_requeue(WORD(0), WORD(1), 0, 1));
    M_STEP(pawl_wake_all(WORD(1)));
    M_STEP(pawl_wake_all(WORD(0)));
}

static void moves_back(void)
{
    M_STEP(pawl_requeue(WORD(1), WORD(0), 0, 1));
}

/* One is woken, the other follows when it is told. */
static void wakes_one_and_moves_one(void)
{
    pawl_store_relaxed64(WORD(0), 1);
    M_STEP(pawl_requeue(WORD(0), WORD(1), 1, 1));
    M_STEP(pawl_wake_all(WORD(1)));
}

static void moves_and_lets_time_pass(void)
{
    M_STEP(pawl_requeue(WORD(0), WORD(1), 0, 1));
    m_pass_time(2000);
}

static void waits_until(void)
{
    M_STEP(pawl_wait64_until(WORD(0), 0, 1000));
}

static void wakes_1(void)
{
    M_STEP(pawl_wake_all(WORD(1)));
}

/* ---- Several addresses, and both kinds of sleep on one --------------------------------------- */

/* Woken by both words, it has the wake that it does not need handed on. */
static void watches_both(void)
{
    waits_for_any(0, 2);
}

static void wakes_one_of_each(void)
{
    m_begin("pawl_wake_one");
    pawl_store_relaxed64(WORD(0), 1);
    (void)pawl_wake_one(WORD(0));
    pawl_store_relaxed64(WORD(1), 1);
    (void)pawl_wake_one(WORD(1));
    m_end();
}

static uint32_t *narrow(void)
{
    return (uint32_t *)(void *)WORD(0);
}

/* Some bits of it: in the list. */
static void waits_for_a_bit(void)
{
    m_begin("pawl_wait32_masked");
    while ((pawl_load_relaxed32(narrow()) & 1) == 0)
        (void)pawl_wait32_masked(narrow(), 1, 0);
    m_end();
}

/* All of it: where the system can, in the kernel. */
static void waits_for_all_bits(void)
{
    m_begin("pawl_wait32");
    while (pawl_load_relaxed32(narrow()) == 0)
        (void)pawl_wait32(narrow(), 0);
    m_end();
}

static void tells_both_kinds(void)
{
    m_begin("pawl_wake_all");
    pawl_store_relaxed32(narrow(), 1);
    (void)pawl_wake_all(narrow());
    m_end();
}

/* Each wake of the hash that sleepers were moved to asks the kernel from now on. */
static void the_kernel_is_asked(void)
{
    const struct pawl_lists *table = table_here();
    uint64_t marks = 0;
    for (unsigned i = 0; i < 1u << PAWL_TABLE_BITS; i++)
        marks |= table->first[i].sleepers;
    m_demand(marks >> 31 == 1, M_RESTORED, "no mark that the kernel has moved sleepers");
}

static void moves_the_native(void)
{
    pawl_store_relaxed32(narrow(), 1);
    m_begin("pawl_requeue");
    if (pawl_requeue(narrow(), narrow() + 1, 1, 1) > 0)
        the_kernel_is_asked();
    m_end();
}

/* ---- After it -------------------------------------------------------------------------------- */

static void nobody_is_left(void)
{
    const struct pawl_lists *table = table_here();
    const unsigned count = 1u << (PAWL_TABLE_BITS + table->doublings);
    const struct pawl_bucket *buckets =
        table->doublings == 0 ? table->first : table->grown[table->doublings - 1];
    m_demand(pawl_load_relaxed32(&table->queues) == 0, M_RESTORED, "queues are left");
    m_demand(table->growing == 0, M_RESTORED, "the table can grow no more");
    for (unsigned i = 0; i < 1u << PAWL_TABLE_BITS; i++)
        m_demand(table->first[i].sleepers == 0, M_RESTORED, "a sleeper is still counted");
    for (unsigned i = 0; i < count; i++)
        m_demand(buckets[i].queues == NULL && buckets[i].urgent == 0, M_RESTORED,
                 "a bucket seems to hold somebody");
}

/* The buckets that a bucket was divided into know what it knew. It forgets who is awake. */
static void hints_are_handed_on(void)
{
    const struct pawl_lists *table = table_here();
    nobody_is_left();
    for (unsigned i = 0; table->doublings == 1 && i < 2u << PAWL_TABLE_BITS; i++) {
        const struct pawl_bucket *new = &table->grown[0][i];
        m_demand(new->quiet_until == 20 + i / 2, M_RESTORED, "the quiet time is forgotten");
        m_demand(new->awake_for == 30 + i / 2, M_RESTORED, "who is awake is forgotten");
        m_demand(table->first[i / 2].awake_for == 0, M_RESTORED, "an old hint is relied on");
    }
}

/* Who was refused memory does not ask again for as many queues. */
static void asked_once(void)
{
    const uint32_t grow_at = table_here()->grow_at;
    nobody_is_left();
    m_demand(refusals <= 1, M_RESTORED, "asked for memory again and again");
    m_demand(grow_at == 6 * refusals, M_RESTORED, "it is not kept when to ask again");
}

extern const struct m_scene m_table_scenes[];
/* clang-format off */
const struct m_scene m_table_scenes[] = {
    {"table_grows_beside_a_wake", with_pages, {crowds, tells_0}, hints_are_handed_on,
     "preempt=2"},
    {"table_grows_beside_a_waiter", with_pages, {crowds, waits_beside_the_crowd, tells_the_crowd},
     nobody_is_left, "preempt=1"},
    {"table_grows_twice", with_pages, {crowds, crowds_too, tells_the_crowd}, nobody_is_left,
     "preempt=1"},
    {"table_cannot_grow", without_pages, {crowds, tells_0}, asked_once, "preempt=2"},
    {"table_latch_of_three", NULL, {looks_in, looks_in, looks_in}, nobody_is_left, "preempt=1"},
    {"table_latch_of_four", NULL, {looks_in, looks_in, looks_in, looks_in}, nobody_is_left,
     "preempt=1"},
    {"requeue_beside_a_wait", NULL, {waits_for_0, moves_to_1_and_wakes}, nobody_is_left,
     "preempt=3"},
    {"requeue_both_ways", NULL, {waits_for_0, moves_to_1_and_wakes, moves_back}, nobody_is_left,
     "preempt=2"},
    {"requeue_of_two", NULL, {waits_for_0, waits_for_0, wakes_one_and_moves_one}, nobody_is_left,
     "preempt=2"},
    {"requeue_of_one_who_may_be_late", NULL, {waits_until, moves_and_lets_time_pass, wakes_1},
     nobody_is_left, "preempt=2"},
    {"requeue_in_the_kernel", NULL, {waits_for_all_bits, moves_the_native}, NULL, "preempt=2"},
    {"wait_any_hands_a_wake_on", NULL, {watches_both, waits_for_1, wakes_one_of_each},
     nobody_is_left, "preempt=1"},
    {"wait_any_beside_two_wakes", NULL, {watches_both, tells_0_and_1}, nobody_is_left,
     "preempt=2"},
    {"wait_of_both_kinds", NULL, {waits_for_a_bit, waits_for_all_bits, tells_both_kinds},
     nobody_is_left, "preempt=2"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
