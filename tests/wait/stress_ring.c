/* SPDX-License-Identifier: MIT */
/*
 * Tokens go round rings of threads, each hop a wait on a word of another width, by another kind of
 * wait, ended by another kind of wake. A wake that gets lost stops a token, and the test. Beside
 * that each thread passes a bit lock and now and then a condition variable.
 */
#include "test.h"

#include <pawl/bitlock.h>
#include <pawl/cond.h>

enum { MOST = 48, FIRST_HOPS = 300 };

struct post {
    uint64_t word; /* the last round that came here, in as many bits as the post has */
    uint64_t never __attribute__((aligned(8)));
};

struct shared {
    struct post posts[MOST];
    uint16_t bits; /* bit 11 is a lock */
    pawl_lock32 lock;
    pawl_cond counted;
    unsigned under_bit, under_lock;
    unsigned threads, hops;
    uint64_t seed;
};

static uint32_t bits_of(unsigned index)
{
    static const uint32_t bits[] = {32, 8, 64, 16};
    return bits[index % 4];
}

static uint64_t read_post(const struct post *p, uint32_t bits)
{
    switch (bits) {
    case 8: return __atomic_load_n((const uint8_t *)(const void *)&p->word, __ATOMIC_ACQUIRE);
    case 16: return __atomic_load_n((const uint16_t *)(const void *)&p->word, __ATOMIC_ACQUIRE);
    case 32: return __atomic_load_n((const uint32_t *)(const void *)&p->word, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n(&p->word, __ATOMIC_ACQUIRE);
    }
}

static void write_post(struct post *p, uint32_t bits, uint64_t value)
{
    switch (bits) {
    case 8: __atomic_store_n((uint8_t *)(void *)&p->word, (uint8_t)value, __ATOMIC_RELEASE); break;
    case 16:
        __atomic_store_n((uint16_t *)(void *)&p->word, (uint16_t)value, __ATOMIC_RELEASE);
        break;
    case 32:
        __atomic_store_n((uint32_t *)(void *)&p->word, (uint32_t)value, __ATOMIC_RELEASE);
        break;
    default: __atomic_store_n(&p->word, value, __ATOMIC_RELEASE);
    }
}

static void wait_a_little_differently(struct post *p, uint32_t bits, uint64_t value,
                                      uint64_t *random)
{
    const struct pawl_watch watches[2] = {{&p->never, 0, UINT64_MAX, 64},
                                          {&p->word, value, UINT64_MAX, bits}};
    const uint64_t soon = pawl_now() + test_random_below(random, 300000);
    const uint64_t deadline = test_random_below(random, 3) == 0 ? soon : PAWL_WAIT_FOREVER;
    if (test_random_below(random, 3) != 0) {
        switch (bits) {
        case 8:
            (void)pawl_wait8_until((uint8_t *)(void *)&p->word, (uint8_t)value, deadline);
            return;
        case 16:
            (void)pawl_wait16_until((uint16_t *)(void *)&p->word, (uint16_t)value, deadline);
            return;
        case 32:
            (void)pawl_wait32_until((uint32_t *)(void *)&p->word, (uint32_t)value, deadline);
            return;
        default: (void)pawl_wait64_until(&p->word, value, deadline); return;
        }
    }
    (void)pawl_wait_any_until(watches, 2, NULL, deadline);
}

static void wake_a_little_differently(const struct post *p, uint64_t *random)
{
    switch (test_random_below(random, 4)) {
    case 0: (void)pawl_wake_all(&p->word); break;
    case 1: (void)pawl_wake_bits(&p->word, UINT64_MAX, 1); break;
    case 2: /* by way of another address, at which nobody else waits */
        (void)pawl_requeue(&p->word, (const char *)&p->word + 4, 0, 1);
        (void)pawl_wake_all((const char *)&p->word + 4);
        break;
    default: (void)pawl_wake_one(&p->word);
    }
}

/* As a post of that width shows it. */
static uint64_t number(unsigned round, uint32_t bits)
{
    return bits == 8 ? (uint8_t)round : bits == 16 ? (uint16_t)round : round;
}

static void count_along(struct shared *s, unsigned round, uint64_t *random)
{
    const unsigned way = test_random_below(random, 4);
    pawl_bitlock16_take(&s->bits, 11);
    s->under_bit++;
    pawl_bitlock16_drop(&s->bits, 11);
    pawl_lock32_take_write(&s->lock);
    s->under_lock++;
    if (way == 0)
        (void)pawl_lock32_cond_wait_write_until(&s->counted, &s->lock,
                                                pawl_now() + test_random_below(random, 200000));
    pawl_lock32_drop_write(&s->lock);
    if (way == 1 || round % 16 == 0)
        (void)pawl_cond_broadcast(&s->counted);
    else if (way == 2)
        (void)pawl_cond_signal(&s->counted);
}

static void run_along(void *opaque, unsigned index)
{
    struct shared *s = (struct shared *)opaque;
    struct post *own = &s->posts[index];
    struct post *next = &s->posts[(index + 1) % s->threads];
    const uint32_t bits = bits_of(index);
    const uint32_t next_bits = bits_of((index + 1) % s->threads);
    uint64_t random = s->seed + index * UINT64_C(0x632be59bd9b4e019);
    for (unsigned round = 1; round <= s->hops; round++) {
        /* The token of a round comes from the neighbour; the first thread lets it go itself. */
        const uint64_t last = number(index > 0 ? round - 1 : round - 2, bits);
        while ((index > 0 || round > 1) && read_post(own, bits) == last)
            wait_a_little_differently(own, bits, last, &random);
        count_along(s, round, &random);
        write_post(next, next_bits, number(round, next_bits));
        wake_a_little_differently(next, &random);
    }
}

TEST_CASE(no_token_gets_lost)
{
    static struct shared s;
    const double end = test_now() + test_seconds(4);
    unsigned hops = TEST_SCALE(FIRST_HOPS);
    uint64_t seed = test_seed();
    unsigned rounds = 0;
    do {
        static const unsigned crowds[] = {2, 5, 12, MOST};
        memset(&s, 0, sizeof s);
        s.threads = crowds[rounds % 4];
        s.hops = hops / s.threads + 1;
        s.seed = seed++;
        print_message("%u threads, %u rounds, seed %" PRIu64 "\n", s.threads, s.hops, s.seed);
        test_threads(s.threads, run_along, &s);
        assert_int_equal(s.under_bit, s.threads * s.hops);
        assert_int_equal(s.under_lock, s.threads * s.hops);
        assert_int_equal(s.lock.word, 0);
        assert_int_equal(s.bits, 0);
        assert_int_equal(s.counted.waiting, 0);
        if (++rounds % 4 == 0)
            hops *= 2;
    } while (test_now() < end || rounds < 4);
}

TEST_MAIN()
