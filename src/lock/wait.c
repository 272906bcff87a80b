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
 * stores. (A pair of full fences would do the same, but ThreadSanitizer knows no fences.)
 *
 * A waker removes the waiters that it picks from the list. So a woken waiter has nothing to lock.
 * The waiter of a bit lock has: it takes back its mark.
 */
#include <pawl/wait.h>

#include "../base/base.h"
#include "bit.h"
#include "table.h"
#if PAWL_CHECKED
#include "../check/check.h"
#endif

/* The two kinds of sleepers in one count, and a mark: the kernel once moved sleepers here that are
 * counted elsewhere. With the mark, each wake here asks the kernel. */
#define LISTED (UINT64_C(1) << 32)
#define NATIVE UINT64_C(1)
#define NATIVE_MOVED (UINT64_C(1) << 31)

/* Only where the kernel can also count the sleepers that it woke, and move sleepers: a wake and a
 * requeue promise that. The waits of other systems on an address serve the parkers of the lists. */
#if defined(__linux__) || PAWL_HOOKS
#define NATIVE_BITS 32
#else
#define NATIVE_BITS 0
#endif

/* The looks of a waiter at the word before it sleeps. With the pauses between them they take about
 * a tenth of the time of a sleep and a wake. */
#if PAWL_HOOKS
#define POLLS 1
#else
#define POLLS 40
#endif

uint64_t PAWL_SYMBOL_(pawl_now)(void)
{
    return pawl_os_now();
}

/* ---- The word of a waiter -------------------------------------------------------------------- */

static bool wait_watch_is_sound(const struct pawl_watch *w)
{
    if (w->bits != 8 && w->bits != 16 && w->bits != 32 && w->bits != 64)
        return false;
    return w->address != NULL && ((uintptr_t)w->address & (w->bits / 8 - 1)) == 0;
}

static uint64_t wait_watch_load(const struct pawl_watch *w)
{
    switch (w->bits) {
    case 8: return pawl_load_relaxed8((const uint8_t *)w->address);
    case 16: return pawl_load_relaxed16((const uint16_t *)w->address);
    case 32: return pawl_load_relaxed32((const uint32_t *)w->address);
    default: return pawl_load_relaxed64((const uint64_t *)w->address);
    }
}

static bool wait_watch_holds(const struct pawl_watch *w)
{
    return (wait_watch_load(w) & w->mask) == w->value;
}

static bool wait_watch_holds_for_some_polls(const struct pawl_watch *w)
{
    unsigned polls;
    for (polls = 1; wait_watch_holds(w); polls++) {
        if (polls == POLLS)
            return true;
        pawl_cpu_relax();
    }
    return false;
}

/* ---- The counts of sleepers ------------------------------------------------------------------ */

static uint64_t *wait_sleepers_at(const void *address)
{
    return &table_here()->first[table_hash(address, 0)].sleepers;
}

static void wait_count_in(const void *address, uint64_t kind)
{
    /* [WAIT_COUNT] acquire: the waiter sees the change of a waker that has not found it counted;
     * release: one that has sees no mark that the waiter took back. */
    (void)pawl_fetch_add_acq_rel64(wait_sleepers_at(address), kind, PAWL_WAIT_COUNT);
}

static void wait_count_out(const void *address, uint64_t kind)
{
    (void)pawl_fetch_sub_relaxed64(wait_sleepers_at(address), kind);
}

static uint64_t wait_sleepers_seen(const void *address)
{
    /* [WAIT_WAKE] release: a waiter that counts itself after this sees the change that the waker
     * wakes for; acquire: the waker sees that the mark of one that it finds counted is gone. */
    return pawl_fetch_add_acq_rel64(wait_sleepers_at(address), 0, PAWL_WAIT_WAKE);
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
static pawl_address_ wait_mark(const void *word, uint64_t bit)
{
    return UINT64_C(1) << 63 | (uint64_t)(uintptr_t)word << 6 | (uint64_t)__builtin_ctzll(bit);
}
#else
/* An address leaves no room for a bit. Each drop wakes a waiter. */
static pawl_address_ wait_mark(const void *word, uint64_t bit)
{
    (void)word, (void)bit;
    return 0;
}
#endif

static bool wait_is_marked(const struct pawl_bucket *bucket, pawl_address_ mark)
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
    wait_count_in(w->address, NATIVE);
    if (wait_watch_holds(w)) {
        TEST_POINT("looked");
        PAWL_PROBE1(wait_sleep, w->address);
        how = pawl_os_wait((const uint32_t *)w->address, (uint32_t)w->value, deadline)
                  ? PAWL_WAIT_WOKEN
                  : PAWL_WAIT_EXPIRED;
    }
    wait_count_out(w->address, NATIVE);
    return how;
}

/* The kind of a wait in the lists: the owner's field `kind`. */
enum { WAIT_FOR_WORD, WAIT_FOR_BIT };

/* Puts the waiter in the list unless the word differs. */
static bool wait_list_waiter(struct pawl_waiter *waiter, const struct pawl_watch *w,
                             struct pawl_queue *room, struct pawl_parker *parker, uint32_t kind)
{
    struct pawl_bucket *bucket;
    bool holds;

    waiter->address = w->address;
    waiter->parker = parker;
    waiter->room = table_room(room, TABLE_OF_WAIT, sizeof *room);
    waiter->kind = kind;
    waiter->bits = w->mask;
    table_expect_forks();
    wait_count_in(w->address, LISTED);
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
        wait_count_out(w->address, LISTED);
    return holds;
}

/* Removes the waiter from the list unless a waker has. True when a waker had picked it: an unpark
 * is on its way, or has come. */
static bool wait_unlist_waiter(struct pawl_waiter *waiter)
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
        wait_count_out(waiter.address, LISTED); /* requeue may have changed it */
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
#if PAWL_CHECKED
        pawl_report_misuse_(address == NULL ? "wait at null" : "wait at a misaligned address",
                            "word", address, "pawl_wait", __builtin_return_address(0));
#endif
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

static unsigned wait_wake_listed(const void *address, uint64_t bits, unsigned count)
{
    /* The mark that the wake leaves, if it comes from a drop of a bit lock. */
    const pawl_address_ mark =
        count == 1 && (bits & (bits - 1)) == 0 ? wait_mark(address, bits) : 0;
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

unsigned PAWL_SYMBOL_(pawl_wake)(const void *address, uint64_t bits, unsigned count)
{
    unsigned woken = 0;
    uint64_t sleepers;

    if (address == NULL || count == 0 || bits == 0)
        return 0;
    sleepers = wait_sleepers_seen(address);
    if (PAWL_LIKELY(sleepers == 0))
        return 0;
    if (sleepers >= LISTED)
        woken = wait_wake_listed(address, bits, count);
    if ((uint32_t)sleepers != 0 && woken < count && (uint32_t)bits != 0 &&
        wait_may_wait_natively(address))
        woken += pawl_os_wake((const uint32_t *)address, count - woken);
    PAWL_PROBE2(wait_wake, address, woken);
    return woken;
}

/* ---- Waiting for any of several -------------------------------------------------------------- */

/* Removes the caller from those of the first `count` lists from which no waker has picked it.
 * Returns how many wakers picked it. The first of them is in *which, unless *which was set before.
 * The wakes of the other wakers go to the next waiters of their lists. */
static uint32_t wait_leave_lists(struct pawl_waiter *waiters, uint32_t count, uint32_t *which)
{
    const struct pawl_waiter *handed_on[PAWL_WAIT_WATCHES];
    uint32_t picks = 0, given = 0;
    uint32_t i;

    for (i = 0; i < count; i++) {
        if (wait_unlist_waiter(&waiters[i])) {
            picks++;
            if (*which == PAWL_WAIT_WATCHES)
                *which = i;
            else
                handed_on[given++] = &waiters[i];
        }
        wait_count_out(waiters[i].address, LISTED);
    }
    for (i = 0; i < given; i++)
        (void)PAWL_SYMBOL_(pawl_wake)(handed_on[i]->address, handed_on[i]->bits, 1);
    return picks;
}

static enum pawl_waited wait_many(const struct pawl_watch *watches, uint32_t count, uint32_t *which,
                                  uint64_t deadline)
{
    struct pawl_waiter waiters[PAWL_WAIT_WATCHES];
    struct pawl_queue queues[PAWL_WAIT_WATCHES];
    enum pawl_waited how = PAWL_WAIT_WOKEN;
    struct pawl_parker room;
    struct pawl_parker *parker = pawl_parker_make(&room);
    uint32_t listed, picks, unparks = 0;

    pawl_os_told_plain(waiters, sizeof waiters);
    pawl_os_told_plain(queues, sizeof queues);
    for (listed = 0; listed < count; listed++)
        if (!wait_list_waiter(&waiters[listed], &watches[listed], &queues[listed], parker,
                              WAIT_FOR_WORD))
            break;
    if (listed < count) {
        how = PAWL_WAIT_DIFFERS;
        *which = listed;
    } else {
        table_grow_if_crowded();
        TEST_POINT("listed");
        unparks = pawl_park(parker, deadline);
    }
    /* Each pick means an unpark, and none may come when this stack frame is gone. */
    picks = wait_leave_lists(waiters, listed, which);
    for (; unparks < picks; unparks++)
        (void)pawl_park(parker, PAWL_NO_DEADLINE);
    return how == PAWL_WAIT_WOKEN && picks == 0 ? PAWL_WAIT_EXPIRED : how;
}

enum pawl_waited PAWL_SYMBOL_(pawl_wait_any)(const struct pawl_watch *watches, uint32_t count,
                                             uint32_t *which, uint64_t deadline)
{
    uint32_t found = PAWL_WAIT_WATCHES;
    enum pawl_waited how = PAWL_WAIT_REFUSED;
    bool sound = watches != NULL && count > 0 && count <= PAWL_WAIT_WATCHES;
    uint32_t i;

    for (i = 0; sound && i < count; i++)
        sound = wait_watch_is_sound(&watches[i]);
    if (PAWL_LIKELY(sound))
        how = wait_many(watches, count, &found, deadline);
#if PAWL_CHECKED
    else
        pawl_report_misuse_("wait at no, too many or unsound addresses", "watches", watches,
                            "pawl_wait_any", __builtin_return_address(0));
#endif
    if (which != NULL)
        *which = found < PAWL_WAIT_WATCHES ? found : 0;
    return how;
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
            (void)pawl_fetch_add_relaxed64(wait_sleepers_at(to), LISTED);
            table_move(here, there, w, to);
            w->kind = WAIT_FOR_WORD; /* its thread looks for no mark there */
            wait_count_out(from, LISTED);
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
    if (sleepers >= LISTED)
        done = wait_requeue_listed(from, to, wake, move);
    if ((uint32_t)sleepers == 0 || !wait_may_wait_natively(from))
        return done;
    /* The waiters of the lists count against `wake` first. */
    wake -= done < wake ? done : wake;
    if (!wait_may_wait_natively(to))
        return done + pawl_os_wake((const uint32_t *)from, wake + move);
    (void)pawl_fetch_or_relaxed64(wait_sleepers_at(to), NATIVE_MOVED);
    return done + pawl_os_requeue((const uint32_t *)from, (const uint32_t *)to, wake, move);
}

/* ---- Between processes ----------------------------------------------------------------------- */

#define EVERY_CLASS UINT32_MAX

static bool wait_may_be_shared(const uint32_t *address, const char *call, const void *site)
{
    if (PAWL_LIKELY(address != NULL && ((uintptr_t)address & 3) == 0))
        return true;
#if PAWL_CHECKED
    pawl_report_misuse_(address == NULL ? "wait at null" : "wait at a misaligned address", "word",
                        address, call, site);
#else
    (void)call;
    (void)site;
#endif
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
void (*pawl_test_point_)(const char *name);
#endif

#undef LISTED
#undef NATIVE
#undef NATIVE_MOVED
#undef NATIVE_BITS
#undef POLLS
#undef EVERY_CLASS
