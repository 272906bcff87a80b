/* SPDX-License-Identifier: MIT */
/*
 * Readers and writers of one sequence lock and one latch, more threads than cores: no reader finds
 * half of a write, numbers never go back, none of the counted writes is lost, and what a pointer in
 * the value leads to is seen as it was stored before the write.
 */
#include "test.h"

#include <pawl/seq.h>

enum { WORDS = 9, RECORDS = 4096, FIRST_STEPS = 2000, THREADS = 12 };

struct record {
    uint64_t number, twice;
};

struct value {
    uint64_t number;
    uint64_t copies[WORDS];
    const struct record *record;
    uint8_t tail; /* so that the last word is not full */
};

PAWL_SEQ_TYPE(value_seq, struct value);
PAWL_SEQ_LATCH_TYPE(value_latch, struct value);

struct shared {
    value_seq lock;
    value_latch latch;
    struct record records[RECORDS]; /* plain: each is written once before it is published */
    unsigned steps;
    uint64_t seed;
    uint64_t writes[THREADS];
};

static void check(const struct value *v, uint64_t *last)
{
    for (unsigned i = 0; i < WORDS; i++)
        must(v->copies[i] == v->number * (i + 3));
    must(v->tail == (uint8_t)v->number);
    must(v->number >= *last);
    *last = v->number;
    if (v->record != NULL) {
        must(v->record->number == v->number);
        must(v->record->twice == 2 * v->number);
    }
}

/* The next value after `v`. */
static void advance(struct value *v, struct record *record)
{
    v->number++;
    for (unsigned i = 0; i < WORDS; i++)
        v->copies[i] = v->number * (i + 3);
    v->tail = (uint8_t)v->number;
    v->record = NULL;
    if (record != NULL) {
        record->number = v->number;
        record->twice = 2 * v->number;
        v->record = record;
    }
}

static void add_one(struct shared *s)
{
    struct value v;
    uint64_t unused = 0;
    value_seq_take_write(&s->lock, &v);
    check(&v, &unused);
    advance(&v, v.number < RECORDS ? &s->records[v.number] : NULL);
    value_seq_drop_write(&s->lock, &v);
}

static void work(void *opaque, unsigned index)
{
    struct shared *s = (struct shared *)opaque;
    uint64_t random = s->seed + index * UINT64_C(0x632be59bd9b4e019);
    uint64_t last = 0, last_of_latch = 0;
    struct value latched;
    memset(&latched, 0, sizeof latched);
    for (unsigned i = 0; i < s->steps; i++) {
        struct value v;
        if (index == 0) { /* the latch has a single writer */
            advance(&latched, NULL);
            value_latch_write_alone(&s->latch, &latched);
        }
        switch (test_random_below(&random, 16)) {
        case 0:
            add_one(s);
            s->writes[index]++;
            break;
        case 1:
            value_seq_take_write(&s->lock, &v);
            value_seq_cancel_write(&s->lock);
            check(&v, &last);
            break;
        case 2:
            value_seq_read_or_lock(&s->lock, &v, test_random_below(&random, 3));
            check(&v, &last);
            break;
        case 3:
            if (value_seq_try_read(&s->lock, &v))
                check(&v, &last);
            break;
        case 4: sched_yield(); break;
        default:
            value_seq_read(&s->lock, &v);
            check(&v, &last);
            value_latch_read(&s->latch, &v);
            check(&v, &last_of_latch);
        }
    }
}

TEST_CASE(nobody_reads_half_a_write_and_no_write_is_lost)
{
    const double end = test_now() + test_seconds(3);
    unsigned steps = TEST_SCALE(FIRST_STEPS);
    uint64_t seed = test_seed();
    unsigned rounds = 0;
    do {
        static const unsigned crowds[] = {2, 3, THREADS};
        const unsigned threads = crowds[rounds % 3];
        static struct shared s;
        struct value v;
        uint64_t writes = 0;
        print_message("%u threads, %u steps each, seed %" PRIu64 "\n", threads, steps, seed);
        memset(&s, 0, sizeof s);
        s.steps = steps;
        s.seed = seed++;
        test_threads(threads, work, &s);
        for (unsigned i = 0; i < threads; i++)
            writes += s.writes[i];
        value_seq_read(&s.lock, &v);
        assert_true(v.number == writes);
        value_latch_read(&s.latch, &v);
        assert_true(v.number == steps);
        if (++rounds % 3 == 0)
            steps *= 2;
    } while (test_now() < end);
}

TEST_MAIN()
