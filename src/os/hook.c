/* SPDX-License-Identifier: MIT */
/* The system of the variants hook and sim: the harness owns the clock, the threads and the
 * sleepers. */
#include "os.h"

#if PAWL_CALLS_OUT_

#include <string.h>

#if PAWL_HOOKS

/* ---- Objects of the process ------------------------------------------------------------------ */

/* Before any execution: plainly. */
static struct pawl_os_shared *os_all_shared;

void pawl_os_add_shared(struct pawl_os_shared *shared)
{
    shared->next = os_all_shared;
    os_all_shared = shared;
}

/* For a harness that needs to know each use of the process-wide objects. */
__attribute__((weak)) void *pawl_hook_shared(void *object)
{
    return object;
}

void ipawl_forget_(void)
{
    for (const struct pawl_os_shared *shared = os_all_shared; shared != NULL; shared = shared->next)
        memset(shared->object, 0, shared->size);
}

/* ---- Threads --------------------------------------------------------------------------------- */

struct pawl_thread_line **pawl_os_thread_slot(void)
{
    return pawl_hook_thread_slot();
}

#endif

/* The default, unless the harness defines it: simulated threads do not end by themselves. */
__attribute__((weak)) bool pawl_hook_watch_threads(uint32_t *key, void (*at_exit)(void *value))
{
    (void)key;
    (void)at_exit;
    return false;
}

__attribute__((weak)) void pawl_hook_watch_this_thread(uint32_t key, void *value)
{
    (void)key;
    (void)value;
}

__attribute__((weak)) void pawl_hook_watch_forks(void (*before)(void), void (*in_parent)(void),
                                                 void (*in_child)(void))
{
    (void)before;
    (void)in_parent;
    (void)in_child;
}

bool pawl_os_watch_threads(uint32_t *key, void (*at_exit)(void *))
{
    return pawl_hook_watch_threads(key, at_exit);
}

bool pawl_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    pawl_hook_watch_forks(before, in_parent, in_child);
    return true;
}

uint32_t pawl_os_process_id(void)
{
    return 1;
}

bool pawl_os_pin(void)
{
    return true;
}

void pawl_os_watch_this_thread(uint32_t key, void *value)
{
    pawl_hook_watch_this_thread(key, value);
}

uint64_t pawl_os_now(void)
{
    return pawl_hook_now();
}

void pawl_os_yield(void)
{
    pawl_hook_yield();
}

uint32_t pawl_os_thread_id(void)
{
    return pawl_hook_thread_id();
}

bool pawl_os_thread_lives(uint32_t id)
{
    (void)id;
    return true; /* a simulated thread gives its line back when it ends (ipawl_thread_exit_) */
}

bool pawl_os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    return pawl_hook_wait(address, expected, deadline);
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    return pawl_hook_wake(address, count);
}

/* A harness that distinguishes classes defines these two. For other harnesses all sleepers are
 * alike, and a wake of one class is a wake of all. */
__attribute__((weak)) bool pawl_hook_wait_classes(const uint32_t *address, uint32_t expected,
                                                  uint32_t classes, uint64_t deadline)
{
    (void)classes;
    return pawl_hook_wait(address, expected, deadline);
}

__attribute__((weak)) unsigned pawl_hook_wake_classes(const uint32_t *address, uint32_t classes,
                                                      unsigned count)
{
    (void)classes;
    (void)count;
    return pawl_hook_wake(address, UINT32_MAX);
}

bool pawl_os_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                          uint64_t deadline)
{
    return pawl_hook_wait_classes(address, expected, classes, deadline);
}

unsigned pawl_os_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    return pawl_hook_wake_classes(address, classes, count);
}

/* The default, unless the harness can run the body on a simulated thread: there are no threads. */
__attribute__((weak)) bool pawl_hook_start_thread(void (*body)(void *argument), void *argument)
{
    (void)body;
    (void)argument;
    return false;
}

bool pawl_os_start_thread(struct pawl_own_thread *thread)
{
    return pawl_hook_start_thread(thread->body, thread->argument);
}

__attribute__((weak)) uint64_t pawl_hook_rest(void)
{
    return 0;
}

bool pawl_os_one_cpu(void)
{
    return false;
}

/* A harness cannot move its sleepers. */
unsigned pawl_os_requeue(const uint32_t *from, const uint32_t *to, unsigned wake, unsigned move)
{
    (void)to;
    return pawl_hook_wake(from, wake + move < wake ? UINT32_MAX : wake + move);
}

/* The default, unless the harness supplies memory: an execution has only the process object. */
__attribute__((weak)) void *pawl_hook_pages(size_t size)
{
    (void)size;
    return NULL;
}

void *pawl_os_pages(size_t size)
{
    return pawl_hook_pages(size);
}

#ifdef PAWL_SIM
void pawl_os_give_up_pages(void *pages, size_t size)
{
    (void)pages; /* the simulated memory has no other use for them */
    (void)size;
}
#endif

bool pawl_os_return_pages(void *pages, size_t size)
{
    (void)pages;
    (void)size;
    return false;
}

__attribute__((weak)) void pawl_hook_plain(const void *address, const char *what, bool writes)
{
    (void)address;
    (void)what;
    (void)writes;
}

#endif
