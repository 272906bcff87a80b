/* SPDX-License-Identifier: MIT */
/*
 * Condition variable for Pawl's locks, held in R, S or W (or for any lock, by two functions). A
 * thread sleeps until another one signals a change of the protected data. And an event count:
 * the same beside lock-free structures, which no lock protects.
 *
 * Not for: conditions in a single word (wait.h waits on it directly), processes that share memory,
 * signal handlers. With pawl::lock, std::condition_variable_any works too.
 *
 *   pawl_take_write(&q->lock);                       pawl_take_write(&q->lock);
 *   while (q->empty)                                 put(q);
 *       pawl_cond_wait_write(&q->filled, &q->lock);  pawl_drop_write(&q->lock);
 *   get(q);                                          pawl_cond_signal(&q->filled);
 *   pawl_drop_write(&q->lock);
 *
 * pawl_cond, 4 bytes   waiting: threads in its wait list. Changed under the list's own lock; a
 *                      signal that reads zero returns.
 * pawl_eventcount, 8 bytes  waiters: threads between prepare and the end of commit or cancel.
 *                      epoch: notifications that met a waiter, modulo 2^32.
 * Zero bytes are one without waiters. The last thread to be woken may free a condition variable
 * while the signal is still about to return; an event count only after notify has returned.
 *
 * Invariants
 *   I1  a waiter is in the list before it releases the lock. So it misses no signal of a thread
 *       that took the lock later.
 *   I2  a signal wakes the oldest waiter; a broadcast wakes all in the list. A wait that its
 *       deadline ends has used up no signal. (Still wait in a loop: another thread may have taken
 *       the lock first.)
 *   I3  a broadcast wakes all waiters with R together, since they can hold the lock together. Of
 *       those with S or W it wakes one; each wakes the next when it holds the lock. So they do not
 *       all run to a lock that one at a time can hold.
 *   I4  a waiter looks at the condition between prepare and commit. A notifier changes it and then
 *       notifies. Either the waiter sees the change there, or the notify ends its commit.
 *
 * Cost: signal and broadcast without waiters one load, notify one atomic read-modify-write; no
 * system call then. Waiting: the list's lock twice, and sleeping as in wait.h.
 *
 * A read of take_read_counted (lock.h) waits like any other. A wait takes R of a pawl_lock again in
 * the word, where the drop that belongs to the read finds it.
 *
 * All waiters of one time use the same lock, in any mode. A deadline bounds the sleep, not the wait
 * for the lock afterwards. No cancellation point. After fork no thread of the child waits.
 */
#ifndef PAWL_COND_H
#define PAWL_COND_H

#include <pawl/lock.h>
#include <pawl/wait.h>

typedef struct pawl_cond {
    uint32_t waiting;
} pawl_cond;

typedef struct pawl_eventcount {
    uint32_t waiters;
    uint32_t epoch;
} pawl_eventcount;

#define PAWL_COND_INIT {0}
#define PAWL_EVENTCOUNT_INIT {0, 0}

/* The functions that drop a lock and take it again. */
struct pawl_cond_lock {
    void *lock;
    void (*drop)(void *lock);
    void (*take)(void *lock);
    bool shared; /* several threads may hold it at once in the waiter's mode */
};

PAWL_C_BEGIN

PAWL_API bool PAWL_SYMBOL_(pawl_cond_wait)(pawl_cond *cond, const struct pawl_cond_lock *lock,
                                           uint64_t deadline);
PAWL_API unsigned PAWL_SYMBOL_(pawl_cond_wake)(pawl_cond *cond, bool all);
PAWL_API bool PAWL_SYMBOL_(pawl_eventcount_commit)(pawl_eventcount *event, uint32_t key,
                                                   uint64_t deadline);
PAWL_API unsigned PAWL_SYMBOL_(pawl_eventcount_notify)(pawl_eventcount *event, unsigned count);

PAWL_C_END

#if PAWL_TOLD_ && !PAWL_HOOKS
#include <pawl/detail/cond_told.h>
#endif

PAWL_INLINE_BEGIN

/* ---- Condition variable ---------------------------------------------------------------------- */

/* Drops the lock, sleeps until signalled, takes the lock again. False when the deadline has passed;
 * the caller holds the lock then too. For a lock of any kind: a pthread mutex, say. */
PAWL_INLINE bool pawl_cond_wait_with_until(pawl_cond *cond, const struct pawl_cond_lock *lock,
                                           uint64_t deadline)
{
    return PAWL_CALL_(pawl_cond_wait)(cond, lock, deadline);
}

PAWL_INLINE void pawl_cond_wait_with(pawl_cond *cond, const struct pawl_cond_lock *lock)
{
    (void)PAWL_CALL_(pawl_cond_wait)(cond, lock, PAWL_WAIT_FOREVER);
}

/* Wakes the oldest waiter; returns 0 or 1. Best after the caller has dropped the lock, because the
 * waiter needs it. A thread that has not taken the lock since the waiter dropped it may not see the
 * waiter yet. */
PAWL_INLINE unsigned pawl_cond_signal(pawl_cond *cond)
{
    return pawl_load_relaxed32(&cond->waiting) == 0 ? 0 : PAWL_CALL_(pawl_cond_wake)(cond, false);
}

/* Wakes all present waiters; returns their number. */
PAWL_INLINE unsigned pawl_cond_broadcast(pawl_cond *cond)
{
    return pawl_load_relaxed32(&cond->waiting) == 0 ? 0 : PAWL_CALL_(pawl_cond_wake)(cond, true);
}

/* The same for a lock that the caller holds in R, S or W. The name pawl_cond_wait_read(cond, lock)
 * chooses by the type of the lock (generic.h). */
/* prototypes:begin (scripts/prototypes reads them) */
/* R is held: lets go, sleeps until signalled, takes R again. Acquire. */
PAWL_INLINE void pawl_spin16_cond_wait_read(pawl_cond *cond, pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_cond_wait_read(pawl_cond *cond, pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_cond_wait_read(pawl_cond *cond, pawl_spin64 *l);
PAWL_INLINE void pawl_lock32_cond_wait_read(pawl_cond *cond, pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_cond_wait_read(pawl_cond *cond, pawl_lock64 *l);
/* S is held: lets go, sleeps until signalled, takes S again. Acquire. */
PAWL_INLINE void pawl_spin16_cond_wait_seek(pawl_cond *cond, pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_cond_wait_seek(pawl_cond *cond, pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_cond_wait_seek(pawl_cond *cond, pawl_spin64 *l);
PAWL_INLINE void pawl_lock32_cond_wait_seek(pawl_cond *cond, pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_cond_wait_seek(pawl_cond *cond, pawl_lock64 *l);
/* W is held: lets go, sleeps until signalled, takes W again. Acquire. */
PAWL_INLINE void pawl_spin16_cond_wait_write(pawl_cond *cond, pawl_spin16 *l);
PAWL_INLINE void pawl_spin32_cond_wait_write(pawl_cond *cond, pawl_spin32 *l);
PAWL_INLINE void pawl_spin64_cond_wait_write(pawl_cond *cond, pawl_spin64 *l);
PAWL_INLINE void pawl_lock32_cond_wait_write(pawl_cond *cond, pawl_lock32 *l);
PAWL_INLINE void pawl_lock64_cond_wait_write(pawl_cond *cond, pawl_lock64 *l);
/* The same; false when the deadline has passed: R is held again too. */
PAWL_INLINE bool pawl_spin16_cond_wait_read_until(pawl_cond *cond, pawl_spin16 *l,
                                                  uint64_t deadline);
PAWL_INLINE bool pawl_spin32_cond_wait_read_until(pawl_cond *cond, pawl_spin32 *l,
                                                  uint64_t deadline);
PAWL_INLINE bool pawl_spin64_cond_wait_read_until(pawl_cond *cond, pawl_spin64 *l,
                                                  uint64_t deadline);
PAWL_INLINE bool pawl_lock32_cond_wait_read_until(pawl_cond *cond, pawl_lock32 *l,
                                                  uint64_t deadline);
PAWL_INLINE bool pawl_lock64_cond_wait_read_until(pawl_cond *cond, pawl_lock64 *l,
                                                  uint64_t deadline);
/* The same; false when the deadline has passed: S is held again too. */
PAWL_INLINE bool pawl_spin16_cond_wait_seek_until(pawl_cond *cond, pawl_spin16 *l,
                                                  uint64_t deadline);
PAWL_INLINE bool pawl_spin32_cond_wait_seek_until(pawl_cond *cond, pawl_spin32 *l,
                                                  uint64_t deadline);
PAWL_INLINE bool pawl_spin64_cond_wait_seek_until(pawl_cond *cond, pawl_spin64 *l,
                                                  uint64_t deadline);
PAWL_INLINE bool pawl_lock32_cond_wait_seek_until(pawl_cond *cond, pawl_lock32 *l,
                                                  uint64_t deadline);
PAWL_INLINE bool pawl_lock64_cond_wait_seek_until(pawl_cond *cond, pawl_lock64 *l,
                                                  uint64_t deadline);
/* The same; false when the deadline has passed: W is held again too. */
PAWL_INLINE bool pawl_spin16_cond_wait_write_until(pawl_cond *cond, pawl_spin16 *l,
                                                   uint64_t deadline);
PAWL_INLINE bool pawl_spin32_cond_wait_write_until(pawl_cond *cond, pawl_spin32 *l,
                                                   uint64_t deadline);
PAWL_INLINE bool pawl_spin64_cond_wait_write_until(pawl_cond *cond, pawl_spin64 *l,
                                                   uint64_t deadline);
PAWL_INLINE bool pawl_lock32_cond_wait_write_until(pawl_cond *cond, pawl_lock32 *l,
                                                   uint64_t deadline);
PAWL_INLINE bool pawl_lock64_cond_wait_write_until(pawl_cond *cond, pawl_lock64 *l,
                                                   uint64_t deadline);
/* prototypes:end */

/* `back`: the operation that takes the lock again. `choose`: other functions for another hold. */
#define PAWL_COND_MODE_(type, mode, together, back, choose)                                        \
    PAWL_INLINE void i##type##_cond_drop_##mode##_(void *lock)                                     \
    {                                                                                              \
        type##_drop_##mode((type *)lock);                                                          \
    }                                                                                              \
    PAWL_INLINE void i##type##_cond_take_##mode##_(void *lock)                                     \
    {                                                                                              \
        back((type *)lock);                                                                        \
    }                                                                                              \
    PAWL_INLINE bool type##_cond_wait_##mode##_until(pawl_cond *cond, type *lock,                  \
                                                     uint64_t deadline)                            \
    {                                                                                              \
        struct pawl_cond_lock how;                                                                 \
        how.lock = lock;                                                                           \
        how.drop = i##type##_cond_drop_##mode##_;                                                  \
        how.take = i##type##_cond_take_##mode##_;                                                  \
        how.shared = together;                                                                     \
        choose(type);                                                                              \
        return PAWL_CALL_(pawl_cond_wait)(cond, &how, deadline);                                   \
    }                                                                                              \
    PAWL_INLINE void type##_cond_wait_##mode(pawl_cond *cond, type *lock)                          \
    {                                                                                              \
        (void)type##_cond_wait_##mode##_until(cond, lock, PAWL_WAIT_FOREVER);                      \
    }                                                                                              \
    PAWL_COND_OVERLOADS_(type, mode)

#ifdef __cplusplus
#define PAWL_COND_OVERLOADS_(type, mode)                                                           \
    inline void pawl_cond_wait_##mode(pawl_cond *cond, type *lock)                                 \
    {                                                                                              \
        type##_cond_wait_##mode(cond, lock);                                                       \
    }                                                                                              \
    inline bool pawl_cond_wait_##mode##_until(pawl_cond *cond, type *lock, uint64_t deadline)      \
    {                                                                                              \
        return type##_cond_wait_##mode##_until(cond, lock, deadline);                              \
    }
#else
#define PAWL_COND_OVERLOADS_(type, mode)
#endif

#define PAWL_COND_SAME_(type) ((void)0)

/* R of take_read_counted. Else one cannot be told from the other, and need not be: the plain drop
 * gives up an entry or a unit of the word, and take_read_back_ counts in the word. But the checking
 * variant has a book of plain reads: without `take`, the call asks whether the caller is in it. */
#if PAWL_CHECKED
#define PAWL_COND_COUNTED_(type)                                                                   \
    how.take = NULL;                                                                               \
    if (PAWL_SYMBOL_(pawl_cond_wait)(cond, &how, deadline)) {                                      \
        how.take = i##type##_cond_take_read_;                                                      \
    } else {                                                                                       \
        how.drop = i##type##_cond_drop_counted_;                                                   \
        how.take = i##type##_cond_take_counted_;                                                   \
    }
#define PAWL_COND_COUNTS_(type)                                                                    \
    PAWL_INLINE void i##type##_cond_drop_counted_(void *lock)                                      \
    {                                                                                              \
        type##_drop_read_counted((type *)lock);                                                    \
    }                                                                                              \
    PAWL_INLINE void i##type##_cond_take_counted_(void *lock)                                      \
    {                                                                                              \
        type##_take_read_counted((type *)lock);                                                    \
    }
PAWL_COND_COUNTS_(pawl_lock32)
PAWL_COND_COUNTS_(pawl_lock64)
#undef PAWL_COND_COUNTS_
#else
#define PAWL_COND_COUNTED_(type) ((void)0)
#endif

#define PAWL_COND_TYPE_(type, read_back, write_back, choose)                                       \
    PAWL_COND_MODE_(type, read, true, read_back, choose)                                           \
    PAWL_COND_MODE_(type, seek, false, type##_take_seek, PAWL_COND_SAME_)                          \
    PAWL_COND_MODE_(type, write, false, write_back, PAWL_COND_SAME_)

PAWL_COND_TYPE_(pawl_spin16, pawl_spin16_take_read, pawl_spin16_take_write, PAWL_COND_SAME_)
PAWL_COND_TYPE_(pawl_spin32, pawl_spin32_take_read, pawl_spin32_take_write, PAWL_COND_SAME_)
PAWL_COND_TYPE_(pawl_spin64, pawl_spin64_take_read, pawl_spin64_take_write, PAWL_COND_SAME_)
PAWL_COND_TYPE_(pawl_lock32, ipawl_lock32_take_read_back_, ipawl_lock32_take_write_back_,
                PAWL_COND_COUNTED_)
PAWL_COND_TYPE_(pawl_lock64, ipawl_lock64_take_read_back_, ipawl_lock64_take_write_back_,
                PAWL_COND_COUNTED_)
#undef PAWL_COND_TYPE_
#undef PAWL_COND_MODE_
#undef PAWL_COND_SAME_
#undef PAWL_COND_COUNTED_
#undef PAWL_COND_OVERLOADS_

/* ---- Event count ----------------------------------------------------------------------------- */

/* First half of a wait: look at the condition after it, then either cancel or commit. Acquire: the
 * caller sees the changes before each earlier notification. */
PAWL_INLINE uint32_t pawl_eventcount_prepare(pawl_eventcount *event)
{
    /* [EVENT_PREPARE] acquire: a notifier that has not counted us has made its change. */
    (void)pawl_fetch_add_acquire32(&event->waiters, 1, PAWL_EVENT_PREPARE);
    /* [EVENT_EPOCH] acquire: we see the change of the notifier whose epoch we read. */
    return pawl_load_acquire32(&event->epoch, PAWL_EVENT_EPOCH);
}

/* For a waiter that finds the condition true. */
PAWL_INLINE void pawl_eventcount_cancel(pawl_eventcount *event)
{
    (void)pawl_fetch_sub_relaxed32(&event->waiters, 1);
}

/* Sleeps until a notification after prepare. Acquire. Look again: the notification may have been
 * meant for another thread. False: none came before the deadline. */
PAWL_INLINE bool pawl_eventcount_commit_until(pawl_eventcount *event, uint32_t key,
                                              uint64_t deadline)
{
    return PAWL_CALL_(pawl_eventcount_commit)(event, key, deadline);
}

PAWL_INLINE void pawl_eventcount_commit(pawl_eventcount *event, uint32_t key)
{
    (void)PAWL_CALL_(pawl_eventcount_commit)(event, key, PAWL_WAIT_FOREVER);
}

/* Call it after a change of the condition by a store of any order. Wakes at least one sleeper, or
 * all. Threads between prepare and commit do not go to sleep. */
PAWL_INLINE void pawl_eventcount_notify_one(pawl_eventcount *event)
{
    (void)PAWL_CALL_(pawl_eventcount_notify)(event, 1);
}

PAWL_INLINE void pawl_eventcount_notify_all(pawl_eventcount *event)
{
    (void)PAWL_CALL_(pawl_eventcount_notify)(event, UINT32_MAX);
}

PAWL_INLINE_END

#endif
