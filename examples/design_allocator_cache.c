/* SPDX-License-Identifier: MIT */
/*
 * Parallel fast path: each thread allocates from a cache of its own, without a lock. Only an empty
 * or an overfull cache goes to the global pool, under its lock, and then for a whole batch. After
 * each visit the cache is half full, so the next visit is at least a batch of calls away. This
 * holds even for a thread that frees the blocks of others.
 */
#include <pawl/spin.h>

#include <stdatomic.h>

#include "example.h"

enum { BATCH = 32 };

struct block {
    struct block *next;
    atomic_int owner; /* for the test: the thread that has it, 0: none */
};

struct pool {
    pawl_spin32 lock;
    struct block *first;
    long visits; /* under the lock */
};

struct cache {
    struct block *first;
    int number;
};

/* Moves `number` blocks; false if there are fewer. */
static bool pass_on(struct block **from, struct block **to, int number)
{
    while (number-- > 0) {
        struct block *b = *from;
        if (!b)
            return false;
        *from = b->next;
        b->next = *to;
        *to = b;
    }
    return true;
}

static void refill(struct cache *c, struct pool *p)
{
    pawl_take_write(&p->lock);
    p->visits++;
    CHECK(pass_on(&p->first, &c->first, BATCH)); /* this pool never runs dry */
    pawl_drop_write(&p->lock);
    c->number += BATCH;
}

static void flush(struct cache *c, struct pool *p)
{
    pawl_take_write(&p->lock);
    p->visits++;
    CHECK(pass_on(&c->first, &p->first, BATCH));
    pawl_drop_write(&p->lock);
    c->number -= BATCH;
}

/* [quote begin] */
struct block *block_get(struct cache *c, struct pool *p)
{
    if (c->number == 0)
        refill(c, p); /* the uncommon case: the lock, a batch */
    struct block *b = c->first;
    c->first = b->next;
    c->number--;
    return b;
}

void block_put(struct cache *c, struct pool *p, struct block *b)
{
    if (c->number == 2 * BATCH)
        flush(c, p);
    b->next = c->first;
    c->first = b;
    c->number++;
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum {
    THREADS = 4,
    SLOTS = 64,
    MOST = 3 * BATCH, /* blocks that a thread has at once */
    BLOCKS = THREADS * (MOST + 3 * BATCH) + SLOTS,
    TURNS = 20000 / EXAMPLE_LESS
};

static struct block blocks[BLOCKS];
static struct pool pool;
static struct cache caches[THREADS]; /* a program would give each a line of its own */
static long calls[THREADS];
static _Atomic(struct block *) slots[SLOTS]; /* through these, blocks go to other threads */

static void *work(void *arg)
{
    const int me = (int)(intptr_t)arg;
    struct cache *mine = &caches[me];
    struct block *hand[MOST];
    uint32_t random = (uint32_t)me + 1;

    for (int turn = 0; turn < TURNS; turn++) {
        const int number = (int)(example_random(&random) % MOST);
        for (int i = 0; i < number; i++) {
            hand[i] = block_get(mine, &pool);
            CHECK(atomic_exchange(&hand[i]->owner, me + 1) == 0); /* no other thread has it */
        }
        for (int i = 0; i < number; i++) {
            CHECK(atomic_exchange(&hand[i]->owner, 0) == me + 1);
            struct block *other = atomic_exchange(&slots[example_random(&random) % SLOTS], hand[i]);
            if (other)
                block_put(mine, &pool, other);
        }
        calls[me] += 2 * number;
    }
    return NULL;
}

/* Allocates all at once and frees all, alone: the lock is taken once in a batch. */
static void burst(struct cache *c)
{
    enum { BATCHES = 8 };
    struct block *mine = NULL, *b;

    for (int i = 0; i < BATCHES * BATCH; i++) {
        b = block_get(c, &pool);
        b->next = mine;
        mine = b;
    }
    CHECK(pool.visits == BATCHES);
    while ((b = mine) != NULL) {
        mine = b->next;
        block_put(c, &pool, b);
    }
    CHECK(pool.visits == 2 * BATCHES - 2); /* two batches stay in the cache */
    pool.visits = 0;
}

static int length(const struct block *b)
{
    int n = 0;

    for (; b; b = b->next)
        n++;
    return n;
}

int main(void)
{
    static void *(*const all[])(void *) = {work, work, work, work};
    int i, found, in_slots = 0;
    long called = 0;

    for (i = 0; i < BLOCKS; i++) {
        blocks[i].next = pool.first;
        pool.first = &blocks[i];
    }
    burst(&caches[0]);
    run_threads(THREADS, all);
    found = length(pool.first);
    for (i = 0; i < THREADS; i++) {
        CHECK(length(caches[i].first) == caches[i].number && caches[i].number <= 2 * BATCH);
        found += caches[i].number;
        called += calls[i];
    }
    for (i = 0; i < SLOTS; i++)
        in_slots += atomic_load(&slots[i]) != NULL;
    CHECK(found + in_slots == BLOCKS);
    CHECK(pool.visits <= called / BATCH + THREADS); /* a batch of calls between two visits */
    printf("%d blocks, none lost or given twice; the lock was taken %ld times in %ld calls\n",
           BLOCKS, pool.visits, called);
    return 0;
}
