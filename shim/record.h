/* SPDX-License-Identifier: MIT */
/*
 * What a thread remembers of the locks that it reads. It is for three decisions, and each of them
 * would be safe without it:
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

enum { RECORD_HASH_BITS = 4, RECORD_FIRST = 1 << RECORD_HASH_BITS, RECORD_MORE = 16 };

struct record {
    pawl_address_ used;   /* of `more` */
    pawl_address_ beyond; /* reads that found the stack full, and were not unlocked yet */
    pawl_address_ first[RECORD_FIRST];
    pawl_address_ more[RECORD_MORE];
};

/* Initial-exec: the loader makes it with the thread, so that no access allocates. */
static _Thread_local struct record record __attribute__((tls_model("initial-exec")));

/* An address that no other thread has at the same time, and that a forked child keeps. */
static inline pawl_address_ record_thread(void)
{
    return (pawl_address_)(uintptr_t)&record;
}

#define RECORD_HANDLERS_SEE_THIS_ORDER() __asm__ __volatile__("" ::: "memory")

/* The upper bits of the product depend on all lower bits of the address. */
static inline pawl_address_ *record_first(const void *lock)
{
    const uint32_t hash = (uint32_t)(uintptr_t)lock * UINT32_C(0x9e3779b1);
    return &record.first[hash >> (32 - RECORD_HASH_BITS)];
}

PAWL_COLD static int record_push_more(const void *lock)
{
    const pawl_address_ used = record.used;
    if (used == RECORD_MORE) {
        record.beyond++;
        return 0;
    }
    record.used = used + 1;
    RECORD_HANDLERS_SEE_THIS_ORDER();
    record.more[used] = (pawl_address_)(uintptr_t)lock;
    return 0;
}

/* Always 0, which is what the call that took the lock returns. */
static inline int record_push(const void *lock)
{
    pawl_address_ *const first = record_first(lock);
    if (PAWL_UNLIKELY((*first | record.used) != 0))
        return record_push_more(lock);
    *first = (pawl_address_)(uintptr_t)lock;
    return 0;
}

static inline bool record_has(const void *lock)
{
    const pawl_address_ wanted = (pawl_address_)(uintptr_t)lock;
    pawl_address_ i;
    for (i = record.used; i-- > 0;)
        if (record.more[i] == wanted)
            return true;
    return *record_first(lock) == wanted;
}

/* False: the stack is in use, or the thread remembers no read of the lock. */
static inline bool record_pop_first(const void *lock)
{
    pawl_address_ *const first = record_first(lock);
    if (PAWL_UNLIKELY(((*first ^ (pawl_address_)(uintptr_t)lock) | record.used) != 0))
        return false;
    *first = 0;
    return true;
}

/* False: the thread remembers no read of the lock. */
PAWL_COLD static bool record_pop(const void *lock)
{
    const pawl_address_ wanted = (pawl_address_)(uintptr_t)lock;
    pawl_address_ i;
    for (i = record.used; i-- > 0;) {
        if (record.more[i] == wanted) {
            record.more[i] = record.more[record.used - 1];
            RECORD_HANDLERS_SEE_THIS_ORDER();
            record.used--;
            return true;
        }
    }
    if (*record_first(lock) != wanted)
        return false;
    *record_first(lock) = 0;
    return true;
}

#endif
