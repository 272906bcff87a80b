/* SPDX-License-Identifier: MIT */
/*
 * Threads whose end the library does not see, while the driver of a grace period sleeps for them.
 *
 * The interleaving, in each test. A reader is in. The driver looks whether it still exists, asks it
 * for a wake, and sleeps. Then the reader ends without leaving: nobody wakes the driver, and it had
 * looked for the dead only before it slept.
 */
#include "test.h"

#include <pawl/rcu.h>

#include "base/base.h"
#include "rcu/rcu.h"
#include "support/extra_lines.h"
#include "support/lines.h"

#include <sys/syscall.h>

/* Keys that glibc keeps in the thread itself; the library arms no key beyond them. */
#define KEYS_BEFORE_OURS 32

/* After the library's first constructors and before the one that makes its key. */
__attribute__((constructor(200))) static void take_the_early_keys(void)
{
    for (unsigned i = 0; i < KEYS_BEFORE_OURS; i++) {
        pthread_key_t key;
        must(pthread_key_create(&key, NULL) == 0);
    }
}

static bool driver_waits_for(const struct pawl_rcu_line *line, uint32_t index)
{
    return (pawl_load_relaxed32(&line->waited) & UINT32_C(1) << index) != 0;
}

/* The driver sets the bit after it has looked for the dead. */
static void until_the_driver_waits(uint32_t index)
{
    const struct pawl_rcu_line *line = line_of_caller();
    test_await(driver_waits_for(line, index));
}

static void *end_online(void *is_in)
{
    pawl_rcu_qs_online();
    pthread_barrier_wait((pthread_barrier_t *)is_in);
    until_the_driver_waits(PAWL_RCU_QS_);
    return NULL;
}

static void *vanish_in_a_section(void *is_in)
{
    pawl_rcu_read_lock();
    pthread_barrier_wait((pthread_barrier_t *)is_in);
    until_the_driver_waits(PAWL_RCU_DEFAULT_);
    syscall(SYS_exit, 0);
    return NULL;
}

static void *synchronize_beside(pawl_rcu_domain *d, void *(*reader)(void *))
{
    pthread_barrier_t is_in;
    must(pthread_barrier_init(&is_in, NULL, 2) == 0);
    const pthread_t thread = test_start(reader, &is_in);
    pthread_barrier_wait(&is_in);
    pawl_rcu_domain_synchronize(d);
    test_join(thread);
    must(pthread_barrier_destroy(&is_in) == 0);
    return NULL;
}

static void *synchronize_beside_online(void *unused)
{
    return synchronize_beside(pawl_rcu_qs(), end_online);
}

/* Both at once: each takes a second. */
static void synchronize_beside_both(void)
{
    const pthread_t other = test_start(synchronize_beside_online, NULL);
    if (!TEST_SANITIZED && !PAWL_TSAN_) /* which see every end */
        (void)synchronize_beside(pawl_rcu_default(), vanish_in_a_section);
    test_join(other);
}

TEST_CASE(a_thread_that_ends_unseen_holds_no_grace_period_up)
{
    assert_true(process_here()->exit_key >= KEYS_BEFORE_OURS);
    synchronize_beside_both();
}

/* Such a thread was only counted, and nobody knew whom to look for. */
TEST_CASE(nor_does_one_to_which_the_registry_had_no_line_to_give)
{
    lines_park_all();
    synchronize_beside_both();
    lines_free_all();
}

TEST_MAIN()
