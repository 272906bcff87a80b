/* SPDX-License-Identifier: MIT */
/*
 * A signal handler at every instruction (x86). One run of some steps is interrupted at its first
 * instruction, the next at its second, and so on. Include it in one file of a program, in builds
 * without sanitizers.
 *
 * The trap flag makes the processor stop after each instruction of the calling thread. That takes n
 * traps to the n-th instruction, so only a first run does it all the way, to note where each
 * instruction lies. Each further run has a breakpoint there, for the time when the steps come to it
 * as often as they did in the noted run. If they take another way and do not, the run is made again
 * with the trap flag. So no instruction is left out. (Steps through a restartable sequence take
 * another way under the trap flag, which restarts it.)
 */
#pragma once

#include "test.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#ifdef __x86_64__
#define INTERRUPTING_PLACE REG_RIP
#else
#define INTERRUPTING_PLACE REG_EIP
#endif

#define INTERRUPTING_TRAP_FLAG 0x100
#define INTERRUPTING_BREAKPOINT 0xcc /* one byte long; the thread is stopped behind it */

enum { INTERRUPTING_NOTED = 100000, INTERRUPTING_NEVER = -1 };

static struct interrupting {
    void (*handler)(void);
    void (*second)(void); /* a handler that comes after the first one, or NULL */
    long second_at;
    long at, passed; /* instructions: the one after which the handler runs, and those executed */
    bool on, inside;
    /* The breakpoint. */
    uintptr_t place;     /* 0: the run is one with the trap flag */
    long visits;         /* of the steps to the place, until the handler runs */
    unsigned char taken; /* the byte in place of which it stands */
    bool stands;
    int memory; /* of this process */
} interrupting;

static uintptr_t interrupting_places[INTERRUPTING_NOTED];

static bool interrupting_write(unsigned char byte)
{
#ifdef __i386__
    /* The C library would call the kernel where the steps call it: there may be the breakpoint. */
    int written;
    __asm__ __volatile__("int $0x80"
                         : "=a"(written)
                         : "0"(SYS_pwrite64), "b"(interrupting.memory), "c"(&byte), "d"(1),
                           "S"(interrupting.place), "D"(0)
                         : "memory");
    return written == 1;
#else
    return pwrite64(interrupting.memory, &byte, 1, (off64_t)interrupting.place) == 1;
#endif
}

static void interrupting_set_breakpoint(void)
{
    interrupting.taken = *(const unsigned char *)interrupting.place;
    interrupting.stands = interrupting_write(INTERRUPTING_BREAKPOINT);
}

static void interrupting_remove_breakpoint(void)
{
    if (interrupting.stands)
        must(interrupting_write(interrupting.taken));
    interrupting.stands = false;
}

static void interrupting_call_handler(void)
{
    const int saved = errno;
    interrupting.inside = true;
    interrupting.handler();
    interrupting.inside = false;
    errno = saved;
}

/* The trap flag to be, for a run with a breakpoint. While that stands, nothing is called here that
 * the steps may call. */
static bool interrupting_at_breakpoint(greg_t *place)
{
    if (interrupting.visits == 0)
        return false;
    if (!interrupting.stands) { /* the steps begin, or have made one step from the place */
        interrupting_set_breakpoint();
        return false;
    }
    interrupting_remove_breakpoint();
    if ((uintptr_t)*place == interrupting.place + 1) /* else the system restarts a sequence */
        *place = (greg_t)interrupting.place;
    if (--interrupting.visits > 0)
        return true;
    interrupting.passed = interrupting.at + 1;
    interrupting_call_handler();
    return false;
}

/* The same for a run without. */
static bool interrupting_at_step(const greg_t *place)
{
    if (interrupting.at == INTERRUPTING_NEVER && interrupting.passed < INTERRUPTING_NOTED)
        interrupting_places[interrupting.passed] = (uintptr_t)*place;
    if (interrupting.passed++ != interrupting.at)
        return true;
    interrupting_call_handler();
    if (interrupting.second == NULL)
        return false;
    interrupting.handler = interrupting.second;
    interrupting.at = interrupting.second_at;
    interrupting.second = NULL;
    return true;
}

static void interrupting_trap(int number, siginfo_t *info, void *context)
{
    greg_t *const registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    bool flag = false;
    (void)number, (void)info;
    if (interrupting.on && !interrupting.inside) /* virtual machines may be one trap late */
        flag = interrupting.place != 0 ? interrupting_at_breakpoint(&registers[INTERRUPTING_PLACE])
                                       : interrupting_at_step(&registers[INTERRUPTING_PLACE]);
    if (flag)
        registers[REG_EFL] |= INTERRUPTING_TRAP_FLAG;
    else
        registers[REG_EFL] &= ~INTERRUPTING_TRAP_FLAG;
}

static void interrupting_signal(void)
{
    must(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTRAP) == 0);
}

static void interrupting_run(long at, uintptr_t place, void (*steps)(void), void (*handler)(void))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = interrupting_trap;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    must(sigaction(SIGTRAP, &action, NULL) == 0);
    interrupting.handler = handler;
    interrupting.at = at;
    interrupting.passed = 0;
    interrupting.place = place;
    interrupting.on = true;
    interrupting_signal();
    steps();
    interrupting.on = false;
    interrupting_remove_breakpoint();
}

/* Runs the steps once, with the handler after instruction number `at`. False: the steps ended
 * before that. They must not block signals. */
static bool interrupt_at(long at, void (*steps)(void), void (*handler)(void))
{
    interrupting_run(at, 0, steps, handler);
    return interrupting.passed > at;
}

/* The same with a second handler, after instruction number `second_at` > `at`. */
static inline bool interrupt_twice(long at, long second_at, void (*steps)(void),
                                   void (*handler)(void), void (*second)(void))
{
    interrupting.second = second;
    interrupting.second_at = second_at;
    (void)interrupt_at(at, steps, handler);
    interrupting.second = NULL;
    return interrupting.passed > second_at;
}

/* Whether the handler of the trap may come to that place, too. On 32 bits each function of a
 * program that can be moved asks where it is: `mov (%esp), register; ret`. */
static bool interrupting_is_shared(uintptr_t place)
{
#ifdef __i386__
    const unsigned char *const code = (const unsigned char *)place;
    return (code[0] == 0x8b && code[2] == 0x24 && code[3] == 0xc3) ||
           (code[0] == 0xc3 && code[-3] == 0x8b && code[-1] == 0x24);
#else
    return false;
#endif
}

/* The same, for an instruction that is noted. */
static bool interrupt_at_noted(long at, void (*steps)(void), void (*handler)(void))
{
    interrupting.visits = 0;
    for (long i = 0; i <= at; i++)
        interrupting.visits += interrupting_places[i] == interrupting_places[at];
    interrupting_run(at, interrupting_places[at], steps, handler);
    return interrupting.passed > at;
}

/* Runs the steps without a handler, and notes where their instructions lie. Returns how many. */
static long interrupting_note(void (*steps)(void))
{
    interrupting_run(INTERRUPTING_NEVER, 0, steps, NULL);
    return interrupting.passed < INTERRUPTING_NOTED ? interrupting.passed : INTERRUPTING_NOTED;
}

/* Interrupts the steps at each of their instructions, a run for each; `prepare` runs before each
 * run, `check` after it. Returns how many instructions there were. */
static inline long interrupt_everywhere(void (*prepare)(void), void (*steps)(void),
                                        void (*handler)(void), void (*check)(void))
{
    long at, noted = 0, again = 0;
    bool interrupted;
    interrupting.memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    for (int run = 0; run < 2; run++) { /* the first one may look names up */
        prepare();
        noted = interrupting_note(steps);
        check();
    }
    for (at = 0, interrupted = true; interrupted; at++) {
        interrupted = false;
        if (at < noted && !interrupting_is_shared(interrupting_places[at])) {
            prepare();
            interrupted = interrupt_at_noted(at, steps, handler);
            check();
        }
        if (!interrupted) {
            again++;
            prepare();
            interrupted = interrupt_at(at, steps, handler);
            check();
        }
    }
    print_message("%ld instructions, %ld of them by the trap flag\n", at - 1, again - 1);
    if (interrupting.memory >= 0)
        must(close(interrupting.memory) == 0);
    return at - 1;
}
