/* SPDX-License-Identifier: MIT */
/* Sandboxes that forbid one system call, or some commands of it, for the calling thread and those
 * that it starts. */
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* By which the C library maps memory. */
#ifdef SYS_mmap2
#define TEST_SYS_MMAP SYS_mmap2
#else
#define TEST_SYS_MMAP SYS_mmap
#endif

static inline bool sandbox_filters(struct sock_filter *filter, size_t length)
{
    struct sock_fprog program;
    program.len = (unsigned short)length;
    program.filter = filter;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static inline bool sandbox_answers(uint32_t number, uint32_t answer)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return sandbox_filters(filter, sizeof filter / sizeof filter[0]);
}

/* From now on the call fails if its first argument has one of the bits. Little-endian machines. */
static inline bool sandbox_refuses_bits(uint32_t number, uint32_t bits)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return sandbox_filters(filter, sizeof filter / sizeof filter[0]);
}

#ifdef SYS_clock_gettime64
#define SANDBOX_CLOCK SYS_clock_gettime64
#else
#define SANDBOX_CLOCK SYS_clock_gettime
#endif

/* From now on each call kills the process, except for its end and a clock that needs the kernel. */
static inline bool sandbox_kills_all(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_CLOCK, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    return sandbox_filters(filter, sizeof filter / sizeof filter[0]);
}

/* From now on the call fails. False: the system has no filters. */
static inline bool sandbox_refuses(uint32_t number)
{
    return sandbox_answers(number, SECCOMP_RET_ERRNO | EPERM);
}

/* From now on the call kills the process. */
static inline bool sandbox_kills(uint32_t number)
{
    return sandbox_answers(number, SECCOMP_RET_KILL_PROCESS);
}
