/* SPDX-License-Identifier: MIT */
/*
 * Asymmetric fences and restartable sequences, as far as the system has them. Linux has both. A
 * membarrier makes every running thread of the process pass a fence. Its RSEQ form also sends
 * unfinished sequences back to their start. PAWL_NO_MEMBARRIER=1 and PAWL_NO_RSEQ=1 in the
 * environment switch them off.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if PAWL_HOOKS

char *pawl_os_rseq(void)
{
    return NULL;
}

void pawl_os_shut_out(void)
{
}

uint32_t pawl_os_cpu_limit(void)
{
    return 0;
}

#else

uint32_t pawl_fence_light_free_;

#ifdef __linux__

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers of the kernel's ABI (linux/membarrier.h), which older headers do not have. */
enum {
    EXPEDITED = 1 << 3,
    REGISTER_EXPEDITED = 1 << 4,
    EXPEDITED_RSEQ = 1 << 7,
    REGISTER_EXPEDITED_RSEQ = 1 << 8
};

/* The commands that this process has registered; the same in every copy of the library. */
static uint32_t can_fence, can_shut_out;

static bool os_membarrier(int command)
{
#ifdef SYS_membarrier
    const int saved = errno;
    const bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved;
    return done;
#else
    (void)command;
    return false;
#endif
}

static bool os_forbidden(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != 0 && strcmp(value, "0") != 0;
}

#if PAWL_RSEQ_ && defined(__GLIBC__)
/* Weak: an older glibc does not have them, and registers nothing. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static bool os_rseq_is_registered(void)
{
    return &__rseq_offset != NULL && &__rseq_size != NULL && __rseq_size > 0;
}

static char *os_rseq_area(void)
{
    char *thread;
#ifdef __x86_64__
    __asm__("movq %%fs:0, %0" : "=r"(thread));
#else
    thread = (char *)__builtin_thread_pointer();
#endif
    return thread + __rseq_offset;
}
#else
static bool os_rseq_is_registered(void)
{
    return false;
}

static char *os_rseq_area(void)
{
    return NULL;
}
#endif

/* Before main. An earlier thread finds both zero, passes full fences and uses no sequence. */
__attribute__((constructor(101))) static void register_membarrier(void)
{
    if (os_forbidden("PAWL_NO_MEMBARRIER") || !os_membarrier(REGISTER_EXPEDITED))
        return;
    pawl_store_relaxed32(&can_fence, 1);
    if (os_rseq_is_registered() && !os_forbidden("PAWL_NO_RSEQ") &&
        os_membarrier(REGISTER_EXPEDITED_RSEQ))
        pawl_store_relaxed32(&can_shut_out, 1);
    pawl_store_relaxed32(&pawl_fence_light_free_, 1);
}

/* The call cannot fail once the registration has succeeded; a child of fork inherits that. If it
 * fails nevertheless, a security filter has intervened. Threads already rely on light fences that
 * have no effect without it, so the program must end. */
static void os_must_membarrier(int command, int registration)
{
    if (!os_membarrier(command) && (!os_membarrier(registration) || !os_membarrier(command)))
        abort();
}

void pawl_os_fence_heavy_(void)
{
    if (pawl_load_relaxed32(&can_fence) != 0)
        os_must_membarrier(EXPEDITED, REGISTER_EXPEDITED);
}

void pawl_os_shut_out(void)
{
    if (pawl_load_relaxed32(&can_shut_out) != 0)
        os_must_membarrier(EXPEDITED_RSEQ, REGISTER_EXPEDITED_RSEQ);
    else
        pawl_os_fence_heavy_();
}

char *pawl_os_rseq(void)
{
    return pawl_load_relaxed32(&can_shut_out) != 0 ? os_rseq_area() : NULL;
}

uint32_t pawl_os_cpu_limit(void)
{
    const int saved = errno;
    const long count = sysconf(_SC_NPROCESSORS_CONF);
    errno = saved;
    return count > 0 ? (uint32_t)count : 1;
}

#else

void pawl_os_fence_heavy_(void)
{
}

char *pawl_os_rseq(void)
{
    return NULL;
}

void pawl_os_shut_out(void)
{
}

uint32_t pawl_os_cpu_limit(void)
{
    return 0;
}

#endif

#endif
