/* SPDX-License-Identifier: MIT */
/*
 * Windows: each of the three ways to sleep (os/windows_wait.c), which PAWL_WINDOWS_WAIT chooses;
 * run once for each. The lists of the two older ways are the same code as in tests/os/lists.c.
 */
#include "test.h"

#include "os/os.h"

#include <windows.h>

extern const char *PAWL_SYMBOL_(pawl_windows_way)(void);

static bool counts_sleepers(void)
{
    return strcmp(PAWL_SYMBOL_(pawl_windows_way)(), "address") != 0;
}

TEST_CASE(the_environment_chooses_the_way)
{
    const char *asked = getenv("PAWL_WINDOWS_WAIT");
    assert_string_equal(PAWL_SYMBOL_(pawl_windows_way)(), asked != NULL ? asked : "address");
}

TEST_CASE(wait_returns_at_once_when_the_value_differs)
{
    const uint32_t value = 1;
    assert_true(pawl_os_wait(&value, 2, PAWL_NO_DEADLINE));
    assert_true(pawl_os_wait(&value, 2, 0));
}

TEST_CASE(a_deadline_is_not_cut_short)
{
    const uint32_t value = 1;
    assert_false(pawl_os_wait(&value, 1, 0));
    assert_false(pawl_os_wait(&value, 1, pawl_os_now() - 1));
    for (unsigned us = 1; us <= 8192; us *= 2) { /* Windows itself counts milliseconds */
        const uint64_t deadline = pawl_os_now() + us * 1000u;
        while (pawl_os_wait(&value, 1, deadline))
            continue;
        assert_true(pawl_os_now() >= deadline);
    }
}

struct sleeping {
    uint32_t word; /* holds 1 and never changes: only a wake ends the sleep */
    uint32_t returned;
    uint32_t in_time;
};

static void sleep_once(void *opaque, unsigned index)
{
    struct sleeping *s = (struct sleeping *)opaque;
    if (index == 0) {
        while (pawl_load_relaxed32(&s->returned) == 0) {
            (void)pawl_os_wake(&s->word, 1);
            pawl_os_yield();
        }
        return;
    }
    s->in_time = pawl_os_wait(&s->word, 1, PAWL_NO_DEADLINE);
    pawl_store_relaxed32(&s->returned, 1);
}

TEST_CASE(a_wake_ends_a_sleep_whose_word_has_not_changed)
{
    struct sleeping s = {1, 0, 0};
    test_threads(2, sleep_once, &s);
    assert_true(s.in_time);
}

/* More sleepers than a waker of the event way takes along at once. */
enum { CROWD = 150 };

struct crowd {
    uint32_t word, gone;
};

static void stand_in_the_crowd(void *opaque, unsigned index)
{
    struct crowd *c = (struct crowd *)opaque;
    if (index == 0) {
        Sleep(50); /* most of them sleep by now; those who do not see the word change */
        pawl_store_relaxed32(&c->word, 0);
        (void)pawl_os_wake(&c->word, UINT_MAX); /* once */
        return;
    }
    while (pawl_load_relaxed32(&c->word) == 1)
        (void)pawl_os_wait(&c->word, 1, PAWL_NO_DEADLINE);
    (void)pawl_fetch_add_relaxed32(&c->gone, 1);
}

TEST_CASE(one_wake_of_all_ends_the_sleep_of_a_crowd)
{
    struct crowd c = {1, 0};
    test_threads(CROWD + 1, stand_in_the_crowd, &c);
    assert_int_equal(c.gone, CROWD);
}

struct queue {
    uint32_t word, gone;
    unsigned most;
};

static void stand_in_the_queue(void *opaque, unsigned index)
{
    struct queue *q = (struct queue *)opaque;
    if (index != 0) {
        (void)pawl_os_wait(&q->word, 1, PAWL_NO_DEADLINE);
        (void)pawl_fetch_add_relaxed32(&q->gone, 1);
        return;
    }
    while (pawl_load_relaxed32(&q->gone) < 12) {
        const unsigned woken = pawl_os_wake(&q->word, 3);
        q->most = woken > q->most ? woken : q->most;
        pawl_os_yield();
    }
}

TEST_CASE(a_wake_of_three_wakes_no_more_than_three)
{
    struct queue q = {1, 0, 0};
    test_threads(13, stand_in_the_queue, &q);
    assert_int_equal(q.gone, 12);
    if (counts_sleepers())
        assert_in_range(q.most, 1, 3);
    else
        assert_int_equal(q.most, 0); /* WakeByAddress does not say */
}

enum { ROUNDS = 5000 };
static uint32_t turn;

static void take_turns(void *unused, unsigned self)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        while (pawl_load_relaxed32(&turn) != self)
            (void)pawl_os_wait(&turn, 1 - self, PAWL_NO_DEADLINE);
        pawl_store_relaxed32(&turn, 1 - self);
        (void)pawl_os_wake(&turn, 1);
    }
}

TEST_CASE(two_threads_that_take_turns_lose_no_wake)
{
    test_threads(2, take_turns, NULL);
    assert_int_equal(turn, 0);
}

TEST_CASE(the_last_error_is_left_alone)
{
    const uint32_t value = 1;
    SetLastError(4711);
    (void)pawl_os_wait(&value, 1, 0);
    (void)pawl_os_wait(&value, 2, 0);
    (void)pawl_os_wake(&value, 1);
    (void)pawl_os_thread_lives(INT_MAX);
    (void)pawl_os_now();
    pawl_os_yield();
    assert_int_equal(GetLastError(), 4711);
}

/* Sleeps that end by their deadlines, in threads that end: each has had an event to itself. */
static void nap(void *unused, unsigned index)
{
    const uint32_t value = 1;
    while (pawl_os_wait(&value, 1, pawl_os_now() + 1000000))
        continue;
}

static DWORD open_handles(void)
{
    DWORD handles = 0;
    must(GetProcessHandleCount(GetCurrentProcess(), &handles));
    return handles;
}

TEST_CASE(threads_that_end_leave_their_events_to_others)
{
    test_threads(20, nap, NULL);
    DWORD before = open_handles();
    for (unsigned round = 0; round < 10; round++)
        test_threads(20, nap, NULL);
    assert_in_range(open_handles(), 0, before + 20); /* and not 200 */
}

TEST_CASE(shared_waits_look_again_and_keep_their_deadline)
{
    const uint32_t value = 1;
    const uint64_t deadline = pawl_os_now() + 5000000;
    assert_true(pawl_os_wait_classes(&value, 2, UINT32_MAX, PAWL_NO_DEADLINE));
    assert_true(pawl_os_wait_classes(&value, 1, UINT32_MAX, PAWL_NO_DEADLINE)); /* spuriously */
    while (pawl_os_wait_classes(&value, 1, UINT32_MAX, deadline))
        continue;
    assert_true(pawl_os_now() >= deadline);
    assert_int_equal(pawl_os_wake_classes(&value, UINT32_MAX, 1), 0);
}

TEST_MAIN()
