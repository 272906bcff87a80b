/* SPDX-License-Identifier: MIT */
/* What the environment asks of the shim, and what it counts and says. */
#ifndef PAWL_SHIM_MODE_H
#define PAWL_SHIM_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include <pawl/atomic.h>

/* From PAWL_PRELOAD_RWLOCK and PAWL_PRELOAD_STATS. A constructor sets them; locks that are used
 * before it find them zero. */
extern PAWL_HIDDEN_ bool shim_prefers_readers;
extern PAWL_HIDDEN_ bool shim_readers_scale;
extern PAWL_HIDDEN_ bool shim_counts_calls;
/* 1: the last one is true. */
extern PAWL_HIDDEN_ uint32_t shim_special;

#define SHIM_COUNTS(X)                                                                             \
    X(inits, "initialised")                                                                        \
    X(reads, "read locks")                                                                         \
    X(writes, "write locks")                                                                       \
    X(entries, "read locks that kept off the word of the lock")                                    \
    X(read_waits, "read locks that had to wait")                                                   \
    X(write_waits, "write locks that had to wait")                                                 \
    X(passes, "read locks granted although a writer waited")                                       \
    X(refusals, "calls that returned an error other than EBUSY or ETIMEDOUT")                      \
    X(shared, "locks between processes, left to the C library")

enum shim_count {
#define X(name, text) SHIM_COUNT_##name,
    SHIM_COUNTS(X)
#undef X
        SHIM_COUNT_ALL
};

extern PAWL_HIDDEN_ uint64_t shim_counted[SHIM_COUNT_ALL];

#define SHIM_COUNT(name)                                                                           \
    do {                                                                                           \
        if (PAWL_UNLIKELY(shim_counts_calls))                                                      \
            (void)pawl_fetch_add_relaxed64(&shim_counted[SHIM_COUNT_##name], 1);                   \
    } while (0)

/* A read of this lock has kept off its word. */
void shim_count_entry(const void *lock, const void *caller);

/* Writes to standard error, where descriptor 2 still is the file that it was at the start. */
void shim_complain(const char *text);

/* Says one sentence on standard error and ends the program with code 2. */
__attribute__((cold, noreturn)) void shim_refuse(const char *sentence);

#endif
