/* SPDX-License-Identifier: MIT */
/* Counters step by step, in the hook variant: a handler between the load and the store of a plain
 * add, and updates that are under way while somebody reads or kills. */
#include "explorer/steps.h"

#include <pawl/bigref.h>
#include <pawl/counter.h>

#include "count/cells.h"

static int64_t value_of(const pawl_counter *c)
{
    return pawl_counter_read(c);
}

/* Steps until the thread stands before a store to `address`. */
static void until_store_to(unsigned thread, const void *address)
{
    for (unsigned steps = 0; steps < 1000; steps++) {
        const struct pawl_operation *next = &sim_all[thread].next;
        if (next->kind != PAWL_HOOK_LOAD && next->address == address)
            return;
        sim_step(thread);
    }
    must(!"the store did not come");
}

static void run_to_the_end(unsigned thread)
{
    for (unsigned steps = 0; steps < 1000 && !sim_all[thread].ended; steps++)
        sim_step(thread);
    must(sim_all[thread].ended);
}

/* ---- A handler in the middle of an add ------------------------------------------------------- */

static pawl_counter counter;

static void add_plain(void *unused)
{
    pawl_counter_add(&counter, 1); /* finds its cell */
    pawl_counter_add(&counter, 1);
}

static void add_safe(void *unused)
{
    pawl_counter_add_in_handler(&counter, 1);
    pawl_counter_add_in_handler(&counter, 1);
}

/* The thread stands before it writes its cell for the second time; its handler adds 10 just then,
 * which is what the memory would show had the handler run on the same CPU. */
static int64_t with_a_handler_before_the_second_write(void (*body)(void *))
{
    sim_begin();
    pawl_counter_init(&counter);
    unsigned thread = sim_start(body, NULL);
    while (counter.place < PAWL_PLACE_FIRST_)
        sim_step(thread);
    uint64_t *cell = ipawl_cell_((char *)counters_here()->cells[0], counter.place);
    until_store_to(thread, cell);
    sim_step(thread);
    until_store_to(thread, cell);
    *cell += 10;
    run_to_the_end(thread);
    int64_t value = value_of(&counter);
    sim_end();
    return value;
}

TEST_CASE(a_plain_add_loses_what_a_handler_adds_to_the_same_cell_meanwhile)
{
    assert_int_equal(with_a_handler_before_the_second_write(add_plain), 2);
}

TEST_CASE(the_form_for_handlers_loses_nothing)
{
    assert_int_equal(with_a_handler_before_the_second_write(add_safe), 12);
}

/* ---- A read while an update is under way ----------------------------------------------------- */

static pawl_counter_exact exact;
static int64_t was_read;

static void add_exact(void *unused)
{
    pawl_counter_exact_add(&exact, 1);
}

static void read_exact(void *unused)
{
    was_read = pawl_counter_exact_read(&exact);
}

/* Makes the counter ready and lets a thread stand before it writes the cell it chose. */
static unsigned stand_before_the_count(enum pawl_exact_mode mode)
{
    sim_begin();
    pawl_counter_exact_init(&exact, mode);
    unsigned updater = sim_start(add_exact, NULL);
    while (exact.place < PAWL_PLACE_FIRST_)
        sim_step(updater);
    uint64_t *cell = ipawl_cell_((char *)counters_here()->cells[0], exact.place);
    until_store_to(updater, cell);
    was_read = -1;
    return updater;
}

TEST_CASE(a_read_waits_for_the_update_that_saw_the_old_phase_and_counts_it)
{
    static const enum pawl_exact_mode modes[] = {PAWL_EXACT_FOLD, PAWL_EXACT_STALL,
                                                 PAWL_EXACT_BRLOCK, PAWL_EXACT_LOCKS};
    for (unsigned m = 0; m < 4; m++) {
        const unsigned updater = stand_before_the_count(modes[m]);
        const unsigned reader = sim_start(read_exact, NULL);
        assert_false(sim_ends(reader)); /* only waits */
        assert_int_equal(was_read, -1);
        run_to_the_end(updater);
        run_to_the_end(reader);
        assert_int_equal(was_read, 1);
        sim_end();
    }
}

TEST_CASE(an_update_does_not_wait_for_a_folding_read)
{
    unsigned updater = stand_before_the_count(PAWL_EXACT_FOLD);
    unsigned reader = sim_start(read_exact, NULL);
    assert_false(sim_ends(reader)); /* has turned the phase, and waits */
    unsigned other = sim_start(add_exact, NULL);
    assert_true(sim_ends(other)); /* counted in the new phase */
    run_to_the_end(updater);
    run_to_the_end(reader);
    assert_int_equal(was_read, 1); /* not the count that began after the turn */
    assert_int_equal(pawl_counter_exact_read(&exact), 2);
    sim_end();
}

/* ---- A kill while a get is under way --------------------------------------------------------- */

static pawl_bigref ref;
static unsigned releases;

static void count_release(pawl_bigref *r, void *arg)
{
    (void)r, (void)arg;
    releases++;
}

static void get_two(void *unused)
{
    pawl_bigref_get(&ref);
    pawl_bigref_get(&ref);
}

static void kill_and_drop(void *unused)
{
    pawl_bigref_kill(&ref);
    pawl_bigref_drop(&ref);
}

TEST_CASE(a_get_that_was_under_way_is_counted_by_kill)
{
    sim_begin();
    releases = 0;
    pawl_bigref_init(&ref, count_release, NULL);
    unsigned getter = sim_start(get_two, NULL);
    until_store_to(getter, &ref.own);
    sim_step(getter);
    until_store_to(getter, &ref.own); /* the second one, a section */
    unsigned killer = sim_start(kill_and_drop, NULL);
    assert_false(sim_ends(killer));
    run_to_the_end(getter);
    run_to_the_end(killer);
    assert_int_equal(releases, 0);
    assert_int_equal(pawl_bigref_read(&ref), 2);
    for (unsigned i = 0; i < 2; i++)
        pawl_bigref_drop(&ref);
    assert_int_equal(releases, 1);
    sim_end();
}

int main(int argc, char **argv)
{
    if (PAWL_TSAN_) /* the hand-over between simulated threads is where it does not look */
        return test_skipped("ThreadSanitizer does not see how simulated threads take turns");
    sim_shares = true;
    sim_begin();
    return test_main(argc, argv);
}
