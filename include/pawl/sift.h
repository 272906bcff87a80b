/* SPDX-License-Identifier: MIT */
/*
 * Priority-sifting reader-writer lock: read by threads, real-time threads and signal handlers, with
 * a writer that keeps each of them out only for as long as it must. It sifts the readers out from
 * the lowest context up, so slow readers in threads never make a handler wait, and readers do not
 * starve writers.
 *
 * Not for: data that handlers do not read (lock.h, brlock.h); data that can be copied (seq.h, whose
 * readers wait for nobody); long writes. Blocking a signal does not stop preemption: doc/sift.md
 * has the table of what each combination of readers and rights guarantees.
 *
 *   word      slow 12 | interrupt 10 | deferred 10 | realtime 12 | thread 18 | WRITER | WAITED
 *   context   subscribed 16 | slow readers 15 | WAITED          one such word for each context
 *   mutex     0 free, 1 held, 2 held and waited for             writers on the slow path
 *   gate      0 free, else the holder's thread number           writers, where real-time readers
 *                                                               lend them their priority
 *
 *   thread, realtime, deferred, interrupt   readers that are in, by context.
 *   slow      writers on the slow path: the mark and the count are one field, so the fast path of
 *             readers and writers is shut while it is not 0.
 *   WRITER    a writer that came in by the fast path. Set only when the word was 0.
 *   WAITED    of the word: somebody waits for it to change. Set by who waits; cleared by the last
 *             slow writer that leaves, who then wakes all, or by who comes in to read when there is
 *             none, and nobody is left to be woken. May be stale.
 *             Of a context: the same, for its own word; handlers that spin set it too.
 *   subscribed    slow writers that keep new readers of the context out.
 *   slow readers  readers that have passed the subscriptions and are about to come in.
 *   ranks     waiting writers by priority, for PAWL_SIFT_PRIORITY only.
 *
 * States  U nobody; R any number of readers of any contexts; WRITER one writer, alone; each context
 *         shut, from the lowest up, by slow writers; mutex held: one slow writer, alone.
 *
 * Cost: take and drop R: a compare-exchange and a subtraction. W: two compare-exchanges, and if
 * handlers read, two calls to block and restore signals; if writers are raised, four more for the
 * scheduling class; if they are lent priority, two more compare-exchanges.
 *
 * Invariants
 *   I1  a writer is alone: by WRITER, set when the word was 0; or by the mutex, after every context
 *       had been subscribed to and found empty once.
 *   I2  a reader comes in when it finds no writer at all (slow is 0), or after it has counted
 *       itself in a context word that showed no subscription, in one step.
 *   I3  a reader never counts itself and then looks: no count of a lower context shows, even
 *       briefly, that a waiting writer of a higher one would have to wait for.
 *   I4  who sets WAITED looks again before it sleeps; who changes the word learns of WAITED by the
 *       same step. So no wake is lost.
 *   I5  the last access of a drop to the lock is the step that gives it up; destroy waits for slow
 *       writers to have made theirs.
 *   I6  signals are blocked before their handlers' context is subscribed to, and unblocked after it
 *       is open again. On the slow path they are while the writer waits for handlers that are in,
 *       and for nobody else: whoever must wait for another writer opens and unblocks first.
 *   I7  handlers never sleep, and the only thing they do for others is to wake them by the kernel.
 */
#ifndef PAWL_SIFT_H
#define PAWL_SIFT_H

#include <pawl/atomic.h>

/* Nanoseconds of CLOCK_MONOTONIC that never come. */
#define PAWL_SIFT_FOREVER UINT64_MAX

/* Where one reads or writes, from the lowest to the highest. Who has raised itself (a thread that
 * has blocked the signals) is in the context that it has raised itself to. */
enum pawl_sift_context {
    PAWL_SIFT_THREAD,   /* ordinary threads; they may sleep while they read */
    PAWL_SIFT_REALTIME, /* SCHED_FIFO and SCHED_RR threads, sections that do not sleep */
    PAWL_SIFT_DEFERRED, /* handlers of the lower class of signals */
    PAWL_SIFT_INTERRUPT /* handlers of the higher class */
};
#define PAWL_SIFT_CONTEXTS 4

/* For `readers`: | of all contexts that read. */
#define PAWL_SIFT_READS(context) (1u << (context))
/* For `deferred` and `interrupt`: | of all signals whose handlers read. */
#define PAWL_SIFT_SIGNAL(number) (UINT64_C(1) << ((number)-1))

/* Flags of a lock. */
/* Writers run at SCHED_FIFO `ceiling` while readers above threads are kept out. */
#define PAWL_SIFT_RAISE 1u
/* Handlers read on real-time threads: they spin, so writers must be raised. Implies RAISE. */
#define PAWL_SIFT_REALTIME_HANDLERS 2u
/* A real-time reader does not pass a waiting writer of equal or higher priority (POSIX TPS). */
#define PAWL_SIFT_PRIORITY 4u

/* What a lock is told at the start. Zero bytes: read and written by threads. */
typedef struct pawl_sift_use {
    uint32_t readers; /* PAWL_SIFT_READS(...); 0: threads */
    uint32_t writers; /* the one context in which writers run; none below it reads */
    uint32_t flags;
    uint32_t ceiling;   /* with RAISE: the highest priority of whoever reads, 1 to 99 */
    uint64_t deferred;  /* signals of that context; none may be in both sets */
    uint64_t interrupt;
} pawl_sift_use;

/* What a writer has to restore when it leaves. Internal. */
struct pawl_sift_before_ {
    uint64_t blocked[2]; /* of the signals of each context, those that it blocked itself */
    uint32_t policy;
    uint32_t priority;
    uint32_t raised; /* 1: the two above are to be restored */
    uint32_t rank;   /* where it is counted among those who wait; 0: nowhere */
};

#define PAWL_SIFT_RANKS_ 100

/* Zero bytes are an unlocked lock that threads read and write. */
typedef struct pawl_sift {
    uint64_t word __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t mode;    /* PAWL_SIFT_MODE_; constant after init, like the three below */
    uint32_t readers; /* 0: threads */
    uint32_t writers;
    uint32_t ceiling;
    uint64_t signals[2]; /* deferred, interrupt */
    uint32_t contexts[PAWL_SIFT_CONTEXTS] __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t mutex;
    uint32_t gate;
    uint32_t holder;                 /* the checking variant's: who writes; 0 in release */
    struct pawl_sift_before_ before; /* of the writer that is in */
    uint16_t ranks[PAWL_SIFT_RANKS_];
} pawl_sift;

/* What a writer of this lock has to do beside taking it. Internal. */
#define PAWL_SIFT_MODE_BLOCK_ 1u /* signals */
#define PAWL_SIFT_MODE_RAISE_ 2u /* the scheduling class */
#define PAWL_SIFT_MODE_LEND_ 4u  /* the gate */
#define PAWL_SIFT_MODE_RANK_ 8u  /* ranks */
#define PAWL_SIFT_MODE_SPIN_ 16u /* writers are handlers, and never sleep */

/* The word. Internal. */
#define PAWL_SIFT_WAITED_ UINT64_C(1)
#define PAWL_SIFT_WRITER_ UINT64_C(2)
#define PAWL_SIFT_SLOW_ (UINT64_C(1) << 52)
#define PAWL_SIFT_UNIT_(context)                                                                   \
    (UINT64_C(1) << ((context) == PAWL_SIFT_THREAD     ? 2                                         \
                     : (context) == PAWL_SIFT_REALTIME ? 20                                        \
                     : (context) == PAWL_SIFT_DEFERRED ? 32                                        \
                                                       : 42))

PAWL_C_BEGIN

/* Makes an unlocked lock; NULL: read and written by threads. Otherwise
 *   EINVAL   no lock; an unknown context, flag or signal; a context that reads below the writers';
 *            a handler context without signals, or signals without it; a signal that cannot be
 *            blocked (KILL, STOP, the C library's own) or held back (SEGV and its like); a
 *            ceiling out of range, or without RAISE
 *   EPERM    RAISE or REALTIME_HANDLERS without the right to schedule by SCHED_FIFO at `ceiling`
 *   ENOTSUP  the system has no signals, no real-time scheduling, or none that lends priority
 * and the lock is not made. */
PAWL_API int PAWL_SYMBOL_(pawl_sift_init)(pawl_sift *l, const pawl_sift_use *use);
/* Nobody is in or waits; waits for drops of W that have let others in and are about to return. */
PAWL_API void PAWL_SYMBOL_(pawl_sift_destroy)(pawl_sift *l);

/* What the inline functions below call. */
PAWL_API bool PAWL_SYMBOL_(pawl_sift_take_read_slow)(pawl_sift *l, enum pawl_sift_context context,
                                                     uint64_t until);
PAWL_API bool PAWL_SYMBOL_(pawl_sift_try_read_slow)(pawl_sift *l, enum pawl_sift_context context);
PAWL_API void PAWL_SYMBOL_(pawl_sift_drop_read_waited)(pawl_sift *l, uint64_t word,
                                                       enum pawl_sift_context context);
PAWL_API bool PAWL_SYMBOL_(pawl_sift_take_write_slow)(pawl_sift *l, uint64_t until);
PAWL_API bool PAWL_SYMBOL_(pawl_sift_try_write_slow)(pawl_sift *l);
PAWL_API void PAWL_SYMBOL_(pawl_sift_drop_write_slow)(pawl_sift *l);
#if PAWL_CHECKED
PAWL_API void PAWL_SYMBOL_(pawl_sift_drop_read_checked)(pawl_sift *l,
                                                        enum pawl_sift_context context);
#endif

PAWL_C_END

#define pawl_sift_init PAWL_SYMBOL_(pawl_sift_init)
#define pawl_sift_destroy PAWL_SYMBOL_(pawl_sift_destroy)
#define pawl_sift_take_read_slow_ PAWL_SYMBOL_(pawl_sift_take_read_slow)
#define pawl_sift_try_read_slow_ PAWL_SYMBOL_(pawl_sift_try_read_slow)
#define pawl_sift_drop_read_waited_ PAWL_SYMBOL_(pawl_sift_drop_read_waited)
#define pawl_sift_take_write_slow_ PAWL_SYMBOL_(pawl_sift_take_write_slow)
#define pawl_sift_try_write_slow_ PAWL_SYMBOL_(pawl_sift_try_write_slow)
#define pawl_sift_drop_write_slow_ PAWL_SYMBOL_(pawl_sift_drop_write_slow)
#define pawl_sift_drop_read_checked_ PAWL_SYMBOL_(pawl_sift_drop_read_checked)

/* ---- Operations ------------------------------------------------------------------------------ */

PAWL_INLINE_BEGIN

/* The whole way in of who finds nobody there. The compiled halves do it again, with checks. */
PAWL_INLINE bool pawl_sift_first_(pawl_sift *l, uint64_t claim)
{
#if PAWL_CHECKED
    (void)l, (void)claim;
    return false;
#else
    uint64_t nobody = 0;
    /* [SIFT_FAST_TAKE] acquire: we come after whoever has left, writers above all. */
    return pawl_cas_acquire64(&l->word, &nobody, claim, PAWL_SIFT_FAST_TAKE);
#endif
}

/* R for a reader in `context`, which the lock must have been told of. A thread that reads may read
 * again in a higher context, as handlers do that interrupt it; in the same or a lower one only by
 * try, or it waits for a writer that waits for it. Handlers hold back the signals of their own
 * class, and of the class below, by their sa_mask, for the same reason. THREAD and REALTIME sleep
 * after a short spin; the others spin. Acquire. */
PAWL_INLINE void pawl_sift_take_read(pawl_sift *l, enum pawl_sift_context context)
{
    if (PAWL_UNLIKELY(!pawl_sift_first_(l, PAWL_SIFT_UNIT_(context))))
        (void)pawl_sift_take_read_slow_(l, context, PAWL_SIFT_FOREVER);
}

/* The same, or false when the deadline (ns of CLOCK_MONOTONIC) has passed. */
PAWL_INLINE bool pawl_sift_take_read_until(pawl_sift *l, enum pawl_sift_context context,
                                           uint64_t until)
{
    return PAWL_LIKELY(pawl_sift_first_(l, PAWL_SIFT_UNIT_(context))) ||
           pawl_sift_take_read_slow_(l, context, until);
}

/* Never waits: false when a writer is in, or keeps the context out. */
PAWL_INLINE bool pawl_sift_try_read(pawl_sift *l, enum pawl_sift_context context)
{
    return PAWL_LIKELY(pawl_sift_first_(l, PAWL_SIFT_UNIT_(context))) ||
           pawl_sift_try_read_slow_(l, context);
}

/* One reader less; the compiled half of the checking variant looks whether it was in. */
PAWL_INLINE void pawl_sift_count_down_(pawl_sift *l, enum pawl_sift_context context)
{
    const uint64_t word =
        /* [SIFT_R_DROP] release: our reads are done before a writer sees the count fall. */
        pawl_fetch_sub_release64(&l->word, PAWL_SIFT_UNIT_(context), PAWL_SIFT_R_DROP);
    if (PAWL_UNLIKELY(word & PAWL_SIFT_WAITED_))
        pawl_sift_drop_read_waited_(l, word, context);
}

/* Gives up one R that was taken in that context. Release. */
PAWL_INLINE void pawl_sift_drop_read(pawl_sift *l, enum pawl_sift_context context)
{
#if PAWL_CHECKED
    pawl_sift_drop_read_checked_(l, context);
#else
    pawl_sift_count_down_(l, context);
#endif
}

/* W, in the context that the lock was told of. With handlers that read: on return their signals are
 * blocked in the calling thread until the drop; so locks of this kind are dropped in the reverse
 * order. A thread that is in may not write. Sleeps, unless handlers write. Acquire. */
PAWL_INLINE void pawl_sift_take_write(pawl_sift *l)
{
    if (PAWL_UNLIKELY(l->mode != 0 || !pawl_sift_first_(l, PAWL_SIFT_WRITER_)))
        (void)pawl_sift_take_write_slow_(l, PAWL_SIFT_FOREVER);
}

/* The same, or false when the deadline has passed, and everything is as it was. */
PAWL_INLINE bool pawl_sift_take_write_until(pawl_sift *l, uint64_t until)
{
    return (PAWL_LIKELY(l->mode == 0) && PAWL_LIKELY(pawl_sift_first_(l, PAWL_SIFT_WRITER_))) ||
           pawl_sift_take_write_slow_(l, until);
}

/* Never waits, and keeps nobody out if it fails: false when anybody is in, or writers wait. */
PAWL_INLINE bool pawl_sift_try_write(pawl_sift *l)
{
    return (PAWL_LIKELY(l->mode == 0) && PAWL_LIKELY(pawl_sift_first_(l, PAWL_SIFT_WRITER_))) ||
           pawl_sift_try_write_slow_(l);
}

/* Gives up W, by the thread that took it, and restores its signals and scheduling. Release. */
PAWL_INLINE void pawl_sift_drop_write(pawl_sift *l)
{
#if !PAWL_CHECKED
    uint64_t alone = PAWL_SIFT_WRITER_;
    /* [SIFT_W_DROP] release: our stores are done before anybody enters. */
    if (PAWL_LIKELY(l->mode == 0) &&
        PAWL_LIKELY(pawl_cas_release64(&l->word, &alone, 0, PAWL_SIFT_W_DROP)))
        return;
#endif
    pawl_sift_drop_write_slow_(l);
}

PAWL_INLINE_END

#endif
