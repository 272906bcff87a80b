/* SPDX-License-Identifier: MIT */
/* Statistical counters: what they count, where, and what becomes of it. The whole program runs
 * again without restartable sequences and without membarrier. */
#include "support/counter_again.h"

#include <pawl/counter.h>

#include "count/cells.h"

#include "os/os.h"
#include "support/lines.h"

#include <sys/resource.h>

/* ---- Counting -------------------------------------------------------------------------------- */

TEST_CASE(zero_bytes_are_a_counter_at_0)
{
    static pawl_counter zero, initial = PAWL_COUNTER_INIT;
    static pawl_cpu_counter cpu;
    assert_int_equal(pawl_counter_read(&zero), 0);
    assert_int_equal(pawl_cpu_counter_read(&cpu), 0);
    assert_memory_equal(&zero, &initial, sizeof zero);
    pawl_counter_add(&zero, 3);
    pawl_cpu_counter_add(&cpu, 4);
    assert_int_equal(pawl_counter_destroy(&zero), 3);
    assert_int_equal(pawl_cpu_counter_destroy(&cpu), 4);
}

TEST_CASE(what_is_added_and_subtracted_is_the_value)
{
    pawl_counter c;
    pawl_cpu_counter p;
    pawl_counter_init(&c);
    pawl_cpu_counter_init(&p);
    pawl_counter_add(&c, 1000);
    pawl_counter_sub(&c, 1);
    pawl_counter_inc(&c);
    pawl_counter_dec(&c);
    pawl_counter_add_in_handler(&c, -1500);
    pawl_cpu_counter_add(&p, -7);
    pawl_cpu_counter_sub(&p, 1);
    pawl_cpu_counter_inc(&p);
    pawl_cpu_counter_dec(&p);
    assert_int_equal(pawl_counter_read(&c), -501);
    assert_int_equal(pawl_cpu_counter_read(&p), -8);
    pawl_counter_destroy(&c);
    pawl_cpu_counter_destroy(&p);
}

TEST_CASE(beyond_the_largest_number_it_goes_on_at_the_smallest)
{
    pawl_counter c = PAWL_COUNTER_INIT;
    pawl_cpu_counter p = PAWL_CPU_COUNTER_INIT;
    pawl_counter_exact e = PAWL_COUNTER_EXACT_INIT;
    pawl_atomic_counter a = PAWL_ATOMIC_COUNTER_INIT;
    pawl_counter_add(&c, INT64_MAX);
    pawl_cpu_counter_add(&p, INT64_MAX);
    pawl_counter_exact_add(&e, INT64_MAX);
    pawl_counter_inc(&c);
    pawl_cpu_counter_inc(&p);
    pawl_counter_exact_add(&e, 1);
    assert_true(pawl_counter_read(&c) == INT64_MIN);
    assert_true(pawl_cpu_counter_read(&p) == INT64_MIN);
    assert_true(pawl_counter_exact_read(&e) == INT64_MIN);
    pawl_atomic_counter_init(&a, INT64_MAX);
    assert_true(pawl_atomic_counter_add(&a, 1) == INT64_MIN);
    pawl_counter_sub(&c, INT64_MIN);
    assert_int_equal(pawl_counter_destroy(&c), 0);
    pawl_cpu_counter_destroy(&p);
    pawl_counter_exact_destroy(&e);
}

struct both {
    pawl_counter thread;
    pawl_cpu_counter cpu;
    int64_t each;
};

static void count_in_both(void *opaque, unsigned index)
{
    struct both *both = (struct both *)opaque;
    for (int64_t i = 0; i < both->each; i++) {
        pawl_counter_add(&both->thread, (int64_t)index + 1);
        pawl_cpu_counter_add(&both->cpu, (int64_t)index + 1);
    }
}

TEST_CASE(threads_that_end_leave_their_counts)
{
    struct both both = {PAWL_COUNTER_INIT, PAWL_CPU_COUNTER_INIT, TEST_SCALE(100000)};
    test_threads(8, count_in_both, &both);
    assert_int_equal(pawl_counter_read(&both.thread), both.each * 36);
    assert_int_equal(pawl_cpu_counter_read(&both.cpu), both.each * 36);
    test_threads(3, count_in_both, &both); /* on the lines, and in the cells, of those before */
    assert_int_equal(pawl_counter_destroy(&both.thread), both.each * 42);
    assert_int_equal(pawl_cpu_counter_destroy(&both.cpu), both.each * 42);
}

static void *count_once(void *opaque)
{
    pawl_counter_inc((pawl_counter *)opaque);
    return NULL;
}

TEST_CASE(a_storm_of_short_threads_loses_no_count)
{
    static pawl_counter c;
    enum { ROUNDS = 50, AT_ONCE = 40 };
    pthread_t threads[AT_ONCE];
    for (unsigned round = 0; round < TEST_SCALE(ROUNDS); round++) {
        for (unsigned i = 0; i < AT_ONCE; i++)
            threads[i] = test_start(count_once, &c);
        (void)pawl_counter_read(&c);
        test_join_all(threads, AT_ONCE);
        assert_int_equal(pawl_counter_read(&c), (int64_t)(round + 1) * AT_ONCE);
    }
    pawl_counter_destroy(&c);
}

/* ---- Places ---------------------------------------------------------------------------------- */

TEST_CASE(counters_lie_side_by_side_in_a_thread_s_block)
{
    pawl_counter c[3] = {PAWL_COUNTER_INIT, PAWL_COUNTER_INIT, PAWL_COUNTER_INIT};
    for (unsigned i = 0; i < 3; i++)
        pawl_counter_add(&c[i], 10 + (int64_t)i);
    assert_int_equal(c[1].place, c[0].place + 8);
    assert_int_equal(c[2].place, c[0].place + 16);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(pawl_counter_read(&c[i]), 10 + i);
        pawl_counter_destroy(&c[i]);
    }
}

TEST_CASE(a_counter_on_used_cells_begins_at_0)
{
    static pawl_counter c[PAWL_COUNTER_CELLS + 8];
    enum { COUNTERS = sizeof c / sizeof c[0] };
    unsigned i, shared;
    for (unsigned round = 0; round < 2;
         round++) { /* more than there are cells: used ones come again */
        for (i = 0, shared = 0; i < COUNTERS; i++) {
            pawl_counter_init(&c[i]);
            pawl_counter_add(&c[i], (int64_t)i + 5);
            shared += c[i].place == PAWL_PLACE_SHARED_;
        }
        assert_true(shared >= 16); /* there are 8 cells fewer than PAWL_COUNTER_CELLS */
        for (i = 0; i < COUNTERS; i++) {
            pawl_counter_add(&c[i], -5);
            if (pawl_counter_read(&c[i]) != (int64_t)i)
                fail_msg("round %u: counter %u reads %" PRId64, round, i, pawl_counter_read(&c[i]));
        }
        for (i = 0; i < COUNTERS; i++)
            assert_int_equal(pawl_counter_destroy(&c[i]), i);
    }
}

TEST_CASE(a_destroyed_counter_keeps_its_value_and_counts_in_itself)
{
    pawl_counter c = PAWL_COUNTER_INIT;
    pawl_counter_add(&c, 41);
    assert_int_equal(pawl_counter_destroy(&c), 41);
    assert_int_equal(pawl_counter_read(&c), 41);
    pawl_counter_inc(&c);
    assert_int_equal(c.place, PAWL_PLACE_DEAD_);
    assert_int_equal(pawl_counter_read(&c), 42);
    assert_int_equal(pawl_counter_destroy(&c), 42);
    pawl_counter_init(&c);
    pawl_counter_inc(&c);
    assert_int_equal(pawl_counter_destroy(&c), 1);
}

/* ---- Threads without cells ------------------------------------------------------------------- */

TEST_CASE(a_thread_beyond_the_lines_counts_in_the_counter)
{
    static pawl_counter c;
    pawl_counter_inc(&c);
    lines_park_all();
    test_elsewhere(count_once, &c);
    lines_free_all();
    assert_int_equal(c.shared, 1);
    assert_int_equal(pawl_counter_read(&c) - (int64_t)c.shared, 1); /* in the cells */
    assert_int_equal(pawl_counter_destroy(&c), 2);
}

static void count_without_memory(void *unused)
{
    struct both both = {PAWL_COUNTER_INIT, PAWL_CPU_COUNTER_INIT, 5000};
    struct rlimit none = {1, 1}; /* no mapping succeeds any more */
    ipawl_thread_exit_();
    counters_here()->blocks[0] = 0; /* as if the first line had never counted */
    must(setrlimit(RLIMIT_AS, &none) == 0);
    count_in_both(&both, 0);
    must(ipawl_counter_mine_()->block == NULL);
    must(pawl_counter_read(&both.thread) == 5000);
    must(pawl_cpu_counter_read(&both.cpu) == 5000);
    must(both.thread.shared == 5000);
    fprintf(stderr, "counted");
}

TEST_CASE(without_memory_for_a_block_nothing_is_lost)
{
    char said[4096];
    if (TEST_SANITIZED)
        skip(); /* the sanitizer maps memory of its own */
    assert_ptr_equal(ipawl_thread_line_(), &process_here()->lines[0]);
    assert_int_equal(test_in_child(count_without_memory, NULL, said, sizeof said), 0);
    assert_string_equal(said, "counted");
}

/* ---- Fork ------------------------------------------------------------------------------------ */

struct forked {
    struct both both;
    pawl_counter_exact exact;
    uint32_t stop;
};

static void *count_until_stopped(void *opaque)
{
    struct forked *f = (struct forked *)opaque;
    while (pawl_load_relaxed32(&f->stop) == 0) {
        pawl_counter_inc(&f->both.thread);
        pawl_counter_exact_add(&f->exact, 1);
        (void)pawl_counter_exact_read(&f->exact);
    }
    return NULL;
}

static void check_in_child(void *opaque)
{
    struct forked *f = (struct forked *)opaque;
    const int64_t before = pawl_counter_read(&f->both.thread);
    const int64_t exact = pawl_counter_exact_read(&f->exact);
    must(before >= 100 && exact >= 100);
    must(exact - before <= 1 && before - exact <= 1); /* the other thread was between the two */
    pawl_counter_add(&f->both.thread, 5);
    pawl_counter_exact_add(&f->exact, 5);
    must(pawl_counter_read(&f->both.thread) == before + 5);
    must(pawl_counter_exact_read(&f->exact) == exact + 5);
    must(pawl_counter_exact_read(&f->exact) == exact + 5);
    fprintf(stderr, "as it should be");
}

TEST_CASE(a_child_of_fork_has_all_counts_while_other_threads_count_and_read)
{
    static struct forked f;
    char said[4096];
    pawl_counter_add(&f.both.thread, 100);
    pawl_counter_exact_add(&f.exact, 100);
    const pthread_t other = test_start(count_until_stopped, &f);
    for (unsigned i = 0; i < TEST_SCALE(30); i++) {
        const int status = test_in_child(check_in_child, &f, said, sizeof said);
        if (status != 0 || strcmp(said, "as it should be") != 0)
            fail_msg("status %#x: %s", (unsigned)status, said);
    }
    pawl_store_relaxed32(&f.stop, 1);
    test_join(other);
    assert_int_equal(pawl_counter_read(&f.both.thread), pawl_counter_exact_read(&f.exact));
    pawl_counter_destroy(&f.both.thread);
    pawl_counter_exact_destroy(&f.exact);
}

/* ---- The counters of rare updates ------------------------------------------------------------ */

TEST_CASE(an_atomic_counter_tells_each_value_once)
{
    pawl_atomic_counter a = PAWL_ATOMIC_COUNTER_INIT;
    pawl_atomic_counter_init(&a, 40);
    assert_int_equal(pawl_atomic_counter_add(&a, 1), 41);
    assert_int_equal(pawl_atomic_counter_sub(&a, 2), 39);
    assert_int_equal(pawl_atomic_counter_read(&a), 39);
}

static void take_means(void *opaque, unsigned index)
{
    pawl_seq_counter *c = (pawl_seq_counter *)opaque;
    for (int i = 0; i < TEST_SCALE(20000); i++) {
        const pawl_seq_count now = pawl_seq_counter_now(c);
        must(now.sum == 7 * now.count);
        if (index == 0)
            pawl_seq_counter_add(c, 7);
    }
}

TEST_CASE(count_and_sum_of_a_sequence_locked_counter_belong_together)
{
    static pawl_seq_counter c = PAWL_SEQ_COUNTER_INIT;
    pawl_seq_count now;
    test_threads(3, take_means, &c);
    assert_true(pawl_seq_counter_try_now(&c, &now));
    assert_int_equal(now.count, TEST_SCALE(20000));
}

TEST_MAIN(again_arguments(argv))
