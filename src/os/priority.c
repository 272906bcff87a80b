/* SPDX-License-Identifier: MIT */
/*
 * Signals and scheduling classes (priority.h), as in POSIX. Where there are none, the
 * initialisation of a lock that needs them fails and says so.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "priority.h"

#include <errno.h>

#if !PAWL_HOOKS && !defined(_WIN32) && !defined(__wasm__)
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#endif
#if !PAWL_HOOKS && defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif
#endif

#if PAWL_HOOKS

/* ---- Simulated threads: a harness that has signals and priorities defines these -------------- */

__attribute__((weak)) uint64_t pawl_hook_block(uint64_t signals)
{
    (void)signals;
    return 0;
}

__attribute__((weak)) void pawl_hook_unblock(uint64_t signals)
{
    (void)signals;
}

__attribute__((weak)) uint32_t pawl_hook_priority(void)
{
    return 0;
}

uint64_t pawl_os_unblockable(void)
{
    return 0;
}

uint64_t pawl_os_block(uint64_t signals)
{
    return pawl_hook_block(signals);
}

void pawl_os_unblock(uint64_t signals)
{
    pawl_hook_unblock(signals);
}

int pawl_os_may_raise(uint32_t priority)
{
    (void)priority;
    return 0;
}

bool pawl_os_raise(uint32_t priority, uint32_t *policy_before, uint32_t *priority_before)
{
    (void)priority;
    *policy_before = *priority_before = 0;
    return true;
}

void pawl_os_lower(uint32_t policy, uint32_t priority)
{
    (void)policy;
    (void)priority;
}

uint32_t pawl_os_priority(void)
{
    return pawl_hook_priority();
}

#elif defined(_WIN32) || defined(__wasm__)

/* ---- Windows, WebAssembly: neither --------------------------------------------------------- */

uint64_t pawl_os_unblockable(void)
{
    return UINT64_MAX;
}

uint64_t pawl_os_block(uint64_t signals)
{
    (void)signals;
    return 0;
}

void pawl_os_unblock(uint64_t signals)
{
    (void)signals;
}

int pawl_os_may_raise(uint32_t priority)
{
    (void)priority;
    return ENOTSUP;
}

bool pawl_os_raise(uint32_t priority, uint32_t *policy_before, uint32_t *priority_before)
{
    (void)priority;
    *policy_before = *priority_before = 0;
    return false;
}

void pawl_os_lower(uint32_t policy, uint32_t priority)
{
    (void)policy;
    (void)priority;
}

uint32_t pawl_os_priority(void)
{
    return 0;
}

#else

/* ---- POSIX ----------------------------------------------------------------------------------- */

#define SIGNAL_BIT(number) (UINT64_C(1) << ((number) - 1))

/* Synchronous signals stop the program when they come while blocked. The signals between the
 * kernel's first real-time signal and SIGRTMIN belong to the C library, which never blocks them. */
uint64_t pawl_os_unblockable(void)
{
    uint64_t set = SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGSEGV) |
                   SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGFPE) | SIGNAL_BIT(SIGILL) |
                   SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGABRT) | SIGNAL_BIT(SIGSYS);
    int number;
#ifdef __linux__
    for (number = 32; number < SIGRTMIN; number++)
        set |= SIGNAL_BIT(number);
#else
    for (number = 32; number <= 64; number++) /* not every system has so many */
        set |= SIGNAL_BIT(number);
#endif
    return set;
}

#if defined(__linux__) && !defined(__mips__) && !PAWL_TSAN_

/* The kernel's own set: 64 signals as an array of longs. */
struct kernel_set {
    unsigned long words[8 / sizeof(unsigned long)];
};

static uint64_t os_change_mask(int how, uint64_t signals)
{
    struct kernel_set set, before;
    uint64_t blocked = 0;
    for (size_t i = 0; i < sizeof set.words / sizeof set.words[0]; i++)
        set.words[i] = (unsigned long)(signals >> (8 * sizeof set.words[0] * i));
    (void)syscall(SYS_rt_sigprocmask, how, &set, &before, sizeof set);
    for (size_t i = 0; i < sizeof set.words / sizeof set.words[0]; i++)
        blocked |= (uint64_t)before.words[i] << (8 * sizeof set.words[0] * i);
    return blocked;
}

#else

/* By the C library. ThreadSanitizer delays handlers. With this call it runs the handlers of signals
 * that have already come before the call returns, and none while they are blocked. */
static uint64_t os_change_mask(int how, uint64_t signals)
{
    sigset_t set, before;
    uint64_t blocked = 0;
    (void)sigemptyset(&set);
    for (int number = 1; number <= 64; number++)
        if (signals & SIGNAL_BIT(number))
            (void)sigaddset(&set, number);
    (void)pthread_sigmask(how, &set, &before);
    for (int number = 1; number <= 64; number++)
        if (sigismember(&before, number) == 1)
            blocked |= SIGNAL_BIT(number);
    return blocked;
}

#endif

uint64_t pawl_os_block(uint64_t signals)
{
    return os_change_mask(SIG_BLOCK, signals);
}

void pawl_os_unblock(uint64_t signals)
{
    (void)os_change_mask(SIG_UNBLOCK, signals);
}

#ifdef __linux__

/* The C library's calls are not async-signal-safe, and musl's fail. 0 is the calling thread. */
static bool os_get_class(int *policy, struct sched_param *param)
{
    *policy = (int)syscall(SYS_sched_getscheduler, 0);
    return *policy >= 0 && syscall(SYS_sched_getparam, 0, param) == 0;
}

static int os_set_class(int policy, const struct sched_param *param)
{
    return syscall(SYS_sched_setscheduler, 0, policy, param) == 0 ? 0 : errno;
}

/* A real-time thread has no timer slack, and gets the default when it is one no longer. */
static unsigned long os_timer_slack(void)
{
    const long slack = syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    return slack > 0 ? (unsigned long)slack : 0;
}

static void os_set_timer_slack(unsigned long slack)
{
    if (slack != 0)
        (void)syscall(SYS_prctl, PR_SET_TIMERSLACK, slack, 0, 0, 0);
}

#else

static bool os_get_class(int *policy, struct sched_param *param)
{
    return pthread_getschedparam(pthread_self(), policy, param) == 0;
}

static int os_set_class(int policy, const struct sched_param *param)
{
    return pthread_setschedparam(pthread_self(), policy, param);
}

static unsigned long os_timer_slack(void)
{
    return 0;
}

static void os_set_timer_slack(unsigned long slack)
{
    (void)slack;
}

#endif

/* The policy without the flag that may be or-ed to it (SCHED_RESET_ON_FORK). */
static int os_plain_policy(int policy)
{
#ifdef SCHED_RESET_ON_FORK
    return policy & ~SCHED_RESET_ON_FORK;
#else
    return policy;
#endif
}

static bool os_is_realtime(int policy)
{
    return os_plain_policy(policy) == SCHED_FIFO || os_plain_policy(policy) == SCHED_RR;
}

/* A SCHED_DEADLINE thread is above all priorities and needs no raise. */
static bool os_stands_as_high(int policy, const struct sched_param *param, uint32_t priority)
{
#ifdef SCHED_DEADLINE
    if (os_plain_policy(policy) == SCHED_DEADLINE)
        return true;
#endif
    return os_is_realtime(policy) && (uint32_t)param->sched_priority >= priority;
}

/* The flag or-ed to the policy stays. */
static int os_raise_class(uint32_t priority, int policy)
{
    struct sched_param high;
    memset(&high, 0, sizeof high);
    high.sched_priority = (int)priority;
    return os_set_class(SCHED_FIFO | (policy & ~os_plain_policy(policy)), &high);
}

bool pawl_os_raise(uint32_t priority, uint32_t *policy_before, uint32_t *priority_before)
{
    const int saved = errno;
    const unsigned long slack = os_timer_slack();
    struct sched_param before;
    int policy;
    bool raised = os_get_class(&policy, &before) && !os_stands_as_high(policy, &before, priority) &&
                  os_raise_class(priority, policy) == 0;
    errno = saved;
    if (raised) {
        if (!os_is_realtime(policy))
            pawl_os_own()->slack_before = slack;
        *policy_before = (uint32_t)policy;
        *priority_before = (uint32_t)before.sched_priority;
    }
    return raised;
}

void pawl_os_lower(uint32_t policy, uint32_t priority)
{
    const int saved = errno;
    const unsigned long slack =
        pawl_os_own()->slack_before; /* a handler may raise the thread meanwhile */
    struct sched_param before;
    memset(&before, 0, sizeof before);
    before.sched_priority = (int)priority;
    (void)os_set_class((int)policy, &before);
    if (!os_is_realtime((int)policy))
        os_set_timer_slack(slack);
    errno = saved;
}

/* Tested by a real change: limits, capabilities and control groups all decide. */
int pawl_os_may_raise(uint32_t priority)
{
    const int saved = errno;
    const unsigned long slack = os_timer_slack();
    struct sched_param before;
    int policy, error;
    if (!os_get_class(&policy, &before)) {
        error = ENOTSUP;
    } else if (os_stands_as_high(policy, &before, priority)) {
        error = 0;
    } else {
        error = os_raise_class(priority, policy);
        if (error == 0) {
            (void)os_set_class(policy, &before);
            os_set_timer_slack(slack);
        } else if (error != EPERM && error != EINVAL) {
            error = ENOTSUP;
        }
    }
    errno = saved;
    return error;
}

uint32_t pawl_os_priority(void)
{
    const int saved = errno;
    struct sched_param param;
    int policy;
    const bool known = os_get_class(&policy, &param);
    errno = saved;
    return known && os_is_realtime(policy) ? (uint32_t)param.sched_priority : 0;
}

#undef SIGNAL_BIT

#endif
