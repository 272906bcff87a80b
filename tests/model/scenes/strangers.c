/* SPDX-License-Identifier: MIT */
/*
 * The entries of the preload library's locks (shim/place.h), with its own code: any thread unlocks
 * a read, beside the thread that reads, one that reads again, a writer that looks at the lines, and
 * the end of a thread. What a writer protects is cell 0. Threads read by entries of their lines.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../../tool/shim/place.h"

#include "../../../src/lock/entries.h"
#include "scenes.h"

bool shim_readers_scale = true;

struct stage {
    struct shim_lock lock;
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->lock)

/* ---- What shim/rwlock.c does ----------------------------------------------------------------- */

static bool reads(bool met)
{
    shim_word w = shim_look(LOCK);
    if (((w & PAWL_LOCK_BIASED) != 0 || met) && place_enter(LOCK, met))
        return true;
    while (shim_no_writer(w))
        if (SHIM_ON_WORD(pawl_cas_acquire)(&LOCK->lock.word, &w, w + SHIM_R, PAWL_SPIN_R_TAKE))
            return true;
    return false;
}

static void unlocks_its_own(void)
{
    if (place_leave_own(LOCK))
        return;
    if (shim_is_marked(LOCK))
        m_demand(place_end_any(LOCK), M_RESTORED, "its read is nowhere");
    else
        place_leave_word(LOCK);
}

static void mark(void)
{
    (void)pawl_fetch_or_relaxed32(&LOCK->life, LIFE_STRANGERS);
}

static void unlocks_anothers(void)
{
    mark();
    m_demand(place_end_any(LOCK), M_RESTORED, "nobody reads");
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* It reads twice, and hands one read to the stranger: thread 1. */
static void one_reads_twice(void)
{
    place_start();
    m_readers_scale(3, false);
    LOCK->lock.word = PAWL_LOCK_BIASED;
    m_demand(reads(false) && reads(false), M_RESTORED, "it does not read");
}

static void drops_one(void)
{
    (void)m_read(0);
    M_STEP(unlocks_its_own());
}

static void a_stranger_drops_one(void)
{
    (void)m_read(0);
    M_STEP(unlocks_anothers());
}

static void writes(void)
{
    M_STEP(SHIM_LOCK(take_write)(&LOCK->lock));
    m_write(0, 1);
    M_STEP(SHIM_LOCK(drop_write)(&LOCK->lock));
}

static void reads_if_it_may(void)
{
    M_DO(bool in = reads(false));
    if (in)
        drops_one();
}

/* The read of thread 1 is known by an entry of thread 0, which reads, too. */
static void the_entry_of_one_is_gone(void)
{
    one_reads_twice();
    mark();
}

static void reads_again(void)
{
    m_begin("reads again");
    bool in = place_is_read(LOCK) && place_read_again(LOCK);
    m_end();
    (void)m_read(0);
    if (in)
        M_STEP(unlocks_its_own());
    (void)m_read(0);
    M_STEP(unlocks_its_own());
}

static void ends(void)
{
    M_STEP(ipawl_thread_exit_());
    m_demand(!place_has_own(LOCK), M_RESTORED, "it has its line");
}

/* The last thread read a lock whose memory is LOCK now. */
static void a_read_is_left(void)
{
    place_start();
    m_readers_scale(4, false);
    entries_all()->lines[3].locks[0] = PLACE_IDENTITY(LOCK);
}

static void scales_reads_and_drops(void)
{
    bool in;
    m_begin("reads, having met another reader");
    in = reads(true);
    m_end();
    if (in)
        drops_one();
}

static void one_reads_twice_in_a_life(void)
{
    m_begin_system();
    one_reads_twice();
}

static void a_stranger_drops_both(void)
{
    a_stranger_drops_one();
    a_stranger_drops_one();
}

static void nobody_is_in(void)
{
    m_demand((LOCK->lock.word & ~(shim_word)PAWL_LOCK_BIASED) == 0, M_RESTORED,
             "units, or PARKED, are left");
    m_demand(m_entries_are_free(), M_RESTORED, "an entry has a lock, or a line has a waiter");
}

extern const struct m_scene m_strangers_scenes[];
/* clang-format off */
const struct m_scene m_strangers_scenes[] = {
    {"strangers_unlock_beside_the_reader", one_reads_twice,
     {drops_one, a_stranger_drops_one, writes}, nobody_is_in, "preempt=2"},
    {"strangers_unlock_beside_newcomers", one_reads_twice,
     {drops_one, a_stranger_drops_one, reads_if_it_may}, nobody_is_in, "preempt=2"},
    {"strangers_read_in_vain", one_reads_twice,
     {drops_one, a_stranger_drops_one, writes, reads_if_it_may}, nobody_is_in, "preempt=1"},
    {"strangers_read_again", the_entry_of_one_is_gone, {drops_one, reads_again, writes},
     nobody_is_in, "preempt=1"},
    {"strangers_unlock_beside_the_end", one_reads_twice_in_a_life,
     {ends, a_stranger_drops_both, writes}, nobody_is_in, "preempt=2"},
    {"strangers_scale_a_new_lock", a_read_is_left,
     {scales_reads_and_drops, scales_reads_and_drops, writes}, nobody_is_in, "preempt=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
