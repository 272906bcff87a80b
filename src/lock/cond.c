/* SPDX-License-Identifier: MIT */
/*
 * Condition variables and event counts.
 *
 * A waiter of a condition variable is in the wait list of its address.
 *
 * After a broadcast the waiters are to enter the lock one after the other and not contend for it
 * all at once. The broadcast does this requeue without the lock. It removes all waiters from the
 * list, and wakes those that may hold the lock together. It links the others into a chain, in which
 * each thread wakes the next one when it holds the lock itself. Only its predecessor can wake a
 * thread of the chain. The predecessor always does, because taking a lock cannot fail.
 * doc/design/007-waiting.md says why the waiters do not move into the lock's own list.
 */
#include <pawl/cond.h>

#include "../base/base.h"
#include "table.h"
#if PAWL_CHECKED
#include "../check/check.h"
#endif

/* ---- Condition variable ---------------------------------------------------------------------- */

static void cond_leave(struct pawl_bucket *bucket, pawl_cond *cond, struct pawl_waiter *waiter)
{
    table_remove(bucket, waiter);
    pawl_store_relaxed32(&cond->waiting, pawl_load_relaxed32(&cond->waiting) - 1);
}

/* True: a signal or a broadcast picked the waiter. False: the deadline passed, and none has. */
static bool cond_sleep(pawl_cond *cond, struct pawl_waiter *waiter, uint64_t deadline)
{
    struct pawl_bucket *bucket;
    bool picked;

    table_grow_if_crowded();
    TEST_POINT("listed");
    if (pawl_park(waiter->parker, deadline))
        return true;
    bucket = table_lock(cond);
    PLAIN_READ(waiter->asleep);
    picked = waiter->asleep == 0;
    if (!picked)
        cond_leave(bucket, cond, waiter);
    table_unlock(bucket);
    if (picked) /* its turn comes, and its successor in the chain waits for it */
        (void)pawl_park(waiter->parker, PAWL_NO_DEADLINE);
    return picked;
}

/* A waiter of a condition variable. */
struct cond_waiter {
    struct pawl_waiter waiter; /* first member */
    struct pawl_queue room;
    const void *lock;         /* that it dropped to wait */
    struct cond_waiter *next; /* in the chain of a broadcast */
};

static struct cond_waiter *cond_first(struct pawl_bucket *bucket, const pawl_cond *cond)
{
    const struct pawl_queue *queue = table_find(bucket, cond, TABLE_OF_COND);
    return queue != NULL ? (struct cond_waiter *)(void *)queue->oldest : NULL;
}

/* False when others wait with another lock. */
static bool cond_enter(pawl_cond *cond, struct cond_waiter *waiter)
{
    struct pawl_bucket *bucket = table_lock(cond);
    const struct cond_waiter *other = cond_first(bucket, cond);
    const bool same = other == NULL || other->lock == waiter->lock;
    (void)table_append(bucket, &waiter->waiter);
    PLAIN_WRITE(waiter->waiter.asleep);
    waiter->waiter.asleep = 1;
    pawl_store_relaxed32(&cond->waiting, pawl_load_relaxed32(&cond->waiting) + 1);
    table_unlock(bucket);
    return same;
}

bool PAWL_SYMBOL_(pawl_cond_wait)(pawl_cond *cond, const struct pawl_cond_lock *lock,
                                  uint64_t deadline)
{
    struct pawl_parker room;
    struct cond_waiter waiter;
    struct cond_waiter *next;
    bool signalled;

    if (PAWL_CHECKED && lock->take == NULL)
        return ipawl_check_has_(lock->lock);
    pawl_os_told_plain(&waiter, sizeof waiter);
    waiter.waiter.address = cond;
    waiter.waiter.parker = pawl_parker_make(&room);
    waiter.waiter.room = table_room(&waiter.room, TABLE_OF_COND, sizeof waiter.room);
    waiter.waiter.kind = 0;
    waiter.waiter.bits = lock->shared;
    waiter.lock = lock->lock;
    waiter.next = NULL;
    if (!cond_enter(cond, &waiter))
        MISUSE("wait with another lock than the other waiters", "condition variable", cond,
               "pawl_cond_wait");
    PAWL_PROBE2(cond_wait, cond, lock->lock);
    lock->drop(lock->lock);
    signalled = cond_sleep(cond, &waiter.waiter, deadline);
    lock->take(lock->lock);
    PLAIN_READ(waiter.next);
    next = waiter.next;
    if (next != NULL) {
        PLAIN_READ(next->waiter.parker);
        pawl_unpark(next->waiter.parker);
    }
    return signalled;
}

/* The bucket is locked; `w` is in it. Shared waiters, and the first of the others, go on the list
 * of waiters to wake now. *tail is the last waiter of the chain. */
static void cond_pick(struct pawl_bucket *bucket, pawl_cond *cond, struct cond_waiter *w,
                      struct wake_list *list, struct cond_waiter **tail)
{
    cond_leave(bucket, cond, &w->waiter);
    PLAIN_READ(w->waiter.bits);
    if (w->waiter.bits != 0 || *tail == NULL) {
        table_wake(list, &w->waiter);
    } else {
        PLAIN_WRITE(w->waiter.asleep);
        w->waiter.asleep = 0;
    }
    if (w->waiter.bits == 0) {
        if (*tail != NULL) {
            PLAIN_WRITE((*tail)->next);
            (*tail)->next = w;
        }
        *tail = w;
    }
}

unsigned PAWL_SYMBOL_(pawl_cond_wake)(pawl_cond *cond, bool all)
{
    struct wake_list list = WAKE_LIST_EMPTY;
    struct pawl_bucket *bucket = table_lock(cond);
    struct cond_waiter *tail = NULL;
    struct cond_waiter *w = cond_first(bucket, cond);
    unsigned woken = 0;

    for (; w != NULL && (all || woken == 0); w = cond_first(bucket, cond)) {
        cond_pick(bucket, cond, w, &list, &tail);
        woken++;
    }
    table_unlock(bucket); /* from here on the condition variable may be gone */
    if (woken > 0)
        TEST_POINT("picked");
    table_unpark(&list);
    return woken;
}

/* ---- Event count ----------------------------------------------------------------------------- */

bool PAWL_SYMBOL_(pawl_eventcount_commit)(pawl_eventcount *event, uint32_t key, uint64_t deadline)
{
    bool in_time = true;
    bool notified;
    TEST_POINT("looked");
    for (;;) {
        /* [EVENT_EPOCH] acquire: the waiter sees the change of the notifier that ends its wait.
         * This also holds for a notifier that came as the deadline passed. */
        notified = pawl_load_acquire32(&event->epoch, PAWL_EVENT_EPOCH) != key;
        if (notified || !in_time)
            break;
        in_time = pawl_wait32_until(&event->epoch, key, deadline) != PAWL_WAIT_EXPIRED;
    }
    (void)pawl_fetch_sub_relaxed32(&event->waiters, 1);
    return notified;
}

unsigned PAWL_SYMBOL_(pawl_eventcount_notify)(pawl_eventcount *event, unsigned count)
{
    /* [EVENT_COUNT] release: a waiter that prepares after this sees the notifier's change. */
    if (pawl_fetch_add_release32(&event->waiters, 0, PAWL_EVENT_COUNT) == 0)
        return 0;
    /* [EVENT_NOTIFY] release: a waiter that reads the new epoch sees the notifier's change. */
    (void)pawl_fetch_add_release32(&event->epoch, 1, PAWL_EVENT_NOTIFY);
    return pawl_wake_n(&event->epoch, count);
}
