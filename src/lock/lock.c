/* SPDX-License-Identifier: MIT */
/*
 * The waits of the sleeping progressive lock. waiting.c has the operations, and lock_wait.c how a
 * thread waits. Here is the queue of one lock, its sleepers by class, and whom a change of the word
 * wakes.
 *
 * Wakes. A thread that subtracts units and finds PARKED computes which classes can enter now. It
 * then looks into the queue. If a queued waiter is awake, the releaser may skip the queue: that
 * waiter reads the word again before it sleeps (I6). When it is granted the lock, or gives up, it
 * looks which other waiters can enter. The bucket's hint says that there is one. Waiters that are
 * in others' way are not skipped.
 *
 * The skip is safe because both sides change the same word. A waiter that goes to sleep, or leaves
 * others asleep, clears the hint before it sets PARKED [LOCK_PARK]. It also counts itself as urgent
 * before that. A releaser that finds this PARKED sees the hint cleared, and the count [LOCK_LEFT].
 *
 * No step here goes through all waiters; a waiter with a rank passes those of other ranks. Waiters
 * that enter together are woken in a chain: a releaser wakes two, and each that leaves the queue
 * wakes the next.
 */
#include <limits.h>

#include "lock_parts.h"

/* ---- The place ------------------------------------------------------------------------------- */

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

/* ---- The hint -------------------------------------------------------------------------------- */

/* A waiter of the lock is awake from now on; releasers may leave the look to it for a while. */
static void lock_hint(struct lock_place *here, const void *lock)
{
    pawl_store_relaxed64(&here->bucket->quiet_until, pawl_os_now() + LOCK_HANDOFF_NS);
    PAWL_ADDRESS_(pawl_store_relaxed)(&here->bucket->awake_for, (ipawl_address_)(uintptr_t)lock);
}

static void lock_no_hint(struct lock_place *here, const void *lock)
{
    const ipawl_address_ hinted = (ipawl_address_)(uintptr_t)lock;
    if (here->queue->awake == 0 &&
        PAWL_ADDRESS_(pawl_load_relaxed)(&here->bucket->awake_for) == hinted)
        PAWL_ADDRESS_(pawl_store_relaxed)(&here->bucket->awake_for, 0);
}

/* ---- Sleepers -------------------------------------------------------------------------------- */

static bool lock_is_urgent(const struct wait *wait)
{
    return wait->self.claim != WAIT_NOTHING || (wait->waiter.kind & WAIT_URGENT) != 0;
}

static struct lock_list *lock_list_of(struct lock_place *here, const struct wait *wait)
{
    const uint32_t class = wait->self.claim == WAIT_NOTHING ? wait->waiter.kind : 0;
    return &here->queue->lists[__builtin_ctz(class | 1u << LOCK_LIST_CLAIM)];
}

static void lock_count_urgent(struct lock_place *here, const struct wait *wait, uint32_t change)
{
    if (!lock_is_urgent(wait))
        return;
    here->queue->queue.urgent += change;
    pawl_store_relaxed32(&here->bucket->urgent,
                         pawl_load_relaxed32(&here->bucket->urgent) + change);
}

/* Whether sleeper `w` comes first: by rank, and within a rank by age. */
static bool lock_comes_first(const struct wait *w, const struct wait *wait)
{
    return w->rank != wait->rank ? w->rank > wait->rank : w->since <= wait->since;
}

/* The sleeper that comes right before the waiter, in the order of rank and age. Search from the
 * front for a waiter that sleeps again, from the back for a new one, among those with a rank or
 * those without, so the search is short. */
static struct wait *lock_before(const struct lock_list *list, const struct wait *wait)
{
    struct wait *before, *next;
    if (wait->slept) {
        before = wait->rank != 0 ? NULL : list->last_ranked;
        next = before != NULL ? before->after : list->first;
        for (; next != NULL && lock_comes_first(next, wait); next = next->after) {
            TABLE_STEP();
            before = next;
        }
        return before;
    }
    before = wait->rank != 0 ? list->last_ranked : list->last;
    for (; before != NULL && !lock_comes_first(before, wait); before = before->before)
        TABLE_STEP();
    return before;
}

static void lock_enlist(struct lock_place *here, struct wait *wait)
{
    struct lock_list *list = lock_list_of(here, wait);
    struct wait *before = lock_before(list, wait);

    wait->slept = true;
    wait->before = before;
    wait->after = before != NULL ? before->after : list->first;
    *(wait->before != NULL ? &wait->before->after : &list->first) = wait;
    *(wait->after != NULL ? &wait->after->before : &list->last) = wait;
    if (wait->rank != 0 && list->last_ranked == before)
        list->last_ranked = wait;
    lock_count_urgent(here, wait, 1);
}

static void lock_delist(struct lock_place *here, struct wait *wait)
{
    struct lock_list *list = lock_list_of(here, wait);
    if (list->last_ranked == wait)
        list->last_ranked = wait->before;
    *(wait->before != NULL ? &wait->before->after : &list->first) = wait->after;
    *(wait->after != NULL ? &wait->after->before : &list->last) = wait->before;
    lock_count_urgent(here, wait, (uint32_t)-1);
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
    lock_hint(here, wait->waiter.address);
}

static void lock_wake(struct lock_place *here, struct wait *wait)
{
    lock_wakes_up(here, wait);
    table_wake(&here->woken, &wait->waiter);
}

/* ---- Whom to wake ---------------------------------------------------------------------------- */

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

/* The class of which the oldest sleeper can enter: a number of a list, or LOCK_LISTS. */
static unsigned lock_oldest_ready(const struct lock_place *here, unsigned ready)
{
    const struct wait *oldest = NULL;
    unsigned found = LOCK_LISTS;
    for (unsigned list = 0; list < LOCK_LIST_GONE; list++) {
        const struct wait *first = here->queue->lists[list].first;
        if (first != NULL && (ready & 1u << list) &&
            (oldest == NULL || !lock_comes_first(oldest, first))) {
            oldest = first;
            found = list;
        }
    }
    return found;
}

/* Wakes sleepers that can enter together when the `ready` classes can. The oldest decides. */
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

/* Whether a sleeper of a higher rank waits. */
static bool lock_is_outranked(const struct lock_queue *queue, const struct wait *wait)
{
    for (unsigned list = 0; list < LOCK_LISTS; list++) {
        const struct wait *first = queue->lists[list].first;
        if (first != NULL && first->rank > wait->rank)
            return true;
    }
    return false;
}

/* Whether the waiter may keep a claim: it is the oldest, has waited long enough, nobody else had a
 * turn just now (I3), and nobody of a higher rank sleeps. */
PAWL_INTERNAL bool lock_turn_has_come(const struct lock_place *here,
                                      const struct pawl_waiter *oldest)
{
    const struct lock_queue *queue = here->queue;
    const struct wait *const wait = (const struct wait *)(const void *)oldest;
    uint64_t now;
    if (queue->queue.oldest != oldest || queue->keeper != NULL)
        return false;
    now = pawl_os_now();
    return now - wait->since >= LOCK_HANDOFF_NS && now - queue->last_handoff >= LOCK_HANDOFF_NS &&
           !lock_is_outranked(queue, wait);
}

/* Only a sleeper can be the heir: a waiter that is awake may have been granted the lock already.
 * Where a waiter has its turn, nothing changes: it is the next. */
PAWL_INTERNAL struct wait *lock_look_for_heir(struct lock_place *here, const void *lock,
                                              uint32_t owner)
{
    unsigned list;
    lock_look(here, lock, owner);
    if (here->queue == NULL || here->queue->keeper != NULL)
        return NULL;
    list = lock_oldest_ready(here, UINT_MAX);
    return list < LOCK_LISTS ? here->queue->lists[list].first : NULL;
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

/* Whether the hint still counts. The clock takes as long as a short section and its lock together.
 * So a thread that drops more often than every LOCK_QUICK_NS reads the clock at one drop in
 * LOCK_QUICK_DROPS + 1. A signal handler that drops may change which one. */
static bool lock_hint_counts(const struct pawl_bucket *bucket)
{
#if PAWL_HOOKS || defined(PAWL_SIM) || !defined(__ELF__)
    /* Threads of models and of the simulator would share the variables. */
    return pawl_os_now() < pawl_load_relaxed64(&bucket->quiet_until);
#else
    struct pawl_own *const own = pawl_os_own();
    uint64_t now;
    if (own->clock_unread != 0) {
        own->clock_unread--;
        return true;
    }
    now = pawl_os_now();
    own->clock_unread = now - own->clock_read < LOCK_QUICK_NS ? LOCK_QUICK_DROPS : 0;
    own->clock_read = now;
    return now < pawl_load_relaxed64(&bucket->quiet_until);
#endif
}

/* Most releasers beside a sleeper find the hint. So they ask for it first, and for what they have
 * opened only where that counts. */
PAWL_INTERNAL void lock_wake_opened(const void *lock, uint32_t owner, uint64_t found,
                                    uint64_t after)
{
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
    lock_look(&here, lock, owner);
    lock_pick(&here, opened);
    if (here.queue != NULL && here.woken.count == 0 && (opened & WAIT_TURN))
        lock_pick_oldest(&here);
    if (here.woken.count != 0)
        PAWL_PROBE2(lock_wake, lock, here.woken.count);
    lock_unlock(&here);
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

/* A pause; false when the time is over, or the deadline has passed. On one CPU another read tells
 * nothing. */
PAWL_INTERNAL bool lock_loop_on(struct loop *loop, uint64_t deadline)
{
    uint64_t now;
    if (pawl_os_one_cpu())
        return false;
    now = pawl_os_now();
    if (loop->end == 0)
        loop->end = now + LOCK_SPIN_NS;
    if (now >= loop->end || now >= deadline)
        return false;
    (void)backoff_relaxed(&loop->backoff, loop);
    return true;
}

#endif

/* ---- Joining, sleeping, leaving -------------------------------------------------------------- */

/* The bucket is locked. The waiter is in its queue from now on, and awake. */
PAWL_INTERNAL void lock_queue_up(struct lock_place *here, struct wait *wait)
{
    pawl_os_told_plain(wait, sizeof *wait);
    wait->since = pawl_os_now();
    wait->waiter.parker = pawl_parker_make(&wait->parker);
    here->queue = (struct lock_queue *)(void *)table_append(here->bucket, &wait->waiter);
    here->queue->awake++;
    wait->queued = true;
    lock_hint(here, wait->waiter.address);
    PAWL_PROBE1(lock_contended, wait->waiter.address);
}

/* Locks the bucket; the waiter is then in its queue and awake. */
PAWL_INTERNAL void lock_join(struct lock_place *here, struct wait *wait)
{
    lock_look(here, wait->waiter.address, lock_owner(&wait->self.word));
    if (!wait->queued)
        lock_queue_up(here, wait);
}

/* A waiter that is in others' way spins on besides: its sleep would keep the lock idle. */
PAWL_INTERNAL bool lock_may_spin_on(const struct lock_place *here, enum wait_class class)
{
    return here->queue->awake <= LOCK_SPINNERS || ((unsigned)class & WAIT_URGENT) != 0;
}

/* The waiter keeps this claim in the word from now on. */
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

/* The same for a waiter that sleeps, and then waits in that class: others made the claim for it. */
PAWL_INTERNAL void lock_keeps_asleep(struct lock_place *here, struct wait *wait,
                                     enum wait_class claim)
{
    lock_delist(here, wait);
    lock_keeps(here, wait, claim);
    wait->waiter.kind = (uint32_t)claim;
    lock_enlist(here, wait);
}

/* The waiter is among the sleepers. Sleeps until it is woken (true), or its deadline has passed.
 * The bucket is locked again then. */
PAWL_INTERNAL bool lock_sleep(struct lock_place *here, struct wait *wait)
{
    const bool woken = table_sleep(&here->bucket, &wait->waiter, &here->woken, wait->self.deadline);
    lock_find(here, wait->waiter.address, lock_owner(&wait->self.word));
    if (!woken)
        lock_wakes_up(here, wait);
    return woken;
}

/* The waiter leaves the queue. True when others sleep there. */
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

/* The bucket is locked. The waiter is about to change the word by `units`, and to keep `next` then.
 * Returns the change with PARKED. */
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

/* The change was made at `found`, and its author has noted it; or it was not made, and is 0. Sets
 * PARKED again if it was set before. Returns the word then: it may have changed without a look. */
PAWL_INTERNAL uint64_t lock_park_again(const struct word *word, uint64_t found, uint64_t change)
{
    if (!(found & PAWL_LOCK_PARKED))
        return word_plus(found, change, word->layout);
    return word_fetch_or_relaxed(word, PAWL_LOCK_PARKED);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

/* Before main: a lock may be what an allocator waits for, and the registration may allocate. */
PAWL_OS_EARLY static void register_table_subsystem(void)
{
    ipawl_subsystem_register_early_(PAWL_FLOOR_LOCK, table_subsystem());
}
