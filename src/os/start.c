/* SPDX-License-Identifier: MIT */
/*
 * Threads of the library's own. No thread joins them, and no signal handler of the program runs on
 * them. The exception is signals that a thread raises itself, which debuggers and sanitizers need.
 * The start of a thread allocates.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if !PAWL_HOOKS

#ifdef _WIN32

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#include <process.h>
#undef TEXT /* a name in other files of the library */

static unsigned __stdcall os_run(void *opaque)
{
    const struct pawl_own_thread *thread = (const struct pawl_own_thread *)opaque;
    thread->body(thread->argument);
    return 0;
}

/* A module that has a thread must stay loaded: one more reference, for ever. */
static bool os_pin_module(void)
{
    static char anchor;
    MEMORY_BASIC_INFORMATION region;
    char path[1024];
    DWORD length;
    if (VirtualQuery(&anchor, &region, sizeof region) == 0)
        return false;
    if ((HMODULE)region.AllocationBase == GetModuleHandleA(NULL))
        return true; /* the program itself */
    length = GetModuleFileNameA((HMODULE)region.AllocationBase, path, sizeof path);
    return length > 0 && length < sizeof path && LoadLibraryA(path) != NULL;
}

/* Not at set-up: the loader's lock is held then. */
bool pawl_os_pin(void)
{
    return true;
}

bool pawl_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before, (void)in_parent, (void)in_child; /* no fork */
    return true;
}

bool pawl_os_start_thread(struct pawl_own_thread *thread)
{
    const DWORD saved = GetLastError();
    uintptr_t made = 0;
    if (os_pin_module())
        made = _beginthreadex(NULL, 0, os_run, thread, 0, NULL);
    if (made != 0)
        CloseHandle((HANDLE)made);
    SetLastError(saved);
    return made != 0;
}

#else

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#ifdef __FreeBSD__
#include <pthread_np.h>
#endif

static void os_name_this_thread(const char *name)
{
#if defined(__linux__)
    (void)pthread_setname_np(pthread_self(), name);
#elif defined(__APPLE__)
    (void)pthread_setname_np(name);
#elif defined(__FreeBSD__)
    pthread_set_name_np(pthread_self(), name);
#else
    (void)name;
#endif
}

static void *os_run(void *opaque)
{
    const struct pawl_own_thread *thread = (const struct pawl_own_thread *)opaque;
    os_name_this_thread(thread->name);
    thread->body(thread->argument);
    return NULL;
}

bool pawl_os_watch_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) == 0;
}

static void os_block_signals(sigset_t *old)
{
    static const int own[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t all;
    size_t i;
    (void)sigfillset(&all);
    for (i = 0; i < sizeof own / sizeof own[0]; i++)
        (void)sigdelset(&all, own[i]);
    (void)pthread_sigmask(SIG_SETMASK, &all, old);
}

bool pawl_os_start_thread(struct pawl_own_thread *thread)
{
    const int saved = errno;
    pthread_attr_t attributes;
    pthread_t made;
    sigset_t signals;
    bool started = false;
    if (!pawl_os_pin() || pthread_attr_init(&attributes) != 0)
        return false;
    if (pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0) {
        os_block_signals(&signals); /* a thread begins with the mask of its creator */
        started = pthread_create(&made, &attributes, os_run, thread) == 0;
        (void)pthread_sigmask(SIG_SETMASK, &signals, NULL);
    }
    (void)pthread_attr_destroy(&attributes);
    errno = saved;
    return started;
}

#endif

#endif
