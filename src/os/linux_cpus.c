/* SPDX-License-Identifier: MIT */
/* Linux: the CPUs of the process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#if defined(__linux__) && !PAWL_CALLS_OUT_

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The CPUs that this thread and the first one may use: threads are often pinned to one each. Asked
 * once. A program that later moves itself to one CPU loses only some time. 0: not known. */
static uint32_t os_cpus(void)
{
    static uint32_t known; /* and one more */
    uint32_t answer = pawl_load_relaxed32(&known);
    if (answer == 0) {
        const int saved = errno;
        unsigned long own[128], first[128]; /* the system call, because cpu_set_t ends at 1024 */
        const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof own, own);
        const bool same =
            syscall(SYS_sched_getaffinity, (long)getpid(), sizeof first, first) == bytes;
        answer = 1;
        for (size_t i = 0; same && bytes > 0 && i < (size_t)bytes / sizeof own[0]; i++)
            for (unsigned long cpu = own[i] | first[i]; cpu != 0; cpu &= cpu - 1)
                answer++;
        pawl_store_relaxed32(&known, answer);
        errno = saved;
    }
    return answer - 1;
}

bool pawl_os_one_cpu(void)
{
    return os_cpus() == 1;
}

uint64_t pawl_os_used(void)
{
    struct timespec used;
    const uint32_t cpus = os_cpus();
    const int saved = errno;
    const bool known = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0;
    errno = saved;
    return known && cpus != 0
               ? ((uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec) / cpus
               : 0;
}

#endif
