/* SPDX-License-Identifier: MIT */
/*
 * The waiting half reads each word as one of 64 bits, and adds units to the narrow word
 * (src/lock/atomic_word.h). The wide value and the narrow one tell the same, and so do their
 * sums with at most one unit of R, S and W, added or taken away. All words of 16 bits are compared,
 * and words of 32 bits where their fields are nearly empty or nearly full.
 */
#include "pawl.c" /* the library's own functions; nothing of it is linked */

#include "test.h"

struct unit_sum {
    uint64_t wide;
    uint32_t of_32;
    uint16_t of_16;
};

enum { SUMS = 27 };

static struct unit_sum unit_sum(unsigned i)
{
    const uint64_t r = i % 3, s = i / 3 % 3, w = i / 9;
    struct unit_sum sum;
    sum.wide = (r - 1) * PAWL_SPIN64_R + (s - 1) * PAWL_SPIN64_S + (w - 1) * PAWL_SPIN64_W;
    sum.of_32 =
        (uint32_t)((r - 1) * PAWL_SPIN32_R + (s - 1) * PAWL_SPIN32_S + (w - 1) * PAWL_SPIN32_W);
    sum.of_16 =
        (uint16_t)((r - 1) * PAWL_SPIN16_R + (s - 1) * PAWL_SPIN16_S + (w - 1) * PAWL_SPIN16_W);
    return sum;
}

TEST_CASE(unit_sums_convert_both_ways)
{
    for (unsigned i = 0; i < SUMS; i++) {
        const struct unit_sum sum = unit_sum(i);
        assert_int_equal((uint16_t)word_narrow(sum.wide, WORD_16), sum.of_16);
        assert_int_equal((uint32_t)word_narrow(sum.wide, WORD_32), sum.of_32);
        assert_int_equal(word_narrow(sum.wide, WORD_64), sum.wide);
        assert_int_equal((uint32_t)word_narrow(word_widen(sum.of_32, WORD_32), WORD_32), sum.of_32);
    }
}

#define TESTS_AGREE(narrow, wide, N)                                                               \
    (ipawl_spin##N##_no_writer_(narrow) == ipawl_spin64_no_writer_(wide) &&                        \
     ipawl_spin##N##_no_seeker_or_writer_(narrow) == ipawl_spin64_no_seeker_or_writer_(wide) &&    \
     ipawl_spin##N##_nobody_(narrow) == ipawl_spin64_nobody_(wide) &&                              \
     ipawl_spin##N##_one_reader_(narrow) == ipawl_spin64_one_reader_(wide) &&                      \
     ipawl_spin##N##_atomics_or_nobody_(narrow) == ipawl_spin64_atomics_or_nobody_(wide) &&        \
     ipawl_spin##N##_atomic_may_claim_(narrow) == ipawl_spin64_atomic_may_claim_(wide) &&          \
     ipawl_spin##N##_lone_reader_(narrow) == ipawl_spin64_lone_reader_(wide) &&                    \
     ipawl_spin##N##_readers_(narrow) == word_narrow(ipawl_spin64_readers_(wide), WORD_##N) &&     \
     ipawl_spin##N##_seekers_(narrow) == word_narrow(ipawl_spin64_seekers_(wide), WORD_##N) &&     \
     ipawl_spin##N##_writers_(narrow) == word_narrow(ipawl_spin64_writers_(wide), WORD_##N))

TEST_CASE(every_word_of_16_bits_and_its_sums)
{
    unsigned lost = 0; /* sums that the wide word alone would get wrong */
    for (unsigned w = 0; w <= UINT16_MAX; w++) {
        const uint64_t wide = word_widen(w, WORD_16);
        must(word_narrow(wide, WORD_16) == w);
        must(TESTS_AGREE((uint16_t)w, wide, 16));
        for (unsigned i = 0; i < SUMS; i++) {
            const struct unit_sum sum = unit_sum(i);
            const uint16_t after = (uint16_t)(w + sum.of_16);
            must(word_plus(wide, sum.wide, WORD_16) == word_widen(after, WORD_16));
            lost += (uint16_t)word_narrow(wide + sum.wide, WORD_16) != after;
        }
    }
    assert_int_equal(lost, 9216);
}

static void check_accesses(uint32_t w, uint64_t wide, const struct unit_sum *sum)
{
    uint32_t narrow = w;
    uint64_t expected = wide;
    const struct word word = {&narrow, WORD_32};
    must(word_load_relaxed(&word) == wide);
    must(word_fetch_add_relaxed(&word, sum->wide) == wide && narrow == w + sum->of_32);
    must(!word_cas_relaxed(&word, &expected, 0) || sum->of_32 == 0);
    must(expected == word_widen(narrow, WORD_32));
    must(word_cas_relaxed(&word, &expected, 0u - sum->wide) && narrow == w);
    must(word_fetch_or_relaxed(&word, 3) == wide && narrow == (w | 3));
    word_fetch_clear_relaxed(&word, 1);
    must(narrow == ((w | 3) & ~UINT32_C(1)));
}

TEST_CASE(words_of_32_bits_at_the_ends_of_their_fields)
{
    static const uint32_t halves[] = {0, 1, 4, 5, 7, 8, 0xfff8, 0xfffb, 0xfffc, 0xffff};
    enum { HALVES = sizeof halves / sizeof halves[0] };
    for (unsigned high = 0; high < HALVES; high++)
        for (unsigned low = 0; low < HALVES; low++) {
            const uint32_t w = halves[high] << 16 | halves[low];
            const uint64_t wide = word_widen(w, WORD_32);
            must(word_narrow(wide, WORD_32) == w);
            must(TESTS_AGREE(w, wide, 32));
            for (unsigned i = 0; i < SUMS; i++) {
                const struct unit_sum sum = unit_sum(i);
                must(word_plus(wide, sum.wide, WORD_32) == word_widen(w + sum.of_32, WORD_32));
                check_accesses(w, wide, &sum);
            }
        }
}

TEST_MAIN()
