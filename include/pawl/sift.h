/* SPDX-License-Identifier: MIT */
/*
 * Priority-sifting reader-writer lock. Threads, real-time threads and signal handlers read it. A
 * writer shuts out one context of readers after the other, from the lowest to the highest. So a
 * slow reader in a thread never delays a handler, and readers do not starve writers.
 *
 * Not for: data that handlers do not read (lock.h, brlock.h); data that can be copied (seq.h, whose
 * readers never wait); long writes. Blocking a signal does not stop preemption: doc/sift.md has
 * the table of the guarantees of each combination of readers and rights.
 *
 *   word      slow 12 | interrupt 10 | deferred 10 | realtime 12 | thread 18 | WRITER | WAITED
 *   context   subscribed 16 | slow readers 15 | WAITED          one such word for each context
 *   mutex     0 free, 1 held, 2 held and waited for             writers on the slow path
 *   gate      0 free, else the holder's thread number           writers, where real-time readers
 *                                                               lend them their priority
 *
 *   thread, realtime, deferred, interrupt   granted readers, by context.
 *   slow      writers on the slow path. While it is not 0, the fast path of readers and writers is
 *             shut.
 *   WRITER    a writer that was granted by the fast path. Set only when the word was 0.
 *   WAITED    of the word: a thread waits for a change. The waiter sets it. The last slow writer to
 *             release clears it and wakes all waiters. A reader that enters while there is no
 *             writer clears it too, if no waiter is left. May be set without need.
 *             Of a context: the same for its own word; handlers that spin set it too.
 *   subscribed    slow writers that keep new readers of the context out.
 *   slow readers  readers that saw no subscription and are about to enter.
 *   ranks     waiting writers by priority, for PAWL_SIFT_PRIORITY only.
 *
 * States  U free; R any number of readers of any contexts; WRITER one writer, alone; each context
 *         shut by slow writers, from the lowest up; mutex held: one slow writer, alone.
 *
 * Cost
 *   R  a compare-exchange and a subtraction.
 *   W  two compare-exchanges. If handlers read: two system calls to block and restore signals. If
 *      writers are raised: four more for the scheduling class. If they are lent priority: two more
 *      compare-exchanges.
 *
 * Invariants
 *   I1  a writer is alone. On the fast path it set WRITER when the word was 0. On the slow path it
 *       holds the mutex, has subscribed to every context, and has found each empty once.
 *   I2  a reader enters when it finds no writer (slow is 0). Otherwise it first counts itself, in
 *       one step, in a context word that shows no subscription.
 *   I3  a reader never counts itself before it looks. So a waiting writer of a higher context never
 *       sees, even briefly, a count of a lower one that it would have to wait for.
 *   I4  a waiter sets WAITED, looks again, and only then sleeps. A thread that changes the word
 *       learns of WAITED in the same step. So no wake is lost.
 *   I5  the last access of a drop to the lock is the step that releases it. destroy waits until
 *       slow writers have made that step.
 *   I6  a writer blocks the signals before it subscribes to their handlers' context, and unblocks
 *       them after it has opened that context. On the slow path they stay blocked only while the
 *       writer waits for handlers that are in. A writer that must wait for another writer opens and
 *       unblocks first.
 *   I7  a handler never sleeps. The only thing it does for others is a wake by the kernel.
 */
#ifndef PAWL_SIFT_H
#define PAWL_SIFT_H

#include <pawl/detail/around.h>

/* A deadline that never comes, in nanoseconds of CLOCK_MONOTONIC. */
#define PAWL_SIFT_FOREVER UINT64_MAX

/* The context in which the caller runs, from the lowest to the highest. A thread that has blocked
 * the signals of a handler context is in that context. */
enum pawl_sift_context {
    PAWL_SIFT_THREAD,   /* ordinary threads; they may sleep while they read */
    PAWL_SIFT_REALTIME, /* SCHED_FIFO and SCHED_RR threads; their sections do not sleep */
    PAWL_SIFT_DEFERRED, /* handlers of the lower class of signals */
    PAWL_SIFT_INTERRUPT /* handlers of the higher class */
};
#define PAWL_SIFT_CONTEXTS 4

/* For `readers`: | of all contexts that read. */
#define PAWL_SIFT_READS(context) (1u << (context))
/* For `deferred` and `interrupt`: | of all signals whose handlers read. */
#define PAWL_SIFT_SIGNAL(number) (UINT64_C(1) << ((number) - 1))

/* Flags of a lock. */
/* Writers run at SCHED_FIFO `ceiling` while readers above threads are kept out. */
#define PAWL_SIFT_RAISE 1u
/* Handlers read on real-time threads: they spin, so writers must be raised. Implies RAISE. */
#define PAWL_SIFT_REALTIME_HANDLERS 2u
/* A real-time reader does not pass a waiting writer of equal or higher priority (POSIX TPS). */
#define PAWL_SIFT_PRIORITY 4u

/* The intended use of a lock. Zero bytes: threads read and write. */
typedef struct pawl_sift_use {
    uint32_t readers; /* PAWL_SIFT_READS(...); 0: threads */
    uint32_t writers; /* the one context in which writers run; none below it reads */
    uint32_t flags;
    uint32_t ceiling;  /* with RAISE: the highest priority of any reader, 1 to 99 */
    uint64_t deferred; /* signals of that context; none may be in both sets */
    uint64_t interrupt;
} pawl_sift_use;

/* The values that a writer restores when it releases. Internal. */
struct ipawl_sift_before_ {
    uint64_t blocked[2]; /* of the signals of each context, those that the writer blocked itself */
    uint32_t policy;
    uint32_t priority;
    uint32_t raised; /* 1: the two above are to be restored */
    uint32_t rank;   /* its index in `ranks` while it waits; 0: none */
};

#define PAWL_SIFT_RANKS_ 100

/* Zero bytes are an unlocked lock that threads read and write. */
typedef struct pawl_sift {
    uint64_t word __attribute__((__aligned__(PAWL_CACHE_LINE)));
    uint32_t mode;    /* PAWL_SIFT_MODE_; constant after init, like the three below */
    uint32_t readers; /* 0: threads */
    uint32_t writers;
    uint32_t ceiling;
    uint64_t signals[2]; /* deferred, interrupt */
    uint32_t contexts[PAWL_SIFT_CONTEXTS] __attribute__((__aligned__(PAWL_CACHE_LINE)));
    uint32_t mutex;
    uint32_t gate;
    uint32_t holder;                  /* the checking variant's: the writer; 0 in the others */
    struct ipawl_sift_before_ before; /* of the granted writer */
    uint16_t ranks[PAWL_SIFT_RANKS_];
} pawl_sift;

/* A writer's duties for this lock beside taking it. Internal. */
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

/* Makes an unlocked lock; NULL: threads read and write it. Otherwise
 *   EINVAL   no lock; an unknown context, flag or signal; a context that reads below the writers';
 *            a handler context without signals, or signals without it; a signal that cannot be
 *            blocked (KILL, STOP, the C library's own) or held back (SEGV and its like); a
 *            ceiling out of range, or without RAISE
 *   EPERM    RAISE or REALTIME_HANDLERS without the right to schedule by SCHED_FIFO at `ceiling`
 *   ENOTSUP  the system has no signals, no real-time scheduling, or none that lends priority
 * and the lock is not made. */
PAWL_API int PAWL_SYMBOL_(pawl_sift_init)(pawl_sift *l, const pawl_sift_use *use);
/* The lock must be free and without waiters. Waits for a drop of W that is about to return. */
PAWL_API void PAWL_SYMBOL_(pawl_sift_destroy)(pawl_sift *l);

/* The compiled halves of the inline functions below. */
PAWL_API bool PAWL_SYMBOL_(pawl_sift_take_read_slow)(pawl_sift *l, enum pawl_sift_context context,
                                                     uint64_t until);
PAWL_API bool PAWL_SYMBOL_(pawl_sift_try_read_slow)(pawl_sift *l, enum pawl_sift_context context);
PAWL_API void PAWL_SYMBOL_(pawl_sift_drop_read_waited)(pawl_sift *l, uint64_t word,
                                                       enum pawl_sift_context context);
PAWL_API bool PAWL_SYMBOL_(pawl_sift_take_write_slow)(pawl_sift *l, uint64_t until);
PAWL_API bool PAWL_SYMBOL_(pawl_sift_try_write_slow)(pawl_sift *l);
PAWL_API void PAWL_SYMBOL_(pawl_sift_drop_write_slow)(pawl_sift *l);
PAWL_API void PAWL_SYMBOL_(pawl_sift_drop_read_checked)(pawl_sift *l,
                                                        enum pawl_sift_context context);

PAWL_C_END

#define pawl_sift_init PAWL_SYMBOL_(pawl_sift_init)
#define pawl_sift_destroy PAWL_SYMBOL_(pawl_sift_destroy)
#define ipawl_sift_take_read_slow_ PAWL_SYMBOL_(pawl_sift_take_read_slow)
#define ipawl_sift_try_read_slow_ PAWL_SYMBOL_(pawl_sift_try_read_slow)
#define ipawl_sift_drop_read_waited_ PAWL_SYMBOL_(pawl_sift_drop_read_waited)
#define ipawl_sift_take_write_slow_ PAWL_SYMBOL_(pawl_sift_take_write_slow)
#define ipawl_sift_try_write_slow_ PAWL_SYMBOL_(pawl_sift_try_write_slow)
#define ipawl_sift_drop_write_slow_ PAWL_SYMBOL_(pawl_sift_drop_write_slow)
#define ipawl_sift_drop_read_checked_ PAWL_SYMBOL_(pawl_sift_drop_read_checked)

/* ---- Operations ------------------------------------------------------------------------------ */

PAWL_INLINE_BEGIN

/* The fast path into a free lock. The compiled halves do it again, with checks. */
PAWL_INLINE bool ipawl_sift_first_(pawl_sift *l, uint64_t claim)
{
    uint64_t nobody = 0;
    if (PAWL_CHECKED)
        return false;
    /* [SIFT_FAST_TAKE] acquire: we come after the last holder, above all after a writer. */
    return pawl_cas_acquire64(&l->word, &nobody, claim, PAWL_SIFT_FAST_TAKE);
}

/* The tries. Around an operation stands what is told of it (detail/around.h). */
PAWL_INLINE bool ipawl_sift_read_at_once_(pawl_sift *l, enum pawl_sift_context context)
{
    return PAWL_LIKELY(ipawl_sift_first_(l, PAWL_SIFT_UNIT_(context))) ||
           ipawl_sift_try_read_slow_(l, context);
}

PAWL_INLINE bool ipawl_sift_write_first_(pawl_sift *l)
{
    return PAWL_LIKELY(l->mode == 0) && PAWL_LIKELY(ipawl_sift_first_(l, PAWL_SIFT_WRITER_));
}

PAWL_INLINE bool ipawl_sift_write_at_once_(pawl_sift *l)
{
    return ipawl_sift_write_first_(l) || ipawl_sift_try_write_slow_(l);
}

/* Takes R for a reader in `context`, which must be one of the lock's `readers`. Acquire.
 * A thread that holds R may take it again in a higher context, as a handler that interrupts it
 * does. In the same or a lower context it may only try: a take could wait for a writer that waits
 * for this thread. For the same reason a handler's sa_mask holds back the signals of its own class
 * and of the class below. THREAD and REALTIME sleep after a short spin; the others spin. */
PAWL_INLINE void pawl_sift_take_read(pawl_sift *l, enum pawl_sift_context context)
{
    bool value;
    PAWL_WAITS_(SIFT, 0u, U, R, ipawl_sift_read_at_once_(l, context),
                PAWL_LIKELY(ipawl_sift_first_(l, PAWL_SIFT_UNIT_(context))) ||
                    ipawl_sift_take_read_slow_(l, context, PAWL_SIFT_FOREVER),
                true);
    (void)value;
}

/* The same, or false when the deadline (ns of CLOCK_MONOTONIC) has passed. */
PAWL_TRYING bool pawl_sift_take_read_until(pawl_sift *l, enum pawl_sift_context context,
                                           uint64_t until)
{
    bool value;
    PAWL_WAITS_(SIFT, PAWL_TRACED_UNTIL_, U, R, ipawl_sift_read_at_once_(l, context),
                PAWL_LIKELY(ipawl_sift_first_(l, PAWL_SIFT_UNIT_(context))) ||
                    ipawl_sift_take_read_slow_(l, context, until),
                value);
    return value;
}

/* Never waits. False when a writer holds the lock or keeps the context out. */
PAWL_TRYING bool pawl_sift_try_read(pawl_sift *l, enum pawl_sift_context context)
{
    bool value;
    PAWL_TRIES_(SIFT, 0u, U, R, ipawl_sift_read_at_once_(l, context));
    return value;
}

/* One reader less. The compiled half of the checking variant checks that it was in. */
PAWL_INLINE void ipawl_sift_count_down_(pawl_sift *l, enum pawl_sift_context context)
{
    const uint64_t word =
        /* [SIFT_R_DROP] release: our reads complete before a writer sees the count fall. */
        pawl_fetch_sub_release64(&l->word, PAWL_SIFT_UNIT_(context), PAWL_SIFT_R_DROP);
    if (PAWL_UNLIKELY(word & PAWL_SIFT_WAITED_))
        ipawl_sift_drop_read_waited_(l, word, context);
}

/* Gives up one R that was taken in that context. Release. */
PAWL_INLINE void pawl_sift_drop_read(pawl_sift *l, enum pawl_sift_context context)
{
    bool value;
    PAWL_DROPS_(SIFT, R,
                (PAWL_CHECKED ? ipawl_sift_drop_read_checked_(l, context)
                              : ipawl_sift_count_down_(l, context),
                 true));
    (void)value;
}

/* Takes W, in the lock's `writers` context. Sleeps, unless handlers write. Acquire.
 * If handlers read, their signals stay blocked in the calling thread until the drop; so a thread
 * drops several such locks in the reverse order. A thread that holds R may not take W. */
PAWL_INLINE void pawl_sift_take_write(pawl_sift *l)
{
    bool value;
    PAWL_WAITS_(SIFT, 0u, U, W, ipawl_sift_write_at_once_(l),
                ipawl_sift_write_first_(l) || ipawl_sift_take_write_slow_(l, PAWL_SIFT_FOREVER),
                true);
    (void)value;
}

/* The same. False, with everything as before, when the deadline has passed. */
PAWL_TRYING bool pawl_sift_take_write_until(pawl_sift *l, uint64_t until)
{
    bool value;
    PAWL_WAITS_(SIFT, PAWL_TRACED_UNTIL_, U, W, ipawl_sift_write_at_once_(l),
                ipawl_sift_write_first_(l) || ipawl_sift_take_write_slow_(l, until), value);
    return value;
}

/* Never waits. False when the lock is held or writers wait; it has then kept no reader out. */
PAWL_TRYING bool pawl_sift_try_write(pawl_sift *l)
{
    bool value;
    PAWL_TRIES_(SIFT, 0u, U, W, ipawl_sift_write_at_once_(l));
    return value;
}

PAWL_INLINE void ipawl_sift_drop_write_(pawl_sift *l)
{
    uint64_t alone = PAWL_SIFT_WRITER_;
    if (!PAWL_CHECKED && PAWL_LIKELY(l->mode == 0) &&
        /* [SIFT_W_DROP] release: our stores complete before the next holder enters. */
        PAWL_LIKELY(pawl_cas_release64(&l->word, &alone, 0, PAWL_SIFT_W_DROP)))
        return;
    ipawl_sift_drop_write_slow_(l);
}

/* Gives up W, by the thread that took it, and restores its signals and scheduling. Release. */
PAWL_INLINE void pawl_sift_drop_write(pawl_sift *l)
{
    bool value;
    PAWL_DROPS_(SIFT, W, (ipawl_sift_drop_write_(l), true));
    (void)value;
}

PAWL_INLINE_END

#if PAWL_TRACED_

PAWL_INLINE_BEGIN
PAWL_INLINE int ipawl_sift_traced_init_(pawl_sift *l, const pawl_sift_use *use)
{
    const int error = pawl_sift_init(l, use);
    PAWL_MADE_(l);
    return error;
}
PAWL_INLINE_END

#undef pawl_sift_init
#define pawl_sift_init ipawl_sift_traced_init_

#endif

#endif
