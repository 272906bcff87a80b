/* SPDX-License-Identifier: MIT */
/*
 * The waits of the sleeping progressive lock, for both widths. lock_word.inc.h has the tests of the
 * word. A class says what a waiter waits for; a set of classes is a mask.
 *
 * Wakes. A thread that subtracts units and finds PARKED computes, from the value that it left,
 * which classes can enter now. It then searches the wait list. A waiter that is awake and in the
 * list stands for that search (I6). It looks at the word itself before it sleeps. When it is
 * granted the lock, or gives up, it looks which other waiters can enter. So the others need no wake
 * while one waiter is awake, and the bucket's hint lets releasers skip the list.
 *
 * The skip is safe because both sides change the same word. A waiter that goes to sleep, or leaves
 * others asleep, clears the hint before it sets PARKED [LOCK_PARK]. A releaser that finds this
 * PARKED sees the hint cleared [LOCK_LEFT].
 */
#include <pawl/lock.h>

#include "../base/base.h"
#include "table.h"

enum wait_class {
    WAIT_R = 1,       /* no W */
    WAIT_S = 2,       /* no S, no W */
    WAIT_W = 4,       /* the same; the writer waits for readers with a claim */
    WAIT_A = 8,       /* an atomic user's claim would not be withdrawn */
    WAIT_DRAIN = 16,  /* claimed W+S+R: no R but its own */
    WAIT_UPDATE = 32, /* claimed A, W+S: no R */
    WAIT_KEEP = 64,   /* keeps W+S: no other W, no R (I3) */
    WAIT_GONE = 128   /* R, comes from A: no W, or S */
};

/* A bit beside the classes. Nothing has changed for R and S, because atomic users overlap, and they
 * may overlap for ever. But the oldest waiter's turn may have come. */
#define WAIT_TURN 256u

/* The waiters whose claim keeps others out: nothing may delay them. */
#define WAIT_CLAIMED ((unsigned)(WAIT_DRAIN | WAIT_UPDATE | WAIT_KEEP | WAIT_GONE))

/* The classes whose waiters all enter on the same change of the word. Only that change needs a
 * search of the list. */
#define WAIT_TOGETHER (WAIT_CLAIMED | (unsigned)WAIT_R)

enum outcome { WAIT_PASSED, WAIT_TIMED_OUT, WAIT_HOLDS_W };

/* Waiters of one lock that may read in a loop while they are in its list. */
#define LOCK_SPINNERS 2

/* How often a waiter yields, with a look at the word after each yield, before it joins the list and
 * before it sleeps there. Where threads outnumber cores, the holder often does not run. The yields
 * let it run, for less than the cost of a sleep and a wake (doc/design/014-lock.md has figures). */
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

/* ---- The cost of a wake ---------------------------------------------------------------------- */

/* The library measures the cost of a wake while the program runs. It is the least time of the first
 * WAKES_TO_TIME wakes. */
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

/* A releaser may arrive after the lock is gone (I7). The memory may by then be a wait word, a bit
 * lock or a condition variable. The releaser leaves the waiters of these alone. */
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

/* True when the oldest waiter has waited long enough and no other waiter had its turn just now. */
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

/* The waiter is no longer awake. */
static void lock_not_awake(struct pawl_bucket *bucket, const struct wait *wait)
{
    const pawl_address_ lock = (pawl_address_)(uintptr_t)wait->waiter.address;
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->awake_for) == lock &&
        lock_others_awake(bucket, wait) == 0)
        PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->awake_for, 0);
}

/* Puts the sleepers on the list that can enter together when `ready` classes can. The oldest
 * decides. A ready sleeper with a claim always goes on the list. */
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

/* Picks the oldest waiter if it sleeps without a claim, no waiter keeps one, and its turn has come.
 * It may then keep a claim. */
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

/* For the releaser: the `ready` classes can enter the lock now. */
static void lock_left(const void *lock, unsigned ready)
{
    const struct pawl_bucket *bucket;
    if (ready == 0)
        return;
    /* [LOCK_LEFT] acquire: the releaser sees the hint as of the sleeper's PARKED, or later. */
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
    struct backoff backoff; /* as in spinlocks: few looks leave the word to its holder */
    uint64_t end;           /* 0: not begun */
};

#define LOOP_INIT {BACKOFF_INIT, 0}

#if PAWL_HOOKS

/* The harness schedules the threads, so another read tells nothing. */
static bool lock_loop_on(struct loop *loop, uint64_t deadline)
{
    (void)loop, (void)deadline;
    return false;
}

#else

/* Nanoseconds for which a waiter reads before it sleeps: the cost of a wake. */
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

/* A pause; false when the budget is spent or the deadline has passed. */
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

/* Yields; false when the deadline has passed, or a look would tell nothing (hooks). The function
 * reads the clock first: a yield may cost a time slice, and a deadline in the past must not
 * wait. */
static bool lock_yielded(uint64_t deadline)
{
    if (PAWL_HOOKS || (deadline != PAWL_NO_DEADLINE && pawl_os_now() >= deadline))
        return false;
    pawl_os_yield();
    return true;
}

/* ---- Joining, sleeping, leaving -------------------------------------------------------------- */

/* Locks the bucket; the waiter is then in its list and awake. */
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

/* True when this waiter is the oldest and its turn has come: it may keep a claim (I3). */
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
