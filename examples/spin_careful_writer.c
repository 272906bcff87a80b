/* SPDX-License-Identifier: MIT */
/*
 * A journal whose writers never keep readers out. S lets one writer in at a time and all readers
 * beside it. The writer is careful: a record is complete before one atomic store makes it visible,
 * and after that it never changes. Readers need R only because of clearing, the one operation that
 * needs W: it frees the records that they may be looking at.
 */
#include <stdatomic.h>

#include <pawl/spin.h>

#include "example.h"

struct record {
    const struct record *older;
    long number; /* counts up by one from record to record */
    long square; /* number * number */
};

struct journal {
    pawl_spin32 lock;
    long next_number; /* under S */
    _Atomic(const struct record *) latest;
};

/* Beside the readers. */
void journal_append(struct journal *j)
{
    struct record *r = (struct record *)malloc(sizeof *r);

    CHECK(r);
    pawl_take_seek(&j->lock);
    r->number = j->next_number++;
    r->square = r->number * r->number;
    r->older = atomic_load_explicit(&j->latest, memory_order_relaxed);
    /* Release: the record is whole before it can be seen. Pairs with the load in journal_check. */
    atomic_store_explicit(&j->latest, r, memory_order_release);
    pawl_drop_seek(&j->lock);
}

/* The number of records; they are whole and without a gap, also while a writer appends. */
long journal_check(struct journal *j)
{
    long n = 0;

    pawl_take_read(&j->lock);
    for (const struct record *r = atomic_load_explicit(&j->latest, memory_order_acquire); r;
         r = r->older) {
        CHECK(r->square == r->number * r->number);
        CHECK(!r->older || r->older->number == r->number - 1);
        n++;
    }
    pawl_drop_read(&j->lock);
    return n;
}

/* Alone for a moment; the records are freed after that, when no thread can reach them. */
long journal_clear(struct journal *j)
{
    long n = 0;

    pawl_take_write(&j->lock);
    const struct record *r = atomic_load_explicit(&j->latest, memory_order_relaxed);
    atomic_store_explicit(&j->latest, NULL, memory_order_relaxed);
    pawl_drop_write(&j->lock);
    while (r) {
        const struct record *older = r->older;
        free((void *)(uintptr_t)r);
        r = older;
        n++;
    }
    return n;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { RECORDS = 600000 / EXAMPLE_LESS, WRITERS = 2, ENOUGH = 100 };

static struct journal journal;
static long cleared;
static atomic_int writing = WRITERS;

static void *append(void *arg)
{
    (void)arg;
    for (int i = 0; i < RECORDS; i++)
        journal_append(&journal);
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

static void *watch(void *arg)
{
    (void)arg;
    while (atomic_load(&writing) > 0)
        CHECK(journal_check(&journal) <= (long)WRITERS * RECORDS);
    return NULL;
}

/* Clears whenever some more records are there. */
static void *clear(void *arg)
{
    (void)arg;
    while (atomic_load(&writing) > 0)
        if (journal_check(&journal) >= ENOUGH)
            cleared += journal_clear(&journal);
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {append, append, watch, clear};

    run_threads(4, work);
    CHECK(journal.next_number == (long)WRITERS * RECORDS);
    CHECK(cleared + journal_check(&journal) == (long)WRITERS * RECORDS);
    cleared += journal_clear(&journal);
    CHECK(cleared == (long)WRITERS * RECORDS && journal_check(&journal) == 0);
    CHECK(pawl_spin32_is_free(&journal.lock));
    printf("%ld records written and read, none lost\n", cleared);
    return 0;
}
