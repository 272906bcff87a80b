/* SPDX-License-Identifier: MIT */
/* Linux: the system calls of the library. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if !PAWL_HOOKS

#ifndef __linux__
#error "src/os has files for Linux, Windows, macOS and FreeBSD; this is none of them."
#endif

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "futex.h"
#include "pages.h"

#define NS_PER_S 1000000000u

/* ---- The thread's slot ----------------------------------------------------------------------- */

PAWL_API extern PAWL_THREAD_VARIABLE_ struct pawl_thread_line *PAWL_SHARED_NAME_(thread_slot);
PAWL_THREAD_SHARED_DEFINE(struct pawl_thread_line *, thread_slot);

struct pawl_thread_line **pawl_os_thread_slot(void)
{
    return &PAWL_SHARED_NAME_(thread_slot);
}

/* glibc keeps the object whose unique names the process uses, and musl keeps all objects. So only a
 * copy that is not this object needs an action: it registers its functions, or starts a thread,
 * although another copy has the objects of the process. dlopen is weak: a statically linked program
 * has none, and loads no copies. */
#if PAWL_HAS_UNIQUE_

extern int dladdr(const void *, Dl_info *) __attribute__((weak));
extern void *dlopen(const char *, int) __attribute__((weak));

static bool os_pin_this_object(void)
{
    Dl_info info;
    return dladdr((const void *)(uintptr_t)pawl_os_pin, &info) != 0 && info.dli_fname != NULL &&
           dlopen(info.dli_fname, RTLD_LAZY | RTLD_NODELETE) != NULL;
}

bool pawl_os_pin(void)
{
    static uint32_t pinned;
    const void *shared = &PAWL_SHARED_NAME_(thread_slot);
    int saved;
    __asm__("" : "+r"(shared)); /* the compiler takes two names for two objects */
    if (shared == (const void *)&PAWL_OWN_NAME_(thread_slot) || dlopen == NULL || dladdr == NULL)
        return true;
    saved = errno;
    if (pawl_load_relaxed32(&pinned) == 0 && os_pin_this_object())
        pawl_store_relaxed32(&pinned, 1);
    errno = saved;
    return pawl_load_relaxed32(&pinned) != 0;
}

#else

bool pawl_os_pin(void)
{
    return true;
}

#endif

/* glibc keeps the values of the first 32 keys (PTHREAD_KEY_2NDLEVEL_SIZE) in the thread itself and
 * allocates for the others. */
#define KEYS_WITHOUT_ALLOCATION 32

bool pawl_os_watch_threads(uint32_t *key, void (*at_exit)(void *))
{
    pthread_key_t made;
    if (pthread_key_create(&made, at_exit) != 0)
        return false;
    *key = (uint32_t)made;
    return true;
}

void pawl_os_watch_this_thread(uint32_t key, void *value)
{
#ifdef __GLIBC__
    if (key >= KEYS_WITHOUT_ALLOCATION)
        return;
#endif
    (void)pthread_setspecific((pthread_key_t)key, value);
}

/* ---- Time, threads, sleeping ----------------------------------------------------------------- */

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

uint32_t pawl_os_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

bool pawl_os_thread_lives(uint32_t id)
{
    const int saved = errno;
    const bool lives = syscall(SYS_tgkill, getpid(), (long)id, 0) == 0 || errno != ESRCH;
    errno = saved;
    return lives;
}

/* FUTEX_WAIT_BITSET takes an absolute deadline on CLOCK_MONOTONIC; FUTEX_WAIT a relative one. */
static long os_futex_wait(const uint32_t *address, int operation, uint32_t expected,
                          uint64_t deadline, uint32_t bits)
{
    if (os_futex_for_ever(deadline))
        return syscall(OS_FUTEX, address, operation, expected, NULL, NULL, bits);
    return os_futex_until(address, operation, expected, deadline, bits);
}

bool pawl_os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    const int saved = errno;
    bool in_time = true;
    if (os_futex_wait(address, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, deadline,
                      FUTEX_BITSET_MATCH_ANY) < 0)
        in_time = errno != ETIMEDOUT;
    errno = saved;
    return in_time;
}

static int os_futex_count(unsigned count)
{
    return count > INT_MAX ? INT_MAX : (int)count;
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    const int saved = errno;
    const long woken = syscall(OS_FUTEX, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG,
                               os_futex_count(count));
    errno = saved;
    return woken > 0 ? (unsigned)woken : 0;
}

/* Without FUTEX_PRIVATE_FLAG: the kernel finds the sleepers by the page and not by the address. */
bool pawl_os_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                         uint64_t deadline)
{
    const int saved = errno;
    bool in_time = true;
    if (os_futex_wait(address, FUTEX_WAIT_BITSET, expected, deadline, classes) < 0) {
        in_time = errno != ETIMEDOUT;
        if (errno != ETIMEDOUT && errno != EAGAIN && errno != EINTR)
            (void)sched_yield();
    }
    errno = saved;
    return in_time;
}

unsigned pawl_os_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    const int saved = errno;
    const long woken =
        syscall(OS_FUTEX, address, FUTEX_WAKE_BITSET,
                count > INT_MAX ? INT_MAX : (int)count, NULL, NULL, classes);
    errno = saved;
    return woken > 0 ? (unsigned)woken : 0;
}

unsigned pawl_os_requeue(const uint32_t *from, const uint32_t *to, unsigned wake, unsigned move)
{
    const int saved = errno;
    const long count = syscall(OS_FUTEX, from, FUTEX_REQUEUE | FUTEX_PRIVATE_FLAG,
                               os_futex_count(wake), (long)os_futex_count(move), to);
    errno = saved;
    return count > 0 ? (unsigned)count : 0;
}

/* The CPUs that this thread and the first one may use: threads are often pinned to one each. Asked
 * once. A program that later moves itself to one CPU loses only some time. */
bool pawl_os_one_cpu(void)
{
    static uint32_t known; /* 1: one CPU, 2: several */
    uint32_t answer = pawl_load_relaxed32(&known);
    if (answer == 0) {
        const int saved = errno;
        unsigned long own[128], first[128]; /* the system call, because cpu_set_t ends at 1024 */
        const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof own, own);
        const bool same = syscall(SYS_sched_getaffinity, (long)getpid(), sizeof first, first) ==
                          bytes;
        unsigned cpus = 0;
        size_t i;
        for (i = 0; same && bytes > 0 && i < (size_t)bytes / sizeof own[0]; i++)
            cpus += (unsigned)__builtin_popcountl(own[i] | first[i]);
        answer = cpus == 1 ? 1 : 2;
        pawl_store_relaxed32(&known, answer);
        errno = saved;
    }
    return answer == 1;
}

#endif
