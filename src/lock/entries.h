/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale, as the waiting half sees them: whether a lock gets BIASED, the look at the
 * lines of all threads, and the wait for one entry. pawl/detail/entries.h has what readers do.
 * An identity names a lock; nothing here touches a lock's memory, except for threads that end.
 */
#ifndef PAWL_LOCK_ENTRIES_H
#define PAWL_LOCK_ENTRIES_H

#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/detail/entries.h>

#include "../base/base.h"

#if PAWL_SCALES_

/* When readers scale (PAWL_BIAS). OFF: never. ON: each lock from its first drop of R on. EVIDENCE:
 * where readers meet each other, and writers come seldom. */
enum entries_mode { ENTRIES_OFF, ENTRIES_ON, ENTRIES_EVIDENCE };

PAWL_C_BEGIN

/* For tests and models, before any lock is used; programs have the environment. */
PAWL_API void PAWL_SYMBOL_(pawl_entries_mode)(enum entries_mode mode);

PAWL_C_END

#define ipawl_entries_mode_ PAWL_SYMBOL_(pawl_entries_mode)

/* ---- Whether a lock scales ---------------------------------------------------------------------
 *
 *   state     event                                            next
 *   counting  readers meet ENTRIES_ENOUGH times, and no        scaling
 *             writer between
 *   scaling   the scans of ENTRIES_LEAST looks or more took    banned
 *             over 1/ENTRIES_PARTS of the time, and spared
 *             the word too few reads
 *   banned    the ban is over                                  counting
 *
 * A lock that scales has BIASED. A look is a writer's scan of all entries. */

/* A lock gets BIASED after this many readers have met another reader, with no writer between. */
#define ENTRIES_ENOUGH 24

/* Sample: each thread records every 8th meeting and counts it as 8. Otherwise all readers would
 * write one more line. */
#define ENTRIES_NOTED (PAWL_HOOKS ? 1 : 8)

/* Scans may take this part of the time: a third. BRAVO (Dice and Kogan, 2019) has a tenth. */
#define ENTRIES_PARTS 3

/* A lock whose scans take longer keeps BIASED if each of them kept this many reads out of the word.
 * With fewer, many simulated cores lose (doc/sim.md). */
#define ENTRIES_SPARED (PAWL_HOOKS ? 2 : 16)

/* The reads must also have saved more time than has passed, at so many ns each: in that time a line
 * moves twice. Otherwise the long look at many lines would count as a gain. */
#define ENTRIES_WORD_NS (PAWL_HOOKS ? 4 : 200)

/* Every 4th scan is timed and counts as 4: the clock costs as much as a short scan. */
#define ENTRIES_TIMED 4

/* An account of fewer scans is not judged: one slow scan would decide. */
#define ENTRIES_LEAST (PAWL_HOOKS ? 8 : 32)

/* After this many scans the account begins anew, so that it tells of the present. */
#define ENTRIES_WINDOW (PAWL_HOOKS ? 16 : 64)

/* The ban lasts this many times as long as the scans took. If BIASED came back for less time than
 * the ban had lasted, the next ban lasts twice as long as the last, at most to this end. */
#define ENTRIES_AWAY 9
#define ENTRIES_LONGEST_AWAY_NS 10000000

/* ---- The object of the process --------------------------------------------------------------- */

/* The lines lie in blocks. A thread asks for the block of its line. So a program reserves address
 * space for the threads that it has. */
#if PAWL_HOOKS
#define ENTRIES_LINES 64 /* threads of a harness */
#define ENTRIES_IN_BLOCK ENTRIES_LINES
#else
#define ENTRIES_LINES PAWL_THREAD_LINES
#define ENTRIES_IN_BLOCK 256 /* 32 KiB */
#endif

/* The evidence about a lock. Locks that share a note mislead each other: that costs time only. */
struct entries_note {
    ipawl_address_ identity;
    uint32_t readers; /* that met another reader, since the last that met a writer */
    uint32_t looks;   /* since `begun` */
    uint32_t reads;   /* entries_reads() at `begun` */
    uint64_t begun __attribute__((aligned(8))); /* ns: since then looks have taken `spent` */
    uint64_t spent __attribute__((aligned(8)));
    uint64_t since __attribute__((aligned(8)));     /* ns: when the lock got BIASED */
    uint64_t off_until __attribute__((aligned(8))); /* ns: it gets no BIASED before */
    uint64_t away __attribute__((aligned(8)));      /* ns: for so long it had none the last time */
};

enum { ENTRIES_NOTES = 256 };

struct pawl_entries_all {
    uint32_t used;  /* lines[used...] have never been used */
    uint32_t reads; /* of threads that have given their lines back (entries_reads) */
    /* A bit for each line that a thread has. Claimants look at these lines only. */
    uint32_t joined[ENTRIES_LINES / 32];
    struct entries_note notes[ENTRIES_NOTES];
    struct pawl_entries lines[ENTRIES_IN_BLOCK];
#if !PAWL_HOOKS
    /* Of lines[ENTRIES_IN_BLOCK...]: where block [number / ENTRIES_IN_BLOCK] lies, or 0. */
    ipawl_address_ blocks[ENTRIES_LINES / ENTRIES_IN_BLOCK];
#endif
};

PAWL_SHARED_DECLARE(struct pawl_entries_all, entries_object);

static inline struct pawl_entries_all *entries_all(void)
{
    return PAWL_SHARED(struct pawl_entries_all, entries_object);
}

/* Whether a thread has asked for it, and got it. Without it no lock has BIASED. */
static inline bool entries_exist(void)
{
    return PAWL_SHARED_IS_THERE(entries_object);
}

/* The line of that number, or NULL: no thread has got its block. */
#if !PAWL_HOOKS
static inline struct pawl_entries *entries_line(struct pawl_entries_all *all, uint32_t number)
{
    ipawl_address_ *const block = &all->blocks[number % ENTRIES_LINES / ENTRIES_IN_BLOCK];
    if (number >= ENTRIES_IN_BLOCK && number < ENTRIES_LINES)
        return PAWL_ADDRESS_(pawl_load_relaxed)(block) == 0
                   ? NULL
                   : (struct pawl_entries *)pawl_os_shared_or_none(block, sizeof all->lines) +
                         number % ENTRIES_IN_BLOCK;
    return number < ENTRIES_IN_BLOCK ? &all->lines[number] : NULL;
}
#else
static inline struct pawl_entries *entries_line(struct pawl_entries_all *all, uint32_t number)
{
    return number < ENTRIES_IN_BLOCK ? &all->lines[number] : NULL;
}
#endif

/* The number of the lowest bit that is set. */
static inline uint32_t entries_first(uint32_t bits)
{
    return (uint32_t)__builtin_ctz(bits);
}

/* ---- What the waiting half calls ------------------------------------------------------------- */

/* The result of a claimant's scan. */
enum entries_look {
    ENTRIES_IN_USE, /* a reader is in, and the deadline has passed */
    ENTRIES_GONE,
    ENTRIES_TOO_DEAR /* gone; but looks at this lock cost writers too much of their time */
};

PAWL_INTERNAL enum entries_mode entries_mode_now(void);
/* The calling thread has a line from now on, if there is one for it. Makes no system call but in
 * the thread's first read. */
PAWL_INTERNAL void entries_join(void);
/* The first drop of the calling thread, which reserves what later reads need; true where BIASED
 * comes with it. */
PAWL_INTERNAL bool entries_first_drop(void);
/* A reader has met another reader at the word. True: its lock is to get BIASED now. */
PAWL_INTERNAL bool entries_evidence(ipawl_address_ identity);
/* A reader has met W there. */
PAWL_INTERNAL void entries_no_evidence(ipawl_address_ identity);
/* A look begins: its note, where it is to be timed. */
PAWL_INTERNAL struct entries_note *entries_note_to_time(ipawl_address_ identity);
/* A timed look has ended, and took so long. */
PAWL_INTERNAL enum entries_look entries_judge(struct entries_note *note, uint64_t now,
                                              uint64_t took);
/* W of the caller is in the word. Looks at the entries of all threads, and waits for each that has
 * the lock. With a deadline of 0 it does not wait. */
PAWL_INTERNAL enum entries_look entries_wait(ipawl_address_ identity, uint64_t deadline);
/* Whether an entry has the lock at this instant. */
PAWL_INTERNAL bool entries_are_in_use(ipawl_address_ identity);
/* From now on a thread that ends leaves its reads in its line, so that it touches no lock. So does
 * the child of a fork with the reads of the parent's other threads. For the preload library, where
 * any thread may end a read, and a lock may end while it is read. */
PAWL_INTERNAL void entries_keep(void);
/* How many have it. */
PAWL_INTERNAL unsigned entries_count(ipawl_address_ identity);
/* Hides the line and returns the number of its entry of that lock; PAWL_ENTRIES: there is none, and
 * nothing is hidden. */
PAWL_INTERNAL unsigned entries_find(struct pawl_entries *own, ipawl_address_ identity);
/* The caller has found no entry of a lock that it reads. Its R is in the word, where a handler may
 * have moved it: one whose read counted there, and whose drop freed the entry. It may have come
 * between the load and the store of the count of entries, so these are counted anew. */
PAWL_INTERNAL void entries_recount(struct pawl_entries *own);
/* Frees that entry, shows the line, and wakes who waits for it. */
PAWL_INTERNAL void entries_free(struct pawl_entries *own, unsigned i);

#endif
#endif
