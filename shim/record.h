/* SPDX-License-Identifier: MIT */
/*
 * What a thread remembers of the locks that it reads. It is for three decisions, and each of them
 * would be safe without it:
 *
 *   - A thread that reads a lock may read it again although a writer waits.
 *   - A thread that reads a lock and asks to write it gets EDEADLK.
 *   - An unlock by a thread that remembers nothing of the lock may be an error, and is looked into.
 *
 * A lock that is read twice has two entries. When the record is full, the thread counts what it
 * cannot note. It may then read any lock, so it passes every waiting writer.
 *
 * A signal handler of the thread may lock and unlock between any two accesses. It leaves `used` as
 * it found it, so an entry counts before it is filled in.
 */
#ifndef PAWL_SHIM_RECORD_H
#define PAWL_SHIM_RECORD_H

#include <pawl/thread.h>

enum { RECORD_ENTRIES = 16 };

struct record {
    uint32_t used;
    uint32_t beyond; /* reads that found the record full, and were not unlocked yet */
    const void *entries[RECORD_ENTRIES];
};

/* Initial-exec: the loader makes it with the thread, so that no access allocates. */
static _Thread_local struct record record __attribute__((tls_model("initial-exec")));

/* An address that no other thread has at the same time, and that a forked child keeps. */
static inline pawl_address_ record_thread(void)
{
    return (pawl_address_)(uintptr_t)&record;
}

#define RECORD_HANDLERS_SEE_THIS_ORDER() __asm__ __volatile__("" ::: "memory")

static inline void record_push(const void *lock)
{
    const uint32_t used = record.used;
    if (PAWL_UNLIKELY(used == RECORD_ENTRIES)) {
        record.beyond++;
        return;
    }
    record.used = used + 1;
    RECORD_HANDLERS_SEE_THIS_ORDER();
    record.entries[used] = lock;
}

static inline bool record_has(const void *lock)
{
    uint32_t i;
    for (i = record.used; i-- > 0;)
        if (record.entries[i] == lock)
            return true;
    return false;
}

/* For locks that are not unlocked in reverse order. False: the thread remembers no read of it. */
PAWL_COLD static bool record_remove(const void *lock)
{
    uint32_t i;
    for (i = record.used; i-- > 0;) {
        if (record.entries[i] == lock) {
            record.entries[i] = record.entries[record.used - 1];
            RECORD_HANDLERS_SEE_THIS_ORDER();
            record.used--;
            return true;
        }
    }
    return false;
}

static inline bool record_pop(const void *lock)
{
    const uint32_t used = record.used;
    if (PAWL_LIKELY(used != 0 && record.entries[used - 1] == lock)) {
        record.used = used - 1;
        return true;
    }
    return record_remove(lock);
}

#endif
