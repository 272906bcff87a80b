/* SPDX-License-Identifier: MIT */
/*
 * How many may hold and claim at one instant. R must not overflow; and W and S together must not
 * come round to zero, which the published limit (as many threads as R counts) overlooks: each write
 * claim takes five of their units, so 51 writers and one seeker make 256 in a 16-bit word.
 */
#include "test.h"
#include "support/table.h"

#include <assert.h>

/* What the fields show of so many claims of each kind. */
static uint16_t word_of(unsigned writers, unsigned seekers, unsigned atomics, unsigned readers)
{
    return (uint16_t)(writers * table_operand(16, table_held(PAWL_STATE_W)) +
                      seekers * table_operand(16, table_held(PAWL_STATE_S)) +
                      atomics * table_operand(16, table_held(PAWL_STATE_A)) +
                      readers * table_operand(16, table_held(PAWL_STATE_R)));
}

TEST_CASE(within_the_limits_no_claim_is_overlooked_in_any_16_bit_word)
{
    for (unsigned w = 0; 5 * w <= 255; w++)
        for (unsigned s = 0; 5 * w + s <= 255 && w + s <= 63; s++)
            for (unsigned a = 0; 5 * w + s + 4 * a <= 255; a++)
                for (unsigned r = 0; w + s + r <= 63; r++) {
                    const uint16_t word = word_of(w, s, a, r);
                    const struct table_fields f = table_fields_of(16, word);
                    if ((w || s || a) != !ipawl_spin16_no_seeker_or_writer_(word) ||
                        (w || a || s >= 4) != !ipawl_spin16_no_writer_(word) ||
                        (w || s || a || r) != !ipawl_spin16_nobody_(word) || f.R != w + s + r ||
                        4 * f.W + f.S != 5 * w + s + 4 * a)
                        fail_msg("%u W %u S %u A %u R: %#x", w, s, a, r, (unsigned)word);
                }
}

TEST_CASE(the_least_crowd_that_reads_as_nobody_is_51_writers_and_a_seeker)
{
    for (unsigned claimants = 1; claimants <= 63; claimants++)
        for (unsigned s = 0; s <= claimants; s++)
            if (ipawl_spin16_no_seeker_or_writer_(word_of(claimants - s, s, 0, 0))) {
                assert_int_equal(claimants, 52);
                assert_int_equal(s, 1);
                return;
            }
    fail_msg("no crowd of up to 63 overflows");
}

/* Beyond the limit: a reader is let in beside 51 writers. Undefined, and here is why. */
TEST_CASE(the_52_claimant_word_lets_a_reader_in)
{
    pawl_spin16 lock;
    lock.word = word_of(51, 1, 0, 0);
    assert_int_equal(lock.word, 52 * PAWL_SPIN16_R);
    assert_true(pawl_spin16_is_read(&lock));
    lock.word = word_of(51, 0, 0, 0);
    assert_false(pawl_spin16_is_read(&lock));
}

TEST_CASE(the_wider_words_have_the_same_limit_at_their_size)
{
    static_assert(UINT16_MAX / PAWL_SPIN16_S == 255 && 255 == 51 * 5, "16 bits: 51 writers");
    static_assert(UINT32_MAX / PAWL_SPIN32_S == UINT32_C(65535) && 65535 == 13107 * 5,
                  "32 bits: 13,107 writers");
    static_assert(UINT64_MAX / PAWL_SPIN64_S == UINT32_MAX && UINT32_MAX == UINT64_C(858993459) * 5,
                  "64 bits: 858,993,459 writers");
    pawl_spin32 lock32;
    pawl_spin64 lock64;
    lock32.word = (uint32_t)(13107u * table_operand(32, table_held(PAWL_STATE_W)));
    assert_int_equal(lock32.word >> 16, 65535);
    lock32.word += (uint32_t)table_operand(32, table_held(PAWL_STATE_S));
    assert_int_equal(lock32.word >> 16, 0);
    lock64.word = UINT64_C(858993459) * table_operand(64, table_held(PAWL_STATE_W));
    assert_true(lock64.word >> 32 == UINT32_MAX);
    lock64.word += table_operand(64, table_held(PAWL_STATE_S));
    assert_true(lock64.word >> 32 == 0);
}

/* ---- Real threads at the limits of 16 bits --------------------------------------------------- */

enum { READERS = 63, WRITERS = 51 };

struct crowd {
    pawl_spin16 lock;
    pthread_barrier_t all_in;
    unsigned rounds;
    unsigned plain; /* under the lock */
};

static void read_together(void *opaque, unsigned index)
{
    struct crowd *c = (struct crowd *)opaque;
    for (unsigned i = 0; i < c->rounds; i++) {
        pawl_spin16_take_read(&c->lock);
        pthread_barrier_wait(&c->all_in); /* passes only when all 63 are in */
        must(pawl_load_relaxed16(&c->lock.word) == READERS * PAWL_SPIN16_R + 1);
        pthread_barrier_wait(&c->all_in);
        pawl_spin16_drop_read(&c->lock);
        pthread_barrier_wait(&c->all_in);
    }
}

TEST_CASE(sixty_three_threads_read_at_once)
{
    static struct crowd c;
    c.rounds = TEST_SCALE(20);
    c.lock.word = 1;
    must(pthread_barrier_init(&c.all_in, NULL, READERS) == 0);
    test_threads(READERS, read_together, &c);
    assert_int_equal(c.lock.word, 1);
    pthread_barrier_destroy(&c.all_in);
}

static void write_in_turn(void *opaque, unsigned index)
{
    struct crowd *c = (struct crowd *)opaque;
    for (unsigned i = 0; i < c->rounds; i++) {
        pawl_spin16_take_write(&c->lock);
        c->plain++;
        pawl_spin16_drop_write(&c->lock);
    }
}

TEST_CASE(fifty_one_threads_write_in_turn)
{
    static struct crowd c;
    c.rounds = TEST_SCALE(1000);
    c.lock.word = 2;
    c.plain = 0;
    test_threads(WRITERS, write_in_turn, &c);
    assert_int_equal(c.plain, WRITERS * c.rounds);
    assert_int_equal(c.lock.word, 2);
}

TEST_MAIN()
