/* SPDX-License-Identifier: MIT */
/*
 * Each rule of the simulator, by a program so small that its times are computed by hand. All prices
 * of the machine in small.hpp are round numbers, so each sum shows what it is made of.
 */
#include "small.hpp"

#include "engine/oracle.hpp"
#include "models/glibc.hpp"

#include <string>
#include <vector>

#include "test.h" /* last: cmocka defines fail, skip and more as macros */

namespace {

TEST_CASE(the_first_access_comes_from_memory_and_the_next_hits)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long first = 0, second = 0, change = 0;
    e.add(0, [&] {
        first = TOOK(sim::load(w));
        second = TOOK(sim::load(w));
        change = TOOK(sim::add(w, 1U));
    });
    e.run();
    assert_int_equal(first, 1000 + 1);
    assert_int_equal(second, 1);
    assert_int_equal(change, 10);
    assert_int_equal(*w, 1);
}

/* A thread that waited for a line got it when the other had done all:
 *   1. A thread has a line, and writes it again and again, with nothing between.
 *   2. Another asks for the line, and stands in its queue. The line is free when a write ends.
 *   3. The owner's next write begins at that very moment, and is served first, each time. */
TEST_CASE(an_owner_that_writes_again_and_again_gives_the_line_to_a_thread_that_waits)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long waited = 0;
    e.add(0, [&] {
        for (int i = 0; i < 1000; i++)
            (void)sim::add(w, 1U);
    });
    e.add(2, [&] {
        until(2005);
        waited = TOOK(sim::add(w, 1U));
    });
    e.run();
    assert_in_range(waited, 100 + 10, 100 + 2 * 10);
}

/* Lines that are asked for ahead come beside each other. Of three the third finds no room. One that
 * a writer takes before it is read has to come again. */
TEST_CASE(lines_that_are_asked_for_ahead_come_while_the_thread_goes_on)
{
    sim::machine m = round_numbers();
    m.fetches = 2;
    engine e(m, 1);
    std::uint32_t *const words[] = {word(), word(), word(), word()};
    long apart = 0, together = 0, taken = 0;
    e.add(0, [&] {
        for (std::uint32_t *w : words)
            (void)sim::add(w, 1U);
        until(12000);
        for (std::uint32_t *w : words)
            (void)sim::add(w, 1U);
        for (const ps time : {21500, 22700}) {
            until(time);
            (void)sim::add(words[0], 1U);
        }
    });
    e.add(8, [&] {
        until(10000);
        apart = TOOK((sim::load(words[0]), sim::load(words[1]), sim::load(words[2])));
        until(20000);
        together = TOOK({
            for (int i = 0; i < 3; i++)
                e.ahead(words[i]);
            (void)(sim::load(words[0]), sim::load(words[1]), sim::load(words[2]));
        });
        until(22000);
        e.ahead(words[3]);
        e.ahead(words[0]);
        until(23500);
        taken = TOOK((sim::load(words[3]), sim::load(words[0])));
    });
    e.run();
    assert_int_equal(apart, 3 * (400 + 1));
    assert_int_equal(together, 3 + (400 - 2) + 1 + 1 + (400 + 1));
    assert_int_equal(taken, 1 + 400 + 1); /* the writer took the second one */
}

/* Core 0 changes the word; then a core at the distance in question does. */
long change_from(unsigned core)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long took = 0;
    e.add(0, [&] { (void)sim::add(w, 1U); });
    e.add(core, [&] {
        until(5000);
        took = TOOK(sim::add(w, 1U));
    });
    e.run();
    return took;
}

TEST_CASE(a_transfer_costs_by_the_distance_of_the_cores)
{
    assert_int_equal(change_from(1), 20 + 10);
    assert_int_equal(change_from(3), 100 + 10);
    assert_int_equal(change_from(4), 200 + 10);
    assert_int_equal(change_from(8), 400 + 10);
}

TEST_CASE(a_read_leaves_the_line_with_both_and_a_copy_costs_less)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long reads[3] = {}, again = 0;
    e.add(0, [&] {
        (void)sim::add(w, 1U);
        until(4000);
        again = TOOK(sim::load(w));
    });
    for (unsigned i = 0; i < 3; i++)
        e.add(i == 0   ? 2
              : i == 1 ? 3
                       : 8,
              [&, i] {
                  until(2000 + 500 * i);
                  reads[i] = TOOK(sim::load(w));
              });
    e.run();
    assert_int_equal(reads[0], 100 + 1); /* from its owner */
    assert_int_equal(reads[1], 15 + 1);  /* the nearest sharer is core 2, its pair */
    assert_int_equal(reads[2], 160 + 1); /* all sharers are in the other socket */
    assert_int_equal(again, 1);
}

TEST_CASE(two_copies_of_a_line_are_a_gap_apart)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long took[2] = {};
    e.add(0, [&] { (void)sim::load(w); });
    e.add(1, [&] {
        until(2000);
        (void)sim::load(w);
    });
    for (unsigned i = 0; i < 2; i++)
        e.add(2 + i, [&, i] {
            until(3000);
            took[i] = TOOK(sim::load(w));
        });
    e.run();
    assert_int_equal(took[0], 40 + 1);
    /* Served 4 ns later, and by then its pair has the line. */
    assert_int_equal(took[1], 4 + 15 + 1);
}

TEST_CASE(an_invalidation_costs_by_the_farthest_sharer_and_their_number)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long took = 0;
    for (unsigned core = 0; core < 5; core++)
        e.add(core, [&, core] {
            until(2000 * (core + 1));
            (void)sim::load(w);
        });
    e.add(0 + 16 * 0 + 6, [&] {
        until(20000);
        (void)sim::load(w);
        until(30000);
        took = TOOK(sim::add(w, 1U));
    });
    e.run();
    /* Five others, the farthest in another cluster of the socket; cores 0 to 3 and 4. */
    assert_int_equal(took, 75 + 4 * 1 + 10);
}

TEST_CASE(requests_for_a_line_wait_in_a_queue_the_oldest_first)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long ended[3] = {};
    e.add(0, [&] { (void)sim::add(w, 1U); });
    for (unsigned i = 0; i < 3; i++)
        e.add(2 * i + (i > 0 ? 2 : 2), [&, i] {
            until(2000 + static_cast<ps>(i));
            (void)sim::add(w, 1U);
            ended[i] = engine::running->now() / ns;
        });
    e.run();
    assert_int_equal(ended[0], 2000 + 100 + 10); /* core 2 */
    assert_int_equal(ended[1], 2110 + 200 + 10); /* core 4: another cluster */
    assert_int_equal(ended[2], 2320 + 100 + 10); /* core 6: core 4's cluster */
    assert_int_equal(e.counted.waits, 2);
}

TEST_CASE(a_request_makes_its_way_while_it_waits)
{
    sim::machine m = round_numbers();
    m.request = 0.4;
    engine e(m, 1);
    std::uint32_t *w = word();
    long ended[2] = {};
    e.add(0, [&] { (void)sim::add(w, 1U); });
    for (unsigned i = 0; i < 2; i++)
        e.add(2 + i, [&, i] {
            until(2000 + static_cast<ps>(i));
            (void)sim::add(w, 1U);
            ended[i] = engine::running->now() / ns;
        });
    e.run();
    assert_int_equal(ended[0], 2110);
    assert_int_equal(ended[1], 2110 + 20 - 8 + 10); /* a pair's transfer less 40 % */
}

TEST_CASE(a_core_keeps_a_line_for_a_moment_although_others_wait)
{
    sim::machine m = round_numbers();
    m.keep = 30 * ns;
    engine e(m, 1);
    std::uint32_t *w = word();
    long second = 0, waiter = 0;
    e.add(0, [&] {
        until(2000);
        (void)sim::add(w, 1U); /* 1000 + 10: until 3010 */
        second = TOOK(sim::add(w, 1U));
    });
    e.add(2, [&] {
        until(2500);
        (void)sim::add(w, 1U);
        waiter = engine::running->now() / ns;
    });
    e.run();
    assert_int_equal(second, 10);
    assert_int_equal(waiter, 3020 + 30 + (100 - 30) + 10);
}

TEST_CASE(a_store_goes_on_at_once_and_shows_when_its_line_has_come)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long store = 0, own = 0, fence = 0;
    std::uint32_t early = 9, own_value = 9;
    e.add(0, [&] { (void)sim::add(w, 5U); });
    e.add(2, [&] {
        until(2000);
        store = TOOK(sim::store(w, 7U));
        own = TOOK(own_value = sim::load(w));
        fence = TOOK(sim::full_fence());
    });
    e.add(3, [&] {
        until(1999);
        early = sim::load(w);
    });
    e.run();
    assert_int_equal(store, 2);
    assert_int_equal(own, 1);
    assert_int_equal(own_value, 7); /* from the buffer */
    assert_int_equal(early, 5);
    /* Core 3's read takes the line from 1999 to 2099; then the store invalidates cores 0 and 3 in
     * 50 + 1 ns and enters in 2: at 2152. The fence begins at 2003. */
    assert_int_equal(fence, 2152 - 2003 + 30);
    assert_int_equal(*w, 7);
}

TEST_CASE(a_full_store_buffer_stops_the_thread)
{
    sim::machine m = round_numbers();
    m.store_buffer = 2;
    engine e(m, 1);
    std::uint32_t *w[3] = {word(), word(), word()};
    long took[3] = {};
    e.add(0, [&] {
        for (int i = 0; i < 3; i++)
            took[i] = TOOK(sim::store(w[i], 1U));
    });
    e.run();
    assert_int_equal(took[0], 2);
    assert_int_equal(took[1], 2);
    assert_int_equal(took[2], 1002 - 4 + 2); /* the first has entered at 1000 + 2 */
}

TEST_CASE(a_read_modify_write_waits_for_the_store_buffer)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word(), *other = word();
    long took = 0;
    e.add(0, [&] {
        (void)sim::add(w, 1U); /* until 1010 */
        sim::store(other, 1U); /* enters at 2012 */
        took = TOOK(sim::add(w, 1U));
    });
    e.run();
    assert_int_equal(took, 2012 - 1012 + 10);
}

TEST_CASE(relax_hints_and_looks_at_the_clock_cost_what_the_machine_says)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    long relax = 0, look = 0;
    e.add(0, [&] {
        relax = TOOK(pawl_hook_relax());
        look = TOOK((void)pawl_hook_now());
    });
    e.run();
    assert_int_equal(relax, 5);
    assert_int_equal(look, 20);
}

TEST_CASE(two_threads_on_a_core_slow_each_other)
{
    sim::machine m = round_numbers();
    m.smt = 2;
    m.smt_compute = 2;
    m.smt_walk = 1.5;
    m.smt_beside_waiter = 1.25;
    engine e(m, 1);
    long alone = 0, beside = 0, walking = 0, spinning = 0;
    e.add(0, [&] {
        alone = TOOK(engine::running->work(100 * ns));
        until(1000);
        beside = TOOK(engine::running->work(100 * ns));
        walking = TOOK(engine::running->walk(100 * ns));
        until(20000);
        spinning = TOOK(engine::running->work(100 * ns));
    });
    e.add(
        16,
        [&] {
            until(500);
            engine::running->work(5000 * ns);
            engine::running->turn();
            while (engine::running->now() < 90000 * ns) {
                engine::running->relax();
                engine::running->turn();
            }
        },
        200 * ns);
    e.run();
    assert_int_equal(alone, 100);
    assert_int_equal(beside, 200);
    assert_int_equal(walking, 150);
    assert_int_equal(spinning, 125);
}

TEST_CASE(threads_that_outnumber_the_cores_take_turns)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    long ended[2] = {};
    for (unsigned i = 0; i < 2; i++)
        e.add(0, [&, i] {
            for (int n = 0; n < 150; n++) {
                engine::running->work(1000 * ns);
                engine::running->turn();
            }
            ended[i] = engine::running->now() / ns;
        });
    e.run();
    /* 101 of its 150 us, the other's 101 us, then the rest; a change of thread takes 1 us. */
    assert_int_equal(ended[0], 101000 + 1000 + 101000 + 1000 + 49000);
    assert_int_equal(ended[1], ended[0] + 1000 + 49000);
    assert_int_equal(e.counted.preemptions, 2);
}

TEST_CASE(a_membarrier_interrupts_the_running_threads_and_drains_their_stores)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long barrier = 0, interrupted = 0, alone = 0;
    std::uint32_t seen = 0;
    e.add(0, [&] {
        until(1000);
        sim::store(w, 1U); /* in memory at 2002 */
        until(9000);
        interrupted = TOOK(engine::running->work(100 * ns));
    });
    e.add(2, [&] {
        until(1100);
        barrier = TOOK(heavy());
        seen = sim::load(w);
        until(20000); /* the other has ended */
        alone = TOOK(heavy());
    });
    e.run();
    assert_int_equal(barrier, 100 + 900);
    assert_int_equal(alone, 100); /* nobody to interrupt */
    assert_int_equal(seen, 1);
    assert_int_equal(interrupted, 100 + 700); /* the interrupt is charged with it */
}

TEST_CASE(work_begins_before_the_access_ahead_of_it_has_ended)
{
    sim::machine m = round_numbers();
    m.window = 30 * ns;
    engine e(m, 1);
    std::uint32_t *w = word();
    long after_a_line = 0, again = 0, after_a_hit = 0, after_a_failure = 0;
    e.add(0, [&] {
        (void)sim::add(w, 1U); /* from memory: longer than the window */
        after_a_line = TOOK(engine::running->work(100 * ns));
        again = TOOK(engine::running->work(100 * ns));
        (void)sim::add(w, 1U);
        after_a_hit = TOOK(engine::running->work(100 * ns));
        (void)sim::cas(w, 9U, 1U); /* foretold wrongly */
        after_a_failure = TOOK(engine::running->work(100 * ns));
    });
    e.run();
    assert_int_equal(after_a_line, 100 - 30);
    assert_int_equal(again, 100);
    assert_int_equal(after_a_hit, 100 - 10);
    assert_int_equal(after_a_failure, 100);
}

/* A hook that polls reads only when the line has changed; the loop reads always. */
long spin_until_five(bool skips, std::uint64_t *accesses)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    std::uint32_t *w = word();
    long ended = 0;
    e.add(0, [&] {
        if (skips) {
            (void)e.poll(w, 1, [](std::uint32_t v) { return v == 5; });
        } else {
            while (sim::load(w) != 5)
                e.relax();
        }
        ended = e.now() / ns;
    });
    e.add(2, [&] {
        for (ps i = 1; i <= 5; i++) {
            until(2000 * i + 3);
            (void)sim::add(w, 1U);
        }
    });
    e.run();
    *accesses = e.counted.accesses;
    return ended;
}

TEST_CASE(polling_takes_the_time_of_the_loop_that_it_stands_for)
{
    std::uint64_t few, many;
    assert_int_equal(spin_until_five(true, &few), spin_until_five(false, &many));
    assert_true(few < 30 && many > 1000);
}

std::string failure_of(engine &e)
{
    try {
        e.run();
    } catch (const sim::program_failed &failure) {
        return failure.what();
    }
    return "";
}

TEST_CASE(a_deadlock_is_reported_with_who_waits_for_what)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    sim::model_spin *const a = new (sim::arena_take(64)) sim::model_spin;
    sim::model_spin *const b = new (sim::arena_take(64)) sim::model_spin;
    std::uint32_t *never = word();
    e.name(a, sizeof *a, "lock a");
    e.name(b, sizeof *b, "lock b");
    e.name(never, 4, "the event");
    for (unsigned i = 0; i < 2; i++)
        e.add(i, [&, i] {
            (i ? b : a)->take_write();
            engine::running->work(10000 * ns);
            (i ? a : b)->take_write();
        });
    e.add(2, [&] { (void)pawl_hook_wait(never, 0, UINT64_MAX); });
    const std::string said = failure_of(e);
    assert_non_null(strstr(said.c_str(), "No thread can go on"));
    assert_non_null(strstr(said.c_str(), "thread 0 reads lock b until it changes"));
    assert_non_null(strstr(said.c_str(), "thread 1 reads lock a until it changes"));
    assert_non_null(strstr(said.c_str(), "thread 2 sleeps on the event"));
}

TEST_CASE(threads_that_make_no_progress_are_reported)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    e.patience = 1000000 * ns;
    std::uint32_t *w = word();
    e.name(w, 4, "the word");
    e.add(0, [&] {
        while (sim::load(w) == 0)
            e.relax();
    });
    const std::string said = failure_of(e);
    assert_non_null(strstr(said.c_str(), "No thread has finished an operation"));
    assert_non_null(strstr(said.c_str(), "the word"));
}

/* Every thread is granted W: planted. */
TEST_CASE(the_oracle_finds_two_writers)
{
    const sim::machine m = round_numbers();
    engine e(m, 1);
    sim::oracle eye;
    std::uint32_t *w = word();
    for (unsigned i = 0; i < 2; i++)
        e.add(i, [&] {
            (void)sim::add(w, 1U);
            eye.enter(sim::oracle::write);
            engine::running->work(1000 * ns);
            eye.leave(sim::oracle::write);
        });
    assert_non_null(strstr(failure_of(e).c_str(), "Exclusion is broken"));
}

TEST_CASE(impossible_machines_are_refused)
{
    sim::machine m = round_numbers();
    const auto refused = [&](const char *name, const char *value) {
        sim::machine changed = m;
        try {
            sim::set(changed, name, value);
            sim::check(changed);
        } catch (const sim::bad_input &) {
            return true;
        }
        return false;
    };
    assert_true(refused("load", "-1"));
    assert_true(refused("cores", "0"));
    assert_true(refused("cores", "10000"));
    assert_true(refused("cores", "1.5"));
    assert_true(refused("pair", "3"));
    assert_true(refused("smt_walk", "0.5"));
    assert_true(refused("transfer.pair", "500"));
    assert_true(refused("lode", "1"));
    assert_true(refused("transfer.moon", "1"));
    assert_true(refused("load", "fast"));
    assert_false(refused("load", "2"));
}

} // namespace

TEST_MAIN()
