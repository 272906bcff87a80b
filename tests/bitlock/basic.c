/* SPDX-License-Identifier: MIT */
/* Bit locks: each bit of each width is a lock of its own, and leaves the other bits alone. */
#include "test.h"

#include <pawl/bitlock.h>

/* A bit that a test of all widths holds elsewhere in the word. */
#define PATTERN UINT64_C(0xa5a5a5a5a5a5a5a5)

#define TESTS(N)                                                                                   \
    TEST_CASE(each_bit_is_a_lock##N)                                                               \
    {                                                                                              \
        uint##N##_t word;                                                                          \
        unsigned bit;                                                                              \
        for (bit = 0; bit < N; bit++) {                                                            \
            const uint##N##_t mask = (uint##N##_t)((uint##N##_t)1 << bit);                         \
            const uint##N##_t others = (uint##N##_t)(PATTERN & ~(uint64_t)mask);                   \
            word = others;                                                                         \
            assert_false(pawl_bitlock##N##_is_held(&word, bit));                                   \
            pawl_bitlock##N##_take(&word, bit);                                                    \
            assert_true(word == (others | mask));                                                  \
            assert_true(pawl_bitlock##N##_is_held(&word, bit));                                    \
            assert_false(pawl_bitlock##N##_try(&word, bit));                                       \
            assert_false(pawl_bitlock##N##_take_until(&word, bit, 0));                             \
            pawl_bitlock##N##_drop(&word, bit);                                                    \
            assert_true(word == others);                                                           \
            assert_true(pawl_bitlock##N##_try(&word, bit));                                        \
            pawl_bitlock##N##_drop(&word, bit);                                                    \
            assert_true(pawl_bitlock##N##_take_until(&word, bit, 0)); /* free: however late */     \
            pawl_bitlock##N##_drop(&word, bit);                                                    \
            assert_true(word == others);                                                           \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    struct crew##N {                                                                               \
        uint##N##_t word;                                                                          \
        unsigned sums[2];                                                                          \
    };                                                                                             \
                                                                                                   \
    static void add_under_two_bits##N(void *opaque, unsigned index)                                \
    {                                                                                              \
        struct crew##N *c = (struct crew##N *)opaque;                                              \
        const unsigned own = index % 2;                                                            \
        const unsigned bit = own ? N - 1 : 1;                                                      \
        int i;                                                                                     \
        for (i = 0; i < TEST_SCALE(5000); i++) {                                                   \
            if (i % 3 != 0 || !pawl_bitlock##N##_try(&c->word, bit))                               \
                pawl_bitlock##N##_take(&c->word, bit);                                             \
            c->sums[own]++;                                                                        \
            if (i % 64 == 0)                                                                       \
                sched_yield(); /* with the bit held, so that others sleep */                       \
            pawl_bitlock##N##_drop(&c->word, bit);                                                 \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    TEST_CASE(who_holds_a_bit_is_alone##N)                                                         \
    {                                                                                              \
        static struct crew##N c;                                                                   \
        memset(&c, 0, sizeof c);                                                                   \
        c.word = 1;                                                                                \
        test_threads(8, add_under_two_bits##N, &c);                                                \
        assert_int_equal(c.sums[0], 4 * TEST_SCALE(5000));                                         \
        assert_int_equal(c.sums[1], 4 * TEST_SCALE(5000));                                         \
        assert_true(c.word == 1);                                                                  \
    }

TESTS(8)
TESTS(16)
TESTS(32)
TESTS(64)

/* ---- Time and wakes -------------------------------------------------------------------------- */

TEST_CASE(a_take_gives_up_after_its_deadline_and_changes_nothing)
{
    const uint64_t deadline = pawl_now() + 2000000;
    uint16_t word = 1u << 9 | 1u;
    assert_false(pawl_bitlock16_take_until(&word, 9, deadline));
    assert_true(pawl_now() >= deadline);
    assert_int_equal(word, 1u << 9 | 1u);
}

static uint8_t byte;

static void *take_bit(void *bit)
{
    pawl_bitlock8_take(&byte, (unsigned)(uintptr_t)bit);
    pawl_bitlock8_drop(&byte, (unsigned)(uintptr_t)bit);
    return NULL;
}

/* The waiter of bit 1 is the older one, so a wake that does not tell bits apart would be his. */
TEST_CASE(a_drop_wakes_the_waiter_of_its_own_bit)
{
    byte = 1u << 1 | 1u << 6;
    const pthread_t of_one = test_start(take_bit, (void *)1);
    usleep(1000);
    const pthread_t of_six = test_start(take_bit, (void *)6);
    usleep(1000);
    pawl_bitlock8_drop(&byte, 6);
    test_join(of_six);
    pawl_bitlock8_drop(&byte, 1);
    test_join(of_one);
    assert_int_equal(byte, 0);
}

/* The last one frees the memory as soon as he has it, while the one before is still dropping. */
struct shared {
    uint32_t word;
    unsigned left;
};

static void drop_or_free(void *opaque, unsigned index)
{
    struct shared *s = *(struct shared **)opaque;
    pawl_bitlock32_take(&s->word, 3);
    bool last = --s->left == 0;
    if (!last)
        pawl_bitlock32_drop(&s->word, 3);
    else
        free(s);
}

TEST_CASE(the_next_holder_may_free_the_memory)
{
    for (int i = 0; i < TEST_SCALE(300); i++) {
        struct shared *s = (struct shared *)calloc(1, sizeof *s);
        assert_non_null(s);
        s->left = 4;
        test_threads(4, drop_or_free, &s);
    }
}

TEST_MAIN()
