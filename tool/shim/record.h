/* SPDX-License-Identifier: MIT */
/*
 * A thread remembers the number of each lock that it reads (life.h). That is for three decisions.
 * None of them lets a reader in beside a writer that is granted.
 *
 *   - A thread that reads a lock may read it again although a writer waits.
 *   - A thread that reads a lock and asks to write it gets EDEADLK.
 *   - An unlock by a thread that remembers nothing of the lock may be an error, and is looked into.
 *
 * A lock that is read twice is noted twice. A read has one of two places:
 *
 *   first   one place for each hash of an address. A lock and its unlock find it without reading
 *           where it is, so that their accesses need not wait for one another.
 *   more    a stack, for a read whose first place is taken, and for all reads while it is not empty
 *
 * When the stack is full, the thread counts what it cannot note. It may then read any lock, so it
 * passes every waiting writer.
 *
 * A read that another thread unlocks stays here, as do reads of locks whose memory is another
 * object by now. No later lock has the same number, so they only take up room.
 *
 * A signal handler of the thread may lock and unlock between any two accesses. It leaves the record
 * as it found it: while the stack is not empty it works at the top of the stack alone, and else its
 * reads are the only ones there. So a read leaves the stack before it leaves a first place, and an
 * entry of the stack counts before it is filled in. One case remains, with calls that POSIX forbids
 * to handlers anyway: the stack is full, and the handler reads what the thread reads. Its unlock
 * may then take the thread's entry, and a later unlock of the thread counts as a stranger's.
 */
#ifndef PAWL_SHIM_RECORD_H
#define PAWL_SHIM_RECORD_H

#include <pawl/thread.h>

#include "life.h"

enum { RECORD_HASH_BITS = 4, RECORD_FIRST = 1 << RECORD_HASH_BITS, RECORD_MORE = 16 };

struct record {
    ipawl_address_ used; /* of `more` */
    uint32_t beyond;     /* reads that found the stack full, and were not unlocked yet */
    uint32_t first[RECORD_FIRST];
    uint32_t more[RECORD_MORE];
};

/* Initial-exec: the loader makes it with the thread, so that no access allocates. */
static _Thread_local struct record record __attribute__((tls_model("initial-exec")));

/* An address that no other thread has at the same time, and that a forked child keeps. */
static inline ipawl_address_ record_thread(void)
{
    return (ipawl_address_)(uintptr_t)&record;
}

#define RECORD_HANDLERS_SEE_THIS_ORDER() __asm__ __volatile__("" ::: "memory")

static inline uint32_t *record_first(struct life life)
{
    return &record.first[life.hash >> (32 - RECORD_HASH_BITS)];
}

PAWL_COLD static int record_push_more(uint32_t number)
{
    const ipawl_address_ used = record.used;
    if (used == RECORD_MORE) {
        record.beyond++;
        return 0;
    }
    record.used = used + 1;
    RECORD_HANDLERS_SEE_THIS_ORDER();
    record.more[used] = number;
    return 0;
}

/* Always 0, which is what the call that took the lock returns. */
static inline int record_push(struct life life)
{
    uint32_t *const first = record_first(life);
    if (PAWL_UNLIKELY((*first | record.used) != 0))
        return record_push_more(life.number);
    *first = life.number;
    return 0;
}

static inline bool record_has(struct life life)
{
    ipawl_address_ i;
    for (i = record.used; i-- > 0;)
        if (record.more[i] == life.number)
            return true;
    return *record_first(life) == life.number;
}

/* False: the stack is in use, or the thread remembers no read of the lock. */
static inline bool record_pop_first(struct life life)
{
    uint32_t *const first = record_first(life);
    if (PAWL_UNLIKELY(((*first ^ life.number) | record.used) != 0))
        return false;
    *first = 0;
    return true;
}

/* False: the thread remembers no read of the lock. */
PAWL_COLD static bool record_pop(struct life life)
{
    ipawl_address_ i;
    for (i = record.used; i-- > 0;) {
        if (record.more[i] == life.number) {
            record.more[i] = record.more[record.used - 1];
            RECORD_HANDLERS_SEE_THIS_ORDER();
            record.used--;
            return true;
        }
    }
    if (*record_first(life) != life.number)
        return false;
    *record_first(life) = 0;
    return true;
}

#endif
