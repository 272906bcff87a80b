/* SPDX-License-Identifier: MIT */
/* Waiting for any of several words at once. */
#include "test.h"

#include <pawl/wait.h>

enum { WORDS = 4 };
static uint64_t words[WORDS] __attribute__((aligned(8)));

static void set_watches(struct pawl_watch *watches)
{
    static const uint32_t bits[WORDS] = {8, 16, 32, 64};
    for (unsigned i = 0; i < WORDS; i++) {
        const struct pawl_watch watch = {&words[i], 1, UINT64_MAX, bits[i]};
        words[i] = 1;
        watches[i] = watch;
    }
}

TEST_CASE(the_word_that_differs_is_named)
{
    struct pawl_watch watches[WORDS];
    uint32_t which;
    for (unsigned i = 0; i < WORDS; i++) {
        set_watches(watches);
        words[i] = 2;
        which = 99;
        assert_int_equal(pawl_wait_any(watches, WORDS, &which), PAWL_WAIT_DIFFERS);
        assert_int_equal(which, i);
        assert_int_equal(pawl_wake_all(&words[0]), 0); /* nobody was left in a list */
    }
    assert_int_equal(pawl_wait_any(watches, WORDS, NULL), PAWL_WAIT_DIFFERS);
}

TEST_CASE(it_expires_after_its_deadline)
{
    const uint64_t deadline = pawl_now() + 2000000;
    struct pawl_watch watches[WORDS];
    uint32_t which = 99;
    set_watches(watches);
    assert_int_equal(pawl_wait_any_until(watches, WORDS, &which, 0), PAWL_WAIT_EXPIRED);
    assert_int_equal(pawl_wait_any_until(watches, WORDS, &which, deadline), PAWL_WAIT_EXPIRED);
    assert_true(pawl_now() >= deadline);
    for (unsigned i = 0; i < WORDS; i++)
        assert_int_equal(pawl_wake_all(&words[i]), 0);
}

TEST_CASE(as_many_words_as_allowed_and_no_more)
{
    static struct pawl_watch watches[PAWL_WAIT_WATCHES + 1];
    uint32_t which;
    set_watches(watches);
    for (unsigned i = 0; i <= PAWL_WAIT_WATCHES; i++)
        watches[i] = watches[i % WORDS];
    assert_int_equal(pawl_wait_any_until(watches, PAWL_WAIT_WATCHES, &which, 0), PAWL_WAIT_EXPIRED);
    assert_int_equal(pawl_wait_any_until(watches, PAWL_WAIT_WATCHES + 1, &which, 0),
                     PAWL_WAIT_REFUSED);
    assert_int_equal(pawl_wake_all(&words[0]), 0);
}

struct waiter {
    struct pawl_watch watches[WORDS];
    enum pawl_waited how;
    uint32_t which;
    pthread_t thread;
};

static void *wait_for_any(void *opaque)
{
    struct waiter *w = (struct waiter *)opaque;
    w->how = pawl_wait_any(w->watches, WORDS, &w->which);
    return NULL;
}

TEST_CASE(a_wake_at_any_of_the_words_ends_it_and_is_named)
{
    struct waiter w;
    for (unsigned i = 0; i < WORDS; i++) {
        set_watches(w.watches);
        w.thread = test_start(wait_for_any, &w);
        test_await(pawl_wake_one(&words[i]) != 0);
        test_join(w.thread);
        assert_int_equal(w.how, PAWL_WAIT_WOKEN);
        assert_int_equal(w.which, i);
        for (unsigned k = 0; k < WORDS; k++)
            assert_int_equal(pawl_wake_all(&words[k]), 0);
    }
}

/* ---- A wake that one who has another one already does not need ------------------------------- */

static void *wait_for_the_last(void *unused)
{
    while (pawl_load_relaxed64(&words[WORDS - 1]) == 1)
        (void)pawl_wait64(&words[WORDS - 1], 1);
    return NULL;
}

/* Two words are woken for one waiter, which can take only one of the wakes. The other one goes on
 * to who waits there alone, or he would sleep for ever. */
TEST_CASE(a_wake_too_many_is_handed_on)
{
    struct waiter w;
    pthread_t other;
    for (unsigned turns = 0; turns < TEST_SCALE(300); turns++) {
        set_watches(w.watches);
        w.thread = test_start(wait_for_any, &w);
        while (pawl_requeue(&words[0], &words[1], 0, 1) == 0) /* it sleeps, first in each list */
            sched_yield();
        other = test_start(wait_for_the_last, NULL);
        if (turns % 2)
            sched_yield();
        pawl_store_relaxed64(&words[WORDS - 1], 2);
        (void)pawl_wake_one(&words[2]);
        (void)pawl_wake_one(&words[WORDS - 1]);
        test_join(w.thread);
        /* In the list, it may yet look at its words once more before it sleeps. */
        assert_true(w.how == PAWL_WAIT_WOKEN || w.how == PAWL_WAIT_DIFFERS);
        test_join(other);
    }
}

TEST_MAIN()
