/* SPDX-License-Identifier: MIT */
/* Limit counters: never beyond the limit, exact at it, and right in the room below. */
#include "support/counter_again.h"

#include <pawl/counter.h>

TEST_CASE(exactly_as_many_fit_as_the_limit_says)
{
    static const uint64_t limits[] = {0, 1, 7, 100, 5000, 100000};
    for (unsigned i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        pawl_counter_limit c;
        uint64_t fitted = 0;
        pawl_counter_limit_init(&c, limits[i]);
        while (pawl_counter_limit_try_add(&c, 1))
            fitted++;
        assert_int_equal(fitted, limits[i]);
        assert_int_equal(pawl_counter_limit_read(&c), limits[i]);
        assert_false(pawl_counter_limit_try_add(&c, 1));
        if (fitted > 0) {
            pawl_counter_limit_sub(&c, 1);
            assert_true(pawl_counter_limit_try_add(&c, 1));
        }
        assert_int_equal(pawl_counter_limit_destroy(&c), limits[i]);
    }
}

TEST_CASE(a_refused_add_changes_nothing)
{
    pawl_counter_limit c = PAWL_COUNTER_LIMIT_INIT(1000000);
    assert_true(pawl_counter_limit_try_add(&c, 999999));
    assert_false(pawl_counter_limit_try_add(&c, 2));
    assert_false(pawl_counter_limit_try_add(&c, (uint64_t)INT64_MAX));
    assert_false(pawl_counter_limit_try_add(&c, UINT64_MAX));
    assert_int_equal(pawl_counter_limit_read(&c), 999999);
    assert_true(pawl_counter_limit_try_add(&c, 1));
    assert_true(pawl_counter_limit_try_add(&c, 0));
    assert_int_equal(pawl_counter_limit_destroy(&c), 1000000);
}

TEST_CASE(the_largest_limit_is_the_largest_signed_number)
{
    pawl_counter_limit c;
    pawl_counter_limit_init(&c, UINT64_MAX);
    assert_true(pawl_counter_limit_try_add(&c, (uint64_t)INT64_MAX - 10));
    assert_false(pawl_counter_limit_try_add(&c, 11));
    assert_true(pawl_counter_limit_try_add(&c, 10));
    assert_false(pawl_counter_limit_try_add(&c, 1));
    assert_true(pawl_counter_limit_destroy(&c) == INT64_MAX);
}

TEST_CASE(what_is_subtracted_without_having_been_added_counts_below_zero)
{
    pawl_counter_limit c = PAWL_COUNTER_LIMIT_INIT(10);
    pawl_counter_limit_sub(&c, 5000);
    assert_int_equal(pawl_counter_limit_read(&c), -5000);
    assert_true(pawl_counter_limit_try_add(&c, 5010));
    assert_false(pawl_counter_limit_try_add(&c, 1));
    pawl_counter_limit_destroy(&c);
}

TEST_CASE(a_new_limit_counts_at_once)
{
    pawl_counter_limit c = PAWL_COUNTER_LIMIT_INIT(1000000);
    assert_true(pawl_counter_limit_try_add(&c, 500));
    pawl_counter_limit_set_limit(&c, 400);
    assert_int_equal(pawl_counter_limit_read(&c), 500);
    assert_false(pawl_counter_limit_try_add(&c, 1));
    pawl_counter_limit_sub(&c, 101);
    assert_true(pawl_counter_limit_try_add(&c, 1));
    assert_false(pawl_counter_limit_try_add(&c, 1));
    pawl_counter_limit_set_limit(&c, 1000000);
    assert_true(pawl_counter_limit_try_add(&c, 999600));
    assert_false(pawl_counter_limit_try_add(&c, 1));
    assert_int_equal(pawl_counter_limit_destroy(&c), 1000000);
}

static void take_one(void *opaque, unsigned index)
{
    must(pawl_counter_limit_try_add((pawl_counter_limit *)opaque, 1));
}

/* Each of those threads took more credit than it used. */
TEST_CASE(the_last_one_finds_the_credit_of_threads_that_are_gone)
{
    pawl_counter_limit c = PAWL_COUNTER_LIMIT_INIT(100000);
    uint64_t fitted = 0;
    test_threads(8, take_one, &c);
    while (pawl_counter_limit_try_add(&c, 1))
        fitted++;
    assert_int_equal(fitted, 100000 - 8);
    assert_int_equal(pawl_counter_limit_destroy(&c), 100000);
}

struct rush {
    pawl_counter_limit c;
    uint64_t kept, refused;
};

static void add_until_refused(void *opaque, unsigned index)
{
    struct rush *r = (struct rush *)opaque;
    uint64_t kept = 0, refused = 0;
    uint64_t random = test_seed() + index;
    while (refused < 50) {
        if (pawl_counter_limit_try_add(&r->c, 1))
            kept++;
        else
            refused++;
        if (test_random_below(&random, 4) == 0 && kept > 0) {
            pawl_counter_limit_sub(&r->c, 1);
            kept--;
        }
        if (test_random_below(&random, 5000) == 0)
            must(pawl_counter_limit_read(&r->c) <= 50000);
    }
    (void)pawl_fetch_add_relaxed64(&r->kept, kept);
}

TEST_CASE(threads_that_rush_to_the_limit_never_overstep_it)
{
    static struct rush r;
    memset(&r, 0, sizeof r);
    pawl_counter_limit_init(&r.c, 50000);
    test_threads(6, add_until_refused, &r);
    int64_t count = pawl_counter_limit_read(&r.c);
    assert_int_equal(count, r.kept);
    assert_in_range(count, 0, 50000);
    while (pawl_counter_limit_try_add(&r.c, 1)) /* what the last ones gave back fits again */
        count++;
    assert_int_equal(count, 50000);
    pawl_counter_limit_destroy(&r.c);
}

/* Down and up across the opening of the gate, many times. */
TEST_CASE(crossing_the_point_where_credit_is_called_in_loses_nothing)
{
    pawl_counter_limit c = PAWL_COUNTER_LIMIT_INIT(3000);
    int64_t count = 0;
    uint64_t random = test_seed();
    for (int i = 0; i < TEST_SCALE(20000); i++) {
        const uint64_t n = test_random_below(&random, 700);
        if (test_random_below(&random, 2) == 0) {
            const bool fits = count + (int64_t)n <= 3000;
            assert_int_equal(pawl_counter_limit_try_add(&c, n), fits);
            count += fits ? (int64_t)n : 0;
        } else if (count >= (int64_t)n) {
            pawl_counter_limit_sub(&c, n);
            count -= (int64_t)n;
        }
        if (i % 100 == 0)
            assert_int_equal(pawl_counter_limit_read(&c), count);
    }
    assert_int_equal(pawl_counter_limit_destroy(&c), count);
}

TEST_CASE(after_destroy_nothing_fits)
{
    pawl_counter_limit c = PAWL_COUNTER_LIMIT_INIT(3000);
    assert_true(pawl_counter_limit_try_add(&c, 1));
    assert_int_equal(pawl_counter_limit_destroy(&c), 1);
    assert_false(pawl_counter_limit_try_add(&c, 1));
    pawl_counter_limit_sub(&c, 1);
    assert_int_equal(pawl_counter_limit_read(&c), 1);
    assert_int_equal(pawl_counter_limit_destroy(&c), 1);
}

TEST_MAIN(again_arguments(argv))
