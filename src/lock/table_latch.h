/* SPDX-License-Identifier: MIT */
/*
 * The latch of a bucket, for table.c alone.
 *
 * It is not the latch of src/base/latch.h, which sleeps on the system's word. This one must serve
 * systems that have no such word, and a bucket's waiter has a parker anyway. A holder holds it for
 * a few instructions. Its waiters nevertheless sleep: threads may outnumber the cores, and some may
 * be real-time. Of the system it needs only parkers, and zero bytes are a free latch.
 *
 * The word has HELD, QUEUED and the address of the youngest newcomer; each names the next older
 * one. A holder that drops the latch wakes one waiter, which must ask again. The holder takes all
 * newcomers at once and turns their order round, so the oldest is at hand for the next drops:
 * QUEUED says that latch_oldest has some. Only the holder removes waiters, so reuse of an entry
 * does no harm.
 */
#ifndef PAWL_TABLE_LATCH_H
#define PAWL_TABLE_LATCH_H

#include "table.h"

#define TABLE_HELD ((pawl_address_)1)
#define TABLE_QUEUED ((pawl_address_)2)
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

PAWL_STATIC struct table_latch_waiter *table_latch_youngest(pawl_address_ word)
{
    return (struct table_latch_waiter *)(uintptr_t)(word & ~(TABLE_HELD | TABLE_QUEUED));
}

PAWL_STATIC PAWL_COLD void table_latch_wait(pawl_address_ *latch)
{
    struct pawl_parker room;
    struct table_latch_waiter self;
    unsigned polls = TABLE_POLLS;
    pawl_address_ seen;

    pawl_os_told_plain(&self, sizeof self);
    self.younger = NULL;
    self.parker = pawl_parker_make(&room);
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
                                                (pawl_address_)(uintptr_t)&self |
                                                    (seen & TABLE_QUEUED) | TABLE_HELD,
                                                PAWL_TABLE_QUEUE))
                (void)pawl_park(self.parker, PAWL_NO_DEADLINE);
        }
    }
    pawl_parker_done(self.parker);
}

PAWL_STATIC void table_latch_take(struct pawl_bucket *bucket)
{
    pawl_address_ free_word = 0;
    /* [TABLE_ENTER] acquire: the holder sees the list as the last holder left it. */
    if (PAWL_UNLIKELY(!PAWL_ADDRESS_(pawl_cas_acquire)(&bucket->latch, &free_word, TABLE_HELD,
                                                       PAWL_TABLE_ENTER)))
        table_latch_wait(&bucket->latch);
}

/* The newcomers leave the word for latch_oldest. */
PAWL_STATIC void table_latch_turn_round(struct pawl_bucket *bucket)
{
    struct table_latch_waiter *w, *younger = NULL;
    /* [TABLE_POP] acquire: the entries of the sleepers are complete. */
    pawl_address_ seen = PAWL_ADDRESS_(pawl_exchange_acquire)(&bucket->latch, TABLE_HELD,
                                                              PAWL_TABLE_POP);
    for (w = table_latch_youngest(seen); w != NULL; w = w->older) {
        TABLE_STEP();
        PLAIN_WRITE(*w);
        w->younger = younger;
        younger = w;
    }
    bucket->latch_oldest = younger;
}

/* Some waiter sleeps for the latch: drops it and wakes the oldest waiter, which must ask again. */
PAWL_STATIC PAWL_COLD void table_latch_wake(struct pawl_bucket *bucket)
{
    struct table_latch_waiter *oldest;
    pawl_address_ seen, queued;

    PLAIN_WRITE(bucket->latch_oldest);
    if (bucket->latch_oldest == NULL)
        table_latch_turn_round(bucket);
    oldest = bucket->latch_oldest;
    PLAIN_READ(*oldest);
    bucket->latch_oldest = oldest->younger;
    queued = oldest->younger != NULL ? TABLE_QUEUED : 0;
    seen = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch);
    do
        continue;
    /* [TABLE_LEAVE] release: the holder's changes of the list are done before the next holder. */
    while (!PAWL_ADDRESS_(pawl_cas_release)(
        &bucket->latch, &seen, (seen & ~(TABLE_HELD | TABLE_QUEUED)) | queued, PAWL_TABLE_LEAVE));
    pawl_unpark(oldest->parker);
}

PAWL_STATIC void table_latch_drop(struct pawl_bucket *bucket)
{
    pawl_address_ alone = TABLE_HELD;
    /* [TABLE_LEAVE] release: the holder's changes of the list are done before the next holder. */
    if (PAWL_UNLIKELY(!PAWL_ADDRESS_(pawl_cas_release)(&bucket->latch, &alone, 0,
                                                       PAWL_TABLE_LEAVE)))
        table_latch_wake(bucket);
}

#endif
