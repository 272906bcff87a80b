/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale: the lines of entries, and those who look at them.
 *
 * A claimant looks at all lines that were ever in use, once its W is in the word. It reads each
 * entry until that is another's or free. It never goes back: as W keeps readers out, no entry gets
 * the lock again, except for the moment in which a reader tries and fails.
 *
 * The wait for one entry. The waiter counts itself on the reader's line, makes all threads pass a
 * fence, looks at the entry once more, and sleeps. The reader frees the entry and looks at the
 * count. So one of them sees the other. The reader has no fence there. Where the system cannot make
 * it pass one, the waiter sleeps for short times only. It needs no agreement with the reader for
 * that, and a filter that forbids membarrier later ends no program.
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

/* The pauses of a waiter without a heavy fence: from the first, doubled, to the longest. */
#define ENTRIES_FIRST_PAUSE_NS 50000
#define ENTRIES_LONGEST_PAUSE_NS 1000000

PAWL_SHARED_DEFINE(struct pawl_entries_all, entries_object);

/* So many lines a claimant asks for before it reads them: about as many as a core waits for at a
 * time. Each has come from another core, and one after the other they would take that long each. */
#define ENTRIES_AHEAD 8

/* ---- The mode -------------------------------------------------------------------------------- */

/* Harnesses choose for themselves. */
static enum entries_mode entries_mode = PAWL_CALLS_OUT_ ? ENTRIES_OFF : ENTRIES_EVIDENCE;
#define ENTRIES_MODE ((enum entries_mode)CONSTANT(BIAS, entries_mode))

PAWL_INTERNAL enum entries_mode entries_mode_now(void)
{
    return ENTRIES_MODE;
}

void pawl_entries_mode_(enum entries_mode mode)
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
    pawl_entries_count_(line, busy - pawl_entries_busy_(line));
}

#if PAWL_HOOKS

struct pawl_entries *pawl_thread_entries_(void)
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

PAWL_THREAD_SHARED_DEFINE(struct pawl_entries *, thread_entries);

static void entries_have(struct pawl_entries *own)
{
    HANDLERS_SEE_THIS_ORDER();
    PAWL_OWN_ENTRIES_ = own;
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
    const uint32_t reads = pawl_entries_reads_(line);
    if (reads != 0)
        (void)pawl_fetch_add_relaxed32(&entries_all()->reads, reads);
    pawl_entries_count_(line, 0 - reads * (PAWL_ENTRIES_BUSY_ + 1));
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
    given = PAWL_SHARED_ASK(struct pawl_table, table_object) &&
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
    const struct pawl_thread_line *const line = pawl_thread_line_();
    ENTRIES_ASK(line != NULL ? thread_number(line) : 0);
}

/* A thread that has joined and shows no line hides it: this is a handler of it. */
PAWL_INTERNAL void entries_join(void)
{
    struct pawl_thread_line *line;
    struct pawl_entries *own;
    if (pawl_entries_are_(PAWL_OWN_ENTRIES_))
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

PAWL_INTERNAL unsigned entries_find(struct pawl_entries *own, pawl_address_ identity)
{
    unsigned i;
    pawl_entries_hide_(own);
    for (i = 0; i < PAWL_ENTRIES; i++)
        if (PAWL_ADDRESS_(pawl_load_relaxed)(&own->locks[i]) == identity)
            return i;
    pawl_entries_show_(own);
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
        pawl_entries_tell_(own);
}

PAWL_INTERNAL void entries_free(struct pawl_entries *own, unsigned i)
{
    entries_let_go(own, i);
    pawl_entries_count_(own, (uint32_t)-1);
    pawl_entries_show_(own);
    entries_tell_waiters(own);
}

PAWL_INTERNAL void entries_recount(struct pawl_entries *own)
{
#if PAWL_HOOKS
    (void)own; /* a change of the count is no step */
#else
    uint32_t busy = own->eager;
    unsigned i;
    pawl_entries_hide_(own);
    for (i = 0; i < PAWL_ENTRIES; i++)
        busy += PAWL_ADDRESS_(pawl_load_relaxed)(&own->locks[i]) != 0;
    entries_set_busy(own, busy);
    pawl_entries_show_(own);
#endif
}

/* The width is the identity's. */
static void entries_drop_in_word(pawl_address_ identity)
{
    void *const lock = (void *)(uintptr_t)(identity & ~(pawl_address_)1);
    if (identity & 1)
        pawl_lock64_do_drop_read_counted_((pawl_lock64 *)lock);
    else
        pawl_lock32_do_drop_read_counted_((pawl_lock32 *)lock);
}

/* A handler that read the same lock may have freed entry `i` and kept another one: then that is
 * freed. Where `i` still has the lock, it must be that one: a claimant may have passed the others
 * by, and they may be of reads that were granted. Where none has it, the handler's R is in the
 * word, and its drop has freed the entry instead. */
void pawl_entries_take_back_(struct pawl_entries *own, unsigned i, pawl_address_ identity)
{
    const unsigned first = entries_find(own, identity);
    if (first == PAWL_ENTRIES) {
        entries_recount(own);
        entries_drop_in_word(identity);
        return;
    }
    entries_free(own, PAWL_ADDRESS_(pawl_load_relaxed)(&own->locks[i]) == identity ? i : first);
}

void pawl_entries_tell_(struct pawl_entries *own)
{
    /* [ENTRY_WAKE] release: the waiter that sees the new turn finds the entry free. */
    (void)pawl_fetch_add_release32(&own->turn, 1, PAWL_ENTRY_WAKE);
    (void)pawl_os_wake(&own->turn, UINT32_MAX);
}

/* ---- The look -------------------------------------------------------------------------------- */

static bool entries_have_it(const struct pawl_entries *line, unsigned i, pawl_address_ identity)
{
    /* [ENTRY_GONE] acquire: the claimant's accesses follow the reads of the reader that has freed
     * the entry. */
    return PAWL_ADDRESS_(pawl_load_acquire)(&line->locks[i], PAWL_ENTRY_GONE) == identity;
}

/* Reads the entry in a loop for a while. */
static bool entries_loop(const struct pawl_entries *line, unsigned i, pawl_address_ identity,
                         uint64_t deadline)
{
    struct loop loop = LOOP_INIT;
    while (entries_have_it(line, i, identity))
        if (!lock_loop_on(&loop, deadline))
            return false;
    return true;
}

/* Sleeps until the line's turn is another one; false when the deadline has passed. `pause`: how
 * long at most, 0 where the reader wakes the caller. */
static bool entries_pause(struct pawl_entries *line, uint32_t turn, uint64_t deadline,
                          uint64_t *pause)
{
    uint64_t until = deadline;
    uint64_t now;
    if (*pause == 0)
        return pawl_os_wait(&line->turn, turn, deadline);
    now = pawl_os_now();
    if (now >= deadline)
        return false;
    if (deadline - now > *pause)
        until = pawl_os_now() + *pause;
    if (*pause < ENTRIES_LONGEST_PAUSE_NS)
        *pause *= 2;
    return pawl_os_wait(&line->turn, turn, until) || pawl_os_now() < deadline;
}

/* Waits until the entry no longer has the lock. */
static PAWL_COLD bool entries_wait_for(struct pawl_entries *line, unsigned i,
                                       pawl_address_ identity, uint64_t deadline)
{
    bool in_time = true;
    bool free;
    uint64_t pause;
    if (entries_loop(line, i, identity, deadline))
        return true;
    (void)pawl_fetch_add_relaxed32(&line->waiters, 1);
    /* [ENTRY_SLEEP] heavy: the waiter is counted before it looks at the entry once more. */
    pause = pawl_fence_heavy_or_not(PAWL_ENTRY_SLEEP) ? 0 : ENTRIES_FIRST_PAUSE_NS;
    for (;;) {
        /* [ENTRY_WOKEN] acquire: the entry is as new as the turn. */
        const uint32_t turn = pawl_load_acquire32(&line->turn, PAWL_ENTRY_WOKEN);
        free = !entries_have_it(line, i, identity);
        if (free || !in_time)
            break;
        in_time = entries_pause(line, turn, deadline, &pause);
    }
    (void)pawl_fetch_sub_relaxed32(&line->waiters, 1);
    return free;
}

/* Unrolled: nearly all of a look is this. */
static inline PAWL_ALWAYS_INLINE_ bool entries_line_has(const struct pawl_entries *line,
                                                        pawl_address_ identity)
{
    unsigned i;
#pragma GCC unroll 8
    for (i = 0; i < PAWL_ENTRIES; i++)
        if (PAWL_UNLIKELY(entries_have_it(line, i, identity)))
            return true;
    return false;
}

/* The line has the lock, or had it a moment ago. */
static PAWL_COLD bool entries_line_is_left(struct pawl_entries *line, pawl_address_ identity,
                                           uint64_t deadline, uint64_t *waited)
{
    unsigned i;
    for (i = 0; i < PAWL_ENTRIES; i++) {
        uint64_t begun;
        bool left;
        if (!entries_have_it(line, i, identity))
            continue;
        begun = pawl_os_now();
        if (begun >= deadline) /* a fence of all threads, and a sleep, would come too late */
            return false;
        left = entries_wait_for(line, i, identity, deadline);
        *waited += pawl_os_now() - begun;
        if (!left)
            return false;
    }
    return true;
}

/* Asks for the line that the lowest bit stands for; the bits that are left. */
static uint32_t entries_ask_for(const struct pawl_entries *lines, uint32_t bits)
{
    if (bits == 0)
        return 0;
    ASK_AHEAD(&lines[entries_first(bits)]);
    return bits & (bits - 1);
}

/* The number of the first of these lines that has the lock; 32: none. */
static uint32_t entries_among(const struct pawl_entries *lines, uint32_t bits,
                              pawl_address_ identity)
{
    uint32_t ahead = bits, i;
    for (i = 0; i < ENTRIES_AHEAD; i++)
        ahead = entries_ask_for(lines, ahead);
    for (; bits != 0; bits &= bits - 1) {
        ahead = entries_ask_for(lines, ahead);
        if (PAWL_UNLIKELY(entries_line_has(&lines[entries_first(bits)], identity)))
            return entries_first(bits);
    }
    return 32;
}

/* The next line, from number *i on, that has the lock; *i is then the number behind it. NULL: no
 * further line has it. */
static struct pawl_entries *entries_next(pawl_address_ identity, uint32_t *i)
{
    struct pawl_entries_all *all;
    uint32_t used;
    if (!entries_exist())
        return NULL;
    all = entries_all();
    used = pawl_load_relaxed32(&all->used);
    for (; *i < used; *i = (*i | 31) + 1) {
        /* [ENTRY_RETIRED] acquire: the claimant's accesses follow the reads of the threads whose
         * lines it passes by, and it finds their R in the word. */
        const uint32_t joined = pawl_load_acquire32(&all->joined[*i / 32], PAWL_ENTRY_RETIRED);
        const uint32_t bits = joined & UINT32_MAX << *i % 32;
        struct pawl_entries *const lines = bits != 0 ? entries_line(all, *i & ~31u) : NULL;
        const uint32_t found = lines != NULL ? entries_among(lines, bits, identity) : 32;
        if (found < 32) {
            *i = (*i & ~31u) + found + 1;
            return &lines[found];
        }
    }
    return NULL;
}

PAWL_INTERNAL enum entries_look entries_wait(pawl_address_ identity, uint64_t deadline)
{
    struct entries_note *const note = entries_note_to_time(identity);
    const uint64_t begun = note != NULL ? pawl_os_now() : 0;
    struct pawl_entries *line;
    uint64_t waited = 0, now;
    uint32_t i = 0;
    pawl_os_must_be_known();
    /* [ENTRY_LOOK] full: W is in the word before the claimant looks at the entries. */
    pawl_fence_full(PAWL_ENTRY_LOOK);
    while ((line = entries_next(identity, &i)) != NULL)
        if (!entries_line_is_left(line, identity, deadline, &waited))
            return ENTRIES_IN_USE;
    if (note == NULL)
        return ENTRIES_GONE;
    now = pawl_os_now();
    return entries_judge(note, now, now - begun - waited);
}

PAWL_INTERNAL bool entries_are_in_use(pawl_address_ identity)
{
    uint32_t i = 0;
    pawl_os_must_be_known();
    return entries_next(identity, &i) != NULL;
}

PAWL_INTERNAL unsigned entries_count(pawl_address_ identity)
{
    const struct pawl_entries *line;
    unsigned count = 0, entry;
    uint32_t i = 0;
    while ((line = entries_next(identity, &i)) != NULL)
        for (entry = 0; entry < PAWL_ENTRIES; entry++)
            count += PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[entry]) == identity;
    return count;
}

/* ---- The end of a thread, and fork ----------------------------------------------------------- */

/* R goes to the word of the lock, whose width the identity tells. */
static void entries_count_in_word(pawl_address_ identity)
{
    if (identity & 1)
        (void)pawl_fetch_add_relaxed64((uint64_t *)(uintptr_t)(identity & ~(pawl_address_)1),
                                       PAWL_SPIN64_R);
    else
        (void)pawl_fetch_add_relaxed32((uint32_t *)(uintptr_t)identity, PAWL_SPIN32_R);
}

/* The claims of a parent's waiters have been taken back already. So what W is left holds the
 * lock, and an entry is of a reader that was about to give up. */
static bool entries_word_is_written(pawl_address_ identity)
{
    const uintptr_t word = (uintptr_t)(identity & ~(pawl_address_)1);
    return identity & 1 ? pawl_load_relaxed64((const uint64_t *)word) >= PAWL_SPIN64_W
                        : pawl_load_relaxed32((const uint32_t *)word) >= PAWL_SPIN32_W;
}

enum entries_end { ENTRIES_ENDS, ENTRIES_ENDED_UNSEEN, ENTRIES_STAYED_IN_PARENT };

/* The thread ends. First the word has R, then the entry is free. In the preload library another
 * thread may free the entry under the latch. */
static void entries_move(struct pawl_entries *line, unsigned i, pawl_address_ identity)
{
    struct pawl_bucket *const bucket =
        table_lock((void *)(uintptr_t)(identity & ~(pawl_address_)1));
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[i]) == identity) {
        entries_count_in_word(identity);
        entries_let_go(line, i);
    }
    table_unlock(bucket);
}

/* The word has R before the entry is free. */
static void entries_end(struct pawl_entries *line, uint32_t number, enum entries_end how)
{
    unsigned i;
    for (i = 0; i < PAWL_ENTRIES; i++) {
        const pawl_address_ identity = PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[i]);
        if (identity == 0)
            continue;
        if (how == ENTRIES_ENDS)
            entries_move(line, i, identity);
        if (how == ENTRIES_STAYED_IN_PARENT && !entries_word_is_written(identity))
            entries_count_in_word(identity);
        if (how != ENTRIES_ENDS)
            entries_let_go(line, i);
    }
    entries_set_busy(line, 0);
    ENTRIES_JOIN(line, 0);
    if (PAWL_HOOKS)
        line->hidden = 0;
    entries_retire_line(line, number);
}

static void entries_line_leaves(uint32_t number)
{
    struct pawl_entries *own;
    if (!entries_exist())
        return;
    own = entries_line(entries_all(), number);
    if (own == NULL || !ENTRIES_JOINED(own))
        return;
    entries_have(PAWL_NO_ENTRIES_);
    entries_end(own, number, ENTRIES_ENDS);
    entries_tell_waiters(own);
}

/* The last owner ended without notice. The locks that it read may be gone, so the words are left
 * alone. */
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

/* The child has one thread. Reads of the others stay held: their R goes to the word. */
static void entries_after_fork(void)
{
    const struct pawl_thread_line *const mine = thread_registered();
    struct pawl_entries_all *all;
    uint32_t i;
    if (!entries_exist())
        return;
    all = entries_all();
    for (i = 0; i < pawl_load_relaxed32(&all->used); i++) {
        struct pawl_entries *const line = entries_line(all, i);
        if (line == NULL)
            continue;
        if (mine == NULL || thread_number(mine) != i)
            entries_end(line, i, ENTRIES_STAYED_IN_PARENT);
        pawl_store_relaxed32(&line->waiters, 0);
    }
}

static const struct pawl_subsystem entries_subsystem = {
    entries_line_claimed, NULL, NULL, entries_line_leaves, NULL, entries_after_fork,
};
PAWL_SUBSYSTEM(PAWL_FLOOR_ENTRIES, entries_subsystem);

#endif
