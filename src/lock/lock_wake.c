/* SPDX-License-Identifier: MIT */
/*
 * Whom a change of the word wakes.
 *
 * A thread that subtracts units and finds PARKED computes which classes can enter now. It then
 * looks into the queue. If a queued waiter is awake, the releaser may skip the queue: that waiter
 * reads the word again before it sleeps (I6). When it is granted the lock, or gives up, it looks
 * which other waiters can enter. The bucket's hint says that there is one. Waiters that are in
 * others' way are not skipped.
 *
 * The skip is safe because both sides change the same word. A waiter that goes to sleep, or leaves
 * others asleep, clears the hint before it sets PARKED [LOCK_PARK]. It also counts itself as urgent
 * before that. A releaser that finds this PARKED sees the hint cleared, and the count [LOCK_LEFT].
 *
 * Waiters that enter together are woken in a chain: a releaser wakes two, and each that leaves the
 * queue wakes the next.
 */
#include <limits.h>

#include "lock_parts.h"

static void lock_wake(struct lock_place *here, struct wait *wait)
{
    lock_wakes_up(here, wait);
    table_wake(&here->woken, &wait->waiter);
}

/* Wakes from a list at most so many. */
static void lock_wake_some(struct lock_place *here, unsigned list, unsigned most)
{
    while (most-- > 0 && here->queue->lists[list].first != NULL)
        lock_wake(here, here->queue->lists[list].first);
}

/* Readers, but none below a writer that sleeps. Those that are woken wake it when they leave. */
static void lock_wake_readers(struct lock_place *here)
{
    const struct wait *const writer = here->queue->lists[LOCK_LIST_W].first;
    struct wait *reader;
    for (unsigned most = LOCK_WAKES; most > 0; most--) {
        reader = here->queue->lists[LOCK_LIST_R].first;
        if (reader == NULL || (writer != NULL && writer->rank > reader->rank))
            return;
        lock_wake(here, reader);
    }
}

/* Readers that pass claims. Where the preload library has them, they come first in the list. */
static void lock_wake_passers(struct lock_place *here)
{
    struct wait *reader;
    for (unsigned most = LOCK_WAKES; most > 0; most--) {
        reader = here->queue->lists[LOCK_LIST_R].first;
        if (reader == NULL || reader->self.to_read != WAIT_PASS)
            return;
        lock_wake(here, reader);
    }
}

/* Few keep a claim at a time, because claims keep each other out. */
static void lock_pick_claims(struct lock_place *here, unsigned ready)
{
    struct wait *wait = here->queue->lists[LOCK_LIST_CLAIM].first;
    while (wait != NULL) {
        struct wait *next = wait->after;
        TABLE_STEP();
        if (wait->waiter.kind & ready)
            lock_wake(here, wait);
        wait = next;
    }
}

PAWL_INTERNAL void lock_pick(struct lock_place *here, unsigned ready)
{
    if (here->queue == NULL || here->queue->asleep == 0)
        return;
    lock_pick_claims(here, ready);
    if (ready & WAIT_GONE)
        lock_wake_some(here, LOCK_LIST_GONE, UINT_MAX);
    if (ready & WAIT_BESIDE)
        lock_wake_passers(here);
    switch (lock_oldest_ready(here, ready)) {
    case LOCK_LIST_W: lock_wake_some(here, LOCK_LIST_W, 1); break;
    case LOCK_LIST_A: lock_wake_some(here, LOCK_LIST_A, LOCK_WAKES); break;
    case LOCK_LIST_R:
    case LOCK_LIST_S:
        lock_wake_some(here, LOCK_LIST_S, ready & WAIT_S ? 1 : 0);
        if (ready & WAIT_R)
            lock_wake_readers(here);
        break;
    default: break;
    }
}

/* Wakes the oldest waiter if it sleeps and its turn has come. */
static void lock_pick_oldest(struct lock_place *here)
{
    struct wait *oldest = (struct wait *)(void *)here->queue->queue.oldest;
    if (oldest->waiter.asleep && !lock_is_urgent(oldest) &&
        lock_turn_has_come(here, &oldest->waiter))
        lock_wake(here, oldest);
}

/* For a waiter that leaves others asleep. Its look may find nobody to wake: a writer that leaves
 * the queue holds W. Releasers skip the queue while a waiter is awake, and the next one may have
 * come meanwhile. So the oldest sleeper would miss its turn while such waiters keep coming. */
PAWL_INTERNAL void lock_pick_left_asleep(struct lock_place *here, unsigned ready)
{
    lock_pick(here, ready);
    if (here->queue != NULL && here->woken.count == 0)
        lock_pick_oldest(here);
}

PAWL_INTERNAL unsigned lock_ready_here(const struct lock_place *here, uint64_t w)
{
    const struct wait *const keeper = here->queue != NULL ? here->queue->keeper : NULL;
    unsigned ready = lock_ready(w);
    if (ipawl_spin64_writers_(w) == UNIT_W && ipawl_spin64_readers_(w) != 0 && keeper != NULL &&
        (keeper->self.claim == WAIT_ALONE || keeper->self.claim == WAIT_PAST))
        ready |= WAIT_BESIDE;
    return ready;
}

/* Most releasers beside a sleeper find the hint. So they ask for it first, and for what they have
 * opened only where that counts. */
PAWL_INTERNAL void lock_dropped(struct word word, uint64_t found, uint64_t after)
{
    const void *const lock = word.address;
    const struct pawl_bucket *bucket;
    struct lock_place here;
    unsigned opened;
    bool left;
    /* [LOCK_LEFT] acquire: the releaser sees the hint as of the sleeper's PARKED, or later. */
    pawl_fence_acquire(PAWL_LOCK_LEFT);
    bucket = table_peek(lock);
    left =
        PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->awake_for) == (ipawl_address_)(uintptr_t)lock &&
        lock_hint_counts(bucket);
    if (left && pawl_load_relaxed32(&bucket->urgent) == 0)
        return;
    opened = lock_opens(found, after) | (lock_atomics_only(after) ? WAIT_TURN : 0u);
    if (opened == 0 || (left && !(opened & WAIT_URGENT)))
        return;
    lock_look(&here, lock, lock_owner(&word));
    lock_pick(&here, opened);
    if (here.queue != NULL && here.woken.count == 0 && (opened & WAIT_TURN))
        lock_pick_oldest(&here);
    if (here.woken.count != 0)
        PAWL_PROBE2(lock_wake, lock, here.woken.count);
    lock_unlock(&here);
}
