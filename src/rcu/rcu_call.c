/* SPDX-License-Identifier: MIT */
/*
 * RCU callbacks: queueing and limits. Each thread queues on a shard of its own, so a call is one
 * compare-exchange without contention, except when the worker takes the whole list. A thread takes
 * credit from the domain for many calls at a time, so most calls do not touch the domain's count.
 *
 * The domain counts credit as taken. Idle threads with unused credit must not keep all others out.
 * So the credit of all lines together is at most a 16th of the limit. When the limits change, old
 * credit is void: its owner gives it back at its next call. Until then a caller that finds no room
 * adds the old credit to the limit.
 */
#include "rcu_call.h"

#include <errno.h>
#include <stdlib.h>

#include "../check/check.h"
#include "../base/base.h"

/* The credit that a thread takes at a time: this, or the limit / CREDIT_PART if that is less. */
static const uint64_t credit_most[2] = {64, 16384};
#define CREDIT_PART (UINT64_C(16) * CALLS_LINES)

#define OFFSET_BITS 16

/* ---- The checking variant -------------------------------------------------------------------- */

#if PAWL_CHECKED
#define CHECK_HEAD(head, call)                                                                     \
    do {                                                                                           \
        if ((head) != NULL && (head)->queued == calls_head_mark(head))                             \
            ipawl_report_misuse_("called while it is still queued", "rcu head", head, call,        \
                                 __builtin_return_address(0));                                     \
    } while (0)
#else
#define CHECK_HEAD(head, call) ((void)0)
#endif

/* ---- Limits ---------------------------------------------------------------------------------- */

static uint64_t calls_credit_of(uint64_t limit, unsigned what)
{
    const uint64_t part = limit / CREDIT_PART;
    return part < credit_most[what] ? part : credit_most[what];
}

/* Credit of earlier terms, which no thread uses any more. */
static uint64_t calls_stale_credit(struct pawl_rcu_calls *calls, unsigned what)
{
    const uint32_t terms = pawl_load_relaxed32(&calls->terms) | 1u;
    const uint32_t count = calls_shards();
    uint64_t sum = 0;
    if (terms == 1)
        return 0;
    for (uint32_t i = 1; i < count; i++) {
        struct pawl_rcu_shard *shard = calls_shard(calls, i);
        if (pawl_load_relaxed32(&shard->terms) != terms)
            sum += pawl_load_relaxed64(&shard->credit[what]);
    }
    return sum;
}

/* The sum may be below 0 by one call, in the child of a fork by a handler that has interrupted that
 * call. */
static bool calls_fits(struct pawl_rcu_calls *calls, unsigned what, uint64_t sum)
{
    const uint64_t limit = calls_limit_of(calls, what);
    return (int64_t)sum <= (int64_t)limit ||
           (int64_t)sum <= (int64_t)(limit + calls_stale_credit(calls, what));
}

static bool calls_has_room(struct pawl_rcu_calls *calls, unsigned what, uint64_t n)
{
    return calls_fits(calls, what, pawl_load_relaxed64(&calls->taken[what]) + n);
}

static bool calls_take_room(struct pawl_rcu_calls *calls, unsigned what, uint64_t n)
{
    uint64_t taken = pawl_load_relaxed64(&calls->taken[what]);
    if (n == 0)
        return true;
    do
        if (!calls_fits(calls, what, taken + n))
            return false;
    while (!pawl_cas_relaxed64(&calls->taken[what], &taken, taken + n));
    return true;
}

/* A caller may have found no room because of heads that are given back here, so it must look
 * again: perhaps no callback is left that would wake it. Signal-safe. */
static bool calls_take_both(struct pawl_rcu_calls *calls, uint64_t heads, uint64_t bytes)
{
    if (!calls_take_room(calls, HEADS, heads))
        return false;
    if (calls_take_room(calls, BYTES, bytes))
        return true;
    if (heads == 0)
        return false;
    (void)pawl_fetch_sub_relaxed64(&calls->taken[HEADS], heads);
    calls_tell(calls);
    return false;
}

/* Whether a call of this size cannot fit beside the credit that idle threads may have. */
static bool calls_too_big(struct pawl_rcu_calls *calls, uint64_t bytes)
{
    const uint64_t limit = calls_limit_of(calls, BYTES);
    return bytes > limit - calls_credit_of(limit, BYTES) * CALLS_LINES;
}

/* ---- Credit; only the owner of the shard calls these ----------------------------------------- */

static uint64_t calls_credit(const struct pawl_rcu_shard *shard, unsigned what)
{
    return pawl_load_relaxed64(&shard->credit[what]);
}

static void calls_add_credit(struct pawl_rcu_shard *shard, unsigned what, uint64_t n)
{
    pawl_store_relaxed64(&shard->credit[what], calls_credit(shard, what) + n);
}

static inline bool calls_has_credit(const struct pawl_rcu_shard *shard, uint64_t bytes)
{
    return calls_credit(shard, HEADS) >= 1 && calls_credit(shard, BYTES) >= bytes;
}

/* Gives credit of earlier terms back, and adopts the present terms. Between the two changes the
 * credit counts as taken, so a caller may find no room that looks in between. */
static void calls_agree(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard)
{
    const uint32_t terms = pawl_load_relaxed32(&calls->terms) | 1u;
    uint64_t given_back = 0;
    if (pawl_load_relaxed32(&shard->terms) == terms)
        return;
    for (unsigned what = HEADS; what <= BYTES; what++) {
        const uint64_t old = calls_credit(shard, what);
        pawl_store_relaxed64(&shard->credit[what], 0);
        (void)pawl_fetch_sub_relaxed64(&calls->taken[what], old);
        given_back |= old;
    }
    pawl_store_relaxed32(&shard->terms, terms);
    if (given_back != 0)
        calls_tell(calls);
}

/* Takes credit for one call, and more for later calls if there is room for that. */
static bool calls_take_credit(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard,
                              uint64_t bytes)
{
    const uint64_t heads = calls_credit(shard, HEADS) >= 1 ? 0 : 1;
    const uint64_t had = calls_credit(shard, BYTES);
    const uint64_t short_of = bytes > had ? bytes - had : 0;
    const uint64_t some_heads = calls_credit_of(calls_limit_of(calls, HEADS), HEADS);
    const uint64_t some_bytes = calls_credit_of(calls_limit_of(calls, BYTES), BYTES);
    const uint64_t more_heads = heads != 0 && some_heads > 1 ? some_heads : heads;
    const uint64_t more_bytes = short_of == 0 ? 0 : short_of + some_bytes;

    if (calls_take_both(calls, more_heads, more_bytes)) {
        calls_add_credit(shard, HEADS, more_heads);
        calls_add_credit(shard, BYTES, more_bytes);
        return true;
    }
    if (!calls_take_both(calls, heads, short_of))
        return false;
    calls_add_credit(shard, HEADS, heads);
    calls_add_credit(shard, BYTES, short_of);
    return true;
}

/* ---- At the limit ---------------------------------------------------------------------------- */

static int calls_refuse(struct pawl_rcu_calls *calls, int error)
{
    (void)pawl_fetch_add_relaxed64(&calls->refusals, 1);
    return error;
}

/* Returns true when there may be room. The caller listens before it looks for callbacks to help
 * with. So a thread that works on them now will wake it. False: a callback waits for a quiescent
 * state of the caller. An online caller holds references, so it does not run callbacks that may
 * need its quiescent state, if there is a worker to do so. */
static bool calls_wait_for_room(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *own,
                                uint64_t bytes, bool help)
{
    const bool online = rcu_inside(PAWL_RCU_QS_);
    bool may_wait = true;
    calls_listen(calls);
    for (;;) {
        const uint32_t turn = calls_turn(calls);
        if (calls_has_room(calls, HEADS, 1) && calls_has_room(calls, BYTES, bytes))
            break;
        may_wait = !calls_rest_for(calls, online);
        if (!may_wait)
            break;
        if ((!help || online) && calls_start_worker(calls))
            calls_urge(calls);
        else if (calls_help(calls, own))
            break;
        calls_sleep(calls, turn);
    }
    calls_go(calls);
    return may_wait;
}

/* There is no room. Returns 0 when there may be some. `own`: NULL if the caller has no shard. */
static PAWL_COLD int calls_at_limit(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *own,
                                    uint64_t bytes, bool *counted)
{
    const uint32_t index = calls_index(calls);
    const uint32_t policy = pawl_load_relaxed32(&calls->policy);
    PAWL_PROBE2(rcu_call_full, index, policy);
    if (policy == PAWL_RCU_REFUSE)
        return calls_refuse(calls, EAGAIN);
    if (rcu_inside_any() || rcu_inside(index) || calls_calling())
        return calls_refuse(calls, EDEADLK);
    if (!*counted)
        (void)pawl_fetch_add_relaxed64(&calls->waits, 1);
    *counted = true;
    if (!calls_wait_for_room(calls, own, bytes, policy == PAWL_RCU_HELP))
        return calls_refuse(calls, EDEADLK);
    return 0;
}

/* ---- Queueing -------------------------------------------------------------------------------- */

/* Pushes the head on the shard's stack; a stack suffices because the taker takes the whole list. */
static inline void calls_push(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard,
                              pawl_rcu_head *head)
{
    ipawl_address_ newest = PAWL_ADDRESS_(pawl_load_relaxed)(&shard->newest);
    calls_set_queued(head, true);
    PLAIN_WRITE(head->next);
    do {
        head->next = (pawl_rcu_head *)(uintptr_t)newest;
        if (newest == 0)
            pawl_store_relaxed64(&shard->since, pawl_os_now());
        /* [CALL_QUEUE] release: the caller's writes to head and object are visible to the
         * callback. */
    } while (!PAWL_ADDRESS_(pawl_cas_release)(&shard->newest, &newest,
                                              (ipawl_address_)(uintptr_t)head, PAWL_CALL_QUEUE));
    if (newest == 0)
        calls_ring(calls);
}

/* A thread queues on its own shard. */
static inline void calls_push_own(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard,
                                  pawl_rcu_head *head, uint64_t bytes)
{
    PLAIN_WRITE(shard->credit);
    pawl_store_relaxed64(&shard->credit[HEADS], calls_credit(shard, HEADS) - 1);
    pawl_store_relaxed64(&shard->credit[BYTES], calls_credit(shard, BYTES) - bytes);
    pawl_store_relaxed64(&shard->called[HEADS], pawl_load_relaxed64(&shard->called[HEADS]) + 1);
    pawl_store_relaxed64(&shard->called[BYTES], pawl_load_relaxed64(&shard->called[BYTES]) + bytes);
    calls_push(calls, shard, head);
}

/* Queues on the shared shard; the caller has taken room. */
static void calls_push_shared(struct pawl_rcu_calls *calls, pawl_rcu_head *head, uint64_t bytes)
{
    (void)pawl_fetch_add_relaxed64(&calls->shared.called[HEADS], 1);
    (void)pawl_fetch_add_relaxed64(&calls->shared.called[BYTES], bytes);
    calls_push(calls, &calls->shared, head);
}

/* Takes room or credit for one call. A handler that forks meanwhile leaves the child's count to the
 * end of this. `shard`: NULL if the caller has none. */
static bool calls_account(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard,
                          uint64_t bytes)
{
    struct pawl_rcu_mine *const mine = ipawl_rcu_mine_();
    bool done;
    mine->accounts = calls_index(calls) + 1;
    rcu_for_handlers();
    if (shard != NULL)
        calls_agree(calls, shard);
    if (shard == NULL)
        done = calls_take_both(calls, 1, bytes);
    else
        done = calls_has_credit(shard, bytes) || calls_take_credit(calls, shard, bytes);
    rcu_for_handlers();
    mine->accounts = 0;
    calls_count_if_left(calls);
    return done;
}

static PAWL_COLD int calls_slow(struct pawl_rcu_calls *calls, struct pawl_rcu_shard *shard,
                                uint64_t bytes)
{
    bool counted = false;
    int error;
    if (calls_too_big(calls, bytes))
        return calls_refuse(calls, E2BIG);
    pawl_store_relaxed32(&calls->used, 1);
    (void)calls_start_worker(calls);
    while (!calls_account(calls, shard, bytes)) {
        error = calls_at_limit(calls, shard, bytes, &counted);
        if (error != 0)
            return error;
    }
    return 0;
}

static inline struct pawl_rcu_shard *calls_own_shard(struct pawl_rcu_calls *calls)
{
    const struct pawl_thread_line *line = ipawl_thread_line_();
    const size_t number = line == NULL ? CALLS_SHARDS : (size_t)(line - process_here()->lines);
    return PAWL_LIKELY(number < CALLS_SHARDS) ? &calls->shards[number] : NULL;
}

static inline int calls_queue(struct pawl_rcu_calls *calls, pawl_rcu_head *head,
                              pawl_rcu_function *function, uint64_t bytes, size_t offset)
{
    struct pawl_rcu_shard *const shard = calls_own_shard(calls);
    int error = 0;
    if (PAWL_UNLIKELY(shard == NULL ||
                      pawl_load_relaxed32(&shard->terms) != pawl_load_relaxed32(&calls->terms) ||
                      !calls_has_credit(shard, bytes)))
        error = calls_slow(calls, shard, bytes);
    if (PAWL_UNLIKELY(error != 0))
        return error;
    head->function = function;
    head->size = bytes << OFFSET_BITS | offset;
    if (PAWL_LIKELY(shard != NULL))
        calls_push_own(calls, shard, head, bytes);
    else
        calls_push_shared(calls, head, bytes);
    return 0;
}

int pawl_rcu_domain_call(pawl_rcu_domain *d, pawl_rcu_head *head, pawl_rcu_function *function,
                         size_t bytes)
{
    if (PAWL_UNLIKELY(head == NULL || function == NULL))
        return EINVAL;
    CHECK_HEAD(head, "pawl_rcu_domain_call");
    return calls_queue(calls_of(d->index), head, function, bytes, 0);
}

/* Uses atomic operations only, because a handler may interrupt a call of its own thread. */
int pawl_rcu_domain_try_call(pawl_rcu_domain *d, pawl_rcu_head *head, pawl_rcu_function *function,
                             size_t bytes)
{
    struct pawl_rcu_calls *const calls = calls_of(d->index);
    if (head == NULL || function == NULL)
        return EINVAL;
    CHECK_HEAD(head, "pawl_rcu_domain_try_call");
    if (calls_too_big(calls, bytes))
        return calls_refuse(calls, E2BIG);
    if ((pawl_load_relaxed32(&calls->terms) & 1) == 0 || !calls_take_both(calls, 1, bytes))
        return calls_refuse(calls, EAGAIN);
    head->function = function;
    head->size = (uint64_t)bytes << OFFSET_BITS;
    calls_push_shared(calls, head, bytes);
    return 0;
}

/* ---- Freeing --------------------------------------------------------------------------------- */

static void calls_free_object(pawl_rcu_head *head)
{
    free((char *)head - (head->size & ((UINT64_C(1) << OFFSET_BITS) - 1)));
}

int pawl_rcu_domain_free(pawl_rcu_domain *d, void *object, size_t offset, size_t bytes)
{
    pawl_rcu_head *head;
    if (object == NULL)
        return 0;
    if (offset >> OFFSET_BITS != 0)
        return EINVAL;
    head = (pawl_rcu_head *)(void *)((char *)object + offset);
    CHECK_HEAD(head, "pawl_rcu_domain_free");
    return calls_queue(calls_of(d->index), head, calls_free_object, bytes, offset);
}

/* ---- Limits and numbers ---------------------------------------------------------------------- */

int pawl_rcu_domain_limit(pawl_rcu_domain *d, uint64_t count, uint64_t bytes,
                          pawl_rcu_policy policy)
{
    struct pawl_rcu_calls *const calls = calls_of(d->index);
    if (count == 0 || bytes == 0 || count > PAWL_RCU_NO_LIMIT || bytes > PAWL_RCU_NO_LIMIT ||
        (unsigned)policy > PAWL_RCU_REFUSE)
        return EINVAL;
    pawl_store_relaxed64(&calls->limit[HEADS], count);
    pawl_store_relaxed64(&calls->limit[BYTES], bytes);
    pawl_store_relaxed32(&calls->policy, (uint32_t)policy);
    (void)pawl_fetch_add_relaxed32(&calls->terms, 2);
    calls_tell(calls); /* there may be room now */
    return 0;
}
