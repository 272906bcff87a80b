/* SPDX-License-Identifier: MIT */
/*
 * ID tables: the array that grows, limits, memory that is not to be had, IDs that are used up, and
 * callbacks that are refused. The allocator here counts, and fails when told to.
 */
#include "test.h"

#include <pawl/idtable.h>

struct thing {
    pawl_idtable_entry entry;
    pawl_spin32 lock;
    int value;
};

PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);

static struct {
    uint32_t made, freed; /* freed by the callbacks' worker too */
    uint64_t bytes_made, bytes_freed;
    unsigned refuse; /* this many allocations from now on */
} memory;

static void *allocate(size_t bytes, void *arg)
{
    must(arg == &memory);
    if (memory.refuse > 0) {
        memory.refuse--;
        return NULL;
    }
    void *block = malloc(bytes);
    must(block != NULL);
    memset(block, 0xa5, bytes); /* nothing is expected of it */
    memory.made++;
    memory.bytes_made += bytes;
    return block;
}

static void deallocate(void *block, size_t bytes, void *arg)
{
    must(arg == &memory);
    (void)pawl_fetch_add_relaxed32(&memory.freed, 1);
    (void)pawl_fetch_add_relaxed64(&memory.bytes_freed, bytes);
    free(block);
}

static uint32_t released;

static void release_thing(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&released, 1);
    free(things_of_head(head));
}

static pawl_idtable table;
static pawl_rcu_domain domain;

static pawl_idtable_options options(void)
{
    pawl_idtable_options o;
    memset(&o, 0, sizeof o);
    o.domain = &domain;
    o.release = release_thing;
    o.allocator.allocate = allocate;
    o.allocator.release = deallocate;
    o.allocator.arg = &memory;
    return o;
}

static int begin(void **state)
{
    const pawl_idtable_options o = options();
    memset(&memory, 0, sizeof memory);
    released = 0;
    must(pawl_rcu_domain_init(&domain, "growth") == 0);
    must(pawl_idtable_init(&table, &o) == 0);
    must(memory.made == 0);
    return 0;
}

/* However a test ends, every array has been given back. */
static int end(void **state)
{
    pawl_idtable_destroy(&table);
    must(memory.made == pawl_load_relaxed32(&memory.freed));
    must(memory.bytes_made == pawl_load_relaxed64(&memory.bytes_freed));
    pawl_rcu_domain_destroy(&domain);
    return 0;
}

static struct thing *fresh(int value)
{
    struct thing *o = (struct thing *)calloc(1, sizeof *o);
    must(o != NULL);
    o->value = value;
    return o;
}

static pawl_id insert(int value)
{
    pawl_id id;
    must(things_insert(&table, fresh(value), &id) == 0);
    return id;
}

static int value_of(pawl_id id)
{
    struct thing *o = things_take_read(&table, id);
    int value = -1;
    if (o != NULL) {
        value = o->value;
        things_drop_read(o);
    }
    return value;
}

static uint32_t size(void)
{
    return table.array == NULL ? 0 : table.array->size;
}

/* ---- Growing --------------------------------------------------------------------------------- */

TEST_CASE_WITH(the_array_doubles_and_every_id_stays_good, begin, end)
{
    enum { MANY = 1000 };
    static pawl_id ids[MANY];
    assert_int_equal(size(), 0);
    for (int i = 0; i < MANY; i++) {
        ids[i] = insert(i);
        assert_true(size() >= (uint32_t)i + 1 && size() <= 2 * (uint32_t)i + PAWL_IDTABLE_FIRST);
        if ((i & (i + 1)) == 0) /* and some more beside the powers of two */
            for (int k = 0; k <= i; k++)
                assert_int_equal(value_of(ids[k]), k);
    }
    assert_int_equal(size(), 1024);
    assert_int_equal(memory.made, 7); /* 16 to 1024 */
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    assert_int_equal(pawl_load_relaxed32(&memory.freed), 6);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(value_of(ids[i]), i);
}

TEST_CASE_WITH(free_places_are_used_before_it_grows, begin, end)
{
    pawl_id ids[PAWL_IDTABLE_FIRST];
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < PAWL_IDTABLE_FIRST; i++)
            ids[i] = insert(i);
        for (int i = round & 1; i < PAWL_IDTABLE_FIRST; i++)
            must(things_remove_id(&table, ids[i]));
        if (round & 1)
            must(things_remove_id(&table, ids[0]));
    }
    assert_int_equal(memory.made, 1);
}

/* What is known of a place goes along into the larger array, of free ones too. */
TEST_CASE_WITH(no_id_comes_back_after_growing, begin, end)
{
    static pawl_id ids[4 * PAWL_IDTABLE_FIRST];
    unsigned count = 0, i, k, round;
    for (round = 0; round < 3; round++) {
        for (i = 0; i < PAWL_IDTABLE_FIRST; i++)
            ids[count++] = insert((int)i);
        for (i = count - PAWL_IDTABLE_FIRST; i < count; i++)
            if (i % 2 == 0)
                must(things_remove_id(&table, ids[i]));
        must(pawl_idtable_reserve(&table, size() + 1) == 0);
        for (i = count - PAWL_IDTABLE_FIRST; i < count; i++)
            if (i % 2 == 1)
                must(things_remove_id(&table, ids[i]));
    }
    for (i = 0; i < PAWL_IDTABLE_FIRST; i++)
        ids[count++] = insert(1000);
    for (i = 0; i < count; i++)
        for (k = 0; k < i; k++)
            assert_true(ids[i] != ids[k]);
    for (i = 0; i < count; i++)
        assert_int_equal(value_of(ids[i]), i < count - PAWL_IDTABLE_FIRST ? -1 : 1000);
}

TEST_CASE_WITH(an_old_array_stays_as_long_as_a_reader_that_may_be_in_it, begin, end)
{
    const pawl_id id = insert(42);
    struct ipawl_idtable_array_ *old = table.array;
    pawl_idtable_read_lock(&table);
    for (int i = 0; i < 100; i++)
        insert(i); /* in a read section: nothing is waited for */
    assert_int_equal(pawl_load_relaxed32(&memory.freed), 0);
    assert_true(table.array != old);
    assert_int_equal(old->size, PAWL_IDTABLE_FIRST);
    assert_int_equal(ipawl_idtable_places_(old)[0]->id == id, 1);
    pawl_idtable_read_unlock(&table);
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    assert_int_equal(pawl_load_relaxed32(&memory.freed), 3);
}

TEST_CASE_WITH(reserve_makes_room_beforehand, begin, end)
{
    assert_int_equal(pawl_idtable_reserve(&table, 0), 0);
    assert_int_equal(memory.made, 0);
    assert_int_equal(pawl_idtable_reserve(&table, 300), 0);
    assert_int_equal(memory.made, 1);
    for (int i = 0; i < 300; i++)
        insert(i);
    assert_int_equal(memory.made, 1);
    assert_int_equal(pawl_idtable_reserve(&table, 200), 0);
    assert_int_equal(memory.made, 1);
    assert_int_equal(pawl_idtable_reserve(&table, PAWL_IDTABLE_MOST + 1), ENOSPC);
    insert(300);
    assert_int_equal(size(), 600);
}

TEST_CASE_WITH(the_first_array_is_as_large_as_asked_for, begin, end)
{
    pawl_idtable_options o = options();
    pawl_idtable other;
    o.first = 3;
    must(pawl_idtable_init(&other, &o) == 0);
    must(things_insert(&other, fresh(1), NULL) == 0);
    assert_int_equal(other.array->size, 3);
    pawl_idtable_destroy(&other);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

TEST_CASE_WITH(the_limit_counts_objects, begin, end)
{
    pawl_idtable_options o = options();
    struct thing *more = fresh(99);
    pawl_id ids[20], id = 1;
    pawl_idtable_destroy(&table);
    o.limit = 20;
    must(pawl_idtable_init(&table, &o) == 0);
    for (int i = 0; i < 20; i++)
        ids[i] = insert(i);
    assert_int_equal(size(), 20); /* no larger than it has to be */
    assert_int_equal(things_insert(&table, more, &id), ENOSPC);
    assert_true(id == PAWL_ID_NONE);
    assert_int_equal(pawl_idtable_count(&table), 20);
    must(things_remove_id(&table, ids[7]));
    assert_int_equal(things_insert(&table, more, &id), 0);
    assert_int_equal(value_of(id), 99);
    assert_int_equal(size(), 20);
}

TEST_CASE_WITH(init_refuses_what_cannot_be_and_the_table_then_takes_nothing, begin, end)
{
    pawl_idtable_options wrong[4];
    struct thing *o = fresh(1);
    pawl_idtable other;
    for (unsigned i = 0; i < 4; i++)
        wrong[i] = options();
    wrong[0].limit = PAWL_IDTABLE_MOST + 1;
    wrong[1].first = PAWL_IDTABLE_MOST + 1;
    wrong[2].allocator.allocate = NULL;
    wrong[3].allocator.release = NULL;
    assert_int_equal(pawl_idtable_init(NULL, NULL), EINVAL);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pawl_idtable_init(&other, &wrong[i]), EINVAL);
        assert_int_equal(things_insert(&other, o, NULL), ENOSPC);
        assert_null(things_take_write(&other, UINT64_C(1) << 32));
        pawl_idtable_destroy(&other);
    }
    free(o);
}

/* ---- No memory ------------------------------------------------------------------------------- */

TEST_CASE_WITH(growth_without_memory_loses_nothing, begin, end)
{
    static pawl_id ids[200];
    struct thing *o;
    pawl_id id;
    int i = 0, k, failures = 0;
    while (i < 200) {
        o = fresh(i);
        memory.refuse = (unsigned)i % 3; /* so many attempts fail, and then one does not */
        while (things_insert(&table, o, &id) != 0) {
            assert_true(id == PAWL_ID_NONE);
            assert_int_equal(pawl_idtable_count(&table), i);
            for (k = 0; k < i; k++)
                assert_int_equal(value_of(ids[k]), k);
            failures++;
        }
        memory.refuse = 0;
        ids[i++] = id;
    }
    assert_true(failures > 0);
    for (k = 0; k < 200; k++)
        assert_int_equal(value_of(ids[k]), k);
}

TEST_CASE_WITH(without_memory_free_places_still_serve, begin, end)
{
    pawl_id ids[PAWL_IDTABLE_FIRST];
    struct thing *o = fresh(100);
    memory.refuse = 1;
    assert_int_equal(things_insert(&table, o, NULL), ENOMEM); /* the very first */
    for (int i = 0; i < PAWL_IDTABLE_FIRST; i++)
        ids[i] = insert(i);
    memory.refuse = UINT_MAX;
    assert_int_equal(things_insert(&table, o, NULL), ENOMEM);
    assert_int_equal(pawl_idtable_reserve(&table, 100), ENOMEM);
    for (int i = 0; i < 100; i++) {
        must(things_remove_id(&table, ids[3]));
        ids[3] = insert(50 + i);
        assert_int_equal(value_of(ids[3]), 50 + i);
    }
    memory.refuse = 0;
    assert_int_equal(things_insert(&table, o, NULL), 0);
}

/* ---- IDs that are used up -------------------------------------------------------------------- */

/* Behind the places stands for each the generation of its next ID, and the next free place. */
static uint32_t *generation_of(uint32_t place)
{
    return (uint32_t *)(void *)(ipawl_idtable_places_(table.array) + table.array->size) + 2 * place;
}

TEST_CASE_WITH(a_place_whose_generations_are_used_up_is_used_no_more, begin, end)
{
    pawl_id id = insert(1);
    must(things_remove_id(&table, id));
    *generation_of(0) = UINT32_MAX;
    id = insert(2);
    assert_true(id == UINT64_C(0xffffffff) << 32);
    assert_int_equal(value_of(id), 2);
    must(things_remove_id(&table, id));
    assert_int_equal(value_of(id), -1);
    id = insert(3);
    assert_true(id == (UINT64_C(1) << 32 | 1)); /* the next place, its first ID */
}

TEST_CASE_WITH(used_up_places_do_not_count_for_the_limit, begin, end)
{
    pawl_idtable_options o = options();
    struct thing *more = fresh(99);
    pawl_id ids[4];
    pawl_idtable_destroy(&table);
    o.limit = 4;
    must(pawl_idtable_init(&table, &o) == 0);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 4; i++)
            ids[i] = insert(i);
        assert_int_equal(things_insert(&table, more, NULL), ENOSPC);
        for (int i = 0; i < 4; i++)
            *generation_of((uint32_t)ids[i]) = UINT32_MAX; /* of its next ID */
        for (int i = 0; i < 4; i++)
            must(things_remove_id(&table, ids[i]));
    }
    assert_true(size() >= 16); /* four times more than the limit, and growing slowly */
    assert_true(size() <= 40 + PAWL_IDTABLE_FIRST);
    free(more);
}

/* ---- Callbacks that are refused -------------------------------------------------------------- */

#define READ_LOCK() pawl_rcu_domain_read_lock(&domain)
#define READ_UNLOCK() pawl_rcu_domain_read_unlock(&domain)
#include "support/reader.h"

TEST_CASE_WITH(what_the_callbacks_refuse_waits_in_the_table, begin, end)
{
    enum { MANY = 300 };
    static pawl_id ids[MANY];
    struct reader r;
    int i;
    must(pawl_rcu_domain_limit(&domain, 2, PAWL_RCU_NO_LIMIT, PAWL_RCU_REFUSE) == 0);
    reader_begins(&r);
    for (i = 0; i < MANY; i++)
        ids[i] = insert(i);
    for (i = 0; i < MANY; i++)
        assert_true(things_remove_id(&table, ids[i]));
    uint32_t parked = pawl_idtable_parked(&table);
    assert_true(parked > 0); /* some arrays are among them */
    assert_int_equal(pawl_load_relaxed32(&released), 0);
    reader_ends(&r);
    for (i = 0; i < 10000 && pawl_idtable_parked(&table) > 0; i++) {
        must(things_remove_id(&table, insert(0))); /* each call offers them again */
        must(pawl_rcu_domain_barrier(&domain) == 0);
    }
    assert_int_equal(pawl_idtable_parked(&table), 0);
    pawl_idtable_destroy(&table);
    assert_int_equal(pawl_load_relaxed32(&released), MANY + i);
}

/* More bytes than may ever wait: it counts as nothing, for nobody could free it otherwise. */
TEST_CASE_WITH(arrays_larger_than_the_callbacks_limit_are_freed_all_the_same, begin, end)
{
    must(pawl_rcu_domain_limit(&domain, PAWL_RCU_CALLS, 64, PAWL_RCU_REFUSE) == 0);
    for (int i = 0; i < 100; i++)
        insert(i);
    assert_int_equal(pawl_idtable_parked(&table), 0);
    must(pawl_rcu_domain_barrier(&domain) == 0);
    assert_int_equal(pawl_load_relaxed32(&memory.freed), memory.made - 1);
}

TEST_CASE_WITH(destroy_releases_what_was_refused, begin, end)
{
    struct reader r;
    pawl_id ids[200];
    must(pawl_rcu_domain_limit(&domain, 1, PAWL_RCU_NO_LIMIT, PAWL_RCU_REFUSE) == 0);
    reader_begins(&r);
    for (int i = 0; i < 200; i++)
        ids[i] = insert(i);
    for (int i = 0; i < 200; i += 2)
        must(things_remove_id(&table, ids[i]));
    assert_true(pawl_idtable_parked(&table) > 0);
    reader_ends(&r);
    pawl_idtable_destroy(&table);
    assert_int_equal(pawl_load_relaxed32(&released), 200);
}

/* The first rule of locks and grace periods: who holds an object's lock is not made to wait. */
TEST_CASE_WITH(growing_under_an_objects_lock_waits_for_no_callback, begin, end)
{
    struct reader r;
    pawl_id id = insert(1);
    must(pawl_rcu_domain_limit(&domain, 1, 1, PAWL_RCU_WAIT) == 0);
    reader_begins(&r); /* the grace period cannot end before we have finished */
    struct thing *o = things_take_write(&table, id);
    for (int i = 0; i < 200; i++)
        insert(i);
    things_drop_write(o);
    reader_ends(&r);
    must(pawl_rcu_domain_limit(&domain, PAWL_RCU_CALLS, PAWL_RCU_BYTES, PAWL_RCU_WAIT) == 0);
}

TEST_MAIN()
