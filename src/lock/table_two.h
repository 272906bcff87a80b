/* SPDX-License-Identifier: MIT */
/* The other ways to a bucket: for its hints, if its latch is free, and two at once, between which a
 * requeue moves waiters; and a queue that is lent to a bucket. For table.c alone. */
#ifndef PAWL_TABLE_TWO_H
#define PAWL_TABLE_TWO_H

#include "table_latch.h"

PAWL_INTERNAL const struct pawl_bucket *table_peek(const void *address)
{
    struct pawl_lists *table = table_here();
    return table_bucket(table, address, table_doublings(table));
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

PAWL_INTERNAL void table_move(struct pawl_bucket *from, struct pawl_bucket *to,
                              struct pawl_waiter *waiter, const void *address)
{
    table_queue_remove(from, waiter);
    /* The waiter's thread may read the address at this moment, to find the bucket to lock. */
    PAWL_ADDRESS_(pawl_store_relaxed)((ipawl_address_ *)&waiter->address,
                                      (ipawl_address_)(uintptr_t)address);
    (void)table_queue_append(to, waiter);
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

#endif
