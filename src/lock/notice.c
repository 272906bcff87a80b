/* SPDX-License-Identifier: MIT */
/*
 * Waits that no thread sleeps in. A request is a waiter as any other, in the same lists, whose
 * parker has a descriptor: an unpark writes to it. The owner parks only where a waker has picked
 * the waiter. So it waits for that waker's unpark alone, after which the request may be gone.
 */
#include <errno.h>

#include <pawl/notice.h>

#include "lock_notice.h"
#include "wait_parts.h"

#define NOTICE_MADE UINT32_C(0x6e6f7465)

enum { NOTICE_IDLE, NOTICE_OF_WORD, NOTICE_OF_LOCK };

_Static_assert(sizeof(struct notice) <= sizeof(struct pawl_notice), "a request has room");

static struct notice *notice_of(struct pawl_notice *n)
{
    return (struct notice *)(void *)n;
}

/* A fork's child has none of the parent's waiters. */
static bool notice_is_pending(struct notice *n)
{
    if (n->pending != NOTICE_IDLE && n->forks != pawl_load_relaxed32(&process_here()->forks))
        n->pending = NOTICE_IDLE;
    return n->pending != NOTICE_IDLE;
}

static bool notice_may_begin(struct pawl_notice *p, const char *call, const void *site)
{
    struct notice *const n = notice_of(p);
    if (PAWL_LIKELY(n != NULL && n->made == NOTICE_MADE && !notice_is_pending(n))) {
        table_expect_forks();
        n->forks = pawl_load_relaxed32(&process_here()->forks);
        return true;
    }
    MISUSE_AT(n == NULL || n->made != NOTICE_MADE ? "used before its init" : "used while pending",
              "notice", p, call, site);
    return false;
}

int pawl_notice_init(struct pawl_notice *p, int descriptor)
{
    struct notice *const n = notice_of(p);
    int failed;
    if (n == NULL)
        return EINVAL;
    pawl_os_told_plain(n, sizeof *n);
    failed = pawl_os_may_tell(descriptor);
    n->descriptor = descriptor;
    n->made = failed == 0 ? NOTICE_MADE : 0;
    n->pending = NOTICE_IDLE;
    return failed;
}

enum pawl_noticed PAWL_SYMBOL_(pawl_notice_watch)(struct pawl_notice *p,
                                                  const struct pawl_watch *watch)
{
    struct notice *const n = notice_of(p);
    struct pawl_parker *parker;
    if (!notice_may_begin(p, "pawl_notice_watch", __builtin_return_address(0)))
        return PAWL_NOTICE_REFUSED;
    if (PAWL_UNLIKELY(watch == NULL || !wait_watch_is_sound(watch))) {
        MISUSE("wait at no, too many or unsound addresses", "watches", watch, "pawl_notice_watch");
        return PAWL_NOTICE_REFUSED;
    }
    parker = pawl_parker_make(&n->wait.parker);
    parker->descriptor = n->descriptor;
    if (!wait_list_waiter(&n->wait.waiter, watch, &n->wait.room.queue, parker, WAIT_FOR_WORD))
        return PAWL_NOTICE_READY;
    table_grow_if_crowded();
    n->lock = NULL;
    n->pending = NOTICE_OF_WORD;
    return PAWL_NOTICE_PENDING;
}

/* Any thread may drop what a request was granted, so it is booked as counted reads are. */
#if PAWL_CHECKED
#define NOTICE_BOOKS(comes_or_goes) ipawl_check_counted_##comes_or_goes##_()
#else
#define NOTICE_BOOKS(comes_or_goes) ((void)0)
#endif

enum pawl_noticed PAWL_SYMBOL_(pawl_notice_lock64)(struct pawl_notice *p, pawl_lock64 *l,
                                                   enum pawl_state state)
{
    static bool (*const operations[])(struct claimant *c) = {NULL, lock_take_read, lock_take_seek,
                                                             lock_take_write, lock_take_atomic};
    struct notice *const n = notice_of(p);
    struct word word;
    if (!notice_may_begin(p, "pawl_notice_lock64", __builtin_return_address(0)))
        return PAWL_NOTICE_REFUSED;
    if (PAWL_UNLIKELY(l == NULL || ((uintptr_t)l & 7) != 0 || state == PAWL_STATE_U ||
                      state > PAWL_STATE_A)) {
        MISUSE("no lock, or no state of one", "notice", p, "pawl_notice_lock64");
        return PAWL_NOTICE_REFUSED;
    }
    word.address = l;
    word.layout = WORD_64;
    n->lock = l;
    n->state = state;
    NOTICE_BOOKS(comes);
    if (lock_notice_begin(n, word, operations[state]))
        return PAWL_NOTICE_READY;
    table_grow_if_crowded();
    n->pending = NOTICE_OF_LOCK;
    return PAWL_NOTICE_PENDING;
}

#if PAWL_CHECKED
static void notice_must_be_granted(const pawl_lock64 *l, enum pawl_state state, const void *site)
{
    const uint64_t w = pawl_load_relaxed64(&l->word);
    if (state == PAWL_STATE_R   ? ipawl_spin64_readers_(w) == 0
        : state == PAWL_STATE_S ? ipawl_spin64_seekers_(w) == 0
                                : ipawl_spin64_writers_(w) == 0)
        MISUSE_AT("dropped, but not granted", "pawl_lock64", l, "pawl_notice_drop64", site);
}
#else
#define notice_must_be_granted(l, state, site) ((void)0)
#endif

void PAWL_SYMBOL_(pawl_notice_drop64)(pawl_lock64 *l, enum pawl_state state)
{
    notice_must_be_granted(l, state, __builtin_return_address(0));
    switch (state) {
    case PAWL_STATE_R: ipawl_lock64_do_drop_read_counted_(l); break;
    case PAWL_STATE_S: ipawl_lock64_do_drop_seek_(l); break;
    case PAWL_STATE_W: ipawl_lock64_do_drop_write_(l); break;
    case PAWL_STATE_A: ipawl_lock64_do_drop_atomic_(l); break;
    case PAWL_STATE_U: break;
    }
    NOTICE_BOOKS(goes);
}

/* Whether a waker has picked the waiter. The wait ends then, or where it is cancelled. */
static bool notice_ends_at_word(struct notice *n, bool cancel)
{
    struct pawl_waiter *const waiter = &n->wait.waiter;
    struct pawl_bucket *const bucket = table_lock_of(waiter);
    const bool picked = waiter->asleep == 0;
    PLAIN_READ(waiter->asleep);
    if (!picked && cancel)
        table_remove(bucket, waiter);
    table_unlock(bucket);
    if (picked)
        (void)pawl_park(&n->wait.parker, PAWL_NO_DEADLINE);
    if (picked || cancel) {
        wait_count_out(waiter->address, WAIT_LISTED);
        n->pending = NOTICE_IDLE;
    }
    return picked;
}

enum pawl_noticed PAWL_SYMBOL_(pawl_notice_go_on)(struct pawl_notice *p)
{
    struct notice *const n = notice_of(p);
    if (n == NULL || n->made != NOTICE_MADE || !notice_is_pending(n))
        return PAWL_NOTICE_REFUSED;
    if (n->pending == NOTICE_OF_LOCK) {
        if (!lock_notice_go_on(n))
            return PAWL_NOTICE_PENDING;
        n->pending = NOTICE_IDLE;
        return PAWL_NOTICE_READY;
    }
    return notice_ends_at_word(n, false) ? PAWL_NOTICE_READY : PAWL_NOTICE_PENDING;
}

void PAWL_SYMBOL_(pawl_notice_cancel)(struct pawl_notice *p)
{
    struct notice *const n = notice_of(p);
    if (n == NULL || n->made != NOTICE_MADE || !notice_is_pending(n))
        return;
    if (n->pending == NOTICE_OF_LOCK) {
        lock_notice_cancel(n);
        n->pending = NOTICE_IDLE;
        NOTICE_BOOKS(goes);
    } else if (notice_ends_at_word(n, true))
        (void)PAWL_SYMBOL_(pawl_wake)(n->wait.waiter.address, n->wait.waiter.bits, 1);
}

#undef NOTICE_MADE
#undef NOTICE_BOOKS
#undef notice_must_be_granted
