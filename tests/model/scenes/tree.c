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

static void put(unsigned i)
{
    m_write(i, WHOLE);
    m_begin("pawl_tree_insert");
    pawl_tree_insert(TREE, &STAGE->nodes[i], pawl_tree_number(numbers[i] << 61));
    m_end();
}

/* The root is the part of 5, and below it on the right is that of 4. */
static void three(void)
{
    m_register_threads(2);
    put(ONE);
    put(FIVE);
    put(FOUR);
}

/* The part of 4 moves from below the root into the root, and 5 is freed. A look-up of 4 that stands
 * in the part would go to the left now, to 1. */
static void removes_five(void)
{
    bool was_in;
    m_begin("pawl_tree_remove");
    was_in = pawl_tree_remove(TREE, &STAGE->nodes[FIVE]);
    m_end();
    m_demand(was_in, M_RESTORED, "not in the tree");
    M_STEP(pawl_rcu_synchronize());
    m_write(FIVE, 0);
    m_unmap(1, &STAGE->nodes[FIVE], sizeof STAGE->nodes[FIVE]);
}

static void puts_six(void)
{
    put(SIX);
}

static pawl_tree_node *get(unsigned i)
{
    pawl_tree_node *n;
    m_begin("pawl_tree_get");
    n = pawl_tree_get(TREE, pawl_tree_number(numbers[i] << 61));
    m_end();
    m_demand(n == NULL || n == &STAGE->nodes[i], M_VISIBILITY, "another node is found");
    if (n != NULL)
        m_demand(m_read(i) == WHOLE, M_VISIBILITY, "the node is not whole");
    return n;
}

static void gets_four(void)
{
    M_STEP(pawl_rcu_read_lock());
    m_demand(get(FOUR) != NULL, M_VISIBILITY, "a node is not found that is in all the time");
    M_STEP(pawl_rcu_read_unlock());
}

static void gets_five(void)
{
    M_STEP(pawl_rcu_read_lock());
    (void)get(FIVE);
    M_STEP(pawl_rcu_read_unlock());
}

static void gets_six(void)
{
    M_STEP(pawl_rcu_read_lock());
    (void)get(SIX);
    M_STEP(pawl_rcu_read_unlock());
}

static void five_is_out(void)
{
    m_demand(pawl_tree_find(TREE, pawl_tree_number(numbers[FIVE] << 61)) == NULL, M_RESTORED,
             "what was removed is found");
    m_demand(pawl_tree_find(TREE, pawl_tree_number(numbers[FOUR] << 61)) == &STAGE->nodes[FOUR],
             M_RESTORED, "what was left is not found");
}

static void six_is_in(void)
{
    m_demand(get(SIX) != NULL, M_RESTORED, "what was inserted is not found");
}

extern const struct m_scene m_tree_scenes[];
/* clang-format off */
const struct m_scene m_tree_scenes[] = {
    {"tree_get_beside_a_move", three, {removes_five, gets_four}, five_is_out, "preempt=2"},
    {"tree_get_of_what_is_removed", three, {removes_five, gets_five}, five_is_out, "preempt=1"},
    {"tree_get_beside_insert", three, {puts_six, gets_six}, six_is_in, "preempt=3"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
