/* SPDX-License-Identifier: MIT */
/* What the parts of RCU's callbacks share: rcu_call.c, which queues, rcu_worker.c, which calls, and
 * rcu_drain.c, which waits for all that was queued. include/pawl/rcu_call.h has the picture. */
#ifndef PAWL_RCU_CALL_INSIDE_H
#define PAWL_RCU_CALL_INSIDE_H

#include <pawl/rcu_call.h>

#include "../os/os.h"
#include "rcu.h"

enum { HEADS, BYTES }; /* indices of pairs */

/* pawl_rcu_batch.state, or else the thread, by the address of its slot (a multiple of 4). */
enum { BATCH_EMPTY = 0, BATCH_FULL = 1, BATCH_TAKING = 2 };

static inline struct pawl_rcu_calls *calls_of(uint32_t index)
{
    return &pawl_os_process()->callbacks.calls[index];
}

static inline uint32_t calls_index(const struct pawl_rcu_calls *calls)
{
    return (uint32_t)(calls - pawl_os_process()->callbacks.calls);
}

/* Shards are numbered: 0 is the shared one, then a shard for each line that has been used. */
static inline uint32_t calls_shards(void)
{
    const uint32_t used = pawl_load_relaxed32(&pawl_os_process()->lines_used);
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
static bool calls_start_worker(struct pawl_rcu_calls *calls);
/* A head has been queued on a shard that was empty. Signal-safe. */
static void calls_ring(struct pawl_rcu_calls *calls);
/* Somebody waits for callbacks. */
static void calls_urge(struct pawl_rcu_calls *calls);
/* Whether the calling thread is in a callback of any domain. */
static bool calls_calling(void);

/* Calls some callbacks of the domain, after a grace period if need be; the caller may wait for one.
 * False: others are at work on all there are. */
static bool calls_help(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *own);

/* Sleeping until callbacks have been called:
 *   calls_listen(calls);
 *   while (turn = calls_turn(calls), it is not as it should be)
 *       calls_sleep(calls, turn);
 *   calls_go(calls); */
static void calls_listen(struct pawl_rcu_calls *calls);
static uint32_t calls_turn(const struct pawl_rcu_calls *calls);
static void calls_sleep(struct pawl_rcu_calls *calls, uint32_t turn);
static void calls_go(struct pawl_rcu_calls *calls);
/* There may be something new for those who sleep. */
static void calls_tell(struct pawl_rcu_calls *calls);

/* ---- For thread.c ------------------------------------------------------------------ */

static void rcu_calls_set_up(void);

#endif
