/* SPDX-License-Identifier: MIT */
/*
 * Requests beside wakes. An event loop keeps a request at each of some words, cancels one now and
 * then, and asks again. Other threads raise the words and wake. A wake that is lost leaves the loop
 * at a descriptor that nobody writes.
 */
#include "notice/eventfd.h"

enum { WORDS = 3, ROUNDS = 400 };

static struct {
    uint64_t word __attribute__((aligned(8)));
    uint64_t heard; /* the raiser goes on when the loop has seen its last value */
    pawl_notice n;
    bool pending;
} posts[WORDS];
static uint64_t last;

static void *raise_words(void *index)
{
    const size_t i = (size_t)(uintptr_t)index;
    for (uint64_t value = 1; value <= last; value++) {
        __atomic_store_n(&posts[i].word, value, __ATOMIC_RELEASE);
        (void)pawl_wake_one(&posts[i].word);
        while (__atomic_load_n(&posts[i].heard, __ATOMIC_ACQUIRE) != value)
            (void)pawl_wait64(&posts[i].heard, value - 1);
    }
    return NULL;
}

/* Goes on until the request waits for a change of what was heard. */
static void look(size_t i, uint64_t *random)
{
    if (posts[i].pending && test_random_below(random, 4) == 0) {
        pawl_notice_cancel(&posts[i].n);
        posts[i].pending = false;
    }
    if (posts[i].pending)
        posts[i].pending = pawl_notice_go_on(&posts[i].n) == PAWL_NOTICE_PENDING;
    while (!posts[i].pending && posts[i].heard != last) {
        const uint64_t value = __atomic_load_n(&posts[i].word, __ATOMIC_ACQUIRE);
        const struct pawl_watch watch = {&posts[i].word, value, UINT64_MAX, 64};
        if (value != posts[i].heard) {
            __atomic_store_n(&posts[i].heard, value, __ATOMIC_RELEASE);
            (void)pawl_wake_one(&posts[i].heard);
        }
        posts[i].pending = pawl_notice_watch(&posts[i].n, &watch) == PAWL_NOTICE_PENDING;
    }
}

static bool all_heard(void)
{
    for (size_t i = 0; i < WORDS; i++)
        if (posts[i].heard != last)
            return false;
    return true;
}

static void run(uint64_t rounds, uint64_t *random)
{
    pthread_t raisers[WORDS];
    last = rounds;
    for (size_t i = 0; i < WORDS; i++) {
        posts[i].word = posts[i].heard = 0;
        posts[i].pending = false;
        must(pawl_notice_init(&posts[i].n, event) == 0);
        look(i, random);
        raisers[i] = test_start(raise_words, (void *)(uintptr_t)i);
    }
    while (!all_heard()) {
        hear();
        for (size_t i = 0; i < WORDS; i++)
            look(i, random);
    }
    for (size_t i = 0; i < WORDS; i++) {
        test_join(raisers[i]);
        pawl_notice_cancel(&posts[i].n);
    }
}

EVENT_CASE(no_wake_is_lost)
{
    uint64_t random = test_seed();
    const uint64_t end = pawl_now() + (uint64_t)(test_seconds(0.3) * 1e9);
    for (uint64_t rounds = ROUNDS; pawl_now() < end; rounds *= 2)
        run(TEST_SCALE(rounds), &random);
}

TEST_MAIN()
