/* SPDX-License-Identifier: MIT */
/*
 * Where a read is: in the lock's word, or in an entry of the thread that reads, where the readers
 * of the lock scale (pawl/detail/entries.h).
 *
 * With glibc any thread may unlock a read. So a thread that remembers no read of the lock frees an
 * entry of another one; of which one, does not matter. For that
 *
 *   - an entry has PAWL_ENTRY_TRIES_ until its reader is in. Only its own thread changes it then.
 *     Without that bit it is a read, and no writer is granted the lock before it is free;
 *   - such entries are freed by compare-exchange alone, also by their own threads;
 *   - a thread that frees another one's entry does so under the latch of the lock's wait list,
 *     after it has marked the lock (LIFE_STRANGERS). A thread that misses its entry sees the mark;
 *   - an unlock of a marked lock looks everywhere, entries first. A read in the word comes last:
 *     its thread may be about to subtract it. Where no entry has the lock, there is one unit in
 *     the word for each thread that unlocks;
 *   - from then on reads of the lock are in its word;
 *   - a thread whose entry is gone may read again beside a waiting writer while any entry is a
 *     read. Under the latch it gives that entry the bit again, so that its thread cannot free it
 *     meanwhile, and adds to the word.
 *
 * The memory of a lock may end, and be another object, while threads read it. So a thread that ends
 * leaves its reads in its line (entries_keep). Without BIASED no entry is a read of the lock, and
 * who sets it first frees what entries there are of its address.
 *
 * No other code fills or frees entries of these locks, but in the child of a fork.
 */
#ifndef PAWL_SHIM_PLACE_H
#define PAWL_SHIM_PLACE_H

#include "layout.h"
#include "mode.h"

#define PLACE_IDENTITY(l) SHIM_INNER(identity_)(&(l)->lock)

/* Before any thread ends. */
void place_start(void);
/* Enters by an entry, if readers of the lock scale. They do so from now on where many have `met`
 * another reader. */
bool place_enter(struct shim_lock *l, bool met);
/* The calling thread has filled its entry i in vain. */
void place_take_back(unsigned i);
/* Whether an entry of the calling thread has the lock. */
bool place_has_own(const struct shim_lock *l);
/* Whether an entry says that the caller reads the lock: one of the caller, or of any thread where
 * strangers unlock. */
bool place_is_read(const struct shim_lock *l);
/* Frees such an entry; false: there is none. */
bool place_leave_own(struct shim_lock *l);
/* Frees an entry of any thread; false: none has the lock. */
bool place_leave_any(struct shim_lock *l);
/* Ends the caller's read, which is in the word. */
void place_leave_word(struct shim_lock *l);
/* Ends a read of the lock, wherever it is. False: nobody reads. */
bool place_end_any(struct shim_lock *l);
/* The caller reads the lock. Where an entry says so, it reads again in the word, beside writers
 * that wait. */
bool place_read_again(struct shim_lock *l);

/* Whether reads of the lock may be in entries. A reader that is in an entry finds it so. */
static inline bool place_scales(const struct shim_lock *l)
{
    return (SHIM_ON_WORD(pawl_load_relaxed)(&l->lock.word) & PAWL_LOCK_BIASED) != 0;
}

/* The reader is in. */
static inline __attribute__((always_inline)) void place_say_in(struct pawl_entries *own, unsigned i,
                                                               ipawl_address_ identity)
{
    PAWL_ADDRESS_(pawl_store_relaxed)(&own->locks[i], identity);
}

/* The thread's line as inline code may read it: NULL, too, where all copies of the library use the
 * variable of another one. */
static inline struct pawl_entries *place_line(void)
{
    return PAWL_OWN_ENTRIES_;
}

/* Another thread that frees an entry does not count that. So the count may be too high. One more,
 * and it would be 0 again, which says that no entry need be looked for. */
static inline __attribute__((always_inline)) bool
place_count_is_full(const struct pawl_entries *own)
{
    return ipawl_entries_busy_(own) == PAWL_ENTRIES_BUSY_;
}

/* Number i, if it has the lock. */
static inline __attribute__((always_inline)) bool place_free(struct pawl_entries *line, unsigned i,
                                                             ipawl_address_ identity)
{
    ipawl_address_ found = PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[i]);
    /* [ENTRY_DROP] release: the reader's reads are done before a writer finds the entry free. */
    return found == identity &&
           PAWL_ADDRESS_(pawl_cas_release)(&line->locks[i], &found, 0, PAWL_ENTRY_DROP);
}

/* Whether a writer waits for the line that the caller has freed an entry of. */
static inline __attribute__((always_inline)) bool place_has_waiters(struct pawl_entries *line)
{
    /* [ENTRY_LEFT] light: the entry is free before the reader looks whether a writer sleeps. */
    pawl_fence_light_known(PAWL_ENTRY_LEFT);
    return pawl_load_relaxed32(&line->waiters) != 0;
}

/* The word had BIASED and no W, and entry i has the lock: whether the reader is in. */
static inline __attribute__((always_inline)) bool place_is_in(const struct shim_lock *l)
{
    /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
    const shim_word w = SHIM_ON_WORD(pawl_load_acquire)(&l->lock.word, PAWL_SPIN_R_TAKE);
    return shim_no_writer(w) && (w & PAWL_LOCK_BIASED) != 0;
}

#endif
