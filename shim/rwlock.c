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
 * Real-time threads that sleep are served by priority, and at the same priority writers first:
 * their rank in the lock's queue says so. They come before all other threads.
 *
 * A read may be unlocked by another thread, so all reads are counted ones (pawl/lock.h). In the
 * mode scale-readers they are the lock's usual reads: these may be in an entry of the thread, and
 * the thread itself unlocks them. A thread that remembers nothing of a lock gets EPERM there.
 *
 * How it passes. A granted writer is alone: R in the word is its own single unit. So where R has
 * two units or more beside W, all writers still wait, and one more R is no harm (pass). With a
 * single R the word does not tell a granted writer from the claim of one that waits for this very
 * reader (a claim that was made beside another writer has no R). The lock's queue tells them apart.
 * So the reader asks there, and waits there for the moment when it can pass (PAWL_LOCK_PASSES).
 * Where it has its read in an entry, no writer is granted before the entry is free.
 *
 * The record of a thread's reads decides only who may pass, never whether there is room.
 */
#define PAWL_SCALING_INLINE /* the mode scale-readers is chosen for its reads */
#include "layout.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "deadline.h"
#include "export.h"
#include "mode.h"
#include "next.h"
#include "record.h"

#define IS_SHARED(rw) PAWL_UNLIKELY((rw)->__data.__shared != 0)
/* Neither is it shared between processes, nor are calls counted, nor do readers scale: one test.
 * Then the short paths serve the call, each of which is a leaf: what else there is to do is called
 * at its end. So it has no stack frame, and no store but those to the lock and the record. */
#define IS_PLAIN(rw) PAWL_LIKELY(((uint32_t)(rw)->__data.__shared | shim_special) == 0)
#define SHORT_PATH __attribute__((aligned(64))) /* one or two lines of instructions, not three */
#define OUT_OF_LINE __attribute__((noinline))

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

/* ---- Memory that was never initialised ------------------------------------------------------- */

/* A claim adds W and S. Claims keep each other out, so there are never many. */
#define MOST_CLAIMS 16u
#define SHIM_CLAIM (SHIM_W + SHIM_S)

/* All of the word above R is claims; nobody seeks, nor is there an atomic user. */
static bool is_a_word(shim_word w)
{
    const shim_word claims = w / SHIM_S;
    return claims % (SHIM_CLAIM / SHIM_S) == 0 && claims <= MOST_CLAIMS * (SHIM_CLAIM / SHIM_S);
}

/* Bytes that no initialiser and no call sets, or claims that no threads have made. A wait for such
 * a lock might never end, where the C library's wait would not begin. */
static bool is_no_lock(const pthread_rwlock_t *rw, struct shim_lock *l)
{
    static uint32_t said;
    if (PAWL_LIKELY(rw->__data.__cur_writer == 0 && rw->__data.__pad2 == 0 &&
                    rw->__data.__flags <= PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP &&
                    PAWL_ADDRESS_(pawl_load_relaxed)(&l->owner) % _Alignof(struct record) == 0 &&
                    is_a_word(shim_look(l))))
        return false;
    if (pawl_fetch_add_relaxed32(&said, 1) == 0)
        (void)shim_say(STDERR_FILENO, "libpawl-preload: the program waits for a read-write lock "
                                      "that it has not initialised; the call returns EINVAL.\n");
    return true;
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
    while (!pawl_cas_relaxed32(&l->urgent, &found, found < 2 * URGENT_ONE ? 0 : found - URGENT_ONE))
        continue;
}

/* In the lock's queue; ordinary threads have rank 0. */
#define RANK_OF_READER(priority) (2 * (priority))
#define RANK_OF_WRITER(priority) ((priority) == 0 ? 0 : 2 * (priority) + 1)

/* ---- Reading --------------------------------------------------------------------------------- */

static struct life life(const struct shim_lock *l)
{
    return life_of(&l->life, pawl_load_relaxed32(&l->life));
}

static bool may_pass(const pthread_rwlock_t *rw, struct shim_lock *l, uint32_t priority)
{
    if (rw->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
        return false;
    if (shim_prefers_readers || record.beyond != 0 || record_has(life(l)))
        return true;
    return priority > (pawl_load_relaxed32(&l->urgent) & URGENT_PRIORITY);
}

/* Without W and S, and with fewer readers than the most: one comparison. */
static inline bool try_to_count(struct shim_lock *l)
{
    shim_word w = shim_look(l);
    while (PAWL_LIKELY(w < SHIM_MOST_READERS * SHIM_R)) {
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (PAWL_LIKELY(
                SHIM_ON_WORD(pawl_cas_acquire)(&l->lock.word, &w, w + SHIM_R, PAWL_SPIN_R_TAKE)))
            return true;
    }
    return false;
}

static bool try_to_read(struct shim_lock *l)
{
    if (PAWL_UNLIKELY(shim_readers_scale))
        return shim_look(l) < SHIM_MOST_READERS * SHIM_R && SHIM_LOCK(try_read)(&l->lock);
    return try_to_count(l);
}

/* The same for a call that may wait. A reader that meets another one goes into the lock's slow
 * path, which finds out whether its readers are to scale. */
static bool read_at_once(struct shim_lock *l)
{
    if (PAWL_UNLIKELY(shim_readers_scale))
        return shim_look(l) < SHIM_MOST_READERS * SHIM_R && SHIM_LOCK(do_take_read_)(&l->lock, 0);
    return try_to_count(l);
}

/* The thread's own read keeps out every writer that waits: each looks at the entries as long as the
 * word has BIASED. A handler may find an entry that its thread has filled in vain; it is no read
 * that the thread remembers. */
static bool reads_by_entry(const struct shim_lock *l, shim_word w)
{
    const struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    const pawl_address_ identity = SHIM_LOCK(identity_)(&l->lock);
    unsigned i;
    if (!pawl_entries_are_(own) || (w & PAWL_LOCK_BIASED) == 0 || !record_has(life(l)))
        return false;
    for (i = 0; i < PAWL_ENTRIES; i++)
        if (PAWL_ADDRESS_(pawl_load_relaxed)(&own->locks[i]) == identity)
            return true;
    return false;
}

/* Reads beside writers that wait, if there are such and the word shows that they all wait. */
static bool pass(struct shim_lock *l)
{
    shim_word w = shim_look(l);
    do {
        if (shim_no_writer(w) || shim_readers(w) >= SHIM_MOST_READERS ||
            (shim_readers(w) < 2 && !reads_by_entry(l, w)))
            return false;
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
    } while (!SHIM_ON_WORD(pawl_cas_acquire)(&l->lock.word, &w, w + SHIM_R, PAWL_SPIN_R_TAKE));
    return true;
}

/* A thread whose read is in an entry must not wait: the queue sees no R of it. A claim may be gone
 * when the thread wants to pass it, and another one be there at the next look. */
static bool pass_or_read(struct shim_lock *l)
{
    shim_word w;
    do {
        if (pass(l)) {
            SHIM_COUNT(passes);
            return true;
        }
        if (read_at_once(l))
            return true;
        w = shim_look(l);
    } while (reads_by_entry(l, w) && shim_readers(w) < SHIM_MOST_READERS);
    return false;
}

PAWL_COLD static int note_first_read(struct shim_lock *l)
{
    return record_push(life_begin(&l->life));
}

/* Always 0, as record_push. */
static inline int note_read(struct shim_lock *l)
{
    const uint32_t found = pawl_load_relaxed32(&l->life);
    if (PAWL_UNLIKELY(!life_has_begun(found)))
        return note_first_read(l);
    return record_push(life_of(&l->life, found));
}

static int granted_read(struct shim_lock *l)
{
    SHIM_COUNT(reads);
    return note_read(l);
}

/* The lock is not free for a reader at once. */
PAWL_COLD static int read_slow(pthread_rwlock_t *rw, struct shim_lock *l, uint64_t deadline)
{
    uint32_t priority, passes;
    bool granted;
    if (is_no_lock(rw, l))
        return fails(EINVAL);
    if (owned_by_me(l))
        return fails(EDEADLK);
    priority = own_priority();
    if (may_pass(rw, l, priority) && pass_or_read(l))
        return granted_read(l);
    /* A more urgent writer may come while the thread waits. */
    passes = may_pass(rw, l, 0) ? PAWL_LOCK_PASSES : 0;
    if (shim_readers(shim_look(l)) >= SHIM_MOST_READERS)
        return fails(EAGAIN);
    SHIM_COUNT(read_waits);
    if (shim_readers_scale && (priority | passes) == 0)
        granted = SHIM_LOCK(take_read_until)(&l->lock, deadline);
    else
        granted = SHIM_SLOW(take_read_counted_ranked)(&l->lock, deadline,
                                                      RANK_OF_READER(priority) | passes);
    return granted ? granted_read(l) : ETIMEDOUT;
}

static void stop_reading(struct shim_lock *l)
{
    if (PAWL_UNLIKELY(shim_readers_scale))
        SHIM_LOCK(drop_read)(&l->lock);
    else
        SHIM_LOCK(drop_read_counted)(&l->lock);
}

OUT_OF_LINE static int read_long(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->rdlock(rw);
    if (PAWL_LIKELY(read_at_once(l)))
        return granted_read(l);
    return read_slow(rw, l, UINT64_MAX);
}

SHORT_PATH int shim_rwlock_rdlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_PLAIN(rw) && PAWL_LIKELY(try_to_count(l)))
        return note_read(l);
    return read_long(rw);
}

OUT_OF_LINE static int try_read_long(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->tryrdlock(rw);
    if (PAWL_LIKELY(try_to_read(l)))
        return granted_read(l);
    if (may_pass(rw, l, own_priority()) && pass(l)) {
        SHIM_COUNT(passes);
        return granted_read(l);
    }
    /* Not by whether a writer is in: it may have left meanwhile. */
    return shim_readers(shim_look(l)) >= SHIM_MOST_READERS ? fails(EAGAIN) : EBUSY;
}

SHORT_PATH int shim_rwlock_tryrdlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_PLAIN(rw) && PAWL_LIKELY(try_to_count(l)))
        return note_read(l);
    return try_read_long(rw);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int granted_write(struct shim_lock *l)
{
    SHIM_COUNT(writes);
    own(l);
    return 0;
}

/* The thread has locked it for reading, and nobody can have unlocked that read but the thread. */
static bool reads_it(const struct shim_lock *l)
{
    return life_is_certain(pawl_load_relaxed32(&l->life)) && record_has(life(l));
}

PAWL_COLD static int write_slow(pthread_rwlock_t *rw, struct shim_lock *l, uint64_t deadline)
{
    uint32_t priority;
    bool granted;
    if (is_no_lock(rw, l))
        return fails(EINVAL);
    if (owned_by_me(l) || reads_it(l))
        return fails(EDEADLK);
    SHIM_COUNT(write_waits);
    priority = own_priority();
    if (priority != 0)
        writer_comes(l, priority);
    granted = SHIM_SLOW(take_write_ranked)(&l->lock, deadline, RANK_OF_WRITER(priority));
    if (priority != 0)
        writer_goes(l);
    return granted ? granted_write(l) : ETIMEDOUT;
}

/* From a word without any bit: nobody is in and nobody sleeps. */
static inline bool write_the_free(struct shim_lock *l)
{
    shim_word w = 0;
    /* [SPIN_W_TAKE] acquire: our stores come after all that earlier holders did. */
    return PAWL_LIKELY(
        SHIM_ON_WORD(pawl_cas_acquire)(&l->lock.word, &w, SHIM_HELD_TO_WRITE, PAWL_SPIN_W_TAKE));
}

OUT_OF_LINE static int write_long(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->wrlock(rw);
    if (PAWL_LIKELY(SHIM_LOCK(try_write)(&l->lock)))
        return granted_write(l);
    return write_slow(rw, l, UINT64_MAX);
}

SHORT_PATH int shim_rwlock_wrlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (!IS_PLAIN(rw) || !write_the_free(l))
        return write_long(rw);
    own(l);
    return 0;
}

OUT_OF_LINE static int try_write_long(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->trywrlock(rw);
    return PAWL_LIKELY(SHIM_LOCK(try_write)(&l->lock)) ? granted_write(l) : EBUSY;
}

/* It looks first: a program that tries in a loop does not take the line from the holder. */
SHORT_PATH int shim_rwlock_trywrlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (!IS_PLAIN(rw) || shim_look(l) != 0 || !write_the_free(l))
        return try_write_long(rw);
    own(l);
    return 0;
}

/* ---- Unlocking ------------------------------------------------------------------------------- */

/* The calling thread remembers no read of this lock: another thread locked it, or the record was
 * full, or the call is an error. */
PAWL_COLD static int unlock_unknown(struct shim_lock *l)
{
    const shim_word w = shim_look(l);
    if (shim_readers_scale) {
        if (record.beyond == 0)
            return fails(EPERM);
    } else if (shim_readers(w) == 0 || (!shim_no_writer(w) && shim_readers(w) == 1 &&
                                        PAWL_ADDRESS_(pawl_load_relaxed)(&l->owner) != 0)) {
        return fails(EPERM); /* nobody reads it */
    }
    if (record.beyond != 0)
        record.beyond--;
    if (!shim_readers_scale) /* there it is the thread's own read, beyond its record */
        (void)pawl_fetch_or_relaxed32(&l->life, LIFE_STRANGERS);
    stop_reading(l);
    return 0;
}

OUT_OF_LINE static int unlock_long(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->unlock(rw);
    if (owned_by_me(l)) {
        PAWL_ADDRESS_(pawl_store_relaxed)(&l->owner, 0);
        SHIM_LOCK(drop_write)(&l->lock);
        return 0;
    }
    if (!record_pop_first(life(l)) && !record_pop(life(l)))
        return unlock_unknown(l);
    stop_reading(l);
    return 0;
}

/* A subtraction of `units` found PARKED: the lock may be gone, so only its address is used. */
PAWL_COLD static int wake(struct shim_lock *l, shim_word found, shim_word units)
{
    SHIM_SLOW(left)(&l->lock, found, found - units);
    return 0;
}

/* The owner is asked first. What a thread remembers of reads may be over (strangers). */
SHORT_PATH int shim_rwlock_unlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    shim_word found, units;
    if (!IS_PLAIN(rw))
        return unlock_long(rw);
    if (owned_by_me(l)) {
        PAWL_ADDRESS_(pawl_store_relaxed)(&l->owner, 0);
        units = SHIM_HELD_TO_WRITE;
        /* [SPIN_W_DROP] release: our stores are done before anybody enters. */
        found = SHIM_ON_WORD(pawl_fetch_sub_release)(&l->lock.word, units, PAWL_SPIN_W_DROP);
    } else if (PAWL_LIKELY(record_pop_first(life(l)))) {
        units = SHIM_R;
        /* [SPIN_R_DROP] release: our reads are done before a writer sees R fall. */
        found = SHIM_ON_WORD(pawl_fetch_sub_release)(&l->lock.word, units, PAWL_SPIN_R_DROP);
    } else {
        return unlock_long(rw);
    }
    return PAWL_LIKELY((found & PAWL_LOCK_PARKED) == 0) ? 0 : wake(l, found, units);
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
        error = write_slow(rw, l, deadline);
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

/* The memory is another lock from now on, or no lock. The thread would write into it when it ends,
 * and the writers of a new lock would wait for an entry that nobody frees. */
static void free_entries(pthread_rwlock_t *rw)
{
    while (shim_readers_scale && SHIM_LOCK(leave_entry_)(&shim_lock_of(rw)->lock))
        continue;
}

int shim_rwlock_init(pthread_rwlock_t *rw, const pthread_rwlockattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE, kind = PTHREAD_RWLOCK_DEFAULT_NP;
    if (attributes != NULL) {
        (void)pthread_rwlockattr_getpshared(attributes, &shared);
        (void)pthread_rwlockattr_getkind_np(attributes, &kind);
    }
    free_entries(rw);
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
    while (record_pop(life(shim_lock_of(rw))))
        continue;
    free_entries(rw);
    return 0;
}

SHIM_RWLOCK_PLAIN(SHIM_BOTH)
SHIM_RWLOCK_INNER(SHIM_OLD)
SHIM_RWLOCK_TIME64(SHIM_NEW)
