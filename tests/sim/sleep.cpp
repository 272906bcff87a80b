/* SPDX-License-Identifier: MIT */
/* Threads that sleep and wake each other, each rule by a case that is computed by hand. */
#include "small.hpp"

#include "models/glibc.hpp"

#include <algorithm>
#include <cassert>

#include "test.h" /* last: cmocka defines fail, skip and more as macros */

namespace {

TEST_CASE(a_sleeper_runs_when_its_waker_has_woken_it)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long up = 0, wake = 0;
    unsigned woken = 0;
    e.add(0, [&] {
        assert(pawl_hook_wait(w, 0, UINT64_MAX));
        up = engine::running->now() / ns;
    });
    e.add(2, [&] {
        until(10000);
        wake = TOOK(woken = pawl_hook_wake(w, 1));
    });
    e.run();
    assert_int_equal(woken, 1);
    /* The call; a look at the bucket, which the sleeper had; its lock, the list, who is on it, and
     * free again; the wake. */
    assert_int_equal(wake, 100 + 101 + 60 + 1 + 10 + 10 + 2 + 200);
    assert_int_equal(up, 10000 + wake + 5000);
}

/* A membarrier paid for an interrupt of a thread that was not there:
 *   1. A thread sleeps; another wakes it.
 *   2. Before it runs, its waker passes a heavy fence. The kernel finds that processor idle.
 *   3. The simulator took it for a running thread: the fence was dear, and so was its next work. */
TEST_CASE(a_membarrier_interrupts_no_woken_thread_that_does_not_run_yet)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long early = 0, late = 0, work = 0;
    e.add(0, [&] {
        assert(pawl_hook_wait(w, 0, UINT64_MAX));
        work = TOOK(engine::running->work(100 * ns));
        until(30000);
    });
    e.add(2, [&] {
        until(10000);
        (void)pawl_hook_wake(w, 1);
        early = TOOK(heavy());
        until(20000);
        late = TOOK(heavy());
    });
    e.run();
    assert_int_equal(early, 100);
    assert_int_equal(work, 100);
    assert_int_equal(late, 100 + 900);
}

TEST_CASE(a_sleep_is_refused_when_the_value_differs_and_ends_at_its_deadline)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    bool differs = false, late = true;
    long up = 0;
    e.add(0, [&] {
        differs = pawl_hook_wait(w, 1, UINT64_MAX);
        late = pawl_hook_wait(w, 0, 9000);
        up = engine::running->now() / ns;
    });
    e.run();
    assert_true(differs);
    assert_false(late);
    assert_int_equal(up, 9000 + 5000 + 10); /* and it leaves the bucket */
}

TEST_CASE(a_call_lasts_from_none_to_twice_its_price)
{
    sim::machine m = round_numbers();
    m.spread = 1;
    engine e(m, 1);
    std::uint32_t *w = word();
    long least = 1000, most = 0;
    e.add(0, [&] {
        (void)pawl_hook_wake(w, 1); /* the bucket is in no cache */
        for (int i = 0; i < 100; i++) {
            const long took = TOOK(pawl_hook_wake(w, 1));
            least = std::min(least, took);
            most = std::max(most, took);
        }
    });
    e.run();
    assert_in_range(least, 1, 21);
    assert_in_range(most, 181, 201);
}

/* Until Linux 4.1 the next waker waits for the bucket, and so for the first's wake. */
TEST_CASE(a_bucket_may_stay_locked_while_a_thread_wakes_another)
{
    for (const bool locked : {false, true}) {
        sim::machine m = round_numbers();
        m.futex_wake = 6000 * ns;
        m.wakes_locked = locked;
        engine e(m, 1);
        std::uint32_t *w = word();
        long up[2] = {};
        for (unsigned i = 0; i < 2; i++) {
            e.add(i, [&, i] {
                assert(pawl_hook_wait(w, 0, UINT64_MAX));
                up[i] = engine::running->now() / ns;
            });
            e.add(2 + i, [&] {
                until(20000);
                assert(pawl_hook_wake(w, 1) == 1);
            });
        }
        e.run();
        assert_int_equal(std::max(up[0], up[1]) - std::min(up[0], up[1]) > 6000, locked);
    }
}

/* A wake was lost:
 *   1. A sleeper looks at the word. It waits for the line, which comes from far away.
 *   2. Before it is there, another thread changes the word, and looks for sleepers: there is none.
 *   3. The sleeper goes by what it saw, and sleeps for ever. */
TEST_CASE(no_sleeper_whose_word_changed_stays_asleep)
{
    sim::machine m = round_numbers();
    std::fill(m.invalidate, m.invalidate + 5, 5 * ns);
    m.copy[4] = m.transfer[4] = 1000 * ns;
    unsigned slept = 0, runs = 0;
    for (ps change = 10400; change < 11400; change++) {
        engine e(m, 1);
        std::uint32_t *w = word();
        e.add(0, [&] {
            until(10000);
            (void)pawl_hook_wait(w, 0, UINT64_MAX);
        });
        e.add(8, [&] { (void)sim::load(w); });
        e.add(9, [&] {
            until(3000);
            (void)sim::load(w);
            until(change + 3); /* behind the sleeper in the queue for the line */
            (void)sim::add(w, 1U);
            (void)pawl_hook_wake(w, 1);
        });
        e.add(10, [&] {
            until(change);
            (void)sim::load(w); /* keeps the line busy */
        });
        e.run(); /* throws if the sleeper stays */
        slept += e.counted.wakes != 0;
        runs++;
    }
    assert_in_range(slept, 1, runs - 1);
}

} // namespace

TEST_MAIN()
