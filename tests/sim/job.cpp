/* SPDX-License-Identifier: MIT */
/* Rules that the published LRU job needs, each by a case that is computed by hand. */
#include "small.hpp"

#include "words.hpp"

#include "test.h" /* last: cmocka defines fail, skip and more as macros */

namespace {

/* The poller reads at 2000 and looks again at 2006. Its core has the line all the time. */
void a_poller_notices_that_its_sibling_changed_the_word_between_two_reads(void **)
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

void lines_that_were_shared_before_the_run_are_in_those_caches_alone(void **)
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
void a_woken_thread_computes_before_it_goes_on(void **)
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
    assert_int_equal(up[0], 10000 + 310 + 5000 + 2 * 700);
    assert_int_equal(up[1], 10000 + 620 + 5000 + 700);
}

void a_compare_exchange_that_fails_costs_its_thread_more(void **)
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

} // namespace

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_poller_notices_that_its_sibling_changed_the_word_between_two_reads),
        cmocka_unit_test(lines_that_were_shared_before_the_run_are_in_those_caches_alone),
        cmocka_unit_test(a_woken_thread_computes_before_it_goes_on),
        cmocka_unit_test(a_compare_exchange_that_fails_costs_its_thread_more),
    };
    return test_run(argc, argv, tests);
}
