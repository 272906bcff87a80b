/* SPDX-License-Identifier: MIT */
/* Functions that run around every fork. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if !PAWL_CALLS_OUT_

#ifdef _WIN32

bool pawl_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before, (void)in_parent, (void)in_child; /* no fork */
    return true;
}

#else

#include <pthread.h>

bool pawl_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) == 0;
}

#endif

#endif
