/* SPDX-License-Identifier: MIT */
/* Checks of the checking variant around the operations of brlock.c; the other variants check
 * nothing. It uses the lock's own records: the holder of the gate, and the thread's counter. */
#ifndef PAWL_BRLOCK_CHECK_H
#define PAWL_BRLOCK_CHECK_H

#include "brlock_parts.h"

#if PAWL_CHECKED

PAWL_STATIC void brlock_have(pawl_brlock *l)
{
    pawl_store_relaxed32(&l->holder, check_holder());
}

PAWL_STATIC void brlock_let_go(pawl_brlock *l)
{
    pawl_store_relaxed32(&l->holder, 0);
}

PAWL_STATIC bool brlock_is_mine(const pawl_brlock *l)
{
    return pawl_load_relaxed32(&l->holder) == check_self();
}

/* A counter above half its range is below zero: its thread has dropped what others took. */
PAWL_STATIC bool brlock_counts_some(const uint32_t *counter)
{
    const uint32_t n = pawl_load_relaxed32(counter);
    return n != 0 && n <= UINT32_MAX / 2;
}

/* Bytes that init did not make name no drain, or another lock's. */
PAWL_STATIC void brlock_is_lock(const pawl_brlock *l, const char *call, const void *site)
{
    if (l->drain != brlock_drain_of(l))
        ipawl_report_misuse_("never initialised", "pawl_brlock", l, call, site);
}

PAWL_STATIC void brlock_before_take(const pawl_brlock *l, const uint32_t *own, const char *call,
                                    const void *site)
{
    brlock_is_lock(l, call, site);
    if (brlock_is_mine(l) || (own != NULL && brlock_counts_some(own)))
        ipawl_report_misuse_("taken again by its holder", "pawl_brlock", l, call, site);
}

PAWL_STATIC void brlock_holds_r(const pawl_brlock *l, const uint32_t *counter, const char *call,
                                const void *site)
{
    if (!brlock_counts_some(counter))
        ipawl_report_misuse_("R is not held by this thread", "pawl_brlock", l, call, site);
}

PAWL_STATIC void brlock_holds_gate(const pawl_brlock *l, bool writes, const char *call,
                                   const void *site)
{
    if (!brlock_is_mine(l) || (pawl_load_relaxed32(&l->closed) != 0) != writes)
        ipawl_report_misuse_(writes ? "W is not held by this thread"
                                    : "S is not held by this thread",
                             "pawl_brlock", l, call, site);
}

#define BRLOCK_SITE __builtin_return_address(0)
#define BRLOCK_BEFORE_TAKE(l, own, call) brlock_before_take(l, own, call, BRLOCK_SITE)
/* Readers without a line cannot be told apart. */
#define BRLOCK_HOLDS_R(l, own, call)                                                               \
    brlock_holds_r(l, (own) != NULL ? (own) : &(l)->shared, call, BRLOCK_SITE)
#define BRLOCK_HOLDS_GATE(l, writes, call) brlock_holds_gate(l, writes, call, BRLOCK_SITE)
/* Around what may wait; the holder of the gate is known. */
#define BRLOCK_WAITS(l, call)                                                                      \
    ipawl_wait_begins_("pawl_brlock", l, call, pawl_load_relaxed32(&(l)->holder), BRLOCK_SITE)
#define BRLOCK_WAITED() ipawl_wait_ends_()
#define BRLOCK_UNUSED(l, call)                                                                     \
    do {                                                                                           \
        if (pawl_load_relaxed32(&(l)->gate) != 0 || !brlock_drained(l))                            \
            ipawl_report_misuse_("destroyed while in use", "pawl_brlock", l, call, BRLOCK_SITE);   \
    } while (0)

#else

#define brlock_have(l) ((void)(l))
#define brlock_let_go(l) ((void)(l))
#define BRLOCK_BEFORE_TAKE(l, own, call) ((void)(own))
#define BRLOCK_HOLDS_R(l, own, call) ((void)(own))
#define BRLOCK_HOLDS_GATE(l, writes, call) ((void)(l))
#define BRLOCK_WAITS(l, call) ((void)(l))
#define BRLOCK_WAITED() ((void)0)
#define BRLOCK_UNUSED(l, call) ((void)(l))

#endif
#endif
