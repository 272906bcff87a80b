/* SPDX-License-Identifier: MIT */
/*
 * How a waiter of a progressive lock waits, for both widths; what is looked at in the word is in
 * lock_word.inc.h. Classes say what a waiter waits for; a set of classes is a mask.
 *
 * Who wakes whom. Whoever takes units out and finds PARKED works out from the value it left which
 * classes can enter now, and looks into the wait list. A waiter that is awake and in the list
 * stands for that look (I6): it looks at the word itself before it sleeps, and when it has the
 * lock, or gives up, it looks who else can enter. So while one is awake the others need not be
 * woken, and the bucket's hint lets releasers skip the list. The skipping is safe because both
 * sides change the same word: a waiter that goes to sleep, or leaves others asleep, clears the hint
 * before it sets PARKED [LOCK_PARK], and a releaser that finds this PARKED sees the hint cleared
 * [LOCK_LEFT].
 */
#include <pawl/lock.h>

#include "../base/base.h"
#include "table.h"

enum wait_class {
    WAIT_R = 1,       /* no W */
    WAIT_S = 2,       /* no S, no W */
    WAIT_W = 4,       /* the same; readers are waited for with a claim */
    WAIT_A = 8,       /* an atomic user's claim would not be withdrawn */
    WAIT_DRAIN = 16,  /* claimed W+S+R: no R but its own */
    WAIT_UPDATE = 32, /* claimed A, W+S: no R */
    WAIT_KEEP = 64,   /* keeps W+S: no other W, no R (I3) */
    WAIT_GONE = 128   /* R, comes from A: no W, or S */
};

/* Beside classes: nothing has changed for R and S, because atomic users overlap, which they may do
 * for ever; but the oldest waiter's turn may have come. */
#define WAIT_TURN 256u

/* Those who hold a claim that keeps others out: nothing may delay them. */
#define WAIT_CLAIMED ((unsigned)(WAIT_DRAIN | WAIT_UPDATE | WAIT_KEEP | WAIT_GONE))

/* Those of whom all are let in by the change that lets in one: only that change needs a look. */
#define WAIT_TOGETHER (WAIT_CLAIMED | (unsigned)WAIT_R)

enum outcome { WAIT_PASSED, WAIT_TIMED_OUT, WAIT_HOLDS_W };

/* Waiters of one lock that may read in a loop while they are in its list. */
#define LOCK_SPINNERS 2

/* How often a waiter offers its CPU to others, looking in between, before it joins the list, and
 * before it sleeps there. Where threads outnumber cores the holder is often one that does not run,
 * and this lets it run for less than a sleep and a wake cost (doc/design/014-lock.md has figures).
 */
enum { YIELDS_BEFORE_JOINING = 128, YIELDS_BEFORE_SLEEPING = 32 };

/* One operation's wait, on the stack of its thread. */
struct wait {
    struct pawl_waiter waiter;
    struct pawl_parker parker;
    uint64_t deadline;
    bool queued;   /* in the wait list */
    bool may_spin; /* few enough others are awake */
};

static void lock_wait_begin(struct wait *wait, const void *lock, uint64_t deadline)
{
    wait->waiter.address = lock;
    wait->waiter.parker = &wait->parker;
    wait->waiter.asleep = 0;
    wait->deadline = deadline;
    wait->queued = false;
    wait->may_spin = true;
}

/* ---- What a wake costs ----------------------------------------------------------------------- */

/* What a sleeper loses is measured as the program runs: the least of the first so many. */
enum {
    WAKES_TO_TIME = 64,
    LEAST_BUDGET_NS = 5000,
    USUAL_BUDGET_NS = 10000,
    MOST_BUDGET_NS = 50000
};

static bool lock_wakes_are_timed(void)
{
    return pawl_load_relaxed32(&table_here()->wakes_timed) < WAKES_TO_TIME;
}

static void lock_note_wake(uint64_t woken_at)
{
    struct pawl_table *table = table_here();
    const uint64_t took = pawl_os_now() - woken_at;
    const uint32_t least = pawl_load_relaxed32(&table->wake_ns);
    if (took < UINT32_MAX && (least == 0 || took < least))
        pawl_store_relaxed32(&table->wake_ns, took == 0 ? 1 : (uint32_t)took);
    (void)pawl_fetch_add_relaxed32(&table->wakes_timed, 1);
}

/* ---- The wait list of one lock; its bucket is locked ----------------------------------------- */

/* A releaser may arrive after the lock is gone (I7) and the memory is a wait word, a bit lock or a
 * condition variable: waiters of these are left alone. */
static struct pawl_waiter *lock_skip_others(struct pawl_bucket *bucket, struct pawl_waiter *w)
{
    while (w != NULL && w->kind >= WAITER_WAITS)
        w = table_next(bucket, w);
    return w;
}

static struct pawl_waiter *lock_first(struct pawl_bucket *bucket, const void *lock)
{
    return lock_skip_others(bucket, table_first(bucket, lock));
}

static struct pawl_waiter *lock_next(struct pawl_bucket *bucket, struct pawl_waiter *w)
{
    return lock_skip_others(bucket, table_next(bucket, w));
}

static unsigned lock_others_awake(struct pawl_bucket *bucket, const struct wait *wait)
{
    struct pawl_waiter *w = lock_first(bucket, wait->waiter.address);
    unsigned count = 0;
    for (; w != NULL; w = lock_next(bucket, w))
        count += w != &wait->waiter && !w->asleep;
    return count;
}

static bool lock_anybody_asleep(struct pawl_bucket *bucket, const void *lock)
{
    struct pawl_waiter *w = lock_first(bucket, lock);
    while (w != NULL && !w->asleep)
        w = lock_next(bucket, w);
    return w != NULL;
}

static bool lock_somebody_keeps(struct pawl_bucket *bucket, const void *lock)
{
    struct pawl_waiter *w = lock_first(bucket, lock);
    while (w != NULL && w->kind != WAIT_KEEP)
        w = lock_next(bucket, w);
    return w != NULL;
}

/* Of the oldest waiter: it has waited long enough, and no one had its turn just now. */
static bool lock_turn_has_come(struct pawl_bucket *bucket, const struct pawl_waiter *oldest)
{
    const uint64_t now = pawl_os_now();
    return now - oldest->since >= PAWL_LOCK_HANDOFF_NS &&
           now - pawl_load_relaxed64(&bucket->last_handoff) >= PAWL_LOCK_HANDOFF_NS;
}

/* A waiter of the lock is awake from now on; releasers may leave the list to it for a while. */
static void lock_awake(struct pawl_bucket *bucket, const void *lock)
{
    pawl_store_relaxed64(&bucket->quiet_until, pawl_os_now() + PAWL_LOCK_HANDOFF_NS / 4);
    PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->awake_for, (pawl_address_)(uintptr_t)lock);
}

/* The waiter is awake no longer. */
static void lock_not_awake(struct pawl_bucket *bucket, const struct wait *wait)
{
    const pawl_address_ lock = (pawl_address_)(uintptr_t)wait->waiter.address;
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->awake_for) == lock &&
        lock_others_awake(bucket, wait) == 0)
        PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->awake_for, 0);
}

/* Puts on the list those sleepers that can enter together when `ready` classes can: the oldest
 * decides. Those that hold a claim always go. */
static void lock_pick(struct pawl_bucket *bucket, const void *lock, unsigned ready,
                 struct wake_list *list)
{
    struct pawl_waiter *w;
    const bool timed = lock_wakes_are_timed();
    const uint64_t now = timed ? pawl_os_now() : 0;
    bool others;
    unsigned entering = 0;
    for (w = lock_first(bucket, lock); w != NULL; w = lock_next(bucket, w)) {
        if (!w->asleep || !(w->kind & ready))
            continue;
        others = w->kind == WAIT_R   ? (entering & ~(unsigned)(WAIT_R | WAIT_S)) != 0
                 : w->kind == WAIT_S ? (entering & ~(unsigned)WAIT_R) != 0
                 : w->kind == WAIT_A ? (entering & ~(unsigned)WAIT_A) != 0
                                     : entering != 0;
        if (!(w->kind & WAIT_CLAIMED)) {
            if (others)
                continue;
            entering |= w->kind;
        }
        w->woken_at = timed ? now : 0;
        table_wake(list, w);
    }
    if (list->count != 0)
        lock_awake(bucket, lock);
}

/* ---- Waking ---------------------------------------------------------------------------------- */

/* The oldest waiter, asleep and with no claim, when its turn has come: it will insist. */
static void lock_pick_oldest(struct pawl_bucket *bucket, const void *lock, struct wake_list *list)
{
    struct pawl_waiter *oldest = lock_first(bucket, lock);
    if (oldest == NULL || !oldest->asleep || (oldest->kind & WAIT_CLAIMED) ||
        lock_somebody_keeps(bucket, lock) || !lock_turn_has_come(bucket, oldest))
        return;
    oldest->woken_at = 0;
    table_wake(list, oldest);
    lock_awake(bucket, lock);
}

static void lock_wake_ready(const void *lock, unsigned ready)
{
    struct wake_list list = {NULL, NULL, 0};
    struct pawl_bucket *bucket = table_lock(lock);
    lock_pick(bucket, lock, ready, &list);
    if ((ready & WAIT_TURN) && list.count == 0)
        lock_pick_oldest(bucket, lock, &list);
    table_unlock(bucket);
    if (list.count != 0)
        PAWL_PROBE2(lock_wake, lock, list.count);
    table_unpark(&list);
}

/* The releaser of a lock of which `ready` classes can enter now. */
static void lock_left(const void *lock, unsigned ready)
{
    const struct pawl_bucket *bucket;
    if (ready == 0)
        return;
    /* [LOCK_LEFT] acquire: we see the hint as it was when the sleeper set PARKED, or later. */
    pawl_fence_acquire(PAWL_LOCK_LEFT);
    bucket = table_peek(lock);
    if (!(ready & WAIT_CLAIMED) &&
        PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->awake_for) == (pawl_address_)(uintptr_t)lock &&
        pawl_os_now() < pawl_load_relaxed64(&bucket->quiet_until))
        return;
    lock_wake_ready(lock, ready);
}

/* ---- Reading in a loop ----------------------------------------------------------------------- */

struct loop {
    struct backoff backoff; /* the spinlocks' own: looking seldom leaves the word to its holder */
    uint64_t end;           /* 0: not begun */
};

#define LOOP_INIT {BACKOFF_INIT, 0}

#if PAWL_HOOKS

/* The harness schedules: reading again tells nothing. */
static bool lock_loop_on(struct loop *loop, uint64_t deadline)
{
    (void)loop, (void)deadline;
    return false;
}

#else

/* Nanoseconds for which to read before sleeping: what it costs to be woken. */
static uint64_t lock_loop_budget(void)
{
    const uint32_t cost = pawl_load_relaxed32(&table_here()->wake_ns);
    if (pawl_os_one_cpu())
        return 0;
    return cost == 0                ? USUAL_BUDGET_NS
           : cost < LEAST_BUDGET_NS ? LEAST_BUDGET_NS
           : cost > MOST_BUDGET_NS  ? MOST_BUDGET_NS
                                    : cost;
}

/* A pause; false when the time is over. */
static bool lock_loop_on(struct loop *loop, uint64_t deadline)
{
    const uint64_t budget = loop->end == 0 ? lock_loop_budget() : 0;
    uint64_t now;
    if (loop->end == 0 && budget == 0)
        return false;
    now = pawl_os_now();
    if (loop->end == 0)
        loop->end = now + budget;
    if (now >= loop->end || now >= deadline)
        return false;
    (void)backoff_relaxed(&loop->backoff, loop);
    return true;
}

#endif

/* Lets another thread run; false when the time is over, or a look would tell nothing (hooks). The
 * clock comes first: a yield may cost a slice, and a deadline in the past must not wait. */
static bool lock_yielded(uint64_t deadline)
{
    if (PAWL_HOOKS || (deadline != PAWL_NO_DEADLINE && pawl_os_now() >= deadline))
        return false;
    pawl_os_yield();
    return true;
}

/* ---- Joining, sleeping, leaving -------------------------------------------------------------- */

/* Locks the bucket, the waiter being in its list and awake. */
static struct pawl_bucket *lock_wait_join(struct wait *wait)
{
    struct pawl_bucket *bucket = table_lock(wait->waiter.address);
    if (!wait->queued) {
        wait->waiter.since = pawl_os_now();
        wait->waiter.kind = 0;
        wait->waiter.parker = pawl_parker_make(&wait->parker);
        table_append(bucket, &wait->waiter);
        wait->queued = true;
        lock_awake(bucket, wait->waiter.address);
        PAWL_PROBE1(lock_contended, wait->waiter.address);
    }
    wait->may_spin = lock_others_awake(bucket, wait) < LOCK_SPINNERS;
    return bucket;
}

/* The oldest waiter's turn has come: it may keep a claim (I3). */
static bool lock_may_insist(struct pawl_bucket *bucket, const struct wait *wait)
{
    return lock_first(bucket, wait->waiter.address) == &wait->waiter &&
           !lock_somebody_keeps(bucket, wait->waiter.address) &&
           lock_turn_has_come(bucket, &wait->waiter);
}

#define PAWL_WORD_KIND PAWL_KIND_LOCK_
#define PAWL_WORD_BITS 32
#include "lock_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include "lock_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND
