/* SPDX-License-Identifier: MIT */
/*
 * A signal handler that forks at every instruction (x86-64, Linux): the trap flag makes the
 * processor stop after each instruction of the calling thread, and the handler of SIGTRAP forks.
 * The child goes on there without stops, to the end of the operation and of what the test does
 * then.
 * Include it in one file of a program, in builds without sanitizers.
 */
#pragma once

#include "test.h"

#include <ucontext.h>

#define FORKING_TRAP_FLAG 0x100

extern const char __executable_start, etext;

static struct forking {
    uint8_t seen[1 << 16]; /* not 0: it was at an instruction with these last bits */
    bool (*passes)(void);  /* no fork here, though there was none yet; or NULL */
    unsigned forks;
    uint64_t bad_at;
    bool is_child;
} forking;

static void forking_trap(int number, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = (ucontext_t *)context;
    const uint64_t at = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
    const int saved = errno;
    (void)number, (void)info;
    if (at < (uint64_t)(uintptr_t)&__executable_start || at >= (uint64_t)(uintptr_t)&etext ||
        forking.bad_at != 0 || forking.seen[at & 0xffff]++ != 0)
        return;
    if (forking.passes != NULL && forking.passes())
        return;
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        forking.is_child = true;
        (void)signal(SIGSEGV, SIG_DFL); /* cmocka would go on to the next test, in the child */
        alarm(TEST_HANGS);
        interrupted->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)FORKING_TRAP_FLAG;
    } else {
        forking.forks++;
        const int status = test_wait(child);
        if (status != 0)
            forking.bad_at = at;
    }
    errno = saved;
}

/* Runs the operation once, with a fork at each of its instructions. Each child then runs `check`
 * and ends well. */
static void fork_at_each_instruction_of(void (*operation)(void), void (*check)(void))
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = forking_trap;
    action.sa_flags = SA_SIGINFO;
    memset(forking.seen, 0, sizeof forking.seen);
    forking.forks = 0;
    forking.bad_at = 0;
    must(sigaction(SIGTRAP, &action, &before) == 0);
    __asm__ volatile("pushfq; orl %0, (%%rsp); popfq" ::"i"(FORKING_TRAP_FLAG) : "memory", "cc");
    operation();
    __asm__ volatile("pushfq; andl %0, (%%rsp); popfq" ::"i"(~FORKING_TRAP_FLAG) : "memory", "cc");
    if (forking.is_child) {
        check();
        _exit(0);
    }
    must(sigaction(SIGTRAP, &before, NULL) == 0);
}

/* When the other threads have ended. */
static void forking_went_well(void)
{
    print_message("%u forks\n", forking.forks);
    if (forking.bad_at != 0)
        fail_msg("the child of the fork at %#" PRIx64 " is not well",
                 forking.bad_at - (uint64_t)(uintptr_t)&__executable_start);
    assert_true(forking.forks > 20);
}
