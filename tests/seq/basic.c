/* SPDX-License-Identifier: MIT */
/* Sequence locks: what comes out is what went in, by every way in; and what the number says. */
#include "test.h"

#include <pawl/seq.h>

/* clang-format off */
struct bytes1 { char c[1]; };
struct bytes13 { char c[13]; };
struct bytes64 { uint64_t n[8]; };
struct bytes200 { char c[200]; };
/* clang-format on */

PAWL_SEQ_TYPE(seq1, struct bytes1);
PAWL_SEQ_TYPE(seq13, struct bytes13);
PAWL_SEQ_TYPE(seq64, struct bytes64);
PAWL_SEQ_TYPE(seq200, struct bytes200);
PAWL_SEQ_LATCH_TYPE(latch1, struct bytes1);
PAWL_SEQ_LATCH_TYPE(latch13, struct bytes13);
PAWL_SEQ_LATCH_TYPE(latch64, struct bytes64);
PAWL_SEQ_LATCH_TYPE(latch200, struct bytes200);

static void fill(void *to, size_t bytes, unsigned first)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = (unsigned char)(first + i);
}

/* Goes through all ways of writing a lock of that type, with guards on both sides of the copy. */
#define ROUND_TRIP(name, type)                                                                     \
    do {                                                                                           \
        static name s = INIT;                                                                      \
        struct {                                                                                   \
            char before[8];                                                                        \
            type value;                                                                            \
            char after[8];                                                                         \
        } got;                                                                                     \
        type put;                                                                                  \
        unsigned way;                                                                              \
        for (way = 0; way < 4; way++) {                                                            \
            fill(&put, sizeof put, 7 * way + 1);                                                   \
            memset(&got, 0x5a, sizeof got);                                                        \
            if (way == 0)                                                                          \
                name##_write(&s, &put);                                                            \
            else if (way == 1)                                                                     \
                name##_write_alone(&s, &put);                                                      \
            else if (way == 2)                                                                     \
                assert_true(name##_try_write(&s, &put));                                           \
            else {                                                                                 \
                name##_take_write(&s, &got.value);                                                 \
                assert_int_equal(((char *)&got.value)[0], 7 * (way - 1) + 1);                      \
                name##_drop_write(&s, &put);                                                       \
            }                                                                                      \
            name##_read(&s, &got.value);                                                           \
            assert_memory_equal(&got.value, &put, sizeof put);                                     \
            assert_memory_equal(got.before, "ZZZZZZZZ", 8);                                        \
            assert_memory_equal(got.after, "ZZZZZZZZ", 8);                                         \
        }                                                                                          \
    } while (0)

#define INIT PAWL_SEQ_TYPE_INIT
TEST_CASE(a_lock_gives_back_what_was_written_for_sizes_that_fill_no_word)
{
    ROUND_TRIP(seq1, struct bytes1);
    ROUND_TRIP(seq13, struct bytes13);
}

TEST_CASE(a_lock_gives_back_what_was_written_for_whole_lines_and_more)
{
    ROUND_TRIP(seq64, struct bytes64);
    ROUND_TRIP(seq200, struct bytes200);
}
#undef INIT

#define INIT PAWL_SEQ_LATCH_TYPE_INIT
TEST_CASE(a_latch_gives_back_what_was_written)
{
    ROUND_TRIP(latch1, struct bytes1);
    ROUND_TRIP(latch13, struct bytes13);
    ROUND_TRIP(latch64, struct bytes64);
    ROUND_TRIP(latch200, struct bytes200);
}
#undef INIT

TEST_CASE(zero_bytes_are_a_lock_whose_value_is_zero_bytes)
{
    seq13 *s = (seq13 *)calloc(1, sizeof *s);
    latch13 *l = (latch13 *)calloc(1, sizeof *l);
    struct bytes13 got, zero;
    memset(&zero, 0, sizeof zero);
    fill(&got, sizeof got, 1);
    seq13_read(s, &got);
    assert_memory_equal(&got, &zero, sizeof zero);
    fill(&got, sizeof got, 1);
    latch13_read(l, &got);
    assert_memory_equal(&got, &zero, sizeof zero);
    free(s);
    free(l);
}

TEST_CASE(init_makes_a_lock_of_any_bytes)
{
    struct bytes13 first, got;
    seq13 s;
    latch13 l;
    memset(&s, 0xff, sizeof s);
    memset(&l, 0xff, sizeof l);
    fill(&first, sizeof first, 3);
    seq13_init(&s, &first);
    latch13_init(&l, &first);
    assert_true(seq13_try_read(&s, &got));
    assert_memory_equal(&got, &first, sizeof first);
    latch13_read(&l, &got);
    assert_memory_equal(&got, &first, sizeof first);
    seq13_destroy(&s);
    latch13_destroy(&l);
}

TEST_CASE(a_lock_head_is_sixteen_bytes_or_fewer)
{
    assert_true(sizeof(pawl_seq) <= 16);
    assert_true(sizeof(pawl_seq_latch) <= 16);
    assert_int_equal(sizeof(seq64), sizeof(pawl_seq) + 64);
    assert_int_equal(sizeof(latch64), sizeof(pawl_seq_latch) + 128);
}

/* ---- What a reader sees of a write that stands still ----------------------------------------- */

TEST_CASE(a_section_must_be_repeated_when_a_write_came_in_between)
{
    seq64 s = PAWL_SEQ_TYPE_INIT;
    struct bytes64 value;
    memset(&value, 1, sizeof value);
    pawl_seq_word begun = pawl_seq_begin(&s.seq);
    assert_false(pawl_seq_retry(&s.seq, begun));
    seq64_write(&s, &value);
    assert_true(pawl_seq_retry(&s.seq, begun));
}

TEST_CASE(a_section_must_be_repeated_when_a_write_began_in_between)
{
    pawl_seq s = PAWL_SEQ_INIT;
    const pawl_seq_word begun = pawl_seq_begin(&s);
    pawl_seq_begin_write(&s);
    assert_true(pawl_seq_retry(&s, begun));
    pawl_seq_end_write(&s);
}

TEST_CASE(a_try_fails_while_a_write_is_under_way)
{
    seq64 s = PAWL_SEQ_TYPE_INIT;
    struct bytes64 value;
    pawl_seq_word begun;
    pawl_seq_begin_write(&s.seq);
    assert_false(seq64_try_read(&s, &value));
    assert_false(pawl_seq_try_begin(&s.seq, &begun));
    pawl_seq_end_write(&s.seq);
    assert_true(seq64_try_read(&s, &value));
}

TEST_CASE(readers_go_on_while_the_lock_is_taken_and_nothing_is_stored_yet)
{
    seq64 s = PAWL_SEQ_TYPE_INIT;
    struct bytes64 old, value;
    fill(&old, sizeof old, 9);
    seq64_write(&s, &old);
    seq64_take_write(&s, &value);
    memset(&value, 0, sizeof value);
    assert_true(seq64_try_read(&s, &value));
    assert_memory_equal(&value, &old, sizeof old);
    seq64_cancel_write(&s);
    assert_true(seq64_try_write(&s, &value)); /* the lock is free again */
}

TEST_CASE(a_try_write_stores_nothing_while_another_one_has_the_lock)
{
    seq64 s = PAWL_SEQ_TYPE_INIT;
    struct bytes64 value, other, got;
    seq64_take_write(&s, &value);
    fill(&other, sizeof other, 5);
    assert_false(seq64_try_write(&s, &other));
    seq64_cancel_write(&s);
    seq64_read(&s, &got);
    assert_memory_equal(&got, &value, sizeof value);
}

TEST_CASE(the_number_is_even_between_writes_and_goes_on_by_two)
{
    seq64 s = PAWL_SEQ_TYPE_INIT;
    struct bytes64 value;
    memset(&value, 0, sizeof value);
    for (unsigned i = 0; i < 5; i++) {
        assert_true(s.seq.sequence == 2 * i);
        seq64_write(&s, &value);
    }
}

TEST_CASE(the_number_may_wrap)
{
    seq64 s = PAWL_SEQ_TYPE_INIT;
    latch64 l = PAWL_SEQ_LATCH_TYPE_INIT;
    struct bytes64 value, got;
    pawl_seq_word begun;
    s.seq.sequence = (pawl_seq_word)0 - 4;
    l.seq.sequence = (pawl_seq_word)0 - 8;
    for (unsigned i = 0; i < 4; i++) {
        fill(&value, sizeof value, i);
        begun = pawl_seq_begin(&s.seq);
        seq64_write(&s, &value);
        assert_true(pawl_seq_retry(&s.seq, begun));
        seq64_read(&s, &got);
        assert_memory_equal(&got, &value, sizeof value);
        begun = pawl_seq_latch_begin(&l.seq);
        latch64_write(&l, &value);
        assert_true(pawl_seq_latch_retry(&l.seq, begun));
        latch64_read(&l, &got);
        assert_memory_equal(&got, &value, sizeof value);
    }
    assert_true(s.seq.sequence == 4);
    assert_true(l.seq.sequence == 8);
}

/* ---- Writes that were cut off ---------------------------------------------------------------- */

TEST_CASE(the_next_write_repairs_one_that_was_cut_off)
{
    seq64 s = PAWL_SEQ_TYPE_INIT;
    struct bytes64 value, got;
    fill(&value, sizeof value, 1);
    s.seq.sequence = 7; /* as the child of a fork may find it */
    s.words[0] = 99;
    seq64_write_alone(&s, &value);
    assert_true(seq64_try_read(&s, &got));
    assert_memory_equal(&got, &value, sizeof value);
    assert_true(s.seq.sequence == 8);
}

TEST_CASE(a_latch_shows_its_last_whole_copy_until_the_next_write_repairs_it)
{
    for (unsigned half = 1; half <= 2; half++) {
        latch64 l = PAWL_SEQ_LATCH_TYPE_INIT;
        struct bytes64 old, value, got;
        fill(&old, sizeof old, 1);
        fill(&value, sizeof value, 2);
        latch64_write_alone(&l, &old);
        l.seq.sequence += half;
        memset(l.words[half - 1], 0xee, sizeof l.words[0] / 2); /* half a write of that copy */
        latch64_read(&l, &got);
        assert_memory_equal(&got, &old, sizeof old);
        latch64_write_alone(&l, &value);
        latch64_read(&l, &got);
        assert_memory_equal(&got, &value, sizeof value);
        assert_memory_equal(l.words[0], l.words[1], sizeof l.words[0]);
        assert_true(l.seq.sequence % 4 == 0);
    }
}

/* ---- Latches --------------------------------------------------------------------------------- */

TEST_CASE(a_latch_section_survives_that_the_other_copy_is_finished)
{
    latch64 l = PAWL_SEQ_LATCH_TYPE_INIT;
    l.seq.sequence = 6; /* words[1] is being written, readers take words[0] */
    pawl_seq_word begun = pawl_seq_latch_begin(&l.seq);
    assert_int_equal(PAWL_SEQ_COPY(begun), 0);
    l.seq.sequence = 8;
    assert_false(pawl_seq_latch_retry(&l.seq, begun));
    l.seq.sequence = 9; /* words[0] is being written again */
    assert_true(pawl_seq_latch_retry(&l.seq, begun));
}

TEST_CASE(a_latch_section_on_the_second_copy_ends_with_its_half)
{
    latch64 l = PAWL_SEQ_LATCH_TYPE_INIT;
    l.seq.sequence = 5;
    pawl_seq_word begun = pawl_seq_latch_begin(&l.seq);
    assert_int_equal(PAWL_SEQ_COPY(begun), 1);
    assert_false(pawl_seq_latch_retry(&l.seq, begun));
    l.seq.sequence = 6;
    assert_true(pawl_seq_latch_retry(&l.seq, begun));
}

/* ---- Bounded readers ------------------------------------------------------------------------- */

TEST_CASE(a_bounded_reader_takes_the_lock_after_its_retries)
{
    pawl_seq s = PAWL_SEQ_INIT;
    pawl_seq_reader reader = PAWL_SEQ_READER(2);
    unsigned sections = 0;
    bool again;
    do {
        pawl_seq_begin_or_lock(&s, &reader);
        sections++;
        if (pawl_seq_try_write(&s)) { /* a writer comes in whenever it can */
            assert_true(sections <= 3);
            pawl_seq_begin_write(&s);
            pawl_seq_end_write(&s);
            pawl_seq_drop_write(&s);
        }
        again = pawl_seq_retry_or_unlock(&s, &reader);
    } while (again);
    assert_int_equal(sections, 4); /* the first, two retries, and one that kept writers out */
    assert_true(pawl_spin32_is_free(&s.lock));
}

TEST_CASE(a_bounded_reader_that_meets_no_writer_takes_no_lock)
{
    seq64 s = PAWL_SEQ_TYPE_INIT;
    struct bytes64 value, got;
    fill(&value, sizeof value, 4);
    seq64_write(&s, &value);
    pawl_seq_take_write(&s.seq); /* it would wait for ever */
    seq64_read_or_lock(&s, &got, 0);
    assert_memory_equal(&got, &value, sizeof value);
    pawl_seq_drop_write(&s.seq);
}

/* ---- Readers write nothing ------------------------------------------------------------------- */

TEST_CASE(readers_leave_every_byte_as_it_is)
{
    seq64 s = PAWL_SEQ_TYPE_INIT, before;
    latch64 l = PAWL_SEQ_LATCH_TYPE_INIT, latch_before;
    struct bytes64 got;
    memcpy(&before, &s, sizeof s);
    memcpy(&latch_before, &l, sizeof l);
    seq64_read(&s, &got);
    assert_true(seq64_try_read(&s, &got));
    seq64_read_or_lock(&s, &got, 1);
    latch64_read(&l, &got);
    assert_memory_equal(&s, &before, sizeof s);
    assert_memory_equal(&l, &latch_before, sizeof l);
}

TEST_CASE(parts_of_a_value_can_be_read)
{
    seq64 s = PAWL_SEQ_TYPE_INIT;
    struct bytes64 value;
    uint64_t third = 0;
    fill(&value, sizeof value, 1);
    seq64_write(&s, &value);
    pawl_seq_copy_out(&third, s.words + 2 * sizeof third / sizeof s.words[0], sizeof third);
    assert_true(third == value.n[2]);
}

TEST_MAIN()
