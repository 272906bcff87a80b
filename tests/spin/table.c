/* SPDX-License-Identifier: MIT */
/* The transition table and the tags are consistent in themselves and with the layout of the words.
 * Whether they are right is the business of walk.c, whether the code does what they say that
 * of code_follows_table.c. */
#include "test.h"
#include "support/table.h"

#include <assert.h>

/* ---- What the compiler can see --------------------------------------------------------------- */

/* The published layout: two application bits, then R, S (two bits), W, and nothing else. */
#define LAYOUT(bits, r_bits)                                                                       \
    static_assert(PAWL_SPIN##bits##_R == 1u << 2, "R starts above the application bits");          \
    static_assert(PAWL_SPIN##bits##_S == (uint64_t)PAWL_SPIN##bits##_R << (r_bits), "S above R");  \
    static_assert(PAWL_SPIN##bits##_W == (uint64_t)PAWL_SPIN##bits##_S << 2, "W above S");         \
    static_assert(UINT##bits##_MAX / PAWL_SPIN##bits##_W == (UINT64_C(1) << (r_bits)) - 1,         \
                  "W is as wide as R");                                                            \
    static_assert(sizeof(pawl_spin##bits) * 8 == (bits), "the lock is its word");
LAYOUT(16, 6)
LAYOUT(32, 14)
LAYOUT(64, 30)
static_assert(PAWL_SPIN_APPLICATION_BITS == PAWL_SPIN32_R - 1, "all below R is the application's");

/* No step moves more than one unit of a field, so no addition can carry by itself. */
#define PAWL_STEP(op, step, how, gate, w, s, r, order, tag)                                        \
    static_assert((w) >= -1 && (w) <= 1 && (s) >= -1 && (s) <= 1 && (r) >= -1 && (r) <= 1,         \
                  #op "." #step " adds at most one unit of each");                                 \
    static_assert(HOW_##how != HOW_WAIT || ((w) == 0 && (s) == 0 && (r) == 0),                     \
                  #op "." #step " only reads");                                                    \
    static_assert(HOW_##how == HOW_WAIT || (w) != 0 || (s) != 0 || (r) != 0,                       \
                  #op "." #step " adds something");                                                \
    static_assert(HOW_##how != HOW_ADD || TEST_##gate == TEST_ANY, #op "." #step " has no gate");  \
    static_assert((TAG_##tag == TAG_NONE) == (ORDER_##order == ORDER_relaxed),                     \
                  #op "." #step " has a tag exactly when it has an order");
#include <pawl/detail/transitions.def>

enum {
    ORDER_OF_NONE = ORDER_relaxed,
#define PAWL_TAG(name, order, partners, what) ORDER_OF_##name = ORDER_##order,
#include <pawl/detail/tags.def>
#undef PAWL_TAG
};
#define PAWL_STEP(op, step, how, gate, w, s, r, order, tag)                                        \
    static_assert((int)ORDER_OF_##tag == (int)ORDER_##order, #op "." #step ": the tag's order");
#include <pawl/detail/transitions.def>

/* A void operation cannot fail; one that may fail, or tells, returns bool. */
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    static_assert((RESULT_##result == RESULT_bool) ==                                              \
                      (KIND_##kind == KIND_try || KIND_##kind == KIND_claim),                      \
                  #name " returns what its kind says");                                            \
    static_assert((RESULT_##result == RESULT_pawl_regained) == (KIND_##kind == KIND_tells),        \
                  #name " tells how it ended");                                                    \
    static_assert((KIND_##kind == KIND_drop) == (PAWL_STATE_##to == PAWL_STATE_U),                 \
                  #name " drops to U");                                                            \
    static_assert(KIND_##kind != KIND_take || PAWL_STATE_##from == PAWL_STATE_U,                   \
                  #name " takes from U");                                                          \
    static_assert(PAWL_STATE_##from != PAWL_STATE_##to, #name " goes somewhere");
#include <pawl/detail/transitions.def>

/* ---- Paths ----------------------------------------------------------------------------------- */

/* All paths of one operation: the units that it has in the word beside those of `from`, at each
 * step, must not depend on how it came there. */
struct paths {
    const struct table *table;
    enum table_op root;
    bool seen[STEP_COUNT];
    struct table_units sum[STEP_COUNT]; /* before the step */
    bool grants, fails;
};

static void follow(struct paths *p, enum table_step step, struct table_units sum);

static void end_of_path(struct paths *p, enum table_step end, struct table_units sum)
{
    const struct table_op_row *op = &p->table->ops[p->root];
    const struct table_units nothing = {0, 0, 0};
    if (end == STEP_END_granted) {
        p->grants = true;
        if (!table_same_units(table_sum(table_held(op->from), sum), table_held(op->to)))
            fail_msg("%s: a granted path adds %d W %d S %d R", op->name, sum.w, sum.s, sum.r);
        return;
    }
    assert_int_equal(end, STEP_END_failed);
    p->fails = true;
    assert_true(op->kind == KIND_try || op->kind == KIND_claim);
    if (!table_same_units(sum, nothing))
        fail_msg("%s: a failed path leaves %d W %d S %d R", op->name, sum.w, sum.s, sum.r);
}

static void follow_insist(struct paths *p, enum table_step step, struct table_units sum)
{
    const struct table_insist_row *insist = table_insist(p->table, step);
    if (!insist)
        return;
    const struct table_op_row *root = &p->table->ops[p->root];
    const struct table_op_row *through = &p->table->ops[insist->through];
    const struct table_op_row *then = &p->table->ops[insist->then];
    assert_true(
        table_same_units(table_sum(table_held(root->from), sum), table_held(through->from)));
    assert_int_equal(through->to, then->from);
    assert_int_equal(then->to, root->to);
    assert_int_equal(through->kind, KIND_take);
    assert_int_equal(then->kind, KIND_move);
}

static void follow(struct paths *p, enum table_step step, struct table_units sum)
{
    if (step > STEP_COUNT) {
        end_of_path(p, step, sum);
        return;
    }
    assert_true(step < STEP_COUNT);
    const struct table_step_row *row = &p->table->steps[step];
    if (p->seen[step]) {
        if (!table_same_units(p->sum[step], sum))
            fail_msg("%s reaches %s with different units", p->table->ops[p->root].name, row->name);
        return;
    }
    p->seen[step] = true;
    p->sum[step] = sum;
    if (row->how == HOW_LOOK_ADD || row->how == HOW_LOOK_CAS)
        end_of_path(p, STEP_END_failed, sum);
    follow_insist(p, step, sum);
    for (unsigned i = 0; i < TABLE_NEXTS; i++)
        if (p->table->nexts[i].step == step)
            follow(p, p->table->nexts[i].next, table_sum(sum, row->add));
}

static struct paths paths_of(const struct table *t, enum table_op op)
{
    const struct table_units nothing = {0, 0, 0};
    struct paths p;
    memset(&p, 0, sizeof p);
    p.table = t;
    p.root = op;
    follow(&p, table_first(t, op), nothing);
    return p;
}

TEST_CASE(granted_paths_add_what_the_new_state_holds_and_failed_ones_nothing)
{
    const struct table t = table_as_it_is();
    for (unsigned op = 0; op < OP_COUNT; op++) {
        const struct paths p = paths_of(&t, (enum table_op)op);
        assert_true(p.grants);
        assert_int_equal(p.fails, t.ops[op].kind == KIND_try || t.ops[op].kind == KIND_claim);
    }
}

TEST_CASE(every_step_decides_on_every_word_and_is_reached)
{
    const struct table t = table_as_it_is();
    bool reached[STEP_COUNT] = {false};
    for (unsigned op = 0; op < OP_COUNT; op++) {
        const struct paths p = paths_of(&t, (enum table_op)op);
        for (unsigned step = 0; step < STEP_COUNT; step++)
            reached[step] = reached[step] || p.seen[step];
    }
    for (unsigned step = 0; step < STEP_COUNT; step++) {
        enum table_test last = TEST_COUNT;
        for (unsigned i = 0; i < TABLE_NEXTS; i++)
            if (t.nexts[i].step == (enum table_step)step)
                last = t.nexts[i].test;
        assert_int_equal(last, TEST_ANY);
        assert_true(reached[step]);
    }
}

static bool waits(const struct table *t, const struct paths *p, bool (*bad)(enum table_test))
{
    for (unsigned step = 0; step < STEP_COUNT; step++)
        if (p->seen[step]) {
            const enum table_how how = t->steps[step].how;
            if ((how == HOW_WAIT || how == HOW_WAIT_ADD) && bad(t->steps[step].gate))
                return true;
        }
    return false;
}

static bool any_gate(enum table_test gate)
{
    return true;
}

/* Whether the gate may be shut although no reader is in but the waiter. */
static bool gate_on_more_than_readers(enum table_test gate)
{
    return gate != TEST_LONE_R && gate != TEST_NO_R;
}

TEST_CASE(a_try_never_waits_and_a_claim_waits_for_readers_only)
{
    const struct table t = table_as_it_is();
    for (unsigned op = 0; op < OP_COUNT; op++) {
        const struct paths p = paths_of(&t, (enum table_op)op);
        switch (t.ops[op].kind) {
        case KIND_try:
        case KIND_drop: assert_false(waits(&t, &p, any_gate)); break;
        case KIND_move:
        case KIND_claim: assert_false(waits(&t, &p, gate_on_more_than_readers)); break;
        default: assert_true(waits(&t, &p, any_gate));
        }
    }
}

TEST_CASE(a_drop_is_one_releasing_addition)
{
    const struct table t = table_as_it_is();
    unsigned step, count;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        if (t.ops[op].kind != KIND_drop)
            continue;
        const struct paths p = paths_of(&t, (enum table_op)op);
        for (count = 0, step = 0; step < STEP_COUNT; step++)
            count += p.seen[step];
        assert_int_equal(count, 1);
        assert_int_equal(t.steps[table_first(&t, (enum table_op)op)].how, HOW_ADD);
        assert_int_equal(t.steps[table_first(&t, (enum table_op)op)].order, ORDER_release);
    }
}

/* ---- Tags ------------------------------------------------------------------------------------ */

static unsigned tag_named(const char *name, size_t length)
{
    for (unsigned i = 1; i < TAG_COUNT; i++)
        if (strlen(table_tags[i].name) == length && !strncmp(table_tags[i].name, name, length))
            return i;
    return TAG_NONE;
}

static bool names_partner(unsigned tag, unsigned partner)
{
    const char *at = table_tags[tag].partners;
    while (*at) {
        const size_t length = strcspn(at, " ");
        if (length && tag_named(at, length) == partner)
            return true;
        at += length + strspn(at + length, " ");
    }
    return false;
}

static bool acquires(unsigned tag)
{
    return table_tags[tag].order == ORDER_acquire || table_tags[tag].order == ORDER_acq_rel;
}

static bool releases(unsigned tag)
{
    return table_tags[tag].order == ORDER_release || table_tags[tag].order == ORDER_acq_rel;
}

TEST_CASE(every_tag_has_partners_that_exist_and_name_it)
{
    for (unsigned tag = 1; tag < TAG_COUNT; tag++) {
        const char *at = table_tags[tag].partners;
        assert_true(*at != 0);
        while (*at) {
            const size_t length = strcspn(at, " ");
            const unsigned partner = tag_named(at, length);
            if (partner == TAG_NONE)
                fail_msg("%s names %.*s", table_tags[tag].name, (int)length, at);
            if (!names_partner(partner, tag))
                fail_msg("%s does not name %s", table_tags[partner].name, table_tags[tag].name);
            at += length + strspn(at + length, " ");
        }
    }
}

TEST_CASE(one_side_of_each_pair_acquires_and_the_other_releases)
{
    for (unsigned tag = 1; tag < TAG_COUNT; tag++)
        for (unsigned partner = 1; partner < TAG_COUNT; partner++)
            if (names_partner(tag, partner) && !(acquires(tag) && releases(partner)) &&
                !(releases(tag) && acquires(partner)))
                fail_msg("%s and %s order nothing", table_tags[tag].name, table_tags[partner].name);
}

TEST_CASE(the_table_uses_every_tag_of_the_transitions)
{
    bool used[TAG_COUNT] = {false};
    for (unsigned i = 0; i < STEP_COUNT; i++)
        used[table_steps[i].tag] = true;
    for (unsigned i = 1; i < TAG_COUNT; i++)
        assert_int_equal(used[i], !strncmp(table_tags[i].name, "SPIN_", 5) &&
                                      strncmp(table_tags[i].name, "SPIN_BITS", 9) != 0);
}

TEST_MAIN()
