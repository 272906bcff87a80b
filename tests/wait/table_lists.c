/* SPDX-License-Identifier: MIT */
/* The wait lists: who is found under which address, in which order, and while the table grows. */
#define PAWL_ONE_FILE_ /* with table.c, below */
#include "test.h"

#include "lock/table.h"
#include "os/os.h"

static bool memory_is_short;
static unsigned attempts;

static void *pages_of_the_test(size_t size)
{
    attempts++;
    return memory_is_short ? NULL : pawl_os_pages(size);
}
#undef PAWL_SHARED_DEFINE /* the library has it */
#define PAWL_SHARED_DEFINE(type, name) extern type PAWL_SHARED_NAME_(name)
#undef pawl_os_pages
#define pawl_os_pages pages_of_the_test

#include "lock/table.c"

static struct pawl_table *table(void)
{
    return table_here();
}

static void start_afresh(void)
{
    memset(table(), 0, sizeof *table());
    memory_is_short = false;
    attempts = 0;
}

static void put(struct pawl_waiter *waiter, const void *address)
{
    struct pawl_bucket *bucket;
    memset(waiter, 0, sizeof *waiter);
    waiter->address = address;
    bucket = table_lock(address);
    table_append(bucket, waiter);
    table_unlock(bucket);
}

static void take_out(struct pawl_waiter *waiter)
{
    struct pawl_bucket *bucket = table_lock_of(waiter);
    table_remove(bucket, waiter);
    table_unlock(bucket);
}

/* How many wait for the address; each must be younger (kind) than the one before. */
static unsigned count_in_order(const void *address)
{
    struct pawl_bucket *bucket = table_lock(address);
    struct pawl_waiter *w;
    unsigned count = 0;
    uint32_t last = 0;
    for (w = table_first(bucket, address); w != NULL; w = table_next(bucket, w)) {
        assert_true(w->kind >= last);
        last = w->kind;
        count++;
    }
    table_unlock(bucket);
    return count;
}

static void zero_bytes_are_an_empty_table(void **state)
{
    uint32_t word;
    (void)state;
    start_afresh();
    assert_int_equal(count_in_order(&word), 0);
    assert_int_equal(table()->waiters, 0);
}

static void waiters_are_found_oldest_first(void **state)
{
    struct pawl_waiter waiters[5];
    uint32_t word;
    unsigned i;
    (void)state;
    start_afresh();
    for (i = 0; i < 5; i++) {
        put(&waiters[i], &word);
        waiters[i].kind = i;
    }
    assert_int_equal(count_in_order(&word), 5);
    take_out(&waiters[2]); /* from the middle, the head and the tail */
    take_out(&waiters[0]);
    take_out(&waiters[4]);
    assert_int_equal(count_in_order(&word), 2);
    take_out(&waiters[1]);
    take_out(&waiters[3]);
    assert_int_equal(count_in_order(&word), 0);
    assert_int_equal(table()->waiters, 0);
}

/* An address that falls into the same list of the first array. */
static const char *neighbour(const char *address)
{
    const char *other = address;
    do
        other++;
    while (table_hash(other, 0) != table_hash(address, 0));
    return other;
}

static void waiters_of_another_address_in_the_same_list_are_passed_over(void **state)
{
    static char memory[1 << 16];
    const char *a = memory;
    const char *b = neighbour(a);
    struct pawl_waiter waiters[4];
    unsigned i;
    (void)state;
    start_afresh();
    for (i = 0; i < 4; i++)
        put(&waiters[i], i % 2 ? b : a);
    assert_int_equal(count_in_order(a), 2);
    assert_int_equal(count_in_order(b), 2);
    assert_int_equal(table()->first[table_hash(a, 0)].length, 4);
    for (i = 0; i < 4; i++)
        take_out(&waiters[i]);
    assert_int_equal(table()->first[table_hash(a, 0)].length, 0);
}

static void a_moved_waiter_waits_behind_those_of_its_new_address(void **state)
{
    struct pawl_waiter waiters[3];
    struct pawl_bucket *from, *to;
    uint32_t a = 0, b = 0;
    unsigned i;
    (void)state;
    start_afresh();
    put(&waiters[0], &b);
    put(&waiters[1], &a);
    put(&waiters[2], &a);
    for (i = 0; i < 3; i++)
        waiters[i].kind = i;
    table_lock_two(&a, &b, &from, &to);
    table_move(from, to, table_first(from, &a), &b);
    table_unlock_two(from, to);
    assert_int_equal(count_in_order(&a), 1);
    assert_int_equal(count_in_order(&b), 2);
    assert_ptr_equal(waiters[1].address, &b);
    for (i = 0; i < 3; i++)
        take_out(&waiters[i]);
}

static void two_addresses_of_one_list_are_locked_once(void **state)
{
    static char memory[1 << 16];
    struct pawl_bucket *a, *b;
    (void)state;
    start_afresh();
    table_lock_two(memory, neighbour(memory), &a, &b);
    assert_ptr_equal(a, b);
    table_unlock_two(a, b);
    table_unlock(table_lock(memory)); /* it was unlocked */
}

/* ---- Growth ---------------------------------------------------------------------------------- */

enum { MANY = 3000 };
static struct pawl_waiter many[MANY];
static uint32_t words[MANY];

static unsigned longest_list(void)
{
    const uint32_t doublings = table()->doublings;
    const struct pawl_bucket *buckets = table_buckets(table(), doublings);
    unsigned longest = 0;
    unsigned i;
    for (i = 0; i < 1u << (PAWL_TABLE_BITS + doublings); i++)
        if (buckets[i].length > longest)
            longest = buckets[i].length;
    return longest;
}

static void lists_stay_short_however_many_wait(void **state)
{
    unsigned i;
    (void)state;
    start_afresh();
    for (i = 0; i < MANY; i++) {
        put(&many[i], &words[i]);
        table_grow_if_crowded();
    }
    assert_true(1u << (PAWL_TABLE_BITS + table()->doublings) >= MANY / 2);
    assert_in_range(longest_list(), 1, 10);
    for (i = 0; i < MANY; i++)
        assert_int_equal(count_in_order(&words[i]), 1);
    for (i = 0; i < MANY; i++)
        take_out(&many[i]);
    assert_int_equal(table()->waiters, 0);
    assert_int_equal(longest_list(), 0);
}

static void growth_keeps_the_order_of_an_addresss_waiters_and_the_hints(void **state)
{
    struct pawl_bucket *bucket;
    unsigned i;
    (void)state;
    start_afresh();
    bucket = table_lock(&words[7]);
    bucket->last_handoff = 4711;
    bucket->awake_for = 1234;
    table_unlock(bucket);
    for (i = 0; i < 300; i++) {
        put(&many[i], &words[i % 10]);
        many[i].kind = i;
        table_grow_if_crowded();
    }
    assert_true(table()->doublings >= 2);
    for (i = 0; i < 10; i++)
        assert_int_equal(count_in_order(&words[i]), 30);
    bucket = table_lock(&words[7]);
    assert_true(bucket->last_handoff == 4711);
    assert_true(bucket->awake_for == 1234);
    table_unlock(bucket);
}

static void where_memory_is_short_the_old_lists_serve_and_attempts_are_few(void **state)
{
    unsigned i;
    (void)state;
    start_afresh();
    memory_is_short = true;
    for (i = 0; i < MANY; i++) {
        put(&many[i], &words[i]);
        table_grow_if_crowded();
    }
    assert_int_equal(table()->doublings, 0);
    assert_in_range(attempts, 2, 8); /* at 65, 131, 263 ... */
    for (i = 0; i < MANY; i++)
        assert_int_equal(count_in_order(&words[i]), 1);
    memory_is_short = false;
    pawl_store_relaxed32(&table()->grow_at, 0);
    for (i = 0; i < 10; i++)
        table_grow_if_crowded();
    assert_in_range(longest_list(), 1, 10);
    for (i = 0; i < MANY; i++)
        assert_int_equal(count_in_order(&words[i]), 1);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static void look_around_in_the_child(void *word)
{
    struct pawl_waiter waiter;
    must(table()->waiters == 0);
    must(count_in_order(word) == 0);
    put(&waiter, word);
    must(count_in_order(word) == 1);
    must(longest_list() == 1);
    fprintf(stderr, "as it should be");
}

static void a_child_finds_an_empty_table_even_if_its_locks_were_held(void **state)
{
    struct pawl_bucket *bucket;
    char said[4096];
    unsigned i;
    int status;
    (void)state;
    start_afresh();
    for (i = 0; i < 200; i++) {
        put(&many[i], &words[i]);
        table_grow_if_crowded();
    }
    bucket = table_lock(&words[3]); /* as another thread of the parent might */
    status = test_in_child(look_around_in_the_child, &words[3], said, sizeof said);
    table_unlock(bucket);
    if (status != 0 || !strstr(said, "as it should be"))
        fail_msg("status %#x: %s", (unsigned)status, said);
    assert_int_equal(count_in_order(&words[3]), 1); /* the parent's table is untouched */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_bytes_are_an_empty_table),
        cmocka_unit_test(waiters_are_found_oldest_first),
        cmocka_unit_test(waiters_of_another_address_in_the_same_list_are_passed_over),
        cmocka_unit_test(a_moved_waiter_waits_behind_those_of_its_new_address),
        cmocka_unit_test(two_addresses_of_one_list_are_locked_once),
        cmocka_unit_test(lists_stay_short_however_many_wait),
        cmocka_unit_test(growth_keeps_the_order_of_an_addresss_waiters_and_the_hints),
        cmocka_unit_test(where_memory_is_short_the_old_lists_serve_and_attempts_are_few),
        cmocka_unit_test(a_child_finds_an_empty_table_even_if_its_locks_were_held),
    };
    return test_run(argc, argv, tests);
}
