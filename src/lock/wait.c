/* SPDX-License-Identifier: MIT */
/*
 * Wait and wake on any address. A 32-bit wait for all bits sleeps in the kernel where the system
 * supports that (NATIVE_BITS). All other waits sleep in the wait lists. A wake serves both, because
 * it does not know how wide the waits are.
 *
 * A wake asks neither if no waiter is there. Each waiter counts itself before it looks at the word
 * for the last time. The count is in the bucket of the first array that the address hashes to; this
 * bucket never changes. Waiter and waker meet in that count: the later of their two additions sees
 * the earlier one. So either the waker finds the waiter counted, or the waiter sees the waker's
 * stores. A drop of a bit lock needs no addition: its update of the word and a full fence do the
 * same with the waiter's fence.
 *
 * A waker removes the waiters that it picks from the list. So a woken waiter has nothing to lock.
 * The waiter of a bit lock has: it takes back its mark.
 */
#include "wait_parts.h"

/* Only where the kernel can also count the sleepers that it woke, and move sleepers: a wake and a
 * requeue promise that. The waits of other systems on an address serve the parkers of the lists. */
#if defined(__linux__) || PAWL_HOOKS
#define NATIVE_BITS 32
#else
#define NATIVE_BITS 0
#endif

uint64_t PAWL_SYMBOL_(pawl_now)(void)
{
    return pawl_os_now();
}

/* ---- Marks of bit locks -------------------------------------------------------------------------
 * A drop of a bit lock leaves a mark when it wakes a waiter of its bit. While the mark stands, no
 * drop of the bit wakes another one: a crowd would be awake before long, and find the bit taken.
 * The waiter takes the mark back before it looks at the bit. If it has to sleep again, it counts
 * itself after that. A drop asks for the count before it looks for a mark. So where it still sees
 * the mark, it came before that count, and the waiter will see the bit clear. The mark is in the
 * bucket's hint: another lock may overwrite it, and then a drop wakes one more. */

#if UINTPTR_MAX > UINT32_MAX
/* No address of a lock has the highest bit. */
static ipawl_address_ wait_mark(const void *word, uint64_t bit)
{
    return UINT64_C(1) << 63 | (uint64_t)(uintptr_t)word << 6 | (uint64_t)__builtin_ctzll(bit);
}
#else
/* An address leaves no room for a bit. Each drop wakes a waiter. */
static ipawl_address_ wait_mark(const void *word, uint64_t bit)
{
    (void)word, (void)bit;
    return 0;
}
#endif

static bool wait_is_marked(const struct pawl_bucket *bucket, ipawl_address_ mark)
{
    return mark != 0 && PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->awake_for) == mark;
}

static void wait_take_mark_back(const void *word, uint64_t bit)
{
    struct pawl_bucket *bucket = table_lock(word);
    if (wait_is_marked(bucket, wait_mark(word, bit)))
        PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->awake_for, 0);
    table_unlock(bucket);
}

/* ---- Waiting for one ------------------------------------------------------------------------- */

static enum pawl_waited wait_native(const struct pawl_watch *w, uint64_t deadline)
{
    enum pawl_waited how = PAWL_WAIT_DIFFERS;
    wait_count_in(w->address, WAIT_NATIVE);
    if (wait_watch_holds(w)) {
        TEST_POINT("looked");
        PAWL_PROBE1(wait_sleep, w->address);
        how = pawl_os_wait((const uint32_t *)w->address, (uint32_t)w->value, deadline)
                  ? PAWL_WAIT_WOKEN
                  : PAWL_WAIT_EXPIRED;
    }
    wait_count_out(w->address, WAIT_NATIVE);
    return how;
}

PAWL_INTERNAL bool wait_list_waiter(struct pawl_waiter *waiter, const struct pawl_watch *w,
                                    struct pawl_queue *room, struct pawl_parker *parker,
                                    uint32_t kind)
{
    struct pawl_bucket *bucket;
    bool holds;

    waiter->address = w->address;
    waiter->parker = parker;
    waiter->room = table_room(room, TABLE_OF_WAIT, sizeof *room);
    waiter->kind = kind;
    waiter->bits = w->mask;
    table_expect_forks();
    wait_count_in(w->address, WAIT_LISTED);
    bucket = table_lock(w->address);
    holds = wait_watch_holds(w);
    if (holds) {
        TEST_POINT("looked");
        PAWL_PROBE1(wait_sleep, w->address);
        (void)table_append(bucket, waiter);
        PLAIN_WRITE(waiter->asleep);
        waiter->asleep = 1;
    }
    table_unlock(bucket);
    if (!holds)
        wait_count_out(w->address, WAIT_LISTED);
    return holds;
}

PAWL_INTERNAL bool wait_unlist_waiter(struct pawl_waiter *waiter)
{
    struct pawl_bucket *bucket = table_lock_of(waiter);
    const bool picked = waiter->asleep == 0;
    PLAIN_READ(waiter->asleep);
    if (!picked)
        table_remove(bucket, waiter);
    table_unlock(bucket);
    return picked;
}

static enum pawl_waited wait_listed(const struct pawl_watch *w, uint64_t deadline, uint32_t kind)
{
    enum pawl_waited how = PAWL_WAIT_WOKEN;
    struct pawl_parker room;
    struct pawl_queue queue;
    struct pawl_waiter waiter;
    struct pawl_parker *parker = pawl_parker_make(&room);

    pawl_os_told_plain(&queue, sizeof queue);
    pawl_os_told_plain(&waiter, sizeof waiter);
    if (!wait_list_waiter(&waiter, w, &queue, parker, kind)) {
        how = PAWL_WAIT_DIFFERS;
    } else {
        table_grow_if_crowded();
        TEST_POINT("listed");
        if (!pawl_park(parker, deadline)) {
            if (wait_unlist_waiter(&waiter))
                (void)pawl_park(parker, PAWL_NO_DEADLINE);
            else
                how = PAWL_WAIT_EXPIRED;
        }
        wait_count_out(waiter.address, WAIT_LISTED); /* requeue may have changed it */
    }
    return how;
}

enum pawl_waited PAWL_SYMBOL_(pawl_wait)(const void *address, uint32_t bits, uint64_t mask,
                                         uint64_t value, uint64_t deadline)
{
    struct pawl_watch w;
    w.address = address;
    w.bits = bits;
    w.mask = mask;
    w.value = value;
    if (PAWL_UNLIKELY(!wait_watch_is_sound(&w))) {
        MISUSE(address == NULL ? "wait at null" : "wait at a misaligned address", "word", address,
               "pawl_wait");
        return PAWL_WAIT_REFUSED;
    }
    if (!wait_watch_holds_for_some_polls(&w))
        return PAWL_WAIT_DIFFERS;
    /* For ThreadSanitizer a sleep has pauses: the kernel does not find who moved in one of them. */
    if (!PAWL_TSAN_ && bits == NATIVE_BITS && mask == UINT32_MAX)
        return wait_native(&w, deadline);
    return wait_listed(&w, deadline, WAIT_FOR_WORD);
}

PAWL_INTERNAL enum pawl_waited wait_for_bit(const void *word, uint32_t bits, uint64_t bit,
                                            uint64_t deadline)
{
    enum pawl_waited how;
    struct pawl_watch w;
    w.address = word;
    w.bits = bits;
    w.mask = bit;
    w.value = bit;
    if (!wait_watch_holds_for_some_polls(&w))
        return PAWL_WAIT_DIFFERS;
    how = wait_listed(&w, deadline, WAIT_FOR_BIT);
    if (how == PAWL_WAIT_WOKEN) {
        TEST_POINT("woken");
        wait_take_mark_back(word, bit);
    }
    return how;
}

/* ---- Waking ---------------------------------------------------------------------------------- */

static void wait_pick(struct wake_list *list, struct pawl_bucket *bucket,
                      struct pawl_waiter *waiter)
{
    table_remove(bucket, waiter);
    table_wake(list, waiter);
}

/* The oldest waiter from `w` on, or NULL, that waits for one of the bits. */
static struct pawl_waiter *wait_first_for(struct pawl_waiter *w, uint64_t bits)
{
    while (w != NULL && (w->bits & bits) == 0) {
        TABLE_STEP();
        w = w->younger;
    }
    if (w != NULL)
        PLAIN_READ(w->bits);
    return w;
}

static struct pawl_waiter *wait_oldest(struct pawl_bucket *bucket, const void *address,
                                       uint64_t bits)
{
    const struct pawl_queue *queue = table_find(bucket, address, TABLE_OF_WAIT);
    return queue != NULL ? wait_first_for(queue->oldest, bits) : NULL;
}

/* `mark`: that a drop of a bit lock leaves; 0 for other wakes. */
static unsigned wait_wake_listed(const void *address, uint64_t bits, unsigned count,
                                 ipawl_address_ mark)
{
    struct wake_list list = WAKE_LIST_EMPTY;
    struct pawl_bucket *bucket;
    struct pawl_waiter *w;
    unsigned woken;

    if (wait_is_marked(table_peek(address), mark))
        return 0;
    bucket = table_lock(address);
    w = wait_oldest(bucket, address, bits);
    if (w != NULL && w->kind == WAIT_FOR_BIT && mark != 0)
        PAWL_ADDRESS_(pawl_store_relaxed)(&bucket->awake_for, mark);
    while (w != NULL && list.count < count) {
        struct pawl_waiter *next = wait_first_for(w->younger, bits);
        wait_pick(&list, bucket, w);
        w = next;
    }
    table_unlock(bucket);
    woken = list.count;
    if (woken > 0)
        TEST_POINT("picked");
    table_unpark(&list);
    return woken;
}

static bool wait_may_wait_natively(const void *address)
{
    return NATIVE_BITS != 0 && ((uintptr_t)address & 3) == 0;
}

static PAWL_COLD unsigned wait_wake_some(const void *address, uint64_t bits, unsigned count,
                                         uint64_t sleepers, ipawl_address_ mark)
{
    unsigned woken = 0;
    if (sleepers >= WAIT_LISTED)
        woken = wait_wake_listed(address, bits, count, mark);
    if ((uint32_t)sleepers != 0 && woken < count && (uint32_t)bits != 0 &&
        wait_may_wait_natively(address))
        woken += pawl_os_wake((const uint32_t *)address, count - woken);
    PAWL_PROBE2(wait_wake, address, woken);
    return woken;
}

unsigned PAWL_SYMBOL_(pawl_wake)(const void *address, uint64_t bits, unsigned count)
{
    uint64_t sleepers;
    if (address == NULL || count == 0 || bits == 0)
        return 0;
    sleepers = wait_sleepers_seen(address);
    return PAWL_LIKELY(sleepers == 0) ? 0 : wait_wake_some(address, bits, count, sleepers, 0);
}

/* A load, where a wake updates the count: a drop has passed a full fence, and threads that drop
 * share the line. */
void PAWL_SYMBOL_(pawl_bitlock_wake)(const void *word, uint64_t bit)
{
    const uint64_t sleepers = pawl_load_relaxed64(wait_sleepers_at(word));
    if (PAWL_UNLIKELY(sleepers != 0))
        (void)wait_wake_some(word, bit, 1, sleepers, wait_mark(word, bit));
}

/* ---- Requeue --------------------------------------------------------------------------------- */

static unsigned wait_requeue_listed(const void *from, const void *to, unsigned wake, unsigned move)
{
    struct wake_list list = WAKE_LIST_EMPTY;
    struct pawl_bucket *here, *there;
    struct pawl_waiter *w;
    unsigned moved = 0;

    table_lock_two(from, to, &here, &there);
    w = wait_oldest(here, from, UINT64_MAX);
    while (w != NULL && (list.count < wake || moved < move)) {
        struct pawl_waiter *next = w->younger;
        if (list.count < wake) {
            wait_pick(&list, here, w);
        } else {
            /* Counted there first, so that no wake overlooks it. Its thread later counts itself out
             * there. */
            (void)pawl_fetch_add_relaxed64(wait_sleepers_at(to), WAIT_LISTED);
            table_move(here, there, w, to);
            w->kind = WAIT_FOR_WORD; /* its thread looks for no mark there */
            wait_count_out(from, WAIT_LISTED);
            moved++;
        }
        w = next;
    }
    table_unlock_two(here, there);
    moved += list.count;
    table_unpark(&list);
    return moved;
}

unsigned PAWL_SYMBOL_(pawl_requeue)(const void *from, const void *to, unsigned wake, unsigned move)
{
    unsigned done = 0;
    uint64_t sleepers;

    if (from == NULL || to == NULL || (wake == 0 && move == 0))
        return 0;
    if (from == to)
        return PAWL_SYMBOL_(pawl_wake)(from, UINT64_MAX, wake);
    sleepers = wait_sleepers_seen(from);
    if (sleepers >= WAIT_LISTED)
        done = wait_requeue_listed(from, to, wake, move);
    if ((uint32_t)sleepers == 0 || !wait_may_wait_natively(from))
        return done;
    /* The waiters of the lists count against `wake` first. */
    wake -= done < wake ? done : wake;
    if (!wait_may_wait_natively(to))
        return done + pawl_os_wake((const uint32_t *)from, wake + move);
    (void)pawl_fetch_or_relaxed64(wait_sleepers_at(to), WAIT_NATIVE_MOVED);
    return done + pawl_os_requeue((const uint32_t *)from, (const uint32_t *)to, wake, move);
}

/* ---- Between processes ----------------------------------------------------------------------- */

#define EVERY_CLASS UINT32_MAX

static bool wait_may_be_shared(const uint32_t *address, const char *call, const void *site)
{
    if (PAWL_LIKELY(address != NULL && ((uintptr_t)address & 3) == 0))
        return true;
    MISUSE_AT(address == NULL ? "wait at null" : "wait at a misaligned address", "word", address,
              call, site);
    return false;
}

enum pawl_waited PAWL_SYMBOL_(pawl_wait_shared)(const uint32_t *address, uint32_t value,
                                                uint64_t deadline)
{
    struct pawl_watch w;
    if (!wait_may_be_shared(address, "pawl_wait32_shared", __builtin_return_address(0)))
        return PAWL_WAIT_REFUSED;
    w.address = address;
    w.bits = 32;
    w.mask = UINT32_MAX;
    w.value = value;
    if (!wait_watch_holds_for_some_polls(&w))
        return PAWL_WAIT_DIFFERS;
    TEST_POINT("looked");
    return pawl_os_wait_classes(address, value, EVERY_CLASS, deadline) ? PAWL_WAIT_WOKEN
                                                                       : PAWL_WAIT_EXPIRED;
}

unsigned PAWL_SYMBOL_(pawl_wake_shared)(const uint32_t *address, unsigned count)
{
    if (address == NULL || ((uintptr_t)address & 3) != 0 || count == 0)
        return 0;
    return pawl_os_wake_classes(address, EVERY_CLASS, count);
}

#ifdef PAWL_TEST_POINTS
void (*ipawl_test_point_)(const char *name);
#endif

#undef NATIVE_BITS
#undef EVERY_CLASS
