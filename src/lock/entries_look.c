/* SPDX-License-Identifier: MIT */
/*
 * Readers that scale: the claimant's look at all lines of entries.
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
#include "entries.h"

#include "lock_parts.h"

#if PAWL_SCALES_

/* The pauses of a waiter without a heavy fence: from the first, doubled, to the longest. */
#define ENTRIES_FIRST_PAUSE_NS 50000
#define ENTRIES_LONGEST_PAUSE_NS 1000000

/* So many lines a claimant asks for before it reads them: about as many as a core waits for at a
 * time. Each has come from another core, and one after the other they would take that long each. */
#define ENTRIES_AHEAD 8

static bool entries_have_it(const struct pawl_entries *line, unsigned i, ipawl_address_ identity)
{
    /* [ENTRY_GONE] acquire: the claimant's accesses follow the reads of the reader that has freed
     * the entry. */
    return ((PAWL_ADDRESS_(pawl_load_acquire)(&line->locks[i], PAWL_ENTRY_GONE) ^ identity) &
            ~(ipawl_address_)PAWL_ENTRY_TRIES_) == 0;
}

/* Reads the entry in a loop for a while. */
static bool entries_loop(const struct pawl_entries *line, unsigned i, ipawl_address_ identity,
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
                                       ipawl_address_ identity, uint64_t deadline)
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
                                                        ipawl_address_ identity)
{
    unsigned i;
#pragma GCC unroll 8
    for (i = 0; i < PAWL_ENTRIES; i++)
        if (PAWL_UNLIKELY(entries_have_it(line, i, identity)))
            return true;
    return false;
}

/* The line has the lock, or had it a moment ago. */
static PAWL_COLD bool entries_line_is_left(struct pawl_entries *line, ipawl_address_ identity,
                                           uint64_t deadline, uint64_t *waited)
{
    for (unsigned i = 0; i < PAWL_ENTRIES; i++) {
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
                              ipawl_address_ identity)
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
static struct pawl_entries *entries_next(ipawl_address_ identity, uint32_t *i)
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

PAWL_INTERNAL enum entries_look entries_wait(ipawl_address_ identity, uint64_t deadline)
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

PAWL_INTERNAL bool entries_are_in_use(ipawl_address_ identity)
{
    uint32_t i = 0;
    pawl_os_must_be_known();
    return entries_next(identity, &i) != NULL;
}

PAWL_INTERNAL unsigned entries_count(ipawl_address_ identity)
{
    const struct pawl_entries *line;
    unsigned count = 0, entry;
    uint32_t i = 0;
    while ((line = entries_next(identity, &i)) != NULL)
        for (entry = 0; entry < PAWL_ENTRIES; entry++)
            count += PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[entry]) == identity;
    return count;
}

#endif
