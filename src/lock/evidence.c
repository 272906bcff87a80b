/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale: which locks get BIASED by evidence, and which lose it because looks at the
 * lines cost too much. doc/design/028-scaling-readers.md has the reasons. All accesses are hints.
 */
#include "entries.h"

#include "lock_parts.h"

#if PAWL_SCALES_

static struct entries_note *entries_note_of(ipawl_address_ identity)
{
    /* Fibonacci hashing: the upper bits of the product depend on all of the address. */
    return &entries_all()->notes[((uint32_t)(identity >> 2) * UINT32_C(2654435769)) >> 24];
}

/* The note of this lock, begun anew where it was another's. */
static struct entries_note *entries_own_note(ipawl_address_ identity)
{
    struct entries_note *const note = entries_note_of(identity);
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&note->identity) != identity) {
        PAWL_ADDRESS_(pawl_store_relaxed)(&note->identity, identity);
        pawl_store_relaxed32(&note->readers, 0);
        pawl_store_relaxed64(&note->begun, 0); /* the next timed look begins the account */
        pawl_store_relaxed64(&note->off_until, 0);
        pawl_store_relaxed64(&note->away, 0);
    }
    return note;
}

/* How many reads of any lock have ended in entries, roughly, modulo PAWL_ENTRIES_READS_. */
static uint32_t entries_reads(void)
{
    struct pawl_entries_all *const all = entries_all();
    const uint32_t used = pawl_load_relaxed32(&all->used);
    uint32_t reads = pawl_load_relaxed32(&all->reads), i, bits;
    for (i = 0; i < used; i += 32)
        for (bits = pawl_load_relaxed32(&all->joined[i / 32]); bits != 0; bits &= bits - 1) {
            const struct pawl_entries *const line = entries_line(all, i + entries_first(bits));
            reads += line != NULL ? ipawl_entries_reads_(line) : 0;
        }
    return reads;
}

static void entries_begin_account(struct entries_note *note, uint64_t now)
{
    pawl_store_relaxed32(&note->looks, 0);
    pawl_store_relaxed64(&note->spent, 0);
    pawl_store_relaxed32(&note->reads, entries_reads());
    pawl_store_relaxed64(&note->begun, now);
}

/* Whether the calling thread notes this meeting. A handler may lose one. */
#if PAWL_HOOKS
#define ENTRIES_IS_NOTED() true
#else
#define ENTRIES_IS_NOTED() (++pawl_os_own()->met % ENTRIES_NOTED == 0)
#endif

PAWL_INTERNAL bool entries_evidence(ipawl_address_ identity)
{
    struct entries_note *note;
    uint32_t readers;
    if (!entries_exist())
        return false;
    if (entries_mode_now() != ENTRIES_EVIDENCE)
        return entries_mode_now() == ENTRIES_ON;
    if (!ENTRIES_IS_NOTED())
        return false;
    note = entries_own_note(identity);
    readers = pawl_load_relaxed32(&note->readers) + ENTRIES_NOTED;
    if (readers >= ENTRIES_ENOUGH) {
        const uint64_t now = pawl_os_now();
        readers = 0; /* not each of them looks at the clock */
        if (now >= pawl_load_relaxed64(&note->off_until)) {
            pawl_store_relaxed64(&note->since, now);
            entries_begin_account(note, now);
            pawl_store_relaxed32(&note->readers, readers);
            return true;
        }
    }
    pawl_store_relaxed32(&note->readers, readers);
    return false;
}

PAWL_INTERNAL void entries_no_evidence(ipawl_address_ identity)
{
    struct entries_note *note;
    if (entries_mode_now() != ENTRIES_EVIDENCE || !entries_exist())
        return;
    note = entries_note_of(identity);
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&note->identity) == identity &&
        pawl_load_relaxed32(&note->readers) != 0)
        pawl_store_relaxed32(&note->readers, 0);
}

PAWL_INTERNAL struct entries_note *entries_note_to_time(ipawl_address_ identity)
{
    struct entries_note *note;
    uint32_t looks;
    if (entries_mode_now() != ENTRIES_EVIDENCE || !entries_exist())
        return NULL;
    note = entries_own_note(identity);
    looks = pawl_load_relaxed32(&note->looks) + 1;
    pawl_store_relaxed32(&note->looks, looks);
    return looks % ENTRIES_TIMED == 0 ? note : NULL;
}

/* For how long looks that cost so much keep BIASED away. */
static uint64_t entries_time_away(const struct entries_note *note, uint64_t now, uint64_t spent)
{
    const uint64_t last = pawl_load_relaxed64(&note->away);
    const uint64_t least = ENTRIES_AWAY * spent;
    if (now - pawl_load_relaxed64(&note->since) >= last || 2 * last < least)
        return least;
    return 2 * last < ENTRIES_LONGEST_AWAY_NS ? 2 * last : ENTRIES_LONGEST_AWAY_NS;
}

/* Whether each scan of the account kept many reads out of the word, and saved more time than has
 * passed. */
static bool entries_spare_much(const struct entries_note *note, uint32_t looks, uint64_t time)
{
    const uint32_t reads =
        (entries_reads() - pawl_load_relaxed32(&note->reads)) % PAWL_ENTRIES_READS_;
    return reads / ENTRIES_SPARED >= looks && (uint64_t)reads * ENTRIES_WORD_NS > time;
}

PAWL_INTERNAL enum entries_look entries_judge(struct entries_note *note, uint64_t now,
                                              uint64_t took)
{
    const uint64_t begun = pawl_load_relaxed64(&note->begun);
    const uint64_t spent = pawl_load_relaxed64(&note->spent) + ENTRIES_TIMED * took;
    const uint32_t looks = pawl_load_relaxed32(&note->looks);
    if (begun == 0) {
        entries_begin_account(note, now);
    } else if (looks >= ENTRIES_LEAST && spent > (now - begun) / ENTRIES_PARTS &&
               !entries_spare_much(note, looks, now - begun)) {
        const uint64_t away = entries_time_away(note, now, spent);
        pawl_store_relaxed64(&note->away, away);
        pawl_store_relaxed64(&note->off_until, now + away);
        return ENTRIES_TOO_DEAR;
    } else if (looks >= ENTRIES_WINDOW) {
        entries_begin_account(note, now);
    } else {
        pawl_store_relaxed64(&note->spent, spent);
    }
    return ENTRIES_GONE;
}

#endif
