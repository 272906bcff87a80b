/* SPDX-License-Identifier: MIT */
/* Priority-sifting locks: a writer is alone on both its paths, readers of two contexts see what the
 * last writer wrote, nobody sleeps for ever. A handler is a thread that stands in its context. */
#include <pawl/sift.h>

#include "scenes.h"

#include <stddef.h>

#define LOCK M_SCENE(pawl_sift)

#define READS(context) PAWL_SIFT_READS(PAWL_SIFT_##context)

static void make_for(uint32_t readers, enum pawl_sift_context writers, uint32_t flags)
{
    pawl_sift_use use = {0};
    m_register_threads(4);
    use.readers = readers;
    use.writers = writers;
    use.flags = flags;
    use.ceiling = flags & PAWL_SIFT_RAISE ? 20 : 0;
    if ((readers & READS(DEFERRED)) || writers == PAWL_SIFT_DEFERRED)
        use.deferred = PAWL_SIFT_SIGNAL(12);
    if (readers & READS(INTERRUPT))
        use.interrupt = PAWL_SIFT_SIGNAL(10);
    m_demand(pawl_sift_init(LOCK, &use) == 0, M_RESTORED, "no lock");
}

static void make(uint32_t readers)
{
    make_for(readers | READS(THREAD), PAWL_SIFT_THREAD, 0);
}

/* Somebody waited and gave up: writers take the slow path. */
static void slow(void)
{
    LOCK->word = PAWL_SIFT_WAITED_;
}

/* Real-time threads have 10; who asks decides what is done about it. */
static uint32_t priorities[M_THREADS];

uint32_t pawl_hook_priority(void)
{
    return priorities[m_me()];
}

static void of_threads(void)
{
    make(0);
}

static void with_handlers(void)
{
    make(READS(INTERRUPT));
}

static void with_lenders(void)
{
    make(READS(REALTIME));
}

static void slow_of_threads(void)
{
    make(0);
    slow();
}

static void slow_with_handlers(void)
{
    with_handlers();
    slow();
}

static void slow_with_lenders(void)
{
    with_lenders();
    slow();
}

static void with_deferred(void)
{
    make(READS(DEFERRED));
}

static void slow_with_deferred(void)
{
    with_deferred();
    slow();
}

static void slow_with_both_handlers(void)
{
    make(READS(DEFERRED) | READS(INTERRUPT));
    slow();
}

/* Writers are raised, so real-time readers wait like others. */
static void slow_with_realtime(void)
{
    make_for(READS(THREAD) | READS(REALTIME), PAWL_SIFT_THREAD, PAWL_SIFT_RAISE);
    slow();
}

static void slow_with_realtime_and_handlers(void)
{
    make_for(READS(REALTIME) | READS(INTERRUPT), PAWL_SIFT_REALTIME, PAWL_SIFT_RAISE);
    slow();
}

/* Nobody sleeps. */
static void written_by_handlers(void)
{
    make_for(READS(DEFERRED) | READS(INTERRUPT), PAWL_SIFT_DEFERRED, 0);
}

static void slow_written_by_handlers(void)
{
    written_by_handlers();
    slow();
}

/* The first thread reads, and does not pass the second one when that waits to write. */
static void by_priority(void)
{
    make_for(READS(THREAD) | READS(REALTIME), PAWL_SIFT_THREAD,
             PAWL_SIFT_RAISE | PAWL_SIFT_PRIORITY);
    priorities[0] = priorities[1] = 10;
}

static void slow_by_priority(void)
{
    by_priority();
    slow();
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

/* Real-time readers lend their priority to whom the gate names. */
static void writes_by_the_gate(void)
{
    M_STEP(pawl_sift_take_write(LOCK));
    m_demand((LOCK->gate & INT32_MAX) == m_me() + 1, M_RESTORED, "the gate names somebody else");
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

/* The second thread is in, and stays until a handler shows that it waits. */
static void held(void)
{
    m_become(1);
    pawl_sift_take_write(LOCK);
    m_become(0);
}

static void held_with_handlers(void)
{
    with_handlers();
    held();
}

static void slowly_held_with_handlers(void)
{
    slow_with_handlers();
    held();
}

static void drops_when_waited_for(void)
{
    m_begin("pawl_sift_drop_write");
    while ((pawl_load_relaxed64(&LOCK->word) & PAWL_SIFT_WAITED_) == 0)
        pawl_cpu_relax();
    pawl_sift_drop_write(LOCK);
    m_end();
}

/* So it waits for one writer, whoever writes next. */
static void drops_when_waited_for_and_writes(void)
{
    drops_when_waited_for();
    M_STEP(pawl_sift_take_write(LOCK));
    m_demand(m_read(2) == 1, M_PROGRESS, "a handler that waited is overtaken");
    changes();
    M_STEP(pawl_sift_drop_write(LOCK));
}

static void drops_when_waited_for_in_context(void)
{
    m_begin("pawl_sift_drop_write");
    while ((pawl_load_relaxed32(&LOCK->contexts[PAWL_SIFT_INTERRUPT]) & 1) == 0)
        pawl_cpu_relax();
    pawl_sift_drop_write(LOCK);
    m_end();
}

static void handles_and_says_so(void)
{
    M_STEP(pawl_sift_take_read(LOCK, PAWL_SIFT_INTERRUPT));
    m_write(2, 1);
    M_STEP(pawl_sift_drop_read(LOCK, PAWL_SIFT_INTERRUPT));
}

static void defers(void)
{
    M_STEP(pawl_sift_take_read(LOCK, PAWL_SIFT_DEFERRED));
    looks();
    M_STEP(pawl_sift_drop_read(LOCK, PAWL_SIFT_DEFERRED));
}

/* In real time: by its own way, or lending its priority, as the lock was made. */
static void reads_in_time(void)
{
    M_STEP(pawl_sift_take_read(LOCK, PAWL_SIFT_REALTIME));
    looks();
    M_STEP(pawl_sift_drop_read(LOCK, PAWL_SIFT_REALTIME));
}

static void reads_until(void)
{
    M_DO(bool got = pawl_sift_take_read_until(LOCK, PAWL_SIFT_THREAD, 1000));
    if (got) {
        looks();
        M_STEP(pawl_sift_drop_read(LOCK, PAWL_SIFT_THREAD));
    }
}

static void writes_until(void)
{
    M_DO(bool got = pawl_sift_take_write_until(LOCK, 1000));
    if (got) {
        changes();
        M_STEP(pawl_sift_drop_write(LOCK));
    }
}

/* At any moment: the look is where threads may change. */
static void time_goes_by(void)
{
    (void)pawl_load_relaxed64(&LOCK->word);
    m_pass_time(2000);
}

static void tries_to_write(void)
{
    M_DO(bool got = pawl_sift_try_write(LOCK));
    if (got) {
        changes();
        M_STEP(pawl_sift_drop_write(LOCK));
    }
}

static void tries_to_read(void)
{
    M_DO(bool got = pawl_sift_try_read(LOCK, PAWL_SIFT_THREAD));
    if (got) {
        looks();
        M_STEP(pawl_sift_drop_read(LOCK, PAWL_SIFT_THREAD));
    }
}

static void nobody_is_in(void)
{
    m_demand(LOCK->gate == 0 && LOCK->mutex == 0, M_RESTORED, "somebody is still on his way");
    M_DO(bool got = pawl_sift_try_write(LOCK));
    m_demand(got, M_RESTORED, "somebody is still in");
    looks();
}

/* A writer that slept in the handlers' context has not left a mark that passes for a handler's. */
static void nobody_is_marked(void)
{
    m_demand(LOCK->contexts[PAWL_SIFT_INTERRUPT] == 0, M_RESTORED, "a handler seems to wait");
    nobody_is_in();
}

extern const struct m_scene m_sift_scenes[];
/* clang-format off */
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
    {"sift_handler_waits_for_one_writer", held_with_handlers,
     {handles_and_says_so, drops_when_waited_for_and_writes}, nobody_is_marked, "preempt=2"},
    {"sift_handler_waits_for_one_slow_writer", slowly_held_with_handlers,
     {handles, drops_when_waited_for_in_context}, nobody_is_in, "preempt=2"},
    {"sift_lender_beside_write", with_lenders, {reads_in_time, writes_by_the_gate}, nobody_is_in,
     "preempt=3"},
    {"sift_lender_beside_slow_write", slow_with_lenders, {reads_in_time, writes_by_the_gate},
     nobody_is_in, "preempt=2"},
    {"sift_two_contexts_and_a_writer", with_handlers, {reads, writes, handles}, nobody_is_in,
     "preempt=1"},
    {"sift_deferred_beside_write", with_deferred, {defers, writes}, nobody_is_in, "preempt=2"},
    {"sift_deferred_beside_slow_write", slow_with_deferred, {defers, writes}, nobody_is_in,
     "preempt=2"},
    {"sift_realtime_beside_slow_write", slow_with_realtime, {reads_in_time, writes}, nobody_is_in,
     "preempt=2"},
    {"sift_realtime_and_handler", slow_with_realtime_and_handlers,
     {writes, reads_in_time, handles}, nobody_is_in, "preempt=1"},
    {"sift_thread_and_deferred", slow_with_deferred, {writes, reads, defers}, nobody_is_in,
     "preempt=1"},
    {"sift_deferred_and_interrupt", slow_with_both_handlers, {writes, defers, handles},
     nobody_is_in, "preempt=1"},
    {"sift_thread_and_realtime", slow_with_realtime, {writes, reads, reads_in_time}, nobody_is_in,
     "preempt=1"},
    {"sift_thread_and_lender", slow_with_lenders,
     {writes_by_the_gate, reads, reads_in_time}, nobody_is_in, "preempt=1"},
    {"sift_two_lenders", with_lenders, {writes_by_the_gate, reads_in_time, reads_in_time},
     nobody_is_in, "preempt=1"},
    {"sift_written_by_handler", written_by_handlers, {writes, handles}, nobody_is_in,
     "preempt=2"},
    {"sift_slow_written_by_handler", slow_written_by_handlers, {writes, handles}, nobody_is_in,
     "preempt=2"},
    {"sift_two_slow_writers_and_a_reader", slow_of_threads, {writes, writes, reads}, nobody_is_in,
     "preempt=1"},
    {"sift_slow_and_fast_write", slow_of_threads, {writes, tries_to_write}, nobody_is_in,
     "preempt=2"},
    {"sift_reader_by_priority", by_priority, {reads_in_time, writes}, nobody_is_in, "preempt=3"},
    {"sift_reader_by_priority_beside_slow_write", slow_by_priority, {reads_in_time, writes},
     nobody_is_in, "preempt=2"},
    {"sift_two_tries_after_who_waited", slow_of_threads, {tries_to_write, tries_to_write},
     nobody_is_in, "preempt=2"},
    {"sift_read_that_may_be_late", slow_of_threads, {writes, reads_until, time_goes_by},
     nobody_is_in, "preempt=1"},
    {"sift_write_that_may_be_late", slow_of_threads, {reads, writes_until, time_goes_by},
     nobody_is_in, "preempt=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
