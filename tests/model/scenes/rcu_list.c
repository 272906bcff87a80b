/* SPDX-License-Identifier: MIT */
/* Pointers that RCU's readers follow, and lists of them: what is found is ready; who walks sees
 * once what was in all the time, and ends. */
#include <pawl/rcu_list.h>
#include <pawl/spin.h>

#include "scenes.h"

#include <stddef.h>

#define ITEMS 4

struct item {
    uint32_t cell;
    pawl_list link;
    pawl_hlist_node node;
};

struct stage {
    struct item items[ITEMS];
    pawl_list list;
    pawl_hlist chain;
    struct item *shown;
    pawl_spin32 writers;
};
#define STAGE M_SCENE(struct stage)
#define ITEM(number) (&STAGE->items[number])

/* Item n is ready when its cell holds n + 1. */
static void make(uint32_t number)
{
    ITEM(number)->cell = number;
    m_write(number, number + 1);
}

static void must_be_ready(const struct item *found)
{
    m_demand(m_read(found->cell) == found->cell + 1, M_VISIBILITY, "an item not ready, or gone");
}

/* ---- Pointers -------------------------------------------------------------------------------- */

static void nothing_is_shown(void)
{
    m_register_threads(3);
}

/* Puts an item in the place of another one, and owns that. */
static void exchanges(uint32_t number)
{
    make(number);
    M_DO(const struct item *found = pawl_rcu_xchg_pointer(&STAGE->shown, ITEM(number)));
    if (found != NULL) {
        must_be_ready(found);
        m_write(found->cell, 0);
    }
}

/* One of the two is shown in the end, and is nobody's yet. */
static void one_is_shown(void)
{
    m_demand(STAGE->shown != NULL, M_VISIBILITY, "nothing is shown");
    must_be_ready(STAGE->shown);
}

static void exchanges_first(void)
{
    exchanges(0);
}

static void exchanges_second(void)
{
    exchanges(1);
}

/* The same; where another one was faster, what it has put there is replaced. */
static void compares(uint32_t number)
{
    struct item *found = NULL, *old;
    make(number);
    m_begin("pawl_rcu_cmpxchg_pointer");
    do {
        old = found;
        found = pawl_rcu_cmpxchg_pointer(&STAGE->shown, old, ITEM(number));
    } while (found != old);
    m_end();
    if (old != NULL) {
        must_be_ready(old);
        m_write(old->cell, 0);
    }
}

static void compares_first(void)
{
    compares(0);
}

static void compares_second(void)
{
    compares(1);
}

/* Knows without an order which item is there. */
static void compares_with_what_it_saw(void)
{
    make(1);
    m_begin("pawl_rcu_cmpxchg_pointer");
    struct item *seen = pawl_rcu_dereference_protected(STAGE->shown);
    if (pawl_rcu_cmpxchg_pointer(&STAGE->shown, seen, ITEM(1)) == seen && seen != NULL)
        must_be_ready(seen);
    m_end();
}

static void follows(void)
{
    M_STEP(pawl_rcu_read_lock());
    M_DO(const struct item *found = pawl_rcu_dereference(STAGE->shown));
    if (found != NULL)
        (void)m_read(found->cell);
    M_STEP(pawl_rcu_read_unlock());
}

static void puts_first_if_none(void)
{
    make(0);
    M_STEP(pawl_rcu_cmpxchg_pointer(&STAGE->shown, (struct item *)NULL, ITEM(0)));
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Items 0, 1 and 2 are in. */
static void three_in_a_list(void)
{
    m_register_threads(2);
    pawl_list_init(&STAGE->list);
    for (uint32_t i = 0; i < 3; i++) {
        make(i);
        pawl_list_add_tail_rcu(&ITEM(i)->link, &STAGE->list);
        pawl_hlist_add_rcu(&ITEM(2 - i)->node, &STAGE->chain);
    }
}

/* Items 0 and 2 stay in; 1 or 3 stands where the writer is at work. */
static void judge(const uint32_t *seen, uint32_t most_between)
{
    m_demand(seen[0] == 1 && seen[2] == 1, M_VISIBILITY,
             "an item that was in was not seen, or twice");
    m_demand(seen[1] + seen[3] <= most_between, M_VISIBILITY, "an item was seen twice");
}

static void walk_list(uint32_t *seen)
{
    struct item *at;
    M_STEP(pawl_rcu_read_lock());
    m_begin("pawl_list_for_each_rcu");
    pawl_list_for_each_rcu(at, &STAGE->list, link) {
        must_be_ready(at);
        seen[at->cell]++;
    }
    m_end();
    M_STEP(pawl_rcu_read_unlock());
}

static void walks_list(void)
{
    uint32_t seen[ITEMS] = {0};
    walk_list(seen);
    judge(seen, 2);
}

static void walks_chain(void)
{
    uint32_t seen[ITEMS] = {0};
    struct item *at;
    M_STEP(pawl_rcu_read_lock());
    m_begin("pawl_hlist_for_each_rcu");
    pawl_hlist_for_each_rcu(at, &STAGE->chain, node) {
        must_be_ready(at);
        seen[at->cell]++;
    }
    m_end();
    judge(seen, 2);
    M_STEP(pawl_rcu_read_unlock());
}

static void reclaims(uint32_t number)
{
    M_STEP(pawl_rcu_synchronize());
    m_write(number, 0);
}

static void deletes_from_list(void)
{
    M_STEP(pawl_list_del_rcu(&ITEM(1)->link));
    reclaims(1);
}

static void replaces_in_list(void)
{
    make(3);
    M_STEP(pawl_list_replace_rcu(&ITEM(1)->link, &ITEM(3)->link));
    reclaims(1);
}

static void adds_to_list(void)
{
    make(3);
    M_STEP(pawl_list_add_rcu(&ITEM(3)->link, &ITEM(0)->link));
    M_STEP(pawl_list_del_rcu(&ITEM(1)->link));
}

static void deletes_from_chain(void)
{
    M_STEP(pawl_hlist_del_rcu(&ITEM(1)->node));
    reclaims(1);
}

static void replaces_in_chain(void)
{
    make(3);
    M_STEP(pawl_hlist_replace_rcu(&ITEM(1)->node, &ITEM(3)->node));
    reclaims(1);
}

static void adds_to_chain(void)
{
    make(3);
    M_STEP(pawl_hlist_add_before_rcu(&ITEM(3)->node, &ITEM(2)->node));
    M_STEP(pawl_hlist_del_rcu(&ITEM(1)->node));
}

/* ---- Two writers, one after the other -------------------------------------------------------- */

/* Items 0 and 1 are in. */
static void two_in_a_list(void)
{
    m_register_threads(3);
    pawl_list_init(&STAGE->list);
    for (uint32_t i = 0; i < 2; i++) {
        make(i);
        pawl_list_add_tail_rcu(&ITEM(i)->link, &STAGE->list);
    }
}

static void adds_at_the_end(void)
{
    make(2);
    M_STEP(pawl_spin32_take_write(&STAGE->writers));
    M_STEP(pawl_list_add_tail_rcu(&ITEM(2)->link, &STAGE->list));
    M_STEP(pawl_spin32_drop_write(&STAGE->writers));
}

/* Readers come to the other writer's item by this one's store. */
static void deletes_before_it(void)
{
    M_STEP(pawl_spin32_take_write(&STAGE->writers));
    M_STEP(pawl_list_del_rcu(&ITEM(1)->link));
    M_STEP(pawl_spin32_drop_write(&STAGE->writers));
}

static void walks_what_there_is(void)
{
    uint32_t seen[ITEMS] = {0};
    walk_list(seen);
    m_demand(seen[0] == 1 && seen[1] <= 1 && seen[2] <= 1, M_VISIBILITY,
             "an item was seen twice, or one that was in was not");
}

extern const struct m_scene m_rcu_list_scenes[];
/* clang-format off */
const struct m_scene m_rcu_list_scenes[] = {
    {"rcu_exchange_beside_an_exchange", nothing_is_shown, {exchanges_first, exchanges_second},
     one_is_shown, ""},
    {"rcu_exchange_beside_a_reader", nothing_is_shown, {follows, exchanges_first}, NULL, ""},
    {"rcu_compare_beside_a_compare", nothing_is_shown, {compares_first, compares_second},
     one_is_shown, ""},
    {"rcu_compare_beside_a_reader", nothing_is_shown, {follows, puts_first_if_none}, NULL, ""},
    {"rcu_compare_with_what_was_seen", nothing_is_shown,
     {compares_with_what_it_saw, puts_first_if_none}, NULL, ""},
    {"rcu_list_walk_beside_delete", three_in_a_list, {walks_list, deletes_from_list}, NULL,
     "preempt=2"},
    {"rcu_list_walk_beside_replace", three_in_a_list, {walks_list, replaces_in_list}, NULL,
     "preempt=2"},
    {"rcu_list_walk_beside_add", three_in_a_list, {walks_list, adds_to_list}, NULL, ""},
    {"rcu_chain_walk_beside_delete", three_in_a_list, {walks_chain, deletes_from_chain}, NULL,
     "preempt=2"},
    {"rcu_chain_walk_beside_replace", three_in_a_list, {walks_chain, replaces_in_chain}, NULL,
     "preempt=2"},
    {"rcu_chain_walk_beside_add", three_in_a_list, {walks_chain, adds_to_chain}, NULL, ""},
    {"rcu_list_walk_beside_two_writers", two_in_a_list,
     {walks_what_there_is, adds_at_the_end, deletes_before_it}, NULL, "preempt=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
