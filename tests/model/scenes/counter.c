/* SPDX-License-Identifier: MIT */
/* Exact counters, limit counters and big references: a read is a value that was, a release comes
 * once, after all that was done under references. */
#include <pawl/bigref.h>
#include <pawl/counter.h>
#include <pawl/thread.h>

#include "scenes.h"

#include <stddef.h>

struct stage {
    pawl_counter_exact exact;
    pawl_bigref reference;
    uint32_t released;
    uint32_t turn;
};
#define STAGE M_SCENE(struct stage)

/* ---- Exact counters -------------------------------------------------------------------------- */

static void made(enum pawl_exact_mode mode)
{
    m_register_threads(3);
    pawl_counter_exact_init(&STAGE->exact, mode);
}

static void fold(void)
{
    made(PAWL_EXACT_FOLD);
}

static void stall(void)
{
    made(PAWL_EXACT_STALL);
}

static void brlock(void)
{
    made(PAWL_EXACT_BRLOCK);
}

static void locks(void)
{
    made(PAWL_EXACT_LOCKS);
}

static void adds(void)
{
    M_STEP(pawl_counter_exact_add(&STAGE->exact, 1));
}

/* Up and down again: no read may ever find more than one of them, or less than none. */
static void up_and_down(void)
{
    M_STEP(pawl_counter_exact_add(&STAGE->exact, 1));
    M_STEP(pawl_counter_exact_add(&STAGE->exact, -1));
}

static int64_t value_now(void)
{
    M_DO(int64_t value = pawl_counter_exact_read(&STAGE->exact));
    return value;
}

static void reads_zero_or_one(void)
{
    const int64_t value = value_now();
    m_demand(value == 0 || value == 1, M_VISIBILITY, "a value that never was");
}

static void reads_twice(void)
{
    const int64_t first = value_now();
    m_demand(value_now() >= first, M_VISIBILITY, "the value has gone back");
}

static void in_all(int64_t value)
{
    m_demand(value_now() == value, M_RESTORED, "a count is lost");
    m_demand(STAGE->exact.phase != PAWL_EXACT_CLOSED_ || STAGE->exact.mode >= PAWL_EXACT_BRLOCK,
             M_RESTORED, "the counter is still closed");
}

static void one_in_all(void)
{
    in_all(1);
}

static void none_in_all(void)
{
    in_all(0);
}

/* ---- Fork: a read may be cut off, and its counter still has a value -------------------------- */

static void one_is_counted(void)
{
    m_begin_system();
    fold();
    M_STEP(ipawl_set_up_());
    adds();
}

static void one_is_counted_by_stall(void)
{
    m_begin_system();
    stall();
    M_STEP(ipawl_set_up_());
    adds();
}

static void reads_adds_and_reads(void)
{
    (void)value_now();
    adds();
    (void)value_now();
}

static void reads_in_the_parent(void)
{
    m_lives_in_the_parent(reads_adds_and_reads);
}

static void child_reads(void)
{
    m_before_fork();
    m_goes_on_as_child();
    int64_t first = value_now();
    m_demand(first == 1 || first == 2, M_VISIBILITY, "a value that never was");
    m_demand(value_now() == first, M_RESTORED, "a count is lost, for a while");
    m_demand(STAGE->exact.phase != PAWL_EXACT_CLOSED_, M_RESTORED, "the counter is still closed");
    m_child_ends();
}

/* ---- Big references -------------------------------------------------------------------------- */

static void release(pawl_bigref *r, void *arg)
{
    (void)r, (void)arg;
    m_write(0, 1); /* after all that was done under references, and once */
    m_demand(pawl_fetch_add_relaxed32(&STAGE->released, 1) == 0, M_EXCLUSION, "released twice");
}

/* The first thread's reference, and one for each of the others. */
static void two_references(void)
{
    m_register_threads(3);
    pawl_bigref_init(&STAGE->reference, release, NULL);
    pawl_bigref_get(&STAGE->reference);
}

static void uses_and_drops(void)
{
    (void)m_read(0);
    M_STEP(pawl_bigref_drop(&STAGE->reference));
}

static void gets_and_drops(void)
{
    M_STEP(pawl_bigref_get(&STAGE->reference));
    (void)m_read(0);
    M_STEP(pawl_bigref_drop(&STAGE->reference));
    M_STEP(pawl_bigref_drop(&STAGE->reference));
}

static void kills_and_drops(void)
{
    M_STEP(pawl_bigref_kill(&STAGE->reference));
    (void)m_read(0);
    M_STEP(pawl_bigref_drop(&STAGE->reference));
}

static void tries_to_get(void)
{
    M_DO(bool got = pawl_bigref_try_get(&STAGE->reference));
    if (got) {
        m_demand(pawl_load_relaxed32(&STAGE->released) == 0, M_EXCLUSION, "got after release");
        (void)m_read(0);
        M_STEP(pawl_bigref_drop(&STAGE->reference));
    }
}

static void released_once(void)
{
    m_demand(pawl_load_relaxed32(&STAGE->released) == 1, M_PROGRESS, "never released");
}

extern const struct m_scene m_counter_scenes[];
/* clang-format off */
const struct m_scene m_counter_scenes[] = {
    {"exact_fold_read_beside_add", fold, {reads_zero_or_one, adds}, one_in_all, "preempt=2"},
    {"exact_fold_read_beside_up_and_down", fold, {reads_zero_or_one, up_and_down}, none_in_all,
     "preempt=2"},
    {"exact_fold_fork_beside_a_read", one_is_counted, {child_reads, reads_in_the_parent}, NULL,
     "preempt=2"},
    {"exact_stall_fork_beside_a_read", one_is_counted_by_stall,
     {child_reads, reads_in_the_parent}, NULL, "preempt=2"},
    {"exact_fold_two_reads_beside_add", fold, {reads_twice, adds}, one_in_all, "preempt=2"},
    {"exact_stall_read_beside_add", stall, {reads_zero_or_one, adds}, one_in_all, "preempt=2"},
    {"exact_stall_read_beside_up_and_down", stall, {reads_zero_or_one, up_and_down}, none_in_all,
     "preempt=2"},
    {"exact_brlock_read_beside_up_and_down", brlock, {reads_zero_or_one, up_and_down},
     none_in_all, "preempt=2"},
    {"exact_locks_read_beside_up_and_down", locks, {reads_zero_or_one, up_and_down}, none_in_all,
     "preempt=2"},
    {"bigref_kill_beside_drop", two_references, {kills_and_drops, uses_and_drops}, released_once,
     "preempt=2"},
    {"bigref_kill_beside_get", two_references, {kills_and_drops, gets_and_drops}, released_once,
     "preempt=2"},
    {"bigref_kill_beside_try", two_references, {kills_and_drops, uses_and_drops, tries_to_get},
     released_once, "preempt=0"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
