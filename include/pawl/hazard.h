/* SPDX-License-Identifier: MIT */
/*
 * Hazard pointers. A reader names the one object that it looks at. An object that was unlinked and
 * retired is freed only when nobody names it. A reader may sleep with an object for as long as it
 * likes: that delays this object alone, and a bounded number waits to be freed.
 *
 * Not for: readers that follow many links (RCU costs the same for any number), objects that are
 * found by several pointers and unlinked from one of them only.
 *
 *   reader                                      updater
 *   h = pawl_hazard_make()                      old = pawl_rcu_xchg_pointer(&head, new)
 *   p = pawl_hazard_protect(h, &head)           pawl_hazard_retire(&old->hazard, old, free)
 *   ... reads *p, if it is not NULL ...
 *   pawl_hazard_reset(h, NULL)
 *   pawl_hazard_drop(h)
 *
 *   pawl_hazard   a word: 0 free, PAWL_HAZARD_NONE_ names nothing, else the object's address
 *   line          as many as fit into a cache line; a thread makes them on a line of its own first
 *   shard         the retired objects of some threads, newest first; any thread takes all at once
 *
 * protect writes the word, passes a light fence and loads the pointer again, until that has not
 * changed. A thread that retires passes a heavy fence and looks at all words once as many objects
 * were retired in its shard as there are words in use, and PAWL_HAZARD_BATCH more. It then calls
 * the functions of those that no word names.
 *
 * Invariants
 *   I1  A reader that finds the pointer unchanged wrote the word first, with a light fence between.
 *       The objects were unlinked before the heavy fence, and the words are read behind it: the
 *       reader sees the removal, or its word is seen.
 *   I2  A word changes by a release, and is read by an acquire: what its reader did with the object
 *       comes before the function.
 *   I3  PAWL_HAZARD_SHARDS times the batch wait at most, beside what words name, and what threads
 *       took and free at this moment.
 *   I4  An object is on a list, or in the hands of one thread. A word belongs to who made it, in
 *       whatever thread, and to no other until its drop.
 *
 * protect, reset and drop may be used in signal handlers, of a word that the interrupted code does
 * not use at that moment. After fork the child has all words, and those of the parent's other
 * threads keep naming their objects there. Objects that another thread was freeing stay as well.
 * The end of a thread drops no word.
 */
#ifndef PAWL_HAZARD_H
#define PAWL_HAZARD_H

#include <pawl/rcu_pointer.h>

/* Words that a process can have at once. */
#define PAWL_HAZARD_WORDS ((uint32_t)(PAWL_HAZARD_LINES_ * PAWL_HAZARD_IN_LINE_))
/* Where retired objects wait, and how many of them in each until a thread frees. */
#define PAWL_HAZARD_SHARDS 16
#define PAWL_HAZARD_BATCH 128

#if PAWL_HOOKS
#define PAWL_HAZARD_LINES_ 4
#define PAWL_HAZARD_IN_LINE_ 2
#else
#define PAWL_HAZARD_LINES_ PAWL_THREAD_LINES
#define PAWL_HAZARD_IN_LINE_ (PAWL_CACHE_LINE / sizeof(ipawl_address_))
#endif
#define PAWL_HAZARD_NONE_ 1

typedef struct pawl_hazard {
    ipawl_address_ object;
} pawl_hazard;

/* Called once with the object's address, on the thread of a call that retires or cleans up. It may
 * retire, protect and make; it must return. */
typedef void pawl_hazard_function(void *object);

typedef struct pawl_hazard_head {
    struct pawl_hazard_head *next;
    void *object;
    pawl_hazard_function *function;
#if PAWL_CHECKED
    ipawl_address_ retired; /* a mark until the function is called */
#endif
} pawl_hazard_head;

PAWL_C_BEGIN

/* A hazard pointer that names nothing, or NULL: there are PAWL_HAZARD_WORDS, or no memory. Any
 * thread may use and drop it, one at a time. Never waits. */
PAWL_API pawl_hazard *PAWL_SYMBOL_(pawl_hazard_make)(void);

/* Has function(object) called when no hazard pointer names the object, which was unlinked before.
 * The head is a member of the object and may have any contents. The function sees the
 * caller's stores. This call may run functions of other objects: hold no lock that they take. It
 * never waits for a reader. Not in signal handlers. */
PAWL_API void PAWL_SYMBOL_SEEN_(pawl_hazard_retire)(pawl_hazard_head *head, void *object,
                                                    pawl_hazard_function *function);

/* Calls the functions of all retired objects that no hazard pointer names, and of those that these
 * functions retire. It does not wait for what other threads free at that moment. In such a function
 * it does nothing. A program calls it where its last objects must go: they stay otherwise. */
PAWL_API void PAWL_SYMBOL_SEEN_(pawl_hazard_clean_up)(void);

#if PAWL_CHECKED
PAWL_API void PAWL_SYMBOL_(pawl_hazard_must_be_made)(const pawl_hazard *h);
#define PAWL_HAZARD_MUST_BE_MADE_(h) PAWL_SYMBOL_(pawl_hazard_must_be_made)(h)
#else
#define PAWL_HAZARD_MUST_BE_MADE_(h) ((void)(h))
#endif

PAWL_C_END

#define pawl_hazard_make PAWL_SYMBOL_(pawl_hazard_make)
#define pawl_hazard_retire PAWL_SYMBOL_SEEN_(pawl_hazard_retire)
#define pawl_hazard_clean_up PAWL_SYMBOL_SEEN_(pawl_hazard_clean_up)

#if PAWL_TOLD_ && !PAWL_HOOKS
#include <pawl/detail/told.h>
#define PAWL_HAZARD_TOLD_(h) ipawl_told_give_(h)
#else
#define PAWL_HAZARD_TOLD_(h) ((void)(h))
#endif

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_hazard_store_(pawl_hazard *h, ipawl_address_ value)
{
    PAWL_HAZARD_MUST_BE_MADE_(h);
    PAWL_HAZARD_TOLD_(h);
    /* [HAZARD_LEAVE] release: our reads of the last object complete before it is found unnamed. */
    PAWL_ADDRESS_(pawl_store_release)(&h->object, value, PAWL_HAZARD_LEAVE);
}

/* From here on the hazard pointer names that object, or none (NULL), and no longer the last one. It
 * protects the object if this comes before its retirement: to hand a protected object on, hand the
 * hazard pointer on. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_hazard_reset(pawl_hazard *h, const void *object)
{
    ipawl_hazard_store_(h, object == NULL ? PAWL_HAZARD_NONE_ : (ipawl_address_)(uintptr_t)object);
}

/* The hazard pointer names nothing any more, and is gone. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_hazard_drop(pawl_hazard *h)
{
    ipawl_hazard_store_(h, 0);
}

/* Names the object; it is protected if this returns its address, which the pointer has then. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ ipawl_address_ ipawl_hazard_try_(pawl_hazard *h,
                                                                 ipawl_address_ object,
                                                                 const void *place)
{
    pawl_hazard_reset(h, (const void *)(uintptr_t)object);
    /* [HAZARD_ENTER] light: the word is written before we look at the pointer again. */
    pawl_fence_light(PAWL_HAZARD_ENTER);
    return ipawl_rcu_load_(place);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ ipawl_address_ ipawl_hazard_protect_(pawl_hazard *h,
                                                                     const void *place)
{
    ipawl_address_ object = ipawl_rcu_load_protected_(place);
    for (;;) {
        const ipawl_address_ found = ipawl_hazard_try_(h, object, place);
        if (PAWL_LIKELY(found == object))
            return object;
        object = found;
    }
}

PAWL_INLINE_END

/* pawl_hazard_protect(h, place): names the object that the pointer at `place` points to, and
 * returns it; NULL: the pointer was NULL. Acquire: the object is seen as it was published. Begins
 * anew each time that the pointer has changed. */
#ifdef __cplusplus
PAWL_INLINE_BEGIN
template <class T>
PAWL_ALWAYS_INLINE_ inline T *ipawl_hazard_protected_(pawl_hazard *h, T *const *place)
{
    return (T *)(uintptr_t)ipawl_hazard_protect_(h, place);
}
PAWL_INLINE_END
#define pawl_hazard_protect(h, place) ipawl_hazard_protected_(h, place)
#else
#define pawl_hazard_protect(h, place)                                                              \
    ((PAWL_RCU_TYPE_(*(place)))(uintptr_t)ipawl_hazard_protect_(h, place))
#endif

#endif
