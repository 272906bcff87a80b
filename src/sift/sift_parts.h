/* SPDX-License-Identifier: MIT */
/*
 * Priority-sifting locks: the parts that readers and writers share. These are the words and their
 * fields, waiting and waking, and what a writer does to its own thread. Comments cite the
 * invariants of sift.h.
 *
 * A waiter sleeps in one of two ways. For a change of the lock's word, which is 64 bits wide, it
 * sleeps on the turn of a drain (src/base/drain.h). A drain is memory of the process, because the
 * releaser must not touch the lock after it has dropped it (I5). For a change of a context word or
 * of the mutex, the waiter sleeps on that word itself. A thread that changes one of those is still
 * counted in the lock's main word.
 *
 * The kernel keeps the queue of sleepers and the lock of that queue. So a handler finds no list
 * locked by the thread that it interrupted (I7).
 */
#ifndef PAWL_SIFT_PARTS_H
#define PAWL_SIFT_PARTS_H

#include <pawl/sift.h>

#include "../base/base.h"

#include <errno.h>
#include <string.h>

#if PAWL_HOOKS /* an event in a pause may come between two accesses as well */
#define SIFT_SPINS 0
#define SIFT_COURTESY 0
#else
/* Pauses of a waiter before it sleeps. The back-off reaches its bound with the seventh, so this
 * is some 960 relax hints. They take 12 us (38 cycles a hint) to 45 us (140 cycles) at 3 GHz,
 * longer than a sleep and a wake. */
#define SIFT_SPINS 10
/* The pauses that a writer makes for handlers that have waited for another writer. */
#define SIFT_COURTESY 10
#endif

/* ---- The word -------------------------------------------------------------------------------- */

#define SIFT_SLOW_FIELD (~(PAWL_SIFT_SLOW_ - 1))
#define SIFT_ANY_WRITER (PAWL_SIFT_WRITER_ | SIFT_SLOW_FIELD)

/* The whole field of a context: the most readers that it can count. */
PAWL_STATIC uint64_t sift_field(enum pawl_sift_context c)
{
    switch (c) {
    case PAWL_SIFT_THREAD: return PAWL_SIFT_UNIT_(PAWL_SIFT_REALTIME) - PAWL_SIFT_UNIT_(c);
    case PAWL_SIFT_REALTIME: return PAWL_SIFT_UNIT_(PAWL_SIFT_DEFERRED) - PAWL_SIFT_UNIT_(c);
    case PAWL_SIFT_DEFERRED: return PAWL_SIFT_UNIT_(PAWL_SIFT_INTERRUPT) - PAWL_SIFT_UNIT_(c);
    default: return PAWL_SIFT_SLOW_ - PAWL_SIFT_UNIT_(c);
    }
}

PAWL_STATIC bool sift_is_full(uint64_t word, enum pawl_sift_context c)
{
    return (word & sift_field(c)) == sift_field(c);
}

/* ---- Context words --------------------------------------------------------------------------- */

#define SIFT_C_WAITED 1u
#define SIFT_C_READER 2u
#define SIFT_C_READERS 0xfffeu
#define SIFT_C_WRITER 0x10000u
#define SIFT_C_WRITERS 0xffff0000u

PAWL_STATIC uint32_t sift_readers(const pawl_sift *l)
{
    return l->readers != 0 ? l->readers : PAWL_SIFT_READS(PAWL_SIFT_THREAD);
}

PAWL_STATIC bool sift_reads(const pawl_sift *l, enum pawl_sift_context c)
{
    return (sift_readers(l) & PAWL_SIFT_READS(c)) != 0;
}

PAWL_STATIC bool sift_is_handler(enum pawl_sift_context c)
{
    return c >= PAWL_SIFT_DEFERRED;
}

/* The caller's rank among the waiters by priority; 0: it is no real-time thread. */
PAWL_STATIC uint32_t sift_priority(void)
{
    const uint32_t priority = pawl_os_priority();
    return priority < PAWL_SIFT_RANKS_ ? priority : PAWL_SIFT_RANKS_ - 1;
}

/* ---- Waking: async-signal-safe --------------------------------------------------------------- */

/* Uses only the address, because the lock may be gone. */
PAWL_STATIC uint32_t *sift_turn(const pawl_sift *l)
{
    const uintptr_t lines = (uintptr_t)l / PAWL_CACHE_LINE;
    return &drain_of(lines)->turn;
}

PAWL_STATIC PAWL_COLD void sift_wake(const pawl_sift *l)
{
    uint32_t *const turn = sift_turn(l);
    /* [SIFT_WAKE] release: a thread that sees the new turn sees the word that the caller
     * changed. */
    (void)pawl_fetch_add_release32(turn, 1, PAWL_SIFT_WAKE);
    (void)pawl_os_wake(turn, UINT32_MAX);
}

/* The context word was `found`, and the caller has changed it. */
PAWL_STATIC void sift_context_changed(pawl_sift *l, enum pawl_sift_context c, uint32_t found)
{
    if (PAWL_UNLIKELY(found & SIFT_C_WAITED))
        (void)pawl_os_wake(&l->contexts[c], UINT32_MAX);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* How a waiter waits: handlers pause, and yield the CPU when that takes long. */
struct sift_patience {
    struct backoff pauses;
    int spins;
    bool sleeps, slept;
    uint64_t until;
};

PAWL_STATIC struct sift_patience sift_patience(bool sleeps, uint64_t until)
{
    const struct sift_patience p = {BACKOFF_INIT, 0, sleeps, false, until};
    return p;
}

PAWL_STATIC bool sift_is_late(const struct sift_patience *p)
{
    return p->until != PAWL_NO_DEADLINE && pawl_os_now() >= p->until;
}

/* Starts the next wait. */
PAWL_STATIC void sift_begin_anew(struct sift_patience *p)
{
    p->spins = 0;
    p->slept = false;
}

/* Pauses, and says whether it is time to sleep. */
PAWL_STATIC bool sift_pause(struct sift_patience *p)
{
    if (p->sleeps && p->spins >= SIFT_SPINS)
        return p->slept = true;
    p->spins++;
    backoff_pause_once(&p->pauses, p);
    return false;
}

/* Waits until none of these bits is set in the word. I4: the waiter sets WAITED first, then
 * looks, then sleeps. It looks at the deadline only when it has to wait, because a try has none. */
PAWL_STATIC bool sift_await_word(pawl_sift *l, uint64_t bits, struct sift_patience *p)
{
    for (;;) {
        uint32_t turn;
        /* [SIFT_DRAIN] acquire: the waiter's stores come after the accesses of threads that have
         * left. */
        if ((pawl_load_acquire64(&l->word, PAWL_SIFT_DRAIN) & bits) == 0)
            return true;
        if (sift_is_late(p))
            return false;
        if (!sift_pause(p))
            continue;
        /* [SIFT_WOKEN] acquire: the word that the waiter reads is as new as the turn. */
        turn = pawl_load_acquire32(sift_turn(l), PAWL_SIFT_WOKEN);
        if ((pawl_fetch_or_relaxed64(&l->word, PAWL_SIFT_WAITED_) & bits) != 0)
            (void)pawl_os_wait(sift_turn(l), turn, p->until);
    }
}

/* Waits until none of these bits is set in the context word. The caller's claim, or a reader's,
 * orders more than this does. */
PAWL_STATIC bool sift_await_context(pawl_sift *l, enum pawl_sift_context c, uint32_t bits,
                                    struct sift_patience *p)
{
    uint32_t *const word = &l->contexts[c];
    for (;;) {
        /* [SIFT_SUBSCRIBED] acquire: the lock's word that the caller reads next counts the
         * readers that left here. */
        uint32_t found = pawl_load_acquire32(word, PAWL_SIFT_SUBSCRIBED);
        if ((found & bits) == 0)
            return true;
        if (sift_is_late(p))
            return false;
        if (!sift_pause(p))
            continue;
        if ((found & SIFT_C_WAITED) || pawl_cas_relaxed32(word, &found, found | SIFT_C_WAITED))
            (void)pawl_os_wait(word, found | SIFT_C_WAITED, p->until);
    }
}

/* ---- The mutex of the slow path -------------------------------------------------------------- */

PAWL_STATIC bool sift_mutex_try(pawl_sift *l)
{
    uint32_t found = 0;
    if (pawl_load_relaxed32(&l->mutex) != 0)
        return false;
    /* [SIFT_MUTEX_TAKE] acquire: the taker sees what the last slow writer did. */
    return pawl_cas_acquire32(&l->mutex, &found, 1, PAWL_SIFT_MUTEX_TAKE);
}

/* Waits until the mutex is free; another thread may take it before the return. */
PAWL_STATIC bool sift_mutex_await(pawl_sift *l, struct sift_patience *p)
{
    for (;;) {
        uint32_t found = pawl_load_relaxed32(&l->mutex);
        if (found == 0)
            return true;
        if (sift_is_late(p))
            return false;
        if (!sift_pause(p))
            continue;
        if (found == 2 || pawl_cas_relaxed32(&l->mutex, &found, 2))
            (void)pawl_os_wait(&l->mutex, 2, p->until);
    }
}

/* Wakes all sleepers: one that is woken may reach its deadline and leave without passing the
 * wake on. */
PAWL_STATIC void sift_mutex_drop(pawl_sift *l)
{
    /* [SIFT_MUTEX_DROP] release: the next slow writer sees what the holder did. */
    if (pawl_exchange_release32(&l->mutex, 0, PAWL_SIFT_MUTEX_DROP) == 2)
        (void)pawl_os_wake(&l->mutex, UINT32_MAX);
}

/* ---- The gate of locks whose real-time readers lend priority --------------------------------- */

PAWL_STATIC uint32_t sift_self(void)
{
    struct pawl_thread_line *const line = ipawl_thread_line_();
    return line != NULL ? pawl_load_relaxed32(&line->owner) : pawl_os_thread_id();
}

/* Relaxed: a thread that passes the gate continues with the word, which orders everything. */
PAWL_STATIC bool sift_gate_try(pawl_sift *l)
{
    uint32_t found = 0;
    return pawl_cas_relaxed32(&l->gate, &found, sift_self());
}

PAWL_STATIC bool sift_gate_take(pawl_sift *l, uint64_t until)
{
    return sift_gate_try(l) || pawl_os_lend(&l->gate, until);
}

PAWL_STATIC void sift_gate_drop(pawl_sift *l)
{
    uint32_t found = sift_self();
    if (!pawl_cas_relaxed32(&l->gate, &found, 0))
        pawl_os_lent(&l->gate);
}

#endif
