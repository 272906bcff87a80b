/* SPDX-License-Identifier: MIT */
/* The wait lists: who is found under which address, in which order, and while the table grows. */
#define PAWL_TEST_POINTS /* steps are counted */
#define PAWL_ONE_FILE_   /* with table.c, below */
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
#undef pawl_os_pages
#define pawl_os_pages pages_of_the_test

#include "support/table_again.h"

#include "support/queues.h"

static void start_afresh(void)
{
    memset(table(), 0, sizeof *table());
    memory_is_short = false;
    attempts = 0;
}

static int set_up(void **state)
{
    start_afresh();
    return 0;
}

#define TABLE_CASE(name) TEST_CASE_WITH(name, set_up, NULL)

TABLE_CASE(zero_bytes_are_an_empty_table)
{
    uint32_t word = 0;
    assert_int_equal(count_in_order(&word), 0);
    assert_int_equal(table()->queues, 0);
}

TABLE_CASE(waiters_are_found_oldest_first)
{
    struct waiting waiters[5];
    uint32_t word = 0;
    for (unsigned i = 0; i < 5; i++) {
        put(&waiters[i], &word);
        waiters[i].waiter.kind = i;
    }
    assert_int_equal(count_in_order(&word), 5);
    assert_int_equal(table()->queues, 1);
    take_out(&waiters[2]); /* from the middle, the head and the tail */
    take_out(&waiters[0]);
    take_out(&waiters[4]);
    assert_int_equal(count_in_order(&word), 2);
    take_out(&waiters[1]);
    take_out(&waiters[3]);
    assert_int_equal(count_in_order(&word), 0);
    assert_int_equal(table()->queues, 0);
}

TABLE_CASE(waiters_of_another_address_in_the_same_bucket_are_passed_over)
{
    static char memory[1 << 16];
    const char *a = memory;
    const char *b = neighbour(a);
    const struct pawl_bucket *bucket = &table()->first[table_hash(a, 0)];
    struct waiting waiters[4];
    for (unsigned i = 0; i < 4; i++)
        put(&waiters[i], i % 2 ? b : a);
    assert_int_equal(count_in_order(a), 2);
    assert_int_equal(count_in_order(b), 2);
    assert_int_equal(queues_of(bucket), 2);
    for (unsigned i = 0; i < 4; i++)
        take_out(&waiters[i]);
    assert_int_equal(queues_of(bucket), 0);
}

/* A late waker of one owner finds none of another's, though the address is the same. */
TABLE_CASE(the_queues_of_different_owners_at_one_address_are_apart)
{
    static const uint32_t owners[] = {TABLE_OF_WAIT, TABLE_OF_COND, TABLE_OF_LOCK32,
                                      TABLE_OF_LOCK64};
    struct waiting waiters[4][2];
    uint64_t word = 0;
    for (unsigned i = 0; i < 4; i++) {
        assert_null(find(&word, owners[i]));
        for (unsigned j = 0; j < 2; j++)
            put_for(&waiters[i][j], &word, owners[i])->own = 100 + i;
        assert_int_equal(table()->queues, i + 1);
    }
    for (unsigned i = 0; i < 4; i++) {
        struct own_queue *queue = find(&word, owners[i]);
        assert_int_equal(queue->queue.owner, owners[i]);
        assert_int_equal(queue->own, 100 + i);
        assert_ptr_equal(queue->queue.oldest, &waiters[i][0].waiter);
        assert_int_equal(count_of(&word, owners[i]), 2);
    }
    take_out(&waiters[2][0]);
    take_out(&waiters[2][1]);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(count_of(&word, owners[i]), i == 2 ? 0 : 2);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned j = 0; i != 2 && j < 2; j++)
            take_out(&waiters[i][j]);
    assert_int_equal(table()->queues, 0);
}

TABLE_CASE(a_moved_waiter_waits_behind_those_of_its_new_address)
{
    struct waiting waiters[3];
    struct pawl_bucket *from, *to;
    uint32_t a = 0, b = 0;
    put(&waiters[0], &b);
    put(&waiters[1], &a);
    put(&waiters[2], &a);
    for (unsigned i = 0; i < 3; i++)
        waiters[i].waiter.kind = i;
    table_lock_two(&a, &b, &from, &to);
    table_move(from, to, table_find(from, &a, TABLE_OF_WAIT)->oldest, &b);
    table_unlock_two(from, to);
    assert_int_equal(count_in_order(&a), 1);
    assert_int_equal(count_in_order(&b), 2);
    assert_ptr_equal(waiters[1].waiter.address, &b);
    for (unsigned i = 0; i < 3; i++)
        take_out(&waiters[i]);
    assert_int_equal(table()->queues, 0);
}

/* The first waiter lends the memory of the old queue, and then that of the new one. */
TABLE_CASE(a_moved_lender_leaves_one_queue_and_begins_another)
{
    struct waiting waiters[2];
    struct pawl_bucket *from, *to;
    uint32_t a = 0, b = 0;
    put_for(&waiters[0], &a, TABLE_OF_WAIT)->own = 77;
    put(&waiters[1], &a);
    table_lock_two(&a, &b, &from, &to);
    table_move(from, to, &waiters[0].waiter, &b);
    table_unlock_two(from, to);
    assert_ptr_equal(find(&a, TABLE_OF_WAIT), &waiters[1].room);
    assert_int_equal(waiters[1].room.own, 77);
    assert_ptr_equal(find(&b, TABLE_OF_WAIT), &waiters[0].room);
    assert_int_equal(waiters[0].room.own, 0);
    assert_int_equal(table()->queues, 2);
    table_lock_two(&a, &b, &from, &to);
    table_move(to, from, &waiters[0].waiter, &a);
    table_unlock_two(from, to);
    assert_null(find(&b, TABLE_OF_WAIT));
    assert_int_equal(count_in_order(&a), 2);
    assert_int_equal(table()->queues, 1);
    take_out(&waiters[1]);
    assert_int_equal(find(&a, TABLE_OF_WAIT)->own, 77);
    take_out(&waiters[0]);
    assert_int_equal(table()->queues, 0);
}

TABLE_CASE(two_addresses_of_one_bucket_are_locked_once)
{
    static char memory[1 << 16];
    struct pawl_bucket *a, *b;
    table_lock_two(memory, neighbour(memory), &a, &b);
    assert_ptr_equal(a, b);
    table_unlock_two(a, b);
    table_unlock(table_lock(memory)); /* it was unlocked */
}

/* ---- The memory of a queue ------------------------------------------------------------------- */

static void a_queue_is_at(const void *address, struct waiting *lender, uint64_t own)
{
    struct own_queue *queue = find(address, TABLE_OF_LOCK64);
    assert_ptr_equal(queue, &lender->room);
    assert_int_equal(queue->own, own);
    assert_int_equal(queue->queue.urgent, 5);
    assert_ptr_equal(queue->queue.oldest, &lender->waiter);
}

TABLE_CASE(a_queue_moves_when_its_lender_leaves)
{
    struct waiting w[5];
    struct own_queue *queue;
    uint64_t word = 0;
    for (unsigned i = 0; i < 4; i++) {
        queue = put_for(&w[i], &word, TABLE_OF_LOCK64);
        w[i].waiter.kind = i;
        assert_ptr_equal(queue, &w[0].room);
        assert_int_equal(queue->own, i == 0 ? 0 : 4711); /* 0xa5 before it became a queue */
        assert_int_equal(queue->queue.urgent, i == 0 ? 0 : 5);
        queue->own = 4711;
        queue->queue.urgent = 5;
    }
    take_out(&w[1]); /* from the middle */
    a_queue_is_at(&word, &w[0], 4711);
    take_out(&w[3]); /* the youngest */
    a_queue_is_at(&word, &w[0], 4711);
    take_out(&w[0]); /* the lender */
    a_queue_is_at(&word, &w[2], 4711);
    find(&word, TABLE_OF_LOCK64)->own = 4712;
    assert_ptr_equal(put_for(&w[4], &word, TABLE_OF_LOCK64), &w[2].room);
    w[4].waiter.kind = 4;
    take_out(&w[2]);
    a_queue_is_at(&word, &w[4], 4712);
    assert_int_equal(count_of(&word, TABLE_OF_LOCK64), 1);
    assert_int_equal(table()->queues, 1);
    take_out(&w[4]);
    assert_null(find(&word, TABLE_OF_LOCK64));
    assert_int_equal(table()->queues, 0);
    assert_int_equal(put_for(&w[0], &word, TABLE_OF_LOCK64)->own, 0); /* another queue */
    take_out(&w[0]);
}

/* First, in the middle and last in the chain of the bucket. */
TABLE_CASE(a_queue_that_moves_leaves_its_neighbours_in_the_bucket)
{
    static char memory[1 << 16];
    const char *addresses[3];
    struct waiting w[3][3];
    addresses[0] = memory;
    addresses[1] = neighbour(addresses[0]);
    addresses[2] = neighbour(addresses[1]);
    for (unsigned j = 0; j < 3; j++)
        for (unsigned i = 0; i < 3; i++)
            put_for(&w[i][j], addresses[i], TABLE_OF_LOCK64)->own = i;
    for (unsigned j = 0; j < 3; j++) {
        for (unsigned i = 0; i < 3; i++) {
            take_out(&w[i][j]);
            for (unsigned k = 0; k < 3; k++) {
                const unsigned left = 3 - j - (k <= i);
                assert_int_equal(count_of(addresses[k], TABLE_OF_LOCK64), left);
                if (left > 0)
                    assert_int_equal(find(addresses[k], TABLE_OF_LOCK64)->own, k);
            }
        }
    }
    assert_int_equal(table()->queues, 0);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

enum { MANY = 3000 };
static struct waiting many[MANY];
static uint32_t words[MANY];

/* Steps that one more waiter makes to join, to be found and to leave, from each place in a queue
 * of so many. */
static uint64_t steps_beside(unsigned waiters)
{
    start_afresh();
    for (unsigned i = 0; i < waiters; i++)
        put(&many[i], &words[0]);
    pawl_store_relaxed64(&ipawl_table_steps_, 0);
    put(&many[MANY - 1], &words[0]);
    assert_non_null(find(&words[0], TABLE_OF_WAIT));
    take_out(&many[0]);           /* the lender */
    take_out(&many[waiters / 2]); /* from the middle */
    take_out(&many[MANY - 1]);    /* the youngest */
    uint64_t steps = pawl_load_relaxed64(&ipawl_table_steps_);
    start_afresh();
    return steps;
}

TABLE_CASE(a_crowd_at_one_address_costs_no_steps)
{
    static char memory[1 << 16];
    uint64_t few = steps_beside(10);
    uint64_t crowd = steps_beside(1000);
    assert_int_equal(crowd, few);
    /* Steps are counted: the queue that was there first is behind the younger one or before it. */
    put(&many[0], memory);
    put(&many[1], neighbour(memory));
    pawl_store_relaxed64(&ipawl_table_steps_, 0);
    (void)find(memory, TABLE_OF_WAIT);
    (void)find(neighbour(memory), TABLE_OF_WAIT);
    assert_int_equal(pawl_load_relaxed64(&ipawl_table_steps_), 1);
}

TABLE_CASE(a_crowd_at_one_address_is_no_reason_to_grow)
{
    for (unsigned i = 0; i < MANY; i++) {
        put(&many[i], &words[0]);
        table_grow_if_crowded();
    }
    assert_int_equal(table()->doublings, 0);
    assert_int_equal(attempts, 0);
    assert_int_equal(table()->queues, 1);
}

/* ---- The latch ------------------------------------------------------------------------------- */

enum { LATCH_THREADS = 6, LATCH_LATER = 3 };

static pthread_t latch_threads[LATCH_THREADS];
static unsigned latch_numbers[LATCH_THREADS];
static unsigned latch_order[LATCH_THREADS], latch_entered; /* under the latch */

static void *enter_the_latch(void *number);

/* The caller holds the latch. Each thread sleeps, or is about to, before the next one starts. */
static void let_queue(struct pawl_bucket *bucket, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++) {
        const ipawl_address_ seen = PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch);
        latch_numbers[i] = i;
        latch_threads[i] = test_start(enter_the_latch, &latch_numbers[i]);
        test_await(PAWL_ADDRESS_(pawl_load_relaxed)(&bucket->latch) != seen);
    }
}

/* The first who enters lets others queue behind those who are there. */
static void *enter_the_latch(void *number)
{
    struct pawl_bucket *bucket = table_lock(words);
    latch_order[latch_entered++] = *(unsigned *)number;
    if (latch_entered == 1)
        let_queue(bucket, LATCH_LATER, LATCH_THREADS);
    table_unlock(bucket);
    return NULL;
}

TABLE_CASE(the_waiters_of_a_latch_enter_oldest_first)
{
    latch_entered = 0;
    struct pawl_bucket *bucket = table_lock(words);
    let_queue(bucket, 0, LATCH_LATER);
    table_unlock(bucket);
    test_join_all(latch_threads, LATCH_LATER);
    for (unsigned i = LATCH_LATER; i < LATCH_THREADS; i++)
        test_join(latch_threads[i]);
    assert_int_equal(latch_entered, LATCH_THREADS);
    for (unsigned i = 0; i < LATCH_THREADS; i++)
        assert_int_equal(latch_order[i], i);
    assert_int_equal(bucket->latch, 0);
    assert_null(bucket->latch_oldest);
}

/* ---- Growth ---------------------------------------------------------------------------------- */

static unsigned most_queues(void)
{
    const uint32_t doublings = table()->doublings;
    const struct pawl_bucket *buckets = table_buckets(table(), doublings);
    unsigned most = 0;
    for (unsigned i = 0; i < 1u << (PAWL_TABLE_BITS + doublings); i++)
        if (queues_of(&buckets[i]) > most)
            most = queues_of(&buckets[i]);
    return most;
}

TABLE_CASE(buckets_have_few_queues_however_many_wait)
{
    for (unsigned i = 0; i < MANY; i++) {
        put(&many[i], &words[i]);
        table_grow_if_crowded();
    }
    assert_true(1u << (PAWL_TABLE_BITS + table()->doublings) >= MANY / 2);
    assert_in_range(most_queues(), 1, 10);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(count_in_order(&words[i]), 1);
    for (unsigned i = 0; i < MANY; i++)
        take_out(&many[i]);
    assert_int_equal(table()->queues, 0);
    assert_int_equal(most_queues(), 0);
}

TABLE_CASE(growth_keeps_the_order_of_an_addresss_waiters_and_the_hints)
{
    struct pawl_bucket *bucket = table_lock(&words[7]);
    bucket->quiet_until = 4711;
    bucket->awake_for = 1234;
    table_unlock(bucket);
    for (unsigned i = 0; i < 900; i++) {
        put_for(&many[i], &words[i % 300], TABLE_OF_WAIT)->own = i % 300;
        many[i].waiter.kind = i;
        table_grow_if_crowded();
    }
    assert_true(table()->doublings >= 2);
    for (unsigned i = 0; i < 300; i++) {
        assert_int_equal(count_in_order(&words[i]), 3);
        assert_int_equal(find(&words[i], TABLE_OF_WAIT)->own, i);
    }
    bucket = table_lock(&words[7]);
    assert_true(bucket->quiet_until == 4711);
    assert_true(bucket->awake_for == 1234);
    table_unlock(bucket);
}

TABLE_CASE(growth_takes_the_urgent_where_their_address_goes)
{
    unsigned i, total = 0;
    for (i = 0; i < 300; i++) {
        put_urgent(&many[i], &words[i], i % 3);
        total += i % 3;
        table_grow_if_crowded();
        if (i % 50 == 0)
            assert_int_equal(urgent_in_all(), total);
    }
    assert_true(table()->doublings >= 2);
    assert_int_equal(urgent_in_all(), total);
    for (i = 0; i < 300; i++)
        assert_int_equal(find(&words[i], TABLE_OF_LOCK32)->queue.urgent, i % 3);
}

TABLE_CASE(where_memory_is_short_the_old_buckets_serve_and_attempts_are_few)
{
    memory_is_short = true;
    for (unsigned i = 0; i < MANY; i++) {
        put(&many[i], &words[i]);
        table_grow_if_crowded();
    }
    assert_int_equal(table()->doublings, 0);
    assert_in_range(attempts, 2, 8); /* at 65, 131, 263 ... */
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(count_in_order(&words[i]), 1);
    memory_is_short = false;
    pawl_store_relaxed32(&table()->grow_at, 0);
    for (unsigned i = 0; i < 10; i++)
        table_grow_if_crowded();
    assert_in_range(most_queues(), 1, 10);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(count_in_order(&words[i]), 1);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static int look_around_in_the_child(void)
{
    struct waiting waiter;
    must(table()->queues == 0);
    must(count_in_order(&words[3]) == 0);
    put(&waiter, &words[3]);
    must(count_in_order(&words[3]) == 1);
    must(most_queues() == 1);
    return 0;
}

TABLE_CASE(a_child_finds_an_empty_table_even_if_its_locks_were_held)
{
    for (unsigned i = 0; i < 200; i++) {
        put(&many[i], &words[i]);
        table_grow_if_crowded();
    }
    struct pawl_bucket *bucket = table_lock(&words[3]); /* as another thread of the parent might */
    bucket->holder = table_own_number() + 8;
    const int status = test_fork(look_around_in_the_child);
    table_unlock(bucket);
    assert_int_equal(status, 0);
    assert_int_equal(count_in_order(&words[3]), 1); /* the parent's table is untouched */
}

static uint32_t lock32, cond;
static uint64_t lock64;

static int look_at_the_words_in_the_child(void)
{
    must(table()->queues == 0);
    must(find(&lock32, TABLE_OF_LOCK32) == NULL && find(&lock64, TABLE_OF_LOCK64) == NULL);
    must(lock32 == 0x1000 && lock64 == UINT64_C(0x100000000000) && cond == 0);
    must(words[0] == 7);
    return 0;
}

/* What the parent's waiters keep in words goes; what holders have stays. */
TABLE_CASE(a_child_takes_back_what_the_parents_waiters_keep)
{
    const struct {
        const void *word;
        uint32_t owner;
        uint64_t bits;
    } waiters[] = {{&lock32, TABLE_OF_LOCK32, 0x200},
                   {&lock32, TABLE_OF_LOCK32, 0x40},
                   {&lock64, TABLE_OF_LOCK64, UINT64_C(0x4000000000)},
                   {&cond, TABLE_OF_COND, 0},
                   {&cond, TABLE_OF_COND, 0},
                   {&words[0], TABLE_OF_WAIT, UINT64_MAX /* a mask */}};
    struct waiting w[6];
    lock32 = 0x1000 + 0x240 + TABLE_PARKED;
    lock64 = UINT64_C(0x100000000000) + UINT64_C(0x4000000000) + TABLE_PARKED;
    cond = 2;
    words[0] = 7;
    for (unsigned i = 0; i < 6; i++) {
        (void)put_for(&w[i], waiters[i].word, waiters[i].owner);
        w[i].waiter.bits = waiters[i].bits;
    }
    assert_int_equal(test_fork(look_at_the_words_in_the_child), 0);
    assert_int_equal(lock32, 0x1000 + 0x240 + TABLE_PARKED);
    assert_int_equal(table()->queues, 4);
    start_afresh();
}

int main(int argc, char **argv)
{
    table_expect_forks(); /* no lock.c is here to do it before main */
    return test_main(argc, argv);
}
