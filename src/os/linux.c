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

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "futex.h"

#define NS_PER_S 1000000000u

/* ---- What is one per process, and one per thread ------------------------------------------------
 * STB_GNU_UNIQUE makes glibc bind every copy in the process to the first one, also under
 * RTLD_LOCAL, and keep its object loaded for ever. The compilers give C no attribute for it, hence
 * the assembly; clang's own .globl would contradict it, so the unique names are second names that
 * only the assembly defines. They are visible by default, or the linker would bind each copy to
' * itself. A program that has the library in itself must be linked with --export-dynamic-symbol for
 * each (the CMake package and pkg-config do), or its plug-ins cannot see its copy. */

#define PROCESS PAWL_SYMBOL_(pawl_process_object)
#define SLOT PAWL_SYMBOL_(pawl_thread_slot)

/* Initial-exec: a general-dynamic thread variable of a plug-in is allocated on first use. */
#define THREAD_VARIABLE _Thread_local __attribute__((tls_model("initial-exec")))

#if defined(__ELF__) && defined(__GLIBC__)
#define OWN_PROCESS PAWL_SYMBOL_(pawl_own_process_object)
#define OWN_SLOT PAWL_SYMBOL_(pawl_own_thread_slot)
#ifdef __clang__
#define OWN __attribute__((visibility("hidden"), used))
#else /* gcc's link-time optimisation may else part the objects from the assembly that names them */
#define OWN __attribute__((visibility("hidden"), used, no_reorder))
#endif
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
static long futex_wait(const uint32_t *address, int operation, uint32_t expected,
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
    if (futex_wait(address, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, deadline,
                   FUTEX_BITSET_MATCH_ANY) < 0)
        in_time = errno != ETIMEDOUT;
    errno = saved;
    return in_time;
}

static int futex_count(unsigned count)
{
    return count > INT_MAX ? INT_MAX : (int)count;
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    const int saved = errno;
    const long woken = syscall(OS_FUTEX, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG,
                               futex_count(count));
    errno = saved;
    return woken > 0 ? (unsigned)woken : 0;
}

/* Without FUTEX_PRIVATE_FLAG: the kernel finds the sleepers by the page and not by the address. */
bool pawl_os_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                         uint64_t deadline)
{
    const int saved = errno;
    bool in_time = true;
    if (futex_wait(address, FUTEX_WAIT_BITSET, expected, deadline, classes) < 0) {
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
                               futex_count(wake), (long)futex_count(move), to);
    errno = saved;
    return count > 0 ? (unsigned)count : 0;
}

/* The CPUs that this thread and the first one may use: threads are often pinned to one each. Asked
 * once: a program that later moves itself to one CPU loses some time, and nothing else. */
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

void *pawl_os_pages(size_t size)
{
    const int saved = errno;
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    return pages == MAP_FAILED ? NULL : pages;
}

#endif
