/* SPDX-License-Identifier: MIT */
/*
 * Simulated threads with signal handlers for the hook variant: each fiber of explorer.h has a mask
 * and at most one handler of each class to run, and may be interrupted by it before any of its
 * accesses at which the class is not blocked; the handler runs to its end before the thread goes
 * on, as on a real one. What is interrupted when is one more choice of the schedule.
 *
 * The world watches each access: who is in beside whom (exclusion), whether a reader is counted
 * that a waiting writer would have to wait for (I2, I3), and whether a handler would sleep (I7). It
 * notes what it saw in `world.broken` and goes on, so that planted mistakes can be looked for.
 */
#pragma once

#include "explorer/explorer.h"

#include <pawl/sift.h>

#include "base/base.h"

enum { WORLD_CLASSES = 2 }; /* deferred, interrupt */
#define WORLD_DEFERRED UINT64_C(0x1)
#define WORLD_INTERRUPT UINT64_C(0x2)

/* What a planted mistake does to an access, before the world looks at it. */
typedef uint64_t world_mistake(const struct pawl_operation *,
                               uint64_t (*)(const struct pawl_operation *));

static struct world {
    pawl_sift lock;
    pawl_sift_use use;
    unsigned reading, writing; /* who is in, whatever the context */
    uint32_t somewhere;
    const char *broken;
    uint64_t mask[SCHED_THREADS];
    unsigned depth[SCHED_THREADS];          /* handlers on the thread's stack */
    bool due[SCHED_THREADS][WORLD_CLASSES]; /* will come once */
    unsigned handled, granted, late, refused;
    uint32_t priority[SCHED_THREADS];
    world_mistake *mistake;
    bool deaf_mask; /* planted: blocking does nothing */
} world;

static void world_break(const char *what)
{
    if (world.broken == NULL)
        world.broken = what;
}

/* ---- Holding --------------------------------------------------------------------------------- */

static inline void world_reads(void)
{
    if (world.writing != 0)
        world_break("a reader is in beside a writer");
    world.reading++;
    world.granted++;
}

static inline void world_writes(void)
{
    if (world.writing != 0 || world.reading != 0)
        world_break("a writer is in beside somebody");
    world.writing++;
    world.granted++;
}

/* Others may run here, and handlers. */
static void world_stay(void)
{
    (void)pawl_load_relaxed32(&world.somewhere);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static void world_handler(enum pawl_sift_context context)
{
    world.handled++;
    if (world.use.writers == (uint32_t)context) {
        pawl_sift_take_write(&world.lock);
        world_writes();
        world_stay();
        world.writing--;
        pawl_sift_drop_write(&world.lock);
        return;
    }
    pawl_sift_take_read(&world.lock, context);
    world_reads();
    world_stay();
    world.reading--;
    pawl_sift_drop_read(&world.lock, context);
}

/* Runs the handlers that the schedule wants here. */
static void world_interrupt(void)
{
    const unsigned self = sched.current;
    for (unsigned c = 0; c < WORLD_CLASSES; c++) {
        const uint64_t set = c == 0 ? WORLD_DEFERRED : WORLD_INTERRUPT;
        const uint64_t before = world.mask[self];
        if (!world.due[self][c] || (before & set) || sched_choose(2) == 0)
            continue;
        world.due[self][c] = false;
        world.mask[self] |= c == 0 ? set : WORLD_DEFERRED | WORLD_INTERRUPT; /* sa_mask */
        world.depth[self]++;
        world_handler(c == 0 ? PAWL_SIFT_DEFERRED : PAWL_SIFT_INTERRUPT);
        world.depth[self]--;
        world.mask[self] = before;
    }
}

uint64_t pawl_hook_block(uint64_t signals)
{
    const uint64_t before = world.mask[sched.current];
    if (!world.deaf_mask)
        world.mask[sched.current] |= signals;
    return before;
}

void pawl_hook_unblock(uint64_t signals)
{
    world.mask[sched.current] &= ~signals;
}

uint32_t pawl_hook_priority(void)
{
    return world.priority[sched.current];
}

/* ---- Watching -------------------------------------------------------------------------------- */

static const uint64_t world_units[] = {
    PAWL_SIFT_UNIT_(PAWL_SIFT_THREAD), PAWL_SIFT_UNIT_(PAWL_SIFT_REALTIME),
    PAWL_SIFT_UNIT_(PAWL_SIFT_DEFERRED), PAWL_SIFT_UNIT_(PAWL_SIFT_INTERRUPT), PAWL_SIFT_SLOW_};

static uint64_t world_count(uint64_t word, unsigned c)
{
    return (word & (world_units[c + 1] - 1)) / world_units[c];
}

/* A count rose while slow writers are about: only of a reader that its context counts. */
static void world_watch(uint64_t before, uint64_t after)
{
    for (unsigned c = 0; c < PAWL_SIFT_CONTEXTS; c++)
        if (before >= PAWL_SIFT_SLOW_ && world_count(after, c) > world_count(before, c) &&
            (world.lock.contexts[c] & 0xfffe) == 0)
            world_break("a reader is counted that has not passed its context");
}

static uint64_t world_access(const struct pawl_operation *o,
                             uint64_t (*make)(const struct pawl_operation *))
{
    world_interrupt();
    uint64_t before = world.lock.word;
    uint64_t found = world.mistake != NULL ? world.mistake(o, make) : make(o);
    if (o->address == &world.lock.word)
        world_watch(before, world.lock.word);
    return found;
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

static void world_begins(void *unused)
{
    sched.fault = NULL;
    memset(&world.lock, 0, sizeof world.lock);
    must(pawl_sift_init(&world.lock, &world.use) == 0);
    memset(drains_here(), 0, sizeof *drains_here());
    memset(world.mask, 0, sizeof world.mask);
    memset(world.depth, 0, sizeof world.depth);
    world.reading = world.writing = 0;
    sched.fault = world_access;
}

static void world_ends(void *unused)
{
    if (world.lock.mutex != 0 || (world.lock.word & ~PAWL_SIFT_WAITED_) != 0 ||
        world.lock.gate != 0)
        world_break("somebody is left counted");
    for (unsigned i = 0; i < PAWL_SIFT_CONTEXTS; i++)
        if ((world.lock.contexts[i] & ~1u) != 0)
            world_break("somebody is left in a context");
    for (unsigned i = 0; i < SCHED_THREADS; i++)
        if (world.mask[i] != 0)
            world_break("signals stay blocked");
}
