/* SPDX-License-Identifier: MIT */
/* What the library gets from the system: time, thread numbers, sleeping and waking. */
#include "test.h"

#include "os/os.h"

static void the_clock_never_goes_back(void **state)
{
    uint64_t last = pawl_os_now();
    unsigned i;
    (void)state;
    assert_true(last > 0);
    for (i = 0; i < 1000; i++) {
        const uint64_t now = pawl_os_now();
        assert_true(now >= last);
        last = now;
    }
}

static void wait_returns_at_once_when_the_value_differs(void **state)
{
    const uint32_t value = 1;
    (void)state;
    assert_true(pawl_os_wait(&value, 2, PAWL_NO_DEADLINE));
    assert_true(pawl_os_wait(&value, 2, 0));
}

static void wait_with_a_deadline_in_the_past_tells_that_it_has_passed(void **state)
{
    const uint32_t value = 1;
    (void)state;
    assert_false(pawl_os_wait(&value, 1, 0));
    assert_false(pawl_os_wait(&value, 1, pawl_os_now() - 1));
}

static void wait_returns_only_after_its_deadline(void **state)
{
    const uint32_t value = 1;
    const uint64_t deadline = pawl_os_now() + 2000000;
    (void)state;
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

static void wake_wakes_one_that_sleeps_on_the_address_and_counts_it(void **state)
{
    const uint32_t asleep = 1;
    const uint32_t elsewhere = 1;
    struct sleeper s = {&asleep, false};
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, sleep_until_woken, &s), 0);
    while (pawl_os_wake(&asleep, 1) == 0) {
        assert_int_equal(pawl_os_wake(&elsewhere, 1), 0);
        pawl_os_yield();
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(s.in_time);
}

static void wake_wakes_no_more_than_asked(void **state)
{
    const uint32_t asleep = 1;
    struct sleeper sleepers[3] = {{&asleep, false}, {&asleep, false}, {&asleep, false}};
    pthread_t threads[3];
    unsigned woken = 0;
    unsigned i;
    (void)state;
    for (i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, sleep_until_woken, &sleepers[i]), 0);
    while (woken < 3) {
        const unsigned now = pawl_os_wake(&asleep, 1);
        assert_true(now <= 1);
        woken += now;
    }
    for (i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void wake_with_nobody_asleep_wakes_nobody(void **state)
{
    const uint32_t value = 0;
    (void)state;
    assert_int_equal(pawl_os_wake(&value, 1), 0);
    assert_int_equal(pawl_os_wake(&value, UINT_MAX), 0);
}

static void errno_is_left_alone(void **state)
{
    const uint32_t value = 1;
    (void)state;
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

static void every_thread_has_a_number_of_its_own_that_lives_with_it(void **state)
{
    const uint32_t own = pawl_os_thread_id();
    uint32_t other = 0;
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, number_of_a_thread, &other), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_not_equal(own, 0);
    assert_int_not_equal(other, 0);
    assert_int_not_equal(own, other);
    assert_true(pawl_os_thread_lives(own));
    assert_false(pawl_os_thread_lives(INT_MAX)); /* no system counts so far */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_never_goes_back),
        cmocka_unit_test(wait_returns_at_once_when_the_value_differs),
        cmocka_unit_test(wait_with_a_deadline_in_the_past_tells_that_it_has_passed),
        cmocka_unit_test(wait_returns_only_after_its_deadline),
        cmocka_unit_test(wake_wakes_one_that_sleeps_on_the_address_and_counts_it),
        cmocka_unit_test(wake_wakes_no_more_than_asked),
        cmocka_unit_test(wake_with_nobody_asleep_wakes_nobody),
        cmocka_unit_test(errno_is_left_alone),
        cmocka_unit_test(every_thread_has_a_number_of_its_own_that_lives_with_it),
    };
    return test_run(argc, argv, tests);
}
