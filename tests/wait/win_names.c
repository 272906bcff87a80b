/* SPDX-License-Identifier: MIT */
/* The names of Windows: a program written against them sleeps, is woken, and is told why not. For
 * ports/windows_modules.c, which includes this file, the names are those of a DLL. */
#include "test.h"

#ifndef NAMES_OF_DLL
#include <pawl/compat/win_names.h>
#endif

#include <pthread.h>

static uint32_t word32;
static uint8_t word8[8];
static int woken;

static int said(void)
{
#ifdef _WIN32
    return (int)GetLastError();
#else
    return errno;
#endif
}

#ifdef _WIN32
enum { TIMEOUT = ERROR_TIMEOUT, INVALID = ERROR_INVALID_PARAMETER };
#else
enum { TIMEOUT = ETIMEDOUT, INVALID = EINVAL };
#endif

TEST_CASE(a_word_that_differs_is_not_waited_for)
{
    uint64_t eight = 1, other = 2;
    uint16_t two = 3, zero = 0;
    assert_true(WaitOnAddress(&eight, &other, 8, INFINITE));
    assert_true(WaitOnAddress(&two, &zero, 2, INFINITE));
}

TEST_CASE(the_end_of_the_time_is_told)
{
    uint32_t same = 0;
    assert_false(WaitOnAddress(&word32, &same, 4, 1));
    assert_int_equal(said(), TIMEOUT);
    assert_false(WaitOnAddress(&word8[3], &same, 1, 0));
    assert_int_equal(said(), TIMEOUT);
}

TEST_CASE(another_size_or_address_is_refused)
{
    uint64_t same = 0;
    assert_false(WaitOnAddress(&word32, &same, 3, INFINITE));
    assert_int_equal(said(), INVALID);
    assert_false(WaitOnAddress(&word8[1], &same, 2, INFINITE));
    assert_int_equal(said(), INVALID);
}

/* The source's lock: taken by exchange, and a wait while it is taken. */
static void *acquire(void *arg)
{
    uint32_t taken = 1;
    while (__atomic_exchange_n(&word32, 1, __ATOMIC_ACQUIRE) != 0)
        WaitOnAddress(&word32, &taken, sizeof word32, INFINITE);
    woken++;
    __atomic_store_n(&word32, 0, __ATOMIC_RELEASE);
    WakeByAddressSingle(&word32);
    return NULL;
}

TEST_CASE(waiters_are_woken_one_after_the_other)
{
    pthread_t threads[3];
    __atomic_store_n(&word32, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, acquire, NULL), 0);
    __atomic_store_n(&word32, 0, __ATOMIC_RELEASE);
    WakeByAddressAll(&word32);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(woken, 3);
}

/* Waiters of each width: each takes one of the coins in its byte. */
static uint64_t purses[4];

static void take_a_coin(void *unused, unsigned index)
{
    const size_t size = (size_t)1 << index % 4;
    uint8_t *const purse = (uint8_t *)&purses[index % 4];
    uint64_t empty = 0;
    uint8_t coins;
    for (;;) {
        coins = __atomic_load_n(purse, __ATOMIC_RELAXED);
        if (coins == 0)
            must(WaitOnAddress(purse, &empty, size, INFINITE));
        else if (__atomic_compare_exchange_n(purse, &coins, (uint8_t)(coins - 1), false,
                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
    }
}

static void *give_each_a_coin(void *unused)
{
    int i;
    for (i = 0; i < 8; i++) {
        (void)__atomic_fetch_add((uint8_t *)&purses[i % 4], 1, __ATOMIC_RELAXED);
        WakeByAddressSingle(&purses[i % 4]);
    }
    return unused;
}

TEST_CASE(a_wake_of_one_is_enough_for_one_waiter_of_any_width)
{
    int round;
    for (round = 0; round < TEST_SCALE(100); round++) {
        const pthread_t giver = test_start(give_each_a_coin, NULL);
        test_threads(8, take_a_coin, NULL);
        test_join(giver);
    }
}

TEST_MAIN()
