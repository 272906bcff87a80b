/* SPDX-License-Identifier: MIT */
/*
 * Sequence locks and latches step by step: what a reader finds at each point of a write, all
 * interleavings of one reader with one writer, and the accesses that each of them makes.
 */
#include "explorer/steps.h"

#include <pawl/seq.h>

struct pair {
    pawl_seq_word a, b;
};

PAWL_SEQ_TYPE(pair_seq, struct pair);
PAWL_SEQ_LATCH_TYPE(pair_latch, struct pair);

static pair_seq lock;
static pair_latch latch;
static struct pair seen;

static struct pair pair_of(unsigned n)
{
    struct pair p;
    p.a = n;
    p.b = ~(pawl_seq_word)n;
    return p;
}

static bool whole(struct pair p)
{
    return p.b == ~p.a;
}

static void write_lock(void *n)
{
    const struct pair p = pair_of(*(unsigned *)n);
    pair_seq_write_alone(&lock, &p);
}

static void write_latch(void *n)
{
    const struct pair p = pair_of(*(unsigned *)n);
    pair_latch_write_alone(&latch, &p);
}

static void read_lock(void *unused)
{
    pair_seq_read(&lock, &seen);
}

static void read_latch(void *unused)
{
    pair_latch_read(&latch, &seen);
}

static unsigned one = 1, two = 2;

static void both_hold_one(void)
{
    memset(&lock, 0, sizeof lock);
    memset(&latch, 0, sizeof latch);
    write_lock(&one);
    write_latch(&one);
}

/* ---- A reader at each point of a write that stands still ------------------------------------- */

/* As a handler does that has interrupted the writer: the test's own calls go through at once. */
TEST_CASE(a_latch_read_ends_at_once_at_every_point_of_a_write)
{
    unsigned writer, points = 0, old = 0, fresh = 0;
    both_hold_one();
    sim_begin();
    writer = sim_start(write_latch, &two);
    for (;;) {
        const unsigned before = sim_recorded;
        read_latch(NULL);
        assert_true(whole(seen));
        assert_true(seen.a == 1 || seen.a == 2);
        assert_false(seen.a == 1 && fresh > 0);     /* never back to the old one */
        assert_int_equal(sim_recorded - before, 5); /* number, words, fence, number: one round */
        old += seen.a == 1;
        fresh += seen.a == 2;
        if (sim_all[writer].ended)
            break;
        sim_step(writer);
        points++;
    }
    sim_end();
    assert_true(points >= 10);
    assert_true(old > 0 && fresh > 0);
}

TEST_CASE(a_write_that_repairs_another_never_shows_the_torn_copy)
{
    for (unsigned half = 1; half <= 2; half++) {
        both_hold_one();
        latch.seq.sequence += half;
        latch.words[half - 1][1] = 99; /* cut off while that copy was written */
        sim_begin();
        unsigned writer = sim_start(write_latch, &two);
        for (;;) {
            read_latch(NULL);
            assert_true(whole(seen));
            if (sim_all[writer].ended)
                break;
            sim_step(writer);
        }
        sim_end();
        assert_true(seen.a == 2);
    }
}

TEST_CASE(a_try_read_at_every_point_of_a_write_fails_or_finds_one_value)
{
    unsigned writer, failed = 0;
    both_hold_one();
    sim_begin();
    writer = sim_start(write_lock, &two);
    for (;;) {
        struct pair got;
        if (pair_seq_try_read(&lock, &got))
            assert_true(whole(got) && got.a == (sim_all[writer].ended ? 2 : 1));
        else
            failed++;
        if (sim_all[writer].ended)
            break;
        sim_step(writer);
    }
    sim_end();
    assert_true(failed >= 3);
}

TEST_CASE(a_reader_that_meets_a_write_only_reads_until_it_has_ended)
{
    both_hold_one();
    sim_begin();
    unsigned writer = sim_start(write_lock, &two);
    sim_until(writer, PAWL_SEQ_WRITE_BEGIN);
    unsigned reader = sim_start(read_lock, NULL);
    assert_true(sim_only_reads(reader, 200));
    assert_true(sim_ends(writer));
    assert_true(sim_ends(reader));
    sim_end();
    assert_true(whole(seen) && seen.a == 2);
}

/* ---- All interleavings ----------------------------------------------------------------------- */

/* Who makes the next access, bit by bit; when one has ended the other goes on. */
static void interleave(void (*write)(void *), void (*read)(void *), uint32_t schedule)
{
    both_hold_one();
    sim_begin();
    unsigned writer = sim_start(write, &two);
    unsigned reader = sim_start(read, NULL);
    for (unsigned i = 0; !sim_all[writer].ended || !sim_all[reader].ended; i++) {
        const bool writes = i < 32 ? schedule >> i & 1 : true;
        must(i < 1000);
        sim_step((writes || sim_all[reader].ended) && !sim_all[writer].ended ? writer : reader);
    }
    sim_end();
    assert_true(whole(seen));
    assert_true(seen.a == 1 || seen.a == 2);
}

/* The writer's accesses are `accesses`; the reader's come after `before[k]` of them. */
static void all_interleavings(void (*write)(void *), void (*read)(void *), unsigned accesses)
{
    /* A reader whose words come at once tells nothing new: three places suffice for its five. */
    for (unsigned a = 0; a <= accesses; a++)
        for (unsigned b = a; b <= accesses; b++)
            for (unsigned c = b; c <= accesses; c++) {
                const uint32_t before_number = (UINT32_C(1) << a) - 1;
                const uint32_t before_second = (UINT32_C(1) << (b - a)) - 1;
                const uint32_t before_end = (UINT32_C(1) << (c - b)) - 1;
                interleave(write, read,
                           before_number | before_second << (a + 2) | before_end << (b + 3));
            }
}

TEST_CASE(every_interleaving_of_a_read_with_a_write_gives_one_value)
{
    all_interleavings(write_lock, read_lock, 7);
}

TEST_CASE(every_interleaving_of_a_latch_read_with_a_write_gives_one_value)
{
    all_interleavings(write_latch, read_latch, 11);
}

/* ---- The accesses ---------------------------------------------------------------------------- */

struct expected {
    enum pawl_kind kind;
    enum pawl_order order;
    enum pawl_tag tag;
};

static void assert_accesses(const struct expected *expected, unsigned count)
{
    assert_int_equal(sim_recorded, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(sim_records[i].operation.kind, expected[i].kind);
        assert_int_equal(sim_records[i].operation.order, expected[i].order);
        assert_int_equal(sim_records[i].operation.tag, expected[i].tag);
    }
}

TEST_CASE(a_read_is_loads_and_one_fence)
{
    static const struct expected lock_read[] = {
        {PAWL_HOOK_LOAD, PAWL_ORDER_ACQUIRE, PAWL_SEQ_READ_BEGIN},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_FENCE, PAWL_ORDER_ACQUIRE, PAWL_SEQ_READ_END},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
    };
    static const struct expected latch_read[] = {
        {PAWL_HOOK_LOAD, PAWL_ORDER_ACQUIRE, PAWL_SEQ_LATCH_READ},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_FENCE, PAWL_ORDER_ACQUIRE, PAWL_SEQ_LATCH_READ_END},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
    };
    both_hold_one();
    sim_begin();
    read_lock(NULL);
    assert_accesses(lock_read, 5);
    sim_begin();
    read_latch(NULL);
    assert_accesses(latch_read, 5);
}

TEST_CASE(a_write_is_the_odd_number_a_fence_the_words_and_the_even_number)
{
    static const struct expected write[] = {
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_FENCE, PAWL_ORDER_RELEASE, PAWL_SEQ_WRITE_BEGIN},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELEASE, PAWL_SEQ_WRITE_END},
    };
    both_hold_one();
    sim_begin();
    write_lock(&two);
    assert_accesses(write, 7);
    assert_true(sim_records[1].operation.operand % 2 == 1);
    assert_true(sim_records[6].operation.operand % 2 == 0);
}

TEST_CASE(a_latch_write_turns_the_readers_away_before_it_touches_a_copy)
{
    static const struct expected write[] = {
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELEASE, PAWL_SEQ_LATCH_TURN},
        {PAWL_HOOK_FENCE, PAWL_ORDER_RELEASE, PAWL_SEQ_LATCH_WRITE},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELEASE, PAWL_SEQ_LATCH_TURN},
        {PAWL_HOOK_FENCE, PAWL_ORDER_RELEASE, PAWL_SEQ_LATCH_WRITE},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
    };
    both_hold_one();
    sim_begin();
    write_latch(&two);
    assert_accesses(write, 10);
    assert_ptr_equal(sim_records[3].operation.address, &latch.words[0][0]);
    assert_ptr_equal(sim_records[7].operation.address, &latch.words[1][0]);
}

int main(int argc, char **argv)
{
    sim_no_locks = true;
    sim_begin();
    return test_main(argc, argv);
}
