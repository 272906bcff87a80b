/* SPDX-License-Identifier: MIT */
/*
 * What the processor executes in a function (x86-64): a parent steps through functions of a child,
 * instruction by instruction, and counts the locked ones and the calls. Include it in one file of a
 * program, in builds without sanitizers.
 */
#pragma once

#include "test.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>

/* What was executed between the first instruction of a function and its return, both counted. */
struct stepped {
    int locked, calls, steps;
};

typedef void stepped_function(void);

/* ---- Reading instructions -------------------------------------------------------------------- */

static bool is_prefix(unsigned char byte)
{
    static const unsigned char prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
                                             0x66, 0x67, 0xf0, 0xf2, 0xf3};
    return memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

struct meaning {
    bool locked, call;
};

/* The parent has the child's code at the same addresses. */
static struct meaning meaning_of(uint64_t address)
{
    const unsigned char *code = (const unsigned char *)(uintptr_t)address;
    struct meaning meaning = {false, false};
    for (; is_prefix(*code); code++)
        meaning.locked |= *code == 0xf0;
    if ((*code & 0xf0) == 0x40) /* REX */
        code++;
    const bool memory = (code[1] >> 6) != 3;
    if ((code[0] == 0x86 || code[0] == 0x87) && memory) /* xchg locks by itself */
        meaning.locked = true;
    meaning.call = code[0] == 0xe8 || (code[0] == 0xff && (code[1] >> 3 & 7) == 2);
    return meaning;
}

/* ---- Stepping -------------------------------------------------------------------------------- */

enum { TRACING_REFUSED = 77 }; /* some containers do */

static void stepped_child(unsigned count, void (*prepare)(unsigned),
                          stepped_function *(*function)(unsigned), volatile int *current)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(TRACING_REFUSED);
    raise(SIGSTOP);
    for (unsigned i = 0; i < count; i++) {
        stepped_function *const run = function(i);
        prepare(i);
        *current = (int)i;
        run();
    }
    _exit(0);
}

static struct user_regs_struct registers_of(pid_t pid)
{
    struct user_regs_struct registers;
    must(ptrace(PTRACE_GETREGS, pid, NULL, &registers) == 0);
    return registers;
}

/* The child is at the first instruction of a function; returns when it has come back from it. */
static int step_through(pid_t pid, struct stepped *counted, struct user_regs_struct at)
{
    const uint64_t entry = at.rsp;
    int status = 0;
    while (at.rsp <= entry) {
        const struct meaning meaning = meaning_of(at.rip);
        counted->locked += meaning.locked;
        counted->calls += meaning.call;
        counted->steps++;
        must(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
        must(waitpid(pid, &status, 0) == pid);
        must(WIFSTOPPED(status) && WTERMSIG(status) != SIGSEGV);
        at = registers_of(pid);
    }
    return status;
}

/* Steps through function(0) .. function(count - 1), each after prepare(). False: tracing is refused
 * here. */
static bool step_all(unsigned count, void (*prepare)(unsigned),
                     stepped_function *(*function)(unsigned), struct stepped *counted)
{
    /* shared with the child: the function that it is at */
    volatile int *current = (volatile int *)mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
                                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(current != MAP_FAILED);
    *current = -1;
    const pid_t pid = fork();
    must(pid >= 0);
    if (pid == 0)
        stepped_child(count, prepare, function, current);
    int status = 0;
    must(waitpid(pid, &status, 0) == pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == TRACING_REFUSED)
        return false;
    must(WIFSTOPPED(status));
    while (WIFSTOPPED(status)) {
        const struct user_regs_struct at = registers_of(pid);
        const int i = *current;
        if (i >= 0 && counted[i].steps == 0 && at.rip == (uintptr_t)function((unsigned)i)) {
            status = step_through(pid, &counted[i], at);
            continue;
        }
        must(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0);
        must(waitpid(pid, &status, 0) == pid);
    }
    must(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return true;
}
