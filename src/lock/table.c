/* SPDX-License-Identifier: MIT */
/* Wait lists keyed by address. table.h gives the order of events. */
#include "table.h"

#include <string.h>

#include "../base/base.h"
#include "table_latch.h"

PAWL_SHARED_DEFINE(struct pawl_table, table_object);
#ifdef TABLE_LATCH_KNOWS_PARKER
PAWL_THREAD_SHARED_DEFINE(struct pawl_parker *, latch_parker);
#endif

/* ---- From an address to its bucket ----------------------------------------------------------- */

static struct pawl_bucket *table_buckets(struct pawl_table *table, uint32_t doublings)
{
    if (doublings == 0)
        return table->first;
    PLAIN_READ(table->grown[doublings - 1]);
    return table->grown[doublings - 1];
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
        table_latch_take(bucket);
        /* A growing thread holds all latches until the new array is current. */
        if (PAWL_LIKELY(pawl_load_relaxed32(&table->doublings) == doublings))
            return bucket;
        table_latch_drop(bucket);
    }
}

PAWL_INTERNAL struct pawl_bucket *table_try_lock(const void *address)
{
    struct pawl_table *table = table_here();
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
    struct pawl_table *table = table_here();
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
        const pawl_address_ seen =
            PAWL_ADDRESS_(pawl_load_relaxed)((const pawl_address_ *)&waiter->address);
        struct pawl_bucket *bucket = table_lock((const void *)(uintptr_t)seen);
        /* An atomic load: if the address has changed, the caller does not hold its bucket. */
        if (PAWL_LIKELY(PAWL_ADDRESS_(pawl_load_relaxed)((const pawl_address_ *)&waiter->address) ==
                        seen))
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
    table_latch_clear(a, true);
    if (a != b)
        table_latch_clear(b, true);
}

PAWL_INTERNAL void table_lock_two(const void *a, const void *b, struct pawl_bucket **of_a,
                                  struct pawl_bucket **of_b)
{
    struct pawl_table *table = table_here();
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
        *place = queue->oldest->room;
        memcpy(*place, queue, queue->size);
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
    return table_queue_append(bucket, waiter);
}

PAWL_INTERNAL void table_remove(struct pawl_bucket *bucket, struct pawl_waiter *waiter)
{
    table_queue_remove(bucket, waiter);
}

PAWL_INTERNAL void table_move(struct pawl_bucket *from, struct pawl_bucket *to,
                              struct pawl_waiter *waiter, const void *address)
{
    table_queue_remove(from, waiter);
    /* The waiter's thread may read the address at this moment, to find the bucket to lock. */
    PAWL_ADDRESS_(pawl_store_relaxed)((pawl_address_ *)&waiter->address,
                                      (pawl_address_)(uintptr_t)address);
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
    to->queues = queue;
    pawl_store_relaxed32(&to->urgent, pawl_load_relaxed32(&to->urgent) + queue->urgent);
}

/* The caller holds all latches of the current array, so no thread finds a waiter or searches for
 * one. */
static void table_move_all(struct pawl_bucket *from, uint32_t doublings, struct pawl_bucket *to)
{
    const uint32_t count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    uint32_t i;
    for (i = 0; i < count; i++) {
        struct pawl_bucket *old = &from[i];
        struct pawl_queue *queue = old->queues;
        PLAIN_WRITE(old->queues);
        table_hand_on_hints(old, &to[2 * i]);
        table_hand_on_hints(old, &to[2 * i + 1]);
        /* A releaser that peeks into the old array must not rely on a waiter that is awake in the
         * new one. */
        PAWL_ADDRESS_(pawl_store_relaxed)(&old->awake_for, 0);
        while (queue != NULL) {
            struct pawl_queue *next = queue->next;
            table_hand_on_queue(queue, &to[table_hash(queue->address, doublings + 1)]);
            queue = next;
        }
        old->queues = NULL;
    }
}

static void table_grow_to(struct pawl_table *table, uint32_t doublings, struct pawl_bucket *buckets)
{
    const uint32_t count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    struct pawl_bucket *old = table_buckets(table, doublings);
    uint32_t i;
    for (i = 0; i < count; i++)
        table_latch_take(&old[i]);
    table_move_all(old, doublings, buckets);
    PLAIN_WRITE(table->grown[doublings]);
    table->grown[doublings] = buckets;
    /* [TABLE_GROW] release: the array is complete before another thread looks there. */
    pawl_store_release32(&table->doublings, doublings + 1, PAWL_TABLE_GROW);
    for (i = 0; i < count; i++)
        table_latch_drop(&old[i]);
}

/* There are more queues than buckets. Where memory is short the array stays, and the next attempt
 * comes when there are twice as many queues. */
static PAWL_COLD void table_grow(struct pawl_table *table)
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
    struct pawl_table *table = table_here();
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

/* ---- Fork ------------------------------------------------------------------------------------
 * The forking thread holds all latches. So no waiter is between two steps, and what a waiter keeps
 * in a word stands in its entry. The child takes that back.
 *
 * A signal handler may fork above a holder of latches. These are left to that thread: its section
 * goes on in the child, with the waiters of the parent's threads, until it drops the latch. */

/* The forking thread must not wait for a thread that waits for it, so it yields so often at most,
 * in all. It waits for another forking thread without a bound. Where it gets no latch, the child
 * leaves the words of that bucket as they are. */
#if PAWL_HOOKS
enum { TABLE_FORK_YIELDS = 8 }; /* models see them end */
#else
enum { TABLE_FORK_YIELDS = 1000 };
#endif

static struct pawl_bucket *table_current(uint32_t *count)
{
    struct pawl_table *table = table_here();
    const uint32_t doublings = table_doublings(table);
    *count = UINT32_C(1) << (PAWL_TABLE_BITS + doublings);
    return table_buckets(table, doublings);
}

static bool table_latch_try(struct pawl_bucket *bucket)
{
    pawl_address_ seen = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch);
    /* [TABLE_ENTER] acquire: the holder sees the list as the last holder left it. */
    return (seen & TABLE_HELD) == 0 &&
           PAWL_ADDRESS_(pawl_cas_acquire)(&bucket->latch, &seen, seen | TABLE_HELD,
                                           PAWL_TABLE_ENTER);
}

/* `yields`: how many are left. */
static void table_latch_take_for_fork(struct pawl_bucket *bucket, unsigned *yields)
{
    const pawl_address_ own = table_own_number();
    pawl_address_ holder;
    while (!table_latch_try(bucket)) {
        holder = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->holder);
        if (holder == own)
            return;
        if ((holder & TABLE_FORKING) == 0 || holder == (own | TABLE_FORKING)) {
            if (*yields == 0)
                return;
            --*yields;
        }
        pawl_os_yield();
    }
    PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->holder, own | TABLE_FORKING);
}

/* Those that this thread has taken: another thread may fork at the same time. */
static void table_latches_drop(struct pawl_bucket *buckets, uint32_t count)
{
    const pawl_address_ own = table_own_number() | TABLE_FORKING;
    uint32_t i;
    for (i = 0; i < count; i++) {
        if (PAWL_ADDRESS_(pawl_load_relaxed)(&buckets[i].holder) != own)
            continue;
        PAWL_ADDRESS_(pawl_store_relaxed)(&buckets[i].holder, 0);
        table_latch_count(1); /* table_latch_take_for_fork does not count */
        table_latch_drop(&buckets[i]);
    }
}

static void table_before_fork(void)
{
    unsigned yields = TABLE_FORK_YIELDS;
    struct pawl_bucket *buckets;
    uint32_t count, now, i;
    for (;;) {
        buckets = table_current(&count);
        for (i = 0; i < count; i++)
            table_latch_take_for_fork(&buckets[i], &yields);
        if (table_current(&now) == buckets)
            return;
        table_latches_drop(buckets, count); /* the table grew before the first latch was taken */
    }
}

static void table_after_fork_in_parent(void)
{
    uint32_t count;
    struct pawl_bucket *buckets = table_current(&count);
    table_latches_drop(buckets, count);
}

/* What the queue's waiters keep in the object that they wait for. */
static uint64_t table_kept(const struct pawl_queue *queue)
{
    const struct pawl_waiter *w;
    uint64_t kept = 0;
    for (w = queue->oldest; w != NULL; w = w->younger)
        kept += w->bits;
    return kept;
}

/* Nobody waits any more. */
static void table_mend_object(const struct pawl_queue *queue)
{
    void *object = (void *)(uintptr_t)queue->address;
    if (queue->owner == TABLE_OF_LOCK32) {
        (void)pawl_fetch_sub_relaxed32((uint32_t *)object, (uint32_t)table_kept(queue));
        (void)pawl_fetch_and_relaxed32((uint32_t *)object, ~TABLE_PARKED);
    } else if (queue->owner == TABLE_OF_LOCK64) {
        (void)pawl_fetch_sub_relaxed64((uint64_t *)object, table_kept(queue));
        (void)pawl_fetch_and_relaxed64((uint64_t *)object, ~(uint64_t)TABLE_PARKED);
    } else if (queue->owner == TABLE_OF_COND) {
        pawl_store_relaxed32((uint32_t *)object, 0); /* the count of its waiters */
    }
}

static void table_mend_objects(const struct pawl_bucket *bucket)
{
    const struct pawl_queue *queue;
    PLAIN_READ(bucket->queues);
    for (queue = bucket->queues; queue != NULL; queue = queue->next) {
        table_mend_object(queue);
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

static void table_forget_parent(struct pawl_bucket *bucket, bool mended)
{
    if (mended)
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

    if ((holder & TABLE_FORKING) != 0) /* for a fork, whosever it was: nobody changed the queues */
        table_forget_parent(bucket, true);
    else if (held != 0 && holder == table_own_number())
        left = TABLE_HELD | TABLE_QUEUED; /* the handler that forks interrupted this thread there */
    else if (held != 0 && holder == 0)
        left = TABLE_QUEUED; /* perhaps this thread's too, before its first change or after all */
    else
        table_forget_parent(bucket, false);
    PLAIN_WRITE(bucket->latch_oldest);
    bucket->latch_oldest = NULL;
    PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->latch, left);
    if ((left & TABLE_HELD) == 0)
        PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->holder, 0);
    return left != 0;
}

/* From now on, threads look at the current array only. */
static void table_after_fork(void)
{
    struct pawl_table *table = table_here();
    uint32_t count, i;
    struct pawl_bucket *buckets = table_current(&count);
    bool left = false;

    for (i = 0; i < count; i++)
        left |= table_bucket_after_fork(&buckets[i]);
    table_nobody_sleeps();
    if (!left) /* else it may be too high, by queues that were not looked at: an early growth */
        pawl_store_relaxed32(&table->queues, 0);
    pawl_store_relaxed32(&table->growing, 0);
    pawl_store_relaxed32(&table->grow_at, 0);
    pawl_parkers_after_fork(TABLE_LATCH_PARKER);
}

PAWL_INTERNAL const struct pawl_subsystem *table_subsystem(void)
{
    /* clang-format off */
    static const struct pawl_subsystem table = {
        NULL, NULL, NULL, NULL, NULL, table_before_fork, table_after_fork_in_parent,
        table_after_fork,
    };
    /* clang-format on */
    return &table;
}

/* Another thread may be about to do it: a fork that comes earlier would not hold the latches. But a
 * handler may have interrupted that thread, so the wait for it is bounded. */
PAWL_INTERNAL void table_expect_forks(void)
{
    unsigned yields = TABLE_FORK_YIELDS;
    if (PAWL_LIKELY(pawl_subsystem_(PAWL_FLOOR_LOCK) != NULL))
        return;
    pawl_set_up_();
    while (!pawl_is_set_up_() && yields-- > 0)
        pawl_os_yield();
    pawl_subsystem_register_(PAWL_FLOOR_LOCK, table_subsystem());
}

#ifdef PAWL_TEST_POINTS
uint64_t pawl_table_steps_;
#endif
