/* SPDX-License-Identifier: MIT */
/*
 * The memory of counters that come and go.
 *
 *   one thread   makes a counter, uses it, destroys it, again and again
 *   each time    the next place of the table, in the block of each thread
 *
 * So after a round through the table each thread's whole block had memory, although one counter
 * lived at a time, and no block ever gave any back. A destroy also stored zeroes into blocks that
 * had never counted there. Now the lowest free place comes first, and a range of places that lost
 * its last counter goes back to the system.
 */
#include "test.h"

#include <pawl/bigref.h>
#include <pawl/counter.h>

#include <fcntl.h>
#include <sys/prctl.h>

#include "count/cells.h"

enum { MANY = PAWL_COUNTER_CELLS / 4, ROUNDS = 5000, PAIR_BYTES = 16, CELL_BYTES = 8 };

/* ---- One at a time --------------------------------------------------------------------------- */

TEST_CASE(statistical_counters_one_at_a_time_have_one_place)
{
    uint32_t place = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pawl_counter c = PAWL_COUNTER_INIT;
        pawl_counter_inc(&c);
        if (i == 0)
            place = c.place;
        assert_int_equal(c.place, place);
        assert_int_equal(pawl_counter_destroy(&c), 1);
    }
}

TEST_CASE(exact_counters_one_at_a_time_have_one_place)
{
    uint32_t place = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pawl_counter_exact c = PAWL_COUNTER_EXACT_INIT;
        pawl_counter_exact_add(&c, 1);
        if (i == 0)
            place = c.place;
        assert_int_equal(c.place, place);
        assert_int_equal(pawl_counter_exact_destroy(&c), 1);
    }
}

TEST_CASE(limit_counters_one_at_a_time_have_one_place)
{
    uint32_t place = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pawl_counter_limit c = PAWL_COUNTER_LIMIT_INIT(INT32_MAX);
        assert_true(pawl_counter_limit_try_add(&c, 1));
        if (i == 0)
            place = c.place;
        assert_int_equal(c.place, place);
        assert_int_equal(pawl_counter_limit_destroy(&c), 1);
    }
}

static void no_release(pawl_bigref *r, void *arg)
{
}

static void get_one(void *r, unsigned index)
{
    pawl_bigref_get((pawl_bigref *)r);
}

TEST_CASE(big_references_one_at_a_time_have_one_place)
{
    uint32_t place = 0;
    for (int i = 0; i < 50; i++) {
        pawl_bigref r;
        pawl_bigref_init(&r, no_release, NULL);
        pawl_bigref_get(&r);
        test_threads(1, get_one, &r); /* shares it */
        if (i == 0)
            place = r.place;
        assert_true(r.place >= PAWL_PLACE_FIRST_);
        assert_int_equal(r.place, place);
        pawl_bigref_kill(&r);
        pawl_bigref_destroy(&r);
    }
}

/* ---- Many, and then none --------------------------------------------------------------------- */

static pawl_counter_exact exact[MANY];

/* A second thread, which does what it is told and stays until the end. */
static pthread_barrier_t told, answered;
static void (*task)(void);
static char *its_block;

static void count_one(void)
{
    static pawl_counter c;
    pawl_counter_inc(&c); /* never destroyed: the thread has a block */
    its_block = ipawl_counter_mine_()->block;
}

static void *stay(void *unused)
{
    for (;;) {
        pthread_barrier_wait(&told);
        if (task == NULL)
            return NULL;
        task();
        pthread_barrier_wait(&answered);
    }
}

static void tell(void (*what)(void))
{
    task = what;
    pthread_barrier_wait(&told);
    if (what != NULL)
        pthread_barrier_wait(&answered);
}

/* How many pages of the block's pairs have memory. Pages that were only read have none; the system
 * maps one page of zeroes for all. */
static unsigned with_memory(const char *block)
{
    enum { PRESENT = 63, OUR_OWN = 56 }; /* bits of Linux's pagemap */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t half = (size_t)PAWL_COUNTER_CELLS * CELL_BYTES;
    const int map = open("/proc/self/pagemap", O_RDONLY);
    unsigned found = 0;
    must(map >= 0);
    for (size_t at = half; at < 2 * half; at += page) {
        const off_t entry = (off_t)(((uintptr_t)block + at) / page * sizeof(uint64_t));
        uint64_t bits;
        must(pread(map, &bits, sizeof bits, entry) == sizeof bits);
        found += (bits >> PRESENT & bits >> OUR_OWN & 1) != 0;
    }
    close(map);
    return found;
}

static void add_to_all(void)
{
    for (unsigned i = 0; i < MANY; i++)
        pawl_counter_exact_add(&exact[i], 1);
}

static void destroy_all(int64_t count)
{
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(pawl_counter_exact_destroy(&exact[i]), count);
    memset(exact, 0, sizeof exact);
}

static unsigned pages_of(size_t bytes)
{
    return (unsigned)(bytes / (size_t)sysconf(_SC_PAGESIZE));
}

/* The system returns whole pages only. */
static void skip_where_pages_are_large(void)
{
    if (PAWL_COUNTER_RANGE_BYTES % (size_t)sysconf(_SC_PAGESIZE) != 0)
        skip();
}

TEST_CASE(memory_goes_back_when_many_counters_have_ended)
{
    const char *blocks[2];
    skip_where_pages_are_large();
    tell(count_one);
    blocks[1] = its_block;
    count_one();
    blocks[0] = its_block;
    for (int round = 0; round < 2; round++) { /* the second time in memory that was given back */
        add_to_all();
        tell(add_to_all);
        for (unsigned i = 0; i < 2; i++)
            assert_true(with_memory(blocks[i]) >= pages_of((size_t)MANY * PAIR_BYTES));
        destroy_all(2);
        for (unsigned i = 0; i < 2; i++)
            assert_true(with_memory(blocks[i]) <= pages_of(PAWL_COUNTER_RANGE_BYTES));
    }
}

/* The second thread has a block, and counts in none of these. */
TEST_CASE(destroy_gives_no_memory_to_a_block_that_did_not_count)
{
    skip_where_pages_are_large();
    tell(count_one);
    unsigned before = with_memory(its_block);
    for (unsigned i = 0; i < MANY; i++)
        pawl_counter_exact_add(&exact[i], 1);
    for (unsigned i = 0; i < MANY; i += 2) /* no range becomes free and goes back */
        assert_int_equal(pawl_counter_exact_destroy(&exact[i]), 1);
    assert_int_equal(with_memory(its_block), before);
    for (unsigned i = 1; i < MANY; i += 2)
        assert_int_equal(pawl_counter_exact_destroy(&exact[i]), 1);
    memset(exact, 0, sizeof exact);
}

/* The last spare range stays, so this costs no system call. */
TEST_CASE(one_counter_that_comes_and_goes_gives_no_range_back)
{
    const unsigned in_a_range = PAWL_COUNTER_RANGE_BYTES / PAIR_BYTES;
    const uint32_t second = UINT32_C(1) << 1;
    const struct pawl_counters *all = counters_here();
    for (unsigned i = 0; i < in_a_range; i++) /* the first range is full */
        pawl_counter_exact_add(&exact[i], 1);
    for (unsigned i = 0; i < 100; i++) {
        pawl_counter_exact c = PAWL_COUNTER_EXACT_INIT;
        pawl_counter_exact_add(&c, 1);
        assert_int_equal(all->pairs[1], 1);
        assert_int_equal(pawl_counter_exact_destroy(&c), 1);
        assert_int_equal(all->pairs[1], 0);
        assert_true((all->touched & second) != 0);
    }
    for (unsigned i = 0; i < in_a_range; i++)
        assert_int_equal(pawl_counter_exact_destroy(&exact[i]), 1);
    memset(exact, 0, sizeof exact);
    assert_int_equal(all->touched & second, 0); /* two were spare: the higher one went */
}

int main(int argc, char **argv)
{
    must(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0); /* a huge page is memory for many blocks */
    must(pthread_barrier_init(&told, NULL, 2) == 0);
    must(pthread_barrier_init(&answered, NULL, 2) == 0);
    const pthread_t other = test_start(stay, NULL);
    int result = test_main(argc, argv);
    tell(NULL);
    test_join(other);
    return result;
}
