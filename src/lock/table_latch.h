/* SPDX-License-Identifier: MIT */
/*
 * The latch of a bucket, for table.c alone.
 *
 * It is not the latch of src/base/latch.h: this one wakes its oldest waiter, and sleeps by parkers,
 * which a bucket's waiter has anyway. A holder holds it for a few instructions. Its waiters
 * nevertheless sleep: threads may outnumber the cores, and some may be real-time. Zero bytes are a
 * free latch.
 *
 * The word has HELD, QUEUED and the address of the youngest newcomer; each names the next older
 * one. A holder that drops the latch wakes one waiter, which must ask again. The holder takes all
 * newcomers at once and turns their order round, so the oldest is at hand for the next drops:
 * QUEUED says that latch_oldest has some. Only the holder removes waiters, so reuse of an entry
 * does no harm.
 *
 * A signal handler may fork above a holder. The child goes on there: it changes the list, and drops
 * the latch. Until then the bucket keeps the waiters of the parent's threads. QUEUED without
 * latch_oldest, or a latch that is dropped and not HELD, tells the thread to forget them.
 */
#ifndef PAWL_TABLE_LATCH_H
#define PAWL_TABLE_LATCH_H

#include "table_mend.h"

#define TABLE_HELD ((ipawl_address_)1)
#define TABLE_QUEUED ((ipawl_address_)2)
#if PAWL_HOOKS
#define TABLE_POLLS 0
#else
#define TABLE_POLLS 50 /* relax hints: about the time of a bucket's section */
#endif

struct table_latch_waiter {
    struct table_latch_waiter *older;   /* among the newcomers */
    struct table_latch_waiter *younger; /* in latch_oldest */
    struct pawl_parker *parker;
};

PAWL_STATIC struct table_latch_waiter *table_latch_youngest(ipawl_address_ word)
{
    return (struct table_latch_waiter *)(uintptr_t)(word & ~(TABLE_HELD | TABLE_QUEUED));
}

/* For the child of a fork by a handler, where no thread would wake it: the holder of the latch,
 * and the parker with which this thread waits for a latch (NULL: for none). */
#if defined(_WIN32) || PAWL_HOOKS /* no handler forks */
#define TABLE_HANDLERS_FORK false
#define TABLE_LATCH_HELD_BY(bucket, number) ((void)0)
#define TABLE_LATCH_PARKS(parker) ((void)0)
#define TABLE_LATCH_PARKER NULL
#else
#define TABLE_HANDLERS_FORK true
#define TABLE_LATCH_HELD_BY(bucket, number)                                                        \
    PAWL_ADDRESS_(pawl_store_relaxed)(&(bucket)->holder, number)
#define TABLE_LATCH_PARKER (pawl_os_own()->latch_parker)
#define TABLE_LATCH_PARKS(parker) ((void)(TABLE_LATCH_PARKER = (parker)))
#endif

PAWL_STATIC ipawl_address_ table_own_number(void)
{
    return (ipawl_address_)(uintptr_t)pawl_os_thread_slot();
}

/* How many latches the thread has, asks for or gives up. A signal handler reads it: one that has
 * interrupted such a thread may not sleep for a latch, as all might wait for that thread. */
#if PAWL_HOOKS || defined(PAWL_SIM) || !defined(__ELF__)
/* Threads of models and of the simulator would share the variable. Elsewhere no claim tries. */
#define TABLE_IS_INSIDE() true
PAWL_STATIC void table_latch_count(uint32_t change)
{
    (void)change;
}
#else
#define TABLE_IS_INSIDE() (pawl_os_own()->latches != 0 || TABLE_LATCH_PARKER != NULL)
PAWL_STATIC void table_latch_count(uint32_t change)
{
    HANDLERS_SEE_THIS_ORDER();
    pawl_os_own()->latches += change;
    HANDLERS_SEE_THIS_ORDER();
}
#endif

PAWL_STATIC void table_latch_drop(struct pawl_bucket *bucket);

/* The caller holds the latch. Whether a fork has left the parent's waiters to it. */
PAWL_STATIC bool table_latch_is_left(struct pawl_bucket *bucket)
{
    const ipawl_address_ seen = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch);
    if ((seen & TABLE_HELD) != 0 && (seen & TABLE_QUEUED) == 0)
        return false;
    PLAIN_READ(bucket->latch_oldest);
    return (seen & TABLE_HELD) == 0 || bucket->latch_oldest == NULL;
}

PAWL_STATIC void table_latch_clear(struct pawl_bucket *bucket)
{
    (void)PAWL_ADDRESS_(pawl_fetch_and_relaxed)(&bucket->latch, ~TABLE_QUEUED);
    (void)PAWL_ADDRESS_(pawl_fetch_or_relaxed)(&bucket->latch, TABLE_HELD);
    table_forget_parent(bucket);
}

PAWL_STATIC PAWL_COLD void table_latch_wait(struct pawl_bucket *bucket)
{
    ipawl_address_ *latch = &bucket->latch;
    struct pawl_parker room;
    struct table_latch_waiter self;
    unsigned polls = TABLE_POLLS;
    ipawl_address_ seen;

    pawl_os_told_plain(&self, sizeof self);
    self.younger = NULL;
    self.parker = pawl_parker_make(&room);
    TABLE_LATCH_PARKS(self.parker);
    for (;;) {
        seen = PAWL_ADDRESS_(pawl_load_relaxed)(latch);
        if ((seen & TABLE_HELD) == 0) {
            /* [TABLE_ENTER] acquire: the holder sees the list as the last holder left it. */
            if (PAWL_ADDRESS_(pawl_cas_acquire)(latch, &seen, seen | TABLE_HELD, PAWL_TABLE_ENTER))
                break;
        } else if (polls > 0) {
            polls--;
            pawl_cpu_relax();
        } else {
            self.older = table_latch_youngest(seen);
            PLAIN_WRITE(self);
            /* [TABLE_QUEUE] release: the waiter's entry is complete before the holder finds it. */
            if (PAWL_ADDRESS_(pawl_cas_release)(latch, &seen,
                                                (ipawl_address_)(uintptr_t)&self |
                                                    (seen & TABLE_QUEUED) | TABLE_HELD,
                                                PAWL_TABLE_QUEUE))
                (void)pawl_park(self.parker, PAWL_NO_DEADLINE);
        }
    }
    TABLE_LATCH_PARKS(NULL);
    /* When the parent forked, this thread was about to hold the latch, or another one held it. */
    if (PAWL_UNLIKELY(table_latch_is_left(bucket)))
        table_latch_clear(bucket);
}

PAWL_STATIC void table_latch_take(struct pawl_bucket *bucket)
{
    ipawl_address_ free_word = 0;
    table_latch_count(1);
    /* [TABLE_ENTER] acquire: the holder sees the list as the last holder left it. */
    if (PAWL_UNLIKELY(!PAWL_ADDRESS_(pawl_cas_acquire)(&bucket->latch, &free_word, TABLE_HELD,
                                                       PAWL_TABLE_ENTER)))
        table_latch_wait(bucket);
    TABLE_LATCH_HELD_BY(bucket, table_own_number());
}

/* Whether the calling thread has the latch, also in another copy of the library. */
PAWL_STATIC bool table_latch_is_own(const struct pawl_bucket *bucket)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->holder) == table_own_number();
}

/* Takes the latch. But in a handler that has interrupted its thread at a latch, only if it is free,
 * or becomes free in a moment. */
PAWL_STATIC bool table_latch_take_or_not(struct pawl_bucket *bucket)
{
    unsigned polls = TABLE_POLLS;
    if (!TABLE_IS_INSIDE() && !table_latch_is_own(bucket)) {
        table_latch_take(bucket);
        return true;
    }
    table_latch_count(1);
    for (;;) {
        ipawl_address_ seen = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch);
        if ((seen & TABLE_HELD) == 0 &&
            /* [TABLE_ENTER] acquire: the holder sees the list as the last holder left it. */
            PAWL_ADDRESS_(pawl_cas_acquire)(&bucket->latch, &seen, seen | TABLE_HELD,
                                            PAWL_TABLE_ENTER))
            break;
        if (polls-- == 0) {
            table_latch_count((uint32_t)-1);
            return false;
        }
        pawl_cpu_relax();
    }
    if (PAWL_UNLIKELY(table_latch_is_left(bucket)))
        table_latch_clear(bucket);
    TABLE_LATCH_HELD_BY(bucket, table_own_number());
    return true;
}

/* The newcomers leave the word for latch_oldest. Returns the oldest. */
PAWL_STATIC struct table_latch_waiter *table_latch_turn_round(struct pawl_bucket *bucket)
{
    struct table_latch_waiter *w, *younger = NULL;
    /* [TABLE_POP] acquire: the entries of the sleepers are complete. */
    ipawl_address_ seen =
        PAWL_ADDRESS_(pawl_exchange_acquire)(&bucket->latch, TABLE_HELD, PAWL_TABLE_POP);
    /* Each of them sleeps once for each step here, so the tests count their system calls. */
    for (w = table_latch_youngest(seen); w != NULL; w = w->older) {
        PLAIN_WRITE(*w);
        w->younger = younger;
        younger = w;
    }
    bucket->latch_oldest = younger;
    return younger;
}

/* A handler forked above the holder; this is the child, and the thread drops the latch. */
PAWL_STATIC void table_latch_drop_in_child(struct pawl_bucket *bucket)
{
    table_latch_clear(bucket);
    table_nobody_sleeps();
    table_latch_count(1); /* the drop counts once more */
    table_latch_drop(bucket);
}

/* Some waiter sleeps for the latch: drops it and wakes the oldest waiter, which must ask again. */
PAWL_STATIC PAWL_COLD void table_latch_wake(struct pawl_bucket *bucket)
{
    struct table_latch_waiter *oldest = bucket->latch_oldest;
    ipawl_address_ seen, queued;

    PLAIN_WRITE(bucket->latch_oldest);
    if (oldest == NULL)
        oldest = table_latch_turn_round(bucket);
    if (oldest == NULL) {
        table_latch_drop_in_child(bucket);
        return;
    }
    PLAIN_READ(*oldest);
    bucket->latch_oldest = oldest->younger;
    queued = oldest->younger != NULL ? TABLE_QUEUED : 0;
    seen = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch);
    do
        if ((seen & TABLE_HELD) == 0) {
            table_latch_drop_in_child(bucket);
            return;
        }
    /* [TABLE_LEAVE] release: the holder's changes of the list are done before the next holder. */
    while (!PAWL_ADDRESS_(pawl_cas_release)(
        &bucket->latch, &seen, (seen & ~(TABLE_HELD | TABLE_QUEUED)) | queued, PAWL_TABLE_LEAVE));
    pawl_unpark(oldest->parker);
}

PAWL_STATIC void table_latch_drop(struct pawl_bucket *bucket)
{
    ipawl_address_ alone = TABLE_HELD;
    TABLE_LATCH_HELD_BY(bucket, 0);
    /* [TABLE_LEAVE] release: the holder's changes of the list are done before the next holder. */
    if (PAWL_UNLIKELY(
            !PAWL_ADDRESS_(pawl_cas_release)(&bucket->latch, &alone, 0, PAWL_TABLE_LEAVE)))
        table_latch_wake(bucket);
    table_latch_count((uint32_t)-1);
}

#endif
