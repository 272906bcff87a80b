/* SPDX-License-Identifier: MIT */
/*
 * Upgradable reader-writer lock that sleeps: read (shared), seek (upgradable), write (exclusive)
 * and atomic in one word, as in spin.h (take is lock, drop is unlock, seek_to_write the upgrade,
 * write_to_read the downgrade). For threads that may outnumber the cores and sections of any
 * length. Every wait can have a deadline.
 *
 * Not for: signal handlers that may interrupt a holder; memory shared between processes
 * (pshared.h); real-time threads that need priority inheritance.
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
 *   PARKED  must be set while a waiter sleeps. A waiter sets it, under the lock of its wait list,
 *           in the same access by which it sees that it must wait. A holder or a waiter clears it
 *           under that lock when no waiter sleeps any more. It may be set when no waiter sleeps:
 *           it then costs one look into the wait list. A change of what a waiter keeps turns it
 *           round, under that lock; if it was set, its author sets it again and looks at once.
 *   BIASED  readers may be in entries of their own lines instead of R (entries.h). A reader sets
 *           it, and only while W is zero. Only a thread whose W is in the word and that has scanned
 *           all lines may clear it. So it must be set while an entry has the lock. It may be set
 *           when no entry has: each claim of W then scans the lines for nothing.
 *
 * Readers that scale. A lock gets BIASED once its readers have met each other often with no writer
 * between, and loses it where writers pay too much ("evidence"). PAWL_BIAS=on in the environment
 * gives it to all locks, off to none. A reader that finds BIASED and no W stores the lock in an
 * entry of its own line, passes a full fence, and looks at the word again. If it still is so, it is
 * in. Its drop clears the entry. So readers write no line in common. A claim of W is first in the
 * word; then its author looks at the lines of all threads, and then at R. A thread has PAWL_ENTRIES
 * entries. Its further reads count in the word, and so do those of threads without a line.
 *
 * A zero word is an unlocked lock: calloc makes locks. The wait list is elsewhere (wait.h), so the
 * lock is no larger than its word, and nothing need be done to destroy it.
 *
 * How a waiter waits
 *   1. It reads in a loop for 50 us. On one CPU it does not.
 *   2. It joins the wait list, and reads once more for so long if no other waiter there is awake.
 *   3. It sets PARKED and sleeps.
 * On Linux each loop yields up to 64 times after 2 us, unless the deadline is within 40 ms. A
 * thread that runs late while other programs use the CPUs ends all yields for 100 ms: a yield costs
 * a time slice there. A releaser that finds PARKED looks which waiters can enter now: the oldest,
 * and with a reader other readers, with an atomic user other atomic users. It wakes two, and each
 * wakes the next. A waiter that was woken keeps its place in the list until it has the lock.
 *
 * Fairness: a writer's claim holds newcomers back. So the writer waits at most for the readers that
 * are already in, and the readers held back enter together. Running threads may overtake sleeping
 * ones, which gives the throughput. The oldest waiter gets a hand-off once it has waited for
 * PAWL_LOCK_HANDOFF_NS: it keeps a claim. A writer's claim lets nobody else in. A seeker's or
 * atomic user's claim admits readers once no writer is in, because the current seeker may wait
 * for a reader. Hand-offs of one lock are at least PAWL_LOCK_HANDOFF_NS apart.
 *
 * Cost: while no other thread interferes, each take, drop and move is one atomic read-modify-write,
 * as in spin.h, and a test of what it found. No system call unless a thread waits.
 *
 * Limits and invariants I1, I2, I4: as in spin.h. And
 *   I0  No thread adds units that it may have to take back at once. Each claim is a
 *       compare-exchange that succeeds only where the word permits it. Beside BIASED it may find a
 *       reader then; it holds the latch of the wait list until it has taken the claim back.
 *   I3  At most one waiter of a lock has its turn, and keeps W+S or S without R: the one that its
 *       wait list marks. At most one atomic user keeps W+S while it waits for readers.
 *   I5  A waiter sleeps only if, by the value in which it set PARKED, it could not enter.
 *   I6  A subtraction of units that finds PARKED, and leaves a word by which some class of waiters
 *       can go on, is followed by a look into the wait list. Its author looks, or a waiter of the
 *       same lock that is awake, which looks at the word before it sleeps and when it leaves.
 *   I7  After the access that gives up a state, a drop uses the lock's address, never its memory.
 *   I8  A reader's R moves from an entry into the word, never back, and is in both for a moment. A
 *       thread that owns W, then finds every entry free, then reads R = 0, excludes all readers.
 *
 * Deadlines are nanoseconds of CLOCK_MONOTONIC as pawl_now() gives them; UINT64_MAX is none. With
 * one in the past an operation fails at once if it would have to wait. A wait that ends by its
 * deadline takes its claim back and wakes the waiters that the claim held back.
 *
 * Signal handlers may only try, never wait. A try that fails leaves the caller's hold as it was,
 * and without BIASED it looks at nothing else than the word. Beside BIASED a try of W or A, or such
 * a move, looks at the lines of all threads. If no entry has the lock, it claims under the latch of
 * the wait list, which locks share, and looks once more. If it fails then, it takes the claim back
 * and wakes those whom the claim held back. It waits for the latch as a drop does. In a handler
 * that has interrupted its thread at such a latch it may fail instead, without a holder. Handlers
 * may not drop a lock on which others can sleep while the interrupted thread is inside one of these
 * functions.
 *
 * After fork the child has what the forking thread held, and can go on with it: what the parent's
 * waiters kept in the words is taken back. Locks that other threads held stay held, in any mode;
 * init makes them anew. The child changes words for that, so a lock may not lie in memory that the
 * child shares with its parent, or has not got. Handlers of pthread_atfork may use locks. A signal
 * handler that forks may return into a drop in the child, but not into a wait. A child of _Fork or
 * vfork, which run no handlers, may only call exec or _exit. No operation is a cancellation point.
 */
#ifndef PAWL_LOCK_H
#define PAWL_LOCK_H

#include <pawl/detail/entries.h>
#include <pawl/detail/sleeping_calls.h>
#include <pawl/spin.h>
#include <pawl/wait.h>

/* The oldest waiter gets a hand-off when it has waited for so long, and no more often: 0.6 ms.
 * A hand-off to every waiter after 0.5 ms cost a mutex more than half of its throughput where
 * threads outnumber cores; without hand-offs some threads waited for a third of a second. */
#define PAWL_LOCK_HANDOFF_NS 600000

#define PAWL_LOCK_PARKED 1u
#define PAWL_LOCK_BIASED 2u

typedef struct pawl_lock32 {
    uint32_t word;
} pawl_lock32;

typedef struct pawl_lock64 {
    uint64_t word __attribute__((__aligned__(8))); /* also on 32-bit targets, whose ABI says 4 */
} pawl_lock64;

#define PAWL_LOCK32_INIT {0}
#define PAWL_LOCK64_INIT {0}

#define PAWL_HAVE_LOCK_ 1 /* generic.h: the front names take these locks too */

/* One contract serves the widths below it. U R S W A are the states; "->" changes the caller's. */
PAWL_INLINE_BEGIN

/* prototypes:begin (scripts/prototypes reads them) */
/* ---- The life of a lock */
/* Makes the lock unlocked, as zeroing it does. Not while it is used. */
PAWL_INLINE void pawl_lock32_init(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_init(pawl_lock64 *l);
/* The lock will not be used again. The checking variant reports a held lock. */
PAWL_INLINE void pawl_lock32_destroy(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_destroy(pawl_lock64 *l);

/* ---- Taking. A thread that holds the lock in any state may not take it again: R inside R or S
 * waits for ever once a writer has claimed. */
/* U -> R. Waits for writers and atomic users. Acquire. */
PAWL_INLINE void pawl_lock32_take_read(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_take_read(pawl_lock64 *l);
/* U -> S. Waits for a seeker, writers and atomic users. Acquire. */
PAWL_INLINE void pawl_lock32_take_seek(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_take_seek(pawl_lock64 *l);
/* U -> W. Waits for all holders; newcomers wait from its claim on. Acquire. */
PAWL_INLINE void pawl_lock32_take_write(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_take_write(pawl_lock64 *l);
/* U -> A. Waits for readers, a seeker and writers. Acquire. */
PAWL_INLINE void pawl_lock32_take_atomic(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_take_atomic(pawl_lock64 *l);

/* ---- Trying: true when granted. A try never waits for a holder. It is also false while a claim
 * that is about to be withdrawn stands in the way. */
/* U -> R. False if a writer or an atomic user is in. Acquire when true. */
PAWL_TRYING bool pawl_lock32_try_read(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_try_read(pawl_lock64 *l);
/* U -> S. False if a seeker, a writer or an atomic user is in. Acquire when true. */
PAWL_TRYING bool pawl_lock32_try_seek(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_try_seek(pawl_lock64 *l);
/* U -> W. False if anybody is in. Acquire when true. */
PAWL_TRYING bool pawl_lock32_try_write(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_try_write(pawl_lock64 *l);
/* U -> A. False if a reader, a seeker or a writer is in. Acquire when true. */
PAWL_TRYING bool pawl_lock32_try_atomic(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_try_atomic(pawl_lock64 *l);

/* ---- Claiming: as try, but readers are no reason to fail. After the claim the caller waits until
 * the readers have left. */
/* U -> W. False if a seeker, writer or atomic user is in; waits for readers. Acquire. */
PAWL_TRYING bool pawl_lock32_claim_write(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_claim_write(pawl_lock64 *l);
/* U -> A. False if a seeker or a writer is in; waits for readers. Acquire. */
PAWL_TRYING bool pawl_lock32_claim_atomic(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_claim_atomic(pawl_lock64 *l);

/* ---- Dropping (unlock), in the thread that took. Only the checking variant notices another one.
 * A read that any thread may drop is taken by take_read_counted, below. */
/* R -> U. Release. */
PAWL_INLINE void pawl_lock32_drop_read(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_drop_read(pawl_lock64 *l);
/* S -> U. Release. */
PAWL_INLINE void pawl_lock32_drop_seek(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_drop_seek(pawl_lock64 *l);
/* W -> U. Release. */
PAWL_INLINE void pawl_lock32_drop_write(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_drop_write(pawl_lock64 *l);
/* A -> U. Release. */
PAWL_INLINE void pawl_lock32_drop_atomic(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_drop_atomic(pawl_lock64 *l);

/* ---- Upgrading S and downgrading. */
/* S -> W. Waits for readers, cannot fail. Acquire. */
PAWL_INLINE void pawl_lock32_seek_to_write(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_seek_to_write(pawl_lock64 *l);
/* S -> W. False if readers are in: S is kept. Never waits. Acquire. */
PAWL_TRYING bool pawl_lock32_try_seek_to_write(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_try_seek_to_write(pawl_lock64 *l);
/* W -> S. At once. Release. */
PAWL_INLINE void pawl_lock32_write_to_seek(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_write_to_seek(pawl_lock64 *l);
/* W -> R. At once. Release. */
PAWL_INLINE void pawl_lock32_write_to_read(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_write_to_read(pawl_lock64 *l);
/* S -> R. At once. Release. */
PAWL_INLINE void pawl_lock32_seek_to_read(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_seek_to_read(pawl_lock64 *l);

/* ---- Upgrading R. When one fails, R is still held. Drop it before another attempt, because the
 * thread that got S or W waits for it. */
/* R -> S. False if a seeker, writer or atomic user is in. Never waits. Acquire. */
PAWL_TRYING bool pawl_lock32_try_read_to_seek(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_try_read_to_seek(pawl_lock64 *l);
/* R -> W. False unless the caller is alone. Never waits. Acquire. */
PAWL_TRYING bool pawl_lock32_try_read_to_write(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_try_read_to_write(pawl_lock64 *l);
/* R -> W. False if a seeker or writer is in; waits for readers. Acquire. */
PAWL_TRYING bool pawl_lock32_read_claim_write(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_read_claim_write(pawl_lock64 *l);
/* R -> A. False unless the caller is alone. Never waits. Acquire, release. */
PAWL_TRYING bool pawl_lock32_try_read_to_atomic(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_try_read_to_atomic(pawl_lock64 *l);
/* R -> A. False if a seeker or writer is in; waits for readers. Acquire, release. */
PAWL_TRYING bool pawl_lock32_read_claim_atomic(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_read_claim_atomic(pawl_lock64 *l);

/* ---- Downgrading A. */
/* A -> R. Waits for other atomic users; tells whether a claimant was let in first. Acquire,
 * release. */
PAWL_INLINE pawl_regained pawl_lock32_atomic_to_read(pawl_lock32 *l);
PAWL_INLINE pawl_regained pawl_lock64_atomic_to_read(pawl_lock64 *l);

/* ---- With a deadline, in nanoseconds of pawl_now(). One that has passed fails only an operation
 * that would wait. */
/* U -> R as take_read; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_lock32_take_read_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_take_read_until(pawl_lock64 *l, uint64_t deadline);
/* U -> S as take_seek; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_lock32_take_seek_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_take_seek_until(pawl_lock64 *l, uint64_t deadline);
/* U -> W as take_write; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_lock32_take_write_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_take_write_until(pawl_lock64 *l, uint64_t deadline);
/* U -> A as take_atomic; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_lock32_take_atomic_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_take_atomic_until(pawl_lock64 *l, uint64_t deadline);
/* U -> W as claim_write; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_lock32_claim_write_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_claim_write_until(pawl_lock64 *l, uint64_t deadline);
/* U -> A as claim_atomic; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_lock32_claim_atomic_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_claim_atomic_until(pawl_lock64 *l, uint64_t deadline);
/* S -> W as seek_to_write; false once the deadline has passed: S still. */
PAWL_TRYING bool pawl_lock32_seek_to_write_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_seek_to_write_until(pawl_lock64 *l, uint64_t deadline);
/* R -> W as read_claim_write; false once the deadline has passed: R still. */
PAWL_TRYING bool pawl_lock32_read_claim_write_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_read_claim_write_until(pawl_lock64 *l, uint64_t deadline);
/* R -> A as read_claim_atomic; false once the deadline has passed: R still. */
PAWL_TRYING bool pawl_lock32_read_claim_atomic_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_read_claim_atomic_until(pawl_lock64 *l, uint64_t deadline);
/* A -> R; PAWL_REGAIN_TIMED_OUT: U, A was given up already. Acquire, release. */
PAWL_TRYING pawl_regained pawl_lock32_atomic_to_read_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING pawl_regained pawl_lock64_atomic_to_read_until(pawl_lock64 *l, uint64_t deadline);

/* ---- Reading so that any thread may drop, by these names alone. Such a read has no moves. It may
 * wait for a condition (cond.h). */
/* U -> R as take_read. Acquire. */
PAWL_INLINE void pawl_lock32_take_read_counted(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_take_read_counted(pawl_lock64 *l);
/* The same; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_lock32_take_read_counted_until(pawl_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_lock64_take_read_counted_until(pawl_lock64 *l, uint64_t deadline);
/* U -> R as try_read. Acquire. */
PAWL_TRYING bool pawl_lock32_try_read_counted(pawl_lock32 *l);
PAWL_TRYING bool pawl_lock64_try_read_counted(pawl_lock64 *l);
/* R -> U for a read of these; in any thread. Release. */
PAWL_INLINE void pawl_lock32_drop_read_counted(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_drop_read_counted(pawl_lock64 *l);

/* ---- Handing over, before a drop. A drop alone leaves the lock to whoever comes first. */
/* For a holder: the sleeper that has waited longest has its turn now, not after
 * PAWL_LOCK_HANDOFF_NS. No newcomer enters before it. */
PAWL_INLINE void pawl_lock32_hand_off(pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_hand_off(pawl_lock64 *l);

/* ---- Two locks at once, the one at the lower address first; the same lock twice is taken once. */
/* U -> R of both, as take_read. */
PAWL_INLINE void pawl_lock32_take_two_read(pawl_lock32 *l, pawl_lock32 *other);
PAWL_INLINE void pawl_lock64_take_two_read(pawl_lock64 *l, pawl_lock64 *other);
/* R -> U of both, as drop_read. */
PAWL_INLINE void pawl_lock32_drop_two_read(pawl_lock32 *l, pawl_lock32 *other);
PAWL_INLINE void pawl_lock64_drop_two_read(pawl_lock64 *l, pawl_lock64 *other);
/* U -> S of both, as take_seek. */
PAWL_INLINE void pawl_lock32_take_two_seek(pawl_lock32 *l, pawl_lock32 *other);
PAWL_INLINE void pawl_lock64_take_two_seek(pawl_lock64 *l, pawl_lock64 *other);
/* S -> U of both, as drop_seek. */
PAWL_INLINE void pawl_lock32_drop_two_seek(pawl_lock32 *l, pawl_lock32 *other);
PAWL_INLINE void pawl_lock64_drop_two_seek(pawl_lock64 *l, pawl_lock64 *other);
/* U -> W of both, as take_write. */
PAWL_INLINE void pawl_lock32_take_two_write(pawl_lock32 *l, pawl_lock32 *other);
PAWL_INLINE void pawl_lock64_take_two_write(pawl_lock64 *l, pawl_lock64 *other);
/* W -> U of both, as drop_write. */
PAWL_INLINE void pawl_lock32_drop_two_write(pawl_lock32 *l, pawl_lock32 *other);
PAWL_INLINE void pawl_lock64_drop_two_write(pawl_lock64 *l, pawl_lock64 *other);

/* ---- What the word shows at this instant, claims included; for reports, not for decisions. */
/* True if no thread is in. */
PAWL_INLINE bool pawl_lock32_is_free(const pawl_lock32 *l);
PAWL_INLINE bool pawl_lock64_is_free(const pawl_lock64 *l);
/* Readers only. */
PAWL_INLINE bool pawl_lock32_is_read(const pawl_lock32 *l);
PAWL_INLINE bool pawl_lock64_is_read(const pawl_lock64 *l);
/* A seeker, perhaps readers too. */
PAWL_INLINE bool pawl_lock32_is_seek(const pawl_lock32 *l);
PAWL_INLINE bool pawl_lock64_is_seek(const pawl_lock64 *l);
/* A writer, or a claim of one. */
PAWL_INLINE bool pawl_lock32_is_write(const pawl_lock32 *l);
PAWL_INLINE bool pawl_lock64_is_write(const pawl_lock64 *l);
/* Atomic users only. */
PAWL_INLINE bool pawl_lock32_is_atomic(const pawl_lock32 *l);
PAWL_INLINE bool pawl_lock64_is_atomic(const pawl_lock64 *l);

/* ---- The calling thread holds the lock so: nothing in release, else a report and abort. */
/* R. */
PAWL_INLINE void pawl_lock32_assert_held_read(const pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_assert_held_read(const pawl_lock64 *l);
/* S. */
PAWL_INLINE void pawl_lock32_assert_held_seek(const pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_assert_held_seek(const pawl_lock64 *l);
/* W. */
PAWL_INLINE void pawl_lock32_assert_held_write(const pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_assert_held_write(const pawl_lock64 *l);
/* A. */
PAWL_INLINE void pawl_lock32_assert_held_atomic(const pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_assert_held_atomic(const pawl_lock64 *l);
/* prototypes:end */

PAWL_INLINE_END

#define PAWL_WORD_KIND PAWL_KIND_LOCK_
#define PAWL_WORD_BITS 32
#include <pawl/detail/lock_word.inc.h>
#define PAWL_WORD_BITS 64
#include <pawl/detail/lock_word.inc.h>
#undef PAWL_WORD_KIND

#endif
