/* SPDX-License-Identifier: MIT */
/*
 * A signal handler at every instruction (x86): the trap flag makes the processor stop after each
 * instruction of the calling thread, and the handler of SIGTRAP calls what is to interrupt. One run
 * is interrupted at its first instruction, the next at its second, and so on, to its end in larger
 * steps. Include it in one file of a program, in builds without sanitizers.
 */
#ifndef PAWL_TESTS_INTERRUPTING_H
#define PAWL_TESTS_INTERRUPTING_H

#include "test.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define INTERRUPTING_TRAP_FLAG 0x100

static struct interrupting {
    void (*handler)(void);
    long at, passed; /* instructions: the one after which the handler runs, and those executed */
    bool on, inside;
} interrupting;

static void interrupting_trap(int number, siginfo_t *info, void *context)
{
    const int saved = errno;
    ucontext_t *interrupted = (ucontext_t *)context;
    (void)number, (void)info;
    if (!interrupting.on || interrupting.inside) { /* virtual machines may be one trap late */
        interrupted->uc_mcontext.gregs[REG_EFL] &= ~INTERRUPTING_TRAP_FLAG;
        return;
    }
    interrupting.inside = true;
    if (interrupting.passed++ == interrupting.at) {
        interrupted->uc_mcontext.gregs[REG_EFL] &= ~INTERRUPTING_TRAP_FLAG; /* no more of them */
        interrupting.handler();
    } else {
        interrupted->uc_mcontext.gregs[REG_EFL] |= INTERRUPTING_TRAP_FLAG;
    }
    interrupting.inside = false;
    errno = saved;
}

static void interrupting_signal(void)
{
    must(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTRAP) == 0);
}

/* Runs the steps once, with the handler after instruction number `at`. False: the steps ended
 * before that. They must not block signals. */
static bool interrupt_at(long at, void (*steps)(void), void (*handler)(void))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = interrupting_trap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    must(sigaction(SIGTRAP, &action, NULL) == 0);
    interrupting.handler = handler;
    interrupting.at = at;
    interrupting.passed = 0;
    interrupting.on = true;
    interrupting_signal();
    steps();
    interrupting.on = false;
    return interrupting.passed > at;
}

/* So many instructions are interrupted one by one; later ones in steps of at most so many, because
 * single steps to the n-th instruction take n traps. */
#define INTERRUPTING_EACH 300
#define INTERRUPTING_GAP 31

/* Interrupts the steps at their instructions, a run for each; `prepare` runs before each one,
 * `check` after it. Behind the first INTERRUPTING_EACH the seed chooses some of them, others in
 * each run of the program; all of them with PAWL_STRESS_SECONDS of 60 or more. Returns how many
 * instructions there were, about. */
static long interrupt_everywhere(void (*prepare)(void), void (*steps)(void), void (*handler)(void),
                                 void (*check)(void))
{
    const char *const seconds = getenv("PAWL_STRESS_SECONDS");
    const bool all = seconds != NULL && atof(seconds) >= 60;
    uint64_t random = test_seed();
    long at = 0;
    bool interrupted;
    do {
        prepare();
        interrupted = interrupt_at(at++, steps, handler);
        check();
        if (at > INTERRUPTING_EACH && !all)
            at += (long)test_random_below(&random, INTERRUPTING_GAP);
    } while (interrupted);
    return at - 1;
}

#endif
