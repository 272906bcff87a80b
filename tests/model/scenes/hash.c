/* SPDX-License-Identifier: MIT */
/* Hash tables: a look-up finds what is in all the time, whole, while the array grows, shrinks and
 * is freed; it touches nothing that has been freed. Tables here have two buckets at first, and move
 * two at a time. */
#include <pawl/table.h>

#include "scenes.h"

enum { NODES = 12, ARRAYS = 3 };

struct stage {
    pawl_table table;
    pawl_table_node nodes[NODES];
    pawl_table_node fresh;
    uint32_t arrays; /* handed out */
    uint32_t won;
    struct {
        char bytes[512] __attribute__((aligned(64)));
    } memory[ARRAYS];
};
#define STAGE M_SCENE(struct stage)
#define TABLE (&STAGE->table)
#define WHOLE 7

/* ---- Set-up ---------------------------------------------------------------------------------- */

static void *give(size_t bytes, void *arg)
{
    m_demand(bytes <= sizeof STAGE->memory[0].bytes && STAGE->arrays < ARRAYS, "harness",
             "more memory for arrays than the scene has");
    return STAGE->memory[STAGE->arrays++].bytes;
}

/* Races with all that look into it and do not come before. */
static void take_back(void *memory, size_t bytes, void *arg)
{
    (void)bytes, (void)arg;
    pawl_hook_plain(memory, "an array that is freed", true);
}

/* Node i is in the i-th of sixteen parts of the orders. Node 1 counts for the size, no other. */
static pawl_table_key key_of(unsigned i)
{
    pawl_table_key key = {0, NULL};
    key.order = (uint64_t)i << 60 | (i == 1 ? 0 : 1 << 8);
    return key;
}

/* Of the nodes that are looked for; 0: of the others. */
static uint32_t cell_of(unsigned i)
{
    return i == 2 ? 1 : i == 5 ? 2 : i == 6 ? 3 : 0;
}

static void put(unsigned i)
{
    if (cell_of(i) != 0)
        m_write(cell_of(i), WHOLE);
    M_STEP(pawl_table_insert(TABLE, &STAGE->nodes[i], key_of(i)));
}

static void take(unsigned i)
{
    M_DO(bool was_in = pawl_table_remove(TABLE, &STAGE->nodes[i]));
    m_demand(was_in, M_RESTORED, "not in the table");
}

static void begin(void)
{
    pawl_table_options options = {NULL, give, take_back, NULL};
    m_register_threads(3);
    pawl_table_init(TABLE, &options);
}

/* None of them counts. */
static void has_two_uncounted(void)
{
    begin();
    put(2);
    put(3);
}

/* The next node in bucket 0 begins the growth. */
static void is_full(void)
{
    begin();
    put(1);
    put(2);
}

/* No bucket has followed the growth. */
static void grows(void)
{
    is_full();
    put(5);
}

/* Four buckets; the array of two is still there. */
static void has_grown(void)
{
    grows();
    put(9);
}

/* From four to eight buckets: two threads have two buckets each to move. */
static void grows_again(void)
{
    has_grown();
    put(3); /* frees the array of two, and begins */
}

/* From four to two buckets. */
static void shrinks(void)
{
    has_grown();
    take(1);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static pawl_table_node *get(unsigned i)
{
    M_STEP(pawl_rcu_read_lock());
    M_DO(pawl_table_node *n = pawl_table_get(TABLE, key_of(i)));
    m_demand(n == NULL || n == &STAGE->nodes[i] || n == &STAGE->fresh, M_VISIBILITY,
             "another node is found");
    if (n != NULL && cell_of(i) != 0)
        m_demand(m_read(cell_of(i)) == WHOLE, M_VISIBILITY, "the node is not whole");
    M_STEP(pawl_rcu_read_unlock());
    return n;
}

static void gets_five(void)
{
    m_demand(get(5) != NULL, M_VISIBILITY, "a node is not found that is in all the time");
}

static void gets_two(void)
{
    m_demand(get(2) != NULL, M_VISIBILITY, "a node is not found that is in all the time");
}

static void gets_six(void)
{
    (void)get(6);
}

static void puts_one(void)
{
    put(1);
}

static void puts_six(void)
{
    put(6);
}

static void puts_ten(void)
{
    put(10);
}

static void puts_five(void)
{
    put(5);
}

/* Passes over two nodes, so it looks at the number of all. */
static void takes_one_and_puts_five(void)
{
    if (get(1) == NULL)
        return;
    take(1);
    STAGE->won = 1;
    put(5);
}

static void takes_one(void)
{
    take(1);
}

static void takes_two(void)
{
    take(2);
    M_STEP(pawl_rcu_synchronize());
    m_write(cell_of(2), 0);
    m_unmap(1, &STAGE->nodes[2], sizeof STAGE->nodes[2]);
}

static void gets_two_or_none(void)
{
    (void)get(2);
}

static void replaces_two(void)
{
    M_DO(bool done = pawl_table_replace(TABLE, &STAGE->nodes[2], &STAGE->fresh));
    m_demand(done, M_RESTORED, "not in the table");
}

/* Each change of node 1 takes a step towards freeing the old array. */
static void frees_the_old(void)
{
    put(9);
    take(1);
    M_STEP(pawl_rcu_synchronize());
    put(1);
}

/* In a section, which keeps the node from its second inserter. */
static void race_for_two(void)
{
    M_STEP(pawl_rcu_read_lock());
    M_DO(bool won = pawl_table_remove(TABLE, &STAGE->nodes[2]));
    M_STEP(pawl_rcu_read_unlock());
    (void)pawl_fetch_add_relaxed32(&STAGE->won, won);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void all_are_in(void)
{
    gets_five();
    gets_two();
}

static void level_is(uint32_t level)
{
    m_demand(TABLE->array->level == level, M_RESTORED, "the array has another size");
}

static void six_is_in(void)
{
    all_are_in();
    m_demand(get(6) != NULL, M_RESTORED, "what was inserted is not found");
}

static void ten_is_in(void)
{
    all_are_in();
    m_demand(get(10) != NULL, M_RESTORED, "what was inserted is not found");
}

static void has_four(void)
{
    ten_is_in();
    level_is(2);
}

static void has_eight(void)
{
    six_is_in();
    ten_is_in();
    level_is(3);
}

/* The size changed while the growth began: the arrays differ nevertheless. */
static void level_differs(void)
{
    const struct ipawl_table_array_ *const other = TABLE->array->other;
    m_demand(other == NULL || other->level != TABLE->array->level, M_RESTORED,
             "an array is replaced by one of its own size");
    put(9);
    all_are_in();
    m_demand(get(9) != NULL, M_RESTORED, "what was inserted is not found");
}

/* The removal was counted before the insertion: no more than none. */
static void nothing_grows(void)
{
    m_demand(STAGE->won == 0 || STAGE->arrays == 0, M_RESTORED, "a table grows for no node");
}

static void two_is_out(void)
{
    m_demand(get(2) == NULL, M_RESTORED, "what was removed is found");
    gets_five();
}

static void two_is_fresh(void)
{
    m_demand(get(2) == &STAGE->fresh, M_RESTORED, "what was put in its place is not found");
}

static void one_has_won(void)
{
    m_demand(STAGE->won == 1, M_RESTORED, "not one of two that removed a node was told so");
}

extern const struct m_scene m_hash_scenes[];
/* clang-format off */
const struct m_scene m_hash_scenes[] = {
    {"hash_get_beside_growth", grows, {puts_ten, gets_five}, has_four, "preempt=2"},
    {"hash_get_beside_shrinking", shrinks, {puts_ten, gets_five}, ten_is_in, "preempt=2"},
    {"hash_two_move", grows_again, {puts_six, puts_ten, gets_two}, has_eight, "preempt=2"},
    {"hash_grows_or_not", is_full, {puts_five, takes_one}, level_differs, "preempt=2"},
    {"hash_counts_none", has_two_uncounted, {puts_one, takes_one_and_puts_five}, nothing_grows,
     "preempt=2"},
    {"hash_get_beside_insert", grows, {puts_six, gets_six}, six_is_in, "preempt=2"},
    {"hash_get_of_what_is_removed", grows, {takes_two, gets_two_or_none}, two_is_out, "preempt=2"},
    {"hash_get_beside_replace", grows, {replaces_two, gets_two}, two_is_fresh, "preempt=2"},
    {"hash_old_array_is_freed", grows, {frees_the_old, gets_five}, all_are_in, "preempt=2"},
    {"hash_two_remove_one", has_grown, {race_for_two, race_for_two}, one_has_won, "preempt=2"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
