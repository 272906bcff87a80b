/* SPDX-License-Identifier: MIT */
/*
 * The exhaustive walk: three threads (and four) do whatever the transition table allows, in every
 * order, on one word of each width. walk.h says what is checked in every state. The second half
 * plants mistakes in copies of the table; each must be found, or the walk proves nothing.
 */
#include "test.h"
#include "spin/walk.h"

enum { LIMIT = 3000000 };

static size_t walk_well(unsigned bits, unsigned threads, uint64_t application)
{
    struct walk *k = walk_new(bits, threads, application);
    walk_all(k, LIMIT);
    walk_report(k);
    assert_int_equal(k->verdict, WALK_GOOD);
    size_t count = k->state_count;
    walk_free(k);
    return count;
}

TEST_CASE(three_threads_exclude_each_other_and_can_always_end)
{
    assert_true(walk_well(16, 3, 0) > 50000);
}

TEST_CASE(the_application_bits_change_nothing_and_are_not_changed)
{
    const size_t without = walk_well(16, 3, 0);
    for (uint64_t application = 1; application <= 3; application++)
        assert_int_equal(walk_well(16, 3, application), without);
}

TEST_CASE(the_three_widths_reach_the_same_states)
{
    const size_t count = walk_well(16, 3, 0);
    assert_int_equal(walk_well(32, 3, 0), count);
    assert_int_equal(walk_well(64, 3, 0), count);
}

/* Four claims of S overflow into W. */
TEST_CASE(four_threads_exclude_each_other_and_can_always_end)
{
    if (TEST_SANITIZED) {
        print_message("skipped: minutes under a sanitizer, which has nothing to see here\n");
        skip();
    }
    assert_true(walk_well(16, 4, 0) > 1000000);
}

TEST_CASE(every_row_of_the_table_is_walked)
{
    struct walk *k = walk_new(16, 3, 0);
    assert_int_equal(walk_all(k, LIMIT), WALK_GOOD);
    for (unsigned i = 0; i < TABLE_NEXTS; i++)
        if (!k->taken[i])
            fail_msg("%s: its row %u", k->table.steps[k->table.nexts[i].step].name, i);
    for (unsigned i = 0; i < TABLE_INSISTS; i++)
        assert_true(k->insisted[i]);
    walk_free(k);
}

/* Insisting serves waiters against ever new atomic users; nothing else depends on it. */
TEST_CASE(nobody_gets_stuck_without_insisting)
{
    struct walk *k = walk_new(16, 3, 0);
    k->patient = true;
    assert_int_equal(walk_all(k, LIMIT), WALK_GOOD);
    walk_free(k);
}

/* ---- Planted mistakes ------------------------------------------------------------------------ */

static void change_test(struct table *t, enum table_step step, enum table_test from,
                        enum table_test to)
{
    for (unsigned i = 0; i < TABLE_NEXTS; i++)
        if (t->nexts[i].step == step && t->nexts[i].test == from) {
            t->nexts[i].test = to;
            return;
        }
    fail_msg("%s has no such row", t->steps[step].name);
}

static void change_next(struct table *t, enum table_step step, enum table_test test,
                        enum table_step to)
{
    for (unsigned i = 0; i < TABLE_NEXTS; i++)
        if (t->nexts[i].step == step && t->nexts[i].test == test) {
            t->nexts[i].next = to;
            return;
        }
    fail_msg("%s has no such row", t->steps[step].name);
}

static void atomics_ignore_s(struct walk *k)
{
    change_test(&k->table, STEP_take_atomic_claim, TEST_NO_RS, TEST_NO_R);
}

static void the_kept_writer_watches_r_alone(struct walk *k)
{
    atomics_ignore_s(k);
    k->table.steps[STEP_take_write_keep].gate = TEST_NO_R;
}

static void a_reader_does_not_look_again(struct walk *k)
{
    change_test(&k->table, STEP_try_read_claim, TEST_NO_W, TEST_ANY);
}

static void a_writer_meets_a_seeker_and_does_not_mind(struct walk *k)
{
    change_test(&k->table, STEP_take_write_claim, TEST_NO_SW, TEST_NO_W);
}

static void a_seeker_goes_up_beside_readers(struct walk *k)
{
    change_test(&k->table, STEP_seek_to_write_claim, TEST_LONE_R, TEST_ANY);
}

static void r_is_given_up_before_the_claim_is_good(struct walk *k)
{
    k->table.steps[STEP_read_claim_atomic_claim].add.r = -1;
    k->table.steps[STEP_read_claim_atomic_give_up].add.r = 0;
    k->table.steps[STEP_read_claim_atomic_withdraw].add.r = 1;
}

static void a_seeker_does_not_withdraw(struct walk *k)
{
    change_next(&k->table, STEP_take_seek_claim, TEST_ANY, STEP_take_seek_again);
}

static void a_try_does_not_withdraw(struct walk *k)
{
    change_next(&k->table, STEP_try_seek_claim, TEST_ANY, STEP_END_failed);
}

static void a_writer_withdraws_all_but_s(struct walk *k)
{
    k->table.steps[STEP_claim_write_withdraw].add.s = 0;
}

static void a_drop_forgets_r(struct walk *k)
{
    k->table.steps[STEP_drop_seek_leave].add.r = 0;
}

static void atomics_do_not_mark(struct walk *k)
{
    k->table.steps[STEP_take_atomic_mark].add.s = 0;
    k->table.steps[STEP_take_atomic_open].add.s = 0;
    k->without[OP_read_claim_atomic] = true;
}

static void one_who_turns_does_not_let_go(struct walk *k)
{
    k->table.steps[STEP_atomic_to_read_wait].gate = TEST_NO_W;
}

static void one_who_turns_is_in_at_once(struct walk *k)
{
    change_next(&k->table, STEP_atomic_to_read_turn, TEST_ANY, STEP_END_granted);
}

static void the_kept_writer_keeps_r_too(struct walk *k)
{
    k->table.steps[STEP_take_write_give_back].add.r = 0;
    k->table.steps[STEP_take_write_enter].add.r = 0;
}

static void a_second_writer_keeps_its_claim(struct walk *k)
{
    change_next(&k->table, STEP_take_write_claim, TEST_ANY, STEP_take_write_give_back);
}

static void a_second_reader_waits_to_go_up(struct walk *k)
{
    change_next(&k->table, STEP_read_claim_write_claim, TEST_ANY, STEP_take_write_drain);
}

static void readers_pass_a_writer_that_drains(struct walk *k)
{
    k->table.steps[STEP_take_read_claim].gate = TEST_ANY;
    change_test(&k->table, STEP_take_read_claim, TEST_NO_W, TEST_LONE_R);
}

/* Each is looked for as the promise that it breaks, whatever else it breaks first. */
static const struct {
    const char *what;
    void (*plant)(struct walk *);
    enum walk_verdict found;
} mistakes[] = {
#define MISTAKE(plant, found) {#plant, plant, found}
    MISTAKE(atomics_ignore_s, WALK_BYPASSED),
    MISTAKE(atomics_ignore_s, WALK_TOGETHER),
    MISTAKE(the_kept_writer_watches_r_alone, WALK_TOGETHER),
    MISTAKE(a_reader_does_not_look_again, WALK_TOGETHER),
    MISTAKE(a_writer_meets_a_seeker_and_does_not_mind, WALK_STUCK),
    MISTAKE(a_seeker_goes_up_beside_readers, WALK_TOGETHER),
    MISTAKE(r_is_given_up_before_the_claim_is_good, WALK_TOGETHER),
    MISTAKE(a_seeker_does_not_withdraw, WALK_STUCK),
    MISTAKE(a_try_does_not_withdraw, WALK_HELD),
    MISTAKE(a_writer_withdraws_all_but_s, WALK_HELD),
    MISTAKE(a_drop_forgets_r, WALK_HELD),
    MISTAKE(atomics_do_not_mark, WALK_UNMARKED),
    MISTAKE(atomics_do_not_mark, WALK_STUCK),
    MISTAKE(one_who_turns_does_not_let_go, WALK_STUCK),
    MISTAKE(one_who_turns_is_in_at_once, WALK_TOGETHER),
    MISTAKE(the_kept_writer_keeps_r_too, WALK_STUCK),
    MISTAKE(a_second_writer_keeps_its_claim, WALK_TWO_KEEP),
    MISTAKE(a_second_reader_waits_to_go_up, WALK_TOGETHER),
    MISTAKE(readers_pass_a_writer_that_drains, WALK_TOGETHER),
#undef MISTAKE
};

TEST_CASE(every_planted_mistake_is_found)
{
    for (unsigned i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct walk *k = walk_new(16, 3, 0);
        mistakes[i].plant(k);
        k->unseen[WALK_UNMARKED] = mistakes[i].found != WALK_UNMARKED;
        k->unseen[WALK_TWO_KEEP] = mistakes[i].found != WALK_TWO_KEEP;
        k->unseen[WALK_BYPASSED] = mistakes[i].found != WALK_BYPASSED;
        walk_all(k, LIMIT);
        if (k->verdict != mistakes[i].found) {
            walk_report(k);
            fail_msg("%s: %s", mistakes[i].what, walk_verdict_name(k->verdict));
        }
        walk_free(k);
    }
}

TEST_MAIN()
