/* SPDX-License-Identifier: MIT */
/*
 * A fork beside a thread that reads a counter, changes it in a slow path, or makes a reference
 * count shared or kills it, at each of its instructions. In the child the value is one that was,
 * and it stays.
 *
 *   1  A thread closes a counter's gate, or begins a new phase, under a latch.
 *   2  Another thread forks. It cannot wait for the latch: handlers of fork may wait for others.
 *   3  In the child nobody opens the gate, or takes the sum of the old phase: a count is lost.
 */
#include "test.h"

#if defined(__linux__) && defined(__x86_64__) && !TEST_SANITIZED && !defined(__SANITIZE_THREAD__)

#include <pawl/bigref.h>
#include <pawl/counter.h>

#include "support/fork_beside.h"

static pawl_counter_exact exact;
static pawl_counter_limit limited;
static pawl_bigref shared;

/* ---- Exact counters -------------------------------------------------------------------------- */

static void adds_and_reads(void)
{
    pawl_counter_exact_add(&exact, 1);
    must(pawl_counter_exact_read(&exact) == 4);
    must(pawl_counter_exact_read(&exact) == 4);
}

static void check_exact(void)
{
    const int64_t found = pawl_counter_exact_read(&exact);
    must(found == 3 || found == 4);
    must(pawl_counter_exact_read(&exact) == found);
    pawl_counter_exact_add(&exact, 5);
    must(pawl_counter_exact_read(&exact) == found + 5);
}

TEST_CASE(a_thread_reads_an_exact_counter)
{
    for (unsigned mode = PAWL_EXACT_FOLD; mode <= PAWL_EXACT_LOCKS; mode++) {
        pawl_counter_exact_init(&exact, (enum pawl_exact_mode)mode);
        pawl_counter_exact_add(&exact, 1);
        must(pawl_counter_exact_read(&exact) == 1);
        pawl_counter_exact_add(&exact, 2);
        fork_beside_each_instruction_of(adds_and_reads, check_exact);
        (void)pawl_counter_exact_destroy(&exact);
    }
}

/* ---- Limit counters -------------------------------------------------------------------------- */

static void counts_up_to_the_limit(void)
{
    must(pawl_counter_limit_try_add(&limited, 1));
    must(pawl_counter_limit_read(&limited) == 101);
    must(pawl_counter_limit_try_add(&limited, 999899));
    must(!pawl_counter_limit_try_add(&limited, 1));
    pawl_counter_limit_sub(&limited, 999900);
}

static void check_limited(void)
{
    const int64_t found = pawl_counter_limit_read(&limited);
    must(found == 100 || found == 101 || found == 1000000);
    must(pawl_counter_limit_read(&limited) == found);
    pawl_counter_limit_sub(&limited, 10);
    must(pawl_counter_limit_try_add(&limited, 9));
    must(pawl_counter_limit_read(&limited) == found - 1);
}

TEST_CASE(a_thread_counts_up_to_a_limit)
{
    pawl_counter_limit_init(&limited, 1000000);
    must(pawl_counter_limit_try_add(&limited, 100));
    fork_beside_each_instruction_of(counts_up_to_the_limit, check_limited);
    must(pawl_counter_limit_destroy(&limited) == 100);
}

/* ---- Reference counts ------------------------------------------------------------------------ */

static void gets_and_drops(void)
{
    pawl_bigref_get(&shared);
    pawl_bigref_drop(&shared);
}

static void check_shared(void)
{
    const int64_t found = pawl_bigref_read(&shared);
    must(found == 2 || found == 3);
    pawl_bigref_get(&shared);
    pawl_bigref_drop(&shared);
    must(pawl_bigref_read(&shared) == found);
}

TEST_CASE(a_second_thread_uses_a_reference_count)
{
    pawl_bigref_init(&shared, NULL, NULL);
    pawl_bigref_get(&shared);
    fork_beside_each_instruction_of(gets_and_drops, check_shared);
    must(pawl_bigref_read(&shared) == 2);
    pawl_bigref_destroy(&shared);
}

static void kills(void)
{
    must(pawl_bigref_kill(&shared));
}

/* The bias is 2^62: where the kill is cut off before its last step, it stays. */
static void check_killed(void)
{
    const int64_t found = pawl_bigref_read(&shared);
    must(found == 2 || found == 1 || found >= INT64_C(1) << 61);
    pawl_bigref_get(&shared);
    pawl_bigref_drop(&shared);
    must(pawl_bigref_read(&shared) == found);
}

TEST_CASE(a_thread_kills_a_reference_count)
{
    pawl_bigref_init(&shared, NULL, NULL);
    pawl_bigref_get(&shared);
    fork_beside_each_instruction_of(kills, check_killed);
    pawl_bigref_destroy(&shared);
}

TEST_MAIN(alarm(TEST_HANGS))

#else

TEST_SKIPPED("needs the trap flag of x86-64, and no sanitizer")

#endif
