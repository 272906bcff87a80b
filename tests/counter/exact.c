/* SPDX-License-Identifier: MIT */
/* Exact counters: every mode, and what a read may return while others add and subtract. */
#include "support/counter_again.h"

#include <pawl/counter.h>

#include "count/cells.h"

static const enum pawl_exact_mode modes[] = {PAWL_EXACT_FOLD, PAWL_EXACT_STALL, PAWL_EXACT_BRLOCK,
                                             PAWL_EXACT_LOCKS};
enum { MODES = sizeof modes / sizeof modes[0] };

TEST_CASE(zero_bytes_are_a_folding_counter)
{
    static pawl_counter_exact zero;
    pawl_counter_exact initial = PAWL_COUNTER_EXACT_INIT;
    assert_memory_equal(&zero, &initial, sizeof zero);
    assert_int_equal(pawl_counter_exact_read(&zero), 0);
}

TEST_CASE(reads_follow_updates_in_every_mode)
{
    for (unsigned m = 0; m < MODES; m++) {
        pawl_counter_exact c;
        pawl_counter_exact_init(&c, modes[m]);
        for (int i = 0; i < 5; i++) { /* both phases, more than once */
            pawl_counter_exact_add(&c, 10);
            assert_int_equal(pawl_counter_exact_read(&c), 7 * i + 10);
            pawl_counter_exact_sub(&c, 3);
            assert_int_equal(pawl_counter_exact_read(&c), 7 * i + 7);
            assert_int_equal(pawl_counter_exact_read(&c), 7 * i + 7);
        }
        assert_int_equal(pawl_counter_exact_destroy(&c), 35);
        assert_int_equal(pawl_counter_exact_read(&c), 35);
    }
}

/* ---- Linearizable ---------------------------------------------------------------------------- */

struct seesaw {
    pawl_counter_exact c;
    uint32_t done, stop;
    int rounds;
    double until; /* on a busy CPU there are fewer rounds */
};

/* False: there are no more turns. */
static bool await_turn(struct seesaw *s, unsigned index)
{
    unsigned looks = 0;
    while (pawl_load_acquire32(&s->done, PAWL_TAG_NONE_) % 2 != index) {
        if (pawl_load_relaxed32(&s->stop) != 0)
            return false;
        if (++looks % 64 == 0)
            sched_yield();
    }
    return true;
}

/* Thread 0 adds 1, then lets thread 1 subtract it, and so on: the value is always 0 or 1, though
 * the cells of the two grow apart. A fuzzy read would see -1 and 2 as well. */
static void tilt(void *opaque, unsigned index)
{
    struct seesaw *s = (struct seesaw *)opaque;
    if (index < 2) {
        for (int i = 0; await_turn(s, index); i++) {
            if (index == 0 && i > 0 && (i == s->rounds || test_now() > s->until))
                pawl_store_relaxed32(&s->stop, 1);
            if (pawl_load_relaxed32(&s->stop) != 0)
                return;
            pawl_counter_exact_add(&s->c, index == 0 ? 1 : -1);
            (void)pawl_fetch_add_release32(&s->done, 1, PAWL_TAG_NONE_);
        }
        return;
    }
    while (pawl_load_relaxed32(&s->stop) == 0) {
        const int64_t value = pawl_counter_exact_read(&s->c);
        if (value != 0 && value != 1) {
            fprintf(stderr, "mode %u read %" PRId64 "\n", s->c.mode, value);
            abort();
        }
        sched_yield();
    }
}

TEST_CASE(a_read_returns_only_values_that_the_counter_had)
{
    for (unsigned m = 0; m < MODES; m++) {
        static struct seesaw s;
        memset(&s, 0, sizeof s);
        pawl_counter_exact_init(&s.c, modes[m]);
        s.rounds = TEST_SCALE(800);
        s.until = test_now() + 5;
        test_threads(3, tilt, &s);
        assert_int_equal(pawl_counter_exact_destroy(&s.c), 0);
    }
}

struct growth {
    pawl_counter_exact c;
    int64_t each;
};

/* Everybody counts up; whoever reads finds at least what it added itself, and never less than it
 * has read before. */
static void grow(void *opaque, unsigned index)
{
    struct growth *g = (struct growth *)opaque;
    int64_t i, last = 0, now;
    for (i = 1; i <= g->each; i++) {
        pawl_counter_exact_add(&g->c, 1);
        if (i % (97 + (int64_t)index) == 0) {
            now = pawl_counter_exact_read(&g->c);
            must(now >= i && now >= last && now <= 6 * g->each);
            last = now;
        }
    }
}

TEST_CASE(reads_of_all_threads_agree_with_the_order_of_what_they_did)
{
    for (unsigned m = 0; m < MODES; m++) {
        static struct growth g;
        pawl_counter_exact_init(&g.c, modes[m]);
        g.each = TEST_SCALE(10000);
        test_threads(6, grow, &g);
        assert_int_equal(pawl_counter_exact_read(&g.c), 6 * g.each);
        assert_int_equal(pawl_counter_exact_destroy(&g.c), 6 * g.each);
    }
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* ---- Fork ------------------------------------------------------------------------------------ */

static void add_a_thousand(void *c, unsigned index)
{
    for (int i = 0; i < 1000; i++)
        pawl_counter_exact_add((pawl_counter_exact *)c, 1);
}

static void expect_what_the_parent_counted(void *opaque)
{
    pawl_counter_exact *c = (pawl_counter_exact *)opaque;
    must(pawl_counter_exact_read(c) == 3001);
    pawl_counter_exact_add(c, 1);
    must(pawl_counter_exact_read(c) == 3002);
    if (!TEST_SANITIZED) { /* no threads after a fork of several: ThreadSanitizer's rule */
        test_threads(3, add_a_thousand, c); /* they take the lines of the parent's threads again */
        must(pawl_counter_exact_read(c) == 6002);
    }
    must(pawl_counter_exact_destroy(c) == (TEST_SANITIZED ? 3002 : 6002));
}

/* In mode LOCKS the child made the locks of the other threads' blocks anew as "not joined", so its
 * reads passed over what these had counted: 1 instead of 3001. */
TEST_CASE(a_child_of_fork_has_the_counts_of_threads_that_are_gone)
{
    char said[4096];
    int status;
    for (unsigned m = 0; m < MODES; m++) {
        pawl_counter_exact c;
        pawl_counter_exact_init(&c, modes[m]);
        pawl_counter_exact_add(&c, 1);
        test_threads(3, add_a_thousand, &c);
        status = test_in_child(expect_what_the_parent_counted, &c, said, sizeof said);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("mode %u: %s", m, said);
        assert_int_equal(pawl_counter_exact_destroy(&c), 3001);
    }
}

TEST_CASE(more_counters_than_pairs_count_in_themselves)
{
    enum { COUNTERS = PAWL_COUNTER_CELLS / 2 + 3 };
    static pawl_counter_exact c[COUNTERS];
    unsigned i, shared = 0;
    for (i = 0; i < COUNTERS; i++) {
        pawl_counter_exact_add(&c[i], (int64_t)i);
        shared += c[i].place == PAWL_PLACE_SHARED_;
    }
    assert_true(shared >= 3);
    for (i = 0; i < COUNTERS; i++) {
        pawl_counter_exact_add(&c[i], 1);
        if (pawl_counter_exact_destroy(&c[i]) != (int64_t)i + 1)
            fail_msg("counter %u", i);
    }
}

TEST_CASE(after_destroy_updates_count_in_the_object)
{
    for (unsigned m = 0; m < MODES; m++) {
        pawl_counter_exact c;
        pawl_counter_exact_init(&c, modes[m]);
        pawl_counter_exact_add(&c, 2);
        assert_int_equal(pawl_counter_exact_destroy(&c), 2);
        pawl_counter_exact_add(&c, 3);
        assert_int_equal(pawl_counter_exact_read(&c), 5);
        assert_int_equal(c.place, PAWL_PLACE_DEAD_);
        assert_int_equal(pawl_counter_exact_destroy(&c), 5);
    }
}

TEST_MAIN(again_arguments(argv))
