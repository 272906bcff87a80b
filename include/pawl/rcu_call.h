/* SPDX-License-Identifier: MIT */
/*
 * RCU callbacks. The library calls a function after a grace period, most often to free an object
 * that has just been removed from a structure. The caller does not wait. One worker thread for each
 * domain waits for grace periods and runs the callbacks. The number queued is bounded.
 *
 * Not for: updates so rare that waiting costs nothing (pawl_rcu_synchronize is simpler, and needs
 * no room in the object), work that must be done by a certain time.
 *
 *   head, in the object:  next | function | size
 *
 *   shard of a thread     heads, newest first    only that thread adds to it
 *     |  the worker or a helper takes all of them at once
 *     v
 *   batch 0, batch 1      waits for its grace period; the thread that claims it then runs it
 *
 *   next      the rest of the list; the engine's from the call to the callback
 *   function  the callback, called with the address of the head
 *   size      bits 16 and up: bytes that wait with the head; below: for pawl_rcu_domain_free, the
 *             offset of the head inside the object
 *
 * Cost of a call: one compare-exchange on the thread's own line. Every 64th call, or 16 KiB, takes
 * new credit from the domain. The first call after the worker has emptied the shard also reads the
 * clock and passes a fence. If the worker sleeps, it wakes it (a system call). Only the first call
 * of a domain allocates: it starts the worker.
 *
 * Invariants
 *   I1  a callback runs once, after the end of all read sections of its domain that had begun when
 *       it was queued.
 *   I2  queued heads and their bytes do not exceed the limits of the domain. The caller takes
 *       credit before it queues a head; the credit returns after the callback.
 *   I3  the library never waits for a grace period, for room or for callbacks inside a read section
 *       or inside a callback.
 *   I4  a caller that queues on an empty shard passes a fence and looks whether the worker sleeps.
 *       The worker announces its sleep, passes a fence and looks at all shards. So no wake is lost.
 *   I5  every queued head hangs on the process object, except those that run at this moment. So the
 *       child of a fork finds them all.
 *
 * Callbacks run in no particular order on the worker's thread, with signals blocked, the system's
 * usual stack and ordinary scheduling. It may use all CPUs that the process had at its start
 * (Linux), and has the process's nice value where the system permits. pawl_rcu_domain_worker
 * changes that. When the domain is full, some policies run them on a caller's thread. A callback
 * may read, call, synchronize and take locks; meanwhile the other callbacks of its domain wait. It
 * must return: no longjmp, exception or pthread_exit out of it.
 *
 * After fork the child has the queued callbacks and runs each once. Its first call or barrier
 * starts a worker. A callback that another thread runs at that moment is cut off in the child, and
 * counts as done there. A callback may fork, and so may a signal handler. If the handler has
 * interrupted a call of its own thread, the child's limit may be one call too high. Callbacks that
 * are still queued when the process ends do not run: a program that needs them calls
 * pawl_rcu_barrier first.
 */
#ifndef PAWL_RCU_CALL_H
#define PAWL_RCU_CALL_H

#include <pawl/rcu.h>

struct pawl_rcu_head;
typedef void pawl_rcu_function(struct pawl_rcu_head *head);

typedef struct pawl_rcu_head {
    struct pawl_rcu_head *next;
    pawl_rcu_function *function;
    uint64_t size;
#if PAWL_CHECKED
    ipawl_address_ queued; /* a mark while it is queued */
#endif
} pawl_rcu_head;

/* The action of a call when its domain is full. Inside a read section of any domain, or in a
 * callback, it always fails with EDEADLK: room may depend on the caller's own section or
 * callback. So it does for an online thread (pawl_rcu_qs) while a callback of the domain waits for
 * quiescent states; that thread tries again after it has announced one. */
typedef enum pawl_rcu_policy {
    /* The caller waits for a grace period and runs some callbacks itself. It must not hold a lock
     * that callbacks take. An online thread waits as with WAIT: a callback that it ran might wait
     * for quiescent states, which take its thread offline. */
    PAWL_RCU_HELP,
    /* The caller sleeps until the worker has made room; the same rule about locks. As HELP where
     * the system could not start a worker. */
    PAWL_RCU_WAIT,
    /* EAGAIN: nothing was queued. */
    PAWL_RCU_REFUSE
} pawl_rcu_policy;

/* The limits of a domain until pawl_rcu_domain_limit sets others. */
#define PAWL_RCU_CALLS UINT64_C(1048576)
#if UINTPTR_MAX > UINT32_MAX
#define PAWL_RCU_BYTES (UINT64_C(256) << 20)
#else
#define PAWL_RCU_BYTES (UINT64_C(64) << 20)
#endif
#define PAWL_RCU_NO_LIMIT (UINT64_MAX >> 16)

/* Numbers of one domain since it was made. Each is read by itself while other threads go on. */
typedef struct pawl_rcu_statistics {
    uint64_t queued;        /* callbacks that have not returned yet; too many, never too few, while
                             * callbacks run: the counts are read one after the other */
    uint64_t bytes;         /* of these, as the calls gave them */
    uint64_t called;        /* calls that have succeeded */
    uint64_t run;           /* callbacks that have returned */
    uint64_t grace_periods; /* that callbacks waited for; one serves all that are queued then */
    uint64_t longest_delay; /* ns from a call to the end of the batch that it was in */
    uint64_t refusals;      /* calls that failed because the domain was full */
    uint64_t helped;        /* callbacks that callers ran */
    uint64_t waits;         /* calls that had to help or to sleep for room */
    uint64_t limit_count, limit_bytes;
    pawl_rcu_policy policy;
    bool worker; /* there is a worker thread */
} pawl_rcu_statistics;

PAWL_C_BEGIN

/* Queues function(head) to run after a grace period. The head is a member of the object and may
 * have any contents; it belongs to the domain until the callback begins. The callback sees the
 * caller's stores to the object. `bytes` is the memory that waits with it, for the limit. Returns
 *   0        queued
 *   EAGAIN   the domain is full and refuses
 *   EDEADLK  the domain is full, and the caller reads or is in a callback; or it is online, and a
 *            callback waits for quiescent states
 *   E2BIG    more bytes than 15/16 of the domain's limit
 *   EINVAL   head or function is NULL
 * and after an error nothing has changed. Allowed inside read sections and callbacks; not in signal
 * handlers. */
PAWL_API int PAWL_SYMBOL_SEEN_(pawl_rcu_domain_call)(pawl_rcu_domain *d, pawl_rcu_head *head,
                                                     pawl_rcu_function *function, size_t bytes);

/* The same, but never waits, helps or starts a thread: EAGAIN instead. For signal handlers, and for
 * callers that hold a lock that callbacks take. */
PAWL_TRY int PAWL_SYMBOL_SEEN_(pawl_rcu_domain_try_call)(pawl_rcu_domain *d, pawl_rcu_head *head,
                                                         pawl_rcu_function *function, size_t bytes);

/* Queues free(object) to run after a grace period. The head lies `offset` bytes inside the object,
 * below 65536 (else EINVAL). NULL does nothing. Otherwise as pawl_rcu_domain_call. */
PAWL_API int PAWL_SYMBOL_SEEN_(pawl_rcu_domain_free)(pawl_rcu_domain *d, void *object,
                                                     size_t offset, size_t bytes);

/* Waits until all callbacks queued before this call have returned, then returns 0. Returns EDEADLK
 * at once inside a read section of any domain or a callback; and to an online thread when a
 * callback of the domain waits for quiescent states. Without a worker the caller runs the callbacks
 * itself; if it is online and one of them waits for quiescent states, it is offline meanwhile. */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_barrier)(pawl_rcu_domain *d);

/* Limits the number of callbacks and bytes that may be queued from now on (PAWL_RCU_NO_LIMIT: no
 * limit). Queued callbacks stay, and so does the credit of threads: at most 64 calls or 16 KiB
 * each. EINVAL: a limit is 0 or above NO_LIMIT, or the policy is unknown. */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_limit)(pawl_rcu_domain *d, uint64_t count, uint64_t bytes,
                                                 pawl_rcu_policy policy);

/* Has the worker of the domain call begins(argument) before anything else: there it sets its own
 * scheduling, by the system's functions for the calling thread. NULL: nothing. It holds for the
 * worker in the child of a fork, too. `begins` calls nothing of this header. Returns 0, or EBUSY if
 * the worker has begun: give it before the domain's first call. */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_worker)(pawl_rcu_domain *d,
                                                  void (*begins)(void *argument), void *argument);

PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_statistics)(pawl_rcu_domain *d,
                                                       pawl_rcu_statistics *statistics);

PAWL_C_END

#define pawl_rcu_domain_call PAWL_SYMBOL_SEEN_(pawl_rcu_domain_call)
#define pawl_rcu_domain_try_call PAWL_SYMBOL_SEEN_(pawl_rcu_domain_try_call)
#define pawl_rcu_domain_free PAWL_SYMBOL_SEEN_(pawl_rcu_domain_free)
#define pawl_rcu_domain_barrier PAWL_SYMBOL_(pawl_rcu_domain_barrier)
#define pawl_rcu_domain_limit PAWL_SYMBOL_(pawl_rcu_domain_limit)
#define pawl_rcu_domain_worker PAWL_SYMBOL_(pawl_rcu_domain_worker)
#define pawl_rcu_domain_statistics PAWL_SYMBOL_(pawl_rcu_domain_statistics)

/* free(pointer) after a grace period, where the type of *pointer has a pawl_rcu_head `member`. For
 * objects with a variable tail, state the size by pawl_rcu_domain_free. The pointer is evaluated
 * once. */
#define pawl_rcu_domain_defer_free(d, pointer, member)                                             \
    pawl_rcu_domain_free((d), (pointer), offsetof(__typeof__(*(pointer)), member),                 \
                         sizeof *(pointer))
#define pawl_rcu_defer_free(pointer, member)                                                       \
    pawl_rcu_domain_defer_free(pawl_rcu_default(), pointer, member)

/* ---- The default domain ---------------------------------------------------------------------- */

PAWL_INLINE_BEGIN

PAWL_INLINE int pawl_rcu_call(pawl_rcu_head *head, pawl_rcu_function *function, size_t bytes)
{
    return pawl_rcu_domain_call(pawl_rcu_default(), head, function, bytes);
}

PAWL_TRYING int pawl_rcu_try_call(pawl_rcu_head *head, pawl_rcu_function *function, size_t bytes)
{
    return pawl_rcu_domain_try_call(pawl_rcu_default(), head, function, bytes);
}

PAWL_INLINE int pawl_rcu_barrier(void)
{
    return pawl_rcu_domain_barrier(pawl_rcu_default());
}

PAWL_INLINE_END

#endif
