/* SPDX-License-Identifier: MIT */
/* How the buckets of the wait lists double. For table.c alone. */
#ifndef PAWL_TABLE_GROW_H
#define PAWL_TABLE_GROW_H

#include "table_latch.h"

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

#endif
