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

PAWL_INTERNAL struct pawl_bucket *table_try_lock(const void *address)
{
    struct pawl_lists *table = table_here();
    process_sees_forks();
    for (;;) {
        const uint32_t doublings = table_doublings(table);
        struct pawl_bucket *bucket = table_bucket(table, address, doublings);
        if (!table_latch_take_or_not(bucket))
            return NULL;
        if (PAWL_LIKELY(pawl_load_relaxed32(&table->doublings) == doublings))
            return bucket;
        table_latch_drop(bucket);
    }
}

PAWL_INTERNAL const struct pawl_bucket *table_peek(const void *address)
{
    struct pawl_lists *table = table_here();
    return table_bucket(table, address, table_doublings(table));
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

/* A handler forked when the thread had one of the two. It would move the parent's waiters of that
 * one to the other, which no longer has any. */
static void table_clear_two_after_fork(struct pawl_bucket *a, struct pawl_bucket *b)
{
    if (PAWL_LIKELY(!table_latch_is_left(a) && !table_latch_is_left(b)))
        return;
    table_latch_clear(a);
    if (a != b)
        table_latch_clear(b);
}

PAWL_INTERNAL void table_lock_two(const void *a, const void *b, struct pawl_bucket **of_a,
                                  struct pawl_bucket **of_b)
{
    struct pawl_lists *table = table_here();
    process_sees_forks();
    for (;;) {
        const uint32_t doublings = table_doublings(table);
        *of_a = table_bucket(table, a, doublings);
        *of_b = table_bucket(table, b, doublings);
        table_latch_take(*of_a < *of_b ? *of_a : *of_b);
        if (*of_a != *of_b)
            table_latch_take(*of_a < *of_b ? *of_b : *of_a);
        table_clear_two_after_fork(*of_a, *of_b);
        if (PAWL_LIKELY(pawl_load_relaxed32(&table->doublings) == doublings))
            return;
        table_unlock_two(*of_a, *of_b);
    }
}

PAWL_INTERNAL void table_unlock_two(struct pawl_bucket *a, struct pawl_bucket *b)
{
    table_latch_drop(a);
    if (a != b)
        table_latch_drop(b);
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

PAWL_INTERNAL void table_lend(struct pawl_bucket *bucket, struct pawl_queue *queue,
                              struct pawl_waiter *waiter, const void *address, uint32_t owner)
{
    waiter->bits = 0;
    waiter->changes = TABLE_STEADY;
    queue->address = address;
    queue->owner = owner;
    queue->oldest = waiter;
    PLAIN_WRITE(bucket->queues);
    queue->next = bucket->queues;
    HANDLERS_SEE_THIS_ORDER();
    bucket->queues = queue;
    HANDLERS_SEE_THIS_ORDER();
}

PAWL_INTERNAL void table_lend_ends(struct pawl_bucket *bucket, struct pawl_queue *queue)
{
    HANDLERS_SEE_THIS_ORDER();
    PLAIN_WRITE(bucket->queues);
    bucket->queues = queue->next;
}

PAWL_INTERNAL void table_move(struct pawl_bucket *from, struct pawl_bucket *to,
                              struct pawl_waiter *waiter, const void *address)
{
    table_queue_remove(from, waiter);
    /* The waiter's thread may read the address at this moment, to find the bucket to lock. */
    PAWL_ADDRESS_(pawl_store_relaxed)((ipawl_address_ *)&waiter->address,
                                      (ipawl_address_)(uintptr_t)address);
    (void)table_queue_append(to, waiter);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

static void table_hand_on_hints(const struct pawl_bucket *from, struct pawl_bucket *to)
{
    pawl_store_relaxed64(&to->quiet_until, pawl_load_relaxed64(&from->quiet_until));
    PAWL_ADDRESS_(pawl_store_relaxed)(&to->awake_for,
                                      PAWL_ADDRESS_(pawl_load_relaxed)(&from->awake_for));
}

static void table_hand_on_queue(struct pawl_queue *queue, struct pawl_bucket *to)
{
    PLAIN_WRITE(to->queues);
    queue->next = to->queues;
    HANDLERS_SEE_THIS_ORDER();
    to->queues = queue;
    pawl_store_relaxed32(&to->urgent, pawl_load_relaxed32(&to->urgent) + queue->urgent);
}

/* The caller holds all latches of the current array, so no thread finds a waiter or searches for
 * one. */
static void table_move_all(struct pawl_bucket *from, uint32_t doublings, struct pawl_bucket *to)
{
    const uint32_t count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    for (uint32_t i = 0; i < count; i++) {
        struct pawl_bucket *old = &from[i];
        struct pawl_queue *queue;
        PLAIN_WRITE(old->queues);
        table_hand_on_hints(old, &to[2 * i]);
        table_hand_on_hints(old, &to[2 * i + 1]);
        /* A releaser that peeks into the old array must not rely on a waiter that is awake in the
         * new one. */
        PAWL_ADDRESS_(pawl_store_relaxed)(&old->awake_for, 0);
        while ((queue = old->queues) != NULL) {
            table_here()->moving = queue;
            HANDLERS_SEE_THIS_ORDER();
            old->queues = queue->next;
            HANDLERS_SEE_THIS_ORDER();
            table_hand_on_queue(queue, &to[table_hash(queue->address, doublings + 1)]);
            HANDLERS_SEE_THIS_ORDER();
        }
    }
    table_here()->moving = NULL;
}

static void table_grow_to(struct pawl_lists *table, uint32_t doublings, struct pawl_bucket *buckets)
{
    const uint32_t count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    struct pawl_bucket *old = table_buckets(table, doublings);
    for (uint32_t i = 0; i < count; i++)
        table_latch_take(&old[i]);
    PLAIN_WRITE(table->grown[doublings]);
    table->grown[doublings] = buckets;
    HANDLERS_SEE_THIS_ORDER();
    table_move_all(old, doublings, buckets);
    /* [TABLE_GROW] release: the array is complete before another thread looks there. */
    pawl_store_release32(&table->doublings, doublings + 1, PAWL_TABLE_GROW);
    for (uint32_t i = 0; i < count; i++)
        table_latch_drop(&old[i]);
}

/* There are more queues than buckets. Where memory is short the array stays, and the next attempt
 * comes when there are twice as many queues. */
static PAWL_COLD void table_grow(struct pawl_lists *table)
{
    uint32_t begun = 0;
    uint32_t doublings, count, queues;
    struct pawl_bucket *buckets;

    /* [TABLE_GROW_BEGIN] acquire: the thread sees the changes of the last growth. */
    if (!pawl_cas_acquire32(&table->growing, &begun, 1, PAWL_TABLE_GROW_BEGIN))
        return;
    doublings = pawl_load_relaxed32(&table->doublings);
    count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    queues = pawl_load_relaxed32(&table->queues);
    if (doublings < PAWL_TABLE_DOUBLINGS && queues > count) {
        buckets = (struct pawl_bucket *)pawl_os_pages(2 * count * sizeof *buckets);
        if (buckets != NULL)
            table_grow_to(table, doublings, buckets);
        pawl_store_relaxed32(&table->grow_at, buckets != NULL ? 0 : 2 * queues);
    }
    /* [TABLE_GROW_END] release: the next growing thread sees these changes. */
    pawl_store_release32(&table->growing, 0, PAWL_TABLE_GROW_END);
}

PAWL_INTERNAL void table_grow_if_crowded(void)
{
    struct pawl_lists *table = table_here();
    const uint32_t doublings = pawl_load_relaxed32(&table->doublings);
    const uint32_t queues = pawl_load_relaxed32(&table->queues);
    if (PAWL_UNLIKELY(queues > UINT32_C(1) << (PAWL_TABLE_BITS + doublings) &&
                      queues > pawl_load_relaxed32(&table->grow_at) &&
                      doublings < PAWL_TABLE_DOUBLINGS))
        table_grow(table);
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

/* ---- Fork ------------------------------------------------------------------------------------ */

#include "table_fork.h"

PAWL_INTERNAL const struct pawl_subsystem *table_subsystem(void)
{
    static const struct pawl_subsystem table = {NULL, NULL, NULL, NULL, NULL, table_after_fork};
    return &table;
}

/* Another thread may be about to do it, and a fork that comes earlier would not be seen. But a
 * handler may have interrupted that thread, so the wait for it is bounded. */
PAWL_INTERNAL void table_expect_forks(void)
{
    unsigned yields = PAWL_HOOKS ? 8 : 1000; /* models see them end */
    if (PAWL_LIKELY(ipawl_subsystem_(PAWL_FLOOR_LOCK) != NULL))
        return;
    ipawl_set_up_();
    while (!ipawl_is_set_up_() && yields-- > 0)
        pawl_os_yield();
    ipawl_subsystem_register_(PAWL_FLOOR_LOCK, table_subsystem());
}

#ifdef PAWL_TEST_POINTS
uint64_t ipawl_table_steps_;
#endif
