/* SPDX-License-Identifier: MIT */
/* Each operation of the lock that sleeps when nobody disturbs, with and without a deadline. */
#include "test.h"

#include <pawl/lock.h>

enum { U, R, S, W, A };

/* The word of each state. */
static uint64_t held(unsigned bits, unsigned state)
{
    const uint64_t r = 4;
    const uint64_t s = UINT64_C(1) << (bits / 2);
    const uint64_t w = s << 2;
    return state == R ? r : state == S ? s + r : state == W ? w + s + r : state == A ? w : 0;
}

static pawl_lock32 lock32;
static pawl_lock64 lock64;
static uint64_t deadline;

#define RESULT_void(call) ((call), true)
#define RESULT_bool(call) (call)
#define RESULT_pawl_regained(call) ((call) == PAWL_REGAIN_KEPT)

struct operation {
    const char *name;
    unsigned from, to;
    bool (*run[4])(void); /* by name and by type, 32 and 64 bits */
};

/* clang-format off */
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    static bool a_##name(void) { return RESULT_##result(pawl_lock32_##name(&lock32)); }            \
    static bool b_##name(void) { return RESULT_##result(pawl_lock64_##name(&lock64)); }            \
    static bool c_##name(void) { return RESULT_##result(pawl_##name(&lock32)); }                   \
    static bool d_##name(void) { return RESULT_##result(pawl_##name(&lock64)); }
#include <pawl/detail/transitions.def>
#define PAWL_UNTIL(name, from, to)                                                                 \
    static bool a_##name##_until(void) { return pawl_lock32_##name##_until(&lock32, deadline); }   \
    static bool b_##name##_until(void) { return pawl_lock64_##name##_until(&lock64, deadline); }   \
    static bool c_##name##_until(void) { return pawl_##name##_until(&lock32, deadline); }          \
    static bool d_##name##_until(void) { return pawl_##name##_until(&lock64, deadline); }
/* clang-format on */

#include <pawl/detail/until.def>

static const struct operation operations[] = {
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    {#name, from, to, {a_##name, b_##name, c_##name, d_##name}},
#include <pawl/detail/transitions.def>
#define PAWL_UNTIL(name, from, to)                                                                 \
    {#name "_until",                                                                               \
     from,                                                                                         \
     to,                                                                                           \
     {a_##name##_until, b_##name##_until, c_##name##_until, d_##name##_until}},
#include <pawl/detail/until.def>
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

TEST_CASE(each_operation_leaves_what_its_new_state_holds)
{
    for (unsigned i = 0; i < OPERATIONS; i++)
        for (unsigned face = 0; face < 4; face++) {
            const struct operation *o = &operations[i];
            lock32.word = (uint32_t)held(32, o->from);
            lock64.word = held(64, o->from);
            if (!o->run[face]())
                fail_msg("%s, face %u, failed on a lock of its own", o->name, face);
            if (face % 2 == 0)
                assert_int_equal(lock32.word, held(32, o->to));
            else
                assert_true(lock64.word == held(64, o->to));
        }
    lock32.word = 0;
    lock64.word = 0;
}

/* Whom each state refuses, waiting not being allowed: the deadline is in the past. */
TEST_CASE(a_deadline_in_the_past_fails_where_it_would_wait_and_leaves_no_trace)
{
    static const char *const lets_in[] = {"URSWA", "URS", "UR", "U", "UA"};
    for (deadline = 0; deadline <= 1; deadline++)
        for (unsigned i = 0; i < OPERATIONS; i++)
            for (unsigned holder = R; holder <= A; holder++) {
                const struct operation *o = &operations[i];
                const uint64_t before = held(64, holder) + held(64, o->from);
                if (!strstr(o->name, "_until") || !strchr(lets_in[holder], "URSWA"[o->from]))
                    continue;
                lock64.word = before;
                bool fits = strchr(lets_in[holder], "URSWA"[o->to]) != NULL;
                bool ok = o->run[1]();
                if (ok != fits || lock64.word != (ok ? held(64, holder) + held(64, o->to) : before))
                    fail_msg("%s beside %c: %d, word %" PRIx64, o->name, "URSWA"[holder], ok,
                             lock64.word);
            }
    lock64.word = 0;
    deadline = 0;
}

TEST_CASE(an_absurd_deadline_is_none)
{
    deadline = UINT64_MAX - 1;
    assert_true(pawl_take_write_until(&lock64, deadline));
    pawl_drop_write(&lock64);
    deadline = UINT64_MAX;
    assert_true(pawl_take_read_until(&lock32, deadline));
    pawl_drop_read(&lock32);
    deadline = 0;
}

TEST_CASE(a_to_r_with_a_deadline_tells_how_it_ended)
{
    pawl_take_atomic(&lock32);
    assert_int_equal(pawl_atomic_to_read_until(&lock32, 0), PAWL_REGAIN_KEPT);
    assert_int_equal(lock32.word, held(32, R));
    pawl_drop_read(&lock32);
    pawl_take_atomic(&lock64);
    pawl_take_atomic(&lock64); /* another user, who stays */
    assert_int_equal(pawl_atomic_to_read_until(&lock64, 0), PAWL_REGAIN_TIMED_OUT);
    assert_true(lock64.word == held(64, A));
    pawl_drop_atomic(&lock64);
    assert_true(lock64.word == 0);
}

TEST_CASE(zeroed_memory_is_an_unlocked_lock_and_init_makes_it)
{
    pawl_lock32 a = PAWL_LOCK32_INIT;
    pawl_lock64 b = PAWL_LOCK64_INIT;
    assert_true(a.word == 0 && b.word == 0);
    assert_true(pawl_lock32_is_free(&a) && pawl_lock64_is_free(&b));
    a.word = UINT32_MAX;
    b.word = UINT64_MAX;
    pawl_init(&a);
    pawl_init(&b);
    assert_true(a.word == 0 && b.word == 0);
    pawl_destroy(&a);
    pawl_destroy(&b);
    assert_int_equal(sizeof a, 4);
    assert_int_equal(sizeof b, 8);
}

TEST_CASE(two_locks_are_taken_in_one_order_and_the_same_one_once)
{
    pawl_lock32 two[2] = {PAWL_LOCK32_INIT, PAWL_LOCK32_INIT};
    pawl_take_two_write(&two[1], &two[0]);
    assert_true(two[0].word == held(32, W) && two[1].word == held(32, W));
    pawl_drop_two_write(&two[0], &two[1]);
    pawl_take_two_seek(&two[1], &two[1]);
    assert_true(two[0].word == 0 && two[1].word == held(32, S));
    pawl_drop_two_seek(&two[1], &two[1]);
    assert_true(two[0].word == 0 && two[1].word == 0);
}

TEST_MAIN()
