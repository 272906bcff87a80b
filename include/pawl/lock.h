/* SPDX-License-Identifier: MIT */
/*
 * Progressive locks that sleep: read, seek, write and atomic in one word, as in spin.h, for threads
 * that may outnumber the cores and sections of any length. Every wait can have a deadline.
 *
 * Not for: signal handlers that may interrupt a holder; memory shared between processes
 * (pshared.h);
 * real-time threads that need priority inheritance.
 *
 * Source: the word and its states are those of W. Tarreau, "Progressive Locks" (2018); sleeping on
 * any address is from "Implementing atomic wait and notify". doc/design/014-lock.md says how the
 * two were joined.
 *
 * The word
 *
 *   64 bit   63 ............ W 34 | 33 S 32 | 31 ............ R 2 | 1 BIASED | 0 PARKED
 *   32 bit   31 ............ W 18 | 17 S 16 | 15 ............ R 2 | 1 BIASED | 0 PARKED
 *
 *   R S W   as in spin.h.
 *   PARKED  must be set while a waiter sleeps. Set by a waiter, under the lock of its wait list,
 *           in the same access by which it sees that it must wait; cleared by a holder or a waiter
 *           under that lock when nobody sleeps any more. May be set when nobody sleeps: it then
 *           costs one look into the wait list.
 *   BIASED  reserved, always 0.
 *
 * A zero word is unlocked, always: calloc makes locks. The wait list is elsewhere (wait.h), so the
 * lock is no larger than its word, and destroying it is forgetting it.
 *
 * How a waiter waits: it reads for a while (what being woken costs here, measured as the program
 * runs), then offers its CPU to others some times, looking in between, because the holder may not
 * be running; it joins the wait list, goes on like that for a shorter time if fewer than two others
 * of the list are awake, and sleeps, having set PARKED. Whoever takes units out of the word and
 * finds PARKED looks which waiters that lets in: the oldest, and with a reader all readers, with an
 * atomic user all atomic users. A waiter that was woken keeps its place until it has the lock.
 *
 * Fairness: a writer's claim holds newcomers back, so it waits for at most the readers already in,
 * and the readers held back enter together. Threads that are running may overtake those that sleep
 * (that is where the throughput comes from), but the oldest waiter, once it has waited for
 * PAWL_LOCK_HANDOFF_NS, is handed the lock: it keeps a claim that lets nobody else in, whatever it
 * waits for. Hand-offs are at least PAWL_LOCK_HANDOFF_NS apart for each lock.
 *
 * Cost: nobody disturbing, each take, drop and move is one atomic read-modify-write, as in spin.h,
 * and a test of what it found. No system call unless somebody sleeps or must.
 *
 * Limits, invariants I1, I2, I4: as in spin.h. And
 *   I3  at most one waiter of a lock keeps W+S without R while it waits for W: the one that its
 *       wait list marks. At most one atomic user keeps W+S while it waits for readers.
 *   I5  a waiter sleeps only if, by the value in which it set PARKED, it could not enter.
 *   I6  a subtraction of units that finds PARKED and leaves a word by which some class of waiters
 *       can go on is followed by a look into the wait list, by its author or by a waiter of the
 *       same lock who is awake and will itself look at the word before it sleeps and when it
 *       leaves.
 *   I7  after the access that gives up a state, a drop uses the lock's address, never its memory.
 *
 * Deadlines are nanoseconds of CLOCK_MONOTONIC as pawl_now() gives them; one in the past makes the
 * operation fail at once if it would have to wait; UINT64_MAX is none. A wait that ends by its
 * deadline takes its claim back and wakes those whom the claim held back.
 *
 * Signal handlers may only try, never wait, and may not drop a lock on which others can sleep while
 * the interrupted thread is inside one of these functions. After fork the child has what the
 * forking thread held, nobody waits, and locks that other threads held stay held for ever. No
 * operation is a cancellation point.
 */
#ifndef PAWL_LOCK_H
#define PAWL_LOCK_H

#include <pawl/spin.h>
#include <pawl/wait.h>

/* The oldest waiter is handed the lock when it has waited for so long, and no more often: 0.6 ms.
 * Handing over to every waiter after 0.5 ms cost a mutex more than half of its throughput where
 * threads outnumber cores; never handing over let threads wait for a third of a second. */
#define PAWL_LOCK_HANDOFF_NS 600000

#define PAWL_LOCK_PARKED 1u
#define PAWL_LOCK_BIASED 2u

typedef struct pawl_lock32 {
    uint32_t word;
} pawl_lock32;

typedef struct pawl_lock64 {
    uint64_t word __attribute__((aligned(8))); /* also on 32-bit targets, whose ABI says 4 */
} pawl_lock64;

#define PAWL_LOCK32_INIT {0}
#define PAWL_LOCK64_INIT {0}

/* How atomic_to_read_until ended. */
enum pawl_regained {
    PAWL_REGAIN_TIMED_OUT, /* nothing is held: the updates are done, reading was not granted */
    PAWL_REGAIN_LET_GO,    /* R is held; a claimant was let in first: look again */
    PAWL_REGAIN_KEPT       /* R is held, no writer was in between */
};

#define PAWL_WORD_SLEEPS 1
#define PAWL_WORD_BITS 32
#include <pawl/detail/word.inc.h>
#include <pawl/detail/lock_until.inc.h>
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include <pawl/detail/word.inc.h>
#include <pawl/detail/lock_until.inc.h>
#undef PAWL_WORD_BITS
#undef PAWL_WORD_SLEEPS

/* ---- Front names that choose by type, now for both kinds of lock ----------------------------- */
#ifndef __cplusplus
#undef PAWL_BY_TYPE_
#define PAWL_BY_TYPE_(lock, operation)                                                             \
    _Generic((lock),                                                                               \
        pawl_spin16 *: pawl_spin16_##operation,                                                    \
        pawl_spin32 *: pawl_spin32_##operation,                                                    \
        pawl_spin64 *: pawl_spin64_##operation,                                                    \
        pawl_lock32 *: pawl_lock32_##operation,                                                    \
        pawl_lock64 *: pawl_lock64_##operation)
#undef pawl_set_bits
#undef pawl_clear_bits
#undef pawl_bits
#define PAWL_BY_SPIN_(lock, operation)                                                             \
    _Generic((lock),                                                                               \
        pawl_spin16 *: pawl_spin16_##operation,                                                    \
        pawl_spin32 *: pawl_spin32_##operation,                                                    \
        pawl_spin64 *: pawl_spin64_##operation)
#define pawl_set_bits(lock, bits) PAWL_BY_SPIN_(lock, set_bits)(lock, bits)
#define pawl_clear_bits(lock, bits) PAWL_BY_SPIN_(lock, clear_bits)(lock, bits)
#define pawl_bits(lock) PAWL_BY_SPIN_(lock, bits)(lock)

#define PAWL_BY_LOCK_(lock, operation)                                                             \
    _Generic((lock),                                                                               \
        pawl_lock32 *: pawl_lock32_##operation,                                                    \
        pawl_lock64 *: pawl_lock64_##operation)
#define pawl_take_read_until(lock, deadline) PAWL_BY_LOCK_(lock, take_read_until)(lock, deadline)
#define pawl_take_seek_until(lock, deadline) PAWL_BY_LOCK_(lock, take_seek_until)(lock, deadline)
#define pawl_take_write_until(lock, deadline) PAWL_BY_LOCK_(lock, take_write_until)(lock, deadline)
#define pawl_take_atomic_until(lock, deadline)                                                     \
    PAWL_BY_LOCK_(lock, take_atomic_until)(lock, deadline)
#define pawl_claim_write_until(lock, deadline)                                                 \
    PAWL_BY_LOCK_(lock, claim_write_until)(lock, deadline)
#define pawl_claim_atomic_until(lock, deadline)                                                \
    PAWL_BY_LOCK_(lock, claim_atomic_until)(lock, deadline)
#define pawl_seek_to_write_until(lock, deadline)                                                   \
    PAWL_BY_LOCK_(lock, seek_to_write_until)(lock, deadline)
#define pawl_read_claim_write_until(lock, deadline)                                         \
    PAWL_BY_LOCK_(lock, read_claim_write_until)(lock, deadline)
#define pawl_read_claim_atomic_until(lock, deadline)                                        \
    PAWL_BY_LOCK_(lock, read_claim_atomic_until)(lock, deadline)
#define pawl_atomic_to_read_until(lock, deadline)                                                  \
    PAWL_BY_LOCK_(lock, atomic_to_read_until)(lock, deadline)
#endif

#endif
