/* SPDX-License-Identifier: MIT */
/* Calls do not allocate, but for the first of a domain, which starts the worker; and an allocator
 * may free by RCU: its own calls come back in the middle of that. */
#include "test.h"

#include <pawl/rcu_call.h>

#if defined(__GLIBC__) && !TEST_SANITIZED && !PAWL_TSAN_

#ifdef __cplusplus
#define C_LINKAGE extern "C"
#define NO_THROW noexcept
#define PER_THREAD static thread_local
#else
#define C_LINKAGE extern
#define NO_THROW
#define PER_THREAD static _Thread_local
#endif

PER_THREAD unsigned allocations;
static uint32_t runs;
static uint32_t allocator_calls; /* 1: the allocator uses RCU itself */

C_LINKAGE void *__libc_malloc(size_t size);
C_LINKAGE void *__libc_calloc(size_t count, size_t size);

static void run(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&runs, 1);
}

static void count_call(void)
{
    static pawl_rcu_head heads[1000];
    static uint32_t used;
    allocations++;
    if (pawl_load_relaxed32(&allocator_calls) == 0)
        return;
    uint32_t number = pawl_fetch_add_relaxed32(&used, 1);
    if (number < 1000)
        must(pawl_rcu_call(&heads[number], run, 1) == 0);
}

C_LINKAGE void *malloc(size_t size) NO_THROW
{
    count_call();
    return __libc_malloc(size);
}

C_LINKAGE void *calloc(size_t count, size_t size) NO_THROW
{
    count_call();
    return __libc_calloc(count, size);
}

TEST_CASE(the_first_call_may_come_from_the_allocator)
{
    pawl_rcu_statistics statistics;
    void *volatile block;
    pawl_store_relaxed32(&allocator_calls, 1);
    block = malloc(100); /* starts the worker, which allocates, which calls */
    free(block);
    block = malloc(100);
    free(block);
    assert_int_equal(pawl_rcu_barrier(), 0);
    pawl_store_relaxed32(&allocator_calls, 0);
    pawl_rcu_domain_statistics(pawl_rcu_default(), &statistics);
    assert_true(statistics.worker);
    assert_true(pawl_load_relaxed32(&runs) >= 2);
    assert_int_equal(statistics.queued, 0);
}

static void call_and_wait(void *nothing, unsigned index)
{
    static pawl_rcu_head heads[4][1000];
    const unsigned before = allocations;
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned i = 0; i < 1000; i++)
            must(pawl_rcu_call(&heads[index][i], run, 100) == 0);
        must(pawl_rcu_barrier() == 0);
    }
    must(allocations == before);
}

TEST_CASE(later_calls_do_not_allocate_at_the_limit_or_below)
{
    pawl_rcu_domain *d = pawl_rcu_default();
    pawl_store_relaxed32(&runs, 0);
    test_threads(4, call_and_wait, NULL);
    must(pawl_rcu_domain_limit(d, 100, PAWL_RCU_NO_LIMIT, PAWL_RCU_HELP) == 0);
    test_threads(4, call_and_wait, NULL);
    must(pawl_rcu_domain_limit(d, 100, PAWL_RCU_NO_LIMIT, PAWL_RCU_WAIT) == 0);
    test_threads(4, call_and_wait, NULL);
    assert_int_equal(pawl_load_relaxed32(&runs), 120000);
}

TEST_MAIN()

#else

TEST_SKIPPED("needs glibc's own allocator, which a sanitizer replaces")

#endif
