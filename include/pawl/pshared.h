/* SPDX-License-Identifier: MIT */
/*
 * Progressive locks for memory that processes share: read, seek, write and atomic as in spin.h, in
 * a word that sleeps on the kernel and needs nothing outside itself. Every wait can have a
 * deadline.
 *
 * Not for: threads of one process (lock.h is faster and fairer); processes that may be killed while
 * they hold or wait (robust.h: here the units that they had stay in the word for ever); real-time
 * threads of different priorities; signal handlers that wait.
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
 *   PARKED   must be set while somebody sleeps whom nobody has woken. Set by a waiter before it
 *            sleeps and whenever it has slept; cleared by the drop that leaves the lock free. May
 *            be set when nobody sleeps: the next drop then makes system calls for nothing.
 *   LEAVING  a holder is about to drop the lock and has changed `waits`, or will, before it does.
 *            Set and cleared by that holder only. While it is set nobody goes to sleep.
 *   waits    counts the occasions on which sleepers must look again; wraps. The kernel compares it
 *            with the count that a waiter read before it looked at the word. Nothing else is in it.
 *
 * Zero bytes are an unlocked lock: ftruncate makes locks. The lock holds no address and no
 * identity, so it may be mapped anywhere, twice in one process, and by programs that know nothing
 * of each other but this file.
 *
 * How a waiter waits: it reads for 2 to 9 us, sets PARKED and sleeps by class: readers, seekers,
 * writers, atomic users, and those who keep a claim until others have left. Whoever changes the
 * word so that a class may go on, and finds PARKED, wakes all readers or atomic users, one seeker,
 * one writer, all who keep a claim.
 *
 * Fairness: a writer's claim holds newcomers back, so once no other writer is before it, it waits
 * for those only who are in, each once. Sleepers of one class are woken in the order in which they
 * went to sleep, but a thread that is running may overtake a woken one. A reader, seeker or atomic
 * user that was overtaken PAWL_PSHARED_PATIENCE times, or that meets overlapping atomic users,
 * enters through W, which holds newcomers back. Writers among themselves may overtake without a
 * bound.
 *
 * Cost: nobody disturbing, a take is one atomic addition, a drop one load and one compare-exchange,
 * a move one addition. No system call unless somebody sleeps or must.
 *
 * Limits as in spin.h for 32 and 64 bits. 2^32 wakes while one thread is between two of its
 * instructions would hide a wake from it.
 *
 * Invariants I1, I2, I3, I4 of spin.h, and
 *   I5  a waiter sleeps only after it has seen, in this order, `waits` and a word with PARKED,
 *       without LEAVING, that does not let it go on.
 *   I6  every change of the word that may let a class go on, and finds PARKED, is followed by a
 *       change of `waits` and a wake of that class: by its author, or, while LEAVING is set, by the
 *       one who is leaving.
 *   I7  a drop changes `waits` before it gives the lock up, and afterwards uses the address of the
 *       lock (to wake) and not its memory: the next owner may free or unmap it.
 *
 * Deadlines are nanoseconds of CLOCK_MONOTONIC; UINT64_MAX is none. One in the past asks once and
 * does not sleep. A wait that ends by its deadline takes its claim back and wakes whom that held
 * back.
 *
 * Bad input: a null or unmapped lock faults at the first access. A lock that is not aligned works
 * where the processor can do it, its waiters yielding instead of sleeping; pawl_pshared_lock32_init
 * refuses it. A word that a scribbler has filled makes waiters wait; their deadlines are kept.
 *
 * Signal handlers may only try, and drop what they got. After fork nobody waits in the child, and
 * the lock is still held by whom it was: one of the two processes drops it. No operation is a
 * cancellation point. The checking variant does not watch these locks.
 */
#ifndef PAWL_PSHARED_H
#define PAWL_PSHARED_H

#include <pawl/spin.h>

#define PAWL_PSHARED_PARKED 1u
#define PAWL_PSHARED_LEAVING 2u

/* How often a reader, seeker or atomic user finds itself overtaken before it asks for W. */
#define PAWL_PSHARED_PATIENCE 32

typedef struct pawl_pshared_lock32 {
    uint32_t word;
    uint32_t waits;
} pawl_pshared_lock32;

typedef struct pawl_pshared_lock64 {
    uint64_t word __attribute__((aligned(8))); /* also on 32-bit targets, whose ABI says 4 */
    uint32_t waits;
    uint32_t reserved; /* zero */
} pawl_pshared_lock64;

#define PAWL_PSHARED_LOCK32_INIT {0, 0}
#define PAWL_PSHARED_LOCK64_INIT {0, 0, 0}

#define PAWL_WORD_BITS 32
#include <pawl/detail/pshared_word.inc.h>
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include <pawl/detail/pshared_word.inc.h>
#undef PAWL_WORD_BITS

#endif
