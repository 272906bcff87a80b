/* SPDX-License-Identifier: MIT */
/*
 * Tables of objects by ID. A lookup returns the object locked, or nothing. It takes no lock of the
 * table: it works under RCU while other threads insert, remove and grow the table. For objects that
 * many threads find by a number and then change: sessions, connections, semaphores, handles.
 *
 * Not for: keys that the program chooses (use a hash table); objects that lookups only read
 * (publish them by RCU alone); memory shared between processes.
 *
 *   table: array --> size | [0] [1] [2] ... | generations and free list
 *                          |       |
 *                          v       v
 *                       object   object: entry (id, state) and a lock, somewhere inside
 *
 *   id       generation in the upper 32 bits, place in the lower. No object has ID 0. The table
 *            gives out no ID twice: it retires a place whose generations are used up.
 *   array    behind one pointer. Growth replaces it by a larger copy; earlier lookups go on in the
 *            old one, which is freed a grace period later. It never shrinks.
 *   entry    embedded in the object. id: constant from insert until the grace period after remove.
 *            state: "removed" is set under the object's lock, for good.
 *   lock     of the table: one thread at a time inserts, removes or replaces the array. Held for a
 *            few stores, or the copy; nothing is allocated, freed or called under it.
 *
 * States of an object   out --insert--> in --remove--> removed --grace period--> released
 *
 * Cost: a lookup is a read section, three dependent loads (array, place, entry) and the object's
 * lock. Lookups of different objects write nothing in common. insert and remove take the table's
 * lock once; now and then they copy the array. 16 bytes a place (12 on 32-bit targets), and 40 an
 * object (32).
 *
 * Invariants
 *   I1  a lookup returns an object with the requested ID that is not removed, and holds its lock;
 *       so no thread removes it while that lock is held.
 *   I2  an object, and an old array, is released only after all read sections have ended that began
 *       before its removal.
 *   I3  an insert that fails leaves the table as it was, and the object to the caller.
 *   I4  a lookup with a stale or forged ID touches no lock.
 *   I5  a thread that holds an object's lock may take the table's, never the other way round.
 *
 * The one rule: lookups wait for an object's lock inside a read section. So the holder of such a
 * lock must not wait for a grace period of the table's domain (synchronize, barrier, destroy, a
 * callback limit with a policy that waits). Long holds make long grace periods: give such a table a
 * domain of its own.
 *
 * After fork the child has the objects, and the forking thread's holds; as for all locks.
 */
#ifndef PAWL_IDTABLE_H
#define PAWL_IDTABLE_H

#include <pawl/lock.h>
#include <pawl/rcu_call.h>

typedef uint64_t pawl_id;

#define PAWL_ID_NONE UINT64_C(0)

/* Places of the first array, unless the options say otherwise; and the highest number of places. */
#define PAWL_IDTABLE_FIRST 16
#define PAWL_IDTABLE_MOST (UINT32_C(1) << 31)

/* One in each object. insert sets all of it. */
typedef struct pawl_idtable_entry {
    pawl_id id __attribute__((__aligned__(8)));
    uint32_t state; /* 1: in the table, 2: removed from it */
    pawl_rcu_head head;
} pawl_idtable_entry;

/* The source of arrays. Called without any lock of the table's; callbacks call release too. */
typedef struct pawl_idtable_allocator {
    void *(*allocate)(size_t bytes, void *arg); /* aligned as by malloc; NULL: no memory */
    void (*release)(void *memory, size_t bytes, void *arg);
    void *arg;
} pawl_idtable_allocator;

/* Zero bytes are the defaults. */
typedef struct pawl_idtable_options {
    uint32_t first;                   /* places of the first array; made by the first insert */
    uint32_t limit;                   /* objects at once; 0: PAWL_IDTABLE_MOST */
    struct pawl_rcu_domain *domain;   /* NULL: the default domain */
    pawl_rcu_function *release;       /* of an object, by &entry.head; NULL: nothing is called */
    pawl_idtable_allocator allocator; /* NULL functions: malloc and free */
} pawl_idtable_options;

/* The part that lookups read, followed by `size` pointers and `size` books. */
struct ipawl_idtable_array_ {
    uint32_t size;
    pawl_idtable_allocator allocator;
    pawl_rcu_head head; /* once it has been replaced */
};

typedef struct pawl_idtable {
    struct ipawl_idtable_array_ *array; /* NULL: none yet, or destroyed */
    uint32_t domain;                    /* number of the domain; 0: the default */
    uint32_t life;                      /* 0: in use, 1: destroyed, 2: init refused */
    pawl_idtable_options options;
    char apart[PAWL_CACHE_LINE];
    pawl_lock32 lock;       /* everything below, and stores to the array */
    uint32_t count;         /* objects in it; any thread may read it */
    uint32_t used;          /* places beyond have never been used */
    uint32_t free;          /* the first free place of those used, + 1; 0: none */
    uint32_t parked;        /* heads not yet handed to the callbacks; any thread may read it */
    pawl_rcu_head *waiting; /* those */
} pawl_idtable;

/* An empty table with the defaults but for release. Zero bytes are a table too. */
#define PAWL_IDTABLE_INIT(release)                                                                 \
    {NULL, 0, 0,   {0, 0, NULL, (release), {NULL, NULL, NULL}}, {0}, PAWL_LOCK32_INIT, 0, 0,       \
     0,    0, NULL}

PAWL_C_BEGIN

/* Makes an empty table; options may be NULL. Allocates nothing. EINVAL: a limit or first array
 * beyond PAWL_IDTABLE_MOST, or only one allocator function; the table then takes no object. */
PAWL_API int PAWL_SYMBOL_(pawl_idtable_init)(pawl_idtable *t, const pawl_idtable_options *options);

/* Releases the objects that are in, at once. Then waits until all removed objects have been
 * released and all arrays freed. No thread may use the table or one of its objects, now or later.
 * Not inside a read section or a callback. NULL and a table that init refused are allowed. */
PAWL_API void PAWL_SYMBOL_(pawl_idtable_destroy)(pawl_idtable *t);

/* Puts the object in. Other threads can find it before this returns: a caller that is not ready for
 * them holds the object's lock meanwhile. Afterwards the ID is in *id (id may be NULL), and the
 * object may be gone. Returns 0, ENOSPC (the limit is reached) or ENOMEM. Allowed in a read
 * section. Not for an object that is in a table, or was removed less than a grace period ago. */
PAWL_API int PAWL_SYMBOL_SEEN_(pawl_idtable_insert)(pawl_idtable *t, pawl_idtable_entry *e,
                                                    pawl_id *id);

/* Makes the array at least this large now, so that inserts up to there allocate nothing. 0, ENOSPC,
 * ENOMEM. */
PAWL_API int PAWL_SYMBOL_(pawl_idtable_reserve)(pawl_idtable *t, uint32_t places);

/* Takes the object out: no lookup returns it once the lock is dropped. The caller holds the
 * object's lock, exclusively; afterwards it drops the lock and calls retire. False, without effect:
 * the object was not in (a mistake, which the checking variant reports). */
PAWL_API bool PAWL_SYMBOL_(pawl_idtable_remove)(pawl_idtable *t, pawl_idtable_entry *e);

/* Has the removed object released after a grace period. `bytes` count for the limits of the domain.
 * An object that its callbacks refuse waits in the table; later calls offer it again. */
PAWL_API void PAWL_SYMBOL_(pawl_idtable_retire)(pawl_idtable *t, pawl_idtable_entry *e,
                                                size_t bytes);

/* The object in the first occupied place after that of *cursor, which becomes its ID; NULL: none is
 * left. Begin with PAWL_ID_NONE. Unlocked, in the caller's read section. An object that is in all
 * the time is found once, even if others are inserted and removed. */
PAWL_API pawl_idtable_entry *PAWL_SYMBOL_(pawl_idtable_next)(const pawl_idtable *t,
                                                             pawl_id *cursor);

#if PAWL_CHECKED
PAWL_API void PAWL_SYMBOL_(pawl_idtable_check)(const pawl_idtable *t);
#endif

PAWL_C_END

#define pawl_idtable_init PAWL_SYMBOL_(pawl_idtable_init)
#define pawl_idtable_destroy PAWL_SYMBOL_(pawl_idtable_destroy)
#define pawl_idtable_insert PAWL_SYMBOL_SEEN_(pawl_idtable_insert)
#define pawl_idtable_reserve PAWL_SYMBOL_(pawl_idtable_reserve)
#define pawl_idtable_remove PAWL_SYMBOL_(pawl_idtable_remove)
#define pawl_idtable_retire PAWL_SYMBOL_(pawl_idtable_retire)
#define pawl_idtable_next PAWL_SYMBOL_(pawl_idtable_next)
#define ipawl_idtable_check_ PAWL_SYMBOL_(pawl_idtable_check)

/* A note for the models, as in src/base/plain.h: memory that its owner has made ready before. */
#if PAWL_HOOKS
#define PAWL_IDTABLE_LOOKS_(object) pawl_hook_plain(&(object), #object, false)
#else
#define PAWL_IDTABLE_LOOKS_(object) ((void)0)
#endif

#if PAWL_CHECKED
#define PAWL_IDTABLE_CHECK_(t)                                                                     \
    do {                                                                                           \
        ipawl_idtable_check_(t);                                                                   \
        __asm__ __volatile__(""); /* the call stays a call: its return address is the site */      \
    } while (0)
#else
#define PAWL_IDTABLE_CHECK_(t) ((void)(t))
#endif

PAWL_INLINE_BEGIN

/* A read section of the table's domain, around peek, next, and the use of their results. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_idtable_read_lock(const pawl_idtable *t)
{
    PAWL_IDTABLE_CHECK_(t);
    ipawl_rcu_enter_(t->domain);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_idtable_read_unlock(const pawl_idtable *t)
{
    ipawl_rcu_leave_(t->domain);
}

/* A pointer that readers of the table follow. */
#define PAWL_IDTABLE_FOLLOW_(t, p) (PAWL_RCU_MUST_READ_((t)->domain), PAWL_RCU_DEREFERENCE_(p))

/* The places of an array. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_idtable_entry **
ipawl_idtable_places_(struct ipawl_idtable_array_ *array)
{
    return (pawl_idtable_entry **)(void *)(array + 1);
}

/* The object is not in the table any more. The answer is final only under the object's lock. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_idtable_is_removed(const pawl_idtable_entry *e)
{
    return PAWL_UNLIKELY(pawl_load_relaxed32(&e->state) != 1);
}

/* The object of that ID, or NULL. In a read section, which keeps it from being released; it is not
 * locked, and may be removed at any moment. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_idtable_entry *pawl_idtable_peek(const pawl_idtable *t,
                                                                      pawl_id id)
{
    const uint32_t place = (uint32_t)id;
    struct ipawl_idtable_array_ *const array = PAWL_IDTABLE_FOLLOW_(t, t->array);
    pawl_idtable_entry *e;
    if (PAWL_UNLIKELY(array == NULL))
        return NULL;
    PAWL_IDTABLE_LOOKS_(*array);
    if (PAWL_UNLIKELY(place >= array->size))
        return NULL;
    e = PAWL_IDTABLE_FOLLOW_(t, ipawl_idtable_places_(array)[place]);
    if (PAWL_UNLIKELY(e == NULL))
        return NULL;
    PAWL_IDTABLE_LOOKS_(e->id);
    return PAWL_LIKELY(e->id == id) ? e : NULL;
}

/* The number of objects in the table; the number of removed objects and replaced arrays that the
 * callbacks have refused so far. Other threads may change both meanwhile. */
PAWL_INLINE uint32_t pawl_idtable_count(const pawl_idtable *t)
{
    return pawl_load_relaxed32(&t->count);
}

PAWL_INLINE uint32_t pawl_idtable_parked(const pawl_idtable *t)
{
    return pawl_load_relaxed32(&t->parked);
}

PAWL_INLINE_END

#include <pawl/idtable_type.h>

#endif
