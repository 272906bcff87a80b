/* SPDX-License-Identifier: MIT */
/*
 * The leaver needs release, no more: what it did is done before the word changes. Where a drop
 * falls back to sequential consistency it is still right, but each drop pays for a full barrier on
 * Arm and POWER. So each drop, and each move down, is one subtraction with release; and no access
 * at all is sequentially consistent, whatever the operation meets.
 */
#include "explorer/steps.h"

static pawl_spin32 lock;
static struct sim_call call = {&lock, false};

static const struct {
    const char *name;
    void (*body)(void *);
    enum pawl_state from;
    bool down; /* drops, and moves to what excludes less */
} operations[] = {
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    {#name, sim_##name, PAWL_STATE_##from,                                                         \
     PAWL_STATE_##to == PAWL_STATE_U || PAWL_STATE_##from == PAWL_STATE_W ||                       \
         (PAWL_STATE_##from == PAWL_STATE_S && PAWL_STATE_##to == PAWL_STATE_R)},
#include <pawl/detail/transitions.def>
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static const uint32_t held[] = {0, PAWL_SPIN32_R, PAWL_SPIN32_S + PAWL_SPIN32_R,
                                PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R, PAWL_SPIN32_W};

TEST_CASE(a_drop_or_move_down_is_one_subtraction_with_release)
{
    unsigned downs = 0;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        if (!operations[i].down)
            continue;
        lock.word = held[operations[i].from];
        sim_begin();
        assert_true(sim_ends(sim_start(operations[i].body, &call)));
        assert_int_equal(sim_recorded, 1);
        assert_int_equal(sim_records[0].operation.kind, PAWL_HOOK_SUB);
        assert_int_equal(sim_records[0].operation.order, PAWL_ORDER_RELEASE);
        sim_end();
        downs++;
    }
    assert_int_equal(downs, 7); /* four drops, W to S, W to R, S to R */
}

/* Beside nobody, and beside one of each state that then leaves. */
TEST_CASE(nothing_is_sequentially_consistent)
{
    for (unsigned i = 0; i < OPERATIONS; i++)
        for (unsigned beside = PAWL_STATE_U; beside <= PAWL_STATE_A; beside++) {
            lock.word = held[operations[i].from] + held[beside];
            sim_begin();
            unsigned thread = sim_start(operations[i].body, &call);
            for (unsigned k = 0; k < 100 && !sim_all[thread].ended; k++)
                sim_step(thread);
            lock.word -= held[beside];
            assert_true(sim_ends(thread));
            for (unsigned k = 0; k < sim_recorded; k++) {
                if (sim_records[k].operation.order == PAWL_ORDER_SEQ_CST)
                    fail_msg("%s is sequentially consistent", operations[i].name);
                assert_int_not_equal(sim_records[k].operation.kind, PAWL_HOOK_FENCE);
            }
            sim_end();
        }
}

TEST_MAIN(sim_begin())
