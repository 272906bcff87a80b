/* SPDX-License-Identifier: MIT */
/*
 * RCU callbacks: a function that is to be called when every reader that there is now has left, most
 * often to free what has just been taken out of a structure. The caller goes on at once; one worker
 * thread for each domain waits for grace periods and calls. What is queued is bounded.
 *
 * Not for: updates so rare that waiting costs nothing (pawl_rcu_synchronize is simpler, and needs
 * no room in the object), work that must be done by a certain time.
 *
 *   head, in the object:  next | function | size
 *
 *   shard of a thread     heads, newest first    put there by that thread alone
 *     |  the worker, or who helps, takes all of them at once
 *     v
 *   batch 0, batch 1      waits for its grace period, then called, by who has claimed it
 *
 *   next      the rest of the list; the engine's from the call to the callback
 *   function  what is called, with the address of the head
 *   size      bits 16 and up: bytes that wait with the head; below: for pawl_rcu_domain_free, how
 *             far inside the object the head lies
 *
 * Cost of a call: one compare-exchange on a line of the thread's own; every 64th, or 16 KiB, takes
 * new credit from the domain. The first one after the worker has taken all also reads the clock and
 * passes a fence, and after a pause wakes the worker (a system call). No call allocates, but for
 * the first one of a domain, which starts the worker.
 *
 * Invariants
 *   I1  a callback runs once, after the end of all read sections of its domain that were there when
 *       it was queued.
 *   I2  heads queued, and their bytes, do not exceed the limits of the domain: credit is taken
 *       before a head is queued and given back after its callback has returned.
 *   I3  the library waits for a grace period, for room or for callbacks neither inside a read
 *       section nor inside a callback.
 *   I4  who queues on an empty shard looks whether the worker sleeps, after a fence; the worker
 *       looks at all shards after it has said that it sleeps, after a fence: no wake is lost.
 *   I5  every head that is queued hangs on the process object, but for those that are being called
 *       at this moment; so the child of a fork finds them all.
 *
 * Callbacks run in no particular order, on the worker's thread (signals blocked, the system's usual
 * stack) or, when the limit has been reached and the policy says so, on a caller's. They may read,
 * call, synchronize and take locks, but hold up the other callbacks of their domain meanwhile. They
 * return: no longjmp, exception or pthread_exit out of them.
 *
 * After fork the child has what was queued, and calls it once itself, on a worker that its first
 * call or barrier starts. A callback that was under way is let finish before the fork, unless it
 * takes longer than 10 ms; then the child counts it as done. At the end of the process, what is
 * still queued is not called: a program that needs it to be waits by pawl_rcu_barrier.
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
    pawl_address_ queued; /* a mark while it is queued */
#endif
} pawl_rcu_head;

/* What happens to a call when its domain is full. Inside a read section of any domain or a callback
 * it is EDEADLK in any case, because what there is to wait for may be waiting for the caller. */
typedef enum pawl_rcu_policy {
    /* The caller waits for a grace period and calls some callbacks itself. It must not hold a lock
     * that callbacks take. */
    PAWL_RCU_HELP,
    /* The caller sleeps until the worker has made room; the same about locks. Where there is no
     * worker because the system can start no thread, as HELP. */
    PAWL_RCU_WAIT,
    /* EAGAIN: nothing was queued. */
    PAWL_RCU_REFUSE
} pawl_rcu_policy;

/* Limits of a domain that has been given none. */
#define PAWL_RCU_CALLS UINT64_C(1048576)
#if UINTPTR_MAX > UINT32_MAX
#define PAWL_RCU_BYTES (UINT64_C(256) << 20)
#else
#define PAWL_RCU_BYTES (UINT64_C(64) << 20)
#endif
#define PAWL_RCU_NO_LIMIT (UINT64_MAX >> 16)

/* Numbers of one domain since its beginning, read one by one while others go on. */
typedef struct pawl_rcu_statistics {
    uint64_t queued;        /* callbacks that have not returned yet */
    uint64_t bytes;         /* theirs, as the calls gave them */
    uint64_t called;        /* calls that have succeeded */
    uint64_t run;           /* callbacks that have returned */
    uint64_t grace_periods; /* that callbacks waited for; one serves all that are queued by then */
    uint64_t longest_delay; /* ns from a call to the end of the batch that it was in */
    uint64_t refusals;      /* calls that failed because the domain was full */
    uint64_t helped;        /* callbacks that callers ran */
    uint64_t waits;         /* calls that had to help or to sleep for room */
    uint64_t limit_count, limit_bytes;
    pawl_rcu_policy policy;
    bool worker; /* there is a worker thread */
} pawl_rcu_statistics;

PAWL_C_BEGIN

/* Has function(head) called after a grace period. The head is a member of the object, may have any
 * contents, and belongs to the domain until the callback begins; the caller's stores to the object
 * are seen by the callback. `bytes`: how much memory waits with it, for the limit. Returns
 *   0        queued
 *   EAGAIN   the domain is full and refuses
 *   EDEADLK  the domain is full, and the caller reads or is in a callback
 *   E2BIG    more bytes than 15/16 of the domain's limit
 *   EINVAL   head or function is NULL
 * and after an error nothing has changed. Allowed inside read sections and callbacks; not in signal
 * handlers. */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_call)(pawl_rcu_domain *d, pawl_rcu_head *head,
                                                pawl_rcu_function *function, size_t bytes);

/* The same, but never waits, helps or starts a thread: EAGAIN instead. For signal handlers, and for
 * who holds a lock that callbacks take. */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_try_call)(pawl_rcu_domain *d, pawl_rcu_head *head,
                                                    pawl_rcu_function *function, size_t bytes);

/* Has free(object) called after a grace period; the head lies `offset` bytes inside, below 65536
 * (else EINVAL). NULL is well. Otherwise as pawl_rcu_domain_call. */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_free)(pawl_rcu_domain *d, void *object, size_t offset,
                                                size_t bytes);

/* Returns 0 when all callbacks that had been queued by then have returned; EDEADLK at once inside a
 * read section of any domain or a callback. Calls them itself where there is no worker. */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_barrier)(pawl_rcu_domain *d);

/* From now on at most so many callbacks and bytes may be queued (PAWL_RCU_NO_LIMIT: any number);
 * what is queued already stays, and so does credit that threads have, 64 calls or 16 KiB each at
 * most. EINVAL: a limit is 0, or above NO_LIMIT, or there is no such policy. */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_limit)(pawl_rcu_domain *d, uint64_t count, uint64_t bytes,
                                                 pawl_rcu_policy policy);

PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_statistics)(pawl_rcu_domain *d,
                                                       pawl_rcu_statistics *statistics);

PAWL_C_END

#define pawl_rcu_domain_call PAWL_SYMBOL_(pawl_rcu_domain_call)
#define pawl_rcu_domain_try_call PAWL_SYMBOL_(pawl_rcu_domain_try_call)
#define pawl_rcu_domain_free PAWL_SYMBOL_(pawl_rcu_domain_free)
#define pawl_rcu_domain_barrier PAWL_SYMBOL_(pawl_rcu_domain_barrier)
#define pawl_rcu_domain_limit PAWL_SYMBOL_(pawl_rcu_domain_limit)
#define pawl_rcu_domain_statistics PAWL_SYMBOL_(pawl_rcu_domain_statistics)

/* free(pointer) after a grace period, where the type of *pointer has a pawl_rcu_head `member`. For
 * objects with a variable tail, say its size by pawl_rcu_domain_free. The pointer is evaluated
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

PAWL_INLINE int pawl_rcu_try_call(pawl_rcu_head *head, pawl_rcu_function *function, size_t bytes)
{
    return pawl_rcu_domain_try_call(pawl_rcu_default(), head, function, bytes);
}

PAWL_INLINE int pawl_rcu_barrier(void)
{
    return pawl_rcu_domain_barrier(pawl_rcu_default());
}

PAWL_INLINE_END

#endif
