/* SPDX-License-Identifier: MIT */
/* Linux: the CPUs of the process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if defined(__linux__) && !PAWL_CALLS_OUT_

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The CPUs that this thread and the first one may use: threads are often pinned to one each. Asked
 * once. A program that later moves itself to one CPU loses only some time. */
bool pawl_os_one_cpu(void)
{
    static uint32_t known; /* 1: one CPU, 2: several */
    uint32_t answer = pawl_load_relaxed32(&known);
    if (answer == 0) {
        const int saved = errno;
        unsigned long own[128], first[128]; /* the system call, because cpu_set_t ends at 1024 */
        const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof own, own);
        const bool same =
            syscall(SYS_sched_getaffinity, (long)getpid(), sizeof first, first) == bytes;
        unsigned cpus = 0;
        for (size_t i = 0; same && bytes > 0 && i < (size_t)bytes / sizeof own[0]; i++)
            for (unsigned long cpu = own[i] | first[i]; cpu != 0; cpu &= cpu - 1)
                cpus++;
        answer = cpus == 1 ? 1 : 2;
        pawl_store_relaxed32(&known, answer);
        errno = saved;
    }
    return answer == 1;
}

#endif
