/* SPDX-License-Identifier: MIT */
/* The hook variant's system: the harness that owns the clock, the threads and the sleepers. */
#include "os.h"

#if PAWL_HOOKS

struct pawl_process *pawl_os_process(void)
{
    return pawl_hook_process();
}

struct pawl_thread_line **pawl_os_thread_slot(void)
{
    return pawl_hook_thread_slot();
}

bool pawl_os_watch_threads(uint32_t *key, void (*at_exit)(void *), void (*after_fork)(void))
{
    (void)key;
    (void)at_exit;
    (void)after_fork;
    return false; /* simulated threads do not end by themselves */
}

void pawl_os_watch_this_thread(uint32_t key, void *value)
{
    (void)key;
    (void)value;
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
    return true; /* a simulated thread gives its line back when it ends (pawl_thread_exit_) */
}

bool pawl_os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    return pawl_hook_wait(address, expected, deadline);
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    return pawl_hook_wake(address, count);
}

#endif
