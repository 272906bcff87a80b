/* SPDX-License-Identifier: MIT */
/* Caches: the index, eviction, changes, begin and end. */
#include "cache_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define CACHE_CLEARS 64 /* entries that clear takes out under one hold */

#if PAWL_CHECKED
/* The second place: of the call that brought the entry where it is. */
PAWL_INTERNAL void cache_misuse(const char *what, const pawl_cache_entry *e, const char *call,
                                const void *site)
{
    char text[256], place[160];
    ipawl_report_name_((ipawl_address_)(uintptr_t)e->site, place, sizeof place);
    (void)snprintf(text, sizeof text, e->site == NULL ? "%s" : "%s, last used at %s", what, place);
    ipawl_report_misuse_(text, "pawl_cache_entry", e, call, site);
}
#endif

/* ---- Keys ------------------------------------------------------------------------------------ */

static uint64_t cache_mix(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

PAWL_INTERNAL uint32_t cache_hash(const pawl_cache *c, const pawl_cache_key *key)
{
    const char *at;
    uint64_t h = c->seed, word = key->value.number;
    uint32_t left = key->length;
    if (left == PAWL_CACHE_NUMBER_)
        return (uint32_t)cache_mix(h ^ word);
    h ^= left;
    for (at = (const char *)key->value.bytes; left >= 8; left -= 8) {
        memcpy(&word, at, sizeof word);
        h = cache_mix(h ^ word);
        at += sizeof word;
    }
    word = 0;
    if (left != 0)
        memcpy(&word, at, left);
    return (uint32_t)cache_mix(h ^ word);
}

/* ---- Ends of entries ------------------------------------------------------------------------- */

/* False: no room for the callback; it waits for the next change. */
static bool cache_retire(pawl_cache *c, pawl_cache_entry *e, uint64_t bytes)
{
    if (pawl_rcu_call(&e->place.out, c->release, (size_t)bytes) == 0)
        return true;
    pawl_lock64_take_write(&c->lock);
    e->place.in.older = c->late;
    c->late = e;
    pawl_lock64_drop_write(&c->lock);
    return false;
}

PAWL_INTERNAL void cache_give_up(pawl_cache *c, pawl_cache_entry *e, uint32_t references)
{
    uint64_t bytes;
    /* [CACHE_DROP] acq_rel: what holders of references did comes before the release, and what
     * cache_leave read in `place` before the callback's head is written there. */
    if (pawl_fetch_sub_acq_rel32(&e->references, references, PAWL_CACHE_DROP) != references)
        return;
    bytes = e->place.in.cost;
    (void)cache_retire(c, e, bytes < 65536 ? bytes : 65536);
}

/* Leaves the lock, and gives up what was taken out under it, and what came too late before. */
PAWL_INTERNAL void cache_leave(pawl_cache *c, pawl_cache_entry *out)
{
    bool late = c->late != NULL;
    pawl_cache_entry *e;
    pawl_lock64_drop_write(&c->lock);
    while (out != NULL) {
        e = out;
        PLAIN_READ(e->place); /* the last to drop it writes the head of a callback there */
        out = e->place.in.older;
        cache_give_up(c, e, PAWL_CACHE_IN_);
    }
    while (late) {
        pawl_lock64_take_write(&c->lock);
        e = c->late;
        if (e != NULL)
            c->late = e->place.in.older;
        pawl_lock64_drop_write(&c->lock);
        late = e != NULL && cache_retire(c, e, 0);
    }
}

/* ---- Under the lock -------------------------------------------------------------------------- */

PAWL_INTERNAL pawl_cache_entry *cache_find(const pawl_cache *c, const pawl_cache_key *key,
                                           uint32_t hash)
{
    pawl_cache_entry *e = pawl_rcu_dereference_protected(c->index[hash & c->mask]);
    while (e != NULL && !cache_is(e, key, hash))
        e = pawl_rcu_dereference_protected(e->next);
    return e;
}

/* From the index and the queue to the list `out`. Readers that stand on it find the way on. */
static void cache_take_out(pawl_cache *c, pawl_cache_entry *e, pawl_cache_entry **out)
{
    pawl_cache_entry **link = &c->index[e->hash & c->mask];
    pawl_cache_entry *const newer = e->place.in.newer, *const older = e->place.in.older;
    while (pawl_rcu_dereference_protected(*link) != e)
        link = &pawl_rcu_dereference_protected(*link)->next;
    pawl_rcu_assign_pointer(*link, pawl_rcu_dereference_protected(e->next));
    *(newer != NULL ? &newer->place.in.older : &c->newest) = older;
    *(older != NULL ? &older->place.in.newer : &c->oldest) = newer;
    if (c->hand == e)
        c->hand = newer;
    c->counts.entries--;
    c->counts.cost -= e->place.in.cost;
    e->place.in.older = *out;
    *out = e;
}

/* SIEVE: the first from the hand on that was not used since it last passed, or whose time is
 * over. */
static pawl_cache_entry *cache_victim(pawl_cache *c)
{
    pawl_cache_entry *e = c->hand;
    unsigned steps;
    for (steps = 0;; steps++) {
        if (e == NULL)
            e = c->oldest;
        if (steps == PAWL_CACHE_STEPS || pawl_load_relaxed32(&e->used) == 0 || cache_ended(e))
            break;
        pawl_store_relaxed32(&e->used, 0);
        e = e->place.in.newer;
    }
    c->hand = e->place.in.newer;
    return e;
}

/* The entry has the cache's reference; the caller has seen that it fits. */
PAWL_INTERNAL void cache_put(pawl_cache *c, pawl_cache_entry *e, pawl_cache_entry **out)
{
    const pawl_cache_key key = {e->value, e->length};
    pawl_cache_entry **const link = &c->index[e->hash & c->mask];
    pawl_cache_entry *const old = cache_find(c, &key, e->hash);
    const uint64_t life = e->ends == 0 ? c->life : e->ends;
    const uint64_t now = life == PAWL_CACHE_FOREVER ? 0 : pawl_now();
    PLAIN_WRITE(e->length);
    e->ends = life < PAWL_CACHE_FOREVER - now ? now + life : PAWL_CACHE_FOREVER;
    e->used = 0;
    pawl_rcu_assign_pointer(e->next, pawl_rcu_dereference_protected(*link));
    pawl_rcu_assign_pointer(*link, e);
    if (old != NULL)
        cache_take_out(c, old, out);
    for (; c->counts.cost > c->limit - e->place.in.cost; c->counts.evictions++)
        cache_take_out(c, cache_victim(c), out);
    e->place.in.newer = NULL;
    e->place.in.older = c->newest;
    *(c->newest != NULL ? &c->newest->place.in.newer : &c->oldest) = e;
    c->newest = e;
    c->counts.entries++;
    c->counts.insertions++;
    c->counts.cost += e->place.in.cost;
}

/* Where the load of that key hangs, or would. */
PAWL_INTERNAL struct pawl_cache_flight **cache_load_of(pawl_cache *c, const pawl_cache_key *key,
                                                       uint32_t hash)
{
    struct pawl_cache_flight **link = &c->loads;
    while (*link != NULL && ((*link)->hash != hash || (*link)->key->length != key->length ||
                             !cache_equal(&(*link)->key->value, &key->value, key->length)))
        link = &(*link)->next;
    return link;
}

/* A load that has begun is older than a change of its key (I3). */
static void cache_forget_load(pawl_cache *c, const pawl_cache_key *key, uint32_t hash)
{
    struct pawl_cache_flight **const link = cache_load_of(c, key, hash);
    if (*link != NULL)
        *link = (*link)->next;
}

/* ---- Changes --------------------------------------------------------------------------------- */

bool pawl_cache_insert(pawl_cache *c, pawl_cache_entry *e)
{
    const pawl_cache_key key = {e->value, e->length};
    const bool is_free = pawl_load_relaxed32(&e->references) == 0;
    pawl_cache_entry *out = NULL;
    if (!is_free)
        CACHE_MISUSE("inserted twice", e, "pawl_cache_insert");
    if (!is_free || e->place.in.cost > c->limit)
        return false;
    e->hash = cache_hash(c, &key);
    CACHE_SITE(e);
    pawl_store_relaxed32(&e->references, PAWL_CACHE_IN_);
    cache_enter(c);
    cache_forget_load(c, &key, e->hash);
    cache_put(c, e, &out);
    cache_leave(c, out);
    return true;
}

bool pawl_cache_remove(pawl_cache *c, pawl_cache_key key)
{
    const uint32_t hash = cache_hash(c, &key);
    pawl_cache_entry *e, *out = NULL;
    cache_enter(c);
    cache_forget_load(c, &key, hash);
    e = cache_find(c, &key, hash);
    if (e != NULL)
        cache_take_out(c, e, &out);
    cache_leave(c, out);
    return e != NULL;
}

void pawl_cache_clear(pawl_cache *c)
{
    uint64_t left = UINT64_MAX;
    while (left != 0) {
        pawl_cache_entry *out = NULL;
        unsigned i;
        cache_enter(c);
        c->loads = NULL;
        if (left > c->counts.entries)
            left = c->counts.entries;
        for (i = 0; i < CACHE_CLEARS && left != 0; i++, left--)
            cache_take_out(c, c->oldest, &out);
        cache_leave(c, out);
    }
}

void pawl_cache_read(pawl_cache *c, pawl_cache_statistics *statistics)
{
    pawl_lock64_take_read(&c->lock);
    *statistics = c->counts;
    pawl_lock64_drop_read(&c->lock);
    statistics->hits = (uint64_t)pawl_counter_read(&c->hits);
    statistics->misses = (uint64_t)pawl_counter_read(&c->misses);
}

/* ---- Begin and end --------------------------------------------------------------------------- */

int pawl_cache_init(pawl_cache *c, const pawl_cache_options *options)
{
    const uint64_t most = options->limit < PAWL_CACHE_ENTRIES ? options->limit : PAWL_CACHE_ENTRIES;
    const uint32_t places = pawl_cache_places(options->entries != 0 ? options->entries : most);
    if (options->limit == 0 || options->release == NULL ||
        (options->index != NULL && options->entries == 0))
        return EINVAL;
    memset(c, 0, sizeof *c);
    c->own_index = options->index == NULL;
    c->index = options->index;
    if (c->own_index != 0)
        c->index = (pawl_cache_entry **)calloc(places, sizeof(pawl_cache_entry *));
    if (c->index == NULL)
        return ENOMEM;
    c->mask = places - 1;
    c->seed = cache_mix(pawl_now() ^ (uintptr_t)c);
    c->release = options->release;
    c->limit = options->limit;
    c->life = options->life == 0 ? PAWL_CACHE_FOREVER : options->life;
    c->forks = cache_forks();
    return 0;
}

void pawl_cache_entry_destroy(pawl_cache_entry *e)
{
    const uint32_t references = pawl_load_relaxed32(&e->references);
    if ((references & PAWL_CACHE_IN_) != 0)
        CACHE_MISUSE("destroyed in the cache", e, "pawl_cache_entry_destroy");
    else if (references != 0)
        CACHE_MISUSE("destroyed while referenced", e, "pawl_cache_entry_destroy");
}

void pawl_cache_destroy(pawl_cache *c)
{
    pawl_cache_entry *e;
    if (c->loads != NULL && c->forks == cache_forks())
        MISUSE("destroyed beside a load", "pawl_cache", c, "pawl_cache_destroy");
    for (e = c->oldest; e != NULL; e = e->place.in.newer)
        if (pawl_load_relaxed32(&e->references) != PAWL_CACHE_IN_)
            CACHE_MISUSE("destroyed while referenced", e, "pawl_cache_destroy");
    do
        pawl_cache_clear(c);
    while (pawl_rcu_barrier() == 0 && c->late != NULL);
    if (c->own_index != 0)
        free(c->index);
    (void)pawl_counter_destroy(&c->hits);
    (void)pawl_counter_destroy(&c->misses);
    pawl_lock64_destroy(&c->lock);
}
