/* SPDX-License-Identifier: MIT */
/* Wait lists keyed by address. table.h gives the order of events. */
#include "table.h"

#include <string.h>

#include "../base/base.h"
#include "table_latch.h"

PAWL_SHARED_DEFINE(struct pawl_lists, table_object);

/* ---- From an address to its bucket ----------------------------------------------------------- */

static struct pawl_bucket *table_buckets(struct pawl_lists *table, uint32_t doublings)
{
    if (doublings == 0)
        return table->first;
    PLAIN_READ(table->grown[doublings - 1]);
    return table->grown[doublings - 1];
}

static struct pawl_bucket *table_bucket(struct pawl_lists *table, const void *address,
                                        uint32_t doublings)
{
    return &table_buckets(table, doublings)[table_hash(address, doublings)];
}

static uint32_t table_doublings(const struct pawl_lists *table)
{
    /* [TABLE_FIND] acquire: the array is complete. */
    return pawl_load_acquire32(&table->doublings, PAWL_TABLE_FIND);
}

PAWL_INTERNAL struct pawl_bucket *table_lock(const void *address)
{
    struct pawl_lists *table = table_here();
    process_sees_forks();
    for (;;) {
        const uint32_t doublings = table_doublings(table);
        struct pawl_bucket *bucket = table_bucket(table, address, doublings);
        table_latch_take(bucket);
        /* A growing thread holds all latches until the new array is current. */
        if (PAWL_LIKELY(pawl_load_relaxed32(&table->doublings) == doublings))
            return bucket;
        table_latch_drop(bucket);
    }
}

PAWL_INTERNAL void table_unlock(struct pawl_bucket *bucket)
{
    table_latch_drop(bucket);
}

/* For the waiter's own thread: only that thread may learn here that requeue gave it another
 * address. */
PAWL_INTERNAL struct pawl_bucket *table_lock_of(const struct pawl_waiter *waiter)
{
    for (;;) {
        const ipawl_address_ seen =
            PAWL_ADDRESS_(pawl_load_relaxed)((const ipawl_address_ *)&waiter->address);
        struct pawl_bucket *bucket = table_lock((const void *)(uintptr_t)seen);
        /* An atomic load: if the address has changed, the caller does not hold its bucket. */
        if (PAWL_LIKELY(
                PAWL_ADDRESS_(pawl_load_relaxed)((const ipawl_address_ *)&waiter->address) == seen))
            return bucket;
        table_unlock(bucket);
    }
}

/* ---- Queues ---------------------------------------------------------------------------------- */

/* The place in the bucket that points to the queue, or ends the chain. */
static struct pawl_queue **table_place(struct pawl_bucket *bucket, const void *address,
                                       uint32_t owner)
{
    struct pawl_queue **place = &bucket->queues;
    PLAIN_READ(bucket->queues);
    while (*place != NULL && ((*place)->address != address || (*place)->owner != owner)) {
        TABLE_STEP();
        place = &(*place)->next;
    }
    return place;
}

PAWL_INTERNAL struct pawl_queue *table_find(struct pawl_bucket *bucket, const void *address,
                                            uint32_t owner)
{
    return *table_place(bucket, address, owner);
}

static struct pawl_queue *table_new_queue(struct pawl_waiter *lender)
{
    struct pawl_queue *queue = lender->room;
    const uint32_t owner = queue->owner;
    const uint32_t size = queue->size;
    memset(queue, 0, size);
    queue->owner = owner;
    queue->size = size;
    queue->address = lender->address;
    (void)pawl_fetch_add_relaxed32(&table_here()->queues, 1);
    HANDLERS_SEE_THIS_ORDER(); /* here and below: a fork's child goes through the queues */
    return queue;
}

static struct pawl_queue *table_queue_append(struct pawl_bucket *bucket, struct pawl_waiter *waiter)
{
    struct pawl_queue **place = table_place(bucket, waiter->address, waiter->room->owner);
    struct pawl_queue *queue = *place;
    PLAIN_WRITE(bucket->queues); /* and of the queue, and of its waiters */
    if (queue == NULL)
        queue = *place = table_new_queue(waiter);
    waiter->older = queue->youngest;
    waiter->younger = NULL;
    HANDLERS_SEE_THIS_ORDER();
    if (queue->youngest != NULL)
        queue->youngest->younger = waiter;
    else
        queue->oldest = waiter;
    queue->youngest = waiter;
    return queue;
}

/* The lender leaves: the queue moves to the room of its oldest waiter, or ends. */
static void table_queue_move(struct pawl_queue **place)
{
    struct pawl_queue *queue = *place;
    if (queue->oldest == NULL) {
        *place = queue->next;
        (void)pawl_fetch_sub_relaxed32(&table_here()->queues, 1);
    } else {
        struct pawl_queue *const room = queue->oldest->room;
        memcpy(room, queue, queue->size);
        HANDLERS_SEE_THIS_ORDER();
        *place = room;
    }
}

static void table_queue_remove(struct pawl_bucket *bucket, struct pawl_waiter *waiter)
{
    struct pawl_queue **place = table_place(bucket, waiter->address, waiter->room->owner);
    struct pawl_queue *queue = *place;
    PLAIN_WRITE(bucket->queues);
    if (waiter->older != NULL)
        waiter->older->younger = waiter->younger;
    else
        queue->oldest = waiter->younger;
    if (waiter->younger != NULL)
        waiter->younger->older = waiter->older;
    else
        queue->youngest = waiter->older;
    HANDLERS_SEE_THIS_ORDER();
    if (queue == waiter->room)
        table_queue_move(place);
}

PAWL_INTERNAL struct pawl_queue *table_append(struct pawl_bucket *bucket,
                                              struct pawl_waiter *waiter)
{
    PLAIN_WRITE(waiter->parker);
    PLAIN_WRITE(waiter->kind);
    PLAIN_WRITE(waiter->bits);
    PLAIN_WRITE(waiter->asleep);
    waiter->asleep = 0;
    waiter->changes = TABLE_STEADY;
    return table_queue_append(bucket, waiter);
}

PAWL_INTERNAL void table_remove(struct pawl_bucket *bucket, struct pawl_waiter *waiter)
{
    table_queue_remove(bucket, waiter);
}

/* ---- Sleeping and waking --------------------------------------------------------------------- */

PAWL_INTERNAL bool table_sleep(struct pawl_bucket **bucket, struct pawl_waiter *waiter,
                               struct wake_list *wake, uint64_t deadline)
{
    bool woken;

    PLAIN_WRITE(waiter->asleep);
    waiter->asleep = 1;
    table_unlock(*bucket);
    if (wake != NULL)
        table_unpark(wake);
    table_grow_if_crowded();
    woken = pawl_park(waiter->parker, deadline);
    *bucket = table_lock_of(waiter);
    PLAIN_READ(waiter->asleep);
    if (!woken && waiter->asleep == 0) {
        /* A waker picked this waiter while it gave up, and still uses its parker. Wait for the
         * unpark. */
        table_unlock(*bucket);
        woken = pawl_park(waiter->parker, PAWL_NO_DEADLINE);
        *bucket = table_lock_of(waiter);
    }
    waiter->asleep = 0;
    return woken;
}

PAWL_INTERNAL void table_wake(struct wake_list *list, struct pawl_waiter *waiter)
{
    PLAIN_WRITE(waiter->asleep);
    waiter->asleep = 0;
    PLAIN_WRITE(waiter->woken_next);
    waiter->woken_next = NULL;
    if (list->last == NULL) {
        list->first = waiter;
    } else {
        PLAIN_WRITE(list->last->woken_next);
        list->last->woken_next = waiter;
    }
    list->last = waiter;
    list->count++;
}

PAWL_INTERNAL void table_unpark(struct wake_list *list)
{
    struct pawl_waiter *waiter = list->first;
    while (waiter != NULL) {
        struct pawl_waiter *next = waiter->woken_next;
        PLAIN_READ(waiter->woken_next);
        PLAIN_READ(waiter->parker);
        pawl_unpark(waiter->parker);
        waiter = next; /* the waiter before may be gone */
    }
    list->first = list->last = NULL;
    list->count = 0;
}

#include "table_two.h"
#include "table_grow.h"
#include "table_fork.h"

#ifdef PAWL_TEST_POINTS
uint64_t ipawl_table_steps_;
#endif
