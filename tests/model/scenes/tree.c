/* SPDX-License-Identifier: MIT */
/* Trees: a look-up without a lock finds what is in all the time, whatever parts move, and whole;
 * and it touches nothing that has been freed. */
#include <pawl/tree.h>

#include "scenes.h"

enum { ONE, FOUR, FIVE, SIX, THINGS };

struct stage {
    pawl_tree tree;
    pawl_tree_node nodes[THINGS];
};
#define STAGE M_SCENE(struct stage)
#define TREE (&STAGE->tree)
#define WHOLE 7

static const uint64_t numbers[THINGS] = {1, 4, 5, 6};

static void put_as(unsigned i, unsigned key)
{
    m_write(i, WHOLE);
    M_STEP(pawl_tree_insert(TREE, &STAGE->nodes[i], pawl_tree_number(numbers[key] << 61)));
}

static void put(unsigned i)
{
    put_as(i, i);
}

/* The root is the part of 6, below it on the right is that of 4, and below this on the left that of
 * 5. */
static void three(void)
{
    m_register_threads(2);
    put(ONE);
    put(SIX);
    put(FOUR);
}

static void four(void)
{
    three();
    put(FIVE);
}

/* 4 has no part of its own: it is found by those of others alone. */
static void two(void)
{
    m_register_threads(2);
    put(FOUR);
    put(ONE);
}

/* The part of 4 moves into the root, and 6 is freed. A look-up of 5 that stands in the part and
 * mixes the places would end at 1 or 6. */
static void removes_six(void)
{
    M_DO(bool was_in = pawl_tree_remove(TREE, &STAGE->nodes[SIX]));
    m_demand(was_in, M_RESTORED, "not in the tree");
    M_STEP(pawl_rcu_synchronize());
    m_write(SIX, 0);
    m_unmap(1, &STAGE->nodes[SIX], sizeof STAGE->nodes[SIX]);
}

static void puts_five(void)
{
    put(FIVE);
}

/* A second node of that key, whose part comes above the leaf of the first one. */
static void puts_one_again(void)
{
    put_as(FIVE, ONE);
}

static pawl_tree_node *get(unsigned i)
{
    M_DO(pawl_tree_node *n = pawl_tree_get(TREE, pawl_tree_number(numbers[i] << 61)));
    m_demand(n == NULL || n == &STAGE->nodes[i], M_VISIBILITY, "another node is found");
    if (n != NULL)
        m_demand(m_read(i) == WHOLE, M_VISIBILITY, "the node is not whole");
    return n;
}

static void gets_what_stays(unsigned i)
{
    M_STEP(pawl_rcu_read_lock());
    m_demand(get(i) != NULL, M_VISIBILITY, "a node is not found that is in all the time");
    M_STEP(pawl_rcu_read_unlock());
}

static void gets_five(void)
{
    gets_what_stays(FIVE);
}

static void gets_one(void)
{
    gets_what_stays(ONE);
}

static void gets_six(void)
{
    M_STEP(pawl_rcu_read_lock());
    (void)get(SIX);
    M_STEP(pawl_rcu_read_unlock());
}

static void gets_five_or_not(void)
{
    M_STEP(pawl_rcu_read_lock());
    (void)get(FIVE);
    M_STEP(pawl_rcu_read_unlock());
}

static void six_is_out(void)
{
    m_demand(pawl_tree_find(TREE, pawl_tree_number(numbers[SIX] << 61)) == NULL, M_RESTORED,
             "what was removed is found");
    m_demand(pawl_tree_find(TREE, pawl_tree_number(numbers[FIVE] << 61)) == &STAGE->nodes[FIVE],
             M_RESTORED, "what was left is not found");
}

static void five_is_in(void)
{
    m_demand(get(FIVE) != NULL, M_RESTORED, "what was inserted is not found");
    m_demand(get(FOUR) != NULL, M_RESTORED, "what was there is not found");
}

extern const struct m_scene m_tree_scenes[];
/* clang-format off */
const struct m_scene m_tree_scenes[] = {
    {"tree_get_beside_a_move", four, {removes_six, gets_five}, six_is_out, "preempt=2"},
    {"tree_get_of_what_is_removed", four, {removes_six, gets_six}, six_is_out, "preempt=1"},
    {"tree_get_beside_insert", two, {puts_five, gets_five_or_not}, five_is_in, "preempt=3"},
    {"tree_get_beside_its_key_again", three, {puts_one_again, gets_one}, NULL, "preempt=3"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
