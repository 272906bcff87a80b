/* SPDX-License-Identifier: MIT */
/*
 * RCU callbacks: taking the queued heads, waiting for their grace period, calling them, and callers
 * that help.
 *
 * A shard has two batches: one can be called while the other waits for its grace period. A thread
 * claims a batch before it works on it. Claimants are the worker, a caller that helps, or a barrier
 * where there is no worker. All of them do the same steps, in any order, so nothing depends on
 * their relative speed.
 *
 *   EMPTY --claim--> claimed | BRIEF --> FULL, or EMPTY if another thread took the list
 *   FULL  --claim--> claimed, once its grace period is over
 *                      --> claimed | BRIEF, to account --> FULL (some were called) or EMPTY
 *
 * A claimant waits for nothing, except inside the callbacks themselves. The claim names its thread,
 * so the child of a fork can tell its own claims.
 */
#include "rcu_call.h"

#include "../base/base.h"

/* Heads that a claimant calls before it looks for other work. */
#define CALLS_AT_ONCE (PAWL_HOOKS ? 1u : 256u)

/* ---- Claims ---------------------------------------------------------------------------------- */

static void batch_set_state(struct pawl_rcu_batch *batch, ipawl_address_ state)
{
    /* [CALL_UNCLAIM] release: the claimant's work is visible to the next claimant and to
     * barriers. */
    PAWL_ADDRESS_(pawl_store_release)(&batch->state, state, PAWL_CALL_UNCLAIM);
}

static pawl_rcu_head *batch_list(const struct pawl_rcu_batch *batch)
{
    return (pawl_rcu_head *)(uintptr_t)PAWL_ADDRESS_(pawl_load_relaxed)(&batch->list);
}

static void batch_set_list(struct pawl_rcu_batch *batch, const pawl_rcu_head *list)
{
    PAWL_ADDRESS_(pawl_store_relaxed)(&batch->list, (ipawl_address_)(uintptr_t)list);
}

static bool batch_claim(struct pawl_rcu_batch *batch, ipawl_address_ from, ipawl_address_ brief)
{
    ipawl_address_ found = from;
    if (calls_batch_state(batch) != from)
        return false;
    /* [CALL_CLAIM] acquire: the claimant sees the batch as the last claimant left it. */
    if (!PAWL_ADDRESS_(pawl_cas_acquire)(&batch->state, &found, calls_own_thread() | brief,
                                         PAWL_CALL_CLAIM))
        return false;
    rcu_for_handlers();
    PLAIN_WRITE(batch->list);
    return true;
}

static void batch_leave(struct pawl_rcu_calls *calls, struct pawl_rcu_batch *batch)
{
    const bool empty = batch_list(batch) == NULL;
    PLAIN_WRITE(batch->list);
    if (empty)
        /* [CALL_EMPTIED] release: the callbacks have returned before a barrier sees the count. */
        pawl_store_release32(&batch->emptied, pawl_load_relaxed32(&batch->emptied) + 1,
                             PAWL_CALL_EMPTIED);
    batch_set_state(batch, empty ? BATCH_EMPTY : BATCH_FULL);
    calls_count_if_left(calls);
    /* [CALL_TELL] full: the batch has its new state before the claimant looks for sleepers. */
    pawl_fence_full(PAWL_CALL_TELL);
    calls_wake_waiters(calls);
    if (pawl_load_relaxed32(&calls->bell) == BELL_IDLE)
        calls_wake_worker(calls, BELL_IDLE); /* it saw this batch claimed when it looked */
}

/* ---- Taking ---------------------------------------------------------------------------------- */

/* The batch has the list first, so a fork's child finds it in one of the two, or in both. */
static ipawl_address_ batch_take_list(struct pawl_rcu_batch *batch, struct pawl_rcu_shard *shard)
{
    ipawl_address_ list, found;
    do {
        /* [CALL_FOUND] acquire: if another thread has taken the list, a barrier that sees this
         * claim end sees the other thread's claim. */
        found = list = PAWL_ADDRESS_(pawl_load_acquire)(&shard->newest, PAWL_CALL_FOUND);
        PAWL_ADDRESS_(pawl_store_relaxed)(&batch->list, list);
        rcu_for_handlers();
    } while (list != 0 &&
             /* [CALL_TAKE] acquire: the taker sees heads and objects as their callers left them;
              * release: a barrier that finds the list empty sees the claim. */
             !PAWL_ADDRESS_(pawl_cas_acq_rel)(&shard->newest, &found, 0, PAWL_CALL_TAKE));
    return list;
}

/* Takes the shard's list, if one of its batches is free. */
static bool calls_take(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard)
{
    struct pawl_rcu_batch *batch = &shard->batches[0];
    uint64_t cookie;
    ipawl_address_ list;
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&shard->newest) == 0)
        return false;
    if (!batch_claim(batch, BATCH_EMPTY, BATCH_BRIEF)) {
        batch++;
        if (!batch_claim(batch, BATCH_EMPTY, BATCH_BRIEF))
            return false;
    }
    pawl_store_relaxed64(&batch->since, pawl_load_relaxed64(&shard->since));
    /* [CALL_TAKES] release: a barrier that sees the new count sees the claim. */
    (void)pawl_fetch_add_release32(&shard->takes, 1, PAWL_CALL_TAKES);
    list = batch_take_list(batch, shard);
    if (list == 0) {
        batch_leave(calls, batch);
        return false;
    }
    cookie = rcu_start(calls_index(calls));
    pawl_store_relaxed64(&batch->cookie, cookie);
    if (pawl_load_relaxed64(&calls->cookie) != cookie) {
        pawl_store_relaxed64(&calls->cookie, cookie);
        (void)pawl_fetch_add_relaxed64(&calls->grace_periods, 1);
    }
    PLAIN_WRITE(batch->list);
    /* The taker wakes no waiter: all of them wait for callbacks to be called, and the thread
     * that calls these wakes them. */
    batch_set_state(batch, BATCH_FULL);
    calls_count_if_left(calls);
    return true;
}

PAWL_INTERNAL bool calls_take_all(struct pawl_rcu_calls *calls)
{
    const uint32_t count = calls_shards();
    bool took = false;
    for (uint32_t i = 0; i < count; i++)
        took = calls_take(calls, calls_shard(calls, i)) || took;
    return took;
}

/* ---- Calling --------------------------------------------------------------------------------- */

static void batch_note_delay(struct pawl_rcu_calls *calls, uint64_t since)
{
    const uint64_t now = pawl_os_now();
    const uint64_t delay = now > since ? now - since : 0;
    uint64_t longest = pawl_load_relaxed64(&calls->longest_delay);
    while (delay > longest && !pawl_cas_relaxed64(&calls->longest_delay, &longest, delay))
        continue;
}

/* Calls at most `most` heads of a claimed batch. I5: the rest of the list is stored in the batch
 * before each call, and the call is noted as due. In the child of a fork by a callback, the loop
 * continues where it was. */
static void batch_call_heads(struct pawl_rcu_batch *batch, uint32_t most)
{
    pawl_rcu_head *head = batch_list(batch);
    while (head != NULL && batch->due[HEADS] < most) {
        pawl_rcu_head *const next = head->next;
        PLAIN_WRITE(head->next);
        __builtin_prefetch(next);
        batch_set_list(batch, next);
        batch->due[HEADS]++;
        batch->due[BYTES] += head->size >> 16;
        rcu_for_handlers();
        calls_set_queued(head, false);
        head->function(head);
        head = next;
    }
}

/* Accounts for the heads that were called, and ends the claim. Returns their number. */
static uint32_t batch_settle(struct pawl_rcu_calls *calls, struct pawl_rcu_batch *batch)
{
    const uint64_t heads = batch->due[HEADS];
    const uint64_t bytes = batch->due[BYTES];
    PAWL_ADDRESS_(pawl_store_relaxed)(&batch->state, calls_own_thread() | BATCH_BRIEF);
    rcu_for_handlers();
    (void)pawl_fetch_add_relaxed64(&calls->run[HEADS], heads);
    (void)pawl_fetch_add_relaxed64(&calls->run[BYTES], bytes);
    (void)pawl_fetch_sub_relaxed64(&calls->taken[HEADS], heads);
    (void)pawl_fetch_sub_relaxed64(&calls->taken[BYTES], bytes);
    batch->due[HEADS] = batch->due[BYTES] = 0;
    batch_leave(calls, batch);
    return (uint32_t)heads;
}

/* Calls some heads of the batch if its grace period is over. Otherwise notes the lowest cookie
 * to wait for. */
static uint32_t batch_call_batch(struct pawl_rcu_calls *calls, struct pawl_rcu_batch *batch,
                                 uint64_t *waits_for)
{
    const uint32_t index = calls_index(calls);
    struct pawl_rcu_mine *mine;
    uint64_t cookie;
    if (calls_batch_state(batch) != BATCH_FULL)
        return 0;
    cookie = pawl_load_relaxed64(&batch->cookie);
    if (!rcu_poll(index, cookie)) {
        if (*waits_for == 0 || cookie < *waits_for)
            *waits_for = cookie;
        return 0;
    }
    if (!batch_claim(batch, BATCH_FULL, 0))
        return 0;
    if (!rcu_over(index, pawl_load_relaxed64(&batch->cookie))) { /* another list by now */
        batch_leave(calls, batch);
        return 0;
    }
    mine = ipawl_rcu_mine_();
    mine->calling = index + 1;
    batch_call_heads(batch, CALLS_AT_ONCE);
    mine->calling = 0;
    if (batch_list(batch) == NULL)
        batch_note_delay(calls, pawl_load_relaxed64(&batch->since));
    return batch_settle(calls, batch);
}

static uint32_t batch_call_shard(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard,
                                 uint64_t *waits_for)
{
    return batch_call_batch(calls, &shard->batches[0], waits_for) +
           batch_call_batch(calls, &shard->batches[1], waits_for);
}

PAWL_INTERNAL uint32_t calls_call_all(struct pawl_rcu_calls *calls, uint64_t *waits_for)
{
    const uint32_t count = calls_shards();
    uint32_t done = 0;
    for (uint32_t i = 0; i < count; i++)
        done += batch_call_shard(calls, calls_shard(calls, i), waits_for);
    return done;
}

/* ---- Helping --------------------------------------------------------------------------------- */

/* Helps with the caller's own shard first: its heads are in the caller's cache. */
static uint32_t batch_help_some(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *own,
                                uint64_t *waits_for)
{
    const uint32_t count = calls_shards();
    uint32_t done = 0;
    if (own != NULL) {
        (void)calls_take(calls, own);
        done = batch_call_shard(calls, own, waits_for);
    }
    if (done == 0)
        (void)calls_take_all(calls);
    for (uint32_t i = 0; i < count && done == 0; i++)
        done = batch_call_shard(calls, calls_shard(calls, i), waits_for);
    return done;
}

PAWL_INTERNAL bool calls_help(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *own)
{
    uint64_t waits_for = 0;
    uint32_t done = batch_help_some(calls, own, &waits_for);
    if (done == 0 && waits_for != 0) {
        rcu_wait(calls_index(calls), waits_for, RCU_LOOKS);
        done = batch_help_some(calls, own, &waits_for);
    }
    (void)pawl_fetch_add_relaxed64(&calls->helped, done);
    return done != 0;
}
