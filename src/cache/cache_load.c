/* SPDX-License-Identifier: MIT */
/* Caches: hits, references and loads. */
#include "cache_parts.h"

/* ---- Hits ------------------------------------------------------------------------------------ */

pawl_cache_entry *pawl_cache_get(pawl_cache *c, pawl_cache_key key)
{
    const uint32_t hash = cache_hash(c, &key);
    pawl_cache_entry *e = pawl_rcu_dereference(c->index[hash & c->mask]);
    while (e != NULL) {
        PLAIN_READ(e->length);
        if (cache_is(e, &key, hash))
            break;
        e = pawl_rcu_dereference(e->next);
    }
    if (e == NULL || cache_ended(e)) {
        pawl_counter_inc(&c->misses);
        return NULL;
    }
    if (pawl_load_relaxed32(&e->used) == 0)
        pawl_store_relaxed32(&e->used, 1);
    pawl_counter_inc(&c->hits);
    return e;
}

static bool cache_keep(pawl_cache_entry *e)
{
    uint32_t found = pawl_load_relaxed32(&e->references);
    while (found != 0)
        if (pawl_cas_relaxed32(&e->references, &found, found + 1))
            return true;
    return false;
}

bool pawl_cache_keep(pawl_cache_entry *e)
{
    if (!cache_keep(e))
        return false;
    CACHE_SITE(e);
    return true;
}

/* The entry that the cache has now, with a reference. Under the lock. */
static pawl_cache_entry *cache_keep_now(pawl_cache *c, const pawl_cache_key *key, uint32_t hash)
{
    pawl_cache_entry *const e = cache_find(c, key, hash);
    if (e == NULL || cache_ended(e))
        return NULL;
    (void)pawl_fetch_add_relaxed32(&e->references, 1);
    return e;
}

static pawl_cache_entry *cache_hold(pawl_cache *c, const pawl_cache_key *key)
{
    pawl_cache_entry *e;
    bool kept;
    pawl_rcu_read_lock();
    e = pawl_cache_get(c, *key);
    kept = e != NULL && cache_keep(e);
    pawl_rcu_read_unlock();
    if (e != NULL && !kept) { /* it has just been evicted, or replaced */
        cache_enter(c);
        e = cache_keep_now(c, key, cache_hash(c, key));
        cache_leave(c, NULL);
    }
    return e;
}

pawl_cache_entry *pawl_cache_hold(pawl_cache *c, pawl_cache_key key)
{
    pawl_cache_entry *const e = cache_hold(c, &key);
    if (e != NULL)
        CACHE_SITE(e);
    return e;
}

void pawl_cache_drop(pawl_cache *c, pawl_cache_entry *e)
{
    if ((pawl_load_relaxed32(&e->references) & ~PAWL_CACHE_IN_) == 0)
        CACHE_MISUSE("dropped more often than kept", e, "pawl_cache_drop");
    cache_give_up(c, e, 1);
}

/* ---- Loads ----------------------------------------------------------------------------------- */

/* Gives what was loaded to the cache, and to each waiter. Its stack may be gone after the store. */
static void cache_land(pawl_cache *c, struct pawl_cache_flight *mine, pawl_cache_entry *e)
{
    struct pawl_cache_flight *waiter, **link;
    pawl_cache_entry *out = NULL;
    uint32_t references = 1;
    cache_enter(c);
    for (link = &c->loads; *link != NULL && *link != mine; link = &(*link)->next)
        continue;
    if (mine->forks != c->forks)
        mine->waiters = NULL; /* they are in the parent */
    for (waiter = mine->waiters; waiter != NULL; waiter = waiter->next)
        references++;
    c->counts.loads++;
    c->counts.failed += e == NULL;
    c->counts.waited += references - 1;
    if (e != NULL) {
        const bool keeps = *link != NULL && e->place.in.cost <= c->limit;
        e->hash = mine->hash;
        pawl_store_relaxed32(&e->references, references | (keeps ? PAWL_CACHE_IN_ : 0));
        if (keeps)
            cache_put(c, e, &out);
    }
    if (*link != NULL)
        *link = mine->next;
    cache_leave(c, out);
    while ((waiter = mine->waiters) != NULL) {
        mine->waiters = waiter->next;
        waiter->result = e;
        /* [CACHE_LAND] release: the waiter sees the entry and its result. */
        pawl_store_release32(&waiter->done, 1, PAWL_CACHE_LAND);
        (void)pawl_wake_all(&waiter->done);
    }
}

static pawl_cache_entry *cache_wait(const struct pawl_cache_flight *mine)
{
    /* [CACHE_WAIT] acquire: we see the entry that was loaded. */
    while (pawl_load_acquire32(&mine->done, PAWL_CACHE_WAIT) == 0)
        (void)pawl_wait32(&mine->done, 0);
    return mine->result;
}

/* Joins the load of the key, or begins it: then NULL, as where the entry is there now. */
static struct pawl_cache_flight *cache_join(pawl_cache *c, struct pawl_cache_flight *mine,
                                            pawl_cache_entry **there)
{
    struct pawl_cache_flight **link, *other = NULL;
    cache_enter(c);
    *there = cache_keep_now(c, mine->key, mine->hash);
    if (*there == NULL) {
        link = cache_load_of(c, mine->key, mine->hash);
        other = *link;
        mine->forks = c->forks;
        if (other != NULL)
            link = &other->waiters;
        if (other != NULL && mine->thread != NULL && other->thread == mine->thread)
            MISUSE("loads what it is loading", "pawl_cache", c, "pawl_cache_load");
        mine->next = *link;
        *link = mine;
    }
    cache_leave(c, NULL);
    return other;
}

pawl_cache_entry *pawl_cache_load(pawl_cache *c, pawl_cache_key key, pawl_cache_loader *loader,
                                  void *argument)
{
    struct pawl_cache_flight mine;
    pawl_cache_entry *e = cache_hold(c, &key);
    if (e == NULL) {
        memset(&mine, 0, sizeof mine);
        mine.key = &key;
        mine.hash = cache_hash(c, &key);
        mine.thread = CACHE_THREAD();
        if (PAWL_CHECKED && pawl_rcu_read_held())
            MISUSE("loads in a read section", "pawl_cache", c, "pawl_cache_load");
        if (cache_join(c, &mine, &e) != NULL)
            return cache_wait(&mine);
        if (e == NULL) {
            e = loader(key, argument);
            if (e != NULL && pawl_load_relaxed32(&e->references) != 0) {
                CACHE_MISUSE("loaded what is in a cache", e, "pawl_cache_load");
                e = NULL;
            }
            if (e != NULL)
                CACHE_SITE(e);
            cache_land(c, &mine, e);
        }
    }
    if (e != NULL)
        CACHE_SITE(e);
    return e;
}
