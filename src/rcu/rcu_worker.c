/* SPDX-License-Identifier: MIT */
/*
 * RCU callbacks: taking the queued heads, waiting for their grace period, calling them; the worker,
 * and callers that help.
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

#include <errno.h>

#include "../base/base.h"

/* pawl_rcu_calls.bell */
enum { BELL_AWAKE, BELL_IDLE, BELL_RESTS };

/* Heads that a claimant calls before it looks for other work. */
#define CALLS_AT_ONCE (PAWL_HOOKS ? 1u : 256u)

/* After it has taken callbacks the worker rests, so that more of them gather. The rest ends
 * early when a thread waits for callbacks. A grace period costs every running thread time, and
 * waking the worker costs the caller time. The rest lasts REST_NS for each callback called since
 * the worker last took some: for at least one and at most MOST_RESTS of them. So few calls are
 * called back promptly, and many share a grace period. A rest does not delay a callback that is
 * queued after a pause. */
#define MOST_RESTS 20u
#if PAWL_HOOKS
#define REST_NS pawl_hook_rest()
#else
#define REST_NS 50000u
#endif

#define RETRY_NS 10000000u /* a caller waits this long before another try to start a worker */

static pawl_address_ worker_own_thread(void)
{
    return (pawl_address_)(uintptr_t)pawl_os_thread_slot();
}

/* ---- Waking the waiters ---------------------------------------------------------------------- */

PAWL_INTERNAL void calls_listen(struct pawl_rcu_calls *calls)
{
    process_sees_forks();
    pawl_rcu_mine_()->listens = calls_index(calls) + 1;
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
    pawl_rcu_mine_()->listens = 0;
}

/* Runs after the fence of CALL_TELL: a waiter that sees the new turn sees the caller's work. */
static void worker_wake_waiters(struct pawl_rcu_calls *calls)
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
    worker_wake_waiters(calls);
}

/* Orders nothing. A woken worker may miss some work, and finds it before it sleeps again, after
 * its fence of CALL_SLEEP. That fence comes after the caller's CALL_TELL, because the caller
 * found the old value of the bell. */
static void worker_wake(struct pawl_rcu_calls *calls, uint32_t found)
{
    if (pawl_cas_relaxed32(&calls->bell, &found, BELL_AWAKE))
        (void)pawl_os_wake(&calls->bell, 1);
}

PAWL_INTERNAL void calls_ring(struct pawl_rcu_calls *calls)
{
    /* [CALL_TELL] full: the head is queued before the caller looks whether the worker sleeps. */
    pawl_fence_full(PAWL_CALL_TELL);
    if (pawl_load_relaxed32(&calls->bell) == BELL_IDLE)
        worker_wake(calls, BELL_IDLE);
    if (PAWL_UNLIKELY((pawl_load_relaxed32(&calls->terms) & 1) == 0))
        worker_wake_waiters(calls); /* there is no worker: the waiters can help */
}

PAWL_INTERNAL void calls_urge(struct pawl_rcu_calls *calls)
{
    uint32_t found;
    pawl_store_relaxed32(&calls->urgent, 1);
    /* [CALL_TELL] full: `urgent` is set before the caller looks whether the worker sleeps. */
    pawl_fence_full(PAWL_CALL_TELL);
    found = pawl_load_relaxed32(&calls->bell);
    if (found != BELL_AWAKE)
        worker_wake(calls, found);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static pawl_address_ worker_batch_state(const struct pawl_rcu_batch *batch)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)(&batch->state);
}

static void worker_batch_set_state(struct pawl_rcu_batch *batch, pawl_address_ state)
{
    /* [CALL_UNCLAIM] release: the claimant's work is visible to the next claimant and to
     * barriers. */
    PAWL_ADDRESS_(pawl_store_release)(&batch->state, state, PAWL_CALL_UNCLAIM);
}

static pawl_rcu_head *worker_batch_list(const struct pawl_rcu_batch *batch)
{
    return (pawl_rcu_head *)(uintptr_t)PAWL_ADDRESS_(pawl_load_relaxed)(&batch->list);
}

static void worker_batch_set_list(struct pawl_rcu_batch *batch, const pawl_rcu_head *list)
{
    PAWL_ADDRESS_(pawl_store_relaxed)(&batch->list, (pawl_address_)(uintptr_t)list);
}

static bool worker_batch_claim(struct pawl_rcu_batch *batch, pawl_address_ from,
                               pawl_address_ brief)
{
    pawl_address_ found = from;
    if (worker_batch_state(batch) != from)
        return false;
    /* [CALL_CLAIM] acquire: the claimant sees the batch as the last claimant left it. */
    if (!PAWL_ADDRESS_(pawl_cas_acquire)(&batch->state, &found, worker_own_thread() | brief,
                                         PAWL_CALL_CLAIM))
        return false;
    rcu_for_handlers();
    PLAIN_WRITE(batch->list);
    return true;
}

static void worker_batch_leave(struct pawl_rcu_calls *calls, struct pawl_rcu_batch *batch)
{
    const bool empty = worker_batch_list(batch) == NULL;
    PLAIN_WRITE(batch->list);
    if (empty)
        /* [CALL_EMPTIED] release: the callbacks have returned before a barrier sees the count. */
        pawl_store_release32(&batch->emptied, pawl_load_relaxed32(&batch->emptied) + 1,
                             PAWL_CALL_EMPTIED);
    worker_batch_set_state(batch, empty ? BATCH_EMPTY : BATCH_FULL);
    calls_count_if_left(calls);
    /* [CALL_TELL] full: the batch has its new state before the claimant looks for sleepers. */
    pawl_fence_full(PAWL_CALL_TELL);
    worker_wake_waiters(calls);
    if (pawl_load_relaxed32(&calls->bell) == BELL_IDLE)
        worker_wake(calls, BELL_IDLE); /* it saw this batch claimed when it looked */
}

/* ---- Taking ---------------------------------------------------------------------------------- */

/* The batch has the list first, so a fork's child finds it in one of the two, or in both. */
static pawl_address_ worker_take_list(struct pawl_rcu_batch *batch, struct pawl_rcu_shard *shard)
{
    pawl_address_ list, found;
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
    pawl_address_ list;
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&shard->newest) == 0)
        return false;
    if (!worker_batch_claim(batch, BATCH_EMPTY, BATCH_BRIEF)) {
        batch++;
        if (!worker_batch_claim(batch, BATCH_EMPTY, BATCH_BRIEF))
            return false;
    }
    pawl_store_relaxed64(&batch->since, pawl_load_relaxed64(&shard->since));
    /* [CALL_TAKES] release: a barrier that sees the new count sees the claim. */
    (void)pawl_fetch_add_release32(&shard->takes, 1, PAWL_CALL_TAKES);
    list = worker_take_list(batch, shard);
    if (list == 0) {
        worker_batch_leave(calls, batch);
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
    worker_batch_set_state(batch, BATCH_FULL);
    calls_count_if_left(calls);
    return true;
}

static bool calls_take_all(struct pawl_rcu_calls *calls)
{
    const uint32_t count = calls_shards();
    bool took = false;
    uint32_t i;
    for (i = 0; i < count; i++)
        took = calls_take(calls, calls_shard(calls, i)) || took;
    return took;
}

/* ---- Calling --------------------------------------------------------------------------------- */

static void worker_note_delay(struct pawl_rcu_calls *calls, uint64_t since)
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
static void worker_call_heads(struct pawl_rcu_batch *batch, uint32_t most)
{
    pawl_rcu_head *head = worker_batch_list(batch);
    while (head != NULL && batch->due[HEADS] < most) {
        pawl_rcu_head *const next = head->next;
        PLAIN_WRITE(head->next);
        __builtin_prefetch(next);
        worker_batch_set_list(batch, next);
        batch->due[HEADS]++;
        batch->due[BYTES] += head->size >> 16;
        rcu_for_handlers();
        calls_set_queued(head, false);
        head->function(head);
        head = next;
    }
}

/* Accounts for the heads that were called, and ends the claim. Returns their number. */
static uint32_t worker_settle(struct pawl_rcu_calls *calls, struct pawl_rcu_batch *batch)
{
    const uint64_t heads = batch->due[HEADS];
    const uint64_t bytes = batch->due[BYTES];
    PAWL_ADDRESS_(pawl_store_relaxed)(&batch->state, worker_own_thread() | BATCH_BRIEF);
    rcu_for_handlers();
    (void)pawl_fetch_add_relaxed64(&calls->run[HEADS], heads);
    (void)pawl_fetch_add_relaxed64(&calls->run[BYTES], bytes);
    (void)pawl_fetch_sub_relaxed64(&calls->taken[HEADS], heads);
    (void)pawl_fetch_sub_relaxed64(&calls->taken[BYTES], bytes);
    batch->due[HEADS] = batch->due[BYTES] = 0;
    worker_batch_leave(calls, batch);
    return (uint32_t)heads;
}

/* Calls some heads of the batch if its grace period is over. Otherwise notes the lowest cookie
 * to wait for. */
static uint32_t worker_call_batch(struct pawl_rcu_calls *calls, struct pawl_rcu_batch *batch,
                                  uint64_t *waits_for)
{
    const uint32_t index = calls_index(calls);
    struct pawl_rcu_mine *mine;
    uint64_t cookie;
    if (worker_batch_state(batch) != BATCH_FULL)
        return 0;
    cookie = pawl_load_relaxed64(&batch->cookie);
    if (!rcu_poll(index, cookie)) {
        if (*waits_for == 0 || cookie < *waits_for)
            *waits_for = cookie;
        return 0;
    }
    if (!worker_batch_claim(batch, BATCH_FULL, 0))
        return 0;
    if (!rcu_over(index, pawl_load_relaxed64(&batch->cookie))) { /* another list by now */
        worker_batch_leave(calls, batch);
        return 0;
    }
    mine = pawl_rcu_mine_();
    mine->calling = index + 1;
    worker_call_heads(batch, CALLS_AT_ONCE);
    mine->calling = 0;
    if (worker_batch_list(batch) == NULL)
        worker_note_delay(calls, pawl_load_relaxed64(&batch->since));
    return worker_settle(calls, batch);
}

static uint32_t worker_call_shard(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard,
                                  uint64_t *waits_for)
{
    return worker_call_batch(calls, &shard->batches[0], waits_for) +
           worker_call_batch(calls, &shard->batches[1], waits_for);
}

static uint32_t worker_call_all(struct pawl_rcu_calls *calls, uint64_t *waits_for)
{
    const uint32_t count = calls_shards();
    uint32_t done = 0;
    uint32_t i;
    for (i = 0; i < count; i++)
        done += worker_call_shard(calls, calls_shard(calls, i), waits_for);
    return done;
}

/* ---- Helping --------------------------------------------------------------------------------- */

/* Helps with the caller's own shard first: its heads are in the caller's cache. */
static uint32_t worker_help_some(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *own,
                                 uint64_t *waits_for)
{
    const uint32_t count = calls_shards();
    uint32_t done = 0;
    uint32_t i;
    if (own != NULL) {
        (void)calls_take(calls, own);
        done = worker_call_shard(calls, own, waits_for);
    }
    if (done == 0)
        (void)calls_take_all(calls);
    for (i = 0; i < count && done == 0; i++)
        done = worker_call_shard(calls, calls_shard(calls, i), waits_for);
    return done;
}

PAWL_INTERNAL bool calls_help(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *own)
{
    uint64_t waits_for = 0;
    uint32_t done = worker_help_some(calls, own, &waits_for);
    if (done == 0 && waits_for != 0) {
        rcu_wait(calls_index(calls), waits_for, RCU_LOOKS);
        done = worker_help_some(calls, own, &waits_for);
    }
    (void)pawl_fetch_add_relaxed64(&calls->helped, done);
    return done != 0;
}

/* ---- The worker ------------------------------------------------------------------------------ */

/* The worker skips batches that another thread has claimed; that thread wakes the worker when it
 * leaves. */
static bool worker_anything_to_do(struct pawl_rcu_calls *calls)
{
    const uint32_t count = calls_shards();
    uint32_t i;
    for (i = 0; i < count; i++) {
        const struct pawl_rcu_shard *shard = calls_shard(calls, i);
        const pawl_address_ first = worker_batch_state(&shard->batches[0]);
        const pawl_address_ second = worker_batch_state(&shard->batches[1]);
        if (first == BATCH_FULL || second == BATCH_FULL)
            return true;
        if ((first == BATCH_EMPTY || second == BATCH_EMPTY) &&
            PAWL_ADDRESS_(pawl_load_relaxed)(&shard->newest) != 0)
            return true;
    }
    return pawl_load_relaxed32(&calls->urgent) != 0 || pawl_load_relaxed32(&calls->stop) != 0;
}

/* Sleeps until there is something to do. */
static void worker_idles(struct pawl_rcu_calls *calls)
{
    pawl_store_relaxed32(&calls->bell, BELL_IDLE);
    /* [CALL_SLEEP] full: the bell says IDLE before the worker looks whether there is something
     * to do. */
    pawl_fence_full(PAWL_CALL_SLEEP);
    if (worker_anything_to_do(calls)) {
        pawl_store_relaxed32(&calls->bell, BELL_AWAKE);
        return;
    }
    while (pawl_load_relaxed32(&calls->bell) == BELL_IDLE)
        (void)pawl_os_wait(&calls->bell, BELL_IDLE, PAWL_NO_DEADLINE);
}

/* Sleeps until the time `until`, or until a thread waits for callbacks. */
static void worker_rests(struct pawl_rcu_calls *calls, uint64_t until)
{
    pawl_store_relaxed32(&calls->bell, BELL_RESTS);
    /* [CALL_SLEEP] full: the bell says RESTS before the worker looks whether it is urgent. */
    pawl_fence_full(PAWL_CALL_SLEEP);
    if (pawl_load_relaxed32(&calls->urgent) == 0 && pawl_load_relaxed32(&calls->stop) == 0)
        (void)pawl_os_wait(&calls->bell, BELL_RESTS, until);
    pawl_store_relaxed32(&calls->bell, BELL_AWAKE);
}

struct pace {
    uint64_t took_at, rest;
    uint64_t called; /* by the worker, since it last took */
};

static void worker_pace_takes(struct pace *pace, uint64_t now)
{
    const uint64_t called = pace->called < MOST_RESTS ? pace->called : MOST_RESTS;
    pace->took_at = now;
    pace->rest = REST_NS * (called == 0 ? 1 : called);
    pace->called = 0;
}

/* One round over all shards; false when the worker was told to stop and nothing is left. */
static bool worker_round(struct pawl_rcu_calls *calls, struct pace *pace)
{
    /* [CALL_URGED] acquire: the worker finds what the urging thread waits for; that thread has
     * passed CALL_LISTEN. */
    const bool urgent = pawl_load_relaxed32(&calls->urgent) != 0 &&
                        pawl_exchange_acquire32(&calls->urgent, 0, PAWL_CALL_URGED) != 0;
    const bool stops = pawl_load_relaxed32(&calls->stop) != 0;
    const uint64_t now = pawl_os_now();
    const bool rested = urgent || stops || now - pace->took_at >= pace->rest;
    uint64_t waits_for = 0;
    uint32_t called;
    const bool took = rested && calls_take_all(calls);
    if (took)
        worker_pace_takes(pace, now);
    called = worker_call_all(calls, &waits_for);
    pace->called += called;
    if (called != 0 || urgent)
        return true;
    if (waits_for != 0)
        rcu_wait(calls_index(calls), waits_for, RCU_LOOKS);
    else if (took)
        return true; /* another thread helped */
    else if (!rested)
        worker_rests(calls, pace->took_at + pace->rest);
    else if (stops)
        return false;
    else
        worker_idles(calls);
    return true;
}

/* The first look saves the latch where there is nothing to call. */
static void worker_begins(struct pawl_rcu_calls *calls)
{
    struct pawl_latch *const latch = &rcu_here()->stalls;
    void (*begins)(void *);
    void *argument;
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&calls->begins) == 0)
        return;
    latch_take(latch);
    begins = (void (*)(void *))(uintptr_t)PAWL_ADDRESS_(pawl_load_relaxed)(&calls->begins);
    argument = calls->begins_with;
    latch_drop(latch);
    if (begins != NULL)
        begins(argument);
}

int pawl_rcu_domain_worker(pawl_rcu_domain *d, void (*begins)(void *argument), void *argument)
{
    struct pawl_rcu_calls *const calls = calls_of(d->index);
    struct pawl_latch *const latch = &rcu_here()->stalls;
    bool begun;
    latch_take(latch);
    begun = (pawl_load_relaxed32(&calls->terms) & 1) != 0;
    if (!begun) {
        calls->begins_with = argument;
        PAWL_ADDRESS_(pawl_store_relaxed)(&calls->begins, (pawl_address_)(uintptr_t)begins);
    }
    latch_drop(latch);
    return begun ? EBUSY : 0;
}

static void worker_main(void *argument)
{
    struct pawl_rcu_calls *const calls = (struct pawl_rcu_calls *)argument;
    struct pace pace = {0, 0, 0};
    worker_begins(calls);
    PAWL_ADDRESS_(pawl_store_relaxed)(&calls->worker, worker_own_thread());
    while (worker_round(calls, &pace))
        continue;
    PLAIN_WRITE(calls->worker);
    /* [CALL_WORKER_GONE] release: the worker's use of the domain ends before its bit is cleared. */
    (void)pawl_fetch_sub_release32(&calls->terms, 1, PAWL_CALL_WORKER_GONE);
    (void)pawl_os_wake(&calls->terms, UINT32_MAX);
}

static PAWL_COLD bool worker_start(struct pawl_rcu_calls *calls)
{
    struct pawl_rcu_mine *const mine = pawl_rcu_mine_();
    uint32_t terms = pawl_load_relaxed32(&calls->terms);
    const uint64_t now = pawl_os_now();
    bool started;
    if (now < pawl_load_relaxed64(&calls->retry_at))
        return false;
    if (!pawl_os_pin()) /* before the claim: it may wait for a loader that waits for the worker */
        return false;
    do
        if ((terms & 1) != 0)
            return true; /* another thread was faster */
    while (!pawl_cas_relaxed32(&calls->terms, &terms, terms | 1));
    /* In the child of a fork by a handler, `starts` keeps the bit; the change below brings it back
     * if the handler came just before that. */
    mine->starts = calls_index(calls) + 1;
    rcu_for_handlers();
    (void)pawl_fetch_or_relaxed32(&calls->terms, 1);
    calls->thread.body = worker_main;
    calls->thread.argument = calls;
    calls->thread.name = "pawl rcu";
    started = pawl_os_start_thread(&calls->thread);
    rcu_for_handlers();
    mine->starts = 0;
    if (started)
        return true;
    pawl_store_relaxed64(&calls->retry_at, now + RETRY_NS);
    (void)pawl_fetch_and_relaxed32(&calls->terms, ~1u);
    calls_tell(calls); /* a thread that waits for the worker must call the callbacks itself */
    return false;
}

PAWL_INTERNAL bool calls_start_worker(struct pawl_rcu_calls *calls)
{
    return (pawl_load_relaxed32(&calls->terms) & 1) != 0 || worker_start(calls);
}
