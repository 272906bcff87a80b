/* SPDX-License-Identifier: MIT */
/*
 * RCU callbacks: what the parts have in common. The account of heads and bytes, waking those that
 * wait for callbacks, and the worker's bell.
 */
#include "rcu_call.h"

#include "../base/base.h"

/* ---- The account ----------------------------------------------------------------------------- */

PAWL_INTERNAL uint64_t calls_limit_of(struct pawl_rcu_calls *calls, unsigned what)
{
    static const uint64_t usual[2] = {PAWL_RCU_CALLS, PAWL_RCU_BYTES};
    const uint64_t limit = pawl_load_relaxed64(&calls->limit[what]);
    return limit == 0 ? usual[what] : limit;
}

/* Reads the calls that have run before the calls that were queued, so the difference is not
 * negative. */
void pawl_rcu_domain_statistics(pawl_rcu_domain *d, pawl_rcu_statistics *statistics)
{
    struct pawl_rcu_calls *const calls = calls_of(d->index);
    const uint64_t run = pawl_load_relaxed64(&calls->run[HEADS]);
    const uint64_t bytes = pawl_load_relaxed64(&calls->run[BYTES]);
    const uint32_t count = calls_shards();
    uint64_t called[2] = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        struct pawl_rcu_shard *shard = calls_shard(calls, i);
        called[HEADS] += pawl_load_relaxed64(&shard->called[HEADS]);
        called[BYTES] += pawl_load_relaxed64(&shard->called[BYTES]);
    }
    statistics->queued = called[HEADS] > run ? called[HEADS] - run : 0;
    statistics->bytes = called[BYTES] > bytes ? called[BYTES] - bytes : 0;
    statistics->called = called[HEADS];
    statistics->run = run;
    statistics->grace_periods = pawl_load_relaxed64(&calls->grace_periods);
    statistics->longest_delay = pawl_load_relaxed64(&calls->longest_delay);
    statistics->refusals = pawl_load_relaxed64(&calls->refusals);
    statistics->helped = pawl_load_relaxed64(&calls->helped);
    statistics->waits = pawl_load_relaxed64(&calls->waits);
    statistics->limit_count = calls_limit_of(calls, HEADS);
    statistics->limit_bytes = calls_limit_of(calls, BYTES);
    statistics->policy = (pawl_rcu_policy)pawl_load_relaxed32(&calls->policy);
    statistics->worker = (pawl_load_relaxed32(&calls->terms) & 1) != 0;
}

static void calls_add_list(ipawl_address_ list, uint64_t *queued)
{
    const pawl_rcu_head *head = (const pawl_rcu_head *)(uintptr_t)list;
    for (; head != NULL; head = head->next) {
        queued[HEADS]++;
        queued[BYTES] += head->size >> 16;
    }
}

static const struct pawl_rcu_shard *calls_forked_shard(struct pawl_rcu_calls *calls)
{
    const struct pawl_thread_line *line = *pawl_os_thread_slot();
    const size_t number = line == NULL ? PAWL_RCU_LINES : (size_t)(line - process_here()->lines);
    return number < PAWL_RCU_LINES ? &calls->shards[number] : NULL;
}

/* Threads that were about to queue, to give credit back or to account are gone. A callback that
 * forks counts as run when it has returned: the thread that called it accounts for it (`due`). */
PAWL_INTERNAL void calls_count_again(struct pawl_rcu_calls *calls)
{
    const struct pawl_rcu_shard *own = calls_forked_shard(calls);
    const uint32_t count = calls_shards();
    uint64_t queued[2] = {0, 0};
    uint64_t called[2] = {0, 0};
    uint64_t credit[2] = {0, 0};
    calls->recount = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct pawl_rcu_shard *shard = calls_shard(calls, i);
        calls_add_list(shard->newest, queued);
        calls_add_list(shard->batches[0].list, queued);
        calls_add_list(shard->batches[1].list, queued);
        for (unsigned what = HEADS; what <= BYTES; what++) {
            if (shard != own)
                shard->credit[what] = 0;
            credit[what] += shard->credit[what];
            called[what] += shard->called[what];
            queued[what] += shard->batches[0].due[what] + shard->batches[1].due[what];
        }
    }
    for (unsigned what = HEADS; what <= BYTES; what++) {
        calls->taken[what] = queued[what] + credit[what];
        calls->run[what] = called[what] - queued[what];
    }
}

/* ---- Waking the waiters ---------------------------------------------------------------------- */

PAWL_INTERNAL void calls_listen(struct pawl_rcu_calls *calls)
{
    process_sees_forks();
    ipawl_rcu_mine_()->listens = calls_index(calls) + 1;
    rcu_for_handlers();
    (void)pawl_fetch_add_relaxed32(&calls->waiters, 1);
    /* [CALL_LISTEN] full: the waiter's count is visible before the waiter looks whether it has
     * to wait. */
    pawl_fence_full(PAWL_CALL_LISTEN);
}

PAWL_INTERNAL uint32_t calls_turn(const struct pawl_rcu_calls *calls)
{
    /* [CALL_HEARD] acquire: what the waiter reads next is as new as the turn. Pairs with
     * CALL_TELL. */
    return pawl_load_acquire32(&calls->turn, PAWL_CALL_HEARD);
}

PAWL_INTERNAL void calls_sleep(struct pawl_rcu_calls *calls, uint32_t turn)
{
    (void)pawl_os_wait(&calls->turn, turn, PAWL_NO_DEADLINE);
}

PAWL_INTERNAL void calls_go(struct pawl_rcu_calls *calls)
{
    (void)pawl_fetch_sub_relaxed32(&calls->waiters, 1);
    rcu_for_handlers();
    ipawl_rcu_mine_()->listens = 0;
}

/* Runs after the fence of CALL_TELL: a waiter that sees the new turn sees the caller's work. */
PAWL_INTERNAL void calls_wake_waiters(struct pawl_rcu_calls *calls)
{
    if (PAWL_LIKELY(pawl_load_relaxed32(&calls->waiters) == 0))
        return;
    (void)pawl_fetch_add_relaxed32(&calls->turn, 1);
    (void)pawl_os_wake(&calls->turn, UINT32_MAX);
}

PAWL_INTERNAL void calls_tell(struct pawl_rcu_calls *calls)
{
    /* [CALL_TELL] full: the caller's work is visible before it looks for waiters. */
    pawl_fence_full(PAWL_CALL_TELL);
    calls_wake_waiters(calls);
}

/* Orders nothing. A woken worker may miss some work, and finds it before it sleeps again, after
 * its fence of CALL_SLEEP. That fence comes after the caller's CALL_TELL, because the caller
 * found the old value of the bell. */
PAWL_INTERNAL void calls_wake_worker(struct pawl_rcu_calls *calls, uint32_t found)
{
    if (pawl_cas_relaxed32(&calls->bell, &found, BELL_AWAKE))
        (void)pawl_os_wake(&calls->bell, 1);
}

PAWL_INTERNAL void calls_ring(struct pawl_rcu_calls *calls)
{
    /* [CALL_TELL] full: the head is queued before the caller looks whether the worker sleeps. */
    pawl_fence_full(PAWL_CALL_TELL);
    if (pawl_load_relaxed32(&calls->bell) == BELL_IDLE)
        calls_wake_worker(calls, BELL_IDLE);
    if (PAWL_UNLIKELY((pawl_load_relaxed32(&calls->terms) & 1) == 0))
        calls_wake_waiters(calls); /* there is no worker: the waiters can help */
}

PAWL_INTERNAL void calls_urge(struct pawl_rcu_calls *calls)
{
    uint32_t found;
    pawl_store_relaxed32(&calls->urgent, 1);
    /* [CALL_TELL] full: `urgent` is set before the caller looks whether the worker sleeps. */
    pawl_fence_full(PAWL_CALL_TELL);
    found = pawl_load_relaxed32(&calls->bell);
    if (found != BELL_AWAKE)
        calls_wake_worker(calls, found);
}
