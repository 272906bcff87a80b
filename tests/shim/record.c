/* SPDX-License-Identifier: MIT */
/*
 * What a thread remembers of its reads (shim/record.h): all of them in any order of unlocking, and
 * the same after a signal handler as before it. Needs no lock, only numbers of some.
 */
#include "test.h"
#include "../../tool/shim/record.h"

uint64_t life_given; /* rwlock.c has the library's */

/* More than one read has the same first place, and some reads are of one lock. */
enum { LOCKS = 24, READS = 16, ROUNDS = 20000 };

static uint32_t lives[LOCKS][14]; /* as far apart as locks */
static unsigned held[READS];
static unsigned holds;

static struct life of(unsigned lock)
{
    return life_begin(lives[lock]);
}

static unsigned any_lock(uint64_t *random)
{
    return test_random_below(random, LOCKS);
}

static void lock(unsigned which)
{
    assert_int_equal(record_push(of(which)), 0);
    held[holds++] = which;
}

static void unlock(unsigned i)
{
    const unsigned which = held[i];
    held[i] = held[--holds];
    assert_true(record_pop_first(of(which)) || record_pop(of(which)));
}

static void unlock_any(uint64_t *random)
{
    unlock(test_random_below(random, holds));
}

static bool is_held(unsigned which)
{
    for (unsigned i = 0; i < holds; i++)
        if (held[i] == which)
            return true;
    return false;
}

static void assert_all_is_remembered(void)
{
    for (unsigned i = 0; i < LOCKS; i++)
        assert_true(record_has(of(i)) == is_held(i));
}

TEST_CASE(a_thread_remembers_its_reads_in_any_order_of_unlocking)
{
    const struct record none = {0};
    uint64_t random = test_seed();
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (holds == 0 || (holds < READS && test_random_below(&random, 2) == 0))
            lock(any_lock(&random));
        else
            unlock_any(&random);
        assert_all_is_remembered();
        assert_int_equal(record.beyond, 0);
    }
    while (holds > 0)
        unlock(0);
    assert_int_equal(record.used, 0);
    assert_memory_equal(record.first, none.first, sizeof none.first);
    assert_false(record_pop_first(of(0)));
    assert_false(record_pop(of(0)));
}

static void assert_same(const struct record *before)
{
    assert_int_equal(record.used, before->used);
    assert_int_equal(record.beyond, before->beyond);
    assert_memory_equal(record.first, before->first, sizeof record.first);
    assert_memory_equal(record.more, before->more, before->used * sizeof record.more[0]);
}

/*
 * A handler that interrupts the thread, locks some, and unlocks them in any order. The thread
 * goes on with what it has read before:
 *
 *   thread: has found its read of L in the first place
 *   handler: reads L, whose first place is taken, and unlocks it: not the thread's read
 *   thread: empties the first place
 *
 * Otherwise the record would keep a read of L that is over. The same for a place that the thread
 * has found empty, and for an entry of the stack that counts and is not filled in yet.
 */
TEST_CASE(a_handler_leaves_the_record_as_it_found_it)
{
    uint64_t random = test_seed();
    struct record before;
    unsigned depth, outer;
    for (unsigned round = 0; round < ROUNDS; round++) {
        outer = test_random_below(&random, READS - 6);
        while (holds < outer)
            lock(any_lock(&random));
        while (holds > outer)
            unlock_any(&random);
        if (test_random_below(&random, 4) == 0)
            record.more[record.used++] = of(any_lock(&random)).number;
        before = record;
        depth = holds + 1 + test_random_below(&random, 4);
        while (holds < depth)
            lock(holds > 0 && test_random_below(&random, 2) == 0
                     ? held[test_random_below(&random, holds)]
                     : any_lock(&random));
        while (holds > outer)
            unlock(outer + test_random_below(&random, holds - outer));
        assert_same(&before);
        memset(&record, 0, sizeof record);
        for (unsigned i = 0; i < holds; i++)
            assert_int_equal(record_push(of(held[i])), 0);
    }
    memset(&record, 0, sizeof record);
    holds = 0;
}

TEST_CASE(a_full_record_counts_the_rest)
{
    for (unsigned i = 0; i < RECORD_FIRST + RECORD_MORE + 5; i++)
        assert_int_equal(record_push(of(0)), 0); /* they have one first place */
    assert_int_equal(record.used, RECORD_MORE);
    assert_int_equal(record.beyond, RECORD_FIRST + 4);
    for (unsigned i = 0; i < RECORD_MORE + 1; i++)
        assert_true(record_pop_first(of(0)) || record_pop(of(0)));
    assert_false(record_has(of(0)));
    record.beyond = 0;
}

TEST_MAIN()
