/* SPDX-License-Identifier: MIT */
/*
 * Threads of the library's own. No thread joins them, and no signal handler of the program runs on
 * them. The exception is signals that a thread raises itself, which debuggers and sanitizers need.
 * The start of a thread allocates.
 *
 * Such a thread serves the whole process, so it takes nothing from the thread that happens to start
 * it. It has ordinary scheduling. On Linux it has the CPUs and the nice value that the first thread
 * had when the library was loaded. (Windows gives new threads normal priority and all CPUs of the
 * process.)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if !PAWL_CALLS_OUT_ && !defined(__wasm__)

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
#include <sched.h>
#include <signal.h>
#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#ifdef __FreeBSD__
#include <pthread_np.h>
#endif

#if defined(__linux__)
static void os_name_this_thread(const char *name)
{
    (void)pthread_setname_np(pthread_self(), name);
}
#elif defined(__APPLE__)
static void os_name_this_thread(const char *name)
{
    (void)pthread_setname_np(name);
}
#elif defined(__FreeBSD__)
static void os_name_this_thread(const char *name)
{
    pthread_set_name_np(pthread_self(), name);
}
#else
static void os_name_this_thread(const char *name)
{
    (void)name;
}
#endif

/* ---- Scheduling ------------------------------------------------------------------------------ */

#ifdef __linux__

static struct {
    unsigned long cpus[128]; /* a system call fills it, because cpu_set_t ends at 1024 */
    long bytes;              /* of these; not above 0: not known */
    int nice;
} os_first_thread;

PAWL_OS_EARLY static void os_note_first_thread(void)
{
    const int saved = errno;
    os_first_thread.bytes = syscall(SYS_sched_getaffinity, (long)getpid(),
                                    sizeof os_first_thread.cpus, os_first_thread.cpus);
    os_first_thread.nice = getpriority(PRIO_PROCESS, (id_t)getpid());
    errno = saved;
}

/* The starter does so, because the new thread might have to wait for the starter's CPU; and so does
 * the new thread, because it may come first. */
static void os_give_cpus(pthread_t thread)
{
    if (os_first_thread.bytes > 0)
        (void)pthread_setaffinity_np(thread, (size_t)os_first_thread.bytes,
                                     (const cpu_set_t *)(const void *)os_first_thread.cpus);
}

/* Fails where the starter was nicer, and the program has no right to undo that. */
static void os_give_nice_value(void)
{
    const id_t self = (id_t)syscall(SYS_gettid);
    if (getpriority(PRIO_PROCESS, self) != os_first_thread.nice)
        (void)setpriority(PRIO_PROCESS, self, os_first_thread.nice);
}

#else

static void os_give_cpus(pthread_t thread)
{
    (void)thread;
}

static void os_give_nice_value(void)
{
}

#endif

/* The parameters are set to what they are, the usual ones: glibc takes the creator's for those that
 * were never set. */
static bool os_schedule_as_usual(pthread_attr_t *attributes)
{
    struct sched_param usual;
    return pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED) == 0 &&
           pthread_attr_setschedpolicy(attributes, SCHED_OTHER) == 0 &&
           pthread_attr_getschedparam(attributes, &usual) == 0 &&
           pthread_attr_setschedparam(attributes, &usual) == 0;
}

static bool os_create(pthread_t *made, struct pawl_own_thread *thread, void *(*run)(void *),
                      bool as_usual)
{
    pthread_attr_t attributes;
    bool created = false;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    if (!as_usual || os_schedule_as_usual(&attributes))
        created = pthread_create(made, &attributes, run, thread) == 0;
    (void)pthread_attr_destroy(&attributes);
    return created;
}

static void *os_run(void *opaque)
{
    const struct pawl_own_thread *thread = (const struct pawl_own_thread *)opaque;
    os_name_this_thread(thread->name);
    os_give_cpus(pthread_self());
    os_give_nice_value();
    thread->body(thread->argument);
    return NULL;
}

static void os_block_signals(sigset_t *old)
{
    static const int own[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t all;
    (void)sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        (void)sigdelset(&all, own[i]);
    (void)pthread_sigmask(SIG_SETMASK, &all, old);
}

bool pawl_os_start_thread(struct pawl_own_thread *thread)
{
    const int saved = errno;
    pthread_t made;
    sigset_t signals;
    bool started;
    if (!pawl_os_pin())
        return false;
    os_block_signals(&signals); /* a thread begins with the mask of its creator */
    /* A system may forbid any change of the class: then the creator's will do. */
    started = os_create(&made, thread, os_run, true) || os_create(&made, thread, os_run, false);
    if (started) {
        os_give_cpus(made);
        (void)pthread_detach(made);
    }
    (void)pthread_sigmask(SIG_SETMASK, &signals, NULL);
    errno = saved;
    return started;
}

#endif

#endif
