/* SPDX-License-Identifier: MIT */
/*
 * Wait and wake on any address. A thread sleeps as long as a word of the program, of 8, 16, 32 or
 * 64 bits, or some bits of it, hold a value. The thread that changes the word wakes it. So any word
 * becomes a lock, an event or a gate: see bitlock.h, cond.h and examples/wait_lock.c.
 *
 * Not for: waits that a lock, a condition variable or an event count expresses better (lock.h,
 * cond.h); signal handlers; real-time threads that must not wait for a lock of ordinary ones.
 *
 *   waiter                                      waker
 *   while (load(word) == BUSY)                  store(word, FREE)
 *       pawl_wait32(&word, BUSY);               pawl_wake_one(&word)
 *
 * Guarantees
 *   I1  A wait sleeps only if its look finds the value in the word. A thread that changes the word
 *       after that look, and then wakes the address, finds the sleeper. So no wake is lost.
 *   I2  A wait may return for no reason. Look at the word again, in a loop.
 *   I3  A wake reads and writes nothing at the address. The memory may be freed or belong
 *       to another object already; a thread that waits there may return for no reason (I2). Not
 *       so the shared wakes: they need the address mapped, see there.
 *   I4  There is no time-out inside. A wait without a deadline ends only by a wake or a change.
 *   I5  A wait orders nothing by itself: load the word with acquire, or take the lock that it is.
 *       A wake comes after everything its thread did before, whatever the order of the store.
 *   I6  A wake takes the oldest waiter of the address first; 32-bit waiters, which sleep in the
 *       kernel, come after the others. A wake is used up even if the waiter's word is unchanged.
 *       So where waiters of one address wait for different things, wake all of them, or by bits.
 *
 * 32-bit waits go to the system's own wait on an address where it has one. All others go to lists
 * in the process, keyed by address (src/lock/table.h). One place counts both, so a wake without
 * waiters costs one atomic operation and no system call.
 *
 * Cost without waiters: pawl_wake one atomic read-modify-write; a wait whose word differs one load.
 * With waiters: a few polls, then one system call to sleep and one to wake.
 *
 * Signal handlers may call nothing here but the shared wakes below: the interrupted thread may hold
 * the lock of a list. After fork the lists of the child are empty; the parent's waiters are not in
 * the child. Process-shared waiting is 32-bit only, because no kernel has another width. No
 * cancellation point.
 */
#ifndef PAWL_WAIT_H
#define PAWL_WAIT_H

#include <pawl/atomic.h>

#define PAWL_WAIT_FOREVER UINT64_MAX

/* The result of a wait. */
enum pawl_waited {
    PAWL_WAIT_WOKEN,   /* by a wake, or for no reason */
    PAWL_WAIT_DIFFERS, /* the word held another value at the look */
    PAWL_WAIT_EXPIRED, /* the deadline passed; no wake was used up */
    PAWL_WAIT_REFUSED  /* at once: null, or no multiple of the width, or no or too many watches */
};

/* The most words that one thread can wait for at once. */
#define PAWL_WAIT_WATCHES 64

/* One of several words: the wait lasts while (word & mask) == value. */
struct pawl_watch {
    const void *address;
    uint64_t value;
    uint64_t mask;
    uint32_t bits; /* of the word: 8, 16, 32, 64 */
};

PAWL_C_BEGIN

PAWL_API uint64_t PAWL_SYMBOL_(pawl_now)(void);
PAWL_API enum pawl_waited PAWL_SYMBOL_(pawl_wait)(const void *address, uint32_t bits, uint64_t mask,
                                                  uint64_t value, uint64_t deadline);
PAWL_API enum pawl_waited PAWL_SYMBOL_(pawl_wait_any)(const struct pawl_watch *watches,
                                                      uint32_t count, uint32_t *which,
                                                      uint64_t deadline);
PAWL_API unsigned PAWL_SYMBOL_(pawl_wake)(const void *address, uint64_t bits, unsigned count);
/* bitlock.h's, directly behind the full fence of a drop. */
PAWL_API void PAWL_SYMBOL_(pawl_bitlock_wake)(const void *word, uint64_t bit);
PAWL_API unsigned PAWL_SYMBOL_(pawl_requeue)(const void *from, const void *to, unsigned wake,
                                             unsigned move);
PAWL_API enum pawl_waited PAWL_SYMBOL_(pawl_wait_shared)(const uint32_t *address, uint32_t value,
                                                         uint64_t deadline);
PAWL_API unsigned PAWL_SYMBOL_(pawl_wake_shared)(const uint32_t *address, unsigned count);

PAWL_C_END

#if PAWL_TOLD_ && !PAWL_HOOKS
#include <pawl/detail/wait_told.h>
#define PAWL_CALL_(name) i##name##_told_
#else
#define PAWL_CALL_(name) PAWL_SYMBOL_(name)
#endif

PAWL_INLINE_BEGIN

/* Nanoseconds of CLOCK_MONOTONIC, the unit of deadlines: `pawl_now() + 5000000` is in 5 ms. A wait
 * with a past deadline does not sleep; PAWL_WAIT_FOREVER never passes, nor do deadlines centuries
 * ahead. */
PAWL_INLINE uint64_t pawl_now(void)
{
    return PAWL_SYMBOL_(pawl_now)();
}

/* pawl_wait32(address, value): sleeps while *address == value, until woken.
 * pawl_wait32_until(address, value, deadline): ... or until the deadline.
 * pawl_wait32_masked(address, mask, value): while (*address & mask) == value.
 * Likewise 8, 16 and 64. The address is a multiple of the width, also for 64 bits on a 32-bit
 * target. The word is read with a relaxed load. */
#define PAWL_WAIT_WIDTH_(N)                                                                        \
    PAWL_INLINE enum pawl_waited pawl_wait##N##_masked_until(                                      \
        const uint##N##_t *address, uint##N##_t mask, uint##N##_t value, uint64_t deadline)        \
    {                                                                                              \
        return PAWL_CALL_(pawl_wait)(address, N, mask, value, deadline);                           \
    }                                                                                              \
    PAWL_INLINE enum pawl_waited pawl_wait##N##_masked(const uint##N##_t *address,                 \
                                                       uint##N##_t mask, uint##N##_t value)        \
    {                                                                                              \
        return PAWL_CALL_(pawl_wait)(address, N, mask, value, PAWL_WAIT_FOREVER);                  \
    }                                                                                              \
    PAWL_INLINE enum pawl_waited pawl_wait##N##_until(const uint##N##_t *address,                  \
                                                      uint##N##_t value, uint64_t deadline)        \
    {                                                                                              \
        return PAWL_CALL_(pawl_wait)(address, N, UINT##N##_MAX, value, deadline);                  \
    }                                                                                              \
    PAWL_INLINE enum pawl_waited pawl_wait##N(const uint##N##_t *address, uint##N##_t value)       \
    {                                                                                              \
        return PAWL_CALL_(pawl_wait)(address, N, UINT##N##_MAX, value, PAWL_WAIT_FOREVER);         \
    }

PAWL_WAIT_WIDTH_(8)
PAWL_WAIT_WIDTH_(16)
PAWL_WAIT_WIDTH_(32)
PAWL_WAIT_WIDTH_(64)
#undef PAWL_WAIT_WIDTH_

/* Sleeps while every one of the words matches its watch; at most PAWL_WAIT_WATCHES. *which: the
 * watch that was woken or differs (look at the others too). If a wake for another of them comes at
 * the same time, the call passes it on to the next waiter there. */
PAWL_INLINE enum pawl_waited pawl_wait_any_until(const struct pawl_watch *watches, uint32_t count,
                                                 uint32_t *which, uint64_t deadline)
{
    return PAWL_CALL_(pawl_wait_any)(watches, count, which, deadline);
}

PAWL_INLINE enum pawl_waited pawl_wait_any(const struct pawl_watch *watches, uint32_t count,
                                           uint32_t *which)
{
    return PAWL_CALL_(pawl_wait_any)(watches, count, which, PAWL_WAIT_FOREVER);
}

/* Wake threads that wait for the address, whatever the width of their waits. Return the number of
 * threads woken: 0 without waiters, or for null. */
PAWL_INLINE unsigned pawl_wake_one(const void *address)
{
    return PAWL_CALL_(pawl_wake)(address, UINT64_MAX, 1);
}

PAWL_INLINE unsigned pawl_wake_n(const void *address, unsigned count)
{
    return PAWL_CALL_(pawl_wake)(address, UINT64_MAX, count);
}

PAWL_INLINE unsigned pawl_wake_all(const void *address)
{
    return PAWL_CALL_(pawl_wake)(address, UINT64_MAX, UINT32_MAX);
}

/* Wakes only waiters whose mask has one of these bits; a wait without a mask has all bits. */
PAWL_INLINE unsigned pawl_wake_bits(const void *address, uint64_t bits, unsigned count)
{
    return PAWL_CALL_(pawl_wake)(address, bits, count);
}

/* Wakes `wake` waiters of `from`. Moves up to `move` further ones to `to`, as if they had gone to
 * sleep there, without a look at any word. Returns the number woken or moved. The caller must keep
 * `to` from being released meanwhile, or the moved waiters miss that wake. */
PAWL_INLINE unsigned pawl_requeue(const void *from, const void *to, unsigned wake, unsigned move)
{
    return PAWL_CALL_(pawl_requeue)(from, to, wake, move);
}

/* ---- Between processes --------------------------------------------------------------------------
 * For a word in memory that several processes have mapped. Shared waits and wakes meet only each
 * other: a shared wake does not find a plain wait, and a plain wake finds no shared one. A wake is
 * one system call even if no thread sleeps, so keep a bit in the word that says so. Signal handlers
 * may call shared wakes.
 *
 * I3 is weaker here. The system finds the sleepers by the page. If the page is not mapped in the
 * waking process any more, or that process has ended, the wake reaches nobody and returns 0. So a
 * store after which another thread may unmap the word, or end the process, must come after the
 * wake, and waiters must not sleep in between:
 *
 *   1. store a value that says "about to change"; waiters yield at it and do not wait;
 *   2. wake all;
 *   3. store the final value, as the last access.
 *
 * pawl_pshared_lock32 does so. If the word stays mapped until the wake returns, store and wake. */
PAWL_INLINE enum pawl_waited pawl_wait32_shared(const uint32_t *address, uint32_t value)
{
    return PAWL_CALL_(pawl_wait_shared)(address, value, PAWL_WAIT_FOREVER);
}

PAWL_INLINE enum pawl_waited pawl_wait32_shared_until(const uint32_t *address, uint32_t value,
                                                      uint64_t deadline)
{
    return PAWL_CALL_(pawl_wait_shared)(address, value, deadline);
}

PAWL_INLINE unsigned pawl_wake_one_shared(const uint32_t *address)
{
    return PAWL_CALL_(pawl_wake_shared)(address, 1);
}

PAWL_INLINE unsigned pawl_wake_n_shared(const uint32_t *address, unsigned count)
{
    return PAWL_CALL_(pawl_wake_shared)(address, count);
}

PAWL_INLINE unsigned pawl_wake_all_shared(const uint32_t *address)
{
    return PAWL_CALL_(pawl_wake_shared)(address, UINT32_MAX);
}

PAWL_INLINE_END

#endif
