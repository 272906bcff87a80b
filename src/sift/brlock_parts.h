/* SPDX-License-Identifier: MIT */
/* Shared by the two halves of big-reader locks: the protocol (brlock.c) and the operations of
 * brlock.h (brlock_face.c). `own` is the caller's counter in the lock, NULL for the shared one. */
#ifndef PAWL_BRLOCK_PARTS_H
#define PAWL_BRLOCK_PARTS_H

#include <pawl/brlock.h>

#include "../base/base.h"
#include "../check/check.h"

/* Where the lock's writers sleep. */
PAWL_STATIC struct pawl_drain *brlock_drain_of(const pawl_brlock *l)
{
    /* Fibonacci hashing: the upper bits of the product depend on all of the address. */
    return drain_of(((uint32_t)((uintptr_t)l >> 4) * UINT32_C(2654435769)) >> 16);
}

/* The caller's own counter in the lock, or NULL when the caller uses the shared one. */
PAWL_INTERNAL uint32_t *brlock_own(const pawl_brlock *l);
/* Counts the caller in, or out. After brlock_count_out the lock may be gone. */
PAWL_INTERNAL_FAST void brlock_count_in(pawl_brlock *l, uint32_t *own);
PAWL_INTERNAL_FAST void brlock_count_out(pawl_brlock *l, uint32_t *own);

PAWL_INTERNAL_FAST bool brlock_take_read(pawl_brlock *l, uint32_t *own, uint64_t until);
PAWL_INTERNAL_FAST bool brlock_try_read(pawl_brlock *l, uint32_t *own);

/* The gate: its holder may seek or write. */
PAWL_INTERNAL bool brlock_gate_try(pawl_brlock *l);
PAWL_INTERNAL void brlock_gate_drop(pawl_brlock *l);
PAWL_INTERNAL bool brlock_take_seek(pawl_brlock *l, uint64_t until);
PAWL_INTERNAL bool brlock_take_write(pawl_brlock *l, uint64_t until);

/* Only the holder of the gate calls these. */
PAWL_INTERNAL bool brlock_seek_to_write(pawl_brlock *l, uint64_t until);
PAWL_INTERNAL bool brlock_try_seek_to_write(pawl_brlock *l);
PAWL_INTERNAL void brlock_open(pawl_brlock *l);

/* Whether all readers have left, by the lines that threads have used so far. */
PAWL_INTERNAL bool brlock_drained(const pawl_brlock *l);

#endif
