/* SPDX-License-Identifier: MIT */
/* ID tables: who looks an object up finds it whole or not at all, and finds it if it was in all the
 * time, whatever the array does meanwhile; nothing is seen that has been freed. */
#include <pawl/idtable.h>

#include "scenes.h"

#include <stddef.h>

struct thing {
    pawl_idtable_entry entry;
    pawl_spin32 lock;
    uint32_t cell; /* of its contents */
};
PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);

#define ARRAYS 4
#define THINGS 3

struct stage {
    pawl_idtable table;
    struct thing things[THINGS];
    pawl_id ids[THINGS];
    pawl_id *told;   /* the last ID that somebody was told, after the insert had returned */
    uint32_t arrays; /* handed out */
    struct {
        char bytes[256] __attribute__((aligned(16)));
    } memory[ARRAYS];
};
#define STAGE M_SCENE(struct stage)
#define TABLE (&STAGE->table)
#define WHOLE 7
#define ID(generation, place) ((pawl_id)(generation) << 32 | (place))

/* ---- Set-up ---------------------------------------------------------------------------------- */

static void *give(size_t bytes, void *arg)
{
    m_demand(bytes <= sizeof STAGE->memory[0].bytes && STAGE->arrays < ARRAYS, "harness",
             "more memory for arrays than the scene has");
    return STAGE->memory[STAGE->arrays++].bytes;
}

/* Whoever looks into it now, or has done so and comes not before us, races with this. */
static void take_back(void *memory, size_t bytes, void *arg)
{
    (void)bytes, (void)arg;
    pawl_hook_plain(memory, "an array that is freed", true);
}

/* The same for an object. */
static void forget(pawl_rcu_head *head)
{
    pawl_hook_plain(things_of_head(head), "an object that is released", true);
}

static void take(struct thing *o)
{
    pawl_hook_plain(o, "an object", false);
    pawl_spin32_take_read(&o->lock);
}

static void drop(struct thing *o)
{
    pawl_hook_plain(o, "an object", false);
    pawl_spin32_drop_read(&o->lock);
}

PAWL_IDTABLE_TAKE(look_up, struct thing, entry, take, drop);

static void put(unsigned i)
{
    STAGE->things[i].cell = i;
    m_write(i, WHOLE);
    m_begin("pawl_idtable_insert");
    m_demand(things_insert(TABLE, &STAGE->things[i], &STAGE->ids[i]) == 0, M_RESTORED,
             "an insert has failed");
    m_end();
}

static void empty(void)
{
    pawl_idtable_options options = {0};
    m_register_threads(3);
    m_refuse_threads(); /* callbacks are called by who waits for them */
    options.first = 1;
    options.release = forget;
    options.allocator.allocate = give;
    options.allocator.release = take_back;
    m_demand(pawl_idtable_init(TABLE, &options) == 0, M_RESTORED, "no table");
}

/* Full: the next insert makes the array grow. */
static void with_one(void)
{
    empty();
    put(0);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void puts_second(void)
{
    put(1);
}

static void puts_third(void)
{
    put(2);
}

static void puts_and_tells(void)
{
    put(1);
    M_STEP(pawl_rcu_assign_pointer(STAGE->told, &STAGE->ids[1]));
}

/* The lookup as users make it: the object's lock is held when it returns. */
static struct thing *find(pawl_id id)
{
    m_begin("a lookup by PAWL_IDTABLE_TAKE");
    struct thing *o = look_up(TABLE, id);
    m_end();
    if (o != NULL) {
        m_demand(m_read(o->cell) == WHOLE, M_VISIBILITY, "an object that was not ready");
        M_STEP(drop(o));
    }
    return o;
}

static void looks_for_first(void)
{
    m_demand(find(STAGE->ids[0]) == &STAGE->things[0], M_VISIBILITY, "what is in is not found");
}

static void looks_for_what_may_go(void)
{
    struct thing *o = find(STAGE->ids[0]);
    m_demand(o == NULL || o == &STAGE->things[0], M_VISIBILITY, "another object than asked for");
}

/* The ID that the first insert after set-up gives: found or not, unless we were told of it. */
static void looks_for_second(void)
{
    const pawl_id *told;
    M_DO(told = pawl_rcu_dereference(STAGE->told));
    m_demand(find(ID(1, 1)) != NULL || told == NULL, M_VISIBILITY,
             "what was in before is not found");
}

static void removes_first(void)
{
    M_DO(struct thing *o = things_take_write(TABLE, STAGE->ids[0]));
    m_demand(o != NULL, M_VISIBILITY, "what is in is not found");
    M_DO(m_demand(pawl_idtable_remove(TABLE, &o->entry), M_RESTORED, "a remove has failed"));
    M_STEP(things_drop_write(o));
}

static void removes_and_reclaims(void)
{
    removes_first();
    M_STEP(pawl_rcu_synchronize());
    forget(&STAGE->things[0].entry.head);
}

/* The same place, under another ID. */
static void removes_and_puts(void)
{
    removes_first();
    put(2);
}

/* The array that is replaced is freed before this is over. */
static void grows_and_frees(void)
{
    put(1);
    M_STEP(pawl_rcu_barrier());
}

/* Everything once, and what was in all the time for certain. */
static void walks(void)
{
    unsigned seen[THINGS] = {0};
    pawl_id cursor = PAWL_ID_NONE;
    for (;;) {
        M_DO(struct thing *o = things_next_read(TABLE, &cursor));
        if (o == NULL)
            break;
        m_demand(m_read(o->cell) == WHOLE, M_VISIBILITY, "an object that was not ready, or gone");
        m_demand(++seen[o->cell] == 1, M_VISIBILITY, "an object is seen twice");
        M_STEP(things_drop_read(o));
    }
    m_demand(seen[0] == 1, M_VISIBILITY, "what is in is not seen");
}

/* ---- After it -------------------------------------------------------------------------------- */

static void none_is_in(void)
{
    m_demand(pawl_idtable_count(TABLE) == 0, M_RESTORED, "a wrong number of entries");
}

static void all_are_in(void)
{
    unsigned i, count = 0;
    for (i = 0; i < THINGS; i++)
        if (STAGE->ids[i] != 0) {
            m_demand(find(STAGE->ids[i]) == &STAGE->things[i], M_VISIBILITY,
                     "what is in is not found");
            count++;
        }
    m_demand(pawl_idtable_count(TABLE) == count, M_RESTORED, "a wrong number of entries");
}

extern const struct m_scene m_idtable_scenes[];
/* clang-format off */
const struct m_scene m_idtable_scenes[] = {
    {"idtable_lookup_beside_insert", with_one, {looks_for_second, puts_and_tells}, all_are_in,
     "preempt=3"},
    {"idtable_lookup_beside_growth", with_one, {looks_for_first, puts_second}, all_are_in,
     "preempt=3"},
    {"idtable_lookup_beside_remove", with_one, {looks_for_what_may_go, removes_and_reclaims},
     none_is_in, "preempt=2"},
    {"idtable_lookup_beside_another_in_its_place", with_one,
     {looks_for_what_may_go, removes_and_puts}, NULL, "preempt=3"},
    {"idtable_two_inserts", empty, {puts_second, puts_third}, all_are_in, "preempt=2"},
    {"idtable_lookup_beside_two_inserts", with_one, {looks_for_first, puts_second, puts_third},
     all_are_in, "preempt=1"},
    {"idtable_walk_beside_growth", with_one, {walks, puts_second}, all_are_in, "preempt=2"},
    {"idtable_old_array_freed", with_one, {looks_for_first, grows_and_frees}, all_are_in,
     "preempt=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
