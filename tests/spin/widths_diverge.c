/* SPDX-License-Identifier: MIT */
/*
 * Where each width has a body of its own, a change reaches one and not the other: an operation then
 * succeeds on a 64-bit lock and fails on a 32-bit one. Here one random sequence of operations, none
 * of which can wait, goes to a lock of each width; results and fields must agree after each.
 */
#include "test.h"
#include "support/table.h"

static pawl_spin16 lock16;
static pawl_spin32 lock32;
static pawl_spin64 lock64;

#define RUN_void(call) ((call), true)
#define RUN_bool(call) (call)
#define RUN_pawl_regained(call) ((call) == PAWL_REGAIN_KEPT)
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    static void all_##name(bool *results)                                                          \
    {                                                                                              \
        results[0] = RUN_##result(pawl_spin16_##name(&lock16));                                    \
        results[1] = RUN_##result(pawl_spin32_##name(&lock32));                                    \
        results[2] = RUN_##result(pawl_spin64_##name(&lock64));                                    \
    }
#include <pawl/detail/transitions.def>

static void (*const all[])(bool *) = {
#define PAWL_OP(result, name, kind, from, to, cost) all_##name,
#include <pawl/detail/transitions.def>
};

static void assert_same_fields(const char *after)
{
    const struct table_fields a = table_fields_of(16, lock16.word);
    const struct table_fields b = table_fields_of(32, lock32.word);
    const struct table_fields c = table_fields_of(64, lock64.word);
    if (a.W != b.W || a.S != b.S || a.R != b.R || b.W != c.W || b.S != c.S || b.R != c.R ||
        (lock16.word & 3) != (lock32.word & 3) || (lock32.word & 3) != (lock64.word & 3))
        fail_msg("after %s: %#x %#x %#" PRIx64, after, (unsigned)lock16.word, (unsigned)lock32.word,
                 lock64.word);
}

/* Whether the operation can be called now, by a thread of its own, without waiting for ever. */
static bool may_call(unsigned op, const unsigned *held)
{
    const struct table_op_row *row = &table_ops[op];
    const unsigned others =
        held[PAWL_STATE_R] + held[PAWL_STATE_S] + held[PAWL_STATE_W] + held[PAWL_STATE_A];
    if (row->from != PAWL_STATE_U && held[row->from] == 0)
        return false;
    switch (row->kind) {
    case KIND_try:
    case KIND_drop: return true;
    case KIND_move:
    case KIND_tells:
        return row->to == PAWL_STATE_S || row->to == PAWL_STATE_R ? held[PAWL_STATE_A] <= 1
                                                                  : others == 1;
    case KIND_claim: return held[PAWL_STATE_R] == (row->from == PAWL_STATE_R ? 1u : 0u);
    default:
        return row->to == PAWL_STATE_R ? held[PAWL_STATE_W] + held[PAWL_STATE_A] == 0
               : row->to == PAWL_STATE_S
                   ? held[PAWL_STATE_S] + held[PAWL_STATE_W] + held[PAWL_STATE_A] == 0
               : row->to == PAWL_STATE_A
                   ? held[PAWL_STATE_R] + held[PAWL_STATE_S] + held[PAWL_STATE_W] == 0
                   : others == 0;
    }
}

TEST_CASE(the_widths_agree_after_each_of_many_operations)
{
    uint64_t random = test_seed();
    unsigned held[5] = {0, 0, 0, 0, 0};
    unsigned done[OP_COUNT] = {0};
    for (unsigned i = 0; i < 200000; i++) {
        const unsigned op = test_random_below(&random, OP_COUNT);
        const struct table_op_row *row = &table_ops[op];
        bool results[3];
        if (!may_call(op, held) ||
            (row->from == PAWL_STATE_U && held[PAWL_STATE_R] + held[PAWL_STATE_A] > 3))
            continue;
        all[op](results);
        assert_int_equal(results[0], results[1]);
        assert_int_equal(results[1], results[2]);
        if (results[0]) {
            held[row->from] -= row->from != PAWL_STATE_U;
            held[row->to] += row->to != PAWL_STATE_U;
            done[op]++;
        }
        if (test_random_below(&random, 8) == 0) {
            const unsigned bits = test_random_below(&random, 4);
            pawl_spin16_set_bits(&lock16, (uint16_t)bits);
            pawl_spin32_set_bits(&lock32, bits);
            pawl_spin64_set_bits(&lock64, bits);
            pawl_spin16_clear_bits(&lock16, (uint16_t)(bits ^ 1));
            pawl_spin32_clear_bits(&lock32, bits ^ 1);
            pawl_spin64_clear_bits(&lock64, bits ^ 1);
        }
        assert_same_fields(row->name);
    }
    for (unsigned i = 0; i < OP_COUNT; i++)
        if (done[i] == 0)
            fail_msg("%s never succeeded", table_ops[i].name);
}

TEST_MAIN()
