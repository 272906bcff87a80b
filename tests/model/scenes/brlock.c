/* SPDX-License-Identifier: MIT */
/* Big-reader locks: a writer is alone, a reader sees what the last writer wrote, nobody sleeps for
 * ever. */
#include <pawl/brlock.h>
#include <pawl/thread.h>

#include "../../../src/base/base.h"

#include "scenes.h"

#include <stddef.h>

struct stage {
    pawl_brlock lock;
    pawl_brlock_line lines[3];
    pawl_brlock other; /* on the same drain */
    pawl_brlock_line other_lines[3];
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->lock)
#define OTHER (&STAGE->other)

static void make(uint32_t flags)
{
    m_register_threads(3);
    (void)pawl_brlock_init_in(LOCK, STAGE->lines, sizeof STAGE->lines, flags);
}

static void light(void)
{
    make(0);
}

static void fenced(void)
{
    make(PAWL_BRLOCK_FENCED);
}

/* The second thread is in twice. */
static void read_twice(void)
{
    light();
    m_become(1);
    pawl_brlock_take_read(LOCK);
    pawl_brlock_take_read(LOCK);
    m_become(0);
}

/* Only the first thread has ever called the library. */
static void one_is_known(void)
{
    m_register_threads(1);
    (void)pawl_brlock_init_in(LOCK, STAGE->lines, sizeof STAGE->lines, 0);
}

/* The second and third thread have no line in the lock. */
static void few_lines(void)
{
    m_register_threads(3);
    (void)pawl_brlock_init_in(LOCK, STAGE->lines, sizeof STAGE->lines[0], 0);
}

/* The third thread reads under both locks. */
static void two_read_by_the_third(void)
{
    light();
    (void)pawl_brlock_init_in(OTHER, STAGE->other_lines, sizeof STAGE->other_lines, 0);
    OTHER->drain = LOCK->drain;
    m_become(2);
    pawl_brlock_take_read(LOCK);
    pawl_brlock_take_read(OTHER);
    m_become(0);
}

static void looks(void)
{
    m_demand(m_read(0) == m_read(1), M_VISIBILITY, "half of what a writer did");
}

static void writes(void)
{
    M_STEP(pawl_brlock_take_write(LOCK));
    m_write(0, m_read(0) + 1);
    m_write(1, m_read(1) + 1);
    M_STEP(pawl_brlock_drop_write(LOCK));
}

static void reads(void)
{
    M_STEP(pawl_brlock_take_read(LOCK));
    looks();
    M_STEP(pawl_brlock_drop_read(LOCK));
}

static void drops_both(void)
{
    M_STEP(pawl_brlock_drop_read(LOCK));
    M_STEP(pawl_brlock_drop_read(LOCK));
}

static void tries_to_read(void)
{
    M_DO(bool got = pawl_brlock_try_read(LOCK));
    if (got) {
        looks();
        M_STEP(pawl_brlock_drop_read(LOCK));
    }
}

static void tries_to_write(void)
{
    M_DO(bool got = pawl_brlock_try_write(LOCK));
    if (got) {
        m_write(0, m_read(0) + 1);
        m_write(1, m_read(1) + 1);
        M_STEP(pawl_brlock_drop_write(LOCK));
    }
}

static void writes_until(void)
{
    M_DO(bool got = pawl_brlock_take_write_until(LOCK, 1000));
    if (got) {
        m_write(0, m_read(0) + 1);
        m_write(1, m_read(1) + 1);
        M_STEP(pawl_brlock_drop_write(LOCK));
    }
}

static void reads_until(void)
{
    M_DO(bool got = pawl_brlock_take_read_until(LOCK, 1000));
    if (got) {
        looks();
        M_STEP(pawl_brlock_drop_read(LOCK));
    }
}

/* At any moment: the look is where threads may change. */
static void time_goes_by(void)
{
    (void)pawl_load_relaxed32(&LOCK->closed);
    m_pass_time(2000);
}

static void seeks_and_reads(void)
{
    M_STEP(pawl_brlock_take_seek(LOCK));
    m_write(2, m_read(2) + 1);
    M_STEP(pawl_brlock_seek_to_read(LOCK));
    looks();
    M_STEP(pawl_brlock_drop_read(LOCK));
}

static void reads_and_tries_to_seek(void)
{
    M_STEP(pawl_brlock_take_read(LOCK));
    looks();
    M_DO(bool got = pawl_brlock_try_read_to_seek(LOCK));
    if (got) {
        m_write(2, m_read(2) + 1);
        M_STEP(pawl_brlock_drop_seek(LOCK));
    } else {
        M_STEP(pawl_brlock_drop_read(LOCK));
    }
}

static void reads_any(void)
{
    M_STEP(pawl_brlock_take_read_any(LOCK));
    looks();
    M_STEP(pawl_brlock_drop_read_any(LOCK));
}

static void seeks(void)
{
    M_STEP(pawl_brlock_take_seek(LOCK));
    m_write(2, m_read(2) + 1); /* seekers only */
    M_STEP(pawl_brlock_drop_seek(LOCK));
}

static void seeks_and_writes(void)
{
    M_STEP(pawl_brlock_take_seek(LOCK));
    m_write(2, m_read(2) + 1);
    M_STEP(pawl_brlock_seek_to_write(LOCK));
    m_write(0, m_read(0) + 1);
    m_write(1, m_read(1) + 1);
    M_STEP(pawl_brlock_write_to_read(LOCK));
    looks();
    M_STEP(pawl_brlock_drop_read(LOCK));
}

static void writes_other(void)
{
    M_STEP(pawl_brlock_take_write(OTHER));
    M_STEP(pawl_brlock_drop_write(OTHER));
}

static void drops_each(void)
{
    M_STEP(pawl_brlock_drop_read(OTHER));
    M_STEP(pawl_brlock_drop_read(LOCK));
}

static void nobody_is_in(void)
{
    M_DO(bool got = pawl_brlock_try_write(LOCK));
    m_demand(got, M_RESTORED, "somebody is still in");
    m_demand(LOCK->drain->whose == 0, M_RESTORED, "a writer is still said to sleep");
}

extern const struct m_scene m_brlock_scenes[];
/* clang-format off */
const struct m_scene m_brlock_scenes[] = {
    {"brlock_read_beside_write", light, {reads, writes}, nobody_is_in, "preempt=3"},
    {"brlock_fenced_read_beside_write", fenced, {reads, writes}, nobody_is_in, "preempt=3"},
    {"brlock_try_read_beside_write", light, {tries_to_read, writes}, nobody_is_in, "preempt=3"},
    {"brlock_shared_read_beside_write", few_lines, {writes, reads}, nobody_is_in, "preempt=3"},
    {"brlock_any_read_beside_write", light, {writes, reads_any}, nobody_is_in, "preempt=3"},
    {"brlock_two_writers", light, {writes, writes}, nobody_is_in, "preempt=3"},
    {"brlock_seek_beside_write", light, {seeks, seeks_and_writes}, nobody_is_in, "preempt=2"},
    {"brlock_seek_to_write_beside_read", light, {seeks_and_writes, reads}, nobody_is_in,
     "preempt=2"},
    {"brlock_two_readers_and_a_writer", light, {reads, writes, reads}, nobody_is_in, "preempt=1"},
    {"brlock_first_read_beside_write", one_is_known, {writes, reads}, nobody_is_in, "preempt=2"},
    {"brlock_try_write_beside_read", light, {reads, tries_to_write}, nobody_is_in, "preempt=3"},
    {"brlock_seek_to_read_beside_write", light, {seeks_and_reads, writes}, nobody_is_in,
     "preempt=2"},
    {"brlock_read_to_seek_beside_write", light, {reads_and_tries_to_seek, writes}, nobody_is_in,
     "preempt=2"},
    {"brlock_write_that_may_be_late", light, {reads, writes_until, time_goes_by}, nobody_is_in,
     "preempt=1"},
    {"brlock_read_that_may_be_late", light, {writes, reads_until, time_goes_by}, nobody_is_in,
     "preempt=1"},
    {"brlock_three_writers", light, {writes, writes, writes}, nobody_is_in, "preempt=0"},
    /* With heavy fences that interrupt. */
    {"brlock_read_interrupted", light, {reads, writes}, nobody_is_in, "preempt=3 ipi=1"},
    {"brlock_any_read_interrupted", light, {reads_any, writes}, nobody_is_in, "preempt=3 ipi=1"},
    {"brlock_try_read_interrupted", light, {tries_to_read, writes}, nobody_is_in,
     "preempt=2 ipi=1"},
    /* Two wakes, of which the first comes too early. */
    {"brlock_two_drops_interrupted", read_twice, {writes, drops_both}, nobody_is_in,
     "preempt=3 ipi=1"},
    /* Writers of two locks sleep on one drain, and the first to leave makes the other look. */
    {"brlock_two_locks_on_a_drain", two_read_by_the_third, {writes, writes_other, drops_each},
     nobody_is_in, "preempt=2"},
    {"brlock_two_locks_interrupted", two_read_by_the_third, {writes, writes_other, drops_each},
     nobody_is_in, "preempt=2 ipi=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
