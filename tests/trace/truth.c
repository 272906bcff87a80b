/* SPDX-License-Identifier: MIT */
/*
 * Programs whose takes, waits and holders are known, for tests/tool/test_trace_truth.py: a word for
 * each. A thread that must be waiting is given 50 ms to come to its wait.
 *
 * chain
 *   1. `first` holds the mutex. `second` asks for it, then `third`: the kernel hands it over in
 *      that order, as it inherits priority.
 *   2. `first` releases. `second` holds it, for 40 ms and more, and `third` still waits.
 *   3. `second` releases, and `third` is granted. It waited for both.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>

#include "../support/program.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t held[3], sem;

static void make_mutex(int type, int protocol, int robust)
{
    pthread_mutexattr_t a;
    must(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_settype(&a, type) == 0);
    must(pthread_mutexattr_setprotocol(&a, protocol) == 0);
    must(pthread_mutexattr_setrobust(&a, robust) == 0);
    must(pthread_mutex_init(&mutex, &a) == 0);
}

static void together(void *(*call)(void *), size_t n)
{
    pthread_t ids[8];
    for (size_t i = 0; i < n; i++)
        must(pthread_create(&ids[i], NULL, call, (void *)i) == 0);
    for (size_t i = 0; i < n; i++)
        must(pthread_join(ids[i], NULL) == 0);
}

/* ---- Who held it meanwhile ------------------------------------------------------------------- */

static NOINLINE void first(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    must(sem_post(&held[0]) == 0 && sem_wait(&held[2]) == 0);
    usleep(50000);
    must(pthread_mutex_unlock(&mutex) == 0);
}

static NOINLINE void second(void)
{
    must(sem_wait(&held[0]) == 0 && sem_post(&held[1]) == 0);
    must(pthread_mutex_lock(&mutex) == 0);
    usleep(40000);
    must(pthread_mutex_unlock(&mutex) == 0);
}

static NOINLINE void third(void)
{
    must(sem_wait(&held[1]) == 0);
    usleep(50000);
    must(sem_post(&held[2]) == 0);
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_mutex_unlock(&mutex) == 0);
}

static void *one_of_chain(void *number)
{
    if (number == NULL)
        first();
    else if ((size_t)number == 1)
        second();
    else
        third();
    return NULL;
}

/* ---- Locks that are taken again -------------------------------------------------------------- */

static NOINLINE void inner(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    usleep(1000);
    must(pthread_mutex_unlock(&mutex) == 0);
}

static NOINLINE void outer(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    inner();
    must(sem_post(&held[0]) == 0);
    usleep(50000);
    must(pthread_mutex_unlock(&mutex) == 0);
}

static NOINLINE void waiter(void)
{
    must(sem_wait(&held[0]) == 0);
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_mutex_unlock(&mutex) == 0);
}

static void *outer_or_waiter(void *number)
{
    if (number == NULL)
        outer();
    else
        waiter();
    return NULL;
}

static void read_twice(void)
{
    for (int i = 0; i < 100; i++) {
        must(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_rdlock(&rwlock) == 0);
        must(pthread_rwlock_unlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
    }
}

static void checked(void)
{
    make_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    must(pthread_mutex_lock(&mutex) == 0);
    for (int i = 0; i < 100; i++)
        must(pthread_mutex_lock(&mutex) == EDEADLK);
    must(pthread_mutex_unlock(&mutex) == 0);
}

/* A read beyond the holds that are remembered; afterwards no reader meets another one. */
static void deep(void)
{
    static pthread_mutex_t many[64];
    for (int i = 0; i < 64; i++)
        must(pthread_mutex_lock(&many[i]) == 0);
    must(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
    for (int i = 64; i-- > 0;)
        must(pthread_mutex_unlock(&many[i]) == 0);
    for (int i = 0; i < 100; i++)
        must(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
}

/* A thread that ends while it holds a robust mutex. */
static void *ends_holding(void *unused)
{
    const int error = pthread_mutex_lock(&mutex);
    must(error == 0 || error == EOWNERDEAD);
    if (error == EOWNERDEAD)
        must(pthread_mutex_consistent(&mutex) == 0);
    return unused;
}

static void robust(void)
{
    make_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
    for (int i = 0; i < 20; i++)
        together(ends_holding, 1);
}

/* ---- Semaphores, barriers -------------------------------------------------------------------- */

static void on_alarm(int unused)
{
}

static void semaphores(void)
{
    const struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    const struct timespec bad = {0, -5}, past = {1, 0};
    struct timespec later;
    struct sigaction action;
    must(clock_gettime(CLOCK_REALTIME, &later) == 0);
    later.tv_sec += 1000;
    for (int i = 0; i < 100; i++)
        must(sem_post(&sem) == 0);
    for (int i = 0; i < 50; i++)
        must(sem_wait(&sem) == 0 && sem_timedwait(&sem, &later) == 0);
    for (int i = 0; i < 5; i++)
        must(sem_timedwait(&sem, &bad) == -1 && errno == EINVAL);
    for (int i = 0; i < 5; i++)
        must(sem_timedwait(&sem, &past) == -1 && errno == ETIMEDOUT);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    must(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int i = 0; i < 5; i++)
        must(sem_wait(&sem) == -1 && errno == EINTR);
    must(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

static void *meets(void *unused)
{
    for (int i = 0; i < 50; i++)
        (void)pthread_barrier_wait(&barrier);
    return unused;
}

/* ---- Processes, code, memory ----------------------------------------------------------------- */

static void pairs(int n)
{
    while (n-- > 0)
        must(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
}

static void takes_in_child(void)
{
    pairs(1000);
}

/* Before the libraries begin, as an allocator may that they use. */
static void before_libraries(int count, char **word)
{
    if (count > 1 && strcmp(word[1], "early") == 0)
        must(pthread_atfork(NULL, NULL, takes_in_child) == 0);
}

__attribute__((section(".preinit_array"),
               used)) static void (*const early)(int, char **) = before_libraries;

static void forks(pid_t (*make)(void))
{
    int status;
    pairs(10);
    for (int i = 0; i < 5; i++) {
        const pid_t child = make();
        if (child == 0) {
            pairs(100);
            _exit(0);
        }
        must(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
}

/* Plug-ins one after the other, which the loader puts at one address. */
static void plug_in(const char *file, int n)
{
    void *const handle = dlopen(file, RTLD_NOW);
    void (*takes)(pthread_mutex_t *, int);
    must(handle != NULL);
    *(void **)(void *)&takes = dlsym(handle, "takes");
    must(takes != NULL);
    takes(&mutex, n);
    must(dlclose(handle) == 0);
}

/* Two locks of one object, in the order that `number` says; made and destroyed each time. */
static pthread_mutex_t object[2];

static void *live_and_die(void *number)
{
    const size_t one = (size_t)number;
    for (int i = 0; i < 20; i++) {
        must(pthread_mutex_init(&object[0], NULL) == 0);
        must(pthread_mutex_init(&object[1], NULL) == 0);
        must(pthread_mutex_lock(&object[one]) == 0 && pthread_mutex_lock(&object[!one]) == 0);
        must(pthread_mutex_unlock(&object[!one]) == 0 && pthread_mutex_unlock(&object[one]) == 0);
        must(pthread_mutex_destroy(&object[0]) == 0 && pthread_mutex_destroy(&object[1]) == 0);
    }
    return NULL;
}

/* Each life of the memory has one order, by one thread. Both threads are there to the end. */
static void lives(void)
{
    pthread_t other;
    must(pthread_create(&other, NULL, live_and_die, (void *)1) == 0);
    must(pthread_join(other, NULL) == 0);
    (void)live_and_die(NULL);
}

/* More orders than a small lane has room for. */
static void orders(int n)
{
    pthread_mutex_t *const many = calloc((size_t)n, sizeof *many);
    must(many != NULL);
    for (int i = 0; i < n; i++) {
        must(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&many[i]) == 0);
        must(pthread_mutex_unlock(&many[i]) == 0 && pthread_mutex_unlock(&mutex) == 0);
    }
    free(many);
}

/* Locks by a wrapper that several functions call; and one that no call made. */
static NOINLINE pthread_mutex_t *make_lock(void)
{
    pthread_mutex_t *const made = malloc(sizeof *made);
    must(made != NULL && pthread_mutex_init(made, NULL) == 0);
    return made;
}

static NOINLINE pthread_mutex_t *lock_of_table(void)
{
    pthread_mutex_t *const made = make_lock();
    return made + (made == NULL); /* no tail call: it would leave no frame */
}

static NOINLINE pthread_mutex_t *lock_of_log(void)
{
    pthread_mutex_t *const made = make_lock();
    return made + (made == NULL);
}

static NOINLINE void take_and_free(pthread_mutex_t *lock)
{
    must(pthread_mutex_lock(lock) == 0 && pthread_mutex_unlock(lock) == 0);
    free(lock);
}

static void names(void)
{
    pthread_mutex_t *const table = lock_of_table(), *const log = lock_of_log();
    pthread_mutex_t *const bare = calloc(1, sizeof *bare);
    must(bare != NULL);
    take_and_free(table);
    take_and_free(log);
    take_and_free(bare);
}

/* A thread that works, and three that sleep until it has. */
static void *works_or_sleeps(void *number)
{
    struct timespec ran;
    if (number != NULL) {
        pairs(1);
        must(sem_wait(&sem) == 0);
        pairs(1);
        return NULL;
    }
    do {
        pairs(100);
        must(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) == 0);
    } while (ran.tv_sec == 0 && ran.tv_nsec < 100000000);
    must(sem_post(&sem) == 0 && sem_post(&sem) == 0 && sem_post(&sem) == 0);
    return NULL;
}

/* The child goes on for a second after its parent. */
static void leaves_a_child(void)
{
    char byte;
    int ends[2];
    must(pipe(ends) == 0);
    if (fork() == 0) {
        pairs(5);
        must(write(ends[1], "", 1) == 1);
        (void)sleep(1);
        pairs(5);
        _exit(0);
    }
    must(read(ends[0], &byte, 1) == 1);
}

/* C11: each of two gives the other the turn, for which it waits by a condition. */
static mtx_t c11_mutex;
static cnd_t c11_turns, c11_nobody; /* the second is never signalled */

static void *takes_turns(void *me)
{
    static size_t turn;
    struct timespec past = {0, 0};
    for (int i = 0; i < 50; i++) {
        must(mtx_lock(&c11_mutex) == thrd_success);
        while (turn % 2 != (size_t)me)
            must(cnd_wait(&c11_turns, &c11_mutex) == thrd_success);
        must(mtx_trylock(&c11_mutex) == thrd_busy);
        turn++;
        must(cnd_signal(&c11_turns) == thrd_success);
        must(mtx_unlock(&c11_mutex) == thrd_success);
    }
    must(mtx_timedlock(&c11_mutex, &past) == thrd_success);
    must(cnd_timedwait(&c11_nobody, &c11_mutex, &past) == thrd_timedout);
    must(mtx_unlock(&c11_mutex) == thrd_success);
    return NULL;
}

static void c11(void)
{
    must(mtx_init(&c11_mutex, mtx_timed) == thrd_success && cnd_init(&c11_turns) == thrd_success);
    must(cnd_init(&c11_nobody) == thrd_success);
    together(takes_turns, 2);
    mtx_destroy(&c11_mutex);
}

int main(int count, char **word)
{
    must(count > 1 && sem_init(&sem, 0, 0) == 0 && pthread_barrier_init(&barrier, NULL, 4) == 0);
    for (size_t i = 0; i < 3; i++)
        must(sem_init(&held[i], 0, 0) == 0);
    if (strcmp(word[1], "chain") == 0) {
        make_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
        together(one_of_chain, 3);
    } else if (strcmp(word[1], "recursive") == 0) {
        make_mutex(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
        together(outer_or_waiter, 2);
    } else if (strcmp(word[1], "twice") == 0) {
        read_twice();
    } else if (strcmp(word[1], "checked") == 0) {
        checked();
    } else if (strcmp(word[1], "deep") == 0) {
        deep();
    } else if (strcmp(word[1], "robust") == 0) {
        robust();
    } else if (strcmp(word[1], "semaphores") == 0) {
        semaphores();
    } else if (strcmp(word[1], "barrier") == 0) {
        together(meets, 4);
    } else if (strcmp(word[1], "raw") == 0) {
        forks(_Fork); /* which runs no handlers */
    } else if (strcmp(word[1], "early") == 0) {
        forks(fork);
    } else if (strcmp(word[1], "plugins") == 0 && count > 3) {
        plug_in(word[2], 10);
        plug_in(word[3], 20);
    } else if (strcmp(word[1], "lives") == 0) {
        lives();
    } else if (strcmp(word[1], "orders") == 0) {
        orders(1000);
    } else if (strcmp(word[1], "names") == 0) {
        names();
    } else if (strcmp(word[1], "leaves") == 0) {
        leaves_a_child();
    } else if (strcmp(word[1], "c11") == 0) {
        c11();
    } else if (strcmp(word[1], "sleepers") == 0) {
        together(works_or_sleeps, 4);
    } else {
        return 97;
    }
    return 0;
}
