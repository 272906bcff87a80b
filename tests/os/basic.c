/* SPDX-License-Identifier: MIT */
/* What the library gets from the system: time, thread numbers, sleeping and waking. */
#include "test.h"

#include "os/os.h"

TEST_CASE(the_clock_never_goes_back)
{
    uint64_t last = pawl_os_now();
    assert_true(last > 0);
    for (unsigned i = 0; i < 1000; i++) {
        const uint64_t now = pawl_os_now();
        assert_true(now >= last);
        last = now;
    }
}

TEST_CASE(wait_returns_at_once_when_the_value_differs)
{
    const uint32_t value = 1;
    assert_true(pawl_os_wait(&value, 2, PAWL_NO_DEADLINE));
    assert_true(pawl_os_wait(&value, 2, 0));
}

TEST_CASE(wait_with_a_deadline_in_the_past_tells_that_it_has_passed)
{
    const uint32_t value = 1;
    assert_false(pawl_os_wait(&value, 1, 0));
    assert_false(pawl_os_wait(&value, 1, pawl_os_now() - 1));
}

TEST_CASE(wait_returns_only_after_its_deadline)
{
    const uint32_t value = 1;
    const uint64_t deadline = pawl_os_now() + 2000000;
    while (pawl_os_wait(&value, 1, deadline))
        continue;
    assert_true(pawl_os_now() >= deadline);
}

struct sleeper {
    const uint32_t *address; /* holds 1 and never changes: only a wake ends the sleep */
    bool in_time;
};

static void *sleep_until_woken(void *opaque)
{
    struct sleeper *s = (struct sleeper *)opaque;
    s->in_time = pawl_os_wait(s->address, 1, PAWL_NO_DEADLINE);
    return NULL;
}

TEST_CASE(wake_wakes_one_that_sleeps_on_the_address_and_counts_it)
{
    const uint32_t asleep = 1;
    const uint32_t elsewhere = 1;
    struct sleeper s = {&asleep, false};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sleep_until_woken, &s), 0);
    while (pawl_os_wake(&asleep, 1) == 0) {
        assert_int_equal(pawl_os_wake(&elsewhere, 1), 0);
        pawl_os_yield();
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(s.in_time);
}

TEST_CASE(wake_wakes_no_more_than_asked)
{
    const uint32_t asleep = 1;
    struct sleeper sleepers[3] = {{&asleep, false}, {&asleep, false}, {&asleep, false}};
    pthread_t threads[3];
    unsigned woken = 0;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sleep_until_woken, &sleepers[i]), 0);
    while (woken < 3) {
        const unsigned now = pawl_os_wake(&asleep, 1);
        assert_true(now <= 1);
        woken += now;
    }
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

TEST_CASE(wake_with_nobody_asleep_wakes_nobody)
{
    const uint32_t value = 0;
    assert_int_equal(pawl_os_wake(&value, 1), 0);
    assert_int_equal(pawl_os_wake(&value, UINT_MAX), 0);
}

TEST_CASE(errno_is_left_alone)
{
    const uint32_t value = 1;
    errno = 4711;
    (void)pawl_os_wait(&value, 1, 0);
    (void)pawl_os_wait(&value, 2, 0);
    (void)pawl_os_wake(&value, 1);
    (void)pawl_os_thread_lives(INT_MAX);
    (void)pawl_os_now();
    pawl_os_yield();
    assert_int_equal(errno, 4711);
}

static void *number_of_a_thread(void *place)
{
    *(uint32_t *)place = pawl_os_thread_id();
    must(pawl_os_thread_lives(*(uint32_t *)place));
    return NULL;
}

TEST_CASE(every_thread_has_a_number_of_its_own_that_lives_with_it)
{
    const uint32_t own = pawl_os_thread_id();
    uint32_t other = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, number_of_a_thread, &other), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_not_equal(own, 0);
    assert_int_not_equal(other, 0);
    assert_int_not_equal(own, other);
    assert_true(pawl_os_thread_lives(own));
    assert_false(pawl_os_thread_lives(INT_MAX)); /* no system counts so far */
}

TEST_MAIN()
