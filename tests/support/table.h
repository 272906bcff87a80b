/* SPDX-License-Identifier: MIT */
/*
 * transitions.def and tags.def as arrays that a test can go through, and the arithmetic of the
 * words. What is here reads the data; it knows nothing of the code.
 */
#pragma once

#include <pawl/spin.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Names ----------------------------------------------------------------------------------- */

enum table_test {
#define PAWL_TEST(name, condition) TEST_##name,
#include <pawl/detail/transitions.def>
    TEST_COUNT
};

enum table_op {
#define PAWL_OP(result, name, kind, from, to, cost) OP_##name,
#include <pawl/detail/transitions.def>
    OP_COUNT
};
#define OP_NONE OP_COUNT

enum table_step {
#define PAWL_STEP(op, step, how, gate, w, s, r, order, tag) STEP_##op##_##step,
#include <pawl/detail/transitions.def>
    STEP_COUNT,
    STEP_END_granted,
    STEP_END_failed,
    STEP_END_let_go
};

enum table_kind { KIND_take, KIND_try, KIND_claim, KIND_drop, KIND_move, KIND_tells };
enum table_how { HOW_ADD, HOW_WAIT_ADD, HOW_LOOK_ADD, HOW_LOOK_CAS, HOW_WAIT };
enum table_order { ORDER_relaxed, ORDER_acquire, ORDER_release, ORDER_acq_rel };
enum table_result { RESULT_void, RESULT_bool, RESULT_pawl_regained };

enum table_tag {
    TAG_NONE,
#define PAWL_TAG(name, order, partners, what) TAG_##name,
#include <pawl/detail/tags.def>
#undef PAWL_TAG
    TAG_COUNT
};

/* ---- Rows ------------------------------------------------------------------------------------ */

struct table_units {
    int w, s, r;
};

struct table_op_row {
    const char *name;
    enum table_result result;
    enum table_kind kind;
    enum pawl_state from, to;
    int cost;
};

struct table_step_row {
    const char *name;
    enum table_op op;
    enum table_how how;
    enum table_test gate;
    struct table_units add;
    enum table_order order;
    enum table_tag tag;
};

struct table_next_row {
    enum table_step step;
    enum table_test test;
    enum table_step next;
};

struct table_insist_row {
    enum table_step step;
    enum table_test test;
    enum table_op through, then;
};

struct table_tag_row {
    const char *name;
    enum table_order order;
    const char *partners;
    const char *what;
};

static const struct table_op_row table_ops[] = {
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    {#name, RESULT_##result, KIND_##kind, PAWL_STATE_##from, PAWL_STATE_##to, cost},
#include <pawl/detail/transitions.def>
};

static const struct table_step_row table_steps[] = {
#define PAWL_STEP(op, step, how, gate, w, s, r, order, tag)                                        \
    {#op "." #step, OP_##op, HOW_##how, TEST_##gate, {w, s, r}, ORDER_##order, TAG_##tag},
#include <pawl/detail/transitions.def>
};

static const struct table_next_row table_nexts[] = {
#define PAWL_NEXT(op, step, test, next_op, next_step)                                              \
    {STEP_##op##_##step, TEST_##test, STEP_##next_op##_##next_step},
#include <pawl/detail/transitions.def>
};
enum { TABLE_NEXTS = sizeof table_nexts / sizeof table_nexts[0] };

static const struct table_insist_row table_insists[] = {
#define PAWL_INSIST(op, step, test, through, then)                                                 \
    {STEP_##op##_##step, TEST_##test, OP_##through, OP_##then},
#include <pawl/detail/transitions.def>
};
enum { TABLE_INSISTS = sizeof table_insists / sizeof table_insists[0] };

static const struct table_tag_row table_tags[] = {
    {"NONE", ORDER_relaxed, "", ""},
#define PAWL_TAG(name, order, partners, what) {#name, ORDER_##order, partners, what},
#include <pawl/detail/tags.def>
#undef PAWL_TAG
};

/* All of the above in one changeable piece, so that a test can plant a mistake in a copy. */
struct table {
    struct table_op_row ops[OP_COUNT];
    struct table_step_row steps[STEP_COUNT];
    struct table_next_row nexts[TABLE_NEXTS];
    struct table_insist_row insists[TABLE_INSISTS];
};

static inline struct table table_as_it_is(void)
{
    struct table t;
    for (unsigned i = 0; i < OP_COUNT; i++)
        t.ops[i] = table_ops[i];
    for (unsigned i = 0; i < STEP_COUNT; i++)
        t.steps[i] = table_steps[i];
    for (unsigned i = 0; i < TABLE_NEXTS; i++)
        t.nexts[i] = table_nexts[i];
    for (unsigned i = 0; i < TABLE_INSISTS; i++)
        t.insists[i] = table_insists[i];
    return t;
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* The three fields of a word, in units; unsigned, because that is what the word holds. */
struct table_fields {
    uint64_t W, S, R;
};

static inline uint64_t table_unit_r(unsigned bits)
{
    return bits == 16 ? PAWL_SPIN16_R : bits == 32 ? PAWL_SPIN32_R : PAWL_SPIN64_R;
}

static inline uint64_t table_unit_s(unsigned bits)
{
    return bits == 16 ? PAWL_SPIN16_S : bits == 32 ? PAWL_SPIN32_S : PAWL_SPIN64_S;
}

static inline uint64_t table_unit_w(unsigned bits)
{
    return bits == 16 ? PAWL_SPIN16_W : bits == 32 ? PAWL_SPIN32_W : PAWL_SPIN64_W;
}

static inline uint64_t table_mask(unsigned bits)
{
    return UINT64_MAX >> (64 - bits);
}

static inline struct table_fields table_fields_of(unsigned bits, uint64_t word)
{
    struct table_fields f;
    f.R = word % table_unit_s(bits) / table_unit_r(bits);
    f.S = word % table_unit_w(bits) / table_unit_s(bits);
    f.W = word / table_unit_w(bits);
    return f;
}

/* The operand that adds these units: real arithmetic of that width, with its overflows. */
static inline uint64_t table_operand(unsigned bits, struct table_units u)
{
    return ((uint64_t)u.w * table_unit_w(bits) + (uint64_t)u.s * table_unit_s(bits) +
            (uint64_t)u.r * table_unit_r(bits)) &
           table_mask(bits);
}

static inline bool table_passes(enum table_test test, struct table_fields f)
{
    const uint64_t W = f.W;
    const uint64_t S = f.S;
    const uint64_t R = f.R;
    (void)W, (void)S, (void)R;
    switch (test) {
#define PAWL_TEST(name, condition)                                                                 \
    case TEST_##name: return (condition);
#include <pawl/detail/transitions.def>
    default: return false;
    }
}

/* ---- Following the rows ---------------------------------------------------------------------- */

/* What each state holds of the word, as published. */
static inline struct table_units table_held(enum pawl_state state)
{
    static const struct table_units held[] = {
        {0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1}, {1, 0, 0}};
    return held[state];
}

static inline bool table_same_units(struct table_units a, struct table_units b)
{
    return a.w == b.w && a.s == b.s && a.r == b.r;
}

static inline struct table_units table_sum(struct table_units a, struct table_units b)
{
    struct table_units sum;
    sum.w = a.w + b.w;
    sum.s = a.s + b.s;
    sum.r = a.r + b.r;
    return sum;
}

/* Where an operation starts; STEP_COUNT if it has no step. */
static inline enum table_step table_first(const struct table *t, enum table_op op)
{
    unsigned i;
    for (i = 0; i < STEP_COUNT; i++)
        if (t->steps[i].op == op)
            break;
    return (enum table_step)i;
}

/* What follows a step whose addition (or last read) found these fields; STEP_COUNT if nothing. */
static inline enum table_step table_next(const struct table *t, enum table_step step,
                                         struct table_fields found)
{
    for (unsigned i = 0; i < TABLE_NEXTS; i++)
        if (t->nexts[i].step == step && table_passes(t->nexts[i].test, found))
            return t->nexts[i].next;
    return STEP_COUNT;
}

/* The row that lets a waiter at this step insist; NULL if it may not. */
static inline const struct table_insist_row *table_insist(const struct table *t,
                                                          enum table_step step)
{
    for (unsigned i = 0; i < TABLE_INSISTS; i++)
        if (t->insists[i].step == step)
            return &t->insists[i];
    return NULL;
}
