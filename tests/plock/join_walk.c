/* SPDX-License-Identifier: MIT */
/*
 * The exhaustive walk of the join and claim states: three threads do whatever join.def allows, in
 * every order. The second half puts the published form's mistakes back into a copy of the table,
 * one by one; the walk must find each.
 */
#include "plock/join_walk.h"

static const int joining[] = {
    OP_take_read,     OP_try_read,        OP_drop_read, OP_read_to_join,
    OP_join_to_claim, OP_claim_to_atomic, OP_drop_join, OP_drop_claim,
    OP_drop_atomic,   OP_atomic_to_read,  OP_take_join, OP_try_join,
};
static const int alone[] = {
    OP_take_read,    OP_try_read,           OP_drop_read,         OP_take_atomic, OP_try_atomic,
    OP_claim_atomic, OP_try_read_to_atomic, OP_read_claim_atomic, OP_drop_atomic, OP_atomic_to_read,
    OP_take_join,    OP_try_join,           OP_drop_join,
};
enum { JOINING_COUNT = sizeof joining / sizeof joining[0] };
enum { ALONE_COUNT = sizeof alone / sizeof alone[0] };

static struct walk *walk_with(const int *ops, unsigned count, uint16_t application)
{
    struct walk *k = walk_new(application);
    for (unsigned i = 0; i < count; i++)
        k->with[ops[i]] = true;
    return k;
}

static void check(struct walk *k, enum verdict verdict)
{
    if (walk_all(k) != verdict) {
        walk_report(k);
        fail();
    }
}

TEST_CASE(joiners_exclude_others_and_can_always_end)
{
    for (uint16_t application = 0; application <= 3; application++) {
        struct walk *k = walk_with(joining, JOINING_COUNT, application);
        check(k, GOOD);
        assert_true(k->state_count > 3000);
        walk_free(k);
    }
}

TEST_CASE(joining_again_from_a_excludes_all_but_atomic_users)
{
    struct walk *k = walk_with(joining, JOINING_COUNT, 0);
    k->with[OP_atomic_to_join] = true;
    k->s_may_stay = true;
    check(k, GOOD);
    walk_free(k);
}

TEST_CASE(j_alone_goes_with_atomic_users_from_u)
{
    struct walk *k = walk_with(alone, ALONE_COUNT, 0);
    check(k, GOOD);
    walk_free(k);
}

TEST_CASE(every_row_of_join_def_is_walked)
{
    struct walk *k = walk_with(joining, JOINING_COUNT, 0);
    k->with[OP_atomic_to_join] = true;
    k->s_may_stay = true;
    check(k, GOOD);
    for (unsigned n = 0; n < NEXTS; n++)
        if (!k->taken[n] && k->with[k->steps[k->nexts[n].step].op])
            fail_msg("row %u, of %s", n, all_ops[k->steps[k->nexts[n].step].op].name);
    walk_free(k);
}

/* Why the header forbids it. */
TEST_CASE(atomic_users_from_u_do_not_go_with_joiners)
{
    struct walk *k = walk_with(joining, JOINING_COUNT, 0);
    k->with[OP_take_atomic] = true;
    check(k, TOGETHER);
    walk_free(k);
}

/* ---- The published form's mistakes ----------------------------------------------------------- */

static void forget_marks(struct walk *k, int step, int of)
{
    unsigned count = 0;
    for (unsigned m = 0; m < MARKS; m++)
        if (k->marks[m].step == step && k->marks[m].of == of) {
            k->marks[m].clear = k->marks[m].set = 0;
            count++;
        }
    must(count > 0);
}

static void change_test(struct walk *k, int step, int from, int to)
{
    unsigned n;
    for (n = 0; n < NEXTS && (k->nexts[n].step != step || k->nexts[n].test != from); n++)
        continue;
    must(n < NEXTS);
    k->nexts[n].test = to;
}

static struct walk *with_a_mistake(void)
{
    return walk_with(joining, JOINING_COUNT, 0);
}

TEST_CASE(finds_exclusive_j_granted_without_a_look_at_w)
{
    struct walk *k = with_a_mistake();
    k->steps[STEP_take_join_claim].gate = TEST_ANY;
    change_test(k, STEP_take_join_claim, TEST_ALONE, TEST_LONE_R);
    check(k, TOGETHER);
    walk_free(k);
}

TEST_CASE(finds_exclusive_j_that_waits_for_r_alone)
{
    struct walk *k = with_a_mistake();
    k->steps[STEP_take_join_drain].gate = TEST_LONE_R;
    change_test(k, STEP_take_join_drain, TEST_ALONE, TEST_LONE_R);
    check(k, TOGETHER);
    walk_free(k);
}

TEST_CASE(finds_s_left_behind_by_the_last_joiner)
{
    struct walk *k = with_a_mistake();
    forget_marks(k, STEP_drop_join_leave, OF_LEFT);
    check(k, LEFT_OVER);
    walk_free(k);
}

TEST_CASE(finds_s_left_behind_by_the_last_claimer)
{
    struct walk *k = with_a_mistake();
    forget_marks(k, STEP_drop_claim_leave, OF_LEFT);
    check(k, LEFT_OVER);
    walk_free(k);
}

/* With S left behind, the next to join is let in beside readers, unless it clears what it finds. */
TEST_CASE(finds_joiners_that_trust_a_stale_s)
{
    struct walk *k = with_a_mistake();
    k->s_may_stay = true;
    forget_marks(k, STEP_drop_claim_leave, OF_LEFT);
    check(k, GOOD);
    walk_free(k);
    k = with_a_mistake();
    k->s_may_stay = true;
    forget_marks(k, STEP_drop_claim_leave, OF_LEFT);
    forget_marks(k, STEP_read_to_join_claim, OF_FOUND);
    check(k, TOGETHER);
    walk_free(k);
}

TEST_CASE(finds_a_joiner_and_an_atomic_user_who_wait_for_each_other)
{
    struct walk *k = with_a_mistake();
    forget_marks(k, STEP_read_to_join_claim, OF_LEFT);
    check(k, STUCK);
    walk_free(k);
}

TEST_CASE(finds_exclusive_j_and_an_atomic_user_who_wait_for_each_other)
{
    struct walk *k = with_a_mistake();
    forget_marks(k, STEP_take_join_claim, OF_LEFT);
    check(k, STUCK);
    walk_free(k);
}

TEST_CASE(finds_a_claimer_who_goes_on_alone)
{
    struct walk *k = with_a_mistake();
    k->s_may_stay = true;
    k->steps[STEP_claim_to_atomic_open].gate = TEST_ANY;
    check(k, TOGETHER);
    walk_free(k);
}

TEST_CASE(finds_a_joiner_who_does_not_wait)
{
    struct walk *k = with_a_mistake();
    change_test(k, STEP_read_to_join_claim, TEST_MAY_JOIN, TEST_ANY);
    check(k, TOGETHER);
    walk_free(k);
}

TEST_CASE(finds_the_mark_that_nobody_takes_away)
{
    struct walk *k = walk_with(alone, ALONE_COUNT, 0);
    change_test(k, STEP_try_join_withdraw, TEST_NO_W, TEST_ANY);
    check(k, LEFT_OVER);
    walk_free(k);
}

TEST_MAIN()
