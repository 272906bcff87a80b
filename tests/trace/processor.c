/* SPDX-License-Identifier: MIT */
/*
 * What tests/tool/test_trace_processor.py records: a thread that is kept off its processor, or
 * sleeps, while it holds a mutex; one that may open no file any more; and one that goes on in the
 * lane of another.
 *
 *   processor kept | slept | sandboxed | heir
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../support/program.h"

enum { TIMES = 8, HOG_NS = 30000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int wanted, done;

static int64_t cpu_ns(void)
{
    struct timespec t;
    must(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* It spins, too, where it waits: a wake-up would be a call that the holder makes. */
static void *hog(void *unused)
{
    for (int i = 1; i <= TIMES; i++) {
        while (__atomic_load_n(&wanted, __ATOMIC_ACQUIRE) < i)
            (void)sched_yield();
        int64_t begun = cpu_ns();
        while (cpu_ns() - begun < HOG_NS)
            continue;
        __atomic_store_n(&done, i, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Both have one processor, and the holder has little of it. */
static NOINLINE void hold_while_another_runs(int i)
{
    must(pthread_mutex_lock(&mutex) == 0);
    __atomic_store_n(&wanted, i, __ATOMIC_RELEASE);
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < i)
        continue;
    must(pthread_mutex_unlock(&mutex) == 0);
}

static NOINLINE void hold_and_sleep(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    usleep(5000);
    must(pthread_mutex_unlock(&mutex) == 0);
}

static void on_one_processor(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    must(sched_setaffinity(0, sizeof set, &set) == 0);
}

static void kept(void)
{
    pthread_t id;
    on_one_processor();
    must(pthread_create(&id, NULL, hog, NULL) == 0);
    must(setpriority(PRIO_PROCESS, 0, 19) == 0);
    for (int i = 1; i <= TIMES; i++)
        hold_while_another_runs(i);
    must(pthread_join(id, NULL) == 0);
}

static NOINLINE void pairs(int n)
{
    for (int i = 0; i < n; i++) {
        must(pthread_mutex_lock(&mutex) == 0);
        must(pthread_mutex_unlock(&mutex) == 0);
    }
}

static void *many(void *n)
{
    pairs(*(const int *)n);
    return NULL;
}

/* The first has filled its part of each window when the second comes to its lane. */
static void heir(void)
{
    int n = 1000000, fewer = 1000;
    pthread_t id;
    must(pthread_create(&id, NULL, many, &n) == 0 && pthread_join(id, NULL) == 0);
    must(pthread_create(&id, NULL, many, &fewer) == 0 && pthread_join(id, NULL) == 0);
}

static void sandboxed(void)
{
    struct sock_filter no_files[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof no_files / sizeof *no_files, no_files};
    /* The thread has its larger lane then, and the process its stacks: that opens files, too. */
    pairs(1000);
    usleep(1);
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
    usleep(100000); /* another window */
    pairs(1000);
    _exit(0);
}

int main(int count, char **word)
{
    must(count == 2);
    if (strcmp(word[1], "kept") == 0)
        kept();
    for (int i = 0; i < TIMES && strcmp(word[1], "slept") == 0; i++)
        hold_and_sleep();
    if (strcmp(word[1], "heir") == 0)
        heir();
    if (strcmp(word[1], "sandboxed") == 0)
        sandboxed();
    return 0;
}
