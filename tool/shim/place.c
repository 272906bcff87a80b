/* SPDX-License-Identifier: MIT */
/* The part of place.h that looks at the lines of all threads, or is rarely called. */
#ifdef SHIM_ONE_OBJECT /* the inner functions are static then */
#include "../../src/pawl.c"
#else
#define PAWL_COMPILED_ /* the line may be in another copy's variable */
#include "../../src/lock/lock_parts.h"
#endif

#include "place.h"

void place_start(void)
{
    entries_keep();
}

#define OWNER (UINTPTR_MAX > UINT32_MAX ? TABLE_OF_LOCK64 : TABLE_OF_LOCK32)

static bool leave(struct pawl_entries *line, bool own, ipawl_address_ identity)
{
    unsigned i;
    for (i = 0; i < PAWL_ENTRIES; i++) {
        if (!place_free(line, i, identity))
            continue;
        if (own)
            ipawl_entries_count_drop_(line);
        if (place_has_waiters(line))
            ipawl_entries_tell_(line);
        return true;
    }
    return false;
}

/* The next line, from number *i on, of a thread that has one. */
static struct pawl_entries *next_line(uint32_t *i)
{
    struct pawl_entries_all *const all = entries_all();
    struct pawl_entries *line = NULL;
    for (; line == NULL && *i < pawl_load_relaxed32(&all->used); ++*i)
        if (pawl_load_relaxed32(&all->joined[*i / 32]) & UINT32_C(1) << *i % 32)
            line = entries_line(all, *i);
    return line;
}

static bool leave_any(struct shim_lock *l)
{
    struct pawl_entries *line;
    uint32_t i = 0;
    while ((line = next_line(&i)) != NULL)
        if (leave(line, false, PLACE_IDENTITY(l)))
            return true;
    return false;
}

/* BIASED is set only where no W is, and here alone: under the latch, which whoever frees entries of
 * other threads has. Before, no read is in an entry (place.h). False: a writer is in, or this is a
 * handler that has interrupted its thread at the latch. */
static bool scale(struct shim_lock *l)
{
    struct lock_place here;
    shim_word w;
    if (!lock_try_look(&here, &l->lock, OWNER))
        return false;
    w = shim_look(l);
    while (!place_scales(l) && leave_any(l))
        continue;
    while (shim_no_writer(w) && (w & PAWL_LOCK_BIASED) == 0)
        if (SHIM_ON_WORD(pawl_cas_relaxed)(&l->lock.word, &w, w | PAWL_LOCK_BIASED))
            break;
    lock_unlock(&here);
    return shim_no_writer(w);
}

/* Reads of a marked lock are in its word, as the first are. */
static bool scales(struct shim_lock *l, bool met)
{
    if (shim_is_marked(l))
        return false;
    return place_scales(l) || (met && entries_evidence(PLACE_IDENTITY(l)) && scale(l));
}

bool place_enter(struct shim_lock *l, bool met)
{
    struct pawl_entries *own;
    unsigned i;
    if (!shim_readers_scale || !scales(l, met))
        return false;
    entries_join();
    own = PAWL_OWN_ENTRIES_;
    if (!ipawl_entries_are_(own))
        return false;
    if (place_count_is_full(own))
        entries_recount(own);
    i = ipawl_entries_fill_(own, PLACE_IDENTITY(l) | PAWL_ENTRY_TRIES_);
    if (i == PAWL_ENTRIES)
        return false;
    if (!place_is_in(l)) {
        place_take_back(i);
        return false;
    }
    place_say_in(own, i, PLACE_IDENTITY(l));
    return true;
}

/* Where the count of the line's entries is wrong, by what handlers and other threads have freed, it
 * is counted anew. */
bool place_has_own(const struct shim_lock *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    uint32_t busy = 0;
    unsigned i;
    if (!ipawl_entries_are_(own) || !place_scales(l))
        return false;
    for (i = 0; i < PAWL_ENTRIES; i++) {
        /* [ENTRY_GONE] acquire: who misses its entry finds that the lock is marked. */
        const ipawl_address_ has =
            PAWL_ADDRESS_(pawl_load_acquire)(&own->locks[i], PAWL_ENTRY_GONE);
        if (has == PLACE_IDENTITY(l))
            return true;
        busy += has != 0;
    }
    if (busy + own->eager != ipawl_entries_busy_(own))
        entries_recount(own);
    return false;
}

/* A handler may move a read to another entry meanwhile. */
bool place_leave_own(struct shim_lock *l)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    if (!ipawl_entries_are_(own) || ipawl_entries_busy_(own) == 0 || !place_scales(l))
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
    bool eager = false;
    if (shim_readers_scale && (own == NULL || (ipawl_entries_are_(own) && own->eager != 0)))
        eager = entries_first_drop();
    if (eager && !place_scales(l))
        (void)scale(l);
    SHIM_LOCK(drop_read_counted)(&l->lock);
}

bool place_leave_any(struct shim_lock *l)
{
    struct lock_place here;
    bool left;
    if (!entries_exist())
        return false;
    /* [ENTRY_LOOK] full: the lock is marked before the caller looks at the entries. */
    pawl_fence_full(PAWL_ENTRY_LOOK);
    lock_look(&here, &l->lock, OWNER);
    left = leave_any(l);
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

bool place_end_any(struct shim_lock *l)
{
    if (place_leave_own(l) || (place_scales(l) && place_leave_any(l)))
        return true;
    if (nobody_reads_in_word(l))
        return false;
    SHIM_LOCK(drop_read_counted)(&l->lock);
    return true;
}

void place_take_back(unsigned i)
{
    struct pawl_entries *const own = PAWL_OWN_ENTRIES_;
    PAWL_ADDRESS_(pawl_store_relaxed)(&own->locks[i], 0);
    ipawl_entries_count_(own, (uint32_t)-1);
    if (place_has_waiters(own))
        ipawl_entries_tell_(own);
}

/* The latch is held, so only its own thread may free a read. Gives the read of some thread the bit;
 * returns its entry. */
static ipawl_address_ *keep_any(const struct shim_lock *l)
{
    const ipawl_address_ identity = PLACE_IDENTITY(l);
    struct pawl_entries *line;
    uint32_t i = 0;
    unsigned entry;
    while ((line = next_line(&i)) != NULL)
        for (entry = 0; entry < PAWL_ENTRIES; entry++) {
            ipawl_address_ found = PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[entry]);
            if (found == identity && PAWL_ADDRESS_(pawl_cas_relaxed)(&line->locks[entry], &found,
                                                                     identity | PAWL_ENTRY_TRIES_))
                return &line->locks[entry];
        }
    return NULL;
}

bool place_is_read(const struct shim_lock *l)
{
    uint32_t i = 0;
    const struct pawl_entries *line;
    unsigned entry;
    if (place_has_own(l))
        return true;
    if (!shim_is_marked(l) || !entries_exist())
        return false;
    while ((line = next_line(&i)) != NULL)
        for (entry = 0; entry < PAWL_ENTRIES; entry++)
            if (PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[entry]) == PLACE_IDENTITY(l))
                return true;
    return false;
}

/* Adds R beside W. No writer is granted: an entry is a read, and stays one. */
static bool add_beside(struct shim_lock *l)
{
    shim_word w = shim_look(l);
    while (!shim_no_writer(w) && shim_readers(w) < SHIM_MOST_READERS)
        /* [SPIN_R_TAKE] acquire: our reads come after the last writer's stores. */
        if (SHIM_ON_WORD(pawl_cas_acquire)(&l->lock.word, &w, w + SHIM_R, PAWL_SPIN_R_TAKE))
            return true;
    return false;
}

/* Under the latch no other thread frees the caller's entry. */
bool place_read_again(struct shim_lock *l)
{
    struct lock_place here;
    ipawl_address_ *kept;
    bool in = false;
    if (!lock_try_look(&here, &l->lock, OWNER))
        return false;
    if (place_has_own(l)) {
        in = add_beside(l);
    } else if (shim_is_marked(l) && (kept = keep_any(l)) != NULL) {
        in = add_beside(l);
        /* [ENTRY_DROP] release: R is in the word before a writer finds the entry free. */
        PAWL_ADDRESS_(pawl_store_release)(kept, PLACE_IDENTITY(l), PAWL_ENTRY_DROP);
    }
    lock_unlock(&here);
    return in;
}
