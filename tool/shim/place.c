/* SPDX-License-Identifier: MIT */
/* The part of place.h that looks at the lines of all threads, or is rarely called. */
#ifdef SHIM_ONE_OBJECT /* the inner functions are static then */
#include "../../src/pawl.c"
#else
#define PAWL_COMPILED_ /* the line may be in another copy's variable */
#include "../../src/lock/lock_parts.h"
#endif

#include "place.h"

#define OWNER (UINTPTR_MAX > UINT32_MAX ? TABLE_OF_LOCK64 : TABLE_OF_LOCK32)

/* BIASED is set only where no W is. Reads of a marked lock are in its word. */
static bool scales(struct shim_lock *l, bool met)
{
    shim_word w = shim_look(l);
    if (shim_is_marked(l))
        return false;
    if ((w & PAWL_LOCK_BIASED) == 0 && (!met || !entries_evidence(PLACE_IDENTITY(l))))
        return false;
    while (shim_no_writer(w) && (w & PAWL_LOCK_BIASED) == 0)
        if (SHIM_ON_WORD(pawl_cas_relaxed)(&l->lock.word, &w, w | PAWL_LOCK_BIASED))
            return true;
    return shim_no_writer(w);
}

bool place_enter(struct shim_lock *l, bool met)
{
    struct pawl_entries *own;
    unsigned i;
    if (!shim_readers_scale || !scales(l, met))
        return false;
    entries_join();
    own = PAWL_OWN_ENTRIES_;
    if (!pawl_entries_are_(own))
        return false;
    i = pawl_entries_fill_(own, PLACE_IDENTITY(l));
    if (i == PAWL_ENTRIES)
        return false;
    if (place_is_in(l))
        return true;
    place_take_back(l, i);
    return false;
}

static bool leave(struct pawl_entries *line, bool own, pawl_address_ identity)
{
    unsigned i;
    for (i = 0; i < PAWL_ENTRIES; i++) {
        if (!place_free(line, i, identity))
            continue;
        if (own)
            pawl_entries_count_drop_(line);
        if (place_has_waiters(line))
            pawl_entries_tell_(line);
        return true;
    }
    return false;
}

/* Where the count of the line's entries is wrong, by what handlers and other threads have freed, it
 * is counted anew. */
bool place_has_own(const struct shim_lock *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    uint32_t busy = 0;
    unsigned i;
    if (!pawl_entries_are_(own))
        return false;
    for (i = 0; i < PAWL_ENTRIES; i++) {
        /* [ENTRY_GONE] acquire: who misses its entry finds that the lock is marked. */
        const pawl_address_ has = PAWL_ADDRESS_(pawl_load_acquire)(&own->locks[i], PAWL_ENTRY_GONE);
        if (has == PLACE_IDENTITY(l))
            return true;
        busy += has != 0;
    }
    if (busy + own->eager != pawl_entries_busy_(own))
        entries_recount(own);
    return false;
}

/* A handler may move a read to another entry meanwhile. */
bool place_leave_own(struct shim_lock *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    if (!pawl_entries_are_(own) || pawl_entries_busy_(own) == 0)
        return false;
    do
        if (leave(own, true, PLACE_IDENTITY(l)))
            return true;
    while (place_has_own(l));
    return false;
}

/* The first drop of a thread reserves what later reads need. */
void place_leave_word(struct shim_lock *l)
{
    const struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    if (shim_readers_scale && (own == NULL || (pawl_entries_are_(own) && own->eager != 0)))
        SHIM_SLOW(drop_read_slow)(&l->lock);
    else
        SHIM_LOCK(drop_read_counted)(&l->lock);
}

bool place_leave_any(struct shim_lock *l)
{
    struct lock_place here;
    uint32_t i, bits;
    bool left = false;
    if (!entries_exist())
        return false;
    /* [ENTRY_LOOK] full: the lock is marked before the caller looks at the entries. */
    pawl_fence_full(PAWL_ENTRY_LOOK);
    lock_look(&here, &l->lock, OWNER);
    for (i = 0; !left && i < pawl_load_relaxed32(&entries_all()->used); i += 32)
        for (bits = pawl_load_relaxed32(&entries_all()->joined[i / 32]); !left && bits != 0;
             bits &= bits - 1) {
            struct pawl_entries *const line = entries_line(entries_all(), i + entries_first(bits));
            left = line != NULL && leave(line, false, PLACE_IDENTITY(l));
        }
    lock_unlock(&here);
    return left;
}

/* A granted writer has a single R in the word, which is its own. */
static bool nobody_reads_in_word(struct shim_lock *l)
{
    const shim_word w = shim_look(l);
    return shim_readers(w) == 0 || (!shim_no_writer(w) && shim_readers(w) == 1 &&
                                    PAWL_ADDRESS_(pawl_load_relaxed)(&l->owner) != 0);
}

/* Without BIASED all reads that were granted are in the word. */
bool place_end_any(struct shim_lock *l)
{
    if (place_leave_own(l) || ((shim_look(l) & PAWL_LOCK_BIASED) != 0 && place_leave_any(l)))
        return true;
    if (nobody_reads_in_word(l))
        return false;
    SHIM_LOCK(drop_read_counted)(&l->lock);
    return true;
}

/* Another thread has freed the entry, or a handler has: then its own R is in the word. */
void place_take_back(struct shim_lock *l, unsigned i)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    if (place_free(own, i, PLACE_IDENTITY(l))) {
        pawl_entries_count_nothing_(own);
        if (place_has_waiters(own))
            pawl_entries_tell_(own);
        return;
    }
    if (place_leave_own(l))
        return;
    if (shim_is_marked(l))
        (void)place_end_any(l);
    else
        SHIM_LOCK(drop_read_counted)(&l->lock);
}

/* Under the latch no other thread frees the entry, and no writer is granted before it is free. */
bool place_read_again(struct shim_lock *l)
{
    struct lock_place here;
    shim_word w = shim_look(l);
    bool in = false;
    if (!lock_try_look(&here, &l->lock, OWNER))
        return false;
    while (!in && place_has_own(l) && !shim_no_writer(w) && shim_readers(w) < SHIM_MOST_READERS)
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        in = SHIM_ON_WORD(pawl_cas_acquire)(&l->lock.word, &w, w + SHIM_R, PAWL_SPIN_R_TAKE);
    lock_unlock(&here);
    return in;
}
