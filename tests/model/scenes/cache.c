/* SPDX-License-Identifier: MIT */
/* Caches: a hit and a reference find an entry whole or not at all, whatever leaves the cache; what
 * is released is touched by nobody; and of two misses one loads. */
#include <pawl/cache.h>
#include <pawl/detail/hook.h>

#include "scenes.h"

enum { OLD, NEW, THINGS };

struct stage {
    pawl_cache cache;
    pawl_cache_entry entries[THINGS];
    pawl_cache_entry *index[1];
    uint32_t loads;
    pawl_rcu_head other;
};
#define STAGE M_SCENE(struct stage)
#define CACHE (&STAGE->cache)
#define WHOLE 7

/* Whoever looks into it now, or has done so and comes not before us, races with this. */
static void forget(pawl_rcu_head *head)
{
    m_write((uint32_t)((pawl_cache_entry *)(void *)head - STAGE->entries), 0);
}

static void make(unsigned i)
{
    pawl_cache_entry_init(&STAGE->entries[i], pawl_cache_number(0), 1, 0);
    m_renew(&STAGE->entries[i], sizeof STAGE->entries[i]);
    m_write(i, WHOLE);
}

static void use(pawl_cache_entry *e)
{
    m_demand(m_read((uint32_t)(e - STAGE->entries)) == WHOLE, M_VISIBILITY,
             "the entry is not whole");
}

static void insert(unsigned i)
{
    make(i);
    M_STEP(pawl_cache_insert(CACHE, &STAGE->entries[i]));
}

static void empty(void)
{
    const pawl_cache_options options = {1, 1, 0, forget, STAGE->index};
    m_register_threads(2);
    m_refuse_threads(); /* callbacks are called by who waits for them */
    (void)pawl_cache_init(CACHE, &options);
}

static void one(void)
{
    empty();
    insert(OLD);
}

static void takes_out(void)
{
    M_STEP(pawl_cache_remove(CACHE, pawl_cache_number(0)));
}

static void removes(void)
{
    takes_out();
    M_STEP(pawl_rcu_barrier());
}

/* The old one is replaced, which an eviction does in the same way. */
static void replaces(void)
{
    insert(NEW);
    M_STEP(pawl_rcu_barrier());
}

static void gets(void)
{
    M_STEP(pawl_rcu_read_lock());
    M_DO(pawl_cache_entry *e = pawl_cache_get(CACHE, pawl_cache_number(0)));
    if (e != NULL)
        use(e);
    M_STEP(pawl_rcu_read_unlock());
}

static pawl_cache_entry *hold(void)
{
    M_DO(pawl_cache_entry *e = pawl_cache_hold(CACHE, pawl_cache_number(0)));
    return e;
}

static void holds(void)
{
    pawl_cache_entry *const e = hold();
    if (e == NULL)
        return;
    use(e);
    M_STEP(pawl_cache_drop(CACHE, e));
    M_STEP(pawl_rcu_barrier());
}

static void nothing(pawl_rcu_head *head)
{
    (void)head;
}

/* A thread that has called before has credit: no fence is between its drop and its queueing. */
static void calls_and_holds(void)
{
    M_STEP(pawl_rcu_call(&STAGE->other, nothing, 1));
    holds();
}

static void holds_what_is_replaced(void)
{
    pawl_cache_entry *const e = hold();
    m_demand(e != NULL, M_VISIBILITY, "a key is not found that is in all the time");
    use(e);
    M_STEP(pawl_cache_drop(CACHE, e));
    M_STEP(pawl_rcu_barrier());
}

static pawl_cache_entry *makes_new(pawl_cache_key key, void *unused)
{
    (void)key, (void)unused;
    m_demand(pawl_fetch_add_relaxed32(&STAGE->loads, 1) == 0, M_EXCLUSION, "two threads load");
    make(NEW);
    return &STAGE->entries[NEW];
}

static void loads(void)
{
    M_DO(pawl_cache_entry *e = pawl_cache_load(CACHE, pawl_cache_number(0), makes_new, NULL));
    m_demand(e == &STAGE->entries[NEW], M_RESTORED, "the load gave nothing");
    use(e);
    M_STEP(pawl_cache_drop(CACHE, e));
}

static void nothing_is_left(void)
{
    pawl_cache_statistics all;
    pawl_cache_read(CACHE, &all);
    m_demand(all.entries == 0 && m_read(OLD) == 0, M_RESTORED, "the entry was not released");
}

static void the_new_one_is_in(void)
{
    m_demand(STAGE->index[0] == &STAGE->entries[NEW] &&
                 STAGE->entries[NEW].references == PAWL_CACHE_IN_,
             M_RESTORED, "a reference is left, or the entry is lost");
}

static void the_old_one_is_out(void)
{
    the_new_one_is_in();
    m_demand(m_read(OLD) == 0, M_RESTORED, "the entry was not released");
}

extern const struct m_scene m_cache_scenes[];
/* clang-format off */
const struct m_scene m_cache_scenes[] = {
    {"cache_get_beside_remove", one, {removes, gets}, nothing_is_left, "preempt=2"},
    {"cache_get_beside_replace", one, {replaces, gets}, the_old_one_is_out, "preempt=1"},
    {"cache_hold_beside_remove", one, {removes, holds}, nothing_is_left, "preempt=1"},
    {"cache_drop_beside_remove", one, {calls_and_holds, takes_out}, NULL, "preempt=1"},
    {"cache_hold_beside_replace", one, {replaces, holds_what_is_replaced}, the_old_one_is_out,
     "preempt=1"},
    {"cache_two_loads", empty, {loads, loads}, the_new_one_is_in, "preempt=2"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
