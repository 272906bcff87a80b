/* SPDX-License-Identifier: MIT */
/*
 * pthread_rwlock_* on the library's sleeping lock, in the program's own memory (layout.h). Nothing
 * here allocates, and no function is a cancellation point. doc/shim.md has the promises.
 *
 * Order of readers and writers. A writer that waits claims the lock: newcomers wait behind it. A
 * reader passes a claim that is not granted yet
 *   - if it reads the lock already, unless the lock is of the kind that POSIX programs call
 *     non-recursive (PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
 *   - in the mode prefer-readers, unless the lock is of that kind;
 *   - if it is a real-time thread, and no real-time writer of its priority or above waits.
 *
 * How it passes (pass). A granted writer is alone: R in the word is its own single unit. So where R
 * has two units or more beside W, all writers still wait, and one more R is no harm. With a single
 * R the word does not tell a granted writer from the claim of one that waits for this very reader
 * (a claim that was made beside another writer has no R). Then only a thread that remembers a read
 * of this lock passes, because its read is that R.
 */
#include "layout.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "deadline.h"
#include "export.h"
#include "mode.h"
#include "next.h"
#include "record.h"

#define IS_SHARED(rw) PAWL_UNLIKELY((rw)->__data.__shared != 0)

static bool owned_by_me(struct shim_lock *l)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)(&l->owner) == record_thread();
}

static void own(struct shim_lock *l)
{
    PAWL_ADDRESS_(pawl_store_relaxed)(&l->owner, record_thread());
}

static int fails(int error)
{
    SHIM_COUNT(refusals);
    return error;
}

/* ---- Real-time threads ----------------------------------------------------------------------- */

#define URGENT_ONE UINT32_C(0x10000)
#define URGENT_PRIORITY UINT32_C(0xffff)

/* The priority of a thread under SCHED_FIFO or SCHED_RR, 0 for others. glibc keeps it with the
 * thread, so it takes no system call but the first time. */
static uint32_t own_priority(void)
{
    struct sched_param parameters;
    int policy;
    if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0)
        return 0;
    return policy == SCHED_FIFO || policy == SCHED_RR ? (uint32_t)parameters.sched_priority : 0;
}

static void writer_comes(struct shim_lock *l, uint32_t priority)
{
    uint32_t found = pawl_load_relaxed32(&l->urgent), after;
    do {
        after = found + URGENT_ONE;
        if ((found & URGENT_PRIORITY) < priority)
            after = (after & ~URGENT_PRIORITY) | priority;
    } while (!pawl_cas_relaxed32(&l->urgent, &found, after));
}

static void writer_goes(struct shim_lock *l)
{
    uint32_t found = pawl_load_relaxed32(&l->urgent);
    while (!pawl_cas_relaxed32(&l->urgent, &found,
                               found < 2 * URGENT_ONE ? 0 : found - URGENT_ONE))
        continue;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool reads_already(struct shim_lock *l)
{
    return record_has(l) && pawl_load_relaxed32(&l->strangers) == 0;
}

static bool may_pass(const pthread_rwlock_t *rw, struct shim_lock *l)
{
    uint32_t priority;
    if (rw->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
        return false;
    if (shim_prefers_readers || record.beyond != 0 || record_has(l))
        return true;
    priority = own_priority();
    return priority > (pawl_load_relaxed32(&l->urgent) & URGENT_PRIORITY);
}

/* Reads beside writers that wait, if there are such and they all wait. */
static bool pass(struct shim_lock *l)
{
    shim_word w = shim_look(l);
    for (;;) {
        if (shim_no_writer(w) || shim_readers(w) >= SHIM_MOST_READERS)
            return false;
        if (shim_readers(w) < 2 &&
            (shim_readers(w) == 0 || !reads_already(l) ||
             PAWL_ADDRESS_(pawl_load_relaxed)(&l->owner) != 0))
            return false;
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (SHIM_ON_WORD(pawl_cas_acquire)(&l->lock.word, &w, w + SHIM_R, PAWL_SPIN_R_TAKE))
            return true;
    }
}

static int granted_read(struct shim_lock *l)
{
    SHIM_COUNT(reads);
    record_push(l);
    return 0;
}

/* The lock is not free for a reader at once. */
PAWL_COLD static int read_slow(pthread_rwlock_t *rw, struct shim_lock *l, uint64_t deadline)
{
    if (owned_by_me(l))
        return fails(EDEADLK);
    if (may_pass(rw, l) && pass(l)) {
        SHIM_COUNT(passes);
        return granted_read(l);
    }
    if (shim_readers(shim_look(l)) >= SHIM_MOST_READERS)
        return fails(EAGAIN);
    SHIM_COUNT(read_waits);
    if (!SHIM_LOCK(take_read_until)(&l->lock, deadline))
        return ETIMEDOUT;
    return granted_read(l);
}

static bool read_at_once(struct shim_lock *l)
{
    return PAWL_LIKELY(shim_readers(shim_look(l)) < SHIM_MOST_READERS) &&
           PAWL_LIKELY(SHIM_LOCK(try_read)(&l->lock));
}

int shim_rwlock_rdlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->rdlock(rw);
    if (PAWL_LIKELY(read_at_once(l)))
        return granted_read(l);
    return read_slow(rw, l, UINT64_MAX);
}

int shim_rwlock_tryrdlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->tryrdlock(rw);
    if (PAWL_LIKELY(read_at_once(l)))
        return granted_read(l);
    if (may_pass(rw, l) && pass(l)) {
        SHIM_COUNT(passes);
        return granted_read(l);
    }
    /* Not by whether a writer is in: it may have left meanwhile. */
    return shim_readers(shim_look(l)) >= SHIM_MOST_READERS ? fails(EAGAIN) : EBUSY;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int granted_write(struct shim_lock *l)
{
    SHIM_COUNT(writes);
    own(l);
    return 0;
}

PAWL_COLD static int write_slow(struct shim_lock *l, uint64_t deadline)
{
    uint32_t priority;
    bool granted;
    if (owned_by_me(l) || (reads_already(l) && shim_readers(shim_look(l)) != 0))
        return fails(EDEADLK);
    SHIM_COUNT(write_waits);
    priority = own_priority();
    if (priority != 0)
        writer_comes(l, priority);
    granted = SHIM_LOCK(take_write_until)(&l->lock, deadline);
    if (priority != 0)
        writer_goes(l);
    return granted ? granted_write(l) : ETIMEDOUT;
}

int shim_rwlock_wrlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->wrlock(rw);
    if (PAWL_LIKELY(SHIM_LOCK(try_write)(&l->lock)))
        return granted_write(l);
    return write_slow(l, UINT64_MAX);
}

int shim_rwlock_trywrlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->trywrlock(rw);
    return PAWL_LIKELY(SHIM_LOCK(try_write)(&l->lock)) ? granted_write(l) : EBUSY;
}

/* ---- Unlocking ------------------------------------------------------------------------------- */

/* The calling thread remembers no read of this lock: another thread locked it, or the record was
 * full, or the call is an error. */
PAWL_COLD static int unlock_unknown(struct shim_lock *l)
{
    const shim_word w = shim_look(l);
    if (shim_readers(w) == 0 ||
        (!shim_no_writer(w) && shim_readers(w) == 1 &&
         PAWL_ADDRESS_(pawl_load_relaxed)(&l->owner) != 0))
        return fails(EPERM); /* nobody reads it */
    if (record.beyond != 0)
        record.beyond--;
    else
        pawl_store_relaxed32(&l->strangers, 1);
    SHIM_LOCK(drop_read)(&l->lock);
    return 0;
}

int shim_rwlock_unlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->unlock(rw);
    if (owned_by_me(l)) {
        PAWL_ADDRESS_(pawl_store_relaxed)(&l->owner, 0);
        SHIM_LOCK(drop_write)(&l->lock);
        return 0;
    }
    if (PAWL_UNLIKELY(!record_pop(l)))
        return unlock_unknown(l);
    SHIM_LOCK(drop_read)(&l->lock);
    return 0;
}

/* ---- With a deadline ------------------------------------------------------------------------- */

/* The system's clock may have been set back while the thread waited: then it waits on. */
static bool waits_on(const struct shim_time *when, uint64_t *deadline)
{
    return when->clock == CLOCK_REALTIME && shim_deadline(when, deadline) == 0 &&
           *deadline > pawl_now();
}

static int read_until(pthread_rwlock_t *rw, const struct shim_time *when)
{
    struct shim_lock *const l = shim_lock_of(rw);
    uint64_t deadline;
    int error = shim_deadline(when, &deadline);
    if (error != 0)
        return fails(error);
    if (PAWL_LIKELY(read_at_once(l)))
        return granted_read(l);
    do
        error = read_slow(rw, l, deadline);
    while (error == ETIMEDOUT && waits_on(when, &deadline));
    return error;
}

static int write_until(pthread_rwlock_t *rw, const struct shim_time *when)
{
    struct shim_lock *const l = shim_lock_of(rw);
    uint64_t deadline;
    int error = shim_deadline(when, &deadline);
    if (error != 0)
        return fails(error);
    if (PAWL_LIKELY(SHIM_LOCK(try_write)(&l->lock)))
        return granted_write(l);
    do
        error = write_slow(l, deadline);
    while (error == ETIMEDOUT && waits_on(when, &deadline));
    return error;
}

#define SHIM_TIME(clock, t) {clock, (int64_t)(t)->tv_sec, (long)(t)->tv_nsec}

/* The four functions of one width of time. */
#define TIMED(suffix, type)                                                                        \
    int shim_rwlock_timedrdlock##suffix(pthread_rwlock_t *rw, const type *t)                       \
    {                                                                                              \
        const struct shim_time when = SHIM_TIME(CLOCK_REALTIME, t);                                \
        return IS_SHARED(rw) ? shim_next()->timedrdlock##suffix(rw, t) : read_until(rw, &when);    \
    }                                                                                              \
    int shim_rwlock_timedwrlock##suffix(pthread_rwlock_t *rw, const type *t)                       \
    {                                                                                              \
        const struct shim_time when = SHIM_TIME(CLOCK_REALTIME, t);                                \
        return IS_SHARED(rw) ? shim_next()->timedwrlock##suffix(rw, t) : write_until(rw, &when);   \
    }                                                                                              \
    int shim_rwlock_clockrdlock##suffix(pthread_rwlock_t *rw, clockid_t clock, const type *t)      \
    {                                                                                              \
        const struct shim_time when = SHIM_TIME(clock, t);                                         \
        return IS_SHARED(rw) ? shim_next()->clockrdlock##suffix(rw, clock, t)                      \
                             : read_until(rw, &when);                                              \
    }                                                                                              \
    int shim_rwlock_clockwrlock##suffix(pthread_rwlock_t *rw, clockid_t clock, const type *t)      \
    {                                                                                              \
        const struct shim_time when = SHIM_TIME(clock, t);                                         \
        return IS_SHARED(rw) ? shim_next()->clockwrlock##suffix(rw, clock, t)                      \
                             : write_until(rw, &when);                                             \
    }                                                                                              \
    struct shim_timed /* the user's semicolon ends it */

TIMED(, struct timespec);
#if SHIM_HAS_TIME64
/* What a 32-bit program with a 64-bit time_t passes. */
struct shim_timespec64 {
    int64_t tv_sec;
    int32_t tv_nsec;
    int32_t unused;
};
TIMED(64, struct shim_timespec64);
#endif

/* ---- The life of a lock ---------------------------------------------------------------------- */

int shim_rwlock_init(pthread_rwlock_t *rw, const pthread_rwlockattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE, kind = PTHREAD_RWLOCK_DEFAULT_NP;
    if (attributes != NULL) {
        (void)pthread_rwlockattr_getpshared(attributes, &shared);
        (void)pthread_rwlockattr_getkind_np(attributes, &kind);
    }
    if (shared != PTHREAD_PROCESS_PRIVATE) {
        SHIM_COUNT(shared);
        return shim_next()->init(rw, attributes);
    }
    SHIM_COUNT(inits);
    memset(rw, 0, sizeof *rw);
    rw->__data.__flags = (__typeof__(rw->__data.__flags))kind;
    return 0;
}

/* As glibc: a lock that is still held is no error. What this thread remembers of it is about
 * another lock from now on. */
int shim_rwlock_destroy(pthread_rwlock_t *rw)
{
    if (IS_SHARED(rw))
        return shim_next()->destroy(rw);
    while (record_has(rw))
        (void)record_pop(rw);
    return 0;
}

SHIM_RWLOCK_PLAIN(SHIM_BOTH)
SHIM_RWLOCK_INNER(SHIM_OLD)
SHIM_RWLOCK_TIME64(SHIM_NEW)
