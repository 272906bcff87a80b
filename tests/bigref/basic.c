/* SPDX-License-Identifier: MIT */
/* Big reference counts: who counts where, and that the last drop after a kill releases once. */
#include "support/counter_again.h"

#include <pawl/bigref.h>

#include "count/cells.h"

static unsigned released;
static void *released_with;

static void note_release(pawl_bigref *r, void *arg)
{
    (void)pawl_fetch_add_relaxed32(&released, 1);
    released_with = arg;
}

static int get_ready(void **state)
{
    released = 0;
    released_with = NULL;
    return 0;
}

static pawl_bigref fresh(void)
{
    pawl_bigref r;
    pawl_bigref_init(&r, note_release, &released);
    return r;
}

static bool is_local(const pawl_bigref *r)
{
    return (r->gate & PAWL_BIGREF_STATE_) == PAWL_BIGREF_OPEN_;
}

/* ---- One thread ------------------------------------------------------------------------------ */

TEST_CASE_WITH(the_struct_has_at_most_64_bytes_and_begins_with_one_reference, get_ready, NULL)
{
    static pawl_bigref constant = PAWL_BIGREF_INIT(note_release, NULL);
    assert_true(sizeof(pawl_bigref) <= 64);
    assert_int_equal(pawl_bigref_read(&constant), 1);
    assert_true(is_local(&constant));
}

TEST_CASE_WITH(as_long_as_one_thread_uses_it_it_takes_no_cells, get_ready, NULL)
{
    pawl_bigref r = fresh();
    for (unsigned i = 0; i < 1000; i++)
        pawl_bigref_get(&r);
    for (unsigned i = 0; i < 1000; i++)
        pawl_bigref_drop(&r);
    assert_int_equal(r.place, PAWL_PLACE_NONE_);
    assert_int_equal(pawl_bigref_read(&r), 1);
    assert_true(pawl_bigref_kill(&r));
    assert_int_equal(released, 0);
    pawl_bigref_drop(&r);
    assert_int_equal(released, 1);
    assert_ptr_equal(released_with, &released);
}

TEST_CASE_WITH(kill_releases_if_all_have_been_dropped, get_ready, NULL)
{
    pawl_bigref r = fresh();
    pawl_bigref_drop(&r);
    assert_int_equal(released, 0); /* nobody asks for zero yet */
    assert_true(pawl_bigref_try_get(&r));
    pawl_bigref_drop(&r);
    assert_true(pawl_bigref_kill(&r));
    assert_int_equal(released, 1);
}

TEST_CASE_WITH(killing_twice_does_nothing_the_second_time, get_ready, NULL)
{
    pawl_bigref r = fresh();
    assert_true(pawl_bigref_kill(&r));
    assert_false(pawl_bigref_kill(&r));
    assert_int_equal(pawl_bigref_read(&r), 1);
    pawl_bigref_drop(&r);
    assert_int_equal(released, 1);
    assert_false(pawl_bigref_kill(&r));
    assert_int_equal(released, 1);
}

TEST_CASE_WITH(after_kill_get_counts_until_zero_and_try_get_refuses_then, get_ready, NULL)
{
    pawl_bigref r = fresh();
    pawl_bigref_kill(&r);
    pawl_bigref_get(&r);
    assert_true(pawl_bigref_try_get(&r));
    assert_int_equal(pawl_bigref_read(&r), 3);
    pawl_bigref_drop(&r);
    pawl_bigref_drop(&r);
    assert_int_equal(released, 0);
    pawl_bigref_drop(&r);
    assert_int_equal(released, 1);
    assert_false(pawl_bigref_try_get(&r));
    assert_int_equal(pawl_bigref_read(&r), 0);
}

TEST_CASE_WITH(after_the_release_get_and_drop_do_nothing, get_ready, NULL)
{
    pawl_bigref r = fresh();
    pawl_bigref_kill(&r);
    pawl_bigref_drop(&r);
    pawl_bigref_get(&r);
    pawl_bigref_drop(&r);
    pawl_bigref_drop(&r);
    assert_int_equal(pawl_bigref_read(&r), 0);
    assert_int_equal(released, 1);
    assert_false(pawl_bigref_revive(&r));
}

TEST_CASE_WITH(a_killed_count_can_be_born_again, get_ready, NULL)
{
    pawl_bigref r = fresh();
    for (unsigned i = 1; i <= 5; i++) {
        pawl_bigref_get(&r);
        assert_true(pawl_bigref_kill(&r));
        assert_false(is_local(&r));
        assert_true(pawl_bigref_revive(&r));
        assert_true(is_local(&r));
        assert_true(pawl_bigref_revive(&r)); /* it lives */
        assert_int_equal(pawl_bigref_read(&r), 1 + i);
    }
    for (unsigned i = 0; i < 6; i++)
        pawl_bigref_drop(&r);
    assert_int_equal(released, 0);
    pawl_bigref_kill(&r);
    assert_int_equal(released, 1);
}

TEST_CASE_WITH(a_part_that_leaves_its_range_moves_to_and_from_the_global_part, get_ready, NULL)
{
    pawl_bigref r = fresh();
    for (uint64_t i = 0; i < 2 * PAWL_BIGREF_TARGET; i++)
        pawl_bigref_get(&r);
    assert_true(r.global == PAWL_BIGREF_BIAS + 1);
    assert_true(r.own == 2 * PAWL_BIGREF_TARGET);
    pawl_bigref_get(&r);
    assert_true(r.global == PAWL_BIGREF_BIAS + 1 + PAWL_BIGREF_TARGET);
    assert_true(r.own == PAWL_BIGREF_TARGET + 1);
    for (uint64_t i = 0; i < PAWL_BIGREF_TARGET + 1; i++)
        pawl_bigref_drop(&r);
    assert_true(r.own == 0);
    pawl_bigref_drop(&r);
    assert_true(r.own == PAWL_BIGREF_TARGET - 1);
    assert_true(r.global == PAWL_BIGREF_BIAS + 1);
    for (uint64_t i = 0; i < PAWL_BIGREF_TARGET; i++)
        pawl_bigref_drop(&r); /* below what it began with: the bias carries it */
    assert_true(r.own == PAWL_BIGREF_TARGET - 1);
    assert_int_equal(pawl_bigref_read(&r), 0);
    pawl_bigref_kill(&r);
    assert_int_equal(released, 1);
}

TEST_CASE_WITH(destroy_ends_it_without_a_release, get_ready, NULL)
{
    pawl_bigref r = fresh();
    pawl_bigref_get(&r);
    pawl_bigref_destroy(&r);
    assert_int_equal(released, 0);
    assert_false(pawl_bigref_try_get(&r));
    assert_false(pawl_bigref_kill(&r));
}

/* ---- Several threads ------------------------------------------------------------------------- */

static void get_one(void *opaque, unsigned index)
{
    pawl_bigref_get((pawl_bigref *)opaque);
}

static void drop_one(void *opaque, unsigned index)
{
    pawl_bigref_drop((pawl_bigref *)opaque);
}

TEST_CASE_WITH(the_second_thread_shares_it, get_ready, NULL)
{
    pawl_bigref r = fresh();
    pawl_bigref_get(&r);
    assert_int_equal(r.place, PAWL_PLACE_NONE_);
    test_threads(4, get_one, &r);
    assert_true(r.place >= PAWL_PLACE_FIRST_);
    assert_int_equal(r.own, 0);
    assert_int_equal(pawl_bigref_read(&r), 6);
    pawl_bigref_kill(&r);
    assert_int_equal(r.place, PAWL_PLACE_NONE_); /* given back */
    assert_int_equal(pawl_bigref_read(&r), 6);
    test_threads(5, drop_one, &r);
    assert_int_equal(released, 0);
    pawl_bigref_drop(&r);
    assert_int_equal(released, 1);
}

TEST_CASE_WITH(other_threads_may_drop_what_this_one_got, get_ready, NULL)
{
    pawl_bigref r = fresh();
    for (unsigned i = 0; i < 8; i++)
        pawl_bigref_get(&r);
    test_threads(8, drop_one, &r);
    assert_int_equal(pawl_bigref_read(&r), 1);
    pawl_bigref_kill(&r);
    pawl_bigref_drop(&r);
    assert_int_equal(released, 1);
}

TEST_CASE_WITH(without_free_cells_it_counts_globally, get_ready, NULL)
{
    struct pawl_counters *all = counters_here();
    static uint32_t saved[PAWL_COUNTER_CELLS / 32];
    pawl_bigref r = fresh();
    memcpy(saved, all->used[1], sizeof saved);
    memset(all->used[1], 0xff, sizeof saved);
    pawl_bigref_get(&r);
    test_threads(4, get_one, &r);
    assert_int_equal(r.gate & PAWL_BIGREF_STATE_, PAWL_BIGREF_GLOBAL_);
    assert_int_equal(pawl_bigref_read(&r), 6);
    memcpy(all->used[1], saved, sizeof saved);
    test_threads(3, drop_one, &r);
    assert_true(pawl_bigref_revive(&r)); /* asks for cells again */
    assert_true(is_local(&r));
    assert_int_equal(pawl_bigref_read(&r), 3);
    pawl_bigref_kill(&r);
    test_threads(3, drop_one, &r);
    assert_int_equal(released, 1);
}

/* An object on the heap, with its count inside. Release frees it: a drop that touched it later
 * would be seen by AddressSanitizer. */
struct object {
    pawl_bigref users;
    long long plain[8]; /* written by each user before its drop, read by release */
    uint32_t *freed;
};

static void free_object(pawl_bigref *r, void *arg)
{
    struct object *o = (struct object *)arg;
    long long sum = 0;
    must(&o->users == r);
    for (unsigned i = 0; i < 8; i++)
        sum += o->plain[i];
    must(sum == 8 * 9 / 2);
    (void)pawl_fetch_add_relaxed32(o->freed, 1);
    free(o);
}

static void use_object(void *opaque, unsigned index)
{
    struct object *o = (struct object *)opaque;
    for (int i = 0; i < 50; i++) {
        pawl_bigref_get(&o->users);
        pawl_bigref_drop(&o->users);
    }
    o->plain[index] = index + 1; /* index 0 drops the creator's reference */
    if (index == 3)
        pawl_bigref_kill(&o->users);
    pawl_bigref_drop(&o->users);
}

TEST_CASE_WITH(the_last_drop_frees_the_object_and_sees_what_all_did, get_ready, NULL)
{
    uint32_t freed = 0, i, k;
    for (i = 0; i < TEST_SCALE(300); i++) {
        struct object *o = (struct object *)calloc(1, sizeof *o);
        must(o != NULL);
        o->freed = &freed;
        pawl_bigref_init(&o->users, free_object, o);
        for (k = 1; k < 8; k++)
            pawl_bigref_get(&o->users);
        test_threads(8, use_object, o);
        assert_int_equal(freed, i + 1);
    }
}

static void kill_it(void *opaque, unsigned index)
{
    (void)pawl_bigref_kill((pawl_bigref *)opaque);
    pawl_bigref_drop((pawl_bigref *)opaque);
}

TEST_CASE_WITH(of_many_who_kill_and_drop_one_releases, get_ready, NULL)
{
    for (unsigned i = 1; i <= TEST_SCALE(200); i++) {
        static pawl_bigref r;
        pawl_bigref_init(&r, note_release, NULL);
        for (unsigned k = 1; k < 4; k++)
            pawl_bigref_get(&r);
        test_threads(4, kill_it, &r);
        assert_int_equal(released, i);
    }
}

TEST_MAIN(again_arguments(argv))
