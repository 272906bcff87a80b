/* SPDX-License-Identifier: MIT */
/* FreeBSD (11 and later): the system calls of the library. */
#include "os.h"

#if !PAWL_HOOKS && defined(__FreeBSD__)

#include <sys/types.h>
#include <sys/param.h>
#include <sys/cpuset.h>
#include <sys/thr.h>
#include <sys/umtx.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <pthread_np.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pages.h"

#define NS_PER_S 1000000000u

/* The loader unloads an object that no handle keeps open. */
bool pawl_os_pin(void)
{
    static char anchor;
    const int saved = errno;
    Dl_info info;
    if (dladdr(&anchor, &info) != 0 && info.dli_fname != NULL)
        (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NODELETE);
    errno = saved;
    return true;
}

bool pawl_os_watch_threads(uint32_t *key, void (*at_exit)(void *))
{
    pthread_key_t made;
    if (pthread_key_create(&made, at_exit) != 0)
        return false;
    *key = (uint32_t)made;
    return true;
}

/* A thread's first value of any key maps a page for all keys; it does not call malloc. */
void pawl_os_watch_this_thread(uint32_t key, void *value)
{
    const int saved = errno;
    (void)pthread_setspecific((pthread_key_t)key, value);
    errno = saved;
}

/* ---- Time, threads, memory ------------------------------------------------------------------- */

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
    return (uint32_t)pthread_getthreadid_np();
}

/* thr_kill with signal 0 only looks, and only in this process. */
bool pawl_os_thread_lives(uint32_t id)
{
    const int saved = errno;
    const bool lives = thr_kill((long)id, 0) == 0 || errno != ESRCH;
    errno = saved;
    return lives;
}

/* Asked once. A program that later moves itself to one CPU loses only some time. */
bool pawl_os_one_cpu(void)
{
    static uint32_t known; /* 1: one CPU, 2: several */
    uint32_t answer = pawl_load_relaxed32(&known);
    if (answer == 0) {
        const int saved = errno;
        cpuset_t mask;
        CPU_ZERO(&mask);
        answer = cpuset_getaffinity(CPU_LEVEL_WHICH, CPU_WHICH_PID, -1, sizeof mask, &mask) == 0 &&
                         CPU_COUNT(&mask) == 1
                     ? 1
                     : 2;
        pawl_store_relaxed32(&known, answer);
        errno = saved;
    }
    return answer == 1;
}

/* ---- Sleeping -------------------------------------------------------------------------------- */

/* With a deadline, the first pointer is the size of the object of the second pointer. */
static bool os_umtx_wait(const uint32_t *address, int operation, uint32_t expected,
                         uint64_t deadline)
{
    void *place = (void *)(uintptr_t)address;
    const int saved = errno;
    const uint64_t seconds = deadline / NS_PER_S;
    const bool for_ever = seconds > INT32_MAX; /* 68 years after boot; a 32-bit time_t ends there */
    struct _umtx_time until;
    bool in_time = true;
    int result;

    if (!for_ever && pawl_os_now() >= deadline)
        return pawl_load_relaxed32(address) != expected;
    memset(&until, 0, sizeof until);
    until._timeout.tv_sec = (time_t)(for_ever ? 0 : seconds);
    until._timeout.tv_nsec = (long)(deadline % NS_PER_S);
    until._flags = UMTX_ABSTIME;
    until._clockid = CLOCK_MONOTONIC;
    if (for_ever)
        result = _umtx_op(place, operation, expected, NULL, NULL);
    else
        result = _umtx_op(place, operation, expected, (void *)(uintptr_t)sizeof until, &until);
    if (result < 0) {
        in_time = errno != ETIMEDOUT;
        if (errno != ETIMEDOUT && errno != EINTR) /* no thread can wait on this address */
            sched_yield();
    }
    errno = saved;
    return in_time;
}

/* The kernel does not tell the number of woken threads. */
static unsigned os_umtx_wake(const uint32_t *address, int operation, unsigned count)
{
    const int saved = errno;
    (void)_umtx_op((void *)(uintptr_t)address, operation, count > INT_MAX ? INT_MAX : count, NULL,
                   NULL);
    errno = saved;
    return 0;
}

bool pawl_os_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    return os_umtx_wait(address, UMTX_OP_WAIT_UINT_PRIVATE, expected, deadline);
}

unsigned pawl_os_wake(const uint32_t *address, unsigned count)
{
    return os_umtx_wake(address, UMTX_OP_WAKE_PRIVATE, count);
}

bool pawl_os_wait_classes(const uint32_t *address, uint32_t expected, uint32_t classes,
                          uint64_t deadline)
{
    (void)classes;
    return os_umtx_wait(address, UMTX_OP_WAIT_UINT, expected, deadline);
}

/* The kernel does not know the sleepers' classes: a wake for some classes is a wake for all. */
unsigned pawl_os_wake_classes(const uint32_t *address, uint32_t classes, unsigned count)
{
    return os_umtx_wake(address, UMTX_OP_WAKE, classes == UINT32_MAX ? count : UINT_MAX);
}

/* The kernel cannot move sleepers of plain words. */
unsigned pawl_os_requeue(const uint32_t *from, const uint32_t *to, unsigned wake, unsigned move)
{
    (void)to;
    return pawl_os_wake(from, wake > UINT_MAX - move ? UINT_MAX : wake + move);
}

#endif
