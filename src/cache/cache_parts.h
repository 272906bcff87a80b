/* SPDX-License-Identifier: MIT */
/* Shared by the two sources of caches. */
#ifndef PAWL_CACHE_PARTS_H
#define PAWL_CACHE_PARTS_H

#include <pawl/cache.h>

#include "../base/base.h"
#include "../check/check.h"

/* A load, or a miss that waits for one. On the stack of its caller. */
struct pawl_cache_flight {
    struct pawl_cache_flight *next;
    struct pawl_cache_flight *waiters;
    const pawl_cache_key *key;
    pawl_cache_entry *result;
    uint32_t hash;
    uint32_t forks; /* of the process, when it began */
    uint32_t done;
    const void *thread; /* checking variant; else NULL */
};

#if PAWL_CHECKED
#define CACHE_SITE(e) ((e)->site = __builtin_return_address(0))
#define CACHE_MISUSE(what, e, call) cache_misuse(what, e, call, __builtin_return_address(0))
#define CACHE_THREAD() ((const void *)ipawl_thread_line_())

PAWL_INTERNAL void cache_misuse(const char *what, const pawl_cache_entry *e, const char *call,
                                const void *site);
#else
#define CACHE_SITE(e) ((void)(e))
#define CACHE_MISUSE(what, e, call) ((void)(e))
#define CACHE_THREAD() NULL
#endif

static inline bool cache_equal(const union pawl_cache_value *a, const union pawl_cache_value *b,
                               uint32_t length)
{
    if (length == PAWL_CACHE_NUMBER_)
        return a->number == b->number;
    return length == 0 || memcmp(a->bytes, b->bytes, length) == 0;
}

static inline bool cache_ended(const pawl_cache_entry *e)
{
    return e->ends != PAWL_CACHE_FOREVER && pawl_now() >= e->ends;
}

/* ---- The lock -------------------------------------------------------------------------------- */

static inline uint32_t cache_forks(void)
{
    process_sees_forks();
    return pawl_load_relaxed32(&process_here()->forks);
}

/* In the child of a fork the loads of the list have no threads, and the list may be anything. */
static inline void cache_enter(pawl_cache *c)
{
    const uint32_t forks = cache_forks();
    pawl_lock64_take_write(&c->lock);
    if (c->forks != forks) {
        c->forks = forks;
        c->loads = NULL;
    }
}

PAWL_INTERNAL void cache_leave(pawl_cache *c, pawl_cache_entry *out);

/* ---- Under the lock -------------------------------------------------------------------------- */

PAWL_INTERNAL pawl_cache_entry *cache_find(const pawl_cache *c, const pawl_cache_key *key,
                                           uint32_t hash);
PAWL_INTERNAL void cache_put(pawl_cache *c, pawl_cache_entry *e, pawl_cache_entry **out);
PAWL_INTERNAL struct pawl_cache_flight **cache_load_of(pawl_cache *c, const pawl_cache_key *key,
                                                       uint32_t hash);

/* ---- Without it ------------------------------------------------------------------------------ */

PAWL_INTERNAL uint32_t cache_hash(const pawl_cache *c, const pawl_cache_key *key);
PAWL_INTERNAL void cache_give_up(pawl_cache *c, pawl_cache_entry *e, uint32_t references);

static inline bool cache_is(const pawl_cache_entry *e, const pawl_cache_key *key, uint32_t hash)
{
    return e->hash == hash && e->length == key->length &&
           cache_equal(&e->value, &key->value, e->length);
}

#endif
