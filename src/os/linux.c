/* SPDX-License-Identifier: MIT */
/* Linux: the system calls of the library. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if !PAWL_HOOKS

#ifndef __linux__
#error "Pawl's system layer exists for Linux so far (src/os)."
#endif

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000u

/* ---- What is one per process, and one per thread ------------------------------------------------
 * STB_GNU_UNIQUE makes glibc bind every copy in the process to the first one, also under
 * RTLD_LOCAL, and keep its object loaded for ever. The compilers give C no attribute for it, hence
 * the assembly; clang's own .globl would contradict it, so the unique names are second names that
 * only the assembly defines. They are visible by default, or the linker would bind each copy to
 * itself. A program that has the library in itself must be linked with --export-dynamic-symbol for
 * both (the CMake package and pkg-config do), or its plug-ins cannot see its copy. */

#define PROCESS PAWL_SYMBOL_(pawl_process_object)
#define SLOT PAWL_SYMBOL_(pawl_thread_slot)

/* Initial-exec: a general-dynamic thread variable of a plug-in is allocated on first use. */
#define THREAD_VARIABLE _Thread_local __attribute__((tls_model("initial-exec")))

#if defined(__ELF__) && defined(__GLIBC__)
#define OWN_PROCESS PAWL_SYMBOL_(pawl_own_process_object)
#define OWN_SLOT PAWL_SYMBOL_(pawl_own_thread_slot)
#define OWN __attribute__((visibility("hidden"), used))
#define UNIQUE_(name, own) __asm__(".type " #name ", %gnu_unique_object\n\t.set " #name ", " #own)
#define UNIQUE(name, own) UNIQUE_(name, own)

OWN struct pawl_process OWN_PROCESS;
OWN THREAD_VARIABLE struct pawl_thread_line *OWN_SLOT;
UNIQUE(PROCESS, OWN_PROCESS);
UNIQUE(SLOT, OWN_SLOT);
PAWL_API extern struct pawl_process PROCESS;
PAWL_API extern THREAD_VARIABLE struct pawl_thread_line *SLOT;
#else
PAWL_API struct pawl_process PROCESS;
PAWL_API THREAD_VARIABLE struct pawl_thread_line *SLOT;
#endif

struct pawl_process *pawl_os_process(void)
{
    return &PROCESS;
}

struct pawl_thread_line **pawl_os_thread_slot(void)
{
    return &SLOT;
}

/* glibc keeps the values of the first 32 keys (PTHREAD_KEY_2NDLEVEL_SIZE) in the thread itself and
 * allocates for the others. */
#define KEYS_WITHOUT_ALLOCATION 32

bool pawl_os_watch_threads(uint32_t *key, void (*at_exit)(void *), void (*after_fork)(void))
{
    pthread_key_t made;
    if (pthread_key_create(&made, at_exit) != 0)
        return false;
    *key = (uint32_t)made;
    return pthread_atfork(NULL, NULL, after_fork) == 0;
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
bool pawl_os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    const int saved = errno;
    struct timespec until;
    bool in_time = true;

    until.tv_sec = (time_t)(deadline / NS_PER_S);
    until.tv_nsec = (long)(deadline % NS_PER_S);
    if (syscall(SYS_futex, address, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
                deadline == PAWL_NO_DEADLINE ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY) < 0)
        in_time = errno != ETIMEDOUT;
    errno = saved;
    return in_time;
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    const int saved = errno;
    const long woken = syscall(SYS_futex, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG,
                               count > INT_MAX ? INT_MAX : (int)count);
    errno = saved;
    return woken > 0 ? (unsigned)woken : 0;
}

#endif
