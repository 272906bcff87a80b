/* SPDX-License-Identifier: MIT */
/* RCU callbacks: waiting until all are called, the end of a domain, fork. */
#include "rcu_call.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"

PAWL_SHARED_DEFINE(struct pawl_rcu_engine, rcu_calls_object);

/* ---- Barriers -----------------------------------------------------------------------------------
 * Shard by shard: what was queued when the barrier began is in `newest` or in a batch. First that
 * list must have been taken, by somebody who had claimed a batch for it; then each batch must have
 * become empty. What is queued later may come in between, so both are also told by counts that go
 * on. */

struct drain_point {
    struct pawl_rcu_shard *shard;
    struct pawl_rcu_batch *batch; /* NULL: the shard's newest are waited for */
    uint32_t seen;
};

static bool has_drained(const struct drain_point *point)
{
    const struct pawl_rcu_batch *batch = point->batch;
    if (batch == NULL)
        /* [CALL_DRAINED] acquire: we see the claim of who has taken the list. */
        return PAWL_ADDRESS_(pawl_load_acquire)(&point->shard->newest, PAWL_CALL_DRAINED) == 0 ||
               pawl_load_acquire32(&point->shard->takes, PAWL_CALL_DRAINED) != point->seen;
    /* [CALL_DRAINED] acquire: what the callbacks did is seen. */
    return PAWL_ADDRESS_(pawl_load_acquire)(&batch->state, PAWL_CALL_DRAINED) == BATCH_EMPTY ||
           pawl_load_acquire32(&batch->emptied, PAWL_CALL_DRAINED) != point->seen;
}

static void wait_for_drain(struct pawl_rcu_calls *calls, const struct drain_point *point)
{
    if (has_drained(point))
        return;
    calls_listen(calls);
    for (;;) {
        const uint32_t turn = calls_turn(calls);
        if (has_drained(point))
            break;
        if (calls_start_worker(calls))
            calls_urge(calls);
        else if (calls_help(calls, NULL))
            continue;
        calls_sleep(calls, turn);
    }
    calls_go(calls);
}

static void drain_shard(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard)
{
    struct drain_point point = {shard, NULL, 0};
    unsigned i;
    point.seen = pawl_load_relaxed32(&shard->takes);
    wait_for_drain(calls, &point);
    for (i = 0; i < 2; i++) {
        point.batch = &shard->batches[i];
        point.seen = pawl_load_relaxed32(&point.batch->emptied);
        wait_for_drain(calls, &point);
    }
}

static void drain(struct pawl_rcu_calls *calls)
{
    const uint32_t count = calls_shards();
    uint32_t i;
    for (i = 0; i < count; i++)
        drain_shard(calls, calls_shard(calls, i));
}

int pawl_rcu_domain_barrier(pawl_rcu_domain *d)
{
    if (rcu_inside_any() || rcu_inside(d->index) || calls_calling())
        return EDEADLK;
    drain(calls_of(d->index));
    return 0;
}

/* ---- The end of a domain --------------------------------------------------------------------- */

static void stop_worker(struct pawl_rcu_calls *calls)
{
    uint32_t terms;
    pawl_store_relaxed32(&calls->stop, 1);
    calls_urge(calls);
    for (;;) {
        /* [CALL_WORKER_ENDS] acquire: it has done all it does with the domain. */
        terms = pawl_load_acquire32(&calls->terms, PAWL_CALL_WORKER_ENDS);
        if ((terms & 1) == 0)
            return;
        (void)pawl_os_wait(&calls->terms, terms, PAWL_NO_DEADLINE);
    }
}

PAWL_INTERNAL void rcu_calls_end(pawl_rcu_domain *d)
{
    struct pawl_rcu_calls *const calls = calls_of(d->index);
    const uint32_t count = calls_shards();
    pawl_rcu_statistics statistics;
    if (pawl_load_relaxed32(&calls->used) != 0) {
        if (calls_calling())
            rcu_never("pawl_rcu_domain_destroy", "in a callback");
        do {
            drain(calls);
            pawl_rcu_domain_statistics(d, &statistics);
        } while (statistics.queued != 0);
        if ((pawl_load_relaxed32(&calls->terms) & 1) != 0)
            stop_worker(calls);
    }
    PLAIN_WRITE(calls->worker);
    memset(calls, 0, offsetof(struct pawl_rcu_calls, shards) +
                         (count - 1) * sizeof calls->shards[0]);
}

/* ---- Fork ---------------------------------------------------------------------------------------
 * Before it, callbacks pause, so that the child finds each of them either done or not begun. A
 * callback may itself wait for what the forking thread holds; so that has a limit. Taking, which is
 * short and waits for nobody, is waited for without one. */

#define FORK_WAITS_NS 10000000u

/* Waits until nobody else works on the batch. */
static void wait_for_batch(const struct pawl_rcu_batch *batch, uint64_t began)
{
    const pawl_address_ self = (pawl_address_)(uintptr_t)pawl_os_thread_slot();
    struct backoff pauses = BACKOFF_INIT;
    for (;;) {
        /* [CALL_QUIET] acquire: the batch is as it was left. */
        const pawl_address_ state =
            PAWL_ADDRESS_(pawl_load_acquire)(&batch->state, PAWL_CALL_QUIET);
        if (state == BATCH_EMPTY || state == BATCH_FULL || state == self)
            return;
        if ((state & BATCH_TAKING) == 0 && pawl_os_now() - began >= FORK_WAITS_NS)
            return;
        pause_once(&pauses, &pauses);
    }
}

static void calls_before_fork(void)
{
    const uint32_t count = calls_shards();
    uint64_t began;
    uint32_t index;
    uint32_t i;
    (void)pawl_fetch_add_relaxed32(&calls_here()->forks, 1);
    /* [CALL_FORK] full: we are seen to wait before we look who is at work. */
    pawl_fence_full(PAWL_CALL_FORK);
    began = pawl_os_now();
    for (index = 0; index < PAWL_RCU_DOMAINS; index++)
        if (pawl_load_relaxed32(&calls_of(index)->used) != 0)
            for (i = 0; i < count; i++) {
                wait_for_batch(&calls_shard(calls_of(index), i)->batches[0], began);
                wait_for_batch(&calls_shard(calls_of(index), i)->batches[1], began);
            }
}

static void calls_after_fork_in_parent(void)
{
    (void)pawl_fetch_sub_relaxed32(&calls_here()->forks, 1);
    (void)pawl_os_wake(&calls_here()->forks, UINT32_MAX);
}

static void add_list(pawl_address_ list, uint64_t *queued)
{
    const pawl_rcu_head *head = (const pawl_rcu_head *)(uintptr_t)list;
    for (; head != NULL; head = head->next) {
        queued[HEADS]++;
        queued[BYTES] += head->size >> 16;
    }
}

/* The child: threads that were about to queue or to give back are gone, so all is counted anew. */
static void count_again(struct pawl_rcu_calls *calls, const struct pawl_rcu_shard *own)
{
    const uint32_t count = calls_shards();
    uint64_t queued[2] = {0, 0};
    uint64_t called[2] = {0, 0};
    uint64_t credit[2] = {0, 0};
    unsigned what;
    uint32_t i;
    for (i = 0; i < count; i++) {
        struct pawl_rcu_shard *shard = calls_shard(calls, i);
        add_list(shard->newest, queued);
        add_list(shard->batches[0].list, queued);
        add_list(shard->batches[1].list, queued);
        for (what = HEADS; what <= BYTES; what++) {
            if (shard != own)
                shard->credit[what] = 0;
            credit[what] += shard->credit[what];
            called[what] += shard->called[what];
        }
    }
    for (what = HEADS; what <= BYTES; what++) {
        calls->taken[what] = queued[what] + credit[what];
        calls->run[what] = called[what] - queued[what];
    }
}

/* Claims of threads that are gone end; those of the forking thread, in a callback, stay. */
static bool end_claims(struct pawl_rcu_shard *shard, pawl_address_ self)
{
    bool mine = false;
    unsigned i;
    for (i = 0; i < 2; i++) {
        struct pawl_rcu_batch *batch = &shard->batches[i];
        if (batch->state == self)
            mine = true;
        else
            batch->state = batch->list == 0 ? BATCH_EMPTY : BATCH_FULL;
    }
    return mine;
}

static void fork_ended_in(struct pawl_rcu_calls *calls)
{
    const pawl_address_ self = (pawl_address_)(uintptr_t)pawl_os_thread_slot();
    const struct pawl_thread_line *line = *pawl_os_thread_slot();
    const size_t number =
        line == NULL ? PAWL_RCU_LINES : (size_t)(line - process_here()->lines);
    const uint32_t count = calls_shards();
    bool calling = false;
    uint32_t i;
    for (i = 0; i < count; i++)
        calling = end_claims(calls_shard(calls, i), self) || calling;
    if (calls->worker != self) {
        calls->worker = 0;
        calls->terms &= ~1u;
    }
    calls->bell = calls->urgent = calls->waiters = calls->stop = 0;
    calls->retry_at = 0;
    /* A callback that forked gives back what it has had called by itself. */
    if (!calling)
        count_again(calls, number < PAWL_RCU_LINES ? &calls->shards[number] : NULL);
}

/* Alone in the process: plain accesses. */
static void calls_after_fork_in_child(void)
{
    uint32_t index;
    calls_here()->forks = 0;
    for (index = 0; index < PAWL_RCU_DOMAINS; index++)
        if (calls_of(index)->used != 0)
            fork_ended_in(calls_of(index));
}

static const struct pawl_subsystem calls_subsystem = {
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    calls_before_fork,
    calls_after_fork_in_parent,
    calls_after_fork_in_child,
};

PAWL_SUBSYSTEM(PAWL_FLOOR_CALLS, calls_subsystem);
