/* SPDX-License-Identifier: MIT */
/*
 * Waiting and waking in every schedule of two or three threads with a few preemptions: between the
 * look at the word and the sleep, between the pick and the wake, while giving up.
 */
#include "explorer/explorer.h"

#include <pawl/bitlock.h>
#include <pawl/cond.h>

#include "lock/table.h"

static uint64_t word, other __attribute__((aligned(8)));
static unsigned woken, expired, reported;

static void begin(void)
{
    sched_new_threads();
    memset(table_here(), 0, sizeof *table_here());
    word = other = 1;
    woken = expired = reported = 0;
}

/* Whatever happened, nobody may be left in a queue or a count. */
static void end(void)
{
    const struct pawl_lists *table = table_here();
    must(table->queues == 0);
    for (unsigned i = 0; i < 1 << PAWL_TABLE_BITS; i++) {
        must(table->first[i].queues == NULL && table->first[i].latch == 0);
        must(table->first[i].latch_oldest == NULL && table->first[i].urgent == 0);
        must(table->first[i].sleepers == 0);
    }
}

static void print_count(unsigned executions)
{
    print_message("%u schedules\n", executions);
    assert_true(executions > 10);
}

/* ---- One changes, others wait ---------------------------------------------------------------- */

static void wait32(void *unused)
{
    while (pawl_load_relaxed32((uint32_t *)(void *)&word) == 1)
        (void)pawl_wait32((uint32_t *)(void *)&word, 1);
}

static void wait16(void *unused)
{
    while (pawl_load_relaxed16((uint16_t *)(void *)&word) == 1)
        (void)pawl_wait16((uint16_t *)(void *)&word, 1);
}

static void wait64(void *unused)
{
    while (pawl_load_relaxed64(&word) == 1)
        (void)pawl_wait64(&word, 1);
}

static void change_and_wake_one(void *unused)
{
    pawl_store_relaxed64(&word, 0);
    (void)pawl_wake_one(&word);
}

static void change_and_wake_all(void *unused)
{
    pawl_store_relaxed64(&word, 0);
    (void)pawl_wake_all(&word);
}

TEST_CASE(no_wake_is_lost_whatever_the_width)
{
    static void (*const waits[])(void *) = {wait16, wait32, wait64};
    for (unsigned i = 0; i < 3; i++) {
        void (*const bodies[])(void *) = {waits[i], change_and_wake_one};
        print_count(explore(begin, bodies, 2, end, 4));
    }
}

TEST_CASE(wake_all_wakes_waiters_of_several_widths)
{
    void (*const bodies[])(void *) = {wait16, wait32, change_and_wake_all};
    void (*const listed[])(void *) = {wait16, wait64, change_and_wake_all};
    print_count(explore(begin, bodies, 3, end, 2));
    print_count(explore(begin, listed, 3, end, 2));
}

TEST_CASE(a_wake_of_nobody_asks_nothing_of_the_system)
{
    begin();
    sched.system_wakes = 0;
    assert_int_equal(pawl_wake_all(&word), 0);
    pawl_bitlock64_take(&other, 5);
    pawl_bitlock64_drop(&other, 5);
    assert_int_equal(sched.system_wakes, 0);
    end();
}

/* ---- Deadlines ------------------------------------------------------------------------------- */

static void wait64_or_give_up(void *unused)
{
    const enum pawl_waited how = pawl_wait64_until(&word, 1, 1000000);
    woken += how == PAWL_WAIT_WOKEN;
    expired += how == PAWL_WAIT_EXPIRED;
}

static void wake_one_and_count(void *unused)
{
    reported += pawl_wake_one(&word);
}

/* Who was picked says so, and nobody else does. */
static void end_counting(void)
{
    end();
    must(woken == reported && woken + expired == sched.count - 1);
}

TEST_CASE(giving_up_uses_up_no_wake)
{
    void (*const bodies[])(void *) = {wake_one_and_count, wait64_or_give_up, wait64_or_give_up};
    print_count(explore_with_deadlines(begin, bodies, 2, end_counting, 4));
    print_count(explore_with_deadlines(begin, bodies, 3, end_counting, 2));
}

/* ---- Requeue --------------------------------------------------------------------------------- */

static void move_and_wake(void *unused)
{
    (void)pawl_requeue(&word, &other, 0, 1);
    reported = pawl_wake_all(&word) + pawl_wake_all(&other);
}

static void end_moved(void)
{
    end();
    must(woken == reported && woken + expired == 1);
}

TEST_CASE(a_moved_waiter_is_found_at_its_new_address_and_may_give_up_there)
{
    void (*const bodies[])(void *) = {wait64_or_give_up, move_and_wake};
    print_count(explore_with_deadlines(begin, bodies, 2, end_moved, 4));
}

/* ---- Any of several -------------------------------------------------------------------------- */

static void wait_for_both(void *unused)
{
    const struct pawl_watch watches[2] = {{&word, 1, UINT64_MAX, 64}, {&other, 1, UINT64_MAX, 64}};
    uint32_t which;
    (void)pawl_wait_any(watches, 2, &which);
}

static void wait_for_the_other(void *unused)
{
    while (pawl_load_relaxed64(&other) == 1)
        (void)pawl_wait64(&other, 1);
}

static void wake_both(void *unused)
{
    pawl_store_relaxed64(&word, 0);
    (void)pawl_wake_one(&word);
    pawl_store_relaxed64(&other, 0);
    (void)pawl_wake_one(&other);
}

TEST_CASE(a_wake_too_many_is_handed_on)
{
    void (*const bodies[])(void *) = {wait_for_both, wait_for_the_other, wake_both};
    print_count(explore(begin, bodies, 3, end, 2));
}

/* ---- What is built on it --------------------------------------------------------------------- */

static unsigned inside;

static void take_and_drop_a_bit(void *unused)
{
    pawl_bitlock64_take(&other, 5);
    must(inside++ == 0);
    must(pawl_load_relaxed64(&other) == (1 | 1u << 5)); /* here another may come */
    inside--;
    pawl_bitlock64_drop(&other, 5);
}

TEST_CASE(a_bit_lock_excludes_and_forgets_nobody)
{
    void (*const bodies[])(void *) = {take_and_drop_a_bit, take_and_drop_a_bit,
                                      take_and_drop_a_bit};
    inside = 0;
    print_count(explore(begin, bodies, 3, end, 2));
}

static pawl_cond cond;
static uint8_t mutex;

static void take_mutex(void *m)
{
    pawl_bitlock8_take((uint8_t *)m, 0);
}

static void drop_mutex(void *m)
{
    pawl_bitlock8_drop((uint8_t *)m, 0);
}

static const struct pawl_cond_lock mutex_lock = {&mutex, drop_mutex, take_mutex, false};

static void wait_for_a_condition(void *unused)
{
    take_mutex(&mutex);
    while (other == 1)
        pawl_cond_wait_with(&cond, &mutex_lock);
    drop_mutex(&mutex);
}

static void broadcast(void *unused)
{
    take_mutex(&mutex);
    other = 0;
    drop_mutex(&mutex);
    (void)pawl_cond_broadcast(&cond);
}

static void begin_cond(void)
{
    begin();
    memset(&cond, 0, sizeof cond);
    mutex = 0;
}

static void end_cond(void)
{
    end();
    must(cond.waiting == 0 && mutex == 0);
}

TEST_CASE(a_broadcast_reaches_all_who_wait_for_the_condition)
{
    void (*const bodies[])(void *) = {wait_for_a_condition, wait_for_a_condition, broadcast};
    print_count(explore(begin_cond, bodies, 3, end_cond, 2));
}

static void wait_for_a_signal_or_give_up(void *unused)
{
    take_mutex(&mutex);
    if (pawl_cond_wait_with_until(&cond, &mutex_lock, 1000000))
        woken++;
    else
        expired++;
    drop_mutex(&mutex);
}

static void signal_and_count(void *unused)
{
    reported += pawl_cond_signal(&cond);
}

static void end_signals(void)
{
    end_cond();
    must(woken == reported && woken + expired == sched.count - 1);
}

TEST_CASE(giving_up_uses_up_no_signal)
{
    void (*const bodies[])(void *) = {signal_and_count, wait_for_a_signal_or_give_up,
                                      wait_for_a_signal_or_give_up};
    print_count(explore_with_deadlines(begin_cond, bodies, 2, end_signals, 3));
    print_count(explore_with_deadlines(begin_cond, bodies, 3, end_signals, 1));
}

static void broadcast_and_count(void *unused)
{
    reported += pawl_cond_broadcast(&cond);
}

/* Those whose time runs out while they stand in the chain wait for their turn. */
TEST_CASE(giving_up_breaks_no_chain)
{
    void (*const bodies[])(void *) = {wait_for_a_signal_or_give_up, wait_for_a_signal_or_give_up,
                                      broadcast_and_count};
    print_count(explore_with_deadlines(begin_cond, bodies, 3, end_signals, TEST_SANITIZED ? 1 : 2));
}

static pawl_eventcount event;

static void wait_for_an_event(void *unused)
{
    uint32_t key;
    for (;;) {
        key = pawl_eventcount_prepare(&event);
        if (pawl_load_relaxed64(&other) == 0)
            break;
        pawl_eventcount_commit(&event, key);
    }
    pawl_eventcount_cancel(&event);
}

static void notify(void *unused)
{
    pawl_store_relaxed64(&other, 0);
    pawl_eventcount_notify_all(&event);
}

static void begin_event(void)
{
    begin();
    memset(&event, 0, sizeof event);
}

TEST_CASE(a_notification_reaches_all_who_have_not_seen_the_change)
{
    void (*const one[])(void *) = {wait_for_an_event, notify};
    void (*const two[])(void *) = {wait_for_an_event, wait_for_an_event, notify};
    print_count(explore(begin_event, one, 2, end, 4));
    print_count(explore(begin_event, two, 3, end, 2));
}

int main(int argc, char **argv)
{
    if (PAWL_TSAN_) {
        printf("ThreadSanitizer cannot follow coroutines: skipped\n");
        return 0;
    }
    return test_main(argc, argv);
}
