/* SPDX-License-Identifier: MIT */
/*
 * Waits that no thread sleeps in. A request is a waiter as any other, in the same lists, whose
 * parker has a descriptor: an unpark writes to it. The owner parks only where a waker has picked
 * the waiter. So it waits for that waker's unpark alone, after which the request may be gone.
 */
#include <errno.h>

#include <pawl/notice.h>

#include "lock_parts.h"
#include "wait_parts.h"

#define NOTICE_MADE UINT32_C(0x6e6f7465)

enum { NOTICE_IDLE, NOTICE_OF_WORD };

struct notice {
    struct wait wait; /* of a word: its waiter, parker and room */
    int descriptor;
    uint32_t made;    /* NOTICE_MADE */
    uint32_t pending; /* what for */
    uint32_t forks;   /* of the process, when that began */
} __attribute__((__may_alias__));

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
    n->pending = NOTICE_OF_WORD;
    return PAWL_NOTICE_PENDING;
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
    return notice_ends_at_word(n, false) ? PAWL_NOTICE_READY : PAWL_NOTICE_PENDING;
}

void PAWL_SYMBOL_(pawl_notice_cancel)(struct pawl_notice *p)
{
    struct notice *const n = notice_of(p);
    if (n == NULL || n->made != NOTICE_MADE || !notice_is_pending(n))
        return;
    if (notice_ends_at_word(n, true))
        (void)PAWL_SYMBOL_(pawl_wake)(n->wait.waiter.address, n->wait.waiter.bits, 1);
}

#undef NOTICE_MADE
