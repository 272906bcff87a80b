/* SPDX-License-Identifier: MIT */
/*
 * Progressive spinlocks: read, seek, write and atomic in one word that goes from one to the next
 * without letting go. For structures that are searched much more than they are changed: search
 * under S beside the readers, hold W only while the pointers move.
 *
 * Not for: threads that outnumber the cores for long, sections that sleep, real-time threads
 * (a waiter spins, and a descheduled holder stops all waiters), signal handlers that may interrupt
 * a holder. Not fair to readers under a flood of writers.
 *
 * Source: W. Tarreau, "Progressive Locks: fast, upgradable read/write locks" (2018); the layout is
 * the published one. doc/design/001-words.md says where we differ, and why.
 *
 * The word
 *
 *   64 bit   63 ............ W 34 | 33 S 32 | 31 ............ R 2 | 1 0 application
 *   32 bit   31 ............ W 18 | 17 S 16 | 15 ............ R 2 | 1 0 application
 *   16 bit   15 ............ W 10 |  9 S  8 |  7 ............ R 2 | 1 0 application
 *
 *   R  one unit for each reader, seeker and writer, also while it only claims.
 *   S  one unit for each seeker, writer, and atomic user who waits for readers. May overflow into
 *      W, which is stricter; R may overflow into S.
 *   W  one unit for each writer, atomic user, and claimant of either. While W is not zero,
 *      newcomers withdraw; readers do not even claim.
 *   application  the user's. No operation reads or changes them but pawl_spin*_bits and its kin.
 *
 * A zero word is unlocked, always: calloc makes locks.
 *
 * Held        U 0, R +R, S +S+R, W +W+S+R, A +W. R beside R and S, A beside A, nothing else.
 * Transient   a claim that failed, until its withdrawal; a writer that waits for a seeker or for
 *             atomic users holds W+S without R; an atomic user that waits for readers holds W+S;
 *             one that waits to become a reader holds R beside the W of the others.
 * Transitions transitions.def, drawn in doc/spin.md.
 *
 * Cost: each take, drop and move is one atomic read-modify-write and no call when nobody disturbs.
 * A waiter only reads until the word is compatible (exponential back-off with jitter; the longest
 * pause is PAWL_SPIN_LONGEST_PAUSE relax hints), and offers its CPU with sched_yield only when it
 * has waited for longer than PAWL_SPIN_SUSPECT_NS.
 *
 * Limits at one instant, claims that will be withdrawn included (undefined beyond, detected in the
 * checking variant): units of R <= 63 / 16,383 / 2^30-1 for 16 / 32 / 64 bits, and
 * 5 x writers + seekers + 4 x atomic users <= 255 / 65,535 / 2^32-1, where readers and seekers who
 * insist (PAWL_SPIN_PATIENCE) count as writers and atomic users who wait for readers as 5: that is
 * 51 / 13,107 / 858,993,459 writers. One seeker more and W and S read zero.
 *
 * Invariants
 *   I1  a granted writer is the only holder; a granted seeker has no other seeker or writer beside
 *       it; a granted reader has no writer and no atomic user; a granted atomic user only its like.
 *   I2  whoever holds W units and waits for R to fall shows S as well. So "W without S and R" means
 *       granted atomic users, and one who turns from A to R knows when to let go.
 *   I3  at most one writer and at most one atomic user at a time wait with W+S and without R. (Both
 *       only when the last reader left between the atomic user's claim and its S.)
 *   I4  every claim that is not granted and not kept is withdrawn whole: a failed try leaves the
 *       word as if it had never been.
 *   I5  an operation adds and subtracts whole units, so the application bits never change by it.
 *
 * Every operation is async-signal-safe in the sense that it touches only the word; but a handler
 * that waits for the thread it interrupted waits for ever, so handlers may only try. After fork the
 * child owns what the forking thread held; locks that other threads held stay held for ever.
 */
#ifndef PAWL_SPIN_H
#define PAWL_SPIN_H

#include <pawl/atomic.h>

/* The longest single pause of a waiter, in pawl_cpu_relax hints: 4 us (AMD Zen, 38 cycles a hint)
 * to 12 us (Intel since Skylake, 140 cycles). It is of the order of one context switch: a waiter
 * that slept through less than that could not have been served sooner by the kernel either. */
#define PAWL_SPIN_LONGEST_PAUSE 256

/* Nanoseconds of waiting at that bound after which the holder is suspected not to be running:
 * several times the longest section that a spinlock is meant for. From then on pauses end in
 * sched_yield. */
#define PAWL_SPIN_SUSPECT_NS 50000

/* Pauses that a reader or seeker bears while only atomic users, one after the other, are in. Then
 * it takes W, which holds newcomers back, and moves down. */
#define PAWL_SPIN_PATIENCE 32

#define PAWL_SPIN_APPLICATION_BITS 3

/* The states of a caller's hold, for the checking variant and the tests. */
enum pawl_state { PAWL_STATE_U, PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W, PAWL_STATE_A };

#if PAWL_TSAN_
#include <pawl/detail/tsan.h>
#endif

typedef struct pawl_spin16 {
    uint16_t word;
} pawl_spin16;

typedef struct pawl_spin32 {
    uint32_t word;
} pawl_spin32;

typedef struct pawl_spin64 {
    uint64_t word __attribute__((aligned(8))); /* also on 32-bit targets, whose ABI says 4 */
} pawl_spin64;

#define PAWL_SPIN16_INIT {0}
#define PAWL_SPIN32_INIT {0}
#define PAWL_SPIN64_INIT {0}

#define PAWL_SPIN16_R ((uint16_t)0x0004)
#define PAWL_SPIN16_S ((uint16_t)0x0100)
#define PAWL_SPIN16_W ((uint16_t)0x0400)
#define PAWL_SPIN32_R UINT32_C(0x00000004)
#define PAWL_SPIN32_S UINT32_C(0x00010000)
#define PAWL_SPIN32_W UINT32_C(0x00040000)
#define PAWL_SPIN64_R UINT64_C(0x0000000000000004)
#define PAWL_SPIN64_S UINT64_C(0x0000000100000000)
#define PAWL_SPIN64_W UINT64_C(0x0000000400000000)

#define PAWL_WORD_SLEEPS 0
#define PAWL_WORD_BITS 16
#include <pawl/detail/word.inc.h>
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 32
#include <pawl/detail/word.inc.h>
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include <pawl/detail/word.inc.h>
#undef PAWL_WORD_BITS
#undef PAWL_WORD_SLEEPS

/* ---- Front names that choose by type: pawl_take_read(&lock) --------------------------------- */
#ifndef __cplusplus /* C++ has overloads, made in word.inc.h */
#define PAWL_BY_TYPE_(lock, operation)                                                             \
    _Generic((lock),                                                                               \
        pawl_spin16 *: pawl_spin16_##operation,                                                    \
        pawl_spin32 *: pawl_spin32_##operation,                                                    \
        pawl_spin64 *: pawl_spin64_##operation)

#define pawl_init(lock) PAWL_BY_TYPE_(lock, init)(lock)
#define pawl_destroy(lock) PAWL_BY_TYPE_(lock, destroy)(lock)
#define pawl_take_read(lock) PAWL_BY_TYPE_(lock, take_read)(lock)
#define pawl_take_seek(lock) PAWL_BY_TYPE_(lock, take_seek)(lock)
#define pawl_take_write(lock) PAWL_BY_TYPE_(lock, take_write)(lock)
#define pawl_take_atomic(lock) PAWL_BY_TYPE_(lock, take_atomic)(lock)
#define pawl_try_read(lock) PAWL_BY_TYPE_(lock, try_read)(lock)
#define pawl_try_seek(lock) PAWL_BY_TYPE_(lock, try_seek)(lock)
#define pawl_try_write(lock) PAWL_BY_TYPE_(lock, try_write)(lock)
#define pawl_claim_write(lock) PAWL_BY_TYPE_(lock, claim_write)(lock)
#define pawl_try_atomic(lock) PAWL_BY_TYPE_(lock, try_atomic)(lock)
#define pawl_claim_atomic(lock) PAWL_BY_TYPE_(lock, claim_atomic)(lock)
#define pawl_drop_read(lock) PAWL_BY_TYPE_(lock, drop_read)(lock)
#define pawl_drop_seek(lock) PAWL_BY_TYPE_(lock, drop_seek)(lock)
#define pawl_drop_write(lock) PAWL_BY_TYPE_(lock, drop_write)(lock)
#define pawl_drop_atomic(lock) PAWL_BY_TYPE_(lock, drop_atomic)(lock)
#define pawl_seek_to_write(lock) PAWL_BY_TYPE_(lock, seek_to_write)(lock)
#define pawl_try_seek_to_write(lock) PAWL_BY_TYPE_(lock, try_seek_to_write)(lock)
#define pawl_write_to_seek(lock) PAWL_BY_TYPE_(lock, write_to_seek)(lock)
#define pawl_write_to_read(lock) PAWL_BY_TYPE_(lock, write_to_read)(lock)
#define pawl_seek_to_read(lock) PAWL_BY_TYPE_(lock, seek_to_read)(lock)
#define pawl_try_read_to_seek(lock) PAWL_BY_TYPE_(lock, try_read_to_seek)(lock)
#define pawl_try_read_to_write(lock) PAWL_BY_TYPE_(lock, try_read_to_write)(lock)
#define pawl_read_claim_write(lock) PAWL_BY_TYPE_(lock, read_claim_write)(lock)
#define pawl_try_read_to_atomic(lock) PAWL_BY_TYPE_(lock, try_read_to_atomic)(lock)
#define pawl_read_claim_atomic(lock) PAWL_BY_TYPE_(lock, read_claim_atomic)(lock)
#define pawl_atomic_to_read(lock) PAWL_BY_TYPE_(lock, atomic_to_read)(lock)
#define pawl_take_two_read(a, b) PAWL_BY_TYPE_(a, take_two_read)(a, b)
#define pawl_take_two_seek(a, b) PAWL_BY_TYPE_(a, take_two_seek)(a, b)
#define pawl_take_two_write(a, b) PAWL_BY_TYPE_(a, take_two_write)(a, b)
#define pawl_drop_two_read(a, b) PAWL_BY_TYPE_(a, drop_two_read)(a, b)
#define pawl_drop_two_seek(a, b) PAWL_BY_TYPE_(a, drop_two_seek)(a, b)
#define pawl_drop_two_write(a, b) PAWL_BY_TYPE_(a, drop_two_write)(a, b)
#define pawl_set_bits(lock, bits) PAWL_BY_TYPE_(lock, set_bits)(lock, bits)
#define pawl_clear_bits(lock, bits) PAWL_BY_TYPE_(lock, clear_bits)(lock, bits)
#define pawl_bits(lock) PAWL_BY_TYPE_(lock, bits)(lock)
#define pawl_assert_held_read(lock) PAWL_BY_TYPE_(lock, assert_held_read)(lock)
#define pawl_assert_held_seek(lock) PAWL_BY_TYPE_(lock, assert_held_seek)(lock)
#define pawl_assert_held_write(lock) PAWL_BY_TYPE_(lock, assert_held_write)(lock)
#define pawl_assert_held_atomic(lock) PAWL_BY_TYPE_(lock, assert_held_atomic)(lock)
#endif

#endif
