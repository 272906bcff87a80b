/* SPDX-License-Identifier: MIT */
/* Locks in shared memory: whoever gets one as its last user may free it; whoever gets it may unmap
 * it where the last holder runs, or that process ends; and who moves down lets in at once whom the
 * new state admits. (Their operations beside each other are models of scripts, shared32/...) */
#include <pawl/detail/hook.h>
#include <pawl/pshared.h>

#include "scenes.h"

#include <stddef.h>

struct stage {
    pawl_pshared_lock32 lock;
    pawl_pshared_lock64 wide; /* its waiters have their turn when they were overtaken twice */
    uint32_t came[2];         /* for which others sleep */
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->lock)

static void held_for_reading(void)
{
    (void)!pawl_pshared_lock32_try_read(LOCK);
}

static void held_for_seeking(void)
{
    (void)!pawl_pshared_lock32_try_seek(LOCK);
}

static void held_for_writing(void)
{
    (void)!pawl_pshared_lock32_try_write(LOCK);
}

static void held_for_updates(void)
{
    (void)!pawl_pshared_lock32_try_atomic(LOCK);
}

/* Somebody has waited in vain: PARKED is left standing, and the next drop tells all the same. */
static void one_has_given_up(void)
{
    m_become(1);
    (void)!pawl_pshared_lock32_take_write_until(LOCK, 0);
    m_become(0);
}

#define AND_PARKED(state)                                                                          \
    static void held_for_##state##_and_parked(void)                                                \
    {                                                                                              \
        held_for_##state();                                                                        \
        one_has_given_up();                                                                        \
    }
AND_PARKED(reading)
AND_PARKED(seeking)
AND_PARKED(writing)

/* ---- The last user frees the lock ------------------------------------------------------------ */

static void drops_read(void)
{
    (void)m_read(0);
    M_STEP(pawl_pshared_lock32_drop_read(LOCK));
}

static void drops_seek(void)
{
    (void)m_read(0);
    M_STEP(pawl_pshared_lock32_drop_seek(LOCK));
}

static void drops_write(void)
{
    m_write(0, 1);
    M_STEP(pawl_pshared_lock32_drop_write(LOCK));
}

static void drops_atomic(void)
{
    (void)m_read(0);
    M_STEP(pawl_pshared_lock32_drop_atomic(LOCK));
}

/* What was the lock is somebody else's memory then, who stores there plainly: a race with any
 * access of a drop that is not ordered before it. */
static void takes_and_frees(void)
{
    M_STEP(pawl_pshared_lock32_take_write(LOCK));
    m_write(0, 2);
    m_begin("the memory is used anew");
    m_unmap(0, LOCK, sizeof *LOCK); /* a wake there would be a wake of somebody else */
    LOCK->word = 7;
    LOCK->waits = 7;
    m_renew(LOCK, sizeof *LOCK);
    m_end();
}

/* The thread that has dropped the lock is in another process, which has nothing more to do with the
 * lock and ends. */
static void takes_and_the_other_ends(void)
{
    M_STEP(pawl_pshared_lock32_take_write(LOCK));
    m_unmap(0, LOCK, sizeof *LOCK);
    m_write(0, 2);
    M_STEP(pawl_pshared_lock32_drop_write(LOCK));
}

static void writes(void)
{
    M_STEP(pawl_pshared_lock32_take_write(LOCK));
    m_write(0, 3);
    M_STEP(pawl_pshared_lock32_drop_write(LOCK));
}

/* A third process waits for a moment only. */
static void writes_if_soon(void)
{
    M_DO(bool got = pawl_pshared_lock32_take_write_until(LOCK, M_DEADLINE));
    if (got)
        M_STEP(pawl_pshared_lock32_drop_write(LOCK));
}

static void seeks_once(void)
{
    M_STEP(pawl_pshared_lock32_take_seek(LOCK));
    M_STEP(pawl_pshared_lock32_drop_seek(LOCK));
}

/* Two seekers, of which one drop wakes one; the other is woken by the one or by the drop. */
static void a_reader_and_a_seeker(void)
{
    held_for_reading();
    m_become(1);
    held_for_seeking();
    m_become(0);
}

/* PARKED is stale, and the move takes it away beside two seekers, one asleep behind the other. */
static void moves_to_reading(void)
{
    M_STEP(pawl_pshared_lock32_seek_to_read(LOCK));
    M_STEP(pawl_pshared_lock32_drop_read(LOCK));
}

static void drops_seek_then_seeks(void)
{
    M_STEP(pawl_pshared_lock32_drop_seek(LOCK));
    seeks_once();
}

static void nobody_has_written(void)
{
    m_become(1);
    m_demand(pawl_load_relaxed32(&LOCK->word) == 7 && pawl_load_relaxed32(&LOCK->waits) == 7,
             M_EXCLUSION, "a drop has written where the lock was");
}

/* ---- Who is let in is waited for ------------------------------------------------------------- */

static void comes(uint32_t which)
{
    m_begin("has come");
    pawl_store_relaxed32(&STAGE->came[which], 1);
    (void)pawl_hook_wake(&STAGE->came[which], 1);
    m_end();
}

/* While it waits it holds what it has moved to: a wake that comes with its drop is too late. */
static void waits_until_come(uint32_t which)
{
    m_begin("waits for who may come");
    while (pawl_load_relaxed32(&STAGE->came[which]) == 0)
        (void)pawl_hook_wait(&STAGE->came[which], 0, UINT64_MAX);
    m_end();
}

static void reads(void)
{
    M_STEP(pawl_pshared_lock32_take_read(LOCK));
    comes(0);
    (void)m_read(0);
    M_STEP(pawl_pshared_lock32_drop_read(LOCK));
}

static void seeks(void)
{
    M_STEP(pawl_pshared_lock32_take_seek(LOCK));
    comes(0);
    (void)m_read(0);
    M_STEP(pawl_pshared_lock32_drop_seek(LOCK));
}

static void updates(void)
{
    M_STEP(pawl_pshared_lock32_take_atomic(LOCK));
    comes(0);
    (void)m_read(0);
    M_STEP(pawl_pshared_lock32_drop_atomic(LOCK));
}

static void turns_to_reading(void)
{
    m_write(0, 1);
    M_STEP(pawl_pshared_lock32_write_to_read(LOCK));
    waits_until_come(0);
    M_STEP(pawl_pshared_lock32_drop_read(LOCK));
}

static void turns_to_seeking(void)
{
    m_write(0, 1);
    M_STEP(pawl_pshared_lock32_write_to_seek(LOCK));
    waits_until_come(0);
    M_STEP(pawl_pshared_lock32_drop_seek(LOCK));
}

static void ceases_to_seek(void)
{
    M_STEP(pawl_pshared_lock32_seek_to_read(LOCK));
    waits_until_come(0);
    M_STEP(pawl_pshared_lock32_drop_read(LOCK));
}

/* Both are atomic users, and each reads until the other does. */
static void two_update(void)
{
    held_for_updates();
    m_become(1);
    held_for_updates();
    m_become(0);
}

static void updates_and_reads(void)
{
    M_STEP(pawl_pshared_lock32_atomic_to_read(LOCK));
    comes(m_me());
    waits_until_come(1 - m_me());
    M_STEP(pawl_pshared_lock32_drop_read(LOCK));
}

/* A reader that turns to updates, unless the other claims first; others may update beside it. */
static void reads_and_updates(void)
{
    M_DO(bool turned = pawl_pshared_lock32_read_claim_atomic(LOCK));
    if (!turned) {
        M_STEP(pawl_pshared_lock32_drop_read(LOCK));
        return;
    }
    waits_until_come(0);
    M_STEP(pawl_pshared_lock32_drop_atomic(LOCK));
}

/* The same from U: it waits for the reader, who then comes back to update. */
static void drops_read_and_updates(void)
{
    M_STEP(pawl_pshared_lock32_drop_read(LOCK));
    updates();
}

static void updates_until_come(void)
{
    M_STEP(pawl_pshared_lock32_take_atomic(LOCK));
    waits_until_come(0);
    M_STEP(pawl_pshared_lock32_drop_atomic(LOCK));
}

/* Who has waited for the last atomic user comes in beside this reader: it has no reason to ask for
 * W, as one would who has been patient in vain. */
static void ceases_to_update_and_reads(void)
{
    M_STEP(pawl_pshared_lock32_drop_atomic(LOCK));
    M_STEP(pawl_pshared_lock32_take_read(LOCK));
    waits_until_come(0);
    M_STEP(pawl_pshared_lock32_drop_read(LOCK));
}

static void nobody_is_in(void)
{
    m_demand((pawl_load_relaxed32(&LOCK->word) & ~(uint32_t)PAWL_PSHARED_PARKED) == 0, M_RESTORED,
             "units are left");
}

/* ---- Orders that nothing but the word has ---------------------------------------------------- */

static void wide_is_held_for_writing(void)
{
    (void)!pawl_pshared_lock64_try_write(&STAGE->wide);
}

/* It wakes the reader and overtakes it, so that the reader's turn has come. The second drop may
 * come between the reader's claim and its PARKED. Then the drop changes the word and nothing
 * else. */
static void overtakes_once(void)
{
    M_STEP(pawl_pshared_lock64_drop_write(&STAGE->wide));
    M_STEP(pawl_pshared_lock64_take_write(&STAGE->wide));
    m_write(0, 1);
    M_STEP(pawl_pshared_lock64_drop_write(&STAGE->wide));
}

static void reads_in_its_turn(void)
{
    M_STEP(pawl_pshared_lock64_take_read(&STAGE->wide));
    (void)m_read(0);
    M_STEP(pawl_pshared_lock64_drop_read(&STAGE->wide));
}

static void wide_is_free(void)
{
    m_demand((pawl_load_relaxed64(&STAGE->wide.word) & ~(uint64_t)PAWL_PSHARED_PARKED) == 0,
             M_RESTORED, "units are left");
}

/* The bits of `waits` (src/lock/pshared.c): a waiter has its turn; a group may have sleepers. */
#define KEEPER 1u
#define ASLEEP 14u

static void writes_in_its_turn(void)
{
    M_STEP(pawl_pshared_lock64_take_write(&STAGE->wide));
    m_write(0, 2);
    M_STEP(pawl_pshared_lock64_drop_write(&STAGE->wide));
}

/* As overtakes_once; and it lets the others find that they were overtaken. */
static void overtakes_and_yields(void)
{
    M_STEP(pawl_pshared_lock64_drop_write(&STAGE->wide));
    M_STEP(pawl_pshared_lock64_take_write(&STAGE->wide));
    m_begin("yields");
    pawl_hook_yield();
    m_end();
    M_STEP(pawl_pshared_lock64_drop_write(&STAGE->wide));
}

static void wide_is_free_and_nobody_has_a_turn(void)
{
    wide_is_free();
    m_demand((pawl_load_relaxed32(&STAGE->wide.waits) & KEEPER) == 0, M_RESTORED,
             "nobody else can have a turn");
}

/* The last drop finds that nobody sleeps, and takes away what says so. */
static void nobody_seems_asleep(void)
{
    m_demand(pawl_load_relaxed32(&LOCK->word) == 0, M_RESTORED, "units, or PARKED, are left");
    m_demand((pawl_load_relaxed32(&LOCK->waits) & ASLEEP) == 0, M_RESTORED,
             "the next drop asks the kernel for nobody");
}

static void two_read(void)
{
    held_for_reading();
    m_become(1);
    held_for_reading();
    m_become(0);
}

/* The other reader may leave between the claim and the look. Then the claimant does not sleep, and
 * its change of the word alone orders what it has read before the next atomic user. */
static void reads_then_updates(void)
{
    (void)m_read(0);
    M_DO(bool turned = pawl_pshared_lock32_read_claim_atomic(LOCK));
    m_demand(turned, M_PROGRESS, "a claim fails beside a reader");
    M_STEP(pawl_pshared_lock32_drop_atomic(LOCK));
}

static void updates_if_it_may(void)
{
    M_DO(bool in = pawl_pshared_lock32_try_atomic(LOCK));
    if (!in)
        return;
    m_write(0, 1);
    M_STEP(pawl_pshared_lock32_drop_atomic(LOCK));
}

/* A look by another process, where the lock is still mapped. */
static void nobody_is_in_elsewhere(void)
{
    m_become(1);
    nobody_is_in();
    m_become(0);
}

/* clang-format off */
#define FREED(state, held, drops)                                                                  \
    {"shared_freed_after_" #state, held, {drops, takes_and_frees}, nobody_has_written, "preempt=3"},
#define ENDED(state, held, drops, other)                                                           \
    {"shared_ended_after_" #state, held, {drops, takes_and_the_other_ends, other},                 \
     nobody_is_in_elsewhere, "preempt=2"},
#define LETS_IN(name, held, holder, other)                                                         \
    {"shared_" #name, held, {holder, other}, nobody_is_in, "preempt=2"},

extern const struct m_scene m_shared_scenes[];
const struct m_scene m_shared_scenes[] = {
    FREED(read, held_for_reading, drops_read)
    FREED(seek, held_for_seeking, drops_seek)
    FREED(write, held_for_writing, drops_write)
    FREED(atomic, held_for_updates, drops_atomic)
    FREED(write_and_parked, held_for_writing_and_parked, drops_write)
    FREED(read_and_parked, held_for_reading_and_parked, drops_read)
    FREED(seek_and_parked, held_for_seeking_and_parked, drops_seek)
    ENDED(read, held_for_reading, drops_read, writes)
    ENDED(seek, held_for_seeking, drops_seek, seeks_once)
    ENDED(write, held_for_writing, drops_write, writes)
    ENDED(atomic, held_for_updates, drops_atomic, writes)
    {"shared_ended_after_write_late", held_for_writing,
     {drops_write, takes_and_the_other_ends, writes_if_soon}, nobody_is_in_elsewhere,
     "preempt=2 time=2000000"},
    {"shared_stale_beside_seekers", held_for_seeking_and_parked,
     /* With two preemptions three threads that claim by compare-exchange take over 300 s: the deep
      * set tries that, for as long as it has time. */
     {moves_to_reading, seeks_once, seeks_once}, nobody_is_in, "preempt=1"},
    {"shared_seekers_beside_a_reader", a_reader_and_a_seeker,
     /* Four threads: with one preemption half a minute, which the deep set has. */
     {drops_read, drops_seek_then_seeks, seeks_once, seeks_once}, nobody_is_in, "preempt=0"},
    LETS_IN(write_to_read_lets_read, held_for_writing, turns_to_reading, reads)
    LETS_IN(write_to_read_lets_seek, held_for_writing, turns_to_reading, seeks)
    LETS_IN(write_to_seek_lets_read, held_for_writing, turns_to_seeking, reads)
    LETS_IN(write_to_seek_lets_read_parked, held_for_writing_and_parked, turns_to_seeking, reads)
    LETS_IN(seek_to_read_lets_seek, held_for_seeking, ceases_to_seek, seeks)
    LETS_IN(seek_to_read_lets_seek_parked, held_for_seeking_and_parked, ceases_to_seek, seeks)
    LETS_IN(atomic_to_read_of_two, two_update, updates_and_reads, updates_and_reads)
    LETS_IN(read_to_atomic_lets_update, held_for_reading, reads_and_updates, updates)
    LETS_IN(atomic_lets_update, held_for_reading, drops_read_and_updates, updates_until_come)
    LETS_IN(read_after_the_last_update, held_for_updates, ceases_to_update_and_reads, reads)
    LETS_IN(seek_after_the_last_update, held_for_updates, ceases_to_update_and_reads, seeks)
    {"shared_turn_of_a_reader", wide_is_held_for_writing, {overtakes_once, reads_in_its_turn},
     wide_is_free, "preempt=3"},
    {"shared_turns_of_two", wide_is_held_for_writing,
     {writes_in_its_turn, reads_in_its_turn, overtakes_and_yields},
     wide_is_free_and_nobody_has_a_turn, "preempt=0"},
    {"shared_marks_of_nobody", held_for_writing_and_parked, {drops_write}, nobody_seems_asleep,
     ""},
    {"shared_read_to_atomic_beside_a_reader", two_read,
     {reads_then_updates, drops_read, updates_if_it_may}, nobody_is_in, "preempt=2"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
