/* SPDX-License-Identifier: MIT */
/* RCU callbacks: the worker, a thread of the library that takes and calls them (rcu_batch.c). */
#include "rcu_call.h"

#include <errno.h>

#include "../base/base.h"

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

/* ---- The worker ------------------------------------------------------------------------------ */

/* The worker skips batches that another thread has claimed; that thread wakes the worker when it
 * leaves. */
static bool worker_anything_to_do(struct pawl_rcu_calls *calls)
{
    const uint32_t count = calls_shards();
    for (uint32_t i = 0; i < count; i++) {
        const struct pawl_rcu_shard *shard = calls_shard(calls, i);
        const ipawl_address_ first = calls_batch_state(&shard->batches[0]);
        const ipawl_address_ second = calls_batch_state(&shard->batches[1]);
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
    called = calls_call_all(calls, &waits_for);
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
        PAWL_ADDRESS_(pawl_store_relaxed)(&calls->begins, (ipawl_address_)(uintptr_t)begins);
    }
    latch_drop(latch);
    return begun ? EBUSY : 0;
}

static void worker_main(void *argument)
{
    struct pawl_rcu_calls *const calls = (struct pawl_rcu_calls *)argument;
    struct pace pace = {0, 0, 0};
    worker_begins(calls);
    PAWL_ADDRESS_(pawl_store_relaxed)(&calls->worker, calls_own_thread());
    while (worker_round(calls, &pace))
        continue;
    PLAIN_WRITE(calls->worker);
    /* [CALL_WORKER_GONE] release: the worker's use of the domain ends before its bit is cleared. */
    (void)pawl_fetch_sub_release32(&calls->terms, 1, PAWL_CALL_WORKER_GONE);
    (void)pawl_os_wake(&calls->terms, UINT32_MAX);
}

static PAWL_COLD bool worker_start(struct pawl_rcu_calls *calls)
{
    struct pawl_rcu_mine *const mine = ipawl_rcu_mine_();
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
