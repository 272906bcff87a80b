/* SPDX-License-Identifier: MIT */
/* Shared by the parts of RCU's callbacks. rcu_call.c queues, rcu_batch.c calls, rcu_worker.c is a
 * thread that does so, and rcu_drain.c waits for all that was queued; rcu_account.c is below them.
 * include/pawl/rcu_call.h has the picture. */
#ifndef PAWL_RCU_CALL_INSIDE_H
#define PAWL_RCU_CALL_INSIDE_H

#include <pawl/rcu_call.h>

#include "rcu.h"

/* ---- What is one per process ----------------------------------------------------------------- */

/* Threads of lines below this have a shard of their own in each domain; the others share one. */
#define CALLS_LINES 1024
#if PAWL_HOOKS
#define CALLS_SHARDS PAWL_RCU_LINES
#else
#define CALLS_SHARDS CALLS_LINES
#endif

/* Heads that wait for one grace period. */
struct pawl_rcu_batch {
    ipawl_address_ state; /* unclaimed (empty or full), or the claiming thread */
    ipawl_address_ list;  /* heads that have not been called; the claimant changes it */
    uint32_t emptied;     /* grows each time the batch becomes empty; the claimant adds */
    uint64_t due[2];      /* plain, the claimant's: heads and bytes called and not yet accounted */
    uint64_t cookie __attribute__((aligned(8))); /* of the grace period */
    uint64_t since __attribute__((aligned(8)));  /* ns: when the oldest head was queued */
};

/* The heads that one thread has queued, or all threads that have none of their own. */
struct pawl_rcu_shard {
    ipawl_address_ newest;                      /* a list, 0: none; by atomic operations */
    uint32_t terms;                             /* the terms under which the credit was taken */
    uint64_t since __attribute__((aligned(8))); /* ns: when `newest` was last empty */
    /* Owner only: the calls and bytes that it may queue without asking, and those that it has
     * queued in its life. */
    uint64_t credit[2] __attribute__((aligned(8)));
    uint64_t called[2] __attribute__((aligned(8)));
    struct pawl_rcu_batch batches[2] __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t takes; /* how often `newest` was taken; counted before the list is taken */
} __attribute__((aligned(PAWL_CACHE_LINE)));

/* The callbacks of one domain. [0] counts heads, [1] their bytes. */
struct pawl_rcu_calls {
    uint32_t terms; /* bit 0: a worker exists; the rest grows when the limits change */
    uint32_t used;  /* 1: the domain has had a call */
    uint32_t policy;
    uint64_t limit[2] __attribute__((aligned(8))); /* 0: the default */
    ipawl_address_ worker;                         /* the worker's thread */
    struct pawl_own_thread thread;
    ipawl_address_ begins; /* a function that the worker calls first, or 0; under the latch */
    void *begins_with;     /* its argument; plain, under the same latch */
    uint64_t retry_at __attribute__((aligned(8))); /* ns: the time of the next try to start it */
    /* Heads and bytes queued, and credit; by atomic additions. */
    uint64_t taken[2] __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t waiters; /* threads that wait for room, or in a barrier */
    uint32_t turn;    /* grows when the waiters must look again */
    uint64_t run[2] __attribute__((aligned(8)));
    uint64_t cookie __attribute__((aligned(8))); /* the last cookie given to a batch */
    uint64_t grace_periods __attribute__((aligned(8)));
    uint64_t longest_delay __attribute__((aligned(8)));
    uint64_t refusals __attribute__((aligned(8)));
    uint64_t helped __attribute__((aligned(8)));
    uint64_t waits __attribute__((aligned(8)));
    uint32_t bell __attribute__((aligned(PAWL_CACHE_LINE))); /* the worker's sleep state */
    uint32_t urgent;  /* a thread waits for callbacks: the worker does not rest */
    uint32_t stop;    /* the worker ends when it has nothing to do */
    uint32_t rests;   /* callbacks that wait for quiescent states; by atomic additions */
    uint32_t recount; /* plain; 1: a handler has forked, and its thread must count again */
    struct pawl_rcu_shard shared;
    struct pawl_rcu_shard shards[CALLS_SHARDS];
};

struct pawl_rcu_engine {
    struct pawl_rcu_calls calls[PAWL_RCU_DOMAINS];
};

PAWL_SHARED_DECLARE(struct pawl_rcu_engine, rcu_calls_object);

static inline struct pawl_rcu_engine *calls_here(void)
{
    return PAWL_SHARED(struct pawl_rcu_engine, rcu_calls_object);
}

/* ---- Domains, shards and heads --------------------------------------------------------------- */

enum { HEADS, BYTES }; /* indices of pairs */

/* pawl_rcu_batch.state. Any other value is the claiming thread, by the address of its slot (a
 * multiple of 4). BATCH_BRIEF may be set in it: the thread takes heads, or changes the account. It
 * calls nothing meanwhile, so it is done soon. */
enum { BATCH_EMPTY = 0, BATCH_FULL = 1, BATCH_BRIEF = 2 };

/* pawl_rcu_calls.bell */
enum { BELL_AWAKE, BELL_IDLE, BELL_RESTS };

/* Names the calling thread, in claims. */
static inline ipawl_address_ calls_own_thread(void)
{
    return (ipawl_address_)(uintptr_t)pawl_os_thread_slot();
}

static inline struct pawl_rcu_calls *calls_of(uint32_t index)
{
    return &calls_here()->calls[index];
}

static inline uint32_t calls_index(const struct pawl_rcu_calls *calls)
{
    return (uint32_t)(calls - calls_here()->calls);
}

/* Shards are numbered: 0 is the shared one; each line that has been used has one of the others. */
static inline uint32_t calls_shards(void)
{
    const uint32_t used = pawl_load_relaxed32(&process_here()->lines_used);
    return 1 + (used < CALLS_SHARDS ? used : CALLS_SHARDS);
}

static inline struct pawl_rcu_shard *calls_shard(struct pawl_rcu_calls *calls, uint32_t number)
{
    return number == 0 ? &calls->shared : &calls->shards[number - 1];
}

static inline ipawl_address_ calls_batch_state(const struct pawl_rcu_batch *batch)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)(&batch->state);
}

#if PAWL_CHECKED
static inline ipawl_address_ calls_head_mark(const pawl_rcu_head *head)
{
    return (ipawl_address_)(uintptr_t)head ^ (ipawl_address_)UINT64_C(0x7061776c5f726375);
}
#endif

/* The checking variant's mark of a head that is queued. */
#if PAWL_CHECKED
static inline void calls_set_queued(pawl_rcu_head *head, bool queued)
{
    head->queued = queued ? calls_head_mark(head) : 0;
}
#else
static inline void calls_set_queued(pawl_rcu_head *head, bool queued)
{
    (void)head, (void)queued;
}
#endif

/* ---- What the parts have in common (rcu_account.c) ------------------------------------------- */

/* The limit of heads or bytes. */
PAWL_INTERNAL uint64_t calls_limit_of(struct pawl_rcu_calls *calls, unsigned what);
/* A caller has queued a head on a shard that was empty. Signal-safe. */
PAWL_INTERNAL void calls_ring(struct pawl_rcu_calls *calls);
/* A thread waits for callbacks. */
PAWL_INTERNAL void calls_urge(struct pawl_rcu_calls *calls);
/* Whether the calling thread is in a callback of any domain. */
static inline bool calls_calling(void)
{
    return ipawl_rcu_mine_()->calling != 0;
}
/* Counts heads, bytes and credit anew, in the child of a fork while it has one thread. */
PAWL_INTERNAL void calls_count_again(struct pawl_rcu_calls *calls);
/* The same at the end of a brief claim or a change of the account, if a handler has forked above
 * it. */
static inline void calls_count_if_left(struct pawl_rcu_calls *calls)
{
    rcu_for_handlers();
    if (PAWL_UNLIKELY(calls->recount != 0))
        calls_count_again(calls);
}

/* Sleeping until callbacks have been called; CONDITION stands for what the sleeper waits for:
 *     calls_listen(calls);
 *     while (turn = calls_turn(calls), !CONDITION)
 *         calls_sleep(calls, turn);
 *     calls_go(calls); */
PAWL_INTERNAL void calls_listen(struct pawl_rcu_calls *calls);
PAWL_INTERNAL uint32_t calls_turn(const struct pawl_rcu_calls *calls);
PAWL_INTERNAL void calls_sleep(struct pawl_rcu_calls *calls, uint32_t turn);
PAWL_INTERNAL void calls_go(struct pawl_rcu_calls *calls);
/* Whether a callback waits for the caller's quiescent state, so the caller must not sleep for it;
 * `online`: whether the caller is online. */
static inline bool calls_rest_for(const struct pawl_rcu_calls *calls, bool online)
{
    return online && pawl_load_relaxed32(&calls->rests) != 0;
}
/* Wakes the sleepers, so that they look again. */
PAWL_INTERNAL void calls_tell(struct pawl_rcu_calls *calls);
/* The same, after the caller's own fence of CALL_TELL. */
PAWL_INTERNAL void calls_wake_waiters(struct pawl_rcu_calls *calls);
/* Wakes the worker if its bell says `found`. */
PAWL_INTERNAL void calls_wake_worker(struct pawl_rcu_calls *calls, uint32_t found);

/* ---- Batches (rcu_batch.c) ------------------------------------------------------------------- */

/* Takes the lists of all shards that have a free batch; false: none. */
PAWL_INTERNAL bool calls_take_all(struct pawl_rcu_calls *calls);
/* Calls some heads of each batch whose grace period is over, and returns their number; otherwise
 * notes the lowest cookie to wait for. */
PAWL_INTERNAL uint32_t calls_call_all(struct pawl_rcu_calls *calls, uint64_t *waits_for);
/* Calls some callbacks of the domain, after a grace period if they need one; the caller must be
 * free to wait for one. False: other threads work on all of them. */
PAWL_INTERNAL bool calls_help(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *own);

/* ---- The worker (rcu_worker.c) --------------------------------------------------------------- */

/* Whether the domain has a worker; starts one if it has none. */
PAWL_INTERNAL bool calls_start_worker(struct pawl_rcu_calls *calls);

#endif
