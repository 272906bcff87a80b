/* SPDX-License-Identifier: MIT */
/*
 * Which lock it is that a thread remembers. Its address does not tell: the memory may be another
 * lock by now, without a call that says so, as zero bytes are a lock. So the first read of a lock
 * gives it a number that no other lock of the process has had, and threads remember that.
 *
 * Numbers are odd, so that none is 0. In its upper 31 bits the lock's field has the number and the
 * hash of the address, by exclusive or. So a copy of a lock has another number. Bit 0 is
 * LIFE_STRANGERS. Where no other bit is set, the lock has no number yet.
 */
#ifndef PAWL_SHIM_LIFE_H
#define PAWL_SHIM_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include <pawl/atomic.h>

#include "layout.h"

/* When all are given, nothing that a thread remembers is certain. */
#define LIFE_NUMBERS (UINT64_C(1) << 31)

struct life {
    uint32_t hash; /* even; the upper bits depend on all lower bits of the address */
    uint32_t number;
};

extern PAWL_HIDDEN_ uint64_t life_given; /* numbers that threads have taken */

static inline struct life life_of(const uint32_t *field, uint32_t found)
{
    const uint32_t hash = (uint32_t)(uintptr_t)field * UINT32_C(0x9e3779b1);
    const struct life life = {hash, (found ^ hash) | 1};
    return life;
}

/* The same; of a lock with LIFE_STRANGERS it is one that no thread remembers. */
static inline struct life life_unless_marked(const uint32_t *field, uint32_t found)
{
    struct life life = life_of(field, 0);
    life.number = (found ^ life.hash) ^ 1;
    return life;
}

static inline bool life_has_begun(uint32_t found)
{
    return found > LIFE_STRANGERS;
}

/* A thread takes so many numbers at a time, and does not give the last of them. So threads that
 * make locks do not meet at life_given. */
#define LIFE_BATCH 16u

/* The next number; a multiple of LIFE_BATCH: the thread has none. A handler of the thread may take
 * numbers between any two accesses. */
static _Thread_local uint32_t life_next __attribute__((tls_model("initial-exec")));

static inline uint32_t life_number(void)
{
    uint32_t next = pawl_load_relaxed32(&life_next);
    do {
        if (next % LIFE_BATCH == 0) {
            next = (uint32_t)pawl_fetch_add_relaxed64(&life_given, LIFE_BATCH) + 1;
            pawl_store_relaxed32(&life_next, next + 1);
            return next;
        }
    } while (!pawl_cas_relaxed32(&life_next, &next, next + 1));
    return next;
}

/* Gives the lock a number, unless another reader does. */
static inline struct life life_begin(uint32_t *field)
{
    uint32_t found = pawl_load_relaxed32(field), made;
    while (!life_has_begun(found)) {
        made = found | (life_number() << 1 ^ life_of(field, 0).hash);
        if (life_has_begun(made) && pawl_cas_relaxed32(field, &found, made))
            found = made;
    }
    return life_of(field, found);
}

/* Whether a thread that remembers a read of the lock does read it. */
static inline bool life_is_certain(uint32_t found)
{
    return life_has_begun(found) && (found & LIFE_STRANGERS) == 0 &&
           pawl_load_relaxed64(&life_given) < LIFE_NUMBERS;
}

#endif
