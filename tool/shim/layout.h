/* SPDX-License-Identifier: MIT */
/*
 * What a pthread_rwlock_t holds while the shim serves it. A program was compiled with glibc's size
 * (56 bytes, 32 on 32-bit x86) and glibc's static initialisers, so the fields that those set stay
 * where they are:
 *
 *   __shared   not 0: the lock is process-shared. The rest is glibc's, and every call goes there.
 *   __flags    the kind (preference) of pthread_rwlockattr_setkind_np
 *
 * All else starts as zero bytes, and the shim's own fields lie in front of these two. A zero word
 * is an unlocked lock, so a lock needs no allocation and no init call.
 *
 *   lock       the library's lock, 64 bits wide. On 32-bit targets, where a pthread_rwlock_t is
 *              aligned to 4 bytes only, 32 bits.
 *   owner      the thread that writes: an address of its own, 0 for none. Set after the grant and
 *              cleared before the drop, both by that thread. So a thread that finds its own value
 *              here holds the lock for writing. Others learn nothing certain from it.
 *   life       which lock this is, for those who remember it (life.h)
 *   urgent     the real-time writers that wait: their count in the upper half, in the lower half
 *              the highest priority among those that came since the count was 0
 */
#ifndef PAWL_SHIM_LAYOUT_H
#define PAWL_SHIM_LAYOUT_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/lock.h>
#include <pawl/thread.h>

#if UINTPTR_MAX > UINT32_MAX
typedef pawl_lock64 shim_word_lock;
typedef uint64_t shim_word;
#define SHIM_LOCK(verb) pawl_lock64_##verb
#define SHIM_INNER(verb) ipawl_lock64_##verb
#define SHIM_ON_WORD(operation) operation##64
#define SHIM_R PAWL_SPIN64_R
#define SHIM_S PAWL_SPIN64_S
#define SHIM_W PAWL_SPIN64_W
/* More readers get EAGAIN. The word has room for twice as many, because threads that pass the test
 * together all enter. glibc's limit is the same. */
#define SHIM_MOST_READERS (UINT64_C(1) << 29)
#else
typedef pawl_lock32 shim_word_lock;
typedef uint32_t shim_word;
#define SHIM_LOCK(verb) pawl_lock32_##verb
#define SHIM_INNER(verb) ipawl_lock32_##verb
#define SHIM_ON_WORD(operation) operation##32
#define SHIM_R PAWL_SPIN32_R
#define SHIM_S PAWL_SPIN32_S
#define SHIM_W PAWL_SPIN32_W
#define SHIM_MOST_READERS UINT32_C(8191)
#endif

#define SHIM_HELD_TO_WRITE (SHIM_W + SHIM_S + SHIM_R)

/* In `life`: a thread has unlocked a read that it does not remember, perhaps another thread's, and
 * that thread still remembers it. */
#define LIFE_STRANGERS UINT32_C(1)

/* A compiled half of the library. */
#define SHIM_SLOW(verb) PAWL_SYMBOL_(SHIM_LOCK(verb))

struct shim_lock {
    shim_word_lock lock;
    ipawl_address_ owner;
    uint32_t life;
    uint32_t urgent;
} __attribute__((may_alias));

#define SHIM_FIELD_(name) offsetof(pthread_rwlock_t, __data.name)
_Static_assert(sizeof(struct shim_lock) <= SHIM_FIELD_(__shared), "in front of glibc's __shared");
_Static_assert(sizeof(struct shim_lock) <= SHIM_FIELD_(__flags), "in front of glibc's __flags");
_Static_assert(_Alignof(struct shim_lock) <= _Alignof(pthread_rwlock_t), "aligned as glibc's");

static inline struct shim_lock *shim_lock_of(pthread_rwlock_t *rw)
{
    return (struct shim_lock *)(void *)rw;
}

static inline shim_word shim_look(struct shim_lock *l)
{
    return SHIM_ON_WORD(pawl_load_relaxed)(&l->lock.word);
}

static inline bool shim_is_marked(const struct shim_lock *l)
{
    return (pawl_load_relaxed32(&l->life) & LIFE_STRANGERS) != 0;
}

/* ---- The word: W on top, then S, then R ------------------------------------------------------ */

static inline bool shim_no_writer(shim_word w)
{
    return w < SHIM_W;
}

static inline shim_word shim_readers(shim_word w)
{
    return (w & (SHIM_S - SHIM_R)) / SHIM_R;
}

#endif
