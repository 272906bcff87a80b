/* SPDX-License-Identifier: MIT */
/*
 * Wait lists keyed by address. wait.c, lock.c and cond.c put their waiters here. The table hashes
 * the address and never dereferences it, so the memory may be gone by the time a waker comes.
 *
 * The waiters of one owner at one address form a queue. A late waker may find that the memory is
 * another object by now; its owner tells the queues apart. A queue lies in the memory of one of its
 * own waiters, who lends it (struct pawl_waiter, room). When the lender leaves, the queue moves to
 * another waiter's room. So the steps to join, to leave and to find a queue do not depend on the
 * number of waiters.
 *
 * A bucket's lock protects its queues and all fields of a waiter except its parker. A waiter lives
 * on its thread's stack. The order of events is always
 *
 *   waiter                                  waker
 *   table_lock(address)                     changes the word
 *   table_append, looks at the word once    table_lock(address)
 *   more: it still must wait                picks waiters, table_wake(&list, waiter)
 *   table_sleep (unlocks, parks, locks)     table_unlock
 *   table_remove, table_unlock              table_unpark(&list), outside the bucket's lock
 *
 * So a waker that comes between the look and the sleep waits for the bucket and finds the sleeper.
 * Only growth and requeue hold two or more buckets at once; they take them in rising order.
 *
 * A fork holds none: a handler of pthread_atfork that runs later may wait for any lock, and for any
 * thread. So the child may find a bucket's lock held by a thread that it does not have. It can go
 * through the queues at each moment, from `oldest` by `younger`: each step that links or unlinks a
 * waiter or a queue is one store, and comes when what it links is complete.
 *
 * Several waiters of one thread may share a parker (waiting on any of several addresses).
 */
#ifndef PAWL_LOCK_TABLE_H
#define PAWL_LOCK_TABLE_H

#include "../base/base.h"
#include "../check/check.h"

/* ---- Queues ---------------------------------------------------------------------------------- */

/* Whose waiters they are. A fork's child repairs the objects that the parent's waiters wait for:
 * the word of a lock, and the count of a condition variable. */
enum table_owner {
    TABLE_OF_WAIT,
    TABLE_OF_COND,
    TABLE_OF_LOCK32,
    TABLE_OF_LOCK64,
    TABLE_OF_CLAIM32, /* table_lend: a claim of which nobody but a fork's child need know */
    TABLE_OF_CLAIM64
};

struct pawl_queue {
    struct pawl_queue *next; /* in the bucket */
    const void *address;
    struct pawl_waiter *oldest, *youngest;
    uint32_t owner;  /* enum table_owner */
    uint32_t size;   /* bytes, with what the owner keeps behind these fields */
    uint32_t urgent; /* sleepers that count in the bucket's `urgent`; the owner's */
};

struct pawl_waiter {
    struct pawl_waiter *older, *younger; /* in the queue */
    struct pawl_queue *room;             /* memory of its owner's queue */
    struct pawl_waiter *woken_next;      /* in a wake list */
    const void *address;
    struct pawl_parker *parker; /* of pawl_parker_make */
    uint32_t kind;              /* the owner's: the class of the wait */
    uint32_t asleep; /* set by table_sleep, cleared by the waker or by its own time-out */
    uint64_t bits;   /* wait.c's: the mask of the wait; cond.c's: whether its lock is shared;
                      * lock.c's: the units that it keeps in the word, for a fork's child */
    /* lock.c's: a change of these units that is in progress (enum table_change), and what they are
     * after it. */
    uint32_t changes;
    uint64_t next;
};

/* The bit of a lock's word that says that a waiter may sleep: PAWL_LOCK_PARKED. */
#define TABLE_PARKED UINT32_C(1)

/* A fork copies the process between any two steps of its other threads. A change of what a waiter
 * keeps in a word turns PARKED round, which changes under the latch only. So the child sees whether
 * the change was made. */
enum table_change { TABLE_STEADY, TABLE_SETS_PARKED, TABLE_CLEARS_PARKED };

/* ---- Objects of the process ------------------------------------------------------------------ */

/* 2^PAWL_TABLE_BITS buckets at first. They double as queues come, at most PAWL_TABLE_DOUBLINGS
 * times. */
#if PAWL_HOOKS
#define PAWL_TABLE_BITS 1 /* models see them grow */
#else
#define PAWL_TABLE_BITS 6
#endif
#define PAWL_TABLE_DOUBLINGS 16

struct table_latch_waiter;

/* Some queues and their lock, usable from zero bytes. On a line of its own. */
struct pawl_bucket {
    ipawl_address_ latch;                    /* table.c: held, and who waits for it */
    struct table_latch_waiter *latch_oldest; /* the same; for the holder only */
    struct pawl_queue *queues;
    uint32_t urgent; /* sleepers that no hint may delay; read by any thread */
    /* Hints, changed under the latch, read by any thread. Growth hands them on. */
    ipawl_address_ awake_for; /* lock.c: a lock of which a waiter in this bucket is awake; wait.c:
                              * the mark of a bit lock whose waiter is on its way */
    uint64_t quiet_until __attribute__((aligned(8))); /* lock.c: ns, how long awake_for counts */
    /* In the first array only: the count of wait.c's waiters at addresses of this hash. */
    uint64_t sleepers __attribute__((aligned(8)));
    ipawl_address_ holder; /* of the latch: a number of its thread; 0: not known */
} __attribute__((aligned(PAWL_CACHE_LINE)));

struct pawl_lists {
    uint32_t doublings; /* which array is current */
    uint32_t growing;   /* one thread is growing the table */
    uint32_t grow_at;   /* more queues than this ask for more buckets; 0: the number of buckets */
    struct pawl_bucket *grown[PAWL_TABLE_DOUBLINGS]; /* [n]: after n + 1 doublings; never freed */
    struct pawl_queue *moving; /* from one array to the next, and perhaps in neither */
    struct pawl_bucket first[1 << PAWL_TABLE_BITS];
    uint32_t queues __attribute__((aligned(PAWL_CACHE_LINE))); /* in all buckets */
};

PAWL_SHARED_DECLARE(struct pawl_lists, table_object);

static inline struct pawl_lists *table_here(void)
{
    return PAWL_SHARED(struct pawl_lists, table_object);
}

/* The bucket's number among 2^(PAWL_TABLE_BITS + doublings): the leading bits of a product with the
 * golden ratio. An array twice as long uses these bits and one more, so the queues of bucket n go
 * to buckets 2n and 2n + 1. */
static inline uint32_t table_hash(const void *address, uint32_t doublings)
{
    const uint64_t product = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(product >> (64 - PAWL_TABLE_BITS - doublings));
}

/* The steps that threads make from waiter to waiter, for tests of their number. */
#ifdef PAWL_TEST_POINTS
extern uint64_t ipawl_table_steps_;
#define TABLE_STEP() ((void)pawl_fetch_add_relaxed64(&ipawl_table_steps_, 1))
#else
#define TABLE_STEP() ((void)0)
#endif

/* ---- Buckets, queues and waiters ------------------------------------------------------------- */

/* The waiters to unpark once the bucket is unlocked. */
struct wake_list {
    struct pawl_waiter *first, *last;
    unsigned count;
};
#define WAKE_LIST_EMPTY {NULL, NULL, 0}

/* Memory for a queue of the owner, of so many bytes. */
static inline struct pawl_queue *table_room(struct pawl_queue *queue, uint32_t owner, size_t size)
{
    queue->owner = owner;
    queue->size = (uint32_t)size;
    return queue;
}

/* The table's part of a fork. A program that contains lock.c registers it before main. In another
 * program the first waiter does so, before it joins a list: it may allocate. */
PAWL_INTERNAL const struct pawl_subsystem *table_subsystem(void);
PAWL_INTERNAL void table_expect_forks(void);

/* Locks the bucket of the address, in the array that is current then. */
PAWL_INTERNAL struct pawl_bucket *table_lock(const void *address);
PAWL_INTERNAL void table_unlock(struct pawl_bucket *bucket);
/* The same, but in a signal handler that has interrupted its thread at such a latch, NULL where the
 * latch stays held: the wait for it is bounded. */
PAWL_INTERNAL struct pawl_bucket *table_try_lock(const void *address);
/* The bucket, not locked: for its hints only. */
PAWL_INTERNAL const struct pawl_bucket *table_peek(const void *address);
/* Locks the bucket that holds the caller's own waiter, even if its address has changed. */
PAWL_INTERNAL struct pawl_bucket *table_lock_of(const struct pawl_waiter *waiter);
/* Locks the buckets of both addresses, which may be one and the same. */
PAWL_INTERNAL void table_lock_two(const void *a, const void *b, struct pawl_bucket **of_a,
                                  struct pawl_bucket **of_b);
PAWL_INTERNAL void table_unlock_two(struct pawl_bucket *a, struct pawl_bucket *b);

/* The bucket is locked. The owner's queue at the address; NULL when nobody waits. A queue may move
 * whenever a waiter leaves. */
PAWL_INTERNAL struct pawl_queue *table_find(struct pawl_bucket *bucket, const void *address,
                                            uint32_t owner);
/* The bucket is locked. The caller has set the waiter's address, parker, room and the owner's
 * fields. Returns its queue, in which the waiter is the youngest. In a new queue the fields of the
 * owner are zero. */
PAWL_INTERNAL struct pawl_queue *table_append(struct pawl_bucket *bucket,
                                              struct pawl_waiter *waiter);
PAWL_INTERNAL void table_remove(struct pawl_bucket *bucket, struct pawl_waiter *waiter);

/* The change that the waiter had begun is made, and it keeps these units now. */
static inline void table_change_is_made(struct pawl_waiter *waiter, uint64_t units)
{
    waiter->bits = units;
    HANDLERS_SEE_THIS_ORDER();
    waiter->changes = TABLE_STEADY;
    HANDLERS_SEE_THIS_ORDER();
}

/* The bucket is locked, and until it is unlocked a fork's child finds the waiter, by a queue that
 * holds it alone. It may join the bucket meanwhile. */
PAWL_INTERNAL void table_lend(struct pawl_bucket *bucket, struct pawl_queue *queue,
                              struct pawl_waiter *waiter, const void *address, uint32_t owner);
PAWL_INTERNAL void table_lend_ends(struct pawl_bucket *bucket, struct pawl_queue *queue);

/* Both are locked. From now on the waiter waits for another address, behind all waiters there. Its
 * thread learns this when it wakes. */
PAWL_INTERNAL void table_move(struct pawl_bucket *from, struct pawl_bucket *to,
                              struct pawl_waiter *waiter, const void *address);

/* Marks the waiter asleep, unlocks the bucket, wakes those on the list (NULL: none), and sleeps
 * until table_unpark or the deadline. Then locks the bucket of the waiter's address again. This may
 * be another bucket; *bucket is updated. True: a waker woke it. False: the deadline passed, and no
 * waker had picked the waiter. Either way the waiter is still in its queue. */
PAWL_INTERNAL bool table_sleep(struct pawl_bucket **bucket, struct pawl_waiter *waiter,
                               struct wake_list *wake, uint64_t deadline);

/* Doubles the buckets if there are many queues. For callers that park without table_sleep. No
 * bucket is locked. */
PAWL_INTERNAL void table_grow_if_crowded(void);

/* The bucket is locked and the waiter asleep. Marks the waiter awake and appends it to the list. It
 * stays in the bucket until its thread removes it. */
PAWL_INTERNAL void table_wake(struct wake_list *list, struct pawl_waiter *waiter);
/* No bucket is locked by the caller. Wakes all waiters on the list. Never reads a waiter after its
 * thread can have seen the wake. */
PAWL_INTERNAL void table_unpark(struct wake_list *list);

#endif
