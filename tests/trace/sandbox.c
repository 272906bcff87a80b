/* SPDX-License-Identifier: MIT */
/*
 * What tests/tool/test_trace_sandbox.py records: a program that allows itself what it needs, and is
 * killed for any other call. It then takes its mutex in new threads, waits for it, and ends with 0.
 *
 *   1. The recorder has set up its file, or not yet (`before`).
 *   2. The program installs its filter.
 *   3. Threads come: each needs a place in the file. They wait: each wait has a stack and a holder.
 *   4. With `fork` a child takes the mutex: it needs a file of its own.
 *
 *   sandbox prctl | syscall | all | strict | before | fork
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/program.h"

enum { PAIRS = 2000, THREADS = 3 };

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter needed[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(SYS_futex),
    ALLOW(SYS_mmap),
    ALLOW(SYS_munmap),
    ALLOW(SYS_mprotect),
    ALLOW(SYS_madvise),
    ALLOW(SYS_brk),
    ALLOW(SYS_clone),
    ALLOW(SYS_clone3),
    ALLOW(SYS_set_robust_list),
    ALLOW(SYS_rseq),
    ALLOW(SYS_rt_sigprocmask),
    ALLOW(SYS_rt_sigaction),
    ALLOW(SYS_getrandom),
    ALLOW(SYS_wait4),
    ALLOW(SYS_exit),
    ALLOW(SYS_exit_group),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static const struct sock_fprog filter = {sizeof needed / sizeof *needed, needed};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int arrived, go;

static NOINLINE void pairs(int n)
{
    while (n-- > 0) {
        must(pthread_mutex_lock(&mutex) == 0);
        must(pthread_mutex_unlock(&mutex) == 0);
    }
}

/* The holder goes on when all have come; some of them wait in the kernel by then. */
static void *work(void *unused)
{
    (void)__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
    pairs(PAIRS);
    return unused;
}

static void threads(void)
{
    pthread_t id[THREADS];
    must(pthread_mutex_lock(&mutex) == 0);
    __atomic_store_n(&arrived, 0, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&id[i], NULL, work, NULL) == 0);
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < THREADS)
        continue;
    for (int spins = 0; spins < 10000000; spins++)
        __asm__ __volatile__("");
    must(pthread_mutex_unlock(&mutex) == 0);
    for (int i = 0; i < THREADS; i++)
        must(pthread_join(id[i], NULL) == 0);
}

static void *works_beside(void *unused)
{
    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        pairs(1);
    pairs(PAIRS);
    return unused;
}

static void install(const char *how)
{
    long failed;
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (strcmp(how, "syscall") == 0)
        failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
    else if (strcmp(how, "all") == 0)
        failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    else if (strcmp(how, "strict") == 0)
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    else
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    if (failed != 0)
        _exit(77);
}

int main(int count, char **word)
{
    pthread_t id;
    must(count == 2);
    if (strcmp(word[1], "before") != 0)
        pairs(1);
    if (strcmp(word[1], "all") == 0)
        must(pthread_create(&id, NULL, works_beside, NULL) == 0);
    install(word[1]);
    if (strcmp(word[1], "strict") == 0) {
        pairs(PAIRS);
        (void)syscall(SYS_exit, 0); /* exit_group is not allowed */
    }
    threads();
    if (strcmp(word[1], "all") == 0) {
        __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
        must(pthread_join(id, NULL) == 0);
    }
    if (strcmp(word[1], "fork") == 0) {
        int status = 1;
        const pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            pairs(3);
            (void)syscall(SYS_exit_group, 0);
        }
        must(waitpid(child, &status, 0) == child && status == 0);
    }
    (void)syscall(SYS_exit_group, 0);
    return 1;
}
