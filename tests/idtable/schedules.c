/* SPDX-License-Identifier: MIT */
/*
 * ID tables under every schedule of a few threads with few preemptions: lookups while the array is
 * replaced, while the object is removed and its place used again, and while two grow at once. Who
 * changes the table does the callbacks' work then; what that releases is poisoned, so a lookup that
 * comes too late is seen. The last tests plant a mistake, which must be found.
 */
#include "explorer/explorer.h"

#include <pawl/idtable.h>

struct thing {
    pawl_idtable_entry entry;
    pawl_lock32 lock; /* one that sleeps: who waits by polling could keep the others out for ever */
    int value;
    unsigned releases;
};

PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);

enum { A, B, C, D, E, THINGS, ARRAYS = 8, ARRAY_BYTES = 512 };

static struct {
    struct thing things[THINGS];
    pawl_id ids[THINGS];
    unsigned found, removals;
    unsigned arrays_made, arrays_freed;
    bool wrong_domain; /* lookups tell another domain that they read than callbacks wait for */
    uint64_t memory[ARRAYS][ARRAY_BYTES / 8];
} scene;

static pawl_idtable table;
static uint32_t first_array;

/* As fresh memory may look that belongs to somebody else by now: as if it were in the table. */
static void release_thing(pawl_rcu_head *head)
{
    struct thing *o = things_of_head(head);
    o->releases++;
    o->entry.state = 1;
}

static void *allocate(size_t bytes, void *arg)
{
    must(bytes <= ARRAY_BYTES && scene.arrays_made < ARRAYS);
    return scene.memory[scene.arrays_made++];
}

/* Whoever looks into it now finds a table without places. */
static void deallocate(void *memory, size_t bytes, void *arg)
{
    scene.arrays_freed++;
    memset(memory, 0, bytes);
}

static void insert(unsigned which)
{
    struct thing *o = &scene.things[which];
    pawl_id id;
    o->value = (int)which + 100;
    must(things_insert(&table, o, &id) == 0);
    scene.ids[which] = id;
}

/* Object A is in, and the array has `first_array` places. */
static void begin(void)
{
    const bool wrong_domain = scene.wrong_domain;
    pawl_idtable_options options;
    sched_new_process();
    memset(&scene, 0, sizeof scene);
    scene.wrong_domain = wrong_domain;
    memset(&options, 0, sizeof options);
    options.first = first_array;
    options.release = release_thing;
    options.allocator.allocate = allocate;
    options.allocator.release = deallocate;
    must(pawl_idtable_init(&table, &options) == 0);
    if (wrong_domain)
        table.domain = 2;
    insert(A);
}

/* What was removed has been released once, what was not is there. */
static void end(void)
{
    unsigned i, in = 0;
    must(pawl_rcu_barrier() == 0);
    must(scene.arrays_freed + 1 == scene.arrays_made);
    for (i = A; i < THINGS; i++) {
        struct thing *o = &scene.things[i];
        const bool there = scene.ids[i] != PAWL_ID_NONE && o->releases == 0;
        if (there) {
            must(things_take_write(&table, scene.ids[i]) == o);
            things_drop_write(o);
            in++;
        }
        must(o->releases <= 1);
    }
    must(pawl_idtable_count(&table) == in);
    must(scene.things[A].releases == scene.removals);
    pawl_idtable_destroy(&table);
    must(scene.arrays_freed == scene.arrays_made);
}

/* ---- What the threads do --------------------------------------------------------------------- */

static void reclaim(void *unused)
{
    must(pawl_rcu_barrier() == 0);
}

/* A lookup finds that object as it is, or nothing. */
static bool find(unsigned which)
{
    struct thing *o = things_take_write(&table, scene.ids[which]);
    if (o == NULL)
        return false;
    must(o == &scene.things[which] && o->value == (int)which + 100 && o->releases == 0);
    things_drop_write(o);
    return true;
}

static void find_a(void *unused)
{
    must(find(A));
}

static void find_a_if_it_is_there(void *unused)
{
    const bool first = find(A);
    must(!find(A) || first); /* it does not come back */
}

static void insert_b(void *unused)
{
    insert(B);
    must(find(B));
}

static void insert_b_and_reclaim(void *unused)
{
    insert_b(unused);
    reclaim(NULL);
}

static void insert_c(void *unused)
{
    insert(C);
    must(find(C));
}

static void insert_c_and_reclaim(void *unused)
{
    insert_c(unused);
    reclaim(NULL);
}

static void insert_several(void *unused)
{
    insert_c(unused);
    insert(D);
    insert(E);
    must(find(C) && find(D) && find(E));
}

static void remove_a(void *unused)
{
    scene.removals += things_remove_id(&table, scene.ids[A]);
}

static void remove_a_and_reclaim(void *unused)
{
    remove_a(unused);
    reclaim(NULL);
}

/* The place has another owner at once, or even while the lookup is on its way to A. */
static void put_b_in_the_place_of_a(void *unused)
{
    const pawl_id old = scene.ids[A];
    must(things_remove_id(&table, old));
    scene.removals++;
    insert(B);
    must(scene.ids[B] != old);
    reclaim(NULL);
}

/* IDs can be guessed: the one that B will get, or C. What it finds is one of them, whole. */
static void guess(void *unused)
{
    const pawl_id id = UINT64_C(1) << 32 | 1;
    struct thing *o = things_take_read(&table, id);
    if (o == NULL)
        return;
    must(o->value == B + 100 || o->value == C + 100);
    must(o == &scene.things[o->value - 100]);
    things_drop_read(o);
}

static void visit_all(void *unused)
{
    pawl_id cursor = PAWL_ID_NONE;
    struct thing *o;
    bool a = false;
    while ((o = things_next_read(&table, &cursor)) != NULL) {
        must(o->releases == 0);
        a = a || o == &scene.things[A];
        things_drop_read(o);
    }
    must(a);
}

/* ---- The scenarios --------------------------------------------------------------------------- */

static void run(void (*one)(void *), void (*two)(void *), uint32_t places)
{
    void (*const bodies[2])(void *) = {one, two};
    first_array = places;
    print_message("%u schedules\n", explore(begin, bodies, 2, end, TEST_SANITIZED ? 1 : 2));
}

static void run_three(void (*one)(void *), void (*two)(void *), void (*three)(void *),
                      uint32_t places)
{
    void (*const bodies[3])(void *) = {one, two, three};
    first_array = places;
    print_message("%u schedules\n", explore(begin, bodies, 3, end, 1));
}

TEST_CASE(a_lookup_finds_its_object_wherever_the_array_is_replaced)
{
    run(find_a, insert_b_and_reclaim, 1);
    run_three(find_a, insert_b_and_reclaim, find_a, 1);
}

TEST_CASE(a_guessed_id_finds_a_whole_object_or_nothing_while_the_array_is_replaced)
{
    run(guess, insert_b_and_reclaim, 1);
    run_three(guess, insert_b, insert_c, 4);
}

TEST_CASE(iteration_finds_its_object_wherever_the_array_is_replaced)
{
    run(visit_all, insert_b_and_reclaim, 1);
}

TEST_CASE(a_lookup_finds_a_removed_object_never_again_and_never_released)
{
    run(find_a_if_it_is_there, remove_a_and_reclaim, 4);
    run_three(find_a_if_it_is_there, remove_a_and_reclaim, find_a_if_it_is_there, 4);
}

TEST_CASE(of_two_who_remove_one_does)
{
    run(remove_a, remove_a_and_reclaim, 4);
}

TEST_CASE(an_id_finds_nothing_else_when_its_place_is_used_again)
{
    run(find_a_if_it_is_there, put_b_in_the_place_of_a, 4);
    run_three(find_a_if_it_is_there, put_b_in_the_place_of_a, insert_c_and_reclaim, 1);
}

TEST_CASE(of_two_who_grow_at_once_none_loses_its_object)
{
    run(insert_b_and_reclaim, insert_c, 1);
    run_three(insert_b, insert_c, find_a, 1);
    run(insert_b, insert_several, 1); /* to 4 places, while the other one thinks that 2 will do */
}

TEST_CASE(removal_while_the_array_is_replaced_is_not_undone)
{
    run(remove_a, insert_b_and_reclaim, 1);
    run_three(remove_a, insert_b, find_a_if_it_is_there, 1);
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

static void without_grace_periods_growing(void *unused)
{
    scene.wrong_domain = true;
    run(find_a, insert_b_and_reclaim, 1);
}

static void without_grace_periods_removing(void *unused)
{
    scene.wrong_domain = true;
    run(find_a_if_it_is_there, remove_a_and_reclaim, 4);
}

TEST_CASE(an_array_that_is_freed_too_early_is_noticed)
{
    assert_aborts_saying(without_grace_periods_growing, NULL, "must(find(A))");
}

TEST_CASE(an_object_that_is_released_too_early_is_noticed)
{
    assert_aborts_saying(without_grace_periods_removing, NULL, "o->releases == 0");
}

TEST_MAIN()
