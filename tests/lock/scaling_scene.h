/* SPDX-License-Identifier: MIT */
/*
 * The scene of lock/scene.h where readers scale: each simulated thread has its line of entries, and
 * the lock may have BIASED. Also mistakes that a test can plant (sched.fault).
 */
#pragma once

#include "explorer/explorer.h"

#include <pawl/lock.h>

#include "lock/entries.h"

/* When the lock has BIASED. A dear look takes it away, and each look is dear. */
enum scaling_bias {
    SCALING_FROM_THE_START,
    SCALING_BY_A_DROP,
    SCALING_UNTIL_A_LOOK,
    SCALING_BIASES
};

static enum scaling_bias scaling_bias;
static unsigned scaling_lines = SCHED_THREADS; /* that a claimant looks at */

#define LOCK pawl_lock32
#define AT_REST(word) scaling_at_rest(word)
#define SCENE_READY() scaling_ready()

static bool scaling_at_rest(uint32_t word);
static void scaling_ready(void);

static bool regain_read(LOCK *l, uint64_t deadline)
{
    return pawl_lock32_atomic_to_read_until(l, deadline) != PAWL_REGAIN_TIMED_OUT;
}

#include "lock/scene.h"

static bool scaling_at_rest(uint32_t word)
{
    const struct pawl_entries *lines = entries_all()->lines;
    for (unsigned i = 0; i < SCHED_THREADS; i++) {
        for (unsigned j = 0; j < PAWL_ENTRIES; j++)
            if (lines[i].locks[j] != 0)
                return false;
        if (lines[i].waiters != 0 || lines[i].hidden != 0 ||
            ipawl_entries_busy_(&lines[i]) != lines[i].eager)
            return false;
    }
    return (word & ~PAWL_LOCK_BIASED) == 0;
}

/* The next look is timed, and those before have taken more than all the time since. */
static void scaling_looks_are_dear(struct pawl_entries_all *all)
{
    for (unsigned i = 0; i < ENTRIES_NOTES; i++) {
        all->notes[i].identity = (ipawl_address_)(uintptr_t)&scene.lock;
        all->notes[i].looks = 7; /* with the next look the account is judged */
        all->notes[i].begun = 1;
        all->notes[i].spent = UINT64_MAX / 8;
    }
}

static void scaling_ready(void)
{
    struct pawl_process *const process = process_here();
    struct pawl_entries_all *const all = entries_all();
    memset(all, 0, sizeof *all);
    for (unsigned i = 0; i < SCHED_THREADS; i++) {
        process->lines[i].owner = i + 1;
        *sched_slot_of(i) = &process->lines[i];
        all->lines[i].joined = 1;
        all->lines[i].eager = all->lines[i].busy = scaling_bias == SCALING_BY_A_DROP;
    }
    if (scaling_bias == SCALING_UNTIL_A_LOOK)
        scaling_looks_are_dear(all);
    process->lines_used = all->used = scaling_lines;
    all->joined[0] = (UINT32_C(1) << scaling_lines) - 1;
    scene.lock.word = scaling_bias == SCALING_BY_A_DROP ? 0 : PAWL_LOCK_BIASED;
}

static unsigned scaling_lost; /* how often a claimant has taken BIASED away */

/* Time passes while a claimant looks at entries, and at no other moment. */
static inline uint64_t scaling_dear_looks(const struct pawl_operation *o, sched_make_function *make)
{
    scaling_lost += o->kind == PAWL_HOOK_AND && o->address == &scene.lock.word &&
                    (o->operand & PAWL_LOCK_BIASED) == 0;
    if (o->tag == PAWL_ENTRY_GONE)
        sched.clock += 1000;
    return make(o);
}

static inline void scaling_with(enum scaling_bias bias)
{
    scaling_bias = bias;
    ipawl_entries_mode_(bias == SCALING_BY_A_DROP ? ENTRIES_ON : ENTRIES_EVIDENCE);
    sched.fault = bias == SCALING_UNTIL_A_LOOK ? scaling_dear_looks : NULL;
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

/* The reader does not look at the word again once its entry is filled. */
static inline uint64_t a_second_look_is_left_out(const struct pawl_operation *o,
                                                 sched_make_function *make)
{
    const uint64_t found = make(o);
    if (o->tag == PAWL_SPIN_R_TAKE && o->kind == PAWL_HOOK_LOAD)
        return PAWL_LOCK_BIASED;
    return found;
}

static inline uint64_t an_entry_is_passed_by(const struct pawl_operation *o,
                                             sched_make_function *make)
{
    const uint64_t found = make(o);
    if (o->tag == PAWL_ENTRY_GONE && o->address == &entries_all()->lines[0].locks[0])
        return 0;
    return found;
}

static inline bool is_of_waiters(const struct pawl_operation *o)
{
    for (unsigned i = 0; i < SCHED_THREADS; i++)
        if (o->address == &entries_all()->lines[i].waiters)
            return true;
    return false;
}

static inline uint64_t a_reader_does_not_look(const struct pawl_operation *o,
                                              sched_make_function *make)
{
    const uint64_t found = make(o);
    return o->kind == PAWL_HOOK_LOAD && is_of_waiters(o) ? 0 : found;
}

static inline uint64_t a_waiter_is_not_counted(const struct pawl_operation *o,
                                               sched_make_function *make)
{
    struct pawl_operation instead = *o;
    if (is_of_waiters(o) && (o->kind == PAWL_HOOK_ADD || o->kind == PAWL_HOOK_SUB))
        instead.operand = 0;
    return make(&instead);
}

/* Its drop looks at the count of waiters as it looks for the entry, and frees the entry then. */
static inline uint64_t a_reader_looks_too_early(const struct pawl_operation *o,
                                                sched_make_function *make)
{
    static uint64_t before[SCHED_THREADS];
    const struct pawl_entries *const own = &entries_all()->lines[sched.current];
    if (o->kind == PAWL_HOOK_LOAD && o->address == &own->locks[0])
        before[sched.current] = own->waiters;
    if (o->kind == PAWL_HOOK_LOAD && is_of_waiters(o))
        return before[sched.current];
    return make(o);
}

/* A reader that leaves clears BIASED. It has no W in the word, and others may be in entries. */
static inline uint64_t biased_is_cleared_by_a_reader(const struct pawl_operation *o,
                                                     sched_make_function *make)
{
    if (o->tag == PAWL_ENTRY_DROP && o->kind == PAWL_HOOK_STORE)
        scene.lock.word &= ~PAWL_LOCK_BIASED;
    return make(o);
}
