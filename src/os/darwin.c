/* SPDX-License-Identifier: MIT */
/*
 * macOS: the system calls of the library. Three ways to sleep while a word keeps its value:
 *
 *   os_sync_wait_on_address   macOS 14.4 and later; looked up at run time
 *   lists                     before; a mutex and a condition variable for each sleeper
 *   __ulock_wait              instead of both, if built with -DPAWL_DARWIN_ULOCK=1
 *
 * The last is a private interface of the system: the App Store refuses programs that use it. It is
 * for programs that ship otherwise and need the kernel's wait on older systems.
 */
#ifdef __APPLE__
/* <stdlib.h> includes this header, which takes the tag `wait` for an old union. Other files of the
 * library use this name. */
#define wait wait_of_the_system
#include <sys/wait.h>
#undef wait
#endif

#include "os.h"

#if !PAWL_HOOKS && defined(__APPLE__)

#include <dlfcn.h>
#include <errno.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pages.h"

#ifndef PAWL_DARWIN_ULOCK
#define PAWL_DARWIN_ULOCK 0
#endif

/* ---- The thread's slot --------------------------------------------------------------------------
 * Mach-O binds a name to the image in which it was found. So each image that carries the library
 * has process objects of its own. dyld allocates thread variables when the thread first touches one
 * of the image. A program whose malloc uses locks of this library must touch them before. dyld's
 * own key for thread variables is older than the library's. So at the thread's end the slot has
 * been freed, and reads as new (PAWL_OS_SLOT_ENDS_EARLY). */

static _Thread_local struct pawl_thread_line *slot_of_thread;

struct pawl_thread_line **pawl_os_thread_slot(void)
{
    return &slot_of_thread;
}

static void os_after_fork(void);
static void os_find_functions(void);

/* dyld keeps images that have thread variables. */
bool pawl_os_pin(void)
{
    return true;
}

bool pawl_os_watch_threads(uint32_t *key, void (*at_exit)(void *))
{
    pthread_key_t made;
    os_find_functions(); /* here, because the loader may allocate */
    if (pthread_key_create(&made, at_exit) != 0)
        return false;
    *key = (uint32_t)made;
    return pthread_atfork(NULL, NULL, os_after_fork) == 0;
}

/* The values of all keys are part of the thread, so this allocates nothing. */
void pawl_os_watch_this_thread(uint32_t key, void *value)
{
    (void)pthread_setspecific((pthread_key_t)key, value);
}

/* ---- Time, threads, memory ------------------------------------------------------------------- */

/* The clock of mach_absolute_time; deadlines of os_sync use it. It stops while the machine
 * sleeps. */
uint64_t pawl_os_now(void)
{
    return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}

void pawl_os_yield(void)
{
    const int saved = errno;
    sched_yield();
    errno = saved;
}

/* The system counts threads in 64 bits and gives no number twice. */
static uint32_t os_short_number(uint64_t id)
{
    return (uint32_t)id != 0 ? (uint32_t)id : UINT32_MAX;
}

uint32_t pawl_os_thread_id(void)
{
    uint64_t id = 0;
    (void)pthread_threadid_np(NULL, &id);
    return os_short_number(id);
}

/* In doubt the answer is that it lives. */
bool pawl_os_thread_lives(uint32_t id)
{
    thread_act_array_t threads = NULL;
    mach_msg_type_number_t count = 0;
    bool lives = false;

    if (task_threads(mach_task_self(), &threads, &count) != KERN_SUCCESS)
        return true;
    for (mach_msg_type_number_t i = 0; i < count; i++) {
        thread_identifier_info_data_t about;
        mach_msg_type_number_t words = THREAD_IDENTIFIER_INFO_COUNT;
        if (thread_info(threads[i], THREAD_IDENTIFIER_INFO, (thread_info_t)&about, &words) ==
            KERN_SUCCESS)
            lives = lives || os_short_number(about.thread_id) == id;
        (void)mach_port_deallocate(mach_task_self(), threads[i]);
    }
    (void)vm_deallocate(mach_task_self(), (vm_address_t)threads, count * sizeof *threads);
    return lives;
}

/* The system has no affinity masks; the number of CPUs is fixed while it runs. */
bool pawl_os_one_cpu(void)
{
    static uint32_t known; /* 1: one CPU, 2: several */
    uint32_t answer = pawl_load_relaxed32(&known);
    if (answer == 0) {
        const int saved = errno;
        answer = sysconf(_SC_NPROCESSORS_ONLN) == 1 ? 1 : 2;
        pawl_store_relaxed32(&known, answer);
        errno = saved;
    }
    return answer == 1;
}

/* ---- Sleeping -------------------------------------------------------------------------------- */

static bool os_has_passed(uint64_t deadline)
{
    return deadline != PAWL_NO_DEADLINE && pawl_os_now() >= deadline;
}

#include "bed_pthread.h"
#include "lists.h"

/* The child has one thread, which does not sleep. Another thread of the parent may have locked a
 * list. */
static void os_after_fork(void)
{
    for (size_t i = 0; i < OS_LISTS; i++)
        if (os_lists[i].lock.lock._os_unfair_lock_opaque != 0 || os_lists[i].first != NULL)
            memset(&os_lists[i], 0, sizeof os_lists[i]);
}

#if PAWL_DARWIN_ULOCK

/* From the system's sources, bsd/sys/ulock.h: there is no public header. */
int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t microseconds);
int __ulock_wake(uint32_t operation, void *address, uint64_t value);
#define ULOCK_COMPARE_AND_WAIT 1u
#define ULOCK_COMPARE_AND_WAIT_SHARED 3u
#define ULOCK_WAKE_ALL 0x100u
#define ULOCK_NO_ERRNO 0x1000000u /* the result is the error, negated */

static void os_find_functions(void)
{
}

/* 0 would mean for ever. A sleep that does not fit in 32 bits is done in parts. */
static uint32_t os_microseconds_until(uint64_t deadline)
{
    uint64_t us;
    if (deadline == PAWL_NO_DEADLINE)
        return 0;
    us = pawl_os_now();
    us = us < deadline ? (deadline - us - 1) / 1000u + 1 : 1;
    return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

static bool os_kernel_can_wait(void)
{
    return true;
}

static bool os_kernel_wait(const uint32_t *address, uint32_t expected, uint64_t deadline,
                           bool shared)
{
    const uint32_t operation = shared ? ULOCK_COMPARE_AND_WAIT_SHARED : ULOCK_COMPARE_AND_WAIT;
    const int result = __ulock_wait(operation | ULOCK_NO_ERRNO, (void *)(uintptr_t)address,
                                    expected, os_microseconds_until(deadline));
    if (result == -ETIMEDOUT)
        return !os_has_passed(deadline);
    if (result < 0 && result != -EINTR) /* the kernel has no memory, or no thread can wait there */
        sched_yield();
    return true;
}

static bool os_kernel_wake(const uint32_t *address, bool all, bool shared)
{
    const uint32_t operation = shared ? ULOCK_COMPARE_AND_WAIT_SHARED : ULOCK_COMPARE_AND_WAIT;
    int result;
    do
        result = __ulock_wake(operation | ULOCK_NO_ERRNO | (all ? ULOCK_WAKE_ALL : 0),
                              (void *)(uintptr_t)address, 0);
    while (result == -EINTR);
    return result >= 0;
}

#else

/* As in <os/os_sync_wait_on_address.h>, which older development kits lack. */
enum os_sync_function { OS_SYNC_WAIT, OS_SYNC_WAIT_UNTIL, OS_SYNC_WAKE_ONE, OS_SYNC_WAKE_ALL };
typedef int (*os_sync_wait)(void *address, uint64_t value, size_t size, uint32_t flags);
typedef int (*os_sync_wait_until)(void *address, uint64_t value, size_t size, uint32_t flags,
                                  uint32_t clock, uint64_t deadline);
typedef int (*os_sync_wake)(void *address, size_t size, uint32_t flags);
#define OS_SYNC_MACH_CLOCK 32u /* OS_CLOCK_MACH_ABSOLUTE_TIME of <os/clock.h> */

/* All four or none, and the same for all threads: a waker of one way does not find a sleeper of
 * another. A thread stores [0] last and reads it first, so this needs no order. A thread that reads
 * it too early looks the others up again and finds the same. */
static uint64_t os_sync_functions[4];
#define OS_SYNC_ABSENT 1u

static void os_find_functions(void)
{
    static const char *const names[] = {
        "os_sync_wait_on_address", "os_sync_wait_on_address_with_deadline",
        "os_sync_wake_by_address_any", "os_sync_wake_by_address_all"};
    uint64_t found[4];
    bool all = true;
    for (int i = 0; i < 4; i++) {
        found[i] = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
        all = all && found[i] != 0;
    }
    for (int i = 3; i >= 0; i--)
        pawl_store_relaxed64(&os_sync_functions[i], all ? found[i] : OS_SYNC_ABSENT);
}

/* 0: the system does not have them. */
static uintptr_t os_sync(enum os_sync_function which)
{
    uint64_t function = pawl_load_relaxed64(&os_sync_functions[which]);
    if (PAWL_UNLIKELY(function == 0)) {
        os_find_functions();
        function = pawl_load_relaxed64(&os_sync_functions[which]);
    }
    return function == OS_SYNC_ABSENT ? 0 : (uintptr_t)function;
}

/* Ticks of mach_absolute_time, rounded up. */
static uint64_t os_ticks(uint64_t ns)
{
    mach_timebase_info_data_t base; /* cached by the system's library */
    (void)mach_timebase_info(&base);
    return ns / base.numer * base.denom + ns % base.numer * base.denom / base.numer + 1;
}

static bool os_kernel_can_wait(void)
{
    return os_sync(OS_SYNC_WAIT) != 0;
}

static bool os_kernel_wait(const uint32_t *address, uint32_t expected, uint64_t deadline,
                           bool shared)
{
    void *place = (void *)(uintptr_t)address;
    int result;
    if (deadline == PAWL_NO_DEADLINE)
        result = ((os_sync_wait)os_sync(OS_SYNC_WAIT))(place, expected, sizeof expected, shared);
    else
        result = ((os_sync_wait_until)os_sync(OS_SYNC_WAIT_UNTIL))(
            place, expected, sizeof expected, shared, OS_SYNC_MACH_CLOCK, os_ticks(deadline));
    if (result >= 0)
        return true;
    if (errno == ETIMEDOUT)
        return !os_has_passed(deadline);
    if (errno != EINTR) /* the kernel has no memory, or no thread can wait on the address */
        sched_yield();
    return true;
}

static bool os_kernel_wake(const uint32_t *address, bool all, bool shared)
{
    const os_sync_wake wake = (os_sync_wake)os_sync(all ? OS_SYNC_WAKE_ALL : OS_SYNC_WAKE_ONE);
    return wake((void *)(uintptr_t)address, sizeof *address, shared) >= 0;
}

#endif

static bool os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline, bool shared)
{
    const int saved = errno;
    bool in_time;
    if (pawl_load_relaxed32(address) != expected)
        return true;
    if (os_has_passed(deadline))
        return false;
    in_time = os_kernel_wait(address, expected, deadline, shared);
    errno = saved;
    return in_time;
}

/* The kernel tells whether it woke a thread, not how many. A wake of all counts as one. */
static unsigned os_wake(const uint32_t *address, unsigned count, bool shared)
{
    const int saved = errno;
    unsigned woken = 0;
    if (count == UINT32_MAX)
        woken = os_kernel_wake(address, true, shared);
    else
        while (woken < count && os_kernel_wake(address, false, shared))
            woken++;
    errno = saved;
    return woken;
}

bool pawl_os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    return os_kernel_can_wait() ? os_wait(address, expected, deadline, false)
                                : os_lists_wait(address, expected, deadline);
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    return os_kernel_can_wait() ? os_wake(address, count, false) : os_lists_wake(address, count);
}

/* The lists are the process's own. Where the kernel cannot wait for other processes, the waiter
 * looks again from time to time, and a wake does nothing. */
#define POLL_NS 1000000u

bool pawl_os_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                          uint64_t deadline)
{
    const int saved = errno;
    const struct timespec pause = {0, POLL_NS};
    (void)classes;
    if (os_kernel_can_wait())
        return os_wait(address, expected, deadline, true);
    if (pawl_load_relaxed32(address) != expected)
        return true;
    if (!os_has_passed(deadline))
        (void)nanosleep(&pause, NULL);
    errno = saved;
    return !os_has_passed(deadline);
}

/* The kernel does not know the sleepers' classes: a wake for some classes is a wake for all. */
unsigned pawl_os_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    if (!os_kernel_can_wait())
        return 0;
    return os_wake(address, classes == UINT32_MAX ? count : UINT32_MAX, true);
}

/* The kernel cannot move sleepers. */
unsigned pawl_os_requeue(const uint32_t *from, const uint32_t *to, unsigned wake, unsigned move)
{
    (void)to;
    return pawl_os_wake(from, wake > UINT32_MAX - move ? UINT32_MAX : wake + move);
}

#endif
