/* SPDX-License-Identifier: MIT */
/*
 * A program may sandbox itself after it was started (seccomp), and is then killed for any call that
 * its filter does not know: also for one of the recorder. So the recorder stands in front of the
 * calls by which a filter comes, allocates ahead, and from then on makes no call of its own. It
 * closes at PR_SET_NO_NEW_PRIVS already, which comes before the filter.
 *
 * One word has a bit that says so, and counts the threads that are in a call. All changes of it are
 * in one order, as it is one word: who was counted before the bit came is waited for.
 */
#include "file.h"
#include "record.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLOSED UINT32_C(0x80000000)
#define EXPORTED __attribute__((visibility("default")))

enum { LONGEST_WAIT = 1 << 22 }; /* pauses; a handler may have interrupted a call of its thread */

typedef long (*syscall_type)(long number, ...);
typedef int (*prctl_type)(int option, ...);

static uint32_t gate;

bool trace_may_call(void)
{
    if ((pawl_load_relaxed32(&gate) & CLOSED) != 0)
        return false;
    if ((pawl_fetch_add_relaxed32(&gate, 1) & CLOSED) == 0)
        return true;
    trace_has_called();
    return false;
}

void trace_has_called(void)
{
    (void)pawl_fetch_sub_relaxed32(&gate, 1);
}

static void close_gate(void)
{
    uint32_t found = pawl_load_relaxed32(&gate), i;
    while (!pawl_cas_relaxed32(&gate, &found, found | CLOSED))
        continue;
    for (i = 0; i < LONGEST_WAIT && pawl_load_relaxed32(&gate) != CLOSED; i++)
        pawl_cpu_relax();
}

bool trace_sandbox_in_child(void)
{
    gate &= CLOSED; /* threads that were in a call are not here */
    return gate != 0;
}

void trace_sandbox_comes(void)
{
    const int saved = errno;
    /* A child of vfork has its parent's memory, and a filter of its own. */
    if ((pawl_load_relaxed32(&gate) & CLOSED) != 0 ||
        (trace_control != NULL && (uint32_t)getpid() != trace_control->pid))
        return;
    if (trace_self.inside == 0 && (trace_control != NULL || trace_file_open())) {
        trace_self.inside = 1;
        TRACE_HANDLERS_SEE_THIS_ORDER();
        trace_lanes_ahead();
        (void)trace_file_stacks();
        leave();
    }
    close_gate();
    if (trace_control != NULL)
        pawl_store_relaxed32(&trace_control->sandboxed, 1);
    errno = saved;
}

uint32_t trace_seccomp(void)
{
    const int saved = errno;
    const long mode = syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
    errno = saved;
    return mode < 0 ? 0 : (uint32_t)mode;
}

/* ---- What programs call ---------------------------------------------------------------------- */

/* The strict mode forbids to read the processor's counter, too. */
static void look_at(long option, long value)
{
    if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS)
        trace_sandbox_comes();
    if ((option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT) ||
        (option == PR_SET_TSC && value == PR_TSC_SIGSEGV))
        trace_lane_never();
}

/* Two threads may find it at the same time: they store the same address. */
static uint64_t found(uint64_t *address, const char *name)
{
    if (PAWL_UNLIKELY(pawl_load_relaxed64(address) == 0))
        pawl_store_relaxed64(address, (uint64_t)(uintptr_t)dlsym(RTLD_NEXT, name));
    return pawl_load_relaxed64(address);
}

EXPORTED int prctl(int option, ...)
{
    static uint64_t address;
    unsigned long argument[4];
    va_list all;
    int i;
    va_start(all, option);
    for (i = 0; i < 4; i++)
        argument[i] = va_arg(all, unsigned long);
    va_end(all);
    look_at(option, (long)argument[0]);
    return ((prctl_type)(uintptr_t)found(&address, "prctl"))(option, argument[0], argument[1],
                                                             argument[2], argument[3]);
}

EXPORTED long syscall(long number, ...)
{
    static uint64_t address;
    long argument[6];
    va_list all;
    int i;
    va_start(all, number);
    for (i = 0; i < 6; i++)
        argument[i] = va_arg(all, long);
    va_end(all);
    if (number == SYS_prctl)
        look_at(argument[0], argument[1]);
    else if (number == SYS_seccomp)
        look_at(PR_SET_SECCOMP,
                argument[0] == SECCOMP_SET_MODE_STRICT ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER);
    return ((syscall_type)(uintptr_t)found(&address, "syscall"))(
        number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
