/* SPDX-License-Identifier: MIT */
/* Rules that the published LRU job needs, each by a case that is computed by hand: its keys, its
 * warm caches, the lock that it measured, and a poller whose sibling ends its wait. */
#include "small.hpp"

#include "models/ancestor.hpp"
#include "workloads/keys.hpp"

#include <vector>

#include "test.h" /* last: cmocka defines fail, skip and more as macros */

namespace {

/* The poller reads at 2000 and looks again at 2006. Its core has the line all the time. */
TEST_CASE(a_poller_notices_that_its_sibling_changed_the_word_between_two_reads)
{
    sim::machine m = round_numbers();
    m.smt = 2;
    m.smt_compute = m.smt_walk = m.smt_beside_waiter = 1;
    engine e(m, 1);
    std::uint32_t *w = word();
    long seen = 0;
    e.add(0, [&] {
        (void)sim::add(w, 0U);
        until(2000);
        (void)sim::poll(w, 1, [](std::uint32_t v) { return v == 1; });
        seen = engine::running->now() / ns;
    });
    e.add(16, [&] {
        until(2003);
        (void)sim::add(w, 1U);
    });
    e.run();
    assert_int_equal(seen, 2006 + 1);
}

TEST_CASE(lines_that_were_shared_before_the_run_are_in_those_caches_alone)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long reads[3] = {};
    e.share(w, 4, 2);
    for (unsigned i = 0; i < 3; i++)
        e.add(i, [&, i] { reads[i] = TOOK(sim::load(w)); });
    e.run();
    assert_int_equal(reads[0], 1);
    assert_int_equal(reads[1], 1);
    assert_int_equal(reads[2], 40 + 1); /* core 1 is in its cluster, not its pair */
}

/* A woken thread's own kernel work comes after the latency, and a busy sibling slows it alone. */
TEST_CASE(a_woken_thread_computes_before_it_goes_on)
{
    sim::machine m = round_numbers();
    m.smt = 2;
    m.smt_compute = 2;
    m.wake_work = 700 * ns;
    engine e(m, 1);
    std::uint32_t *const beds[] = {word(), word()};
    long up[2] = {};
    for (unsigned i = 0; i < 2; i++)
        e.add(4 * i, [&, i] {
            assert_true(pawl_hook_wait(beds[i], 0, UINT64_MAX));
            up[i] = engine::running->now() / ns;
        });
    e.add(16, [&] { /* the sibling of the first */
                    until(5000);
                    for (int i = 0; i < 30; i++) {
                        engine::running->work(1000 * ns);
                        engine::running->turn();
                    }
    });
    e.add(8, [&] {
        until(10000);
        for (std::uint32_t *bed : beds)
            (void)pawl_hook_wake(bed, 1);
    });
    e.run();
    /* The call; a look at a bucket from far; its lock, the list, who sleeps, and free; the wake. */
    const long wake = 100 + 401 + 310 + 1 + 10 + 10 + 2 + 200;
    assert_int_equal(up[0], 10000 + wake + 5000 + 2 * 700);
    assert_int_equal(up[1], 10000 + 2 * wake + 5000 + 700);
}

TEST_CASE(a_compare_exchange_that_fails_costs_its_thread_more)
{
    sim::machine m = round_numbers();
    m.failed = 7 * ns;
    engine e(m, 1);
    std::uint32_t *w = word();
    long good = 0, bad = 0, moved = 0, after = 0;
    e.add(0, [&] {
        (void)sim::add(w, 1U);
        good = TOOK((void)sim::cas(w, 1U, 2U));
        bad = TOOK((void)sim::cas(w, 1U, 3U));
    });
    e.add(1, [&] {
        until(2000);
        moved = TOOK((void)sim::cas(w, 1U, 3U));
    });
    e.add(2, [&] { /* the line is free when the instruction ends, at 2030 */
                   until(2030);
                   after = TOOK((void)sim::add(w, 1U));
    });
    e.run();
    assert_int_equal(good, 10);
    assert_int_equal(bad, 10 + 7);
    assert_int_equal(moved, 20 + 10 + 7);
    assert_int_equal(after, 100 + 10);
    assert_int_equal(*w, 3);
}

using lock = sim::model_ancestor;

lock &new_lock()
{
    return *new (sim::arena_take(64)) lock;
}

TEST_CASE(the_ancestors_word_counts_readers_seekers_and_writers)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    lock &l = new_lock();
    e.add(0, [&] {
        l.take_read();
        assert_true(l.word == lock::reader);
        assert_true(l.try_read_to_seek());
        assert_true(l.word == lock::seeks);
        l.take_read();
        assert_false(l.try_read_to_seek()); /* there is a seeker */
        assert_false(l.try_read_to_write());
        assert_true(l.word == lock::seeks + lock::reader);
        l.drop_read();
        l.seek_to_write();
        assert_true(l.word == lock::writes);
        l.drop_write();
        l.take_seek();
        l.drop_seek();
        l.take_write();
        l.drop_write();
        l.take_read();
        assert_true(l.try_read_to_write());
        l.drop_write();
        assert_true(l.word == 0);
    });
    e.run();
}

/* The claim fails at 2030 and is withdrawn at 2040. Looks follow after 1, 2, 4, ... 256 hints and
 * after 256 again, at 5 each; a look at a line that the core has costs 1. The last one finds that
 * the other core has changed the line (20 + 1); the claim then takes it from two sharers (25). */
TEST_CASE(the_ancestors_pauses_double_from_one_hint_to_256)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    lock &l = new_lock();
    long granted = 0;
    e.add(0, [&] {
        l.take_write();
        until(5000);
        l.drop_write();
    });
    e.add(1, [&] {
        until(2000);
        l.take_seek();
        granted = engine::running->now() / ns;
    });
    e.run();
    const long pauses = 5 * (1 + 2 + 4 + 8 + 16 + 32 + 64 + 128 + 256 + 256);
    assert_int_equal(granted, 2000 + 30 + 10 + pauses + 9 + 21 + 25 + 10);
}

/* A writer that found readers looks without a hint; the reader's release comes at 3000. */
TEST_CASE(the_ancestors_writer_waits_for_readers_by_looking)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    lock &l = new_lock();
    long granted = 0;
    e.add(0, [&] {
        l.take_read();
        until(3000);
        l.drop_read();
    });
    e.add(1, [&] {
        until(2000);
        l.take_write();
        granted = engine::running->now() / ns;
    });
    e.run();
    /* The addition of the reader: 20 + 10. The line is free again then, and comes back. */
    assert_int_equal(granted, 3000 + 20 + 10 + 20 + 1);
}

/* Of four keys two are held after a trim: the next miss comes after two lookups, and one more after
 * four. */
TEST_CASE(a_cycle_of_misses_is_the_sum_over_the_keys_that_are_missing)
{
    const sim::cache_shape small = {2, 2, 4};
    assert_true(std::abs(small.cycle() - 6) < 1e-9);
    assert_true(std::abs(small.miss_share() - 1.0 / 3) < 1e-9);
    assert_int_equal(small.missing(6), 2);   /* from trim to trim */
    assert_int_equal(small.missing(0.1), 1); /* a moment of a cycle: 4 keys * 1/3 */
    const sim::cache_shape roomy = {2, 4, 4};
    assert_true(roomy.miss_share() == 0);
    assert_int_equal(roomy.missing(100), 0);
}

TEST_CASE(a_run_takes_the_draw_with_the_misses_of_a_long_one)
{
    for (const std::uint32_t hit : {50, 80, 90, 95, 98, 99}) {
        const sim::cache_shape shape = {32, 3200, 320000 / hit};
        const auto held = sim::held_keys(shape, 1, 2080);
        const std::uint64_t draw = sim::typical_draw(shape, held, 1, 4, 80, 2000);
        const double mean = 2000 * shape.miss_share();
        const double misses = sim::misses_of(shape, held, draw, 4, 80, 2000);
        assert_true(std::abs(misses - mean) < 1);
        const unsigned many = sim::misses_of(shape, held, 5, 4, 0, 400000);
        assert_true(std::abs(many / 400000.0 / shape.miss_share() - 1) < 0.06);
    }
}

} // namespace

TEST_MAIN()
