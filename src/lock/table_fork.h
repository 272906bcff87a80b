/* SPDX-License-Identifier: MIT */
/*
 * The wait lists in the child of a fork, for table.c alone.
 *
 * The child has one thread. It takes back what the waiters of the parent's other threads keep in
 * words, and forgets them. Each of those threads is cut off between two stores; table.h says what
 * the child can rely on then.
 *
 * A signal handler may fork above a holder of latches. These are left to that thread: its section
 * goes on in the child, with the waiters of the parent's threads, until it drops the latch.
 */
#ifndef PAWL_TABLE_FORK_H
#define PAWL_TABLE_FORK_H

#include "table_latch.h"

static struct pawl_bucket *table_current(uint32_t *count)
{
    struct pawl_table *table = table_here();
    const uint32_t doublings = table_doublings(table);
    *count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    return table_buckets(table, doublings);
}

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
    struct pawl_waiter *w;
    uint64_t kept = 0;
    for (w = queue->oldest; w != NULL; w = w->younger)
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
    const struct pawl_queue *queue;
    PLAIN_READ(bucket->queues);
    for (queue = bucket->queues; queue != NULL; queue = queue->next)
        table_mend_object(queue);
    for (queue = bucket->queues; queue != NULL; queue = queue->next) {
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

static void table_forget_parent(struct pawl_bucket *bucket)
{
    table_mend_objects(bucket);
    table_forget_waiters(bucket);
}

static void table_nobody_sleeps(void)
{
    uint32_t i;
    for (i = 0; i < 1 << PAWL_TABLE_BITS; i++)
        pawl_store_relaxed64(&table_here()->first[i].sleepers, 0);
}

/* The parent's other threads are not here: their waiters lie on stacks on which no thread runs, and
 * no thread would drop their latches. True: the bucket is left to the calling thread. */
static bool table_bucket_after_fork(struct pawl_bucket *bucket)
{
    const pawl_address_ holder = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->holder);
    const pawl_address_ held = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch) & TABLE_HELD;
    pawl_address_ left = 0;

    if (TABLE_HANDLERS_FORK && held != 0 && holder == table_own_number())
        left = TABLE_HELD | TABLE_QUEUED; /* the handler that forks interrupted this thread there */
    else
        table_forget_parent(bucket);
    if (TABLE_HANDLERS_FORK && held != 0 && holder == 0)
        left = TABLE_QUEUED; /* perhaps this thread's too, before its first change or after all */
    PLAIN_WRITE(bucket->latch_oldest);
    bucket->latch_oldest = NULL;
    PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->latch, left);
    if ((left & TABLE_HELD) == 0)
        PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->holder, 0);
    return left != 0;
}

/* A thread of the parent was about to double the buckets: some queues are in the new ones, and one
 * is perhaps in neither. */
static void table_forget_growth(struct pawl_table *table, uint32_t doublings, uint32_t count)
{
    struct pawl_bucket *buckets;
    uint32_t i;
    if (pawl_load_relaxed32(&table->growing) == 0 || doublings == PAWL_TABLE_DOUBLINGS)
        return;
    buckets = table->grown[doublings];
    for (i = 0; buckets != NULL && i < 2 * count; i++)
        table_forget_parent(&buckets[i]);
    if (table->moving != NULL) {
        table_mend_object(table->moving);
        table_mend_parked(table->moving);
    }
}

/* From now on, threads look at the current array only. */
static void table_after_fork(void)
{
    struct pawl_table *table;
    struct pawl_bucket *buckets;
    uint32_t count, i;
    bool left = false;

    if (!PAWL_SHARED_IS_THERE(table_object)) {
        pawl_parkers_after_fork(TABLE_LATCH_PARKER);
        return;
    }
    table = table_here();
    buckets = table_current(&count);
    for (i = 0; i < count; i++)
        left |= table_bucket_after_fork(&buckets[i]);
    table_forget_growth(table, table_doublings(table), count);
    table_nobody_sleeps();
    if (!left) /* else it may be too high, by queues that were not looked at: an early growth */
        pawl_store_relaxed32(&table->queues, 0);
    pawl_store_relaxed32(&table->growing, 0);
    pawl_store_relaxed32(&table->grow_at, 0);
    pawl_parkers_after_fork(TABLE_LATCH_PARKER);
}

#endif
