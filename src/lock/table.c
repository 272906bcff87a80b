/* SPDX-License-Identifier: MIT */
/* Wait lists keyed by address. table.h gives the order of events. */
#include "table.h"

#include "../base/base.h"

PAWL_SHARED_DEFINE(struct pawl_table, table_object);

/* ---- The latch of a bucket ----------------------------------------------------------------------
 * It is not the latch of src/base/latch.h, which sleeps on the system's word. This one must serve
 * systems that have no such word, and a bucket's waiter has a parker anyway. A holder holds it for
 * a few instructions. Its waiters nevertheless sleep: threads may outnumber the cores, and some may
 * be real-time. Of the system it needs only parkers, and zero bytes are a free latch. The word has
 * HELD and the address of the youngest waiter; each waiter names the next older one. Only the
 * holder removes waiters, so reuse of an entry does no harm. */

#define TABLE_HELD ((pawl_address_)1)
#if PAWL_HOOKS
#define TABLE_POLLS 0
#else
#define TABLE_POLLS 50 /* relax hints: about the time of a bucket's section */
#endif

struct table_latch_waiter {
    struct table_latch_waiter *older;
    struct pawl_parker *parker;
};

static struct table_latch_waiter *table_latch_youngest(pawl_address_ word)
{
    return (struct table_latch_waiter *)(uintptr_t)(word & ~TABLE_HELD);
}

static PAWL_COLD void table_latch_wait(pawl_address_ *latch)
{
    struct pawl_parker room;
    struct table_latch_waiter self;
    unsigned polls = TABLE_POLLS;
    pawl_address_ seen;

    self.parker = pawl_parker_make(&room);
    for (;;) {
        seen = PAWL_ADDRESS_(pawl_load_relaxed)(latch);
        if ((seen & TABLE_HELD) == 0) {
            /* [TABLE_ENTER] acquire: the holder sees the list as the last holder left it. */
            if (PAWL_ADDRESS_(pawl_cas_acquire)(latch, &seen, seen | TABLE_HELD, PAWL_TABLE_ENTER))
                break;
        } else if (polls > 0) {
            polls--;
            pawl_cpu_relax();
        } else {
            self.older = table_latch_youngest(seen);
            PLAIN_WRITE(self);
            /* [TABLE_QUEUE] release: the waiter's entry is complete before the holder finds it. */
            if (PAWL_ADDRESS_(pawl_cas_release)(latch, &seen,
                                                (pawl_address_)(uintptr_t)&self | TABLE_HELD,
                                                PAWL_TABLE_QUEUE))
                (void)pawl_park(self.parker, PAWL_NO_DEADLINE);
        }
    }
    pawl_parker_done(self.parker);
}

static void table_latch_take(pawl_address_ *latch)
{
    pawl_address_ free_word = 0;
    /* [TABLE_ENTER] acquire: the holder sees the list as the last holder left it. */
    if (PAWL_UNLIKELY(!PAWL_ADDRESS_(pawl_cas_acquire)(latch, &free_word, TABLE_HELD,
                                                       PAWL_TABLE_ENTER)))
        table_latch_wait(latch);
}

/* Some waiter sleeps for the latch: drops it and wakes the oldest waiter, which must ask again. */
static PAWL_COLD void table_latch_wake(pawl_address_ *latch)
{
    struct table_latch_waiter *oldest, *before;
    pawl_address_ seen;

    for (;;) {
        /* [TABLE_POP] acquire: the entries of the sleepers are complete. */
        seen = PAWL_ADDRESS_(pawl_load_acquire)(latch, PAWL_TABLE_POP);
        before = NULL;
        oldest = table_latch_youngest(seen);
        for (PLAIN_READ(*oldest); oldest->older != NULL; PLAIN_READ(*oldest)) {
            before = oldest;
            oldest = oldest->older;
        }
        if (before != NULL) {
            PLAIN_WRITE(*before);
            before->older = NULL;
            /* [TABLE_LEAVE] release: the holder's changes of the list are done before the next
             * holder. */
            (void)PAWL_ADDRESS_(pawl_fetch_sub_release)(latch, TABLE_HELD, PAWL_TABLE_LEAVE);
            break;
        }
        /* [TABLE_LEAVE] release: the holder's changes of the list are done before the next
         * holder. */
        if (PAWL_ADDRESS_(pawl_cas_release)(latch, &seen, 0, PAWL_TABLE_LEAVE))
            break;
    }
    pawl_unpark(oldest->parker);
}

static void table_latch_drop(pawl_address_ *latch)
{
    pawl_address_ alone = TABLE_HELD;
    /* [TABLE_LEAVE] release: the holder's changes of the list are done before the next holder. */
    if (PAWL_UNLIKELY(!PAWL_ADDRESS_(pawl_cas_release)(latch, &alone, 0, PAWL_TABLE_LEAVE)))
        table_latch_wake(latch);
}

/* ---- From an address to its bucket ----------------------------------------------------------- */

static struct pawl_bucket *table_buckets(struct pawl_table *table, uint32_t doublings)
{
    if (doublings == 0)
        return table->first;
    PLAIN_READ(table->grown[doublings - 1]);
    return table->grown[doublings - 1];
}

/* The leading bits of a product with the golden ratio. An array twice as long uses these bits and
 * one more, so the waiters of bucket n go to buckets 2n and 2n + 1. */
PAWL_INTERNAL uint32_t table_hash(const void *address, uint32_t doublings)
{
    const uint64_t product = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(product >> (64 - PAWL_TABLE_BITS - doublings));
}

static struct pawl_bucket *table_bucket(struct pawl_table *table, const void *address,
                                        uint32_t doublings)
{
    return &table_buckets(table, doublings)[table_hash(address, doublings)];
}

static uint32_t table_doublings(const struct pawl_table *table)
{
    /* [TABLE_FIND] acquire: the array is complete. */
    return pawl_load_acquire32(&table->doublings, PAWL_TABLE_FIND);
}

PAWL_INTERNAL struct pawl_bucket *table_lock(const void *address)
{
    struct pawl_table *table = table_here();
    for (;;) {
        const uint32_t doublings = table_doublings(table);
        struct pawl_bucket *bucket = table_bucket(table, address, doublings);
        table_latch_take(&bucket->latch);
        /* A growing thread holds all latches until the new array is current. */
        if (PAWL_LIKELY(pawl_load_relaxed32(&table->doublings) == doublings))
            return bucket;
        table_latch_drop(&bucket->latch);
    }
}

PAWL_INTERNAL const struct pawl_bucket *table_peek(const void *address)
{
    struct pawl_table *table = table_here();
    return table_bucket(table, address, table_doublings(table));
}

PAWL_INTERNAL void table_unlock(struct pawl_bucket *bucket)
{
    table_latch_drop(&bucket->latch);
}

/* For the waiter's own thread: only that thread may learn here that requeue gave it another
 * address. */
PAWL_INTERNAL struct pawl_bucket *table_lock_of(const struct pawl_waiter *waiter)
{
    for (;;) {
        const pawl_address_ seen =
            PAWL_ADDRESS_(pawl_load_relaxed)((const pawl_address_ *)&waiter->address);
        struct pawl_bucket *bucket = table_lock((const void *)(uintptr_t)seen);
        /* An atomic load: if the address has changed, the caller does not hold its bucket. */
        if (PAWL_LIKELY(PAWL_ADDRESS_(pawl_load_relaxed)(
                            (const pawl_address_ *)&waiter->address) == seen))
            return bucket;
        table_unlock(bucket);
    }
}

PAWL_INTERNAL void table_lock_two(const void *a, const void *b, struct pawl_bucket **of_a,
                           struct pawl_bucket **of_b)
{
    struct pawl_table *table = table_here();
    for (;;) {
        const uint32_t doublings = table_doublings(table);
        *of_a = table_bucket(table, a, doublings);
        *of_b = table_bucket(table, b, doublings);
        table_latch_take(*of_a < *of_b ? &(*of_a)->latch : &(*of_b)->latch);
        if (*of_a != *of_b)
            table_latch_take(*of_a < *of_b ? &(*of_b)->latch : &(*of_a)->latch);
        if (PAWL_LIKELY(pawl_load_relaxed32(&table->doublings) == doublings))
            return;
        table_unlock_two(*of_a, *of_b);
    }
}

PAWL_INTERNAL void table_unlock_two(struct pawl_bucket *a, struct pawl_bucket *b)
{
    table_latch_drop(&a->latch);
    if (a != b)
        table_latch_drop(&b->latch);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* A link is the first member of its waiter. */
static struct pawl_waiter *table_waiter_of(struct pawl_link *link)
{
    return (struct pawl_waiter *)(void *)link;
}

static void table_list_append(struct pawl_bucket *bucket, struct pawl_waiter *waiter)
{
    struct pawl_link *list = &bucket->list;
    PLAIN_WRITE(bucket->list); /* and of the links in it */
    if (list->next == NULL)    /* the bucket's first waiter ever */
        list->next = list->previous = list;
    waiter->link.next = list;
    waiter->link.previous = list->previous;
    list->previous->next = &waiter->link;
    list->previous = &waiter->link;
    pawl_store_relaxed32(&bucket->length, pawl_load_relaxed32(&bucket->length) + 1);
}

static void table_list_remove(struct pawl_bucket *bucket, struct pawl_waiter *waiter)
{
    PLAIN_WRITE(bucket->list);
    waiter->link.next->previous = waiter->link.previous;
    waiter->link.previous->next = waiter->link.next;
    pawl_store_relaxed32(&bucket->length, pawl_load_relaxed32(&bucket->length) - 1);
}

PAWL_INTERNAL void table_append(struct pawl_bucket *bucket, struct pawl_waiter *waiter)
{
    (void)pawl_fetch_add_relaxed32(&table_here()->waiters, 1);
    PLAIN_WRITE(waiter->parker);
    PLAIN_WRITE(waiter->kind);
    PLAIN_WRITE(waiter->bits);
    PLAIN_WRITE(waiter->asleep);
    waiter->asleep = 0;
    table_list_append(bucket, waiter);
}

PAWL_INTERNAL void table_remove(struct pawl_bucket *bucket, struct pawl_waiter *waiter)
{
    (void)pawl_fetch_sub_relaxed32(&table_here()->waiters, 1);
    table_list_remove(bucket, waiter);
}

static struct pawl_waiter *table_list_find(struct pawl_bucket *bucket, struct pawl_link *link,
                                           const void *address)
{
    PLAIN_READ(bucket->list);
    for (; link != &bucket->list && link != NULL; link = link->next)
        if (table_waiter_of(link)->address == address)
            return table_waiter_of(link);
    return NULL;
}

PAWL_INTERNAL struct pawl_waiter *table_first(struct pawl_bucket *bucket, const void *address)
{
    return table_list_find(bucket, bucket->list.next, address);
}

PAWL_INTERNAL struct pawl_waiter *table_next(struct pawl_bucket *bucket, struct pawl_waiter *waiter)
{
    return table_list_find(bucket, waiter->link.next, waiter->address);
}

PAWL_INTERNAL void table_move(struct pawl_bucket *from, struct pawl_bucket *to,
                       struct pawl_waiter *waiter, const void *address)
{
    table_list_remove(from, waiter);
    /* The waiter's thread may read the address at this moment, to find the bucket to lock. */
    PAWL_ADDRESS_(pawl_store_relaxed)((pawl_address_ *)&waiter->address,
                                      (pawl_address_)(uintptr_t)address);
    table_list_append(to, waiter);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

static void table_hand_on_hints(const struct pawl_bucket *from, struct pawl_bucket *to)
{
    pawl_store_relaxed64(&to->last_handoff, pawl_load_relaxed64(&from->last_handoff));
    pawl_store_relaxed64(&to->quiet_until, pawl_load_relaxed64(&from->quiet_until));
    PAWL_ADDRESS_(pawl_store_relaxed)(&to->awake_for,
                                      PAWL_ADDRESS_(pawl_load_relaxed)(&from->awake_for));
}

/* The caller holds all latches of the current array, so no thread finds a waiter or searches for
 * one. */
static void table_move_all(struct pawl_bucket *from, uint32_t doublings, struct pawl_bucket *to)
{
    const uint32_t count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    uint32_t i;
    for (i = 0; i < count; i++) {
        struct pawl_bucket *old = &from[i];
        struct pawl_link *link = old->list.next;
        PLAIN_WRITE(old->list);
        table_hand_on_hints(old, &to[2 * i]);
        table_hand_on_hints(old, &to[2 * i + 1]);
        /* A releaser that peeks into the old array must not rely on a waiter that is awake in the
         * new one. */
        PAWL_ADDRESS_(pawl_store_relaxed)(&old->awake_for, 0);
        /* The old length stays: a late reader of it must not conclude that all waiters are gone. */
        while (link != NULL && link != &old->list) {
            struct pawl_waiter *waiter = table_waiter_of(link);
            link = link->next;
            table_list_append(&to[table_hash(waiter->address, doublings + 1)], waiter);
        }
        old->list.next = old->list.previous = NULL; /* the links in it are another list's now */
    }
}

static void table_grow_to(struct pawl_table *table, uint32_t doublings, struct pawl_bucket *buckets)
{
    const uint32_t count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    struct pawl_bucket *old = table_buckets(table, doublings);
    uint32_t i;
    for (i = 0; i < count; i++)
        table_latch_take(&old[i].latch);
    table_move_all(old, doublings, buckets);
    PLAIN_WRITE(table->grown[doublings]);
    table->grown[doublings] = buckets;
    /* [TABLE_GROW] release: the array is complete before another thread looks there. */
    pawl_store_release32(&table->doublings, doublings + 1, PAWL_TABLE_GROW);
    for (i = 0; i < count; i++)
        table_latch_drop(&old[i].latch);
}

/* There are more waiters than lists. Where memory is short the array stays, and the next attempt
 * comes when there are twice as many waiters. */
static PAWL_COLD void table_grow(struct pawl_table *table)
{
    uint32_t begun = 0;
    uint32_t doublings, lists, waiters;
    struct pawl_bucket *buckets;

    /* [TABLE_GROW_BEGIN] acquire: the thread sees the changes of the last growth. */
    if (!pawl_cas_acquire32(&table->growing, &begun, 1, PAWL_TABLE_GROW_BEGIN))
        return;
    doublings = pawl_load_relaxed32(&table->doublings);
    lists = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    waiters = pawl_load_relaxed32(&table->waiters);
    if (doublings < PAWL_TABLE_DOUBLINGS && waiters > lists) {
        buckets = (struct pawl_bucket *)pawl_os_pages(2 * lists * sizeof *buckets);
        if (buckets != NULL)
            table_grow_to(table, doublings, buckets);
        pawl_store_relaxed32(&table->grow_at, buckets != NULL ? 0 : 2 * waiters);
    }
    /* [TABLE_GROW_END] release: the next growing thread sees these changes. */
    pawl_store_release32(&table->growing, 0, PAWL_TABLE_GROW_END);
}

PAWL_INTERNAL void table_grow_if_crowded(void)
{
    struct pawl_table *table = table_here();
    const uint32_t doublings = pawl_load_relaxed32(&table->doublings);
    const uint32_t waiters = pawl_load_relaxed32(&table->waiters);
    if (PAWL_UNLIKELY(waiters > UINT32_C(1) << (PAWL_TABLE_BITS + doublings) &&
                      waiters > pawl_load_relaxed32(&table->grow_at) &&
                      doublings < PAWL_TABLE_DOUBLINGS))
        table_grow(table);
}

/* ---- Sleeping and waking --------------------------------------------------------------------- */

PAWL_INTERNAL bool table_sleep(struct pawl_bucket **bucket, struct pawl_waiter *waiter,
                               uint64_t deadline)
{
    bool woken;

    PLAIN_WRITE(waiter->asleep);
    waiter->asleep = 1;
    table_unlock(*bucket);
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

/* The parent's other threads are not here: their waiters lie on stacks on which no thread runs, and
 * no thread would drop their latches. From now on, threads look at the current array only. */
static void table_after_fork(void)
{
    struct pawl_table *table = table_here();
    const uint32_t doublings = pawl_load_relaxed32(&table->doublings);
    struct pawl_bucket *buckets = table_buckets(table, doublings);
    const uint32_t count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    uint32_t i;

    pawl_parkers_after_fork();
    for (i = 0; i < count; i++) {
        PAWL_ADDRESS_(pawl_store_relaxed)(&buckets[i].latch, 0);
        buckets[i].list.next = buckets[i].list.previous = NULL;
        pawl_store_relaxed32(&buckets[i].length, 0);
        PAWL_ADDRESS_(pawl_store_relaxed)(&buckets[i].awake_for, 0);
    }
    for (i = 0; i < 1 << PAWL_TABLE_BITS; i++)
        pawl_store_relaxed64(&table->first[i].sleepers, 0);
    pawl_store_relaxed32(&table->waiters, 0);
    pawl_store_relaxed32(&table->growing, 0);
    pawl_store_relaxed32(&table->grow_at, 0);
}

static const struct pawl_subsystem table_subsystem = {
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, table_after_fork,
};

PAWL_SUBSYSTEM(PAWL_FLOOR_LOCK, table_subsystem);

#undef TABLE_HELD
#undef TABLE_POLLS
