/* SPDX-License-Identifier: MIT */
/* Misuse of what sleeps on an address: waits, bit locks, condition variables. */
#include "support/misuse.h"

static uint64_t room[2];

REPORTED_CASE(a_wait_at_null_is_reported, "pawl: wait at null", "by pawl_wait")
{
    (void)pawl_wait32(NULL, 0);
}

REPORTED_CASE(a_wait_at_a_misaligned_address_is_reported, "pawl: wait at a misaligned address",
              "by pawl_wait")
{
    (void)pawl_wait64_until((uint64_t *)(void *)((char *)room + 4), 0, 0);
}

REPORTED_CASE(a_shared_wait_at_a_misaligned_address_is_reported,
              "pawl: wait at a misaligned address", "by pawl_wait32_shared")
{
    (void)pawl_wait32_shared((uint32_t *)(void *)((char *)room + 2), 0);
}

REPORTED_CASE(a_wait_for_nothing_is_reported, "pawl: wait at no, too many or unsound addresses",
              "by pawl_wait_any")
{
    uint32_t which;
    (void)pawl_wait_any((struct pawl_watch *)(void *)room, 0, &which);
}

REPORTED_CASE(the_drop_of_a_free_bit_is_reported, "pawl: drop of what is not held: bit lock",
              "by drop")
{
    pawl_bitlock16_take((uint16_t *)(void *)room, 3);
    pawl_bitlock16_drop((uint16_t *)(void *)room, 4);
}

REPORTED_CASE(a_bit_beyond_the_word_is_reported, "pawl: bit beyond the word: bit lock", "by take")
{
    volatile unsigned bit = 8;
    pawl_bitlock8_take((uint8_t *)(void *)room, bit);
}

REPORTED_CASE(a_misaligned_bit_lock_is_reported, "pawl: misaligned word: bit lock", "by try")
{
    (void)!pawl_bitlock32_try((uint32_t *)(void *)((char *)room + 1), 0);
}

static pawl_cond cond;
static pawl_lock32 locks[2];

static void *wait_with_the_first(void *unused)
{
    pawl_lock32_take_write(&locks[0]);
    pawl_lock32_cond_wait_write(&cond, &locks[0]);
    return unused;
}

REPORTED_CASE(a_condition_used_with_two_locks_at_a_time_is_reported,
              "pawl: wait with another lock than the other waiters: condition variable",
              "by pawl_cond_wait")
{
    (void)test_start(wait_with_the_first, NULL);
    test_await(pawl_load_relaxed32(&cond.waiting) != 0);
    pawl_lock32_take_write(&locks[1]);
    pawl_lock32_cond_wait_write(&cond, &locks[1]);
}

SILENT_CASE(right_use_is_silent)
{
    static uint64_t word;
    pawl_eventcount event = PAWL_EVENTCOUNT_INIT;
    must(pawl_wait64_until(&word, 0, 0) == PAWL_WAIT_EXPIRED);
    must(pawl_wake_all(&word) == 0);
    pawl_bitlock64_take(&word, 63);
    must(!pawl_bitlock64_try(&word, 63));
    pawl_bitlock64_drop(&word, 63);
    pawl_lock32_take_read(&locks[0]);
    must(!pawl_lock32_cond_wait_read_until(&cond, &locks[0], 0));
    pawl_lock32_drop_read(&locks[0]);
    pawl_lock32_take_read_counted(&locks[0]);
    must(!pawl_lock32_cond_wait_read_until(&cond, &locks[0], 0));
    pawl_lock32_drop_read_counted(&locks[0]);
    must(!pawl_eventcount_commit_until(&event, pawl_eventcount_prepare(&event), 0));
}

TEST_MAIN()
