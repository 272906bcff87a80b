/* SPDX-License-Identifier: MIT */
/* Each operation of each width when nobody disturbs: what the word holds before and after. */
#include "test.h"
#include "support/table.h"

/* For each width: the words, and all operations with their names, results and states. */
#define RESULT_OF_void(call) ((call), true)
#define RESULT_OF_bool(call) (call)
#define RESULT_OF_pawl_regained(call) ((call) == PAWL_REGAIN_KEPT)

static pawl_spin16 lock16;
static pawl_spin32 lock32;
static pawl_spin64 lock64;

struct face {
    bool (*by_name16)(void), (*by_name32)(void), (*by_name64)(void);
    bool (*by_type16)(void), (*by_type32)(void), (*by_type64)(void);
};

/* clang-format off */
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    static bool name16_##name(void) { return RESULT_OF_##result(pawl_spin16_##name(&lock16)); }    \
    static bool name32_##name(void) { return RESULT_OF_##result(pawl_spin32_##name(&lock32)); }    \
    static bool name64_##name(void) { return RESULT_OF_##result(pawl_spin64_##name(&lock64)); }    \
    static bool type16_##name(void) { return RESULT_OF_##result(pawl_##name(&lock16)); }           \
    static bool type32_##name(void) { return RESULT_OF_##result(pawl_##name(&lock32)); }           \
    static bool type64_##name(void) { return RESULT_OF_##result(pawl_##name(&lock64)); }
/* clang-format on */
#include <pawl/detail/transitions.def>

static const struct face faces[] = {
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    {name16_##name, name32_##name, name64_##name, type16_##name, type32_##name, type64_##name},
#include <pawl/detail/transitions.def>
};

static uint64_t held(unsigned bits, enum pawl_state state)
{
    return table_operand(bits, table_held(state));
}

/* Runs the operation on a word of each width that holds its `from` and the bits. */
static void run_all(unsigned op, unsigned bits, bool by_type, bool wanted)
{
    const struct table_op_row *row = &table_ops[op];
    const struct face *f = &faces[op];
    lock16.word = (uint16_t)(held(16, row->from) + bits);
    lock32.word = (uint32_t)(held(32, row->from) + bits);
    lock64.word = held(64, row->from) + bits;
    assert_int_equal((by_type ? f->by_type16 : f->by_name16)(), wanted);
    assert_int_equal((by_type ? f->by_type32 : f->by_name32)(), wanted);
    assert_int_equal((by_type ? f->by_type64 : f->by_name64)(), wanted);
}

TEST_CASE(each_operation_leaves_what_its_new_state_holds_and_the_application_bits)
{
    for (unsigned op = 0; op < OP_COUNT; op++)
        for (unsigned bits = 0; bits < 8; bits++) {
            run_all(op, bits % 4, bits >= 4, true);
            assert_int_equal(lock16.word, held(16, table_ops[op].to) + bits % 4);
            assert_int_equal(lock32.word, held(32, table_ops[op].to) + bits % 4);
            assert_true(lock64.word == held(64, table_ops[op].to) + bits % 4);
        }
}

TEST_CASE(zeroed_memory_is_an_unlocked_lock)
{
    struct locks {
        pawl_spin16 a;
        pawl_spin32 b;
        pawl_spin64 c;
    };
    struct locks *l = (struct locks *)calloc(1, sizeof *l);
    must(l != NULL);
    assert_true(pawl_spin16_is_free(&l->a));
    assert_true(pawl_spin32_is_free(&l->b));
    assert_true(pawl_spin64_is_free(&l->c));
    pawl_take_write(&l->a);
    pawl_take_write(&l->b);
    pawl_take_write(&l->c);
    pawl_drop_write(&l->a);
    pawl_drop_write(&l->b);
    pawl_drop_write(&l->c);
    assert_int_equal(l->a.word + l->b.word + l->c.word, 0);
    free(l);
}

TEST_CASE(the_initialisers_and_init_make_zero_words)
{
    pawl_spin16 a = PAWL_SPIN16_INIT;
    pawl_spin32 b = PAWL_SPIN32_INIT;
    pawl_spin64 c = PAWL_SPIN64_INIT;
    assert_int_equal(a.word + b.word + c.word, 0);
    a.word = UINT16_MAX;
    b.word = UINT32_MAX;
    c.word = UINT64_MAX;
    pawl_init(&a);
    pawl_init(&b);
    pawl_init(&c);
    assert_int_equal(a.word + b.word + c.word, 0);
    pawl_destroy(&a);
    pawl_destroy(&b);
    pawl_destroy(&c);
    assert_int_equal(a.word + b.word + c.word, 0);
}

TEST_CASE(a_64_bit_lock_is_aligned_to_8_wherever_it_stands)
{
    struct after_a_byte {
        char byte;
        pawl_spin64 lock;
    };
    assert_int_equal(offsetof(struct after_a_byte, lock), 8);
}

TEST_CASE(the_application_bits_are_read_set_and_cleared_while_the_lock_is_held)
{
    memset(&lock16, 0, sizeof lock16);
    memset(&lock64, 0, sizeof lock64);
    pawl_take_write(&lock16);
    assert_int_equal(pawl_set_bits(&lock16, 1), 0);
    assert_int_equal(pawl_set_bits(&lock16, 2), 1);
    assert_int_equal(pawl_bits(&lock16), 3);
    assert_int_equal(pawl_clear_bits(&lock16, 1), 3);
    assert_int_equal(pawl_bits(&lock16), 2);
    pawl_drop_write(&lock16);
    assert_int_equal(lock16.word, 2);
    pawl_take_read(&lock64);
    assert_int_equal(pawl_set_bits(&lock64, 3), 0);
    pawl_drop_read(&lock64);
    assert_true(lock64.word == 3);
}

TEST_CASE(only_the_two_application_bits_can_be_changed)
{
    lock32.word = 0;
    assert_int_equal(pawl_spin32_set_bits(&lock32, UINT32_MAX), 0);
    assert_int_equal(lock32.word, 3);
    pawl_take_seek(&lock32);
    assert_int_equal(pawl_spin32_clear_bits(&lock32, UINT32_MAX), 3);
    assert_int_equal(lock32.word, held(32, PAWL_STATE_S));
    pawl_drop_seek(&lock32);
}

TEST_CASE(the_snapshots_tell_the_states_apart)
{
    for (unsigned bits = 0; bits < 4; bits++)
        for (int s = PAWL_STATE_U; s <= PAWL_STATE_A; s++) {
            lock32.word = (uint32_t)(held(32, (enum pawl_state)s) + bits);
            assert_int_equal(pawl_spin32_is_free(&lock32), s == PAWL_STATE_U);
            assert_int_equal(pawl_spin32_is_read(&lock32), s == PAWL_STATE_R);
            assert_int_equal(pawl_spin32_is_seek(&lock32), s == PAWL_STATE_S);
            assert_int_equal(pawl_spin32_is_write(&lock32), s == PAWL_STATE_W);
            assert_int_equal(pawl_spin32_is_atomic(&lock32), s == PAWL_STATE_A);
        }
}

/* What each try does beside one holder of each state, by the matrix of the published rules. */
TEST_CASE(each_try_beside_each_holder_succeeds_or_leaves_the_word_as_it_was)
{
    static const struct {
        enum table_op op;
        bool beside[5]; /* U R S W A */
    } rows[] = {
        {OP_try_read, {true, true, true, false, false}},
        {OP_try_seek, {true, true, false, false, false}},
        {OP_try_write, {true, false, false, false, false}},
        {OP_try_atomic, {true, false, false, false, true}},
        {OP_try_read_to_seek, {true, true, false, false, false}},
        {OP_try_read_to_write, {true, false, false, false, false}},
        {OP_try_read_to_atomic, {true, false, false, false, false}},
        {OP_try_seek_to_write, {true, false, false, false, false}},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int beside = PAWL_STATE_U; beside <= PAWL_STATE_A; beside++) {
            const struct table_op_row *row = &table_ops[rows[i].op];
            if ((int)row->from + beside > PAWL_STATE_R + PAWL_STATE_S && row->from != PAWL_STATE_U)
                continue; /* never in together */
            const uint32_t other = (uint32_t)held(32, (enum pawl_state)beside) + 1;
            lock32.word = (uint32_t)held(32, row->from) + other;
            assert_int_equal(faces[rows[i].op].by_name32(), rows[i].beside[beside]);
            assert_int_equal(lock32.word,
                             held(32, rows[i].beside[beside] ? row->to : row->from) + other);
        }
}

TEST_CASE(two_locks_are_taken_in_either_order_of_their_names)
{
    pawl_spin32 two[2] = {PAWL_SPIN32_INIT, PAWL_SPIN32_INIT};
    pawl_take_two_write(&two[1], &two[0]);
    assert_true(pawl_spin32_is_write(&two[0]) && pawl_spin32_is_write(&two[1]));
    pawl_drop_two_write(&two[0], &two[1]);
    pawl_take_two_read(&two[0], &two[1]);
    assert_true(pawl_spin32_is_read(&two[0]) && pawl_spin32_is_read(&two[1]));
    pawl_drop_two_read(&two[1], &two[0]);
    pawl_take_two_seek(&two[0], &two[1]);
    assert_true(pawl_spin32_is_seek(&two[0]) && pawl_spin32_is_seek(&two[1]));
    pawl_drop_two_seek(&two[0], &two[1]);
    assert_int_equal(two[0].word + two[1].word, 0);
}

TEST_CASE(the_same_lock_twice_is_taken_once)
{
    lock32.word = 0;
    pawl_take_two_write(&lock32, &lock32);
    assert_int_equal(lock32.word, held(32, PAWL_STATE_W));
    pawl_drop_two_write(&lock32, &lock32);
    assert_int_equal(lock32.word, 0);
}

TEST_MAIN()
