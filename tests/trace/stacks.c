/* SPDX-License-Identifier: MIT */
/*
 * Calls of locks below odd stacks, for tests/tool/test_trace_stacks.py: a word for each. Built with
 * PLUGIN it is a library whose constructor takes the program's lock.
 *
 * Its malloc takes a mutex that is recorded. A recorder that allocated while it looks at a stack
 * would come back to itself here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "../support/program.h"

/* What follows a call keeps it from being a jump, which would leave no frame. */
#define STAYS() __asm__ __volatile__("" ::: "memory")

#ifdef PLUGIN

extern void take(void);

__attribute__((constructor)) static void begins(void)
{
    take();
    STAYS();
}

#else

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;
static ucontext_t here, there;
static int ready;

NOINLINE void take(void);
NOINLINE void take(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_mutex_unlock(&mutex) == 0);
}

/* ---- A heap behind a mutex ------------------------------------------------------------------- */

static _Alignas(16) char room[1 << 22];
static size_t used;

void *malloc(size_t size)
{
    void *made = NULL;
    must(pthread_mutex_lock(&heap) == 0);
    size = (size + 31) / 16 * 16;
    if (used + size <= sizeof room) {
        *(size_t *)(void *)(room + used) = size - 16;
        made = room + used + 16;
        used += size;
    }
    must(pthread_mutex_unlock(&heap) == 0);
    return made;
}

void free(void *block)
{
}

void *calloc(size_t n, size_t size)
{
    return malloc(n * size); /* never used before, so 0 */
}

void *realloc(void *block, size_t size)
{
    void *const made = malloc(size);
    if (block != NULL && made != NULL) {
        const size_t old = *(size_t *)(void *)((char *)block - 16);
        memcpy(made, block, old < size ? old : size);
    }
    return made;
}

NOINLINE static void allocate(void)
{
    void *volatile block = malloc(10);
    must(block != NULL);
    free(block);
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

static void coroutine(void)
{
    take();
    must(swapcontext(&there, &here) == 0);
}

static void on_a_stack_of_its_own(void)
{
    const size_t size = 65536;
    must(getcontext(&there) == 0);
    there.uc_stack.ss_sp =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(there.uc_stack.ss_sp != MAP_FAILED);
    there.uc_stack.ss_size = size;
    there.uc_link = &here;
    makecontext(&there, coroutine, 0);
    must(swapcontext(&here, &there) == 0);
    must(munmap(there.uc_stack.ss_sp, size) == 0);
}

static void handler(int unused)
{
    take();
    STAYS();
}

static void interrupted(void)
{
    static char own[65536];
    struct sigaction action;
    stack_t stack;
    memset(&action, 0, sizeof action);
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = own;
    stack.ss_size = sizeof own;
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    must(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    must(raise(SIGUSR1) == 0);
}

NOINLINE static void recurse(int n)
{
    if (n > 0)
        recurse(n - 1);
    else
        take();
    STAYS();
}

/* A stack for each number below 2^depth: each bit of it chooses between two calls. */
NOINLINE static void branch(unsigned number, int depth)
{
    if (depth == 0)
        take();
    else if ((number & 1) != 0)
        branch(number >> 1, depth - 1);
    else
        branch(number >> 1, depth - 1);
    STAYS();
    if (depth != 0 && (number & 1) != 0)
        ready++; /* so that the two calls stay two */
}

static void *taker(void *unused)
{
    take();
    return unused;
}

static void small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t id;
    must(pthread_attr_init(&attributes) == 0);
    must(pthread_attr_setstacksize(&attributes, 16384) == 0);
    must(pthread_create(&id, &attributes, taker, NULL) == 0 && pthread_join(id, NULL) == 0);
}

/* Code that no file has: `call take; return`, with or without a frame pointer. */
static void made_code(int with_frame)
{
#ifdef __x86_64__
    static const uint8_t with[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0,    0,    0,
                                   0,    0,    0,    0,    0,    0xff, 0xd0, 0x5d, 0xc3};
    static const uint8_t without[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0xb8, 0,    0,    0,    0,   0,
                                      0,    0,    0,    0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    const uintptr_t target = (uintptr_t)take;
    void (*run)(void);
    uint8_t *const code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(code != MAP_FAILED);
    if (with_frame)
        memcpy(code, with, sizeof with);
    else
        memcpy(code, without, sizeof without);
    memcpy(code + 6, &target, sizeof target);
    memcpy(&run, &code, sizeof run);
    run();
    STAYS();
#else
    take();
#endif
}

static void *waits_for_ever(void *unused)
{
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    take();
    return unused;
}

/* The other thread is in its wait, or nearly so, when the process is killed. */
static void killed(void)
{
    pthread_t id;
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_create(&id, NULL, waits_for_ever, NULL) == 0);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        continue;
    (void)usleep(100000);
    (void)kill(getpid(), SIGKILL);
}

static pthread_t first;

static void *outlives_main(void *unused)
{
    must(pthread_join(first, NULL) == 0);
    taker(NULL);
    STAYS();
    _exit(0);
}

int main(int count, char **word)
{
    pthread_t id;
    const int n = count > 2 ? atoi(word[2]) : 1;
    must(count > 1);
    if (strcmp(word[1], "coroutine") == 0) {
        on_a_stack_of_its_own();
    } else if (strcmp(word[1], "handler") == 0) {
        interrupted();
    } else if (strcmp(word[1], "recursion") == 0) {
        recurse(n);
    } else if (strcmp(word[1], "many") == 0) {
        for (int i = 0; i < 1 << n; i++)
            branch((unsigned)i, n);
    } else if (strcmp(word[1], "small") == 0) {
        small_stack();
    } else if (strcmp(word[1], "code") == 0) {
        made_code(n);
    } else if (strcmp(word[1], "malloc") == 0) {
        allocate();
    } else if (strcmp(word[1], "plugin") == 0) {
        must(count > 2 && dlopen(word[2], RTLD_NOW) != NULL);
    } else if (strcmp(word[1], "orphan") == 0) {
        first = pthread_self();
        must(pthread_create(&id, NULL, outlives_main, NULL) == 0);
        pthread_exit(NULL);
    } else if (strcmp(word[1], "killed") == 0) {
        killed();
    } else {
        return 97;
    }
    return 0;
}

#endif
