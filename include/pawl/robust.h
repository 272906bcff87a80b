/* SPDX-License-Identifier: MIT */
/*
 * A progressive lock in shared memory for processes that may be killed: read, seek, write, atomic.
 * When a holder dies, at any instruction, the lock tells the next holder. That one may repair the
 * data and mark it consistent. No process hangs, and none polls: the kernel wakes the waiters.
 *
 * Not for: processes that live and die together (pshared.h has 8 bytes and is much cheaper); signal
 * handlers; real-time threads; a drop by another thread than the holder. Nor for processes in
 * different PID namespaces: the kernel's robust futexes name the holder by its thread number. By
 * exec a thread other than the first gets another number, so what it holds stays held for ever.
 *
 * A count cannot tell whose unit is left over. So a claim here is a robust mutex of the C library:
 * the instruction that claims it also records the holder (doc/design/009-pshared.md). There are 18
 * of them, each on a line of its own:
 *
 *   header | gate | seek | member 0 | ... | member 15          64 bytes each, 1,216 in all
 *
 *   member   one for each reader, seeker and atomic user; any free one will do.
 *   seek     the one seeker, writer, or thread that changes the room.
 *   gate     a thread that wants nobody in the members holds it as long. Newcomers that see
 *            `draining` give their member back and pass through the gate, so they do not overtake.
 *   room     the kind of the members: readers (and a seeker), or atomic users. Only the holder of
 *            the gate changes it, when all members are free, so it is constant for the holder of
 *            one.
 *   draining, writer, seeker, and the holder in each member: records of the holders and of how far
 *            they have come. The holder of a mutex writes its records; others read them after its
 *            death.
 *   used     a bit for each member; must be set before its holder is in. May be stale when set. It
 *            says where to look for holders and for the dead. The holder of the gate clears all
 *            when the members are free.
 *   state    deaths that are not repaired yet, a bit for each way of holding; or "not recoverable".
 *
 *   R = a member in the room of readers      S = seek + such a member
 *   A = a member in the room of atomic users     W = seek + gate, and no member is held
 *
 * At most PAWL_ROBUST_MEMBERS readers or atomic users hold the lock at once. Each further one waits
 * for one certain member to become free.
 *
 * Cost: R, S and A take and drop one or two mutexes and look at the members in use; W takes two
 * mutexes and looks at 16; changing the room costs as much as W. doc/robust.md has the measured
 * numbers.
 *
 * Invariants
 *   I1  exclusion as in spin.h, also across deaths. Only the kernel releases what a dead process
 *       held, one mutex at a time. The next owner of each learns of the death before it is granted.
 *   I2  a record is written after its mutex is taken and before the operation returns. It is
 *       cleared before the mutex is released. So a process that dies while it waits, enters or
 *       leaves was no holder, and its death is not reported.
 *   I3  a thread that finds a death records it in `state` before it marks the mutex consistent. So
 *       its own death there loses nothing.
 *   I4  an operation waits only for a mutex that a living holder, or the kernel in its place, will
 *       release. While a cell's `waiting` is not zero, the next owner of its mutex owes a wake.
 */
#ifndef PAWL_ROBUST_H
#define PAWL_ROBUST_H

#include <pawl/detail/around.h>

#if PAWL_HOOKS
#define PAWL_ROBUST_MEMBERS 2 /* few enough to run every schedule, and to share places */
#else
#define PAWL_ROBUST_MEMBERS 16
#endif

/* The result of an operation. The first two hold the lock in the requested state. */
enum pawl_robust {
    PAWL_ROBUST_OK,              /* done */
    PAWL_ROBUST_OWNER_DIED,      /* done; a holder has died since the data were last consistent */
    PAWL_ROBUST_BUSY,            /* a try: another thread is in the way. The hold is unchanged */
    PAWL_ROBUST_TIMED_OUT,       /* the deadline has passed. The hold is unchanged */
    PAWL_ROBUST_NOT_RECOVERABLE, /* a writer was told of a death and dropped without repair; for
                                    ever, or until the lock is made anew */
    PAWL_ROBUST_CORRUPT,         /* null, not aligned, never made, made by a program with another
                                    layout, or overwritten */
    PAWL_ROBUST_MISUSE           /* the calling thread does not hold the state that it changes */
};

/* Ways of holding, as bits of pawl_robust_lock_deaths. */
#define PAWL_ROBUST_DIED_READ 1u
#define PAWL_ROBUST_DIED_SEEK 2u
#define PAWL_ROBUST_DIED_WRITE 4u
#define PAWL_ROBUST_DIED_ATOMIC 8u

/* One mutex, between seals that an overwrite would break. */
struct ipawl_robust_cell_ {
    uint32_t seal;
    uint32_t holder; /* thread number and, from bit 28, the state; 0: none, or not yet recorded */
    uint64_t mutex[6];
    uint32_t second_seal;
    uint32_t waiting; /* threads that may sleep for it; those killed there stay counted */
} __attribute__((__aligned__(64)));

typedef struct pawl_robust_lock {
    uint32_t magic;
    uint32_t layout; /* members, size of the mutex, place and value of its kind */
    uint32_t state;
    uint32_t room;
    uint32_t draining;
    uint32_t writer, seeker; /* thread numbers of the holders of W and S; 0: none */
    uint32_t used;
    struct ipawl_robust_cell_ gate __attribute__((__aligned__(64)));
    struct ipawl_robust_cell_ seek;
    struct ipawl_robust_cell_ members[PAWL_ROBUST_MEMBERS];
} pawl_robust_lock;

PAWL_C_BEGIN

/* Makes the lock, unlocked and consistent. One process calls it once, before others use the lock;
 * after NOT_RECOVERABLE or CORRUPT again, when no thread uses the lock. OK or CORRUPT. */
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_init)(pawl_robust_lock *l);

/* Wait until granted. Acquire. OK, OWNER_DIED, NOT_RECOVERABLE, CORRUPT. */
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_take_read)(pawl_robust_lock *l);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_take_seek)(pawl_robust_lock *l);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_take_write)(pawl_robust_lock *l);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_take_atomic)(pawl_robust_lock *l);
/* The same, or TIMED_OUT at the deadline, in nanoseconds of CLOCK_MONOTONIC. A deadline in the
 * past: one attempt. UINT64_MAX: no deadline. */
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_take_read_until)(pawl_robust_lock *l,
                                                                         uint64_t deadline);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_take_seek_until)(pawl_robust_lock *l,
                                                                         uint64_t deadline);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_take_write_until)(pawl_robust_lock *l,
                                                                          uint64_t deadline);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_take_atomic_until)(pawl_robust_lock *l,
                                                                           uint64_t deadline);
/* The same, or BUSY. Never wait; BUSY also while another thread looks for the dead. */
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_try_read)(pawl_robust_lock *l);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_try_seek)(pawl_robust_lock *l);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_try_write)(pawl_robust_lock *l);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_try_atomic)(pawl_robust_lock *l);

/* Give the lock up. Release. OK, MISUSE, CORRUPT. If a writer was told OWNER_DIED and has not
 * called _consistent, its drop_write makes the lock NOT_RECOVERABLE. Other holders may leave the
 * repair to the next holder, which is told again. */
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_drop_read)(pawl_robust_lock *l);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_drop_seek)(pawl_robust_lock *l);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_drop_write)(pawl_robust_lock *l);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_drop_atomic)(pawl_robust_lock *l);

/* Upgrades and downgrades. S -> W waits for the readers, R -> W for the other readers. R -> S and
 * R -> W are BUSY while another thread seeks or writes: the caller still holds R, and must drop it
 * before another try. Downgrades are at once. OK, OWNER_DIED (upgrades), MISUSE, CORRUPT. */
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_seek_to_write)(pawl_robust_lock *l);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_seek_to_write_until)(pawl_robust_lock *l,
                                                                             uint64_t deadline);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_try_seek_to_write)(pawl_robust_lock *l);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_try_read_to_seek)(pawl_robust_lock *l);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_try_read_to_write)(pawl_robust_lock *l);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_read_claim_write)(pawl_robust_lock *l);
PAWL_TRY enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_read_claim_write_until)(pawl_robust_lock *l,
                                                                                uint64_t deadline);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_write_to_seek)(pawl_robust_lock *l);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_write_to_read)(pawl_robust_lock *l);
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_seek_to_read)(pawl_robust_lock *l);

/* Declares the data consistent: the reported deaths are cleared. Any holder may call it; only W
 * keeps other threads from the data. OK, MISUSE, NOT_RECOVERABLE, CORRUPT. */
PAWL_API enum pawl_robust PAWL_SYMBOL_(pawl_robust_lock_consistent)(pawl_robust_lock *l);

/* The states in which holders have died, until cleared: PAWL_ROBUST_DIED_ bits. */
PAWL_API unsigned PAWL_SYMBOL_(pawl_robust_lock_deaths)(const pawl_robust_lock *l);

PAWL_C_END

#define pawl_robust_lock_init PAWL_SYMBOL_(pawl_robust_lock_init)
#if !PAWL_TOLD_AROUND_
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
#define pawl_robust_lock_read_claim_write_until                                                    \
    PAWL_SYMBOL_(pawl_robust_lock_read_claim_write_until)
#define pawl_robust_lock_write_to_seek PAWL_SYMBOL_(pawl_robust_lock_write_to_seek)
#define pawl_robust_lock_write_to_read PAWL_SYMBOL_(pawl_robust_lock_write_to_read)
#define pawl_robust_lock_seek_to_read PAWL_SYMBOL_(pawl_robust_lock_seek_to_read)
#define pawl_robust_lock_consistent PAWL_SYMBOL_(pawl_robust_lock_consistent)
#define pawl_robust_lock_deaths PAWL_SYMBOL_(pawl_robust_lock_deaths)
#endif

/* True if a take, try or move with this result holds the requested state. */
PAWL_INLINE_BEGIN
PAWL_INLINE bool pawl_robust_held(enum pawl_robust how)
{
    return how == PAWL_ROBUST_OK || how == PAWL_ROBUST_OWNER_DIED;
}
PAWL_INLINE_END

#if PAWL_TOLD_AROUND_
#include <pawl/detail/robust_told.inc.h>
#endif

#endif
