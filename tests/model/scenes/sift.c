/* SPDX-License-Identifier: MIT */
/* Priority-sifting locks: a writer is alone on both its paths, readers of two contexts see what the
 * last writer wrote, nobody sleeps for ever. A handler is a thread that stands in its context. */
#include <pawl/sift.h>

#include "scenes.h"

#include <stddef.h>

#define LOCK M_SCENE(pawl_sift)

static void make(uint32_t readers)
{
    pawl_sift_use use = {0};
    m_register_threads(3);
    use.readers = readers | PAWL_SIFT_READS(PAWL_SIFT_THREAD);
    if (readers & PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT))
        use.interrupt = PAWL_SIFT_SIGNAL(10);
    (void)pawl_sift_init(LOCK, &use);
}

static void of_threads(void)
{
    make(0);
}

static void with_handlers(void)
{
    make(PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT));
}

static void with_lenders(void)
{
    make(PAWL_SIFT_READS(PAWL_SIFT_REALTIME));
}

/* Somebody waited and gave up: writers take the slow path. */
static void slow_of_threads(void)
{
    make(0);
    LOCK->word = PAWL_SIFT_WAITED_;
}

static void slow_with_handlers(void)
{
    with_handlers();
    LOCK->word = PAWL_SIFT_WAITED_;
}

static void slow_with_lenders(void)
{
    with_lenders();
    LOCK->word = PAWL_SIFT_WAITED_;
}

static void looks(void)
{
    m_demand(m_read(0) == m_read(1), M_VISIBILITY, "half of what a writer did");
}

static void changes(void)
{
    m_write(0, m_read(0) + 1);
    m_write(1, m_read(1) + 1);
}

static void writes(void)
{
    M_STEP(pawl_sift_take_write(LOCK));
    changes();
    M_STEP(pawl_sift_drop_write(LOCK));
}

static void reads(void)
{
    M_STEP(pawl_sift_take_read(LOCK, PAWL_SIFT_THREAD));
    looks();
    M_STEP(pawl_sift_drop_read(LOCK, PAWL_SIFT_THREAD));
}

static void handles(void)
{
    M_STEP(pawl_sift_take_read(LOCK, PAWL_SIFT_INTERRUPT));
    looks();
    M_STEP(pawl_sift_drop_read(LOCK, PAWL_SIFT_INTERRUPT));
}

static void lends(void)
{
    M_STEP(pawl_sift_take_read(LOCK, PAWL_SIFT_REALTIME));
    looks();
    M_STEP(pawl_sift_drop_read(LOCK, PAWL_SIFT_REALTIME));
}

static void tries_to_write(void)
{
    bool got;
    m_begin("pawl_sift_try_write");
    got = pawl_sift_try_write(LOCK);
    m_end();
    if (got) {
        changes();
        M_STEP(pawl_sift_drop_write(LOCK));
    }
}

static void tries_to_read(void)
{
    bool got;
    m_begin("pawl_sift_try_read");
    got = pawl_sift_try_read(LOCK, PAWL_SIFT_THREAD);
    m_end();
    if (got) {
        looks();
        M_STEP(pawl_sift_drop_read(LOCK, PAWL_SIFT_THREAD));
    }
}

static void nobody_is_in(void)
{
    bool got;
    m_begin("pawl_sift_try_write");
    got = pawl_sift_try_write(LOCK);
    m_end();
    m_demand(got, M_RESTORED, "somebody is still in");
    looks();
}

extern const struct m_scene m_sift_scenes[];
const struct m_scene m_sift_scenes[] = {
    {"sift_read_beside_write", of_threads, {reads, writes}, nobody_is_in, "preempt=3"},
    {"sift_two_writers", of_threads, {writes, writes}, nobody_is_in, "preempt=2"},
    {"sift_read_beside_slow_write", slow_of_threads, {reads, writes}, nobody_is_in, "preempt=3"},
    {"sift_two_slow_writers", slow_of_threads, {writes, writes}, nobody_is_in, "preempt=2"},
    {"sift_try_read_beside_write", of_threads, {tries_to_read, writes}, nobody_is_in, "preempt=3"},
    {"sift_try_write_beside_read", of_threads, {tries_to_write, reads}, nobody_is_in, "preempt=3"},
    {"sift_handler_beside_write", with_handlers, {handles, writes}, nobody_is_in, "preempt=2"},
    {"sift_handler_beside_slow_write", slow_with_handlers, {handles, writes}, nobody_is_in,
     "preempt=2"},
    {"sift_lender_beside_write", with_lenders, {lends, writes}, nobody_is_in, "preempt=3"},
    {"sift_lender_beside_slow_write", slow_with_lenders, {lends, writes}, nobody_is_in,
     "preempt=2"},
    {"sift_two_contexts_and_a_writer", with_handlers, {reads, writes, handles}, nobody_is_in,
     "preempt=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
