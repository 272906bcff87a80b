/* SPDX-License-Identifier: MIT */
/*
 * Wait lists keyed by address. wait.c, lock.c and cond.c put their waiters here. The table hashes
 * the address and never dereferences it, so the memory may be gone by the time a waker comes.
 *
 * A bucket's lock protects its list and all fields of a waiter except its parker. A waiter lives on
 * its thread's stack. The order of events is always
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
 * Several waiters of one thread may share a parker (waiting on any of several addresses).
 */
#ifndef PAWL_TABLE_H
#define PAWL_TABLE_H

#include "../base/base.h"
#include "../check/check.h"

/* ---- Objects of the process ------------------------------------------------------------------ */

/* 2^PAWL_TABLE_BITS lists at first. They double as waiters come, at most PAWL_TABLE_DOUBLINGS
 * times. */
#if PAWL_HOOKS
#define PAWL_TABLE_BITS 1 /* models see them grow */
#else
#define PAWL_TABLE_BITS 6
#endif
#define PAWL_TABLE_DOUBLINGS 16

struct pawl_link {
    struct pawl_link *next, *previous;
};

/* One list and its lock, usable from zero bytes. On a line of its own. */
struct pawl_bucket {
    pawl_address_ latch;   /* bit 0: held; the rest: the youngest of its sleepers */
    struct pawl_link list; /* the sentinel, oldest next; zeroes until a waiter comes */
    uint32_t length;       /* waiters in the list; changed under the latch, read by any thread */
    /* Hints of lock.c, read and written relaxed under the latch. Growth hands them on. */
    uint64_t last_handoff __attribute__((aligned(8))); /* ns of pawl_os_now */
    uint64_t quiet_until __attribute__((aligned(8)));  /* ns: how long awake_for counts */
    pawl_address_ awake_for; /* a lock of which a waiter in this list is awake */
    /* In the first array only: the count of wait.c's waiters at addresses of this hash. */
    uint64_t sleepers __attribute__((aligned(8)));
} __attribute__((aligned(PAWL_CACHE_LINE)));

struct pawl_table {
    uint32_t doublings; /* which array is current */
    uint32_t growing;   /* one thread is growing the table */
    uint32_t grow_at;   /* more waiters than this ask for more lists; 0: the number of lists */
    struct pawl_bucket *grown[PAWL_TABLE_DOUBLINGS]; /* [n]: after n + 1 doublings; never freed */
    struct pawl_bucket first[1 << PAWL_TABLE_BITS];
    uint32_t waiters __attribute__((aligned(PAWL_CACHE_LINE))); /* in all lists */
    uint32_t wake_ns;     /* the least time from waking to running seen so far; 0: none seen */
    uint32_t wakes_timed; /* how many have been looked at */
};

PAWL_SHARED_DECLARE(struct pawl_table, table_object);

static inline struct pawl_table *table_here(void)
{
    return PAWL_SHARED(struct pawl_table, table_object);
}

/* ---- Waiters --------------------------------------------------------------------------------- */

struct pawl_waiter {
    struct pawl_link link;          /* in its bucket; first member */
    struct pawl_waiter *woken_next; /* in a wake list */
    const void *address;
    struct pawl_parker *parker;     /* of pawl_parker_make; given back with pawl_parker_done */
    uint32_t kind;   /* the owner's: class of the wait, mask, width */
    uint32_t asleep; /* set by table_sleep, cleared by the waker or by its own time-out */
    uint64_t bits;   /* wait.c's: the mask of the wait; cond.c's: whether its lock is shared */
    uint64_t woken_at; /* ns, when its wake is being timed, else 0; the owner's */
    union {
        uint64_t since;   /* lock.c's: ns of pawl_os_now when it began to wait */
        const void *lock; /* cond.c's: the lock it dropped to wait */
    };
    void *own;       /* the owner's */
};

/* Kinds that have no bit in common with lock.c's. */
enum { WAITER_WAITS = 1 << 16, WAITER_OF_COND = 1 << 17 };

/* The waiters to unpark once the bucket is unlocked. */
struct wake_list {
    struct pawl_waiter *first, *last;
    unsigned count;
};
#define WAKE_LIST_EMPTY {NULL, NULL, 0}


/* Locks the bucket of the address, in the table that is current then. */
PAWL_INTERNAL struct pawl_bucket *table_lock(const void *address);
PAWL_INTERNAL void table_unlock(struct pawl_bucket *bucket);
/* The bucket's number among 2^(PAWL_TABLE_BITS + doublings). */
PAWL_INTERNAL uint32_t table_hash(const void *address, uint32_t doublings);
/* The bucket, not locked: for its hints only. */
PAWL_INTERNAL const struct pawl_bucket *table_peek(const void *address);
/* Locks the bucket that holds the caller's own waiter, even if its address has changed. */
PAWL_INTERNAL struct pawl_bucket *table_lock_of(const struct pawl_waiter *waiter);
/* Locks the buckets of both addresses, which may be one and the same. */
PAWL_INTERNAL void table_lock_two(const void *a, const void *b, struct pawl_bucket **of_a,
                           struct pawl_bucket **of_b);
PAWL_INTERNAL void table_unlock_two(struct pawl_bucket *a, struct pawl_bucket *b);

/* The bucket is locked. The caller has set the waiter's address, parker and the caller's own
 * fields. */
PAWL_INTERNAL void table_append(struct pawl_bucket *bucket, struct pawl_waiter *waiter);
PAWL_INTERNAL void table_remove(struct pawl_bucket *bucket, struct pawl_waiter *waiter);
/* The oldest waiter of the address, and the next one after `waiter`; NULL if there is none. */
PAWL_INTERNAL struct pawl_waiter *table_first(struct pawl_bucket *bucket, const void *address);
PAWL_INTERNAL struct pawl_waiter *table_next(struct pawl_bucket *bucket,
                                             struct pawl_waiter *waiter);

/* Both are locked. From now on the waiter waits for another address, behind all waiters there. Its
 * thread learns this when it wakes. */
PAWL_INTERNAL void table_move(struct pawl_bucket *from, struct pawl_bucket *to,
                       struct pawl_waiter *waiter, const void *address);

/* Marks the waiter asleep, unlocks the bucket, and sleeps until table_unpark or the deadline. Then
 * locks the bucket of the waiter's address again. This may be another bucket; *bucket is updated.
 * True: a waker woke it. False: the deadline passed, and no waker had picked the waiter. Either way
 * the waiter is still in the list. */
PAWL_INTERNAL bool table_sleep(struct pawl_bucket **bucket, struct pawl_waiter *waiter,
                               uint64_t deadline);

/* Doubles the lists if there are many waiters. For callers that park without table_sleep. No bucket
 * is locked. */
PAWL_INTERNAL void table_grow_if_crowded(void);

/* The bucket is locked and the waiter asleep. Marks the waiter awake and appends it to the list. It
 * stays in the bucket until its thread removes it. */
PAWL_INTERNAL void table_wake(struct wake_list *list, struct pawl_waiter *waiter);
/* No bucket is locked by the caller. Wakes all waiters on the list. Never reads a waiter after its
 * thread can have seen the wake. */
PAWL_INTERNAL void table_unpark(struct wake_list *list);

#endif
