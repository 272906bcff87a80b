/* SPDX-License-Identifier: MIT */
/*
 * With an application bit set, a try that compares the whole word with W+S+R (or with zero) never
 * sees what it waits for: it hangs, or always fails. Here the bits are no part of any test, neither
 * when they are set from the start nor when they change between the look and the exchange.
 */
#include "explorer/steps.h"

static pawl_spin32 lock;
static struct sim_call call = {&lock, false};

static const struct {
    void (*body)(void *);
    uint32_t from, to;
} tries[] = {
#define R1 PAWL_SPIN32_R
#define S1 PAWL_SPIN32_S
#define W1 PAWL_SPIN32_W
    {sim_try_read, 0, R1},
    {sim_try_seek, 0, S1 + R1},
    {sim_try_write, 0, W1 + S1 + R1},
    {sim_claim_write, 0, W1 + S1 + R1},
    {sim_try_atomic, 0, W1},
    {sim_claim_atomic, 0, W1},
    {sim_try_seek_to_write, S1 + R1, W1 + S1 + R1},
    {sim_try_read_to_seek, R1, S1 + R1},
    {sim_try_read_to_write, R1, W1 + S1 + R1},
    {sim_read_claim_write, R1, W1 + S1 + R1},
    {sim_try_read_to_atomic, R1, W1},
    {sim_read_claim_atomic, R1, W1},
};
enum { TRIES = sizeof tries / sizeof tries[0] };

TEST_CASE(each_try_succeeds_whatever_the_application_bits_hold)
{
    for (unsigned i = 0; i < TRIES; i++)
        for (uint32_t bits = 0; bits <= PAWL_SPIN_APPLICATION_BITS; bits++) {
            lock.word = tries[i].from + bits;
            sim_begin();
            unsigned thread = sim_start(tries[i].body, &call);
            assert_true(sim_ends(thread));
            assert_true(call.result);
            assert_int_equal(lock.word, tries[i].to + bits);
            sim_end();
        }
}

TEST_CASE(each_try_succeeds_though_a_bit_changes_after_its_look)
{
    for (unsigned i = 0; i < TRIES; i++) {
        lock.word = tries[i].from;
        sim_begin();
        unsigned thread = sim_start(tries[i].body, &call);
        sim_step(thread);
        pawl_spin32_set_bits(&lock, 2);
        assert_true(sim_ends(thread));
        assert_true(call.result);
        assert_int_equal(lock.word, tries[i].to + 2);
        sim_end();
    }
}

/* Waiting for readers to leave ends though the word then is not W+S+R alone. */
TEST_CASE(each_claim_ends_whatever_the_application_bits_hold)
{
    for (unsigned i = 0; i < TRIES; i++)
        for (uint32_t bits = 0; bits <= PAWL_SPIN_APPLICATION_BITS; bits++) {
            lock.word = tries[i].from + bits;
            sim_begin();
            pawl_spin32_take_read(&lock);
            unsigned thread = sim_start(tries[i].body, &call);
            (void)sim_ends(thread);
            pawl_spin32_drop_read(&lock);
            assert_true(sim_ends(thread));
            assert_int_equal(lock.word, (call.result ? tries[i].to : tries[i].from) + bits);
            sim_end();
        }
}

TEST_MAIN(sim_begin())
