/* SPDX-License-Identifier: MIT */
/*
 * A bucket of the wait lists in the child of a fork, for table.c alone: the child takes back what
 * waiters of the parent's other threads keep in words, and forgets them. Each of those
 * threads is cut off between two stores; table.h says what the child can rely on then.
 */
#ifndef PAWL_TABLE_MEND_H
#define PAWL_TABLE_MEND_H

#include "table.h"

/* The units that a waiter keeps in the word of its lock. A claim at the lines stands in two queues
 * for a moment, and counts once. */
static uint64_t table_take_kept(struct pawl_waiter *w, bool parked)
{
    const bool made = w->changes == (parked ? TABLE_SETS_PARKED : TABLE_CLEARS_PARKED);
    const uint64_t kept = made ? w->next : w->bits;
    w->changes = TABLE_STEADY;
    w->bits = 0;
    return kept;
}

static uint64_t table_take_all_kept(const struct pawl_queue *queue, bool parked)
{
    uint64_t kept = 0;
    for (struct pawl_waiter *w = queue->oldest; w != NULL; w = w->younger)
        kept += table_take_kept(w, parked);
    return kept;
}

/* A handler of the program may have made the lock anew. */
static uint64_t table_kept_in(uint64_t w, unsigned half, uint64_t kept)
{
    const uint64_t low = (UINT64_C(1) << half) - 1;
    return w >> half >= kept >> half && (w & low) >= (kept & low) ? kept : 0;
}

/* No thread waits any more. */
static void table_mend_object(const struct pawl_queue *queue)
{
    void *object = (void *)(uintptr_t)queue->address;
    uint64_t w, kept;
    if (queue->owner == TABLE_OF_LOCK32 || queue->owner == TABLE_OF_CLAIM32) {
        w = pawl_load_relaxed32((const uint32_t *)object);
        kept = table_take_all_kept(queue, (w & TABLE_PARKED) != 0);
        (void)pawl_fetch_sub_relaxed32((uint32_t *)object, (uint32_t)table_kept_in(w, 16, kept));
    } else if (queue->owner == TABLE_OF_LOCK64 || queue->owner == TABLE_OF_CLAIM64) {
        w = pawl_load_relaxed64((const uint64_t *)object);
        kept = table_take_all_kept(queue, (w & TABLE_PARKED) != 0);
        (void)pawl_fetch_sub_relaxed64((uint64_t *)object, table_kept_in(w, 32, kept));
    } else if (queue->owner == TABLE_OF_COND) {
        pawl_store_relaxed32((uint32_t *)object, 0); /* the count of its waiters */
    }
}

/* Behind all queues' claims: an object may have two, and PARKED tells of both. */
static void table_mend_parked(const struct pawl_queue *queue)
{
    void *object = (void *)(uintptr_t)queue->address;
    if (queue->owner == TABLE_OF_LOCK32 || queue->owner == TABLE_OF_CLAIM32)
        (void)pawl_fetch_and_relaxed32((uint32_t *)object, ~TABLE_PARKED);
    else if (queue->owner == TABLE_OF_LOCK64 || queue->owner == TABLE_OF_CLAIM64)
        (void)pawl_fetch_and_relaxed64((uint64_t *)object, ~(uint64_t)TABLE_PARKED);
}

static void table_mend_objects(const struct pawl_bucket *bucket)
{
    PLAIN_READ(bucket->queues);
    for (const struct pawl_queue *queue = bucket->queues; queue != NULL; queue = queue->next)
        table_mend_object(queue);
    for (const struct pawl_queue *queue = bucket->queues; queue != NULL; queue = queue->next) {
        table_mend_parked(queue);
        if (queue->owner < TABLE_OF_CLAIM32)
            (void)pawl_fetch_sub_relaxed32(&table_here()->queues, 1);
    }
}

static void table_forget_waiters(struct pawl_bucket *bucket)
{
    PLAIN_WRITE(bucket->queues);
    PLAIN_WRITE(bucket->latch_oldest);
    bucket->latch_oldest = NULL;
    bucket->queues = NULL;
    pawl_store_relaxed32(&bucket->urgent, 0);
    PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->awake_for, 0);
}

/* The caller holds the latch. The waiters of the parent's threads leave the bucket, and the objects
 * that they wait for. */
static void table_forget_parent(struct pawl_bucket *bucket)
{
    table_mend_objects(bucket);
    table_forget_waiters(bucket);
}

static void table_nobody_sleeps(void)
{
    for (uint32_t i = 0; i < 1 << PAWL_TABLE_BITS; i++)
        pawl_store_relaxed64(&table_here()->first[i].sleepers, 0);
}

#endif
