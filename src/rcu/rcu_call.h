/* SPDX-License-Identifier: MIT */
/* What the parts of RCU's callbacks share: rcu_call.c, which queues, rcu_worker.c, which calls, and
 * rcu_drain.c, which waits for all that was queued. include/pawl/rcu_call.h has the picture. */
#ifndef PAWL_RCU_CALL_INSIDE_H
#define PAWL_RCU_CALL_INSIDE_H

#include <pawl/rcu_call.h>

#include "rcu.h"

/* ---- What is one per process ----------------------------------------------------------------- */

/* Heads that wait for one grace period. */
struct pawl_rcu_batch {
    pawl_address_ state; /* nobody's and empty, or with a list, or who works on it (rcu_call.h) */
    pawl_address_ list;  /* heads that have not been called; changed by who works on it */
    uint32_t emptied;    /* goes on each time that it has become empty; by who works on it */
    uint64_t cookie __attribute__((aligned(8))); /* of the grace period */
    uint64_t since __attribute__((aligned(8)));  /* ns: when the oldest head was queued */
};

/* The heads that one thread has queued, or all those without a line. */
struct pawl_rcu_shard {
    pawl_address_ newest; /* a list, 0: none; by atomic operations */
    uint32_t terms;       /* those that the credit was taken under */
    uint64_t since __attribute__((aligned(8))); /* ns: when `newest` was last empty */
    /* Owner only: calls and bytes that it may queue without asking, and has queued in its life. */
    uint64_t credit[2] __attribute__((aligned(8)));
    uint64_t called[2] __attribute__((aligned(8)));
    struct pawl_rcu_batch batches[2] __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t takes; /* times that `newest` has been taken, counted before it is */
} __attribute__((aligned(PAWL_CACHE_LINE)));

/* The callbacks of one domain. [0] counts heads, [1] their bytes. */
struct pawl_rcu_calls {
    uint32_t terms; /* bit 0: there is a worker; the rest goes on when the limits change */
    uint32_t used;  /* 1: there has been a call */
    uint32_t policy;
    uint64_t limit[2] __attribute__((aligned(8))); /* 0: the default */
    pawl_address_ worker;                          /* which thread it is */
    struct pawl_own_thread thread;
    uint64_t retry_at __attribute__((aligned(8))); /* ns: when to try again to start it */
    /* Heads and bytes queued, and credit; by atomic additions. */
    uint64_t taken[2] __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t waiters; /* threads that wait for room, or in a barrier */
    uint32_t turn;    /* goes on when there is something new for them */
    uint64_t run[2] __attribute__((aligned(8)));
    uint64_t cookie __attribute__((aligned(8))); /* the last that a batch has got */
    uint64_t grace_periods __attribute__((aligned(8)));
    uint64_t longest_delay __attribute__((aligned(8)));
    uint64_t refusals __attribute__((aligned(8)));
    uint64_t helped __attribute__((aligned(8)));
    uint64_t waits __attribute__((aligned(8)));
    uint32_t bell __attribute__((aligned(PAWL_CACHE_LINE))); /* how the worker sleeps */
    uint32_t urgent; /* somebody waits: no rest */
    uint32_t stop;   /* the worker is to end when it has nothing to do */
    struct pawl_rcu_shard shared;
    struct pawl_rcu_shard shards[PAWL_RCU_LINES];
};

struct pawl_rcu_engine {
    uint32_t forks; /* forks that wait for callbacks to pause, or are under way */
    struct pawl_rcu_calls calls[PAWL_RCU_DOMAINS];
};

PAWL_SHARED_DECLARE(struct pawl_rcu_engine, rcu_calls_object);

static inline struct pawl_rcu_engine *calls_here(void)
{
    return PAWL_SHARED(struct pawl_rcu_engine, rcu_calls_object);
}

/* ---- Domains, shards and heads --------------------------------------------------------------- */

enum { HEADS, BYTES }; /* indices of pairs */

/* pawl_rcu_batch.state, or else the thread, by the address of its slot (a multiple of 4). */
enum { BATCH_EMPTY = 0, BATCH_FULL = 1, BATCH_TAKING = 2 };

static inline struct pawl_rcu_calls *calls_of(uint32_t index)
{
    return &calls_here()->calls[index];
}

static inline uint32_t calls_index(const struct pawl_rcu_calls *calls)
{
    return (uint32_t)(calls - calls_here()->calls);
}

/* Shards are numbered: 0 is the shared one, then a shard for each line that has been used. */
static inline uint32_t calls_shards(void)
{
    const uint32_t used = pawl_load_relaxed32(&process_here()->lines_used);
    return 1 + (used < PAWL_RCU_LINES ? used : PAWL_RCU_LINES);
}

static inline struct pawl_rcu_shard *calls_shard(struct pawl_rcu_calls *calls, uint32_t number)
{
    return number == 0 ? &calls->shared : &calls->shards[number - 1];
}

#if PAWL_CHECKED
static inline pawl_address_ head_mark(const pawl_rcu_head *head)
{
    return (pawl_address_)(uintptr_t)head ^ (pawl_address_)UINT64_C(0x7061776c5f726375);
}
#endif

/* The checking variant's mark of a head that is queued. */
static inline void set_queued(pawl_rcu_head *head, bool queued)
{
#if PAWL_CHECKED
    head->queued = queued ? head_mark(head) : 0;
#else
    (void)head, (void)queued;
#endif
}

/* ---- The worker (rcu_worker.c) --------------------------------------------------------------- */

/* Whether the domain has a worker: one is started if it has none. */
PAWL_INTERNAL bool calls_start_worker(struct pawl_rcu_calls *calls);
/* A head has been queued on a shard that was empty. Signal-safe. */
PAWL_INTERNAL void calls_ring(struct pawl_rcu_calls *calls);
/* Somebody waits for callbacks. */
PAWL_INTERNAL void calls_urge(struct pawl_rcu_calls *calls);
/* Whether the calling thread is in a callback of any domain. */
PAWL_INTERNAL bool calls_calling(void);

/* Calls some callbacks of the domain, after a grace period if need be; the caller may wait for one.
 * False: others are at work on all there are. */
PAWL_INTERNAL bool calls_help(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *own);

/* Sleeping until callbacks have been called:
 *   calls_listen(calls);
 *   while (turn = calls_turn(calls), it is not as it should be)
 *       calls_sleep(calls, turn);
 *   calls_go(calls); */
PAWL_INTERNAL void calls_listen(struct pawl_rcu_calls *calls);
PAWL_INTERNAL uint32_t calls_turn(const struct pawl_rcu_calls *calls);
PAWL_INTERNAL void calls_sleep(struct pawl_rcu_calls *calls, uint32_t turn);
PAWL_INTERNAL void calls_go(struct pawl_rcu_calls *calls);
/* There may be something new for those who sleep. */
PAWL_INTERNAL void calls_tell(struct pawl_rcu_calls *calls);

#endif
