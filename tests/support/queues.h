/* SPDX-License-Identifier: MIT */
/*
 * Waiters of a test in the wait lists, and what is found of them there. For tests that include
 * table.c.
 */
#pragma once

static struct pawl_lists *table(void)
{
    return table_here();
}

/* A queue with a field of its owner behind it. */
struct own_queue {
    struct pawl_queue queue; /* first member */
    uint64_t own;
};

struct waiting {
    struct pawl_waiter waiter; /* first member */
    struct own_queue room;
};

static struct own_queue *own(struct pawl_queue *queue)
{
    return (struct own_queue *)(void *)queue;
}

static struct own_queue *put_for(struct waiting *w, const void *address, uint32_t owner)
{
    struct pawl_queue *queue;
    memset(w, 0xa5, sizeof *w);
    w->waiter.address = address;
    w->waiter.parker = NULL;
    w->waiter.kind = 0;
    w->waiter.bits = 0;
    w->waiter.room = table_room(&w->room.queue, owner, sizeof w->room);
    struct pawl_bucket *bucket = table_lock(address);
    queue = table_append(bucket, &w->waiter);
    assert_ptr_equal(queue, table_find(bucket, address, owner));
    assert_ptr_equal(queue->youngest, &w->waiter);
    table_unlock(bucket);
    return own(queue);
}

static void put(struct waiting *w, const void *address)
{
    (void)put_for(w, address, TABLE_OF_WAIT);
}

/* Its memory is another object's from then on. */
static void take_out(struct waiting *w)
{
    struct pawl_bucket *bucket = table_lock_of(&w->waiter);
    table_remove(bucket, &w->waiter);
    table_unlock(bucket);
    memset(w, 0x5a, sizeof *w);
}

static struct own_queue *find(const void *address, uint32_t owner)
{
    struct pawl_bucket *bucket = table_lock(address);
    struct pawl_queue *queue = table_find(bucket, address, owner);
    table_unlock(bucket);
    return own(queue);
}

/* How many of the owner's wait for the address; each must be younger (kind) than the one before. */
static unsigned count_of(const void *address, uint32_t owner)
{
    struct own_queue *queue = find(address, owner);
    const struct pawl_waiter *w, *older = NULL;
    unsigned count = 0;
    uint32_t last = 0;
    if (queue == NULL)
        return 0;
    for (w = queue->queue.oldest; w != NULL; w = w->younger) {
        must(w->kind >= last && w->older == older && w->address == address);
        last = w->kind;
        older = w;
        count++;
    }
    must(queue->queue.youngest == older && count > 0);
    return count;
}

static unsigned count_in_order(const void *address)
{
    return count_of(address, TABLE_OF_WAIT);
}

/* An address that falls into the same bucket of the first array. */
static const char *neighbour(const char *address)
{
    const char *other = address;
    do
        other++;
    while (table_hash(other, 0) != table_hash(address, 0));
    return other;
}

static unsigned queues_of(const struct pawl_bucket *bucket)
{
    unsigned count = 0;
    for (const struct pawl_queue *queue = bucket->queues; queue != NULL; queue = queue->next)
        count++;
    return count;
}

/* As lock.c counts a sleeper that is in others' way. */
static void put_urgent(struct waiting *w, const void *address, unsigned urgent)
{
    put_for(w, address, TABLE_OF_LOCK32)->queue.urgent += urgent;
    struct pawl_bucket *bucket = table_lock(address);
    pawl_store_relaxed32(&bucket->urgent, pawl_load_relaxed32(&bucket->urgent) + urgent);
    table_unlock(bucket);
}

/* The bucket's count is that of its queues. Returns the sum of all. */
static unsigned urgent_in_all(void)
{
    const uint32_t doublings = table()->doublings;
    const struct pawl_bucket *buckets = table_buckets(table(), doublings);
    unsigned total = 0;
    for (unsigned i = 0; i < 1u << (PAWL_TABLE_BITS + doublings); i++) {
        unsigned here = 0;
        for (const struct pawl_queue *queue = buckets[i].queues; queue != NULL; queue = queue->next)
            here += queue->urgent;
        assert_int_equal(buckets[i].urgent, here);
        total += here;
    }
    return total;
}
