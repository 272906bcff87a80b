/* SPDX-License-Identifier: MIT */
/* The place of a waiter in the queue of its lock: it joins, keeps claims, falls asleep, wakes up,
 * leaves. lock_wait.c has the order of these steps. */
#include "lock_parts.h"

static void lock_find(struct lock_place *here, const void *lock, uint32_t owner)
{
    here->queue = (struct lock_queue *)(void *)table_find(here->bucket, lock, owner);
}

static void lock_look_in(struct lock_place *here, struct pawl_bucket *bucket, const void *lock,
                         uint32_t owner)
{
    here->woken.first = here->woken.last = NULL;
    here->woken.count = 0;
    here->bucket = bucket;
    lock_find(here, lock, owner);
}

PAWL_INTERNAL void lock_look(struct lock_place *here, const void *lock, uint32_t owner)
{
    lock_look_in(here, table_lock(lock), lock, owner);
}

PAWL_INTERNAL bool lock_try_look(struct lock_place *here, const void *lock, uint32_t owner)
{
    struct pawl_bucket *const bucket = table_try_lock(lock);
    if (bucket != NULL)
        lock_look_in(here, bucket, lock, owner);
    return bucket != NULL;
}

PAWL_INTERNAL void lock_unlock(struct lock_place *here)
{
    table_unlock(here->bucket);
    table_unpark(&here->woken);
}

/* ---- Spinning -------------------------------------------------------------------------------- */

#if PAWL_HOOKS

/* The harness schedules the threads, so another read tells nothing. */
PAWL_INTERNAL bool lock_loop_on(struct loop *loop, uint64_t deadline)
{
    (void)loop, (void)deadline;
    return false;
}

#else

/* On one CPU another read tells nothing. */
PAWL_INTERNAL bool lock_loop_on(struct loop *loop, uint64_t deadline)
{
    uint64_t now;
    if (pawl_os_one_cpu())
        return false;
    now = pawl_os_now();
    if (loop->end == 0)
        loop->end = lock_is_calm(now) ? now : now + LOCK_SPIN_NS;
    if (lock_yields(loop, now, deadline))
        return true;
    if (now >= loop->end || now >= deadline)
        return false;
    (void)backoff_relaxed(&loop->backoff, loop);
    return true;
}

#endif

/* ---- The hint -------------------------------------------------------------------------------- */

/* A waiter of the lock is awake from now on; releasers may leave the look to it for a while. */
static uint64_t lock_hint(struct lock_place *here, const void *lock)
{
    const uint64_t now = pawl_os_now();
    pawl_store_relaxed64(&here->bucket->quiet_until, now + LOCK_HANDOFF_NS);
    PAWL_ADDRESS_(pawl_store_relaxed)(&here->bucket->awake_for, (ipawl_address_)(uintptr_t)lock);
    return now;
}

static void lock_no_hint(struct lock_place *here, const void *lock)
{
    const ipawl_address_ hinted = (ipawl_address_)(uintptr_t)lock;
    if (here->queue->awake == 0 &&
        PAWL_ADDRESS_(pawl_load_relaxed)(&here->bucket->awake_for) == hinted)
        PAWL_ADDRESS_(pawl_store_relaxed)(&here->bucket->awake_for, 0);
}

/* ---- Joining, sleeping, leaving -------------------------------------------------------------- */

PAWL_INTERNAL void lock_queue_up(struct lock_place *here, struct wait *wait)
{
    pawl_os_told_plain(wait, sizeof *wait);
    wait->since = pawl_os_now();
    wait->waiter.parker = pawl_parker_make(&wait->parker);
    here->queue = (struct lock_queue *)(void *)table_append(here->bucket, &wait->waiter);
    here->queue->awake++;
    wait->queued = true;
    (void)lock_hint(here, wait->waiter.address);
    PAWL_PROBE1(lock_contended, wait->waiter.address);
}

PAWL_INTERNAL void lock_join(struct lock_place *here, struct wait *wait)
{
    lock_look(here, wait->waiter.address, lock_owner(&wait->self.word));
    if (!wait->queued)
        lock_queue_up(here, wait);
}

PAWL_INTERNAL void lock_falls_asleep(struct lock_place *here, struct wait *wait,
                                     enum wait_class class)
{
    wait->waiter.kind = (uint32_t)class;
    lock_enlist(here, wait);
    here->queue->awake--;
    here->queue->asleep++;
    lock_no_hint(here, wait->waiter.address);
}

PAWL_INTERNAL void lock_wakes_up(struct lock_place *here, struct wait *wait)
{
    lock_delist(here, wait);
    here->queue->asleep--;
    here->queue->awake++;
    wait->woken = lock_hint(here, wait->waiter.address);
}

PAWL_INTERNAL bool lock_sleep(struct lock_place *here, struct wait *wait)
{
    const bool woken = table_sleep(&here->bucket, &wait->waiter, &here->woken, wait->self.deadline);
    lock_note_delay(woken ? wait->woken : wait->self.deadline);
    lock_find(here, wait->waiter.address, lock_owner(&wait->self.word));
    if (!woken)
        lock_wakes_up(here, wait);
    return woken;
}

PAWL_INTERNAL bool lock_leave(struct lock_place *here, struct wait *wait)
{
    const bool others = here->queue->asleep != 0;
    if (here->queue->keeper == wait)
        here->queue->keeper = NULL;
    here->queue->awake--;
    lock_no_hint(here, wait->waiter.address);
    table_remove(here->bucket, &wait->waiter);
    lock_find(here, wait->waiter.address, lock_owner(&wait->self.word));
    return others;
}

/* ---- What a waiter keeps ------------------------------------------------------------------------
 * A fork may copy the process between any two steps here. So the change of the word turns PARKED
 * round, which no other thread does while the bucket is locked, and the child sees by PARKED
 * whether the change was made (table.h). */

PAWL_INTERNAL void lock_keeps(struct lock_place *here, struct wait *wait, enum wait_class claim)
{
    const bool turn = claim == WAIT_ALONE || claim == WAIT_PAST || claim == WAIT_NEXT;
    if (turn && here->queue->keeper == NULL) {
        here->queue->keeper = wait;
        here->queue->last_handoff = pawl_os_now();
    } else if (!turn && here->queue->keeper == wait) {
        here->queue->keeper = NULL;
    }
    wait->self.claim = claim;
    table_change_is_made(&wait->waiter, word_narrow(lock_units_of(claim), wait->self.word.layout));
}

PAWL_INTERNAL uint64_t lock_begin_change(const struct word *word, struct pawl_waiter *waiter,
                                         uint64_t units, uint64_t next)
{
    const bool parked = (word_load_relaxed(word) & PAWL_LOCK_PARKED) != 0;
    waiter->next = word_narrow(next, word->layout);
    HANDLERS_SEE_THIS_ORDER();
    waiter->changes = parked ? TABLE_CLEARS_PARKED : TABLE_SETS_PARKED;
    HANDLERS_SEE_THIS_ORDER();
    return parked ? units - PAWL_LOCK_PARKED : units + PAWL_LOCK_PARKED;
}

PAWL_INTERNAL uint64_t lock_park_again(const struct word *word, uint64_t found, uint64_t change)
{
    if (!(found & PAWL_LOCK_PARKED))
        return word_plus(found, change, word->layout);
    return word_fetch_or_relaxed(word, PAWL_LOCK_PARKED);
}

/* Before main: a lock may be what an allocator waits for, and the registration may allocate. */
PAWL_OS_EARLY static void register_table_subsystem(void)
{
    ipawl_subsystem_register_early_(PAWL_FLOOR_LOCK, table_subsystem());
}
