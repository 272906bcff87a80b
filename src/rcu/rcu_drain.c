/* SPDX-License-Identifier: MIT */
/* RCU callbacks: waiting until all are called, the end of a domain, fork. */
#include "rcu_call.h"

#include <errno.h>
#include <string.h>

#include "../base/base.h"

PAWL_SHARED_DEFINE(struct pawl_rcu_engine, rcu_calls_object);

/* ---- Barriers -----------------------------------------------------------------------------------
 * A barrier drains shard after shard. The heads queued before the barrier are in `newest` or in
 * a batch. First the barrier waits until that list was taken, by a thread that had claimed a
 * batch for it. Then it waits until each batch has become empty. Later calls may refill both in
 * between. So the barrier also accepts a change of `takes` or `emptied`, which only grow. */

struct drain_point {
    struct pawl_rcu_shard *shard;
    struct pawl_rcu_batch *batch; /* NULL: the barrier waits for `newest` */
    uint32_t seen;
};

static bool calls_has_drained(const struct drain_point *point)
{
    const struct pawl_rcu_batch *batch = point->batch;
    if (batch == NULL)
        /* [CALL_DRAINED] acquire: the barrier sees the claim of the thread that took the list. */
        return PAWL_ADDRESS_(pawl_load_acquire)(&point->shard->newest, PAWL_CALL_DRAINED) == 0 ||
               pawl_load_acquire32(&point->shard->takes, PAWL_CALL_DRAINED) != point->seen;
    /* [CALL_DRAINED] acquire: the barrier's caller sees what the callbacks did. */
    return PAWL_ADDRESS_(pawl_load_acquire)(&batch->state, PAWL_CALL_DRAINED) == BATCH_EMPTY ||
           pawl_load_acquire32(&batch->emptied, PAWL_CALL_DRAINED) != point->seen;
}

/* False: a callback waits for the caller, which is online. */
static bool calls_wait_for_drain(struct pawl_rcu_calls *calls, const struct drain_point *point)
{
    const bool online = rcu_inside(PAWL_RCU_QS_);
    bool may_wait = true;
    if (calls_has_drained(point))
        return true;
    calls_listen(calls);
    for (;;) {
        const uint32_t turn = calls_turn(calls);
        if (calls_has_drained(point))
            break;
        may_wait = !calls_rest_for(calls, online);
        if (!may_wait)
            break;
        if (calls_start_worker(calls))
            calls_urge(calls);
        else if (calls_help(calls, NULL))
            continue;
        calls_sleep(calls, turn);
    }
    calls_go(calls);
    return may_wait;
}

static bool calls_drain_shard(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard)
{
    struct drain_point point = {shard, NULL, 0};
    point.seen = pawl_load_relaxed32(&shard->takes);
    if (!calls_wait_for_drain(calls, &point))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        point.batch = &shard->batches[i];
        point.seen = pawl_load_relaxed32(&point.batch->emptied);
        if (!calls_wait_for_drain(calls, &point))
            return false;
    }
    return true;
}

static bool calls_drain(struct pawl_rcu_calls *calls)
{
    const uint32_t count = calls_shards();
    for (uint32_t i = 0; i < count; i++)
        if (!calls_drain_shard(calls, calls_shard(calls, i)))
            return false;
    return true;
}

int pawl_rcu_domain_barrier(pawl_rcu_domain *d)
{
    if (rcu_inside_any() || rcu_inside(d->index) || calls_calling())
        return EDEADLK;
    return calls_drain(calls_of(d->index)) ? 0 : EDEADLK;
}

/* ---- Callbacks that wait for quiescent states -------------------------------------------------
 * A callback may synchronize pawl_rcu_qs(). An online thread that waits for callbacks of the same
 * domain announces no quiescent state meanwhile: each would wait for the other. */

static void calls_rest_begin(void)
{
    struct pawl_rcu_mine *const mine = ipawl_rcu_mine_();
    if (mine->calling == 0)
        return;
    mine->rests = mine->calling;
    rcu_for_handlers();
    (void)pawl_fetch_add_relaxed32(&calls_of(mine->calling - 1)->rests, 1);
    calls_tell(calls_of(mine->calling - 1));
}

static void calls_rest_end(void)
{
    struct pawl_rcu_mine *const mine = ipawl_rcu_mine_();
    if (mine->calling == 0)
        return;
    (void)pawl_fetch_sub_relaxed32(&calls_of(mine->calling - 1)->rests, 1);
    rcu_for_handlers();
    mine->rests = 0;
}

/* ---- The end of a domain --------------------------------------------------------------------- */

static void calls_stop_worker(struct pawl_rcu_calls *calls)
{
    uint32_t terms;
    pawl_store_relaxed32(&calls->stop, 1);
    calls_urge(calls);
    for (;;) {
        /* [CALL_WORKER_ENDS] acquire: the worker's use of the domain ends before what follows. */
        terms = pawl_load_acquire32(&calls->terms, PAWL_CALL_WORKER_ENDS);
        if ((terms & 1) == 0)
            return;
        (void)pawl_os_wait(&calls->terms, terms, PAWL_NO_DEADLINE);
    }
}

static void calls_end(pawl_rcu_domain *d)
{
    struct pawl_rcu_calls *const calls = calls_of(d->index);
    const uint32_t count = calls_shards();
    pawl_rcu_statistics statistics;
    if (pawl_load_relaxed32(&calls->used) != 0) {
        if (calls_calling())
            rcu_never("pawl_rcu_domain_destroy", "in a callback");
        do {
            if (!calls_drain(calls))
                rcu_never("pawl_rcu_domain_destroy", "online, while a callback waits for that");
            pawl_rcu_domain_statistics(d, &statistics);
        } while (statistics.queued != 0);
        if ((pawl_load_relaxed32(&calls->terms) & 1) != 0)
            calls_stop_worker(calls);
    }
    PLAIN_WRITE(calls->worker);
    memset(calls, 0,
           offsetof(struct pawl_rcu_calls, shards) + (count - 1) * sizeof calls->shards[0]);
}

/* ---- Fork ---------------------------------------------------------------------------------------
 * The child calls each callback that no thread had begun to call. One that another thread was in
 * is cut off there, and counts as done: it is not called again. */

/* Whether the shard's newest heads, of which a thread was about to take the list, still have it. */
static bool calls_were_not_taken(const struct pawl_rcu_shard *shard, ipawl_address_ list)
{
    const pawl_rcu_head *head = (const pawl_rcu_head *)(uintptr_t)shard->newest;
    while (head != NULL && (ipawl_address_)(uintptr_t)head != list)
        head = head->next;
    return head != NULL;
}

/* The claim of a thread that is gone. Perhaps the heads that it took have no grace period yet. */
static void calls_end_claim(uint32_t index, struct pawl_rcu_shard *shard,
                            struct pawl_rcu_batch *batch)
{
    if ((batch->state & BATCH_BRIEF) != 0) {
        if (calls_were_not_taken(shard, batch->list))
            batch->list = 0;
        batch->cookie = rcu_start(index);
    }
    batch->state = batch->list == 0 ? BATCH_EMPTY : BATCH_FULL;
    batch->due[HEADS] = batch->due[BYTES] = 0;
}

/* Ends the claims of threads that are gone: a callback that one of them ran counts as done. True: a
 * handler has forked above a brief claim of its thread. */
static bool calls_end_claims(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard,
                             ipawl_address_ self)
{
    bool brief = false;
    for (unsigned i = 0; i < 2; i++) {
        struct pawl_rcu_batch *batch = &shard->batches[i];
        if (batch->state == (self | BATCH_BRIEF))
            brief = true;
        else if (batch->state != self && batch->state != BATCH_EMPTY && batch->state != BATCH_FULL)
            calls_end_claim(calls_index(calls), shard, batch);
    }
    return brief;
}

static void calls_fork_ended_in(struct pawl_rcu_calls *calls)
{
    const ipawl_address_ self = (ipawl_address_)(uintptr_t)pawl_os_thread_slot();
    const struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    const uint32_t count = calls_shards();
    bool brief = false;
    for (uint32_t i = 0; i < count; i++)
        brief = calls_end_claims(calls, calls_shard(calls, i), self) || brief;
    if (calls->worker != self) {
        calls->worker = 0;
        if (mine->starts != calls_index(calls) + 1)
            calls->terms &= ~1u;
    }
    calls->bell = calls->urgent = calls->stop = 0;
    calls->waiters = mine->listens == calls_index(calls) + 1;
    calls->rests = mine->rests == calls_index(calls) + 1;
    calls->turn++; /* a thread that was about to sleep looks again: there is no worker */
    calls->retry_at = 0;
    if (brief || mine->accounts == calls_index(calls) + 1)
        calls->recount = 1;
    else
        calls_count_again(calls);
}

/* The caller is alone in the process: plain accesses suffice. */
static void calls_after_fork_in_child(void)
{
    if (!PAWL_SHARED_IS_THERE(rcu_calls_object))
        return;
    for (uint32_t index = 0; index < PAWL_RCU_DOMAINS; index++)
        if (calls_of(index)->used != 0)
            calls_fork_ended_in(calls_of(index));
}

static const struct rcu_calls_face calls_subsystem = {
    {NULL, NULL, NULL, NULL, NULL, calls_after_fork_in_child},
    calls_end,
    calls_rest_begin,
    calls_rest_end,
};

PAWL_OS_EARLY static void register_calls_subsystem(void)
{
    ipawl_subsystem_register_early_(PAWL_FLOOR_CALLS, &calls_subsystem.subsystem);
}
