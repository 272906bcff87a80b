/* SPDX-License-Identifier: MIT */
/*
 * A progressive lock for processes that may be killed: read, seek, write and atomic, in shared
 * memory, and when a holder dies, at whatever instruction, the next to take the lock is told so,
 * may repair the data and say that it is consistent. Nobody hangs, and nobody polls: the kernel
 * wakes.
 *
 * Not for: processes that live and die together (pshared.h is 8 bytes and much cheaper); signal
 * handlers; real-time threads; dropping by another thread than the one that took; processes in
 * different PID namespaces (the kernel's robust futexes name the holder by its thread number).
 *
 * A count cannot say whose unit is left over, so here a claim is a robust mutex of the C library,
 * which carries the holder's identity from the same instruction that claims it
 * (doc/design/009-pshared.md). There are 18 of them, each on a line of its own:
 *
 *   header | gate | seek | member 0 | ... | member 15          64 bytes each, 1,216 in all
 *
 *   member   one for each reader, seeker and atomic user; any free one will do.
 *   seek     the one seeker, writer, or changer of the room.
 *   gate     whoever wants all members holds it until it gives them up; newcomers who see
 *            `draining` pass through it, so they do not overtake.
 *   room     who the members are, readers (and a seeker) or atomic users. Changed by who holds all
 *            members; so it stands still for who holds one.
 *   draining, writer, seeker, and the holder in each member: records of who is in, and how far.
 *            Written by who holds the mutex that they belong to; read when that one has died.
 *   state    deaths that nobody has repaired yet, a bit for each way of holding; or that the lock
 *            is not recoverable.
 *
 *   R = a member in the room of readers      S = seek + such a member
 *   A = a member in the room of atomic users     W = seek + gate + all members
 *
 * At most PAWL_ROBUST_MEMBERS readers or atomic users are in at once; more wait, each for one
 * certain member to become free.
 *
 * Cost: R, S and A take and drop one or two mutexes and look at 16 records; W takes 18; changing
 * the room costs as much as W. doc/robust.md has the measured numbers.
 *
 * Invariants
 *   I1  exclusion as in spin.h, also across deaths: what a dead process held is given up only by
 *       the kernel, one mutex at a time, and each taker of one learns of it before it is in.
 *   I2  a record is written after its mutex is taken and before the operation returns, and cleared
 *       before it is given up. So who dies while waiting, entering or leaving has not held: that is
 *       no death to report.
 *   I3  a death is put down in `state` before the mutex that tells of it is marked consistent, so
 *       the death of who finds a death loses nothing.
 *   I4  no operation waits but for a mutex that a living holder will give up, or the kernel for it;
 *       and while a cell's `waiting` is not zero, whoever gets its mutex owes a wake.
 */
#ifndef PAWL_ROBUST_H
#define PAWL_ROBUST_H

#include <pawl/atomic.h>

#if PAWL_HOOKS
#define PAWL_ROBUST_MEMBERS 2 /* few enough to run every schedule, and to share places */
#else
#define PAWL_ROBUST_MEMBERS 16
#endif

/* How an operation ended. The first two hold the lock in the state asked for. */
enum pawl_robust {
    PAWL_ROBUST_OK,              /* done */
    PAWL_ROBUST_OWNER_DIED,      /* done; a holder has died since the data were last consistent */
    PAWL_ROBUST_BUSY,            /* a try: somebody is in the way. What was held still is */
    PAWL_ROBUST_TIMED_OUT,       /* the deadline has passed. What was held still is */
    PAWL_ROBUST_NOT_RECOVERABLE, /* a writer was told of a death and left without repair; for ever,
                                    or until the lock is made anew */
    PAWL_ROBUST_CORRUPT,         /* null, not aligned, never made, made by a program with another
                                    layout, or overwritten */
    PAWL_ROBUST_MISUSE           /* the calling thread does not hold what it wants to change */
};

/* Ways of holding, as bits of pawl_robust_lock_deaths. */
#define PAWL_ROBUST_DIED_READ 1u
#define PAWL_ROBUST_DIED_SEEK 2u
#define PAWL_ROBUST_DIED_WRITE 4u
#define PAWL_ROBUST_DIED_ATOMIC 8u

/* One mutex, between seals that a scribbler would break. */
struct pawl_robust_cell_ {
    uint32_t seal;
    uint32_t holder; /* thread number and, from bit 28, the state; 0: nobody, or nobody yet */
    uint64_t mutex[6];
    uint32_t second_seal;
    uint32_t waiting; /* who may sleep for it; those who were killed there stay counted */
} __attribute__((aligned(64)));

typedef struct pawl_robust_lock {
    uint32_t magic;
    uint32_t layout; /* members, size of the mutex, where its kind is and what */
    uint32_t state;
    uint32_t room;
    uint32_t draining;
    uint32_t writer, seeker; /* thread numbers of who holds W, S; 0: nobody */
    struct pawl_robust_cell_ gate __attribute__((aligned(64)));
    struct pawl_robust_cell_ seek;
    struct pawl_robust_cell_ members[PAWL_ROBUST_MEMBERS];
} pawl_robust_lock;

#define pawl_robust_lock_init PAWL_SYMBOL_(pawl_robust_lock_init)
#define pawl_robust_lock_take_read PAWL_SYMBOL_(pawl_robust_lock_take_read)
#define pawl_robust_lock_take_seek PAWL_SYMBOL_(pawl_robust_lock_take_seek)
#define pawl_robust_lock_take_write PAWL_SYMBOL_(pawl_robust_lock_take_write)
#define pawl_robust_lock_take_atomic PAWL_SYMBOL_(pawl_robust_lock_take_atomic)
#define pawl_robust_lock_take_read_until PAWL_SYMBOL_(pawl_robust_lock_take_read_until)
#define pawl_robust_lock_take_seek_until PAWL_SYMBOL_(pawl_robust_lock_take_seek_until)
#define pawl_robust_lock_take_write_until PAWL_SYMBOL_(pawl_robust_lock_take_write_until)
#define pawl_robust_lock_take_atomic_until PAWL_SYMBOL_(pawl_robust_lock_take_atomic_until)
#define pawl_robust_lock_try_read PAWL_SYMBOL_(pawl_robust_lock_try_read)
#define pawl_robust_lock_try_seek PAWL_SYMBOL_(pawl_robust_lock_try_seek)
#define pawl_robust_lock_try_write PAWL_SYMBOL_(pawl_robust_lock_try_write)
#define pawl_robust_lock_try_atomic PAWL_SYMBOL_(pawl_robust_lock_try_atomic)
#define pawl_robust_lock_drop_read PAWL_SYMBOL_(pawl_robust_lock_drop_read)
#define pawl_robust_lock_drop_seek PAWL_SYMBOL_(pawl_robust_lock_drop_seek)
#define pawl_robust_lock_drop_write PAWL_SYMBOL_(pawl_robust_lock_drop_write)
#define pawl_robust_lock_drop_atomic PAWL_SYMBOL_(pawl_robust_lock_drop_atomic)
#define pawl_robust_lock_seek_to_write PAWL_SYMBOL_(pawl_robust_lock_seek_to_write)
#define pawl_robust_lock_seek_to_write_until PAWL_SYMBOL_(pawl_robust_lock_seek_to_write_until)
#define pawl_robust_lock_try_seek_to_write PAWL_SYMBOL_(pawl_robust_lock_try_seek_to_write)
#define pawl_robust_lock_try_read_to_seek PAWL_SYMBOL_(pawl_robust_lock_try_read_to_seek)
#define pawl_robust_lock_try_read_to_write PAWL_SYMBOL_(pawl_robust_lock_try_read_to_write)
#define pawl_robust_lock_read_claim_write PAWL_SYMBOL_(pawl_robust_lock_read_claim_write)
#define pawl_robust_lock_read_claim_write_until \
    PAWL_SYMBOL_(pawl_robust_lock_read_claim_write_until)
#define pawl_robust_lock_write_to_seek PAWL_SYMBOL_(pawl_robust_lock_write_to_seek)
#define pawl_robust_lock_write_to_read PAWL_SYMBOL_(pawl_robust_lock_write_to_read)
#define pawl_robust_lock_seek_to_read PAWL_SYMBOL_(pawl_robust_lock_seek_to_read)
#define pawl_robust_lock_consistent PAWL_SYMBOL_(pawl_robust_lock_consistent)
#define pawl_robust_lock_deaths PAWL_SYMBOL_(pawl_robust_lock_deaths)

PAWL_C_BEGIN

/* Makes the lock, unlocked and consistent. Once, by one process, before others use it; again to
 * start anew after NOT_RECOVERABLE or CORRUPT, when nobody uses it. OK or CORRUPT. */
PAWL_API enum pawl_robust pawl_robust_lock_init(pawl_robust_lock *l);

/* Wait until granted. Acquire. OK, OWNER_DIED, NOT_RECOVERABLE, CORRUPT. */
PAWL_API enum pawl_robust pawl_robust_lock_take_read(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_take_seek(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_take_write(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_take_atomic(pawl_robust_lock *l);
/* The same, or TIMED_OUT at the deadline, in nanoseconds of CLOCK_MONOTONIC; in the past: ask once.
 * UINT64_MAX is none. */
PAWL_API enum pawl_robust pawl_robust_lock_take_read_until(pawl_robust_lock *l, uint64_t deadline);
PAWL_API enum pawl_robust pawl_robust_lock_take_seek_until(pawl_robust_lock *l, uint64_t deadline);
PAWL_API enum pawl_robust pawl_robust_lock_take_write_until(pawl_robust_lock *l, uint64_t deadline);
PAWL_API enum pawl_robust pawl_robust_lock_take_atomic_until(pawl_robust_lock *l,
                                                             uint64_t deadline);
/* The same, or BUSY. Never wait; BUSY also when somebody who looks for the dead is in the way. */
PAWL_API enum pawl_robust pawl_robust_lock_try_read(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_try_seek(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_try_write(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_try_atomic(pawl_robust_lock *l);

/* Give the lock up. Release. OK, MISUSE, CORRUPT. drop_write by a writer that was told OWNER_DIED
 * and has not called _consistent makes the lock NOT_RECOVERABLE. The others may leave the repair to
 * the next one, who is told again. */
PAWL_API enum pawl_robust pawl_robust_lock_drop_read(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_drop_seek(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_drop_write(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_drop_atomic(pawl_robust_lock *l);

/* S -> W waits for the readers; R -> S, and R -> W which waits for the other readers, are BUSY when
 * somebody else seeks or writes: R is then still held, and must be dropped before another try. Down
 * is at once. OK, OWNER_DIED (where up), MISUSE, CORRUPT. */
PAWL_API enum pawl_robust pawl_robust_lock_seek_to_write(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_seek_to_write_until(pawl_robust_lock *l,
                                                               uint64_t deadline);
PAWL_API enum pawl_robust pawl_robust_lock_try_seek_to_write(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_try_read_to_seek(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_try_read_to_write(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_read_claim_write(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_read_claim_write_until(pawl_robust_lock *l,
                                                                         uint64_t deadline);
PAWL_API enum pawl_robust pawl_robust_lock_write_to_seek(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_write_to_read(pawl_robust_lock *l);
PAWL_API enum pawl_robust pawl_robust_lock_seek_to_read(pawl_robust_lock *l);

/* The data are as they must be: the deaths told of are forgotten. By a holder, in any state; only
 * under W is nobody else at the data. OK, MISUSE, NOT_RECOVERABLE, CORRUPT. */
PAWL_API enum pawl_robust pawl_robust_lock_consistent(pawl_robust_lock *l);

/* In which states holders have died who have not been forgotten: PAWL_ROBUST_DIED_ bits. */
PAWL_API unsigned pawl_robust_lock_deaths(const pawl_robust_lock *l);

PAWL_C_END

/* Whether a take, try or move that ended so holds the state that it asked for. */
PAWL_INLINE_BEGIN
PAWL_INLINE bool pawl_robust_held(enum pawl_robust how)
{
    return how == PAWL_ROBUST_OK || how == PAWL_ROBUST_OWNER_DIED;
}
PAWL_INLINE_END

#endif
