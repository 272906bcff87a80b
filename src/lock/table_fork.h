/* SPDX-License-Identifier: MIT */
/*
 * The wait lists in the child of a fork, for table.c alone.
 *
 * The child has one thread. It forgets the waiters of the parent's other threads (table_mend.h).
 *
 * A signal handler may fork above a holder of latches. These are left to that thread: its section
 * goes on in the child, with the waiters of the parent's threads, until it drops the latch.
 */
#ifndef PAWL_TABLE_FORK_H
#define PAWL_TABLE_FORK_H

#include "table_latch.h"

static struct pawl_bucket *table_current(uint32_t *count)
{
    struct pawl_lists *table = table_here();
    const uint32_t doublings = table_doublings(table);
    *count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    return table_buckets(table, doublings);
}

/* The parent's other threads are not here: their waiters lie on stacks on which no thread runs, and
 * no thread would drop their latches. True: the bucket is left to the calling thread. */
static bool table_bucket_after_fork(struct pawl_bucket *bucket)
{
    const ipawl_address_ holder = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->holder);
    const ipawl_address_ held = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch) & TABLE_HELD;
    ipawl_address_ left = 0;

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
static void table_forget_growth(struct pawl_lists *table, uint32_t doublings, uint32_t count)
{
    struct pawl_bucket *buckets;
    if (pawl_load_relaxed32(&table->growing) == 0 || doublings == PAWL_TABLE_DOUBLINGS)
        return;
    buckets = table->grown[doublings];
    for (uint32_t i = 0; buckets != NULL && i < 2 * count; i++)
        table_forget_parent(&buckets[i]);
    if (table->moving != NULL) {
        table_mend_object(table->moving);
        table_mend_parked(table->moving);
    }
}

/* From now on, threads look at the current array only. */
static void table_after_fork(void)
{
    struct pawl_lists *table;
    struct pawl_bucket *buckets;
    uint32_t count;
    bool left = false;

    if (!PAWL_SHARED_IS_THERE(table_object)) {
        pawl_parkers_after_fork(TABLE_LATCH_PARKER);
        return;
    }
    table = table_here();
    buckets = table_current(&count);
    for (uint32_t i = 0; i < count; i++)
        left |= table_bucket_after_fork(&buckets[i]);
    table_forget_growth(table, table_doublings(table), count);
    table_nobody_sleeps();
    if (!left) /* else it may be too high, by queues that were not looked at: an early growth */
        pawl_store_relaxed32(&table->queues, 0);
    pawl_store_relaxed32(&table->growing, 0);
    pawl_store_relaxed32(&table->grow_at, 0);
    pawl_parkers_after_fork(TABLE_LATCH_PARKER);
}

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

#endif
