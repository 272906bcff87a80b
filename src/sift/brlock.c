/* SPDX-License-Identifier: MIT */
/*
 * Big-reader locks: the protocol. Readers and writers meet twice as in Dekker's algorithm: each
 * stores its own word before it looks at the other's. On entry a reader stores its line and then
 * reads `closed`; a writer stores `closed` and then reads the lines. On leaving a reader stores its
 * line and then reads the drain; a writer names its lock there and then reads the lines. The fences
 * between are light for readers and heavy for writers, which are rare or about to sleep.
 *
 * The operations of brlock.h are in brlock_face.c.
 */
#include <pawl/brlock.h>

#include "brlock_check.h"

/* Pauses of a waiter before it sleeps. The back-off reaches its bound with the seventh, so this
 * is some 960 relax hints. They take 12 us (38 cycles a hint) to 45 us (140 cycles) at 3 GHz,
 * longer than a sleep and a wake. */
#define BRLOCK_SPINS (PAWL_HOOKS ? 0 : (int)CONSTANT(BRLOCK_SPINS, 10))

/* How often a reader finds the lock closed again before it queues among the writers. */
#define BRLOCK_PATIENCE CONSTANT(BRLOCK_PATIENCE, 4u)

_Static_assert(PAWL_BRLOCK_MOST_LINES <= PAWL_THREAD_LINES, "no lock has the line of no thread");

/* ---- Readers' counters ----------------------------------------------------------------------- */

/* The caller's own counter in the lock, or NULL when the caller uses the shared one. */
PAWL_INTERNAL uint32_t *brlock_own(const pawl_brlock *l)
{
    const struct pawl_thread_line *line = ipawl_thread_line_();
    const size_t number = line == NULL ? PAWL_THREAD_LINES : (size_t)(line - process_here()->lines);
    if (PAWL_CHECKED &&
        l->drain != brlock_drain_of(l)) /* never initialised: the report comes next */
        return NULL;
    return PAWL_LIKELY(number < l->count) ? &l->lines[number].readers : NULL;
}

/* Counts the caller in. A handler that runs in between leaves the counter as it found it. */
PAWL_INTERNAL_FAST void brlock_count_in(pawl_brlock *l, uint32_t *own)
{
    if (PAWL_LIKELY(own != NULL))
        pawl_store_relaxed32(own, pawl_load_relaxed32(own) + 1);
    else
        (void)pawl_fetch_add_relaxed32(&l->shared, 1);
}

static PAWL_COLD void brlock_wake(struct pawl_drain *drain)
{
    /* [BRLOCK_WAKE] release: the writer that sees the new turn sees the lower sum, and that its
     * lock is no longer named. */
    (void)pawl_fetch_add_release32(&drain->turn, 1, PAWL_BRLOCK_WAKE);
    (void)pawl_os_wake(&drain->turn, UINT32_MAX);
}

/* How a drain names a lock. The lock may be gone. */
static inline ipawl_address_ brlock_name(const pawl_brlock *l)
{
    return (ipawl_address_)(uintptr_t)l;
}

PAWL_COLD void ipawl_brlock_tell_(struct pawl_drain *drain, ipawl_address_ lock,
                                  ipawl_address_ whose)
{
    if (whose == lock || whose == DRAIN_SEVERAL)
        brlock_wake(drain);
}

/* Counts the caller out. I5: after the store the lock may be gone. */
PAWL_INTERNAL_FAST void brlock_count_out(pawl_brlock *l, uint32_t *own)
{
    struct pawl_drain *const drain = l->drain;
    ipawl_address_ whose;
    if (PAWL_LIKELY(own != NULL))
        /* [BRLOCK_R_DROP] release: the reader's reads are done before a writer sees the sum
         * fall. */
        pawl_store_release32(own, pawl_load_relaxed32(own) - 1, PAWL_BRLOCK_R_DROP);
    else
        /* [BRLOCK_R_DROP] release: the reader's reads are done before a writer sees the sum
         * fall. */
        (void)pawl_fetch_sub_release32(&l->shared, 1, PAWL_BRLOCK_R_DROP);
    /* [BRLOCK_R_LEFT] light: the sum has fallen before the reader looks whether a writer sleeps. */
    pawl_fence_light(PAWL_BRLOCK_R_LEFT);
    whose = PAWL_ADDRESS_(pawl_load_relaxed)(&drain->whose);
    if (PAWL_UNLIKELY(whose != 0))
        ipawl_brlock_tell_(drain, brlock_name(l), whose);
}

/* Tries once to enter; leaves no trace if that fails. */
static inline bool brlock_enter(pawl_brlock *l, uint32_t *own)
{
    brlock_count_in(l, own);
    if (PAWL_UNLIKELY(l->fenced))
        /* [BRLOCK_R_ENTER] full: the reader is counted before it looks whether the lock is
         * closed. */
        pawl_fence_full(PAWL_BRLOCK_R_ENTER);
    else
        /* [BRLOCK_R_ENTER] light: the reader is counted before it looks whether the lock is
         * closed. */
        pawl_fence_light(PAWL_BRLOCK_R_ENTER);
    /* [BRLOCK_R_TAKE] acquire: the reader's reads come after the stores of the writer that
     * opened. */
    if (PAWL_LIKELY(pawl_load_acquire32(&l->closed, PAWL_BRLOCK_R_TAKE) == 0))
        return true;
    brlock_count_out(l, own);
    return false;
}

/* ---- The gate: its holder may seek or write -------------------------------------------------- */

PAWL_INTERNAL bool brlock_gate_try(pawl_brlock *l)
{
    uint32_t found = 0;
    if (pawl_load_relaxed32(&l->gate) != 0)
        return false;
    /* [BRLOCK_GATE_TAKE] acquire: the taker sees what the last seeker or writer stored. */
    return pawl_cas_acquire32(&l->gate, &found, 1, PAWL_BRLOCK_GATE_TAKE);
}

static bool brlock_is_late(uint64_t until)
{
    return until != PAWL_NO_DEADLINE && pawl_os_now() >= until;
}

static bool brlock_gate_take(pawl_brlock *l, uint64_t until)
{
    struct backoff pauses = BACKOFF_INIT;
    PAWL_PROBE2(brlock_contended, l, 2);
    for (int spins = 0;; spins++) {
        if (brlock_gate_try(l))
            return true;
        if (brlock_is_late(until)) /* a pause may be a yield */
            return false;
        if (spins == BRLOCK_SPINS)
            break;
        backoff_pause_once(&pauses, &pauses);
    }
    /* [BRLOCK_GATE_TAKE] acquire: the taker sees what the last seeker or writer stored. */
    while (pawl_exchange_acquire32(&l->gate, 2, PAWL_BRLOCK_GATE_TAKE) != 0)
        if (!pawl_os_wait(&l->gate, 2, until))
            return brlock_gate_try(l);
    return true;
}

PAWL_INTERNAL void brlock_gate_drop(pawl_brlock *l)
{
    brlock_let_go(l);
    /* [BRLOCK_GATE_DROP] release: the holder's work is done before the next seeker or writer. */
    if (pawl_exchange_release32(&l->gate, 0, PAWL_BRLOCK_GATE_DROP) == 2)
        (void)pawl_os_wake(&l->gate, 1);
}

/* ---- Closing and opening; only the holder of the gate calls these ---------------------------- */

/* Whether all readers have left, by the lines that threads have used so far. */
PAWL_INTERNAL bool brlock_drained(const pawl_brlock *l)
{
    const uint32_t used = pawl_load_relaxed32(&process_here()->lines_used);
    const uint32_t count = used < l->count ? used : l->count;
    /* [BRLOCK_DRAIN] acquire: the writer's stores come after the reads of readers that have
     * left. */
    uint32_t sum = pawl_load_acquire32(&l->shared, PAWL_BRLOCK_DRAIN);
    for (uint32_t i = 0; i < count; i++)
        /* [BRLOCK_DRAIN] acquire: the writer's stores come after the reads of readers that have
         * left. */
        sum += pawl_load_acquire32(&l->lines[i].readers, PAWL_BRLOCK_DRAIN);
    return sum == 0;
}

static void brlock_close(pawl_brlock *l)
{
    pawl_store_relaxed32(&l->closed, 1);
    if (l->fenced)
        /* [BRLOCK_CLOSE] full: the lock is closed before the writer reads the counters. */
        pawl_fence_full(PAWL_BRLOCK_CLOSE);
    else
        /* [BRLOCK_CLOSE] heavy: the lock is closed before the writer reads the counters. */
        pawl_fence_heavy(PAWL_BRLOCK_CLOSE);
}

PAWL_INTERNAL void brlock_open(pawl_brlock *l)
{
    /* [BRLOCK_OPEN] release: the writer's stores are done before a reader enters. */
    if (pawl_exchange_release32(&l->closed, 0, PAWL_BRLOCK_OPEN) == 2)
        (void)pawl_os_wake(&l->closed, UINT32_MAX);
}

/* From now on leaving readers wake the caller. */
static void brlock_ask_for_wakes(struct pawl_drain *drain, ipawl_address_ name)
{
    ipawl_address_ found = PAWL_ADDRESS_(pawl_load_relaxed)(&drain->whose);
    while (found != name && found != DRAIN_SEVERAL)
        if (PAWL_ADDRESS_(pawl_cas_relaxed)(&drain->whose, &found,
                                            found == 0 ? name : DRAIN_SEVERAL))
            return;
}

/* The caller no longer sleeps. Other writers that sleep here name their locks again. */
static void brlock_ask_no_more(struct pawl_drain *drain, ipawl_address_ name)
{
    ipawl_address_ found = name;
    if (PAWL_ADDRESS_(pawl_cas_relaxed)(&drain->whose, &found, 0) || found != DRAIN_SEVERAL)
        return;
    if (PAWL_ADDRESS_(pawl_cas_relaxed)(&drain->whose, &found, 0))
        brlock_wake(drain);
}

/* The lock is closed and readers stay in for long: the writer sleeps until they have left. After
 * each wake it names its lock and passes the fence again, because the name may have been removed
 * (brlock_ask_no_more). */
static bool brlock_sleep(pawl_brlock *l, uint64_t until)
{
    struct pawl_drain *const drain = l->drain;
    bool in_time = true;
    bool empty = false;
    PAWL_PROBE1(brlock_drain, l);
    for (;;) {
        /* [BRLOCK_WOKEN] acquire: the sum, and the name of a lock, are as new as the turn. */
        const uint32_t turn = pawl_load_acquire32(&drain->turn, PAWL_BRLOCK_WOKEN);
        brlock_ask_for_wakes(drain, brlock_name(l));
        /* [BRLOCK_SLEEP] heavy: leaving readers can see the writer wait before it reads the
         * counters. */
        pawl_fence_heavy(PAWL_BRLOCK_SLEEP);
        empty = brlock_drained(l);
        if (empty || !in_time)
            break;
        in_time = pawl_os_wait(&drain->turn, turn, until);
    }
    brlock_ask_no_more(drain, brlock_name(l));
    return empty;
}

static bool brlock_drain_readers(pawl_brlock *l, uint64_t until)
{
    struct backoff pauses = BACKOFF_INIT;
    for (int spins = 0;; spins++) {
        if (brlock_drained(l))
            return true;
        if (spins == BRLOCK_SPINS)
            break;
        backoff_pause_once(&pauses, &pauses);
    }
    return brlock_sleep(l, until);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Waits until the lock is open. */
static bool brlock_wait_open(pawl_brlock *l, uint64_t until)
{
    struct backoff pauses = BACKOFF_INIT;
    for (int spins = 0;; spins++) {
        if (pawl_load_relaxed32(&l->closed) == 0)
            return true;
        if (brlock_is_late(until))
            return false;
        if (spins == BRLOCK_SPINS)
            break;
        backoff_pause_once(&pauses, &pauses);
    }
    for (;;) {
        uint32_t found = 1;
        if (pawl_cas_relaxed32(&l->closed, &found, 2) || found == 2) {
            if (!pawl_os_wait(&l->closed, 2, until))
                return pawl_load_relaxed32(&l->closed) == 0;
        } else if (found == 0) {
            return true;
        }
    }
}

/* The slow path of a reader that met a writer. Writers that follow each other at once might keep
 * it out for ever. So in the end it queues as one of them. I2: while it holds the gate no writer
 * closes. */
static PAWL_COLD bool brlock_read_slow(pawl_brlock *l, uint32_t *own, uint64_t until)
{
    PAWL_PROBE2(brlock_contended, l, 1);
    for (unsigned patience = BRLOCK_PATIENCE; patience > 0; patience--) {
        if (!brlock_wait_open(l, until))
            return false;
        if (brlock_enter(l, own))
            return true;
    }
    if (!brlock_gate_take(l, until))
        return false;
    brlock_count_in(l, own);
    brlock_gate_drop(l);
    return true;
}

PAWL_INTERNAL_FAST bool brlock_take_read(pawl_brlock *l, uint32_t *own, uint64_t until)
{
    if (PAWL_LIKELY(pawl_load_relaxed32(&l->closed) == 0) && PAWL_LIKELY(brlock_enter(l, own)))
        return true;
    return brlock_read_slow(l, own, until);
}

PAWL_INTERNAL_FAST bool brlock_try_read(pawl_brlock *l, uint32_t *own)
{
    return pawl_load_relaxed32(&l->closed) == 0 && brlock_enter(l, own);
}

/* ---- Seeking and writing --------------------------------------------------------------------- */

PAWL_INTERNAL bool brlock_take_seek(pawl_brlock *l, uint64_t until)
{
    if (!brlock_gate_try(l) && !brlock_gate_take(l, until))
        return false;
    brlock_have(l);
    return true;
}

/* Looks before it closes: a try that must fail does not disturb readers. */
PAWL_INTERNAL bool brlock_try_seek_to_write(pawl_brlock *l)
{
    if (!brlock_drained(l))
        return false;
    brlock_close(l);
    if (brlock_drained(l))
        return true;
    brlock_open(l);
    return false;
}

/* S -> W */
PAWL_INTERNAL bool brlock_seek_to_write(pawl_brlock *l, uint64_t until)
{
    if (brlock_is_late(until))
        return brlock_try_seek_to_write(l);
    brlock_close(l);
    if (PAWL_LIKELY(brlock_drain_readers(l, until)))
        return true;
    brlock_open(l);
    return false;
}

PAWL_INTERNAL bool brlock_take_write(pawl_brlock *l, uint64_t until)
{
    if (!brlock_take_seek(l, until))
        return false;
    if (PAWL_LIKELY(brlock_seek_to_write(l, until)))
        return true;
    brlock_gate_drop(l);
    return false;
}
