/* SPDX-License-Identifier: MIT */
/*
 * Big-reader lock. Each reader counts itself on a cache line of its own thread, so readers do not
 * disturb each other at all; a writer looks at all lines. For data that all CPUs read all the time
 * and that changes now and then, where readers sleep, call out, or hold the lock for long. Its seek
 * (upgradable) state is compatible with readers: a thread can look first and then upgrade.
 *
 * Not for: frequent writes (one costs microseconds); many small objects (each lock has its own
 * lines); data that can be copied (seq.h) or whose readers may see it late (RCU).
 *
 *   closed | inlined | ... lines --> [0] readers | [1] readers | ...   one cache line each
 *   gate | holder                                                      writers and seekers
 *   shared                                                             readers without a line
 *
 *   closed  0: readers may enter. 1: a writer holds W or waits for readers. 2: the same, and
 *           readers sleep for it. The holder of the gate changes it; readers change only 1 into 2.
 *           Every reader reads it, so it is in every reader's cache.
 *   inlined how many lines the inline functions use: all, or none of a FENCED lock; constant after
 *           init.
 *   fenced  readers pass a full fence on entry; constant after init.
 *   lines   entries less exits of readers, each counted by the thread that made it. Only that
 *           thread writes the line, with plain loads and stores. One line alone may be "negative":
 *           only the sum counts readers.
 *   gate    0 free, 1 held, 2 held and waited for: the one seeker or writer.
 *   holder  the checking variant's: the thread that holds the gate; 0 in the others.
 *   shared  readers of threads whose number has no line here; by atomic additions.
 *
 * States       U free; R any number of readers; S one seeker beside readers; W one writer alone.
 * Transitions  S->W waits for readers; W->S, W->R, S->R at once; R->S only as a try.
 *
 * Cost
 *   R  take and drop: a load and a store each of the thread's own line, inline. No atomic
 *      read-modify-write, and no fence where the system can make all threads pass one (Linux
 *      membarrier); else a call and a full fence each. PAWL_BRLOCK_FENCED: a call each and one
 *      fence, else two.
 *   S  a pair of read-modify-writes.
 *   W  the same, a membarrier (0.2 to 17 us measured) unless FENCED, and a load for each line in
 *      use, most of them misses.
 *
 * Invariants
 *   I1  a writer in W is alone; a seeker has no other seeker and no writer beside it.
 *   I2  closed is not 0 only while the gate is held.
 *   I3  a reader counts itself before it looks at closed, and stays only if closed was 0. A writer
 *       closes first, then adds up, with a fence on both sides: if the sum is 0 it is alone. The
 *       sum never shows fewer readers than hold the lock, for an exit comes after its entry.
 *   I4  a reader that leaves lowers the sum first and then looks whether a writer sleeps (fences as
 *       in I3). So no wake is lost.
 *   I5  the last access of a drop of S or W to the lock is the release of the gate; of a drop of R
 *       it is the store to the line.
 *
 * After fork the child owns what the forking thread held. Other threads' readers stay counted for
 * ever, and so does one that was about to find the lock closed: init makes the lock anew.
 */
#ifndef PAWL_BRLOCK_H
#define PAWL_BRLOCK_H

#include <pawl/detail/around.h>
#include <pawl/detail/drain.h>

/* A deadline that never comes, in nanoseconds of CLOCK_MONOTONIC. */
#define PAWL_BRLOCK_FOREVER UINT64_MAX

/* Lines of a lock by default. Threads are numbered from the lowest free number up, so this serves a
 * process of as many threads. Further threads share one counter, at the price of a common lock. */
#define PAWL_BRLOCK_LINES 64
#define PAWL_BRLOCK_MOST_LINES 1024

/* For init, with the number of lines: readers pass a full fence at each entry, and writers only
 * their own. For locks that are written more often than about every 500 reads, and for programs
 * with threads that may not be interrupted. */
#define PAWL_BRLOCK_FENCED 0x10000u

typedef struct pawl_brlock_line {
    uint32_t readers;
} __attribute__((__aligned__(PAWL_CACHE_LINE))) pawl_brlock_line;

typedef struct pawl_brlock {
    uint32_t closed;
    uint32_t inlined;
    uint32_t count; /* of lines */
    uint32_t fenced;
    pawl_brlock_line *lines;
    struct pawl_drain *drain; /* where writers sleep until readers have left */
    void *memory;             /* to be freed */
    char apart1[PAWL_CACHE_LINE];
    uint32_t gate;
    uint32_t holder;
    char apart2[PAWL_CACHE_LINE];
    uint32_t shared;
    char apart3[PAWL_CACHE_LINE];
} pawl_brlock;

PAWL_C_BEGIN

/* Allocates `lines` lines (PAWL_BRLOCK_LINES, or the number of threads that will read; | flags).
 * Returns 0, ENOMEM, or EINVAL for no lines or more than PAWL_BRLOCK_MOST_LINES. After an error the
 * lock still works, with all its readers on the one shared counter. */
PAWL_API int PAWL_SYMBOL_(pawl_brlock_init)(pawl_brlock *l, uint32_t lines);
/* The same on the caller's memory, which must be aligned to PAWL_CACHE_LINE and stay. EINVAL if it
 * is NULL, not aligned, or too small for one line. */
PAWL_API int PAWL_SYMBOL_(pawl_brlock_init_in)(pawl_brlock *l, void *memory, size_t bytes,
                                               uint32_t flags);
/* No thread may hold the lock, wait for it, or be about to return from a call. NULL and a lock
 * whose init failed are allowed. */
PAWL_API void PAWL_SYMBOL_(pawl_brlock_destroy)(pawl_brlock *l);

/* Wait until granted; acquire. `until`: ns of CLOCK_MONOTONIC; false when it has passed and nothing
 * was taken. They sleep after a short spin. A thread that holds the lock in any state may not take
 * it again. Not in signal handlers. */
PAWL_API void PAWL_SYMBOL_(pawl_brlock_take_read_call)(pawl_brlock *l);
PAWL_API void PAWL_SYMBOL_(pawl_brlock_take_seek)(pawl_brlock *l);
PAWL_API void PAWL_SYMBOL_(pawl_brlock_take_write)(pawl_brlock *l);
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_take_read_until_call)(pawl_brlock *l, uint64_t until);
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_take_seek_until)(pawl_brlock *l, uint64_t until);
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_take_write_until)(pawl_brlock *l, uint64_t until);

/* True when granted. Never wait for a holder. A signal handler may call try_read if it drops before
 * it returns. try_read also fails in the moment in which a try_write fails. */
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_try_read_call)(pawl_brlock *l);
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_try_seek)(pawl_brlock *l);
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_try_write)(pawl_brlock *l);

/* Give up the state that the calling thread holds; release. */
PAWL_API void PAWL_SYMBOL_(pawl_brlock_drop_read_call)(pawl_brlock *l);
PAWL_API void PAWL_SYMBOL_(pawl_brlock_drop_seek)(pawl_brlock *l);
PAWL_API void PAWL_SYMBOL_(pawl_brlock_drop_write)(pawl_brlock *l);

/* R that any thread may drop, by this name; costs two atomic additions to a common line. */
PAWL_API void PAWL_SYMBOL_(pawl_brlock_take_read_any)(pawl_brlock *l);
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_try_read_any)(pawl_brlock *l);
PAWL_API void PAWL_SYMBOL_(pawl_brlock_drop_read_any)(pawl_brlock *l);

/* S -> W: waits for the readers that are in. When the deadline passes, or the try finds readers,
 * the caller still holds S. */
PAWL_API void PAWL_SYMBOL_(pawl_brlock_seek_to_write)(pawl_brlock *l);
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_seek_to_write_until)(pawl_brlock *l, uint64_t until);
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_try_seek_to_write)(pawl_brlock *l);
/* Downgrades, at once; release. */
PAWL_API void PAWL_SYMBOL_(pawl_brlock_write_to_seek)(pawl_brlock *l);
PAWL_API void PAWL_SYMBOL_(pawl_brlock_write_to_read)(pawl_brlock *l);
PAWL_API void PAWL_SYMBOL_(pawl_brlock_seek_to_read)(pawl_brlock *l);
/* R -> S. False: the caller still holds R, and must drop it before it waits for S: the holder of S
 * may be waiting for that R. */
PAWL_TRY bool PAWL_SYMBOL_(pawl_brlock_try_read_to_seek)(pawl_brlock *l);

/* Inside: wakes the writer of the lock, which may be gone, if the drain named this lock. */
PAWL_API void PAWL_SYMBOL_(pawl_brlock_tell)(struct pawl_drain *drain, ipawl_address_ lock,
                                             ipawl_address_ whose);

PAWL_C_END

#define pawl_brlock_destroy PAWL_SYMBOL_(pawl_brlock_destroy)
#define ipawl_brlock_take_read_call_ PAWL_SYMBOL_(pawl_brlock_take_read_call)
#define ipawl_brlock_take_read_until_call_ PAWL_SYMBOL_(pawl_brlock_take_read_until_call)
#define ipawl_brlock_try_read_call_ PAWL_SYMBOL_(pawl_brlock_try_read_call)
#define ipawl_brlock_drop_read_call_ PAWL_SYMBOL_(pawl_brlock_drop_read_call)
#define ipawl_brlock_tell_ PAWL_SYMBOL_(pawl_brlock_tell)
#if PAWL_TOLD_AROUND_ || PAWL_TRACED_
#include <pawl/detail/brlock_around.inc.h>
#else
#define pawl_brlock_init PAWL_SYMBOL_(pawl_brlock_init)
#define pawl_brlock_init_in PAWL_SYMBOL_(pawl_brlock_init_in)
#define pawl_brlock_take_seek PAWL_SYMBOL_(pawl_brlock_take_seek)
#define pawl_brlock_take_write PAWL_SYMBOL_(pawl_brlock_take_write)
#define pawl_brlock_take_seek_until PAWL_SYMBOL_(pawl_brlock_take_seek_until)
#define pawl_brlock_take_write_until PAWL_SYMBOL_(pawl_brlock_take_write_until)
#define pawl_brlock_try_seek PAWL_SYMBOL_(pawl_brlock_try_seek)
#define pawl_brlock_try_write PAWL_SYMBOL_(pawl_brlock_try_write)
#define pawl_brlock_drop_seek PAWL_SYMBOL_(pawl_brlock_drop_seek)
#define pawl_brlock_drop_write PAWL_SYMBOL_(pawl_brlock_drop_write)
#define pawl_brlock_take_read_any PAWL_SYMBOL_(pawl_brlock_take_read_any)
#define pawl_brlock_try_read_any PAWL_SYMBOL_(pawl_brlock_try_read_any)
#define pawl_brlock_drop_read_any PAWL_SYMBOL_(pawl_brlock_drop_read_any)
#define pawl_brlock_seek_to_write PAWL_SYMBOL_(pawl_brlock_seek_to_write)
#define pawl_brlock_seek_to_write_until PAWL_SYMBOL_(pawl_brlock_seek_to_write_until)
#define pawl_brlock_try_seek_to_write PAWL_SYMBOL_(pawl_brlock_try_seek_to_write)
#define pawl_brlock_write_to_seek PAWL_SYMBOL_(pawl_brlock_write_to_seek)
#define pawl_brlock_write_to_read PAWL_SYMBOL_(pawl_brlock_write_to_read)
#define pawl_brlock_seek_to_read PAWL_SYMBOL_(pawl_brlock_seek_to_read)
#define pawl_brlock_try_read_to_seek PAWL_SYMBOL_(pawl_brlock_try_read_to_seek)
#endif

/* ---- Readers with a ticket (thread.h) ---------------------------------------------------------
 * The others call the compiled functions; so do all readers of the checking variant. */
#if PAWL_THREAD_TICKETS_ && !PAWL_CHECKED

PAWL_INLINE_BEGIN

/* The number of the caller's line. If it is not below l->inlined, the caller calls the compiled
 * function. A thread without a ticket has the number UINT32_MAX. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ uint32_t ipawl_brlock_number_(void)
{
    return PAWL_THREAD_TICKET_ - 1;
}

/* Tries once to enter; leaves no trace if that fails. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_brlock_enter_(pawl_brlock *l)
{
    const uint32_t number = ipawl_brlock_number_();
    uint32_t *own;
    if (PAWL_UNLIKELY(number >= l->inlined) || PAWL_UNLIKELY(pawl_load_relaxed32(&l->closed) != 0))
        return false;
    own = &l->lines[number].readers;
    pawl_store_relaxed32(own, pawl_load_relaxed32(own) + 1);
    /* [BRLOCK_R_ENTER] light: the reader is counted before it looks whether the lock is closed. */
    pawl_fence_light_known(PAWL_BRLOCK_R_ENTER);
    /* [BRLOCK_R_TAKE] acquire: the reader's reads come after the stores of the writer that
     * opened. */
    if (PAWL_LIKELY(pawl_load_acquire32(&l->closed, PAWL_BRLOCK_R_TAKE) == 0))
        return true;
    ipawl_brlock_drop_read_call_(l);
    return false;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_brlock_read_at_once_(pawl_brlock *l)
{
    return PAWL_LIKELY(ipawl_brlock_enter_(l)) || ipawl_brlock_try_read_call_(l);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_brlock_take_read(pawl_brlock *l)
{
    bool value;
    PAWL_WAITS_(BRLOCK, 0u, U, R, ipawl_brlock_read_at_once_(l),
                PAWL_LIKELY(ipawl_brlock_enter_(l)) || (ipawl_brlock_take_read_call_(l), true),
                true);
    (void)value;
}

PAWL_TRYING PAWL_ALWAYS_INLINE_ bool pawl_brlock_take_read_until(pawl_brlock *l, uint64_t until)
{
    bool value;
    PAWL_WAITS_(BRLOCK, PAWL_TRACED_UNTIL_, U, R, ipawl_brlock_read_at_once_(l),
                PAWL_LIKELY(ipawl_brlock_enter_(l)) || ipawl_brlock_take_read_until_call_(l, until),
                value);
    return value;
}

PAWL_TRYING PAWL_ALWAYS_INLINE_ bool pawl_brlock_try_read(pawl_brlock *l)
{
    bool value;
    PAWL_TRIES_(BRLOCK, 0u, U, R, ipawl_brlock_read_at_once_(l));
    return value;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_brlock_leave_(pawl_brlock *l)
{
    const uint32_t number = ipawl_brlock_number_();
    struct pawl_drain *const drain = l->drain; /* I5: after the store the lock may be gone */
    ipawl_address_ whose;
    uint32_t *own;
    if (PAWL_UNLIKELY(number >= l->inlined)) {
        ipawl_brlock_drop_read_call_(l);
        return;
    }
    own = &l->lines[number].readers;
    /* [BRLOCK_R_DROP] release: the reader's reads are done before a writer sees the sum fall. */
    pawl_store_release32(own, pawl_load_relaxed32(own) - 1, PAWL_BRLOCK_R_DROP);
    /* [BRLOCK_R_LEFT] light: the sum has fallen before the reader looks whether a writer sleeps. */
    pawl_fence_light_known(PAWL_BRLOCK_R_LEFT);
    whose = PAWL_ADDRESS_(pawl_load_relaxed)(&drain->whose);
    if (PAWL_UNLIKELY(whose != 0))
        ipawl_brlock_tell_(drain, (ipawl_address_)(uintptr_t)l, whose);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_brlock_drop_read(pawl_brlock *l)
{
    bool value;
    PAWL_DROPS_(BRLOCK, R, (ipawl_brlock_leave_(l), true));
    (void)value;
}

PAWL_INLINE_END

#elif !PAWL_TOLD_AROUND_ && !PAWL_TRACED_

#define pawl_brlock_take_read ipawl_brlock_take_read_call_
#define pawl_brlock_take_read_until ipawl_brlock_take_read_until_call_
#define pawl_brlock_try_read ipawl_brlock_try_read_call_
#define pawl_brlock_drop_read ipawl_brlock_drop_read_call_

#endif

#endif
