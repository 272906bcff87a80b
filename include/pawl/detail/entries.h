/* SPDX-License-Identifier: MIT */
/*
 * The entries of readers that scale (lock.h). Each thread has a few on a line of its own. An entry
 * has the identity of a lock that the thread reads, or 0. So readers of one lock write no line in
 * common. doc/design/028-scaling-readers.md has the protocol.
 *
 * Only the thread itself changes its entries, and others look at them. A signal handler of the
 * thread may do so between any two instructions:
 *
 *   - A take fills a free entry by compare-exchange, so it never overwrites that of a handler.
 *   - A drop hides the line from its handlers while it looks for the entry and frees it. They count
 *     in the word meanwhile.
 *   - A handler leaves each lock in as many entries as it found, perhaps in others. Where its read
 *     has counted in the word, its drop may free an entry of the thread, whose R is in the word
 *     then. So no thread remembers which entry is its own, or that it has one.
 */
#ifndef PAWL_ENTRIES_H
#define PAWL_ENTRIES_H

#include <pawl/thread.h>

/* 1 where readers can scale. Elsewhere all readers count in the word: systems without a variable of
 * the thread that all copies of the library share and inline code may read. */
#if PAWL_HOOKS || defined(__linux__) || defined(__FreeBSD__)
#define PAWL_SCALES_ 1
#else
#define PAWL_SCALES_ 0
#endif

/* Locks that a thread reads at a time through entries; further ones count in the word. */
#if PAWL_HOOKS
#define PAWL_ENTRIES 2 /* models see them full */
#else
#define PAWL_ENTRIES 8
#endif

struct pawl_entries {
    /* Identities: address, | 1 for a lock of 64 bits. In the preload library | PAWL_ENTRY_TRIES_
     * until the reader is in. */
    ipawl_address_ locks[PAWL_ENTRIES];
    uint32_t waiters; /* threads that wait for one of these entries, of whatever lock */
    uint32_t turn;    /* grows when the thread has freed an entry and finds waiters */
    /* The thread's own: */
    uint32_t joined; /* it has the line, shown or hidden */
    uint32_t eager;  /* its drops from a word turn scaling on (PAWL_BIAS=on) */
    /* PAWL_ENTRIES_BUSY_: entries that have a lock, and one more of an eager line (a drop looks).
     * The bits above: reads that have ended, roughly, for whoever looks at the lines. */
    uint32_t busy;
    uint32_t hidden; /* in the hook variant only */
} __attribute__((__aligned__(PAWL_CACHE_LINE)));

#define PAWL_ENTRY_TRIES_ 2u
#define PAWL_ENTRIES_BUSY_ 15u
#define PAWL_ENTRIES_READS_ 0x10000000u /* after this many reads the count is 0 again */

/* Instead of a line: the thread has none, or hides it. NULL: the thread has never given R
 * up, or another copy of the library knows. */
#define PAWL_NO_ENTRIES_ ((struct pawl_entries *)(uintptr_t)1)

#if PAWL_SCALES_

PAWL_C_BEGIN

/* PAWL_OWN_ENTRIES_: the line of the calling thread, NULL or PAWL_NO_ENTRIES_. */
#if PAWL_HOOKS
PAWL_API struct pawl_entries *PAWL_SYMBOL_(pawl_thread_entries)(void);
#define ipawl_thread_entries_ PAWL_SYMBOL_(pawl_thread_entries)
#endif

/* Frees the entry that a take has filled for nothing: number `i`, or another of the same lock.
 * Where a handler has freed it and left its own R in the word, drops that. */
PAWL_API PAWL_COLD void PAWL_SYMBOL_(pawl_entries_take_back)(struct pawl_entries *own, unsigned i,
                                                             ipawl_address_ identity);
/* The thread has freed an entry and found waiters: wakes them. Uses no lock's memory. */
PAWL_API PAWL_COLD void PAWL_SYMBOL_(pawl_entries_tell)(struct pawl_entries *own);

PAWL_C_END

#define ipawl_entries_take_back_ PAWL_SYMBOL_(pawl_entries_take_back)
#define ipawl_entries_tell_ PAWL_SYMBOL_(pawl_entries_tell)

PAWL_INLINE_BEGIN

#if PAWL_HOOKS
#define PAWL_OWN_ENTRIES_ ipawl_thread_entries_()
#elif defined(PAWL_COMPILED_) && PAWL_OWN_IS_POINTER_
/* The library's own functions know the variable that all copies of it use (src/os/shared.h). */
#define ipawl_own_from_ PAWL_SYMBOL_(pawl_from_thread_own)
PAWL_C_BEGIN
extern PAWL_HIDDEN_ void *(*ipawl_own_from_)(void);
PAWL_C_END
#define PAWL_OWN_ENTRIES_                                                                          \
    (*(PAWL_LIKELY(ipawl_own_from_ == NULL) ? &ipawl_thread_own_                                   \
                                            : (struct pawl_own **)ipawl_own_from_()))              \
        ->entries
#else
/* NULL for ever where another copy's variable is the one that all use. */
#define PAWL_OWN_ENTRIES_ PAWL_OWN_.entries
#endif

#if PAWL_HOOKS

PAWL_INLINE void ipawl_entries_hide_(struct pawl_entries *own)
{
    own->hidden = 1;
}

PAWL_INLINE void ipawl_entries_show_(struct pawl_entries *own)
{
    own->hidden = 0;
}
#else
/* Handlers see these stores between the accesses before and after them. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_entries_hide_(struct pawl_entries *own)
{
    (void)own;
    PAWL_OWN_ENTRIES_ = PAWL_NO_ENTRIES_;
    __asm__ __volatile__("" ::: "memory");
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_entries_show_(struct pawl_entries *own)
{
    __asm__ __volatile__("" ::: "memory");
    PAWL_OWN_ENTRIES_ = own;
}
#endif

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_entries_are_(const struct pawl_entries *own)
{
    return (uintptr_t)own > (uintptr_t)PAWL_NO_ENTRIES_;
}

/* The owner counts the entries that it has filled. A handler leaves that count as it found it, also
 * between the load and the store of a change; its reads are then lost. Where it has freed an entry
 * of the thread, the count may stay too high until entries_recount. In the hook variant the
 * accesses are no steps. */
#if PAWL_HOOKS
PAWL_INLINE uint32_t ipawl_entries_busy_(const struct pawl_entries *own)
{
    return own->busy & PAWL_ENTRIES_BUSY_;
}

/* Any thread may ask. */
PAWL_INLINE uint32_t ipawl_entries_reads_(const struct pawl_entries *line)
{
    return line->busy / (PAWL_ENTRIES_BUSY_ + 1);
}

PAWL_INLINE void ipawl_entries_count_(struct pawl_entries *own, uint32_t change)
{
    own->busy += change;
}
#else
PAWL_INLINE PAWL_ALWAYS_INLINE_ uint32_t ipawl_entries_busy_(const struct pawl_entries *own)
{
    return pawl_load_relaxed32(&own->busy) & PAWL_ENTRIES_BUSY_;
}

PAWL_INLINE uint32_t ipawl_entries_reads_(const struct pawl_entries *line)
{
    return pawl_load_relaxed32(&line->busy) / (PAWL_ENTRIES_BUSY_ + 1);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_entries_count_(struct pawl_entries *own, uint32_t change)
{
    pawl_store_relaxed32(&own->busy, pawl_load_relaxed32(&own->busy) + change);
}
#endif

/* `busy` counts that an entry has been filled, that a drop has freed it, or that it was filled for
 * nothing. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_entries_count_take_(struct pawl_entries *own)
{
    ipawl_entries_count_(own, 1);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_entries_count_drop_(struct pawl_entries *own)
{
    ipawl_entries_count_(own, PAWL_ENTRIES_BUSY_ + 1 - 1); /* one read more, one entry less */
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_entries_count_nothing_(struct pawl_entries *own)
{
    ipawl_entries_count_(own, (uint32_t)-1);
}

/* Fills a free entry; its number, or PAWL_ENTRIES where all are full. The accesses that follow
 * come after the store for every thread. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ unsigned ipawl_entries_fill_(struct pawl_entries *own,
                                                             ipawl_address_ identity)
{
    unsigned i;
    for (i = 0; i < PAWL_ENTRIES; i++) {
        ipawl_address_ found = PAWL_ADDRESS_(pawl_load_relaxed)(&own->locks[i]);
        if (PAWL_LIKELY(found == 0) &&
            PAWL_LIKELY(PAWL_ADDRESS_(pawl_cas_relaxed)(&own->locks[i], &found, identity))) {
            /* [ENTRY_TAKE] full: the entry is filled before the reader looks for a writer. */
            pawl_fence_full_after_update(PAWL_ENTRY_TAKE);
            ipawl_entries_count_take_(own);
            break;
        }
    }
    return i;
}

/* Gives up R that the thread has in an entry; false: it has no entry of that lock. After the store
 * the lock may be gone. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_entries_free_(struct pawl_entries *own,
                                                         ipawl_address_ identity)
{
    unsigned i;
    ipawl_entries_hide_(own);
    for (i = 0; i < PAWL_ENTRIES; i++)
        if (PAWL_ADDRESS_(pawl_load_relaxed)(&own->locks[i]) == identity)
            break;
    if (PAWL_UNLIKELY(i == PAWL_ENTRIES)) {
        ipawl_entries_show_(own);
        return false;
    }
    /* [ENTRY_DROP] release: the reader's reads are done before a writer finds the entry free. */
    PAWL_ADDRESS_(pawl_store_release)(&own->locks[i], 0, PAWL_ENTRY_DROP);
    ipawl_entries_count_drop_(own);
    ipawl_entries_show_(own);
    /* [ENTRY_LEFT] light: the entry is free before the reader looks whether a writer sleeps. Where
     * this fence does nothing, no writer sleeps without a bound. */
    pawl_fence_light_known(PAWL_ENTRY_LEFT);
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&own->waiters) != 0))
        ipawl_entries_tell_(own);
    return true;
}

PAWL_INLINE_END

#endif
#endif
