/* SPDX-License-Identifier: MIT */
/*
 * No lock operation allocates, nor does reading by RCU or waiting for its readers, nor the
 * registration of a thread; so locks work in the allocator itself, before main, and after it. The
 * allocator of this program counts its calls, and takes and drops a lock in each.
 */
#include "test.h"

#include <pawl/rcu.h>
#include <pawl/spin.h>
#include <pawl/thread.h>

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
static pawl_spin16 in_allocator;
static unsigned calls_under_lock;

C_LINKAGE void *__libc_malloc(size_t size);
C_LINKAGE void *__libc_calloc(size_t count, size_t size);
C_LINKAGE void *__libc_realloc(void *old, size_t size);
C_LINKAGE void __libc_free(void *block);

static void count_call(void)
{
    allocations++;
    pawl_spin16_take_seek(&in_allocator);
    pawl_spin16_seek_to_write(&in_allocator);
    calls_under_lock++;
    pawl_spin16_drop_write(&in_allocator);
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

C_LINKAGE void *realloc(void *old, size_t size) NO_THROW
{
    count_call();
    return __libc_realloc(old, size);
}

C_LINKAGE void free(void *block) NO_THROW
{
    count_call();
    __libc_free(block);
}

/* ---- Before and after main ------------------------------------------------------------------- */

static void read_and_wait(void)
{
    pawl_rcu_domain d;
    pawl_rcu_read_lock();
    must(!pawl_rcu_poll(pawl_rcu_start_poll()));
    pawl_rcu_read_unlock();
    pawl_rcu_synchronize();
    pawl_rcu_qs_online();
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
    pawl_rcu_qs_offline();
    must(pawl_rcu_domain_init(&d, "one of few") == 0);
    pawl_rcu_domain_destroy(&d);
}

static pawl_spin32 around_main;
static bool held_before_main;

__attribute__((constructor(101))) static void before_main(void)
{
    pawl_spin32_take_write(&around_main);
    pawl_spin32_write_to_read(&around_main);
    must(pawl_spin32_try_read_to_seek(&around_main));
    held_before_main = pawl_spin32_is_seek(&around_main);
    pawl_spin32_drop_seek(&around_main);
    must(ipawl_thread_line_() != NULL);
    read_and_wait();
}

__attribute__((destructor(101))) static void after_main(void)
{
    pawl_spin32_take_atomic(&around_main);
    must(pawl_spin32_is_atomic(&around_main));
    must(pawl_spin32_atomic_to_read(&around_main) == PAWL_REGAIN_KEPT);
    pawl_spin32_drop_read(&around_main);
    must(around_main.word == 0);
    read_and_wait();
}

TEST_CASE(locks_work_before_main)
{
    assert_true(held_before_main);
    assert_int_equal(around_main.word, 0);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static pawl_spin16 lock16;
static pawl_spin32 lock32;
static pawl_spin64 lock64;

#define EACH_OPERATION(N)                                                                          \
    do {                                                                                           \
        pawl_spin##N *l = &lock##N;                                                                \
        pawl_spin##N##_take_read(l);                                                               \
        if (pawl_spin##N##_try_read_to_seek(l)) {                                                  \
            pawl_spin##N##_seek_to_write(l);                                                       \
            pawl_spin##N##_write_to_seek(l);                                                       \
            pawl_spin##N##_seek_to_read(l);                                                        \
        }                                                                                          \
        if (pawl_spin##N##_read_claim_atomic(l))                                                   \
            pawl_spin##N##_atomic_to_read(l);                                                      \
        if (pawl_spin##N##_read_claim_write(l))                                                    \
            pawl_spin##N##_write_to_read(l);                                                       \
        pawl_spin##N##_drop_read(l);                                                               \
        pawl_spin##N##_take_atomic(l);                                                             \
        pawl_spin##N##_drop_atomic(l);                                                             \
        pawl_spin##N##_take_seek(l);                                                               \
        pawl_spin##N##_drop_seek(l);                                                               \
        pawl_spin##N##_take_write(l);                                                              \
        pawl_spin##N##_drop_write(l);                                                              \
    } while (0)

static void use_all(void *rounds, unsigned index)
{
    const unsigned before = allocations;
    for (unsigned i = 0; i < *(unsigned *)rounds; i++) {
        EACH_OPERATION(16);
        EACH_OPERATION(32);
        EACH_OPERATION(64);
        read_and_wait();
    }
    must(ipawl_thread_line_() != NULL);
    ipawl_thread_exit_();
    must(ipawl_thread_line_() != NULL);
    must(allocations == before);
}

TEST_CASE(no_operation_allocates_disturbed_or_not)
{
    unsigned rounds = 2000;
    use_all(&rounds, 0);
    test_threads(4, use_all, &rounds);
}

TEST_CASE(the_allocator_of_this_program_counts)
{
    const unsigned before = allocations;
    const unsigned under_lock = calls_under_lock;
    void *volatile block = malloc(100);
    assert_non_null(block);
    free(block);
    assert_int_equal(allocations, before + 2);
    assert_true(calls_under_lock >= under_lock + 2);
}

TEST_MAIN()

#else

TEST_SKIPPED("needs glibc's own allocator, which a sanitizer replaces")

#endif
