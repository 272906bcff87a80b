/* SPDX-License-Identifier: MIT */
/*
 * A holder stores to the data and leaves by a release. A waiter whose last read of the word is
 * relaxed sees it leave, enters, and on a weakly ordered CPU still reads the old data. So the
 * access by which a waiter learns that the last one it waited for has left must be an acquire: the
 * read that ends the wait, or the claim that follows it.
 */
#include "explorer/steps.h"

static pawl_spin32 lock;
static struct sim_call call = {&lock, false};

static const struct {
    const char *name;
    uint32_t word; /* what is in when the waiter calls, itself included */
    void (*body)(void *);
    uint32_t leaves; /* what leaves later */
} waits[] = {
#define R1 PAWL_SPIN32_R
#define S1 PAWL_SPIN32_S
#define W1 PAWL_SPIN32_W
    {"R behind W", W1 + S1 + R1, sim_take_read, W1 + S1 + R1},
    {"R behind A", W1, sim_take_read, W1},
    {"S behind S", S1 + R1, sim_take_seek, S1 + R1},
    {"S behind W", W1 + S1 + R1, sim_take_seek, W1 + S1 + R1},
    {"S behind A", W1, sim_take_seek, W1},
    {"W behind R", R1, sim_take_write, R1},
    {"W behind S", S1 + R1, sim_take_write, S1 + R1},
    {"W behind W", W1 + S1 + R1, sim_take_write, W1 + S1 + R1},
    {"W behind A", W1, sim_take_write, W1},
    {"A behind R", R1, sim_take_atomic, R1},
    {"A behind S", S1 + R1, sim_take_atomic, S1 + R1},
    {"A behind W", W1 + S1 + R1, sim_take_atomic, W1 + S1 + R1},
    {"try W behind R", R1, sim_claim_write, R1},
    {"try A behind R", R1, sim_claim_atomic, R1},
    {"S to W behind R", S1 + 2 * R1, sim_seek_to_write, R1},
    {"R to W behind R", 2 * R1, sim_read_claim_write, R1},
    {"R to A behind R", 2 * R1, sim_read_claim_atomic, R1},
    {"A to R behind A", 2 * W1, sim_atomic_to_read, W1},
};

static bool acquires(const struct pawl_operation *o)
{
    return o->order == PAWL_ORDER_ACQUIRE || o->order == PAWL_ORDER_ACQ_REL;
}

/* How many acquiring accesses the thread has made since the record had `from` entries. */
static unsigned acquires_since(unsigned thread, unsigned from)
{
    unsigned count = 0;
    for (unsigned i = from; i < sim_recorded; i++)
        count += sim_records[i].thread == thread && acquires(&sim_records[i].operation);
    return count;
}

TEST_CASE(the_access_that_ends_a_wait_acquires)
{
    for (unsigned i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        lock.word = waits[i].word;
        sim_begin();
        unsigned thread = sim_start(waits[i].body, &call);
        for (unsigned steps = 0; steps < 10; steps++) {
            if (sim_all[thread].ended)
                fail_msg("%s does not wait", waits[i].name);
            sim_step(thread);
        }
        unsigned left = sim_recorded;
        lock.word -= waits[i].leaves;
        assert_true(sim_ends(thread));
        assert_true(call.result);
        if (acquires_since(thread, left) == 0)
            fail_msg("%s: nothing acquires after the last one has left", waits[i].name);
        sim_end();
    }
}

TEST_MAIN(sim_begin())
