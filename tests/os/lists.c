/* SPDX-License-Identifier: MIT */
/*
 * The lists of sleepers that stand in for a wait on an address where a system has none
 * (os/lists.h), with the beds that macOS gets (os/bed_pthread.h). Windows's own beds are tested by
 * the same sentences in tests/ports/windows_wait.c.
 */
#include "test.h"

#include "os/os.h"

/* The points of this copy of the lists; those of the library, if it has any, are its own. */
static void (*at_point)(const char *name);
#define PAWL_POINT_H
#undef TEST_POINT
#define TEST_POINT(name)                                                                           \
    do {                                                                                           \
        if (at_point != NULL)                                                                      \
            at_point(name);                                                                        \
    } while (0)

#include "os/bed_pthread.h"
#include "os/lists.h"

TEST_CASE(wait_returns_at_once_when_the_value_differs)
{
    const uint32_t value = 1;
    assert_true(os_lists_wait(&value, 2, PAWL_NO_DEADLINE));
    assert_true(os_lists_wait(&value, 2, 0));
}

TEST_CASE(wait_returns_only_after_its_deadline)
{
    const uint32_t value = 1;
    const uint64_t deadline = pawl_os_now() + 2000000;
    assert_false(os_lists_wait(&value, 1, 0));
    while (os_lists_wait(&value, 1, deadline))
        continue;
    assert_true(pawl_os_now() >= deadline);
    assert_null(os_list_of(&value)->first); /* and leaves no trace */
    assert_null(os_list_of(&value)->last);
}

struct sleeping {
    const uint32_t *address; /* holds 1 and never changes: only a wake ends the sleep */
    uint32_t returned;
    bool in_time;
};

static void *sleep_until_woken(void *opaque)
{
    struct sleeping *s = (struct sleeping *)opaque;
    s->in_time = os_lists_wait(s->address, 1, PAWL_NO_DEADLINE);
    pawl_store_relaxed32(&s->returned, 1);
    return NULL;
}

TEST_CASE(wake_wakes_no_more_than_asked_and_counts_them)
{
    enum { SLEEPERS = 5 };
    static const uint32_t asleep = 1;
    struct sleeping sleepers[SLEEPERS];
    pthread_t threads[SLEEPERS];
    unsigned woken = 0, i;
    for (i = 0; i < SLEEPERS; i++) {
        sleepers[i].address = &asleep;
        threads[i] = test_start(sleep_until_woken, &sleepers[i]);
    }
    while (woken < SLEEPERS) {
        const unsigned now = os_lists_wake(&asleep, 2);
        assert_true(now <= 2);
        woken += now;
    }
    assert_int_equal(woken, SLEEPERS);
    for (i = 0; i < SLEEPERS; i++) {
        test_join(threads[i]);
        assert_true(sleepers[i].in_time);
    }
    assert_int_equal(os_lists_wake(&asleep, UINT_MAX), 0);
}

TEST_CASE(a_wake_for_another_word_of_the_same_list_wakes_nobody)
{
    static uint32_t words[64 * OS_LISTS];
    struct sleeping s = {&words[0], 0, false};
    uint32_t *other;
    for (other = words + 1; os_list_of(other) != os_list_of(words); other++)
        must(other < words + sizeof words / sizeof words[0] - 1);
    words[0] = 1;
    const pthread_t thread = test_start(sleep_until_woken, &s);
    while (pawl_load_relaxed32(&s.returned) == 0) {
        assert_int_equal(os_lists_wake(other, UINT_MAX), 0);
        if (os_lists_wake(words, 1) == 1)
            break;
        pawl_os_yield();
    }
    test_join(thread);
    assert_true(s.in_time);
}

/* ---- The race that the source warns of ------------------------------------------------------- */

static uint32_t gate;
static uint32_t between; /* the sleeper has looked at the gate and does not sleep yet */

static void dawdle(const char *point)
{
    const struct timespec pause = {0, 20000000};
    if (strcmp(point, "looked") != 0)
        return;
    pawl_store_relaxed32(&between, 1);
    nanosleep(&pause, NULL); /* the waker has all the time to come and go */
}

static void *wait_at_the_gate(void *unused)
{
    while (pawl_load_relaxed32(&gate) == 1)
        (void)os_lists_wait(&gate, 1, PAWL_NO_DEADLINE);
    return NULL;
}

TEST_CASE(a_waker_between_the_look_and_the_sleep_is_not_overlooked)
{
    pthread_t thread;
    at_point = dawdle;
    for (unsigned round = 0; round < 5; round++) {
        pawl_store_relaxed32(&gate, 1);
        pawl_store_relaxed32(&between, 0);
        thread = test_start(wait_at_the_gate, NULL);
        while (pawl_load_relaxed32(&between) == 0)
            pawl_os_yield();
        pawl_store_relaxed32(&gate, 0);
        (void)os_lists_wake(&gate, 1); /* once */
        test_join(thread);
    }
    at_point = NULL;
}

enum { ROUNDS = TEST_SCALE(20000) };
static uint32_t turn;

static void take_turns(void *unused, unsigned self)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        while (pawl_load_relaxed32(&turn) != self)
            (void)os_lists_wait(&turn, 1 - self, PAWL_NO_DEADLINE);
        pawl_store_relaxed32(&turn, 1 - self);
        (void)os_lists_wake(&turn, 1);
    }
}

TEST_CASE(two_threads_that_take_turns_lose_no_wake)
{
    test_threads(2, take_turns, NULL);
    assert_int_equal(turn, 0);
}

TEST_MAIN()
