/* SPDX-License-Identifier: MIT */
/*
 * Upgradable reader-writer spinlock: read (shared), seek (upgradable), write (exclusive) and atomic
 * (shared by threads that update atomics) in one word. Take is lock, drop is unlock, seek_to_write
 * is the upgrade, write_to_read the downgrade. For structures that are searched much more than they
 * are changed: search under S beside the readers, hold W only while the pointers change.
 *
 * Not for: more threads than cores for long, sections that sleep, real-time threads (a waiter
 * spins, and a preempted holder stops all waiters), signal handlers that may interrupt a holder.
 * Not fair to readers while writers keep coming.
 *
 * Source: W. Tarreau, "Progressive Locks: fast, upgradable read/write locks" (2018). The layout is
 * the published one. doc/design/001-words.md says where we differ, and why.
 *
 * The word
 *
 *   64 bit   63 ............ W 34 | 33 S 32 | 31 ............ R 2 | 1 0 application
 *   32 bit   31 ............ W 18 | 17 S 16 | 15 ............ R 2 | 1 0 application
 *   16 bit   15 ............ W 10 |  9 S  8 |  7 ............ R 2 | 1 0 application
 *
 *   R  one unit for each reader, seeker and writer, also while it only claims.
 *   S  one unit for each seeker, each writer, and each atomic user that waits for readers. S may
 *      overflow into W, which is stricter. R may overflow into S.
 *   W  one unit for each writer, each atomic user, and each claimant of either. While W is not
 *      zero, newcomers withdraw, and readers do not even claim.
 *   application  the program's. Only pawl_spin32_bits, _set_bits and _clear_bits read or change
 *      them.
 *
 * A zero word is an unlocked lock: calloc makes locks.
 *
 * Held        U nothing, R +R, S +S+R, W +W+S+R, A +W. R is granted beside R and S, A beside A, and
 *             nothing else beside anything.
 * Transient   A claim that failed is in the word until it is withdrawn. A writer that waits for a
 *             seeker or for atomic users has W+S without R. An atomic user that waits for readers
 *             has W+S. One that waits to become a reader has R beside the W of the others.
 * Transitions transitions.def, drawn in doc/spin.md.
 *
 * Cost: each take, drop and move is one atomic read-modify-write and no call while no other thread
 * interferes. A waiter only reads until the word allows its claim. It backs off exponentially with
 * jitter; the longest pause is PAWL_SPIN_LONGEST_PAUSE relax hints. After PAWL_SPIN_SUSPECT_NS it
 * also offers its CPU with sched_yield.
 *
 * Limits at one instant, claims that will be withdrawn included. Beyond them the behaviour is
 * undefined; the checking variant reports them.
 *   units of R                                             <= 63 / 16,383 / 2^30-1
 *   5 x writers + seekers + 4 x atomic users               <= 255 / 65,535 / 2^32-1
 * A reader or seeker that insists (PAWL_SPIN_PATIENCE) counts as a writer, an atomic user that
 * waits for readers as 5 units. That is 51 / 13,107 / 858,993,459 writers. With one more seeker, W
 * and S read zero.
 *
 * Invariants
 *   I1  A granted writer is the only holder. A granted seeker has no other seeker and no writer
 *       beside it. A granted reader has no writer and no atomic user beside it. A granted atomic
 *       user has only atomic users beside it.
 *   I2  A thread that holds units of W and waits for R to fall also shows S. So W without S and R
 *       means granted atomic users, and a thread that turns from A to R knows when to let go.
 *   I3  At most one writer and at most one atomic user at a time wait with W+S and without R. (Both
 *       only when the last reader released between the atomic user's claim and its S.)
 *   I4  Every claim that is neither granted nor kept is withdrawn whole: a failed try leaves the
 *       word as it was.
 *   I5  An operation adds and subtracts whole units, so it never changes the application bits.
 *
 * Signals and fork: every operation touches only the word. A handler that waits for the thread it
 * interrupted waits for ever, so handlers may only try. After fork the child owns what the forking
 * thread held, and drops it. Units of other threads stay in its word for ever: those of holders, of
 * waiters, and of a try that was about to fail. So a lock that other threads used at the fork must
 * be made anew by init in the child. A child of vfork shares its parent's words: it uses no lock.
 */
#ifndef PAWL_SPIN_H
#define PAWL_SPIN_H

#include <pawl/atomic.h>
#include <pawl/detail/alphabet.h>
#include <pawl/generic.h>

/* The longest single pause of a waiter, in pawl_cpu_relax hints: 4 us (AMD Zen, 38 cycles a hint)
 * to 12 us (Intel since Skylake, 140 cycles). That is about one context switch: the kernel could
 * not have served the waiter sooner. */
#define PAWL_SPIN_LONGEST_PAUSE 256

/* Nanoseconds of waiting at that bound after which the waiter suspects that the holder is not
 * running: several times the longest section that a spinlock is meant for. From then on its pauses
 * end in sched_yield. */
#define PAWL_SPIN_SUSPECT_NS 50000

/* Pauses of a reader or seeker while only atomic users, one after the other, are in. Then it takes
 * W, which holds newcomers back, and downgrades. */
#define PAWL_SPIN_PATIENCE 32

#define PAWL_SPIN_APPLICATION_BITS 3

/* The states of a caller's hold, for the checking variant and the tests. */
enum pawl_state { PAWL_STATE_U, PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W, PAWL_STATE_A };

/* How atomic_to_read ended. Compare with a name: no value means "kept" as a truth, and in C++ the
 * type does not convert to bool. Only the form with a deadline can time out. */
#ifdef __cplusplus
enum class pawl_regained {
#else
typedef enum pawl_regained {
#endif
    PAWL_REGAIN_TIMED_OUT, /* nothing is held: the updates are done, reading was not granted */
    PAWL_REGAIN_LET_GO,    /* R is held; a claimant was let in first: look again */
    PAWL_REGAIN_KEPT       /* R is held; no writer was in between */
#ifdef __cplusplus
};
inline constexpr pawl_regained PAWL_REGAIN_TIMED_OUT = pawl_regained::PAWL_REGAIN_TIMED_OUT;
inline constexpr pawl_regained PAWL_REGAIN_LET_GO = pawl_regained::PAWL_REGAIN_LET_GO;
inline constexpr pawl_regained PAWL_REGAIN_KEPT = pawl_regained::PAWL_REGAIN_KEPT;
#else
} pawl_regained;
#endif

#include <pawl/detail/around.h>

typedef struct pawl_spin16 {
    uint16_t word;
} pawl_spin16;

typedef struct pawl_spin32 {
    uint32_t word;
} pawl_spin32;

typedef struct pawl_spin64 {
    uint64_t word __attribute__((__aligned__(8))); /* also on 32-bit targets, whose ABI says 4 */
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

/* One contract serves the widths below it. U R S W A are the states; "->" changes the caller's. */
PAWL_INLINE_BEGIN

/* prototypes:begin (scripts/prototypes reads them) */
/* ---- The life of a lock */
/* Makes the lock unlocked, as zeroing it does. Not while it is used. */
PAWL_INLINE void pawl_spin16_init(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_init(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_init(pawl_spin64 *l);
/* The lock will not be used again. The checking variant reports a held lock. */
PAWL_INLINE void pawl_spin16_destroy(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_destroy(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_destroy(pawl_spin64 *l);

/* ---- Taking. A thread that holds the lock in any state may not take it again: R inside R or S
 * waits for ever once a writer has claimed. */
/* U -> R. Waits for writers and atomic users. Acquire. */
PAWL_INLINE void pawl_spin16_take_read(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_take_read(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_take_read(pawl_spin64 *l);
/* U -> S. Waits for a seeker, writers and atomic users. Acquire. */
PAWL_INLINE void pawl_spin16_take_seek(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_take_seek(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_take_seek(pawl_spin64 *l);
/* U -> W. Waits for all holders; newcomers wait from its claim on. Acquire. */
PAWL_INLINE void pawl_spin16_take_write(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_take_write(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_take_write(pawl_spin64 *l);
/* U -> A. Waits for readers, a seeker and writers. Acquire. */
PAWL_INLINE void pawl_spin16_take_atomic(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_take_atomic(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_take_atomic(pawl_spin64 *l);

/* ---- Trying: true when granted. A try never waits for a holder. It is also false while a claim
 * that is about to be withdrawn stands in the way. */
/* U -> R. False if a writer or an atomic user is in. Acquire when true. */
PAWL_TRYING bool pawl_spin16_try_read(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_try_read(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_try_read(pawl_spin64 *l);
/* U -> S. False if a seeker, a writer or an atomic user is in. Acquire when true. */
PAWL_TRYING bool pawl_spin16_try_seek(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_try_seek(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_try_seek(pawl_spin64 *l);
/* U -> W. False if anybody is in. Acquire when true. */
PAWL_TRYING bool pawl_spin16_try_write(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_try_write(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_try_write(pawl_spin64 *l);
/* U -> A. False if a reader, a seeker or a writer is in. Acquire when true. */
PAWL_TRYING bool pawl_spin16_try_atomic(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_try_atomic(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_try_atomic(pawl_spin64 *l);

/* ---- Claiming: as try, but readers are no reason to fail. After the claim the caller waits until
 * the readers have left. */
/* U -> W. False if a seeker, writer or atomic user is in; waits for readers. Acquire. */
PAWL_TRYING bool pawl_spin16_claim_write(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_claim_write(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_claim_write(pawl_spin64 *l);
/* U -> A. False if a seeker or a writer is in; waits for readers. Acquire. */
PAWL_TRYING bool pawl_spin16_claim_atomic(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_claim_atomic(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_claim_atomic(pawl_spin64 *l);

/* ---- Dropping (unlock), in the thread that took. Only the checking variant notices another one.
 * take_read_counted of lock.h is for reads that any thread may drop. */
/* R -> U. Release. */
PAWL_INLINE void pawl_spin16_drop_read(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_drop_read(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_drop_read(pawl_spin64 *l);
/* S -> U. Release. */
PAWL_INLINE void pawl_spin16_drop_seek(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_drop_seek(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_drop_seek(pawl_spin64 *l);
/* W -> U. Release. */
PAWL_INLINE void pawl_spin16_drop_write(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_drop_write(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_drop_write(pawl_spin64 *l);
/* A -> U. Release. */
PAWL_INLINE void pawl_spin16_drop_atomic(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_drop_atomic(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_drop_atomic(pawl_spin64 *l);

/* ---- Upgrading S and downgrading. */
/* S -> W. Waits for readers, cannot fail. Acquire. */
PAWL_INLINE void pawl_spin16_seek_to_write(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_seek_to_write(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_seek_to_write(pawl_spin64 *l);
/* S -> W. False if readers are in: S is kept. Never waits. Acquire. */
PAWL_TRYING bool pawl_spin16_try_seek_to_write(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_try_seek_to_write(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_try_seek_to_write(pawl_spin64 *l);
/* W -> S. At once. Release. */
PAWL_INLINE void pawl_spin16_write_to_seek(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_write_to_seek(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_write_to_seek(pawl_spin64 *l);
/* W -> R. At once. Release. */
PAWL_INLINE void pawl_spin16_write_to_read(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_write_to_read(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_write_to_read(pawl_spin64 *l);
/* S -> R. At once. Release. */
PAWL_INLINE void pawl_spin16_seek_to_read(pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_seek_to_read(pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_seek_to_read(pawl_spin64 *l);

/* ---- Upgrading R. When one fails, R is still held. Drop it before another attempt, because the
 * thread that got S or W waits for it. */
/* R -> S. False if a seeker, writer or atomic user is in. Never waits. Acquire. */
PAWL_TRYING bool pawl_spin16_try_read_to_seek(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_try_read_to_seek(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_try_read_to_seek(pawl_spin64 *l);
/* R -> W. False unless the caller is alone. Never waits. Acquire. */
PAWL_TRYING bool pawl_spin16_try_read_to_write(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_try_read_to_write(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_try_read_to_write(pawl_spin64 *l);
/* R -> W. False if a seeker or writer is in; waits for readers. Acquire. */
PAWL_TRYING bool pawl_spin16_read_claim_write(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_read_claim_write(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_read_claim_write(pawl_spin64 *l);
/* R -> A. False unless the caller is alone. Never waits. Acquire, release. */
PAWL_TRYING bool pawl_spin16_try_read_to_atomic(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_try_read_to_atomic(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_try_read_to_atomic(pawl_spin64 *l);
/* R -> A. False if a seeker or writer is in; waits for readers. Acquire, release. */
PAWL_TRYING bool pawl_spin16_read_claim_atomic(pawl_spin16 *l);
PAWL_TRYING bool pawl_spin32_read_claim_atomic(pawl_spin32 *l);
PAWL_TRYING bool pawl_spin64_read_claim_atomic(pawl_spin64 *l);

/* ---- Downgrading A. */
/* A -> R. Waits for other atomic users; tells whether a claimant was let in first. Acquire,
 * release. */
PAWL_INLINE pawl_regained pawl_spin16_atomic_to_read(pawl_spin16 *l);
PAWL_INLINE pawl_regained pawl_spin32_atomic_to_read(pawl_spin32 *l);
PAWL_INLINE pawl_regained pawl_spin64_atomic_to_read(pawl_spin64 *l);

/* ---- Two locks at once, the one at the lower address first; the same lock twice is taken once. */
/* U -> R of both, as take_read. */
PAWL_INLINE void pawl_spin16_take_two_read(pawl_spin16 *l, pawl_spin16 *other);
PAWL_INLINE void pawl_spin32_take_two_read(pawl_spin32 *l, pawl_spin32 *other);
PAWL_INLINE void pawl_spin64_take_two_read(pawl_spin64 *l, pawl_spin64 *other);
/* R -> U of both, as drop_read. */
PAWL_INLINE void pawl_spin16_drop_two_read(pawl_spin16 *l, pawl_spin16 *other);
PAWL_INLINE void pawl_spin32_drop_two_read(pawl_spin32 *l, pawl_spin32 *other);
PAWL_INLINE void pawl_spin64_drop_two_read(pawl_spin64 *l, pawl_spin64 *other);
/* U -> S of both, as take_seek. */
PAWL_INLINE void pawl_spin16_take_two_seek(pawl_spin16 *l, pawl_spin16 *other);
PAWL_INLINE void pawl_spin32_take_two_seek(pawl_spin32 *l, pawl_spin32 *other);
PAWL_INLINE void pawl_spin64_take_two_seek(pawl_spin64 *l, pawl_spin64 *other);
/* S -> U of both, as drop_seek. */
PAWL_INLINE void pawl_spin16_drop_two_seek(pawl_spin16 *l, pawl_spin16 *other);
PAWL_INLINE void pawl_spin32_drop_two_seek(pawl_spin32 *l, pawl_spin32 *other);
PAWL_INLINE void pawl_spin64_drop_two_seek(pawl_spin64 *l, pawl_spin64 *other);
/* U -> W of both, as take_write. */
PAWL_INLINE void pawl_spin16_take_two_write(pawl_spin16 *l, pawl_spin16 *other);
PAWL_INLINE void pawl_spin32_take_two_write(pawl_spin32 *l, pawl_spin32 *other);
PAWL_INLINE void pawl_spin64_take_two_write(pawl_spin64 *l, pawl_spin64 *other);
/* W -> U of both, as drop_write. */
PAWL_INLINE void pawl_spin16_drop_two_write(pawl_spin16 *l, pawl_spin16 *other);
PAWL_INLINE void pawl_spin32_drop_two_write(pawl_spin32 *l, pawl_spin32 *other);
PAWL_INLINE void pawl_spin64_drop_two_write(pawl_spin64 *l, pawl_spin64 *other);

/* ---- The two application bits, at any time, held or not. Other bits of `bits` are ignored. */
/* The two bits. Acquire. */
PAWL_INLINE uint16_t pawl_spin16_bits(const pawl_spin16 *l);
PAWL_INLINE uint32_t pawl_spin32_bits(const pawl_spin32 *l);
PAWL_INLINE uint64_t pawl_spin64_bits(const pawl_spin64 *l);
/* Sets those of `bits`, returns the two as found. Acquire, release. */
PAWL_INLINE uint16_t pawl_spin16_set_bits(pawl_spin16 *l, uint16_t bits);
PAWL_INLINE uint32_t pawl_spin32_set_bits(pawl_spin32 *l, uint32_t bits);
PAWL_INLINE uint64_t pawl_spin64_set_bits(pawl_spin64 *l, uint64_t bits);
/* Clears those of `bits`, returns the two as found. Acquire, release. */
PAWL_INLINE uint16_t pawl_spin16_clear_bits(pawl_spin16 *l, uint16_t bits);
PAWL_INLINE uint32_t pawl_spin32_clear_bits(pawl_spin32 *l, uint32_t bits);
PAWL_INLINE uint64_t pawl_spin64_clear_bits(pawl_spin64 *l, uint64_t bits);

/* ---- What the word shows at this instant, claims included; for reports, not for decisions. */
/* True if no thread is in. */
PAWL_INLINE bool pawl_spin16_is_free(const pawl_spin16 *l);
PAWL_INLINE bool pawl_spin32_is_free(const pawl_spin32 *l);
PAWL_INLINE bool pawl_spin64_is_free(const pawl_spin64 *l);
/* Readers only. */
PAWL_INLINE bool pawl_spin16_is_read(const pawl_spin16 *l);
PAWL_INLINE bool pawl_spin32_is_read(const pawl_spin32 *l);
PAWL_INLINE bool pawl_spin64_is_read(const pawl_spin64 *l);
/* A seeker, perhaps readers too. */
PAWL_INLINE bool pawl_spin16_is_seek(const pawl_spin16 *l);
PAWL_INLINE bool pawl_spin32_is_seek(const pawl_spin32 *l);
PAWL_INLINE bool pawl_spin64_is_seek(const pawl_spin64 *l);
/* A writer, or a claim of one. */
PAWL_INLINE bool pawl_spin16_is_write(const pawl_spin16 *l);
PAWL_INLINE bool pawl_spin32_is_write(const pawl_spin32 *l);
PAWL_INLINE bool pawl_spin64_is_write(const pawl_spin64 *l);
/* Atomic users only. */
PAWL_INLINE bool pawl_spin16_is_atomic(const pawl_spin16 *l);
PAWL_INLINE bool pawl_spin32_is_atomic(const pawl_spin32 *l);
PAWL_INLINE bool pawl_spin64_is_atomic(const pawl_spin64 *l);

/* ---- The calling thread holds the lock so: nothing in release, else a report and abort. */
/* R. */
PAWL_INLINE void pawl_spin16_assert_held_read(const pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_assert_held_read(const pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_assert_held_read(const pawl_spin64 *l);
/* S. */
PAWL_INLINE void pawl_spin16_assert_held_seek(const pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_assert_held_seek(const pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_assert_held_seek(const pawl_spin64 *l);
/* W. */
PAWL_INLINE void pawl_spin16_assert_held_write(const pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_assert_held_write(const pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_assert_held_write(const pawl_spin64 *l);
/* A. */
PAWL_INLINE void pawl_spin16_assert_held_atomic(const pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_assert_held_atomic(const pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_assert_held_atomic(const pawl_spin64 *l);
/* prototypes:end */

PAWL_INLINE_END

#define PAWL_WORD_KIND PAWL_KIND_SPIN_
#define PAWL_WORD_BITS 16
#include <pawl/detail/word.inc.h>
#define PAWL_WORD_BITS 32
#include <pawl/detail/word.inc.h>
#define PAWL_WORD_BITS 64
#include <pawl/detail/word.inc.h>
#undef PAWL_WORD_KIND

#endif
