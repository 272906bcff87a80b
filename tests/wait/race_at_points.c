/* SPDX-License-Identifier: MIT */
/*
 * The races between a waiter and a waker, with the one or the other held up at a named point of the
 * library (src/os/point.h). A wake that gets lost there hangs the test. Run once for each way to
 * sleep; the same for the hook variant, step by step, is wait/race.c.
 */
#include "test.h"

#include <pawl/bitlock.h>
#include <pawl/wait.h>

#include <semaphore.h>

#include "os/point.h"

static uint64_t word __attribute__((aligned(8)));
static unsigned width;
static const unsigned widths[] = {8, 16, 32, 64};

static const char *held_at; /* the point at which the next thread that passes is held up */
static sem_t arrived, go_on;

static void hold_up(const char *name)
{
    const char *here = __atomic_load_n(&held_at, __ATOMIC_ACQUIRE);
    if (here == NULL || strcmp(name, here) != 0)
        return;
    __atomic_store_n(&held_at, NULL, __ATOMIC_RELEASE);
    must(sem_post(&arrived) == 0);
    while (sem_wait(&go_on) != 0)
        must(errno == EINTR);
    usleep(1000); /* whoever runs into us now does it in this time, or has nothing to do with us */
}

static void begin(const char *point)
{
    word = 1;
    must(sem_init(&arrived, 0, 0) == 0 && sem_init(&go_on, 0, 0) == 0);
    ipawl_test_point_ = hold_up;
    __atomic_store_n(&held_at, point, __ATOMIC_RELEASE);
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        must(errno == EINTR);
}

static enum pawl_waited wait_once(uint64_t deadline)
{
    switch (width) {
    case 8: return pawl_wait8_until((uint8_t *)(void *)&word, 1, deadline);
    case 16: return pawl_wait16_until((uint16_t *)(void *)&word, 1, deadline);
    case 32: return pawl_wait32_until((uint32_t *)(void *)&word, 1, deadline);
    default: return pawl_wait64_until(&word, 1, deadline);
    }
}

static void *wait_for_a_change(void *unused)
{
    while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 1)
        (void)wait_once(PAWL_WAIT_FOREVER);
    return unused;
}

static void change_while_the_waiter_is_held_at(const char *point)
{
    begin(point);
    const pthread_t waiter = test_start(wait_for_a_change, NULL);
    wait_for(&arrived);
    __atomic_store_n(&word, 0, __ATOMIC_RELAXED);
    must(sem_post(&go_on) == 0); /* before the wake: the waiter may hold what the wake needs */
    (void)pawl_wake_one(&word);
    test_join(waiter);
}

TEST_CASE(a_wake_between_the_last_look_and_the_sleep_is_not_lost)
{
    for (unsigned i = 0; i < 4; i++) {
        width = widths[i];
        change_while_the_waiter_is_held_at("looked");
    }
}

TEST_CASE(a_wake_between_the_list_and_the_sleep_is_not_lost)
{
    for (unsigned i = 0; i < 4; i++) {
        width = widths[i];
        if (width != 32) /* else it sleeps in the kernel */
            change_while_the_waiter_is_held_at("listed");
    }
}

/* ---- A sleeper gives up while it is being picked --------------------------------------------- */

static enum pawl_waited how;
static bool returned;

static void *give_up_soon(void *unused)
{
    how = wait_once(pawl_now() + 2000000);
    __atomic_store_n(&returned, true, __ATOMIC_RELEASE);
    return unused;
}

static void *wake_it(void *unused)
{
    test_await(pawl_wake_one(&word) != 0);
    return unused;
}

TEST_CASE(who_was_picked_when_its_time_ran_out_is_woken_and_stays_for_its_waker)
{
    pthread_t sleeper, waker;
    unsigned picked = 0;
    width = 64;
    while (picked < 3) {
        begin("picked");
        returned = false;
        sleeper = test_start(give_up_soon, NULL);
        waker = test_start(wake_it, NULL);
        while (sem_trywait(&arrived) != 0 && !__atomic_load_n(&returned, __ATOMIC_ACQUIRE))
            sched_yield();
        if (__atomic_load_n(&held_at, __ATOMIC_ACQUIRE) == NULL) {
            usleep(5000); /* its time has run out; the waker still has it in its hands */
            assert_false(__atomic_load_n(&returned, __ATOMIC_ACQUIRE));
            must(sem_post(&go_on) == 0);
            test_join(waker);
            test_join(sleeper);
            assert_int_equal(how, PAWL_WAIT_WOKEN);
            picked++;
        } else { /* it was too slow to be picked; let the waker find somebody */
            __atomic_store_n(&held_at, NULL, __ATOMIC_RELEASE);
            test_join(sleeper);
            assert_int_equal(how, PAWL_WAIT_EXPIRED);
            sleeper = test_start(wait_for_a_change, NULL);
            test_join(waker);
            __atomic_store_n(&word, 0, __ATOMIC_RELAXED);
            (void)pawl_wake_one(&word);
            test_join(sleeper);
        }
    }
}

/* ---- A crowd at one bit ---------------------------------------------------------------------- */

enum { CROWD = 4, DROPS = 5 };

static uint32_t flags;
static unsigned inside, listed, picks;

static void count_and_hold_up(const char *name)
{
    if (strcmp(name, "listed") == 0)
        __atomic_fetch_add(&listed, 1, __ATOMIC_RELAXED);
    if (strcmp(name, "picked") == 0)
        __atomic_fetch_add(&picks, 1, __ATOMIC_RELAXED);
    hold_up(name);
}

static void *pass_through(void *unused)
{
    pawl_bitlock32_take(&flags, 7);
    inside++;
    pawl_bitlock32_drop(&flags, 7);
    return unused;
}

/* The thread that the first drop wakes is held up before it runs. Each further drop woke one more,
 * so a crowd was awake before long, and each of it found the bit taken. */
TEST_CASE(drops_wake_nobody_else_while_a_woken_waiter_has_not_run)
{
    pthread_t crowd[CROWD];
    unsigned i;
    begin("woken");
    ipawl_test_point_ = count_and_hold_up;
    pawl_bitlock32_take(&flags, 7);
    test_start_all(crowd, CROWD, pass_through);
    test_await(__atomic_load_n(&listed, __ATOMIC_RELAXED) >= CROWD);
    pawl_bitlock32_drop(&flags, 7);
    wait_for(&arrived);
    for (i = 0; i < DROPS; i++) {
        pawl_bitlock32_take(&flags, 7);
        pawl_bitlock32_drop(&flags, 7);
    }
#if UINTPTR_MAX > UINT32_MAX /* an address of 32 bits leaves no room for the mark */
    assert_int_equal(__atomic_load_n(&picks, __ATOMIC_RELAXED), 1);
#endif
    must(sem_post(&go_on) == 0);
    test_join_all(crowd, CROWD);
    assert_int_equal(inside, CROWD);
}

TEST_MAIN()
