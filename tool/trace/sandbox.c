/* SPDX-License-Identifier: MIT */
/*
 * A program may sandbox itself after it was started (seccomp), and is then killed for any call that
 * its filter does not know: also for one of the recorder. So the recorder stands in front of the
 * calls by which a filter comes, allocates ahead, and from then on makes no call of its own. It
 * closes at PR_SET_NO_NEW_PRIVS already, which comes before the filter.
 */
#include "file.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define EXPORTED __attribute__((visibility("default")))

/* The strict mode forbids to read the processor's counter, too. */
static void look_at(long option, long value)
{
    if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS)
        trace_sandbox_comes();
    if ((option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT) ||
        (option == PR_SET_TSC && value == PR_TSC_SIGSEGV))
        trace_lane_never();
}

EXPORTED int prctl(int option, ...)
{
    unsigned long argument[4];
    va_list all;
    va_start(all, option);
    for (int i = 0; i < 4; i++)
        argument[i] = va_arg(all, unsigned long);
    va_end(all);
    look_at(option, (long)argument[0]);
    return next()->prctl(option, argument[0], argument[1], argument[2], argument[3]);
}

EXPORTED long syscall(long number, ...)
{
    long argument[6];
    va_list all;
    va_start(all, number);
    for (int i = 0; i < 6; i++)
        argument[i] = va_arg(all, long);
    va_end(all);
    if (number == SYS_prctl)
        look_at(argument[0], argument[1]);
    else if (number == SYS_seccomp)
        look_at(PR_SET_SECCOMP,
                argument[0] == SECCOMP_SET_MODE_STRICT ? SECCOMP_MODE_STRICT : SECCOMP_MODE_FILTER);
    return next()->syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                           argument[5]);
}
