/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale: the mode, the lines of entries, the end of a thread and fork. entries_look.c
 * has those who look at the lines.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entries.h"

#include <stdlib.h>
#include <string.h>

#include <pawl/lock.h>

#include "lock_parts.h"

#if PAWL_SCALES_

#ifndef PAWL_ONE_FILE_
/* A program whose locks have one width does not contain the functions of the other. */
__attribute__((weak)) void PAWL_SYMBOL_(pawl_lock32_left)(const void *, uint32_t, uint32_t);
__attribute__((weak)) void PAWL_SYMBOL_(pawl_lock64_left)(const void *, uint64_t, uint64_t);
#endif

PAWL_SHARED_DEFINE(struct pawl_entries_all, entries_object);

/* ---- The mode -------------------------------------------------------------------------------- */

/* Harnesses choose for themselves. */
static enum entries_mode entries_mode = PAWL_CALLS_OUT_ ? ENTRIES_OFF : ENTRIES_EVIDENCE;
#define ENTRIES_MODE ((enum entries_mode)CONSTANT(BIAS, entries_mode))

static bool entries_kept;

PAWL_INTERNAL void entries_keep(void)
{
    entries_kept = true;
}

PAWL_INTERNAL enum entries_mode entries_mode_now(void)
{
    return ENTRIES_MODE;
}

void ipawl_entries_mode_(enum entries_mode mode)
{
    entries_mode = mode;
}

#if !PAWL_CALLS_OUT_
/* Each copy of the library reads the same environment. No other copy would see a stranger's
 * readers. */
PAWL_OS_EARLY static void entries_read_mode(void)
{
    static const char complaint[] =
        "pawl: PAWL_BIAS is none of evidence, on and off: readers scale by evidence\n";
    const char *const value = getenv("PAWL_BIAS");
    pawl_os_find_copies();
    if (pawl_os_is_stranger())
        entries_mode = ENTRIES_OFF;
    else if (value == NULL || value[0] == 0 || strcmp(value, "evidence") == 0)
        entries_mode = ENTRIES_EVIDENCE;
    else if (strcmp(value, "on") == 0)
        entries_mode = ENTRIES_ON;
    else if (strcmp(value, "off") == 0)
        entries_mode = ENTRIES_OFF;
    else
        pawl_os_complain(complaint, sizeof complaint - 1);
}
#endif

/* ---- The line of a thread -------------------------------------------------------------------- */

/* The owner of the line reads and writes this; the registry orders one owner after the other. It
 * does so in operations that ThreadSanitizer does not see, so these are atomic for it. */
#if PAWL_HOOKS
#define ENTRIES_JOINED(line) ((line)->joined != 0)
#define ENTRIES_JOIN(line, value) ((line)->joined = (value))
#else
#define ENTRIES_JOINED(line) (pawl_load_relaxed32(&(line)->joined) != 0)
#define ENTRIES_JOIN(line, value) pawl_store_relaxed32(&(line)->joined, value)
#endif

static void entries_set_busy(struct pawl_entries *line, uint32_t busy)
{
    ipawl_entries_count_(line, busy - ipawl_entries_busy_(line));
}

#if PAWL_HOOKS

struct pawl_entries *ipawl_thread_entries_(void)
{
    struct pawl_thread_line *line;
    struct pawl_entries *own;
    if (ENTRIES_MODE == ENTRIES_OFF)
        return PAWL_NO_ENTRIES_;
    line = thread_registered();
    own = line != NULL ? entries_line(entries_all(), thread_number(line)) : NULL;
    if (own != NULL && ENTRIES_JOINED(own))
        return own->hidden != 0 ? PAWL_NO_ENTRIES_ : own;
    return ENTRIES_MODE == ENTRIES_ON || line == NULL ? NULL : PAWL_NO_ENTRIES_;
}

static void entries_have(struct pawl_entries *own)
{
    (void)own; /* by its slot */
}

#else

static void entries_have(struct pawl_entries *own)
{
    HANDLERS_SEE_THIS_ORDER();
    pawl_os_own()->entries = own;
    HANDLERS_SEE_THIS_ORDER();
}

#endif

static void entries_note_used(uint32_t used)
{
    uint32_t seen = pawl_load_relaxed32(&entries_all()->used);
    while (seen < used && !pawl_cas_relaxed32(&entries_all()->used, &seen, used))
        continue;
}

/* Claimants look at the line from now on. Relaxed: the fence of ENTRY_TAKE follows. */
static void entries_show_line(uint32_t number)
{
    entries_note_used(number + 1);
    (void)pawl_fetch_or_relaxed32(&entries_all()->joined[number / 32], UINT32_C(1) << number % 32);
}

/* They pass it by. All its entries are free. */
static void entries_retire_line(struct pawl_entries *line, uint32_t number)
{
    const uint32_t bit = UINT32_C(1) << number % 32;
    const uint32_t reads = ipawl_entries_reads_(line);
    if (reads != 0)
        (void)pawl_fetch_add_relaxed32(&entries_all()->reads, reads);
    ipawl_entries_count_(line, 0 - reads * (PAWL_ENTRIES_BUSY_ + 1));
    /* [ENTRY_RETIRE] release: the thread's reads are done, and those that moved are in their words,
     * before a claimant passes the line by. */
    (void)pawl_fetch_and_release32(&entries_all()->joined[number / 32], ~bit, PAWL_ENTRY_RETIRE);
}

#if PAWL_HOOKS
#define ENTRIES_ASK(number) ((void)(number)) /* a harness has them */
#else
#define ENTRIES_ASK(number) entries_ask(number)

/* Memory that the system has refused is not asked for again. */
static uint32_t entries_refused;

/* Reserves the entries, with the line of that number. Before them the table of wait lists: a write
 * beside BIASED claims under a latch, and may ask for no memory either. */
static void entries_ask(uint32_t number)
{
    bool given;
    if (pawl_load_relaxed32(&entries_refused) != 0)
        return;
    given = PAWL_SHARED_ASK(struct pawl_lists, table_object) &&
            PAWL_SHARED_ASK(struct pawl_entries_all, entries_object);
    if (given && number >= ENTRIES_IN_BLOCK)
        given = pawl_os_shared_or_none(&entries_all()->blocks[number / ENTRIES_IN_BLOCK],
                                       sizeof entries_all()->lines) != NULL;
    if (!given)
        pawl_store_relaxed32(&entries_refused, 1);
}

#endif

/* In the first read of the thread: registers it and reserves its line, which needs system calls.
 * Later reads need none. A thread that gets no line here never has one. */
static void entries_start(void)
{
    const struct pawl_thread_line *const line = ipawl_thread_line_();
    ENTRIES_ASK(line != NULL ? thread_number(line) : 0);
}

/* A thread that has joined and shows no line hides it: this is a handler of it. */
PAWL_INTERNAL void entries_join(void)
{
    struct pawl_thread_line *line;
    struct pawl_entries *own;
    if (ipawl_entries_are_(PAWL_OWN_ENTRIES_))
        return;
    if (PAWL_OWN_ENTRIES_ == NULL)
        entries_start();
    pawl_os_must_be_known();
    line = thread_registered();
    own = line != NULL && entries_exist() ? entries_line(entries_all(), thread_number(line)) : NULL;
    if (own == NULL || ENTRIES_JOINED(own))
        return;
    entries_show_line(thread_number(line));
    own->eager = ENTRIES_MODE == ENTRIES_ON;
    entries_set_busy(own, own->eager);
    ENTRIES_JOIN(own, 1);
    entries_have(own);
    if (entries_kept)
        entries_recount(own);
}

PAWL_INTERNAL bool entries_first_drop(void)
{
    if (ENTRIES_MODE == ENTRIES_ON)
        entries_join();
    else if (ENTRIES_MODE == ENTRIES_EVIDENCE)
        entries_start();
    if (PAWL_OWN_ENTRIES_ == NULL && !pawl_os_is_stranger())
        entries_have(PAWL_NO_ENTRIES_);
    return ENTRIES_MODE == ENTRIES_ON && entries_exist();
}

PAWL_INTERNAL unsigned entries_find(struct pawl_entries *own, ipawl_address_ identity)
{
    unsigned i;
    ipawl_entries_hide_(own);
    for (i = 0; i < PAWL_ENTRIES; i++)
        if (PAWL_ADDRESS_(pawl_load_relaxed)(&own->locks[i]) == identity)
            return i;
    ipawl_entries_show_(own);
    return i;
}

static void entries_let_go(struct pawl_entries *own, unsigned i)
{
    /* [ENTRY_DROP] release: the reader's reads are done before a writer finds the entry free. */
    PAWL_ADDRESS_(pawl_store_release)(&own->locks[i], 0, PAWL_ENTRY_DROP);
}

static void entries_tell_waiters(struct pawl_entries *own)
{
    /* [ENTRY_LEFT] light: the entry is free before the reader looks whether a writer sleeps. */
    pawl_fence_light_known(PAWL_ENTRY_LEFT);
    if (pawl_load_relaxed32(&own->waiters) != 0)
        ipawl_entries_tell_(own);
}

PAWL_INTERNAL void entries_free(struct pawl_entries *own, unsigned i)
{
    entries_let_go(own, i);
    ipawl_entries_count_nothing_(own);
    ipawl_entries_show_(own);
    entries_tell_waiters(own);
}

/* Those that are not free. */
static uint32_t entries_in_line(const struct pawl_entries *line)
{
    uint32_t busy = 0;
    for (unsigned i = 0; i < PAWL_ENTRIES; i++)
        busy += PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[i]) != 0;
    return busy;
}

PAWL_INTERNAL void entries_recount(struct pawl_entries *own)
{
    if (PAWL_HOOKS) /* a change of the count is no step */
        return;
    ipawl_entries_hide_(own);
    entries_set_busy(own, own->eager + entries_in_line(own));
    ipawl_entries_show_(own);
}

/* The width is the identity's. */
static void entries_drop_in_word(ipawl_address_ identity)
{
    void *const lock = (void *)(uintptr_t)(identity & ~(ipawl_address_)1);
    if (identity & 1)
        ipawl_lock64_do_drop_read_counted_((pawl_lock64 *)lock);
    else
        ipawl_lock32_do_drop_read_counted_((pawl_lock32 *)lock);
}

/* A handler that read the same lock may have freed entry `i` and kept another one: then that is
 * freed. Where `i` still has the lock, it must be that one: a claimant may have passed the others
 * by, and they may be of reads that were granted. Where none has it, the handler's R is in the
 * word, and its drop has freed the entry instead. */
void ipawl_entries_take_back_(struct pawl_entries *own, unsigned i, ipawl_address_ identity)
{
    const unsigned first = entries_find(own, identity);
    if (first == PAWL_ENTRIES) {
        entries_recount(own);
        entries_drop_in_word(identity);
        return;
    }
    entries_free(own, PAWL_ADDRESS_(pawl_load_relaxed)(&own->locks[i]) == identity ? i : first);
}

void ipawl_entries_tell_(struct pawl_entries *own)
{
    /* [ENTRY_WAKE] release: the waiter that sees the new turn finds the entry free. */
    (void)pawl_fetch_add_release32(&own->turn, 1, PAWL_ENTRY_WAKE);
    (void)pawl_os_wake(&own->turn, UINT32_MAX);
}

/* ---- The end of a thread, and fork ----------------------------------------------------------- */

/* R goes to the word of the lock, whose width the identity tells. */
static void entries_count_in_word(ipawl_address_ identity)
{
    if (identity & 1)
        (void)pawl_fetch_add_relaxed64((uint64_t *)(uintptr_t)(identity & ~(ipawl_address_)1),
                                       PAWL_SPIN64_R);
    else
        (void)pawl_fetch_add_relaxed32((uint32_t *)(uintptr_t)identity, PAWL_SPIN32_R);
}

/* The claims of a parent's waiters have been taken back already. So what W is left holds the
 * lock, and an entry is of a reader that was about to give up. */
static bool entries_word_is_written(ipawl_address_ identity)
{
    const uintptr_t word = (uintptr_t)(identity & ~(ipawl_address_)1);
    return identity & 1 ? pawl_load_relaxed64((const uint64_t *)word) >= PAWL_SPIN64_W
                        : pawl_load_relaxed32((const uint32_t *)word) >= PAWL_SPIN32_W;
}

enum entries_end { ENTRIES_ENDS, ENTRIES_ENDED_UNSEEN, ENTRIES_STAYED_IN_PARENT };

/* The word has R before the entry is free. */
static void entries_end(struct pawl_entries *line, uint32_t number, enum entries_end how)
{
    for (unsigned i = 0; i < PAWL_ENTRIES; i++) {
        const ipawl_address_ identity = PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[i]);
        if (identity == 0)
            continue;
        if (how == ENTRIES_ENDS ||
            (how == ENTRIES_STAYED_IN_PARENT && !entries_word_is_written(identity)))
            entries_count_in_word(identity);
        entries_let_go(line, i);
    }
    entries_set_busy(line, 0);
    ENTRIES_JOIN(line, 0);
    if (PAWL_HOOKS)
        line->hidden = 0;
    entries_retire_line(line, number);
}

/* Claimants go on to look at a line that is kept. The next thread with its number has it then. */
static bool entries_stay(struct pawl_entries *line)
{
    const bool stay = entries_kept && entries_in_line(line) != 0;
    if (stay)
        ENTRIES_JOIN(line, 0);
    return stay;
}

static void entries_line_leaves(uint32_t number)
{
    struct pawl_entries *const own = entries_exist() ? entries_line(entries_all(), number) : NULL;
    if (own == NULL || !ENTRIES_JOINED(own))
        return;
    entries_have(PAWL_NO_ENTRIES_);
    if (entries_stay(own))
        return;
    entries_end(own, number, ENTRIES_ENDS);
    entries_tell_waiters(own);
}

/* The last owner ended without notice. The locks that it read may be gone. */
static void entries_line_claimed(uint32_t number, bool left_behind)
{
    struct pawl_entries *line;
    if (!left_behind || !entries_exist())
        return;
    line = entries_line(entries_all(), number);
    if (line != NULL && number < pawl_load_relaxed32(&entries_all()->used)) {
        entries_end(line, number, ENTRIES_ENDED_UNSEEN);
        entries_tell_waiters(line);
    }
}

/* The thread that gave an entry its bit stayed in the parent: no thread would take it away. One of
 * the calling thread is a read, which another thread kept in place. */
static void entries_try_no_more(struct pawl_entries *line, bool own)
{
    for (unsigned i = 0; i < PAWL_ENTRIES; i++) {
        const ipawl_address_ identity = PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[i]);
        const ipawl_address_ read = own ? identity & ~(ipawl_address_)PAWL_ENTRY_TRIES_ : 0;
        if (identity & PAWL_ENTRY_TRIES_)
            PAWL_ADDRESS_(pawl_store_relaxed)(&line->locks[i], read);
    }
}

/* Reads of other threads stay held: their R goes to the word, or they stay in their lines. */
static void entries_after_fork(void)
{
    const struct pawl_thread_line *const mine = thread_registered();
    struct pawl_entries_all *all;
    if (!entries_exist())
        return;
    all = entries_all();
    for (uint32_t i = 0; i < pawl_load_relaxed32(&all->used); i++) {
        struct pawl_entries *const line = entries_line(all, i);
        const bool own = mine != NULL && thread_number(mine) == i;
        if (line == NULL)
            continue;
        entries_try_no_more(line, own);
        if (!own && !entries_stay(line))
            entries_end(line, i, ENTRIES_STAYED_IN_PARENT);
        pawl_store_relaxed32(&line->waiters, 0);
    }
}

static const struct pawl_subsystem entries_subsystem = {
    entries_line_claimed, NULL, NULL, entries_line_leaves, NULL, entries_after_fork,
};
PAWL_SUBSYSTEM(PAWL_FLOOR_ENTRIES, entries_subsystem);

#endif
