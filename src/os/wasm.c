/* SPDX-License-Identifier: MIT */
/*
 * WebAssembly with shared memory: a thread is an instance of the module in a worker, and sleeps by
 * memory.atomic.wait32. The machine tells nothing of threads: a line (thread.h) stays when its
 * thread ends, and the library has no threads of its own. A C library for WASI gives the clock.
 */
#include "os.h"

#if !PAWL_HOOKS && defined(__wasm__)

#include <errno.h>
#include <sched.h>
#include <time.h>

#ifndef __wasm_atomics__
#error "Pawl needs WebAssembly's threads: -matomics -mbulk-memory, and a shared memory."
#endif
#if PAWL_CHECKED
#error "The checking variant has no names of calls to report on WebAssembly."
#endif

#define NS_PER_S 1000000000u
#define WASM_PAGE 65536u
enum { WASM_TIMED_OUT = 2 };

/* A copy of the library is in the module, which stays. */
bool pawl_os_pin(void)
{
    return true;
}

/* The machine does not say when a thread ends. */
bool pawl_os_watch_threads(uint32_t *key, void (*at_exit)(void *))
{
    (void)key, (void)at_exit;
    return false;
}

void pawl_os_watch_this_thread(uint32_t key, void *value)
{
    (void)key, (void)value;
}

bool pawl_os_start_thread(struct pawl_own_thread *thread)
{
    (void)thread;
    return false;
}

/* ---- Time, threads, memory ------------------------------------------------------------------- */

uint64_t pawl_os_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void pawl_os_yield(void)
{
    const int saved = errno;
    sched_yield();
    errno = saved;
}

/* The threads count themselves. */
uint32_t pawl_os_thread_id(void)
{
    static uint32_t threads;
    static _Thread_local uint32_t own;
    if (PAWL_UNLIKELY(own == 0))
        own = pawl_fetch_add_relaxed32(&threads, 1) + 1;
    return own;
}

/* In doubt it lives: a line that is never taken back costs less than a line with two owners. */
bool pawl_os_thread_lives(uint32_t id)
{
    (void)id;
    return true;
}

bool pawl_os_one_cpu(void)
{
    return false; /* not known */
}

/* The memory only grows, and what is new is zero. */
void *pawl_os_pages(size_t size)
{
    const size_t pages = (size + WASM_PAGE - 1) / WASM_PAGE;
    const size_t before = __builtin_wasm_memory_grow(0, pages);
    return before == SIZE_MAX ? NULL : (void *)(before * WASM_PAGE);
}

void pawl_os_give_up_pages(void *pages, size_t size)
{
    (void)pages, (void)size; /* lost, once for each object at most */
}

bool pawl_os_return_pages(void *pages, size_t size)
{
    (void)pages, (void)size;
    return false;
}

/* ---- Sleeping -------------------------------------------------------------------------------- */

bool pawl_os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    int *const word = (int *)(uintptr_t)address;
    const uint64_t now = deadline == PAWL_NO_DEADLINE ? 0 : pawl_os_now();
    const uint64_t ns = deadline - now;
    if (deadline == PAWL_NO_DEADLINE)
        return __builtin_wasm_memory_atomic_wait32(word, (int)expected, -1) != WASM_TIMED_OUT;
    if (now >= deadline)
        return pawl_load_relaxed32(address) != expected;
    (void)__builtin_wasm_memory_atomic_wait32(word, (int)expected,
                                              ns > INT64_MAX ? INT64_MAX : (int64_t)ns);
    return pawl_os_now() < deadline;
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    return __builtin_wasm_memory_atomic_notify((int *)(uintptr_t)address, count);
}

/* The threads that share the memory are the only ones there are; they have no classes. */
bool pawl_os_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                          uint64_t deadline)
{
    (void)classes;
    return pawl_os_wait(address, expected, deadline);
}

unsigned pawl_os_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    return pawl_os_wake(address, classes == UINT32_MAX ? count : UINT32_MAX);
}

/* No instruction moves sleepers. */
unsigned pawl_os_requeue(const uint32_t *from, const uint32_t *to, unsigned wake, unsigned move)
{
    (void)to;
    return pawl_os_wake(from, wake > UINT32_MAX - move ? UINT32_MAX : wake + move);
}

#endif
