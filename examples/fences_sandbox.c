/* SPDX-License-Identifier: MIT */
/*
 * A program that puts itself into a sandbox. The sandbox refuses all system calls that the program
 * does not need, and membarrier is one of them. So the program first tells the library to do
 * without. Readers then pass fences, and grace periods need no system call.
 */
#include <pawl/fences.h>
#include <pawl/rcu.h>

#include "example.h"

#if defined(__linux__)
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

/* A real one would list what it allows. */
static int enter_sandbox(void)
{
#if defined(__linux__)
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program;
    program.len = (unsigned short)(sizeof filter / sizeof filter[0]);
    program.filter = filter;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
#else
    return 0;
#endif
}

static const char *setting = "old";

/* [quote begin] */
int main(void)
{
    CHECK(pawl_fences_strong() == 0); /* before any thread has read */
    if (enter_sandbox() != 0)
        perror("no sandbox here");

    pawl_rcu_read_lock();
    printf("%s setting\n", pawl_rcu_dereference(setting));
    pawl_rcu_read_unlock();

    const char *old = pawl_rcu_xchg_pointer(&setting, "new");
    pawl_rcu_synchronize(); /* makes no membarrier */
    printf("nobody reads the %s setting any more\n", old);
    return 0;
}
/* [quote end] */
