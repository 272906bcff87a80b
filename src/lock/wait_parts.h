/* SPDX-License-Identifier: MIT */
/* Shared by wait.c, wait_any.c and bitlock.c. */
#ifndef PAWL_LOCK_WAIT_PARTS_H
#define PAWL_LOCK_WAIT_PARTS_H

#include <pawl/wait.h>

#include "../base/base.h"
#include "table.h"
#include "../check/check.h"

/* The two kinds of sleepers in one count, and a mark: the kernel once moved sleepers here that are
 * counted elsewhere. With the mark, each wake here asks the kernel. */
#define WAIT_LISTED (UINT64_C(1) << 32)
#define WAIT_NATIVE UINT64_C(1)
#define WAIT_NATIVE_MOVED (UINT64_C(1) << 31)

/* The looks of a waiter at the word before it sleeps. With the pauses between them they take about
 * a tenth of the time of a sleep and a wake. */
#if PAWL_HOOKS
#define WAIT_POLLS 1
#else
#define WAIT_POLLS 40
#endif

/* ---- The word of a waiter -------------------------------------------------------------------- */

static inline bool wait_watch_is_sound(const struct pawl_watch *w)
{
    if (w->bits != 8 && w->bits != 16 && w->bits != 32 && w->bits != 64)
        return false;
    return w->address != NULL && ((uintptr_t)w->address & (w->bits / 8 - 1)) == 0;
}

static inline uint64_t wait_watch_load(const struct pawl_watch *w)
{
    switch (w->bits) {
    case 8: return pawl_load_relaxed8((const uint8_t *)w->address);
    case 16: return pawl_load_relaxed16((const uint16_t *)w->address);
    case 32: return pawl_load_relaxed32((const uint32_t *)w->address);
    default: return pawl_load_relaxed64((const uint64_t *)w->address);
    }
}

static inline bool wait_watch_holds(const struct pawl_watch *w)
{
    return (wait_watch_load(w) & w->mask) == w->value;
}

static inline bool wait_watch_holds_for_some_polls(const struct pawl_watch *w)
{
    for (unsigned polls = 1; wait_watch_holds(w); polls++) {
        if (polls == WAIT_POLLS)
            return true;
        pawl_cpu_relax();
    }
    return false;
}

/* ---- The counts of sleepers ------------------------------------------------------------------ */

static inline uint64_t *wait_sleepers_at(const void *address)
{
    return &table_here()->first[table_hash(address, 0)].sleepers;
}

static inline void wait_count_in(const void *address, uint64_t kind)
{
    (void)pawl_fetch_add_relaxed64(wait_sleepers_at(address), kind);
    /* [WAIT_LOOK] full: the waiter is counted, its mark gone, before it looks at the word. */
    pawl_fence_full_after_update(PAWL_WAIT_LOOK);
}

static inline void wait_count_out(const void *address, uint64_t kind)
{
    (void)pawl_fetch_sub_relaxed64(wait_sleepers_at(address), kind);
}

static inline uint64_t wait_sleepers_seen(const void *address)
{
    /* [WAIT_WAKE] release: a waiter that counts itself after this sees the change that the waker
     * wakes for. */
    return pawl_fetch_add_release64(wait_sleepers_at(address), 0, PAWL_WAIT_WAKE);
}

/* ---- The lists (wait.c) ---------------------------------------------------------------------- */

/* The kind of a wait in the lists: the owner's field `kind`. */
enum { WAIT_FOR_WORD, WAIT_FOR_BIT };

/* Puts the waiter in the list unless the word differs. */
PAWL_INTERNAL bool wait_list_waiter(struct pawl_waiter *waiter, const struct pawl_watch *w,
                                    struct pawl_queue *room, struct pawl_parker *parker,
                                    uint32_t kind);
/* Removes the waiter from the list unless a waker has. True when a waker had picked it: an unpark
 * is on its way, or has come. */
PAWL_INTERNAL bool wait_unlist_waiter(struct pawl_waiter *waiter);
/* Sleeps while the bit, a mask of the word of so many bits, is set: until a drop of the bit wakes
 * the caller. The caller then tries to take the bit, in any case. */
PAWL_INTERNAL enum pawl_waited wait_for_bit(const void *word, uint32_t bits, uint64_t bit,
                                            uint64_t deadline);

#endif
