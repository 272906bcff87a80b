/* SPDX-License-Identifier: MIT */
/* Functions that run around every fork. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if !PAWL_CALLS_OUT_

#if defined(_WIN32) || defined(__wasm__)

bool pawl_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before, (void)in_parent, (void)in_child; /* no fork */
    return true;
}

uint32_t pawl_os_process_id(void)
{
    return 1;
}

#else

#include <pthread.h>
#include <unistd.h>

bool pawl_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) == 0;
}

uint32_t pawl_os_process_id(void)
{
    return (uint32_t)getpid();
}

#endif

#endif
