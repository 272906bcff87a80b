/* SPDX-License-Identifier: MIT */
/*
 * Asymmetric fences and restartable sequences, as far as the system has them. Linux has both. A
 * membarrier makes every running thread of the process pass a fence. Its RSEQ form also sends
 * unfinished sequences back to their start. PAWL_NO_MEMBARRIER=1 and PAWL_NO_RSEQ=1 in the
 * environment switch them off.
 *
 * Light fences are safe only if every heavy one is a membarrier. Threads, lines and domains belong
 * to the process, and any copy of the library may drive what the readers of another wait for. So
 * the mode belongs to the process too. The first copy chooses it when it is loaded:
 *
 *   UNDECIDED   before that: readers pass full fences
 *   STRONG      readers pass full fences; heavy fences are full fences too
 *   LIGHT       readers' fences only hold the compiler; a heavy fence is a membarrier
 *   SEQUENCES   the same, and counters use sequences, which the RSEQ form shuts out
 *
 * A later copy takes the mode that it finds. If it cannot make the system call, its heavy fence
 * ends the process with a message. Only pawl_fences_strong changes a mode that was chosen.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#include <pawl/detail/rseq.h>

#if PAWL_CALLS_OUT_

#ifdef PAWL_SIM
uint32_t ipawl_fence_light_free_ = 1;
#endif

char *pawl_os_rseq(void)
{
    return NULL;
}

void pawl_os_shut_out(void)
{
}

void pawl_os_fences_strong(void)
{
}

bool pawl_os_fences_are_strong(void)
{
    return PAWL_HOOKS != 0; /* the simulator has membarriers (hook.h, PAWL_HOOK_FENCE_HEAVY) */
}

uint32_t pawl_os_cpu_limit(void)
{
    return 0;
}

#else

uint32_t ipawl_fence_light_free_;

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

enum os_fences { FENCES_UNDECIDED, FENCES_STRONG, FENCES_LIGHT, FENCES_SEQUENCES };

/* A copy that finds no place leaves its readers at full fences, which are always enough. */
#define COPIES 256

struct pawl_fences {
    uint32_t mode; /* enum os_fences */
    ipawl_address_
        copies[COPIES]; /* of ipawl_fence_light_free_ in each copy that set it; 0: none */
};

PAWL_SHARED_DECLARE(struct pawl_fences, fences_object);
PAWL_SHARED_DEFINE(struct pawl_fences, fences_object);

static struct pawl_fences *os_fences_here(void)
{
    return PAWL_SHARED(struct pawl_fences, fences_object);
}

static uint32_t os_fences_mode(void)
{
    return pawl_load_relaxed32(&os_fences_here()->mode);
}

#ifdef SYS_membarrier
static bool os_membarrier(int command)
{
    const int saved = errno;
    const bool done = syscall(SYS_membarrier, command, 0, 0) == 0;
    errno = saved;
    return done;
}
#else
static bool os_membarrier(int command)
{
    (void)command;
    return false;
}
#endif

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

static bool os_registers(int registration, int command)
{
    return os_membarrier(registration) && os_membarrier(command);
}

static uint32_t os_fences_possible(void)
{
    if (os_forbidden("PAWL_NO_MEMBARRIER") || !os_registers(REGISTER_EXPEDITED, EXPEDITED))
        return FENCES_STRONG;
    if (os_forbidden("PAWL_NO_RSEQ") || !os_rseq_is_registered() ||
        !os_registers(REGISTER_EXPEDITED_RSEQ, EXPEDITED_RSEQ))
        return FENCES_LIGHT;
    return FENCES_SEQUENCES;
}

/* Replaces `from` by `to` in the first place that has it. */
static bool os_fences_note(ipawl_address_ from, ipawl_address_ to)
{
    for (unsigned i = 0; i < COPIES; i++) {
        ipawl_address_ found = from;
        if (PAWL_ADDRESS_(pawl_cas_relaxed)(&os_fences_here()->copies[i], &found, to))
            return true;
    }
    return false;
}

#define OWN_LIGHT_FREE ((ipawl_address_)(uintptr_t)&ipawl_fence_light_free_)

/* Before main, or when the object is loaded: no other copy is loaded at the same time. A thread
 * that runs earlier passes full fences and uses no sequence. */
PAWL_OS_EARLY static void fences_join(void)
{
    if (os_fences_mode() == FENCES_UNDECIDED)
        pawl_store_relaxed32(&os_fences_here()->mode, os_fences_possible());
    if (os_fences_mode() != FENCES_STRONG && os_fences_note(0, OWN_LIGHT_FREE))
        pawl_store_relaxed32(&ipawl_fence_light_free_, 1);
}

/* The object is unloaded, or the process ends. */
__attribute__((destructor(101))) static void fences_leave(void)
{
    (void)os_fences_note(OWN_LIGHT_FREE, 0);
}

static PAWL_COLD PAWL_NORETURN void os_fences_never(void)
{
    static const char text[] =
        "pawl: the system refuses a membarrier, which threads that read without fences rely on: "
        "a program calls pawl_fences_strong() before it forbids itself this system call\n";
    pawl_os_complain(text, sizeof text - 1);
    abort();
}

/* A child of fork inherits the registration. If the call fails nevertheless, a security filter has
 * intervened. Threads already rely on light fences that have no effect without it, so the program
 * must end. */
static void os_must_membarrier(int command, int registration)
{
    if (!os_membarrier(command) && !os_registers(registration, command))
        os_fences_never();
}

void ipawl_os_fence_heavy_(void)
{
    if (os_fences_mode() >= FENCES_LIGHT)
        os_must_membarrier(EXPEDITED, REGISTER_EXPEDITED);
}

/* Under PAWL_NO_MEMBARRIER, and where a filter forbids the call by now, there is none. */
bool ipawl_os_fence_heavy_or_not_(void)
{
    return os_fences_mode() >= FENCES_LIGHT &&
           (os_membarrier(EXPEDITED) || os_registers(REGISTER_EXPEDITED, EXPEDITED));
}

void pawl_os_shut_out(void)
{
    if (os_fences_mode() == FENCES_SEQUENCES)
        os_must_membarrier(EXPEDITED_RSEQ, REGISTER_EXPEDITED_RSEQ);
    else
        ipawl_os_fence_heavy_();
}

char *pawl_os_rseq(void)
{
    return os_fences_mode() == FENCES_SEQUENCES ? os_rseq_area() : NULL;
}

void pawl_os_fences_strong(void)
{
    struct pawl_fences *fences = os_fences_here();
    for (unsigned i = 0; i < COPIES; i++) {
        const ipawl_address_ copy = PAWL_ADDRESS_(pawl_load_relaxed)(&fences->copies[i]);
        if (copy != 0)
            pawl_store_relaxed32((uint32_t *)(uintptr_t)copy, 0);
    }
    pawl_store_relaxed32(&fences->mode, FENCES_STRONG);
}

bool pawl_os_fences_are_strong(void)
{
    return os_fences_mode() == FENCES_STRONG;
}

uint32_t pawl_os_cpu_limit(void)
{
    const int saved = errno;
    const long count = sysconf(_SC_NPROCESSORS_CONF);
    errno = saved;
    return count > 0 ? (uint32_t)count : 1;
}

#else

void ipawl_os_fence_heavy_(void)
{
}

bool ipawl_os_fence_heavy_or_not_(void)
{
    return false;
}

char *pawl_os_rseq(void)
{
    return NULL;
}

void pawl_os_shut_out(void)
{
}

void pawl_os_fences_strong(void)
{
}

bool pawl_os_fences_are_strong(void)
{
    return true;
}

uint32_t pawl_os_cpu_limit(void)
{
    return 0;
}

#endif

#endif
