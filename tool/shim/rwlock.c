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
 * A read may be unlocked by another thread. So it is a counted one (pawl/lock.h), or in an entry
 * that any thread may free (place.h). Reads that wait are counted ones.
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
#include "layout.h"

#include <errno.h>
#include <string.h>

#include "deadline.h"
#include "export.h"
#include "garbage.h"
#include "mode.h"
#include "next.h"
#include "place.h"
#include "record.h"
#include "urgent.h"

#define IS_SHARED(rw) PAWL_UNLIKELY((rw)->__data.__shared != 0)
/* Neither is it shared between processes, nor are calls counted: one test. Then the short paths
 * serve the call, each of which is a leaf: what else there is to do is called at its end. So it has
 * no stack frame, and no store but those to the lock, the record and the thread's line. */
#define IS_PLAIN(rw) PAWL_LIKELY(((uint32_t)(rw)->__data.__shared | shim_special) == 0)
#define SHORT_PATH __attribute__((aligned(64))) /* one or two lines of instructions, not three */
#define OUT_OF_LINE __attribute__((noinline))
#define CALLER __builtin_return_address(0)

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

/* ---- Reading --------------------------------------------------------------------------------- */

uint64_t life_given;

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

/* Enters as a reader, unless a writer is in or waits. `met`: another reader has disturbed the
 * thread. The lock's readers scale where that happens often. `caller`: the code that reads. */
static bool read_here(struct shim_lock *l, bool met, const void *caller)
{
    shim_word w = shim_look(l);
    while (PAWL_LIKELY(w < SHIM_MOST_READERS * SHIM_R)) {
        if (((w & PAWL_LOCK_BIASED) != 0 || met) && place_enter(l, met)) {
            shim_count_entry(l, caller);
            return true;
        }
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (PAWL_LIKELY(
                SHIM_ON_WORD(pawl_cas_acquire)(&l->lock.word, &w, w + SHIM_R, PAWL_SPIN_R_TAKE)))
            return true;
        met = true;
    }
    return false;
}

/* A read in an entry keeps out every writer that waits: each looks at the entries as long as the
 * word has BIASED. */
static bool reads_by_entry(const struct shim_lock *l, shim_word w)
{
    return (w & PAWL_LOCK_BIASED) != 0 && record_has(life(l)) && place_is_read(l);
}

/* Reads beside writers that wait, if there are such and the word shows that they all wait. */
static bool pass(struct shim_lock *l)
{
    shim_word w = shim_look(l);
    do {
        if (shim_no_writer(w) || shim_readers(w) >= SHIM_MOST_READERS)
            return false;
        if (shim_readers(w) < 2)
            return reads_by_entry(l, w) && place_read_again(l);
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
        if (read_here(l, false, NULL))
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
    granted =
        SHIM_SLOW(take_read_counted_ranked)(&l->lock, deadline, RANK_OF_READER(priority) | passes);
    return granted ? granted_read(l) : ETIMEDOUT;
}

OUT_OF_LINE static int read_long(pthread_rwlock_t *rw, const void *caller)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->rdlock(rw);
    if (PAWL_LIKELY(read_here(l, !shim_counts_calls, caller)))
        return granted_read(l);
    return read_slow(rw, l, UINT64_MAX);
}

/* A writer has come. */
PAWL_COLD static int read_after_all(pthread_rwlock_t *rw, unsigned i)
{
    place_take_back(i);
    return read_slow(rw, shim_lock_of(rw), UINT64_MAX);
}

/* The word had BIASED, and no W. */
static inline __attribute__((always_inline)) int read_by_entry(pthread_rwlock_t *rw,
                                                               const void *caller)
{
    struct shim_lock *const l = shim_lock_of(rw);
    struct pawl_entries *const own = place_line();
    unsigned i;
    if (PAWL_UNLIKELY(!ipawl_entries_are_(own)) || PAWL_UNLIKELY(shim_is_marked(l)) ||
        PAWL_UNLIKELY(place_count_is_full(own)))
        return read_long(rw, caller);
    i = ipawl_entries_fill_(own, PLACE_IDENTITY(l) | PAWL_ENTRY_TRIES_);
    if (PAWL_UNLIKELY(i == PAWL_ENTRIES))
        return read_long(rw, caller);
    if (PAWL_UNLIKELY(!place_is_in(l)))
        return read_after_all(rw, i);
    place_say_in(own, i, PLACE_IDENTITY(l));
    return note_read(l);
}

SHORT_PATH int shim_rwlock_rdlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    shim_word w;
    if (!IS_PLAIN(rw))
        return read_long(rw, CALLER);
    w = shim_look(l);
    if (PAWL_UNLIKELY(w >= SHIM_MOST_READERS * SHIM_R))
        return read_long(rw, CALLER);
    if ((w & PAWL_LOCK_BIASED) != 0)
        return read_by_entry(rw, CALLER);
    /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
    if (PAWL_UNLIKELY(
            !SHIM_ON_WORD(pawl_cas_acquire)(&l->lock.word, &w, w + SHIM_R, PAWL_SPIN_R_TAKE)))
        return read_long(rw, CALLER);
    return note_read(l);
}

OUT_OF_LINE static int try_read_long(pthread_rwlock_t *rw, const void *caller)
{
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->tryrdlock(rw);
    if (PAWL_LIKELY(read_here(l, false, caller)))
        return granted_read(l);
    if (may_pass(rw, l, own_priority()) && pass(l)) {
        SHIM_COUNT(passes);
        return granted_read(l);
    }
    /* Not by whether a writer is in: it may have left meanwhile. */
    return shim_readers(shim_look(l)) >= SHIM_MOST_READERS ? fails(EAGAIN) : EBUSY;
}

/* A word without BIASED and writers. */
SHORT_PATH int shim_rwlock_tryrdlock(pthread_rwlock_t *rw)
{
    struct shim_lock *const l = shim_lock_of(rw);
    shim_word w = shim_look(l);
    if (IS_PLAIN(rw) && w < SHIM_MOST_READERS * SHIM_R && (w & PAWL_LOCK_BIASED) == 0 &&
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        PAWL_LIKELY(
            SHIM_ON_WORD(pawl_cas_acquire)(&l->lock.word, &w, w + SHIM_R, PAWL_SPIN_R_TAKE)))
        return note_read(l);
    return try_read_long(rw, CALLER);
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
    if (record.beyond != 0)
        record.beyond--;
    if (place_leave_own(l))
        return 0;
    (void)pawl_fetch_or_relaxed32(&l->life, LIFE_STRANGERS);
    return place_end_any(l) ? 0 : fails(EPERM);
}

/* The thread remembers the read, and no entry of the thread has it: it is in the word, or, where
 * strangers unlock, perhaps in an entry of another thread. */
OUT_OF_LINE static int unlock_elsewhere(struct shim_lock *l)
{
    if (shim_is_marked(l))
        return place_end_any(l) ? 0 : fails(EPERM);
    place_leave_word(l);
    return 0;
}

static int unlock_known(struct shim_lock *l)
{
    return place_leave_own(l) ? 0 : unlock_elsewhere(l);
}

/* The line has been looked at once: a handler may have moved the read meanwhile. */
OUT_OF_LINE static int unlock_missed(struct shim_lock *l)
{
    return place_has_own(l) ? unlock_known(l) : unlock_elsewhere(l);
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
    return unlock_known(l);
}

/* A subtraction of `units` found PARKED: the lock may be gone, so only its address is used. */
PAWL_COLD static int wake(struct shim_lock *l, shim_word found, shim_word units)
{
    SHIM_SLOW(left)(&l->lock, found, found - units);
    return 0;
}

/* The thread's entry, which had the lock, is free. */
PAWL_COLD static int tell(struct pawl_entries *own)
{
    ipawl_entries_tell_(own);
    return 0;
}

/* The thread has a read in an entry: of this lock, or of another one. */
static inline __attribute__((always_inline)) int unlock_by_entry(struct shim_lock *l)
{
    struct pawl_entries *const own = PAWL_LIKELY(place_scales(l)) ? place_line() : NULL;
    unsigned i;
    for (i = 0; PAWL_LIKELY(own != NULL) && i < PAWL_ENTRIES; i++)
        if (place_free(own, i, PLACE_IDENTITY(l))) {
            ipawl_entries_count_drop_(own);
            return PAWL_LIKELY(!place_has_waiters(own)) ? 0 : tell(own);
        }
    return unlock_missed(l);
}

static bool may_have_entry(void)
{
    const struct pawl_entries *const own = place_line();
    return own != PAWL_NO_ENTRIES_ && (own == NULL || ipawl_entries_busy_(own) != 0);
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
    } else if (PAWL_LIKELY(
                   record_pop_first(life_unless_marked(&l->life, pawl_load_relaxed32(&l->life))))) {
        if (may_have_entry())
            return unlock_by_entry(l);
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

static int read_until(pthread_rwlock_t *rw, const struct shim_time *when, const void *caller)
{
    struct shim_lock *const l = shim_lock_of(rw);
    uint64_t deadline;
    int error = shim_deadline(when, &deadline);
    if (error != 0)
        return fails(error);
    if (PAWL_LIKELY(read_here(l, false, caller)))
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
        return IS_SHARED(rw) ? shim_next()->timedrdlock##suffix(rw, t)                             \
                             : read_until(rw, &when, CALLER);                                      \
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
                             : read_until(rw, &when, CALLER);                                      \
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

/* The memory is another lock from now on, or no lock. Readers would write into it when their
 * threads end, and the writers of a new lock would wait for entries that nobody frees. In the
 * memory of a new lock the bit may be garbage. */
static void free_entries(struct shim_lock *l)
{
    while (may_have_entry() && place_leave_own(l))
        continue;
    while (PAWL_UNLIKELY(place_scales(l)) && place_leave_any(l))
        continue;
}

int shim_rwlock_init(pthread_rwlock_t *rw, const pthread_rwlockattr_t *attributes)
{
    int shared = PTHREAD_PROCESS_PRIVATE, kind = PTHREAD_RWLOCK_DEFAULT_NP;
    if (attributes != NULL) {
        (void)pthread_rwlockattr_getpshared(attributes, &shared);
        (void)pthread_rwlockattr_getkind_np(attributes, &kind);
    }
    free_entries(shim_lock_of(rw));
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
    struct shim_lock *const l = shim_lock_of(rw);
    if (IS_SHARED(rw))
        return shim_next()->destroy(rw);
    if (!life_has_begun(pawl_load_relaxed32(&l->life)))
        return 0; /* nobody has read it */
    while (record_pop(life(l)))
        continue;
    free_entries(l);
    return 0;
}

SHIM_RWLOCK_PLAIN(SHIM_BOTH)
SHIM_RWLOCK_INNER(SHIM_OLD)
SHIM_RWLOCK_TIME64(SHIM_NEW)
