/* SPDX-License-Identifier: MIT */
/*
 * Upgradable reader-writer lock for memory that processes share: read (shared), seek (upgradable),
 * write (exclusive) and atomic as in spin.h (take is lock, drop is unlock). Its word sleeps on the
 * kernel and needs nothing outside itself. Every wait can have a deadline.
 *
 * Not for threads of one process: lock.h is faster and fairer. Not for processes that may be
 * killed while they hold or wait (robust.h): here their units stay in the word for ever. Nor for
 * real-time threads of different priorities, and signal handlers that wait.
 *
 * Sources: the word and its states are those of W. Tarreau, "Progressive Locks" (2018); sleeping on
 * an address is from "Implementing atomic wait and notify". doc/design/009-pshared.md says how a
 * drop can wake others and yet never touch the lock after it has given it up.
 *
 *   struct pawl_pshared_lock32   | word 32 | waits 32 |                 8 bytes
 *   struct pawl_pshared_lock64   | word 64            | waits 32 | 0 |  16 bytes
 *
 *   64 bit   63 ............ W 34 | 33 S 32 | 31 ............ R 2 | 1 LEAVING | 0 PARKED
 *   32 bit   31 ............ W 18 | 17 S 16 | 15 ............ R 2 | 1 LEAVING | 0 PARKED
 *
 *   R S W    as in spin.h.
 *   PARKED   must be set while a waiter sleeps that has not been woken. A waiter sets it before it
 *            sleeps. A drop, or a move after which all may enter, clears it when no waiter sleeps.
 *            It may be set when no waiter sleeps: the next such drop makes system calls for
 *            nothing.
 *   LEAVING  a holder is about to drop the lock, and wakes before it does. Only that holder sets
 *            and clears it. While it is set no waiter goes to sleep.
 *   waits    31 ..... count 6 | 5 4 ROUSED | 3 OTHERS | 2 SEEKERS | 1 WRITERS | 0 KEEPER
 *            The count is of the occasions on which sleepers must look again; it wraps. The kernel
 *            compares `waits` with what a waiter read before it looked at the word. WRITERS,
 *            SEEKERS and OTHERS must each be set while a waiter of that kind sleeps; they may be
 *            stale. KEEPER is set while a waiter has its turn. ROUSED, one bit for writers and one
 *            for seekers: one of them was woken and has not looked since.
 *
 * Zero bytes are an unlocked lock: ftruncate makes locks. The lock holds no address and no
 * identity. So it may be mapped anywhere, twice in one process, and by programs that know nothing
 * of each other but this file.
 *
 * How a waiter waits: it reads for 2 to 9 us, sets PARKED and sleeps by class: readers, seekers,
 * writers, atomic users, and those that keep a claim until others have released. A thread that
 * changes the word so that a class may go on, and finds PARKED, wakes all readers or atomic users,
 * one seeker, one writer, and all that keep a claim. It asks the kernel only for kinds of sleepers
 * that `waits` shows, and for no further writer or seeker while one is ROUSED. A drop wakes before
 * it gives the lock up; the woken waiters read, and yield, until then.
 *
 * Fairness: a writer's claim holds newcomers back. Once no other writer is before it, the writer
 * waits only for the holders that are in, each once. Sleepers of one class are woken in the order
 * in which they went to sleep, but a running thread may overtake a woken one. A waiter that was
 * overtaken PAWL_PSHARED_PATIENCE times, or that met overlapping atomic users as often, has its
 * turn: it keeps a claim that holds newcomers back. A reader, seeker or atomic user keeps W only
 * beside the W of others, so no seeker keeps a reader out while only R and S are in. One waiter has
 * its turn at a time; the order among those whose patience is spent is open.
 *
 * Cost: while no other thread interferes, a take is one compare-exchange, a drop one load and one
 * compare-exchange, a move one addition. No system call unless a thread sleeps or must sleep.
 *
 * Limits as in spin.h for 32 and 64 bits. 2^26 wakes while one thread is between two of its
 * instructions would hide a wake from it.
 *
 * Invariants I1, I2, I3, I4 of spin.h, and
 *   I5  A waiter sleeps only after it has seen, in this order, `waits` with the bit of its kind and
 *       a word with PARKED, without LEAVING, that does not let it go on.
 *   I6  Every change of the word that may let a class go on, and finds PARKED, comes with a change
 *       of `waits` and a wake of that class: after it, by its author; for a drop, before it, or,
 *       while another holder's LEAVING is set, before the drop of that holder.
 *   I7  A drop changes `waits` and wakes before it gives the lock up. The access that gives it up
 *       is its last one, and no system call follows: the next owner may free or unmap the lock, and
 *       the process of the drop may end.
 *
 * Deadlines are nanoseconds of CLOCK_MONOTONIC; UINT64_MAX is none. With one in the past a waiter
 * asks once and does not sleep. A wait that ends by its deadline takes its claim back and wakes the
 * waiters that the claim held back.
 *
 * Bad input: a null or unmapped lock faults at the first access. A lock that is not aligned works
 * where the processor can do it, and its waiters yield instead of sleeping;
 * pawl_pshared_lock32_init refuses it. A word that a stray store has filled makes waiters wait;
 * their deadlines are kept.
 *
 * Signal handlers may only try, and drop what they got. After fork nobody waits in the child, and
 * the lock is still held as before: one of the two processes drops it. No operation is a
 * cancellation point. The checking variant does not watch these locks.
 */
#ifndef PAWL_PSHARED_H
#define PAWL_PSHARED_H

#include <pawl/detail/sleeping_calls.h>
#include <pawl/spin.h>

#define PAWL_PSHARED_PARKED 1u
#define PAWL_PSHARED_LEAVING 2u

/* How often a waiter is overtaken before it has its turn. */
#define PAWL_PSHARED_PATIENCE 32

typedef struct pawl_pshared_lock32 {
    uint32_t word;
    uint32_t waits;
} pawl_pshared_lock32;

typedef struct pawl_pshared_lock64 {
    uint64_t word __attribute__((__aligned__(8))); /* also on 32-bit targets, whose ABI says 4 */
    uint32_t waits;
    uint32_t reserved; /* zero */
} pawl_pshared_lock64;

#define PAWL_PSHARED_LOCK32_INIT {0, 0}
#define PAWL_PSHARED_LOCK64_INIT {0, 0, 0}

#define PAWL_HAVE_PSHARED_ 1 /* generic.h: the front names take these locks too */

/* One contract serves the widths below it. U R S W A are the states; "->" changes the caller's. */
PAWL_INLINE_BEGIN

/* prototypes:begin (scripts/prototypes reads them) */
/* ---- The life of a lock */
/* Makes the lock unlocked, as zeroing it does. False: null or not aligned. */
PAWL_INLINE bool pawl_pshared_lock32_init(pawl_pshared_lock32 *l);
PAWL_INLINE bool pawl_pshared_lock64_init(pawl_pshared_lock64 *l);
/* The lock will not be used again. The checking variant reports a held lock. */
PAWL_INLINE void pawl_pshared_lock32_destroy(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_destroy(pawl_pshared_lock64 *l);

/* ---- Taking. A thread that holds the lock in any state may not take it again: R inside R or S
 * waits for ever once a writer has claimed. */
/* U -> R. Waits for writers and atomic users. Acquire. */
PAWL_INLINE void pawl_pshared_lock32_take_read(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_take_read(pawl_pshared_lock64 *l);
/* U -> S. Waits for a seeker, writers and atomic users. Acquire. */
PAWL_INLINE void pawl_pshared_lock32_take_seek(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_take_seek(pawl_pshared_lock64 *l);
/* U -> W. Waits for all holders; newcomers wait from its claim on. Acquire. */
PAWL_INLINE void pawl_pshared_lock32_take_write(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_take_write(pawl_pshared_lock64 *l);
/* U -> A. Waits for readers, a seeker and writers. Acquire. */
PAWL_INLINE void pawl_pshared_lock32_take_atomic(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_take_atomic(pawl_pshared_lock64 *l);

/* ---- Trying: true when granted. A try never waits for a holder. It is also false while a claim
 * that is about to be withdrawn stands in the way. */
/* U -> R. False if a writer or an atomic user is in. Acquire when true. */
PAWL_TRYING bool pawl_pshared_lock32_try_read(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_try_read(pawl_pshared_lock64 *l);
/* U -> S. False if a seeker, a writer or an atomic user is in. Acquire when true. */
PAWL_TRYING bool pawl_pshared_lock32_try_seek(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_try_seek(pawl_pshared_lock64 *l);
/* U -> W. False if anybody is in. Acquire when true. */
PAWL_TRYING bool pawl_pshared_lock32_try_write(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_try_write(pawl_pshared_lock64 *l);
/* U -> A. False if a reader, a seeker or a writer is in. Acquire when true. */
PAWL_TRYING bool pawl_pshared_lock32_try_atomic(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_try_atomic(pawl_pshared_lock64 *l);

/* ---- Claiming: as try, but readers are no reason to fail. After the claim the caller waits until
 * the readers have left. */
/* U -> W. False if a seeker, writer or atomic user is in; waits for readers. Acquire. */
PAWL_TRYING bool pawl_pshared_lock32_claim_write(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_claim_write(pawl_pshared_lock64 *l);
/* U -> A. False if a seeker or a writer is in; waits for readers. Acquire. */
PAWL_TRYING bool pawl_pshared_lock32_claim_atomic(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_claim_atomic(pawl_pshared_lock64 *l);

/* ---- Dropping (unlock), in the thread that took. Another thread's drop is not noticed. */
/* R -> U. Release. */
PAWL_INLINE void pawl_pshared_lock32_drop_read(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_drop_read(pawl_pshared_lock64 *l);
/* S -> U. Release. */
PAWL_INLINE void pawl_pshared_lock32_drop_seek(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_drop_seek(pawl_pshared_lock64 *l);
/* W -> U. Release. */
PAWL_INLINE void pawl_pshared_lock32_drop_write(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_drop_write(pawl_pshared_lock64 *l);
/* A -> U. Release. */
PAWL_INLINE void pawl_pshared_lock32_drop_atomic(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_drop_atomic(pawl_pshared_lock64 *l);

/* ---- Upgrading S and downgrading. */
/* S -> W. Waits for readers, cannot fail. Acquire. */
PAWL_INLINE void pawl_pshared_lock32_seek_to_write(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_seek_to_write(pawl_pshared_lock64 *l);
/* S -> W. False if readers are in: S is kept. Never waits. Acquire. */
PAWL_TRYING bool pawl_pshared_lock32_try_seek_to_write(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_try_seek_to_write(pawl_pshared_lock64 *l);
/* W -> S. At once. Release. */
PAWL_INLINE void pawl_pshared_lock32_write_to_seek(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_write_to_seek(pawl_pshared_lock64 *l);
/* W -> R. At once. Release. */
PAWL_INLINE void pawl_pshared_lock32_write_to_read(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_write_to_read(pawl_pshared_lock64 *l);
/* S -> R. At once. Release. */
PAWL_INLINE void pawl_pshared_lock32_seek_to_read(pawl_pshared_lock32 *l);
PAWL_INLINE void pawl_pshared_lock64_seek_to_read(pawl_pshared_lock64 *l);

/* ---- Upgrading R. When one fails, R is still held. Drop it before another attempt, because the
 * thread that got S or W waits for it. */
/* R -> S. False if a seeker, writer or atomic user is in. Never waits. Acquire. */
PAWL_TRYING bool pawl_pshared_lock32_try_read_to_seek(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_try_read_to_seek(pawl_pshared_lock64 *l);
/* R -> W. False unless the caller is alone. Never waits. Acquire. */
PAWL_TRYING bool pawl_pshared_lock32_try_read_to_write(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_try_read_to_write(pawl_pshared_lock64 *l);
/* R -> W. False if a seeker or writer is in; waits for readers. Acquire. */
PAWL_TRYING bool pawl_pshared_lock32_read_claim_write(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_read_claim_write(pawl_pshared_lock64 *l);
/* R -> A. False unless the caller is alone. Never waits. Acquire, release. */
PAWL_TRYING bool pawl_pshared_lock32_try_read_to_atomic(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_try_read_to_atomic(pawl_pshared_lock64 *l);
/* R -> A. False if a seeker or writer is in; waits for readers. Acquire, release. */
PAWL_TRYING bool pawl_pshared_lock32_read_claim_atomic(pawl_pshared_lock32 *l);
PAWL_TRYING bool pawl_pshared_lock64_read_claim_atomic(pawl_pshared_lock64 *l);

/* ---- Downgrading A. */
/* A -> R. Waits for other atomic users; tells whether a claimant was let in first. Acquire,
 * release. */
PAWL_INLINE pawl_regained pawl_pshared_lock32_atomic_to_read(pawl_pshared_lock32 *l);
PAWL_INLINE pawl_regained pawl_pshared_lock64_atomic_to_read(pawl_pshared_lock64 *l);

/* ---- With a deadline, in nanoseconds of pawl_now(). One that has passed fails only an operation
 * that would wait. */
/* U -> R as take_read; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_pshared_lock32_take_read_until(pawl_pshared_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_pshared_lock64_take_read_until(pawl_pshared_lock64 *l, uint64_t deadline);
/* U -> S as take_seek; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_pshared_lock32_take_seek_until(pawl_pshared_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_pshared_lock64_take_seek_until(pawl_pshared_lock64 *l, uint64_t deadline);
/* U -> W as take_write; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_pshared_lock32_take_write_until(pawl_pshared_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_pshared_lock64_take_write_until(pawl_pshared_lock64 *l, uint64_t deadline);
/* U -> A as take_atomic; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_pshared_lock32_take_atomic_until(pawl_pshared_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_pshared_lock64_take_atomic_until(pawl_pshared_lock64 *l, uint64_t deadline);
/* U -> W as claim_write; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_pshared_lock32_claim_write_until(pawl_pshared_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_pshared_lock64_claim_write_until(pawl_pshared_lock64 *l, uint64_t deadline);
/* U -> A as claim_atomic; false once the deadline has passed: U still. */
PAWL_TRYING bool pawl_pshared_lock32_claim_atomic_until(pawl_pshared_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_pshared_lock64_claim_atomic_until(pawl_pshared_lock64 *l, uint64_t deadline);
/* S -> W as seek_to_write; false once the deadline has passed: S still. */
PAWL_TRYING bool pawl_pshared_lock32_seek_to_write_until(pawl_pshared_lock32 *l, uint64_t deadline);
PAWL_TRYING bool pawl_pshared_lock64_seek_to_write_until(pawl_pshared_lock64 *l, uint64_t deadline);
/* R -> W as read_claim_write; false once the deadline has passed: R still. */
PAWL_TRYING bool pawl_pshared_lock32_read_claim_write_until(pawl_pshared_lock32 *l,
                                                            uint64_t deadline);
PAWL_TRYING bool pawl_pshared_lock64_read_claim_write_until(pawl_pshared_lock64 *l,
                                                            uint64_t deadline);
/* R -> A as read_claim_atomic; false once the deadline has passed: R still. */
PAWL_TRYING bool pawl_pshared_lock32_read_claim_atomic_until(pawl_pshared_lock32 *l,
                                                             uint64_t deadline);
PAWL_TRYING bool pawl_pshared_lock64_read_claim_atomic_until(pawl_pshared_lock64 *l,
                                                             uint64_t deadline);
/* A -> R; PAWL_REGAIN_TIMED_OUT: U, A was given up already. Acquire, release. */
PAWL_TRYING pawl_regained pawl_pshared_lock32_atomic_to_read_until(pawl_pshared_lock32 *l,
                                                                   uint64_t deadline);
PAWL_TRYING pawl_regained pawl_pshared_lock64_atomic_to_read_until(pawl_pshared_lock64 *l,
                                                                   uint64_t deadline);

/* ---- What the word shows at this instant, claims included; for reports, not for decisions. */
/* True if no thread is in. */
PAWL_INLINE bool pawl_pshared_lock32_is_free(const pawl_pshared_lock32 *l);
PAWL_INLINE bool pawl_pshared_lock64_is_free(const pawl_pshared_lock64 *l);
/* prototypes:end */

PAWL_INLINE_END

#define PAWL_WORD_KIND PAWL_KIND_PSHARED_
#define PAWL_WORD_BITS 32
#include <pawl/detail/pshared_word.inc.h>
#define PAWL_WORD_BITS 64
#include <pawl/detail/pshared_word.inc.h>
#undef PAWL_WORD_KIND

#endif
