/* SPDX-License-Identifier: MIT */
/*
 * A fork beside a thread, at every instruction of that thread (x86-64, Linux): the trap flag makes
 * the processor stop it after each one, and another thread forks then. The child has the forking
 * thread only. Include it in one file of a program, in builds without sanitizers.
 */
#pragma once

#include "test.h"

#include <sched.h>
#include <ucontext.h>

#define BESIDE_TRAP_FLAG 0x100

extern const char __executable_start, etext;

enum { BESIDE_RUNS, BESIDE_STANDS, BESIDE_IS_OVER };

static struct beside {
    uint8_t seen[1 << 16]; /* not 0: it was at an instruction with these last bits */
    uint32_t stage;
    uint64_t at, bad_at;
    unsigned forks;
    void (*operation)(void);
} beside;

static void beside_trap(int number, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = (const ucontext_t *)context;
    const int saved = errno;
    beside.at = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
    (void)number, (void)info;
    if (beside.at < (uint64_t)(uintptr_t)&__executable_start ||
        beside.at >= (uint64_t)(uintptr_t)&etext || beside.seen[beside.at & 0xffff]++ != 0)
        return;
    __atomic_store_n(&beside.stage, BESIDE_STANDS, __ATOMIC_RELEASE);
    test_await(__atomic_load_n(&beside.stage, __ATOMIC_ACQUIRE) != BESIDE_STANDS);
    errno = saved;
}

static void *beside_main(void *nothing)
{
    __asm__ volatile("pushfq; orl %0, (%%rsp); popfq" ::"i"(BESIDE_TRAP_FLAG) : "memory", "cc");
    beside.operation();
    __asm__ volatile("pushfq; andl %0, (%%rsp); popfq" ::"i"(~BESIDE_TRAP_FLAG) : "memory", "cc");
    __atomic_store_n(&beside.stage, BESIDE_IS_OVER, __ATOMIC_RELEASE);
    return nothing;
}

static void beside_fork(void (*check)(void))
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL); /* cmocka would go on to the next test, in the child */
        alarm(TEST_HANGS);
        check();
        _exit(0);
    }
    beside.forks++;
    const int status = test_wait(child);
    if (status != 0 && beside.bad_at == 0)
        beside.bad_at = beside.at;
}

/* Another thread runs the operation once, and the caller forks at each of its instructions. Each
 * child runs `check` and ends well. */
static void fork_beside_each_instruction_of(void (*operation)(void), void (*check)(void))
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = beside_trap;
    action.sa_flags = SA_SIGINFO;
    memset(&beside, 0, sizeof beside);
    beside.operation = operation;
    must(sigaction(SIGTRAP, &action, &before) == 0);
    const pthread_t thread = test_start(beside_main, NULL);
    for (;;) {
        const uint32_t stage = __atomic_load_n(&beside.stage, __ATOMIC_ACQUIRE);
        if (stage == BESIDE_IS_OVER)
            break;
        if (stage == BESIDE_STANDS) {
            beside_fork(check);
            __atomic_store_n(&beside.stage, BESIDE_RUNS, __ATOMIC_RELEASE);
        } else {
            sched_yield();
        }
    }
    test_join(thread);
    must(sigaction(SIGTRAP, &before, NULL) == 0);
    print_message("%u forks\n", beside.forks);
    if (beside.bad_at != 0)
        fail_msg("the child of the fork at %#" PRIx64 " is not well",
                 beside.bad_at - (uint64_t)(uintptr_t)&__executable_start);
    assert_true(beside.forks > 20);
}
