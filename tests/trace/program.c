/* SPDX-License-Identifier: MIT */
/*
 * What tests/tool/test_trace.py records: one small program, a word for each thing to be seen. It
 * knows nothing of Pawl but the name of a function that may be there.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../support/program.h"

extern __attribute__((weak)) void ipawl_trace_name_(const void *lock, const char *name);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t sem;
static int ready;

static struct timespec in(long ms)
{
    struct timespec t;
    must(clock_gettime(CLOCK_REALTIME, &t) == 0);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

static __attribute__((noinline)) void pairs(int n)
{
    for (int i = 0; i < n; i++) {
        must(pthread_mutex_lock(&mutex) == 0);
        must(pthread_mutex_unlock(&mutex) == 0);
    }
}

static void *do_pairs(void *n)
{
    pairs(*(const int *)n);
    return NULL;
}

/* Named after its first lock, and both at a time. */
static void *named_threads(void *inner)
{
    pthread_t thread;
    pairs(1);
    must(prctl(PR_SET_NAME, inner == NULL ? "within" : "around", 0, 0, 0) == 0);
    if (inner != NULL)
        must(pthread_create(&thread, NULL, named_threads, NULL) == 0 &&
             pthread_join(thread, NULL) == 0);
    return NULL;
}

/* The holder waits until the other thread must be waiting: it sleeps in the lock's kernel wait. */
static void *waiter(void *unused)
{
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}

static __attribute__((noinline)) void hold_while_waited_for(void)
{
    pthread_t id;
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_create(&id, NULL, waiter, NULL) == 0);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        continue;
    usleep(50000);
    must(pthread_mutex_unlock(&mutex) == 0);
    must(pthread_join(id, NULL) == 0);
}

/* A wait below three functions, of which the last call was not inlined and keeps its frame. */
static __attribute__((noinline)) void innermost(void)
{
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_mutex_unlock(&mutex) == 0);
}

static __attribute__((noinline)) void middle(int *local)
{
    innermost();
    (*local)++;
}

static __attribute__((noinline)) void outermost(int rounds)
{
    volatile char large[70000]; /* more than a page, so words of the stack are read in parts */
    int i, passed = 0;
    large[0] = 0;
    for (i = 0; i < rounds; i++)
        middle(&passed);
    must(passed == rounds && large[0] == 0);
}

static void *deep_waiter(void *unused)
{
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    outermost(1);
    return NULL;
}

static void wait_deep(void)
{
    pthread_t id;
    must(pthread_mutex_lock(&mutex) == 0);
    must(pthread_create(&id, NULL, deep_waiter, NULL) == 0);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        continue;
    usleep(50000);
    must(pthread_mutex_unlock(&mutex) == 0);
    must(pthread_join(id, NULL) == 0);
}

static void *taker(void *which)
{
    must(pthread_mutex_trylock(&mutex) == EBUSY);
    if (which != NULL) {
        const struct timespec t = in(20);
        must(pthread_mutex_timedlock(&mutex, &t) == ETIMEDOUT);
        must(pthread_rwlock_tryrdlock(&rwlock) == EBUSY);
        must(pthread_spin_trylock(&spin) == EBUSY);
    }
    return NULL;
}

static void every_kind(void)
{
    pthread_t id;
    must(pthread_mutex_lock(&mutex) == 0 && pthread_rwlock_wrlock(&rwlock) == 0);
    must(pthread_spin_lock(&spin) == 0);
    must(pthread_create(&id, NULL, taker, &mutex) == 0 && pthread_join(id, NULL) == 0);
    must(pthread_spin_unlock(&spin) == 0);
    must(pthread_rwlock_unlock(&rwlock) == 0);
    struct timespec t = in(10);
    must(pthread_cond_timedwait(&cond, &mutex, &t) == ETIMEDOUT);
    must(pthread_mutex_unlock(&mutex) == 0);
    must(pthread_cond_signal(&cond) == 0 && pthread_cond_broadcast(&cond) == 0);
    must(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_rdlock(&rwlock) == 0);
    must(pthread_rwlock_unlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
    must(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    must(sem_post(&sem) == 0 && sem_wait(&sem) == 0);
    errno = 0;
    must(sem_trywait(&sem) == -1 && errno == EAGAIN);
    t = in(10);
    must(sem_timedwait(&sem, &t) == -1 && errno == ETIMEDOUT);
}

/* Both orders, one of them by a try: nothing can come of it. */
static void try_in_order(void)
{
    must(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_trylock(&other) == 0);
    must(pthread_mutex_unlock(&other) == 0 && pthread_mutex_unlock(&mutex) == 0);
    must(pthread_mutex_lock(&other) == 0 && pthread_mutex_lock(&mutex) == 0);
    must(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&other) == 0);
    must(pthread_rwlock_wrlock(&rwlock) == 0 && pthread_spin_trylock(&spin) == 0);
    must(pthread_spin_unlock(&spin) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
    must(pthread_spin_lock(&spin) == 0 && pthread_rwlock_tryrdlock(&rwlock) == 0);
    must(pthread_rwlock_unlock(&rwlock) == 0 && pthread_spin_unlock(&spin) == 0);
}

static void handler(int unused)
{
    must(pthread_mutex_trylock(&other) == 0);
    must(pthread_mutex_unlock(&other) == 0);
}

/* A handler that locks interrupts the recorder again and again. */
static void interrupted(void)
{
    struct sigaction action;
    struct itimerspec often = {{0, 20000}, {0, 20000}};
    struct sigevent event;
    timer_t timer;
    memset(&action, 0, sizeof action);
    memset(&event, 0, sizeof event);
    action.sa_handler = handler;
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    must(sigaction(SIGALRM, &action, NULL) == 0);
    must(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    must(timer_settime(timer, 0, &often, NULL) == 0);
    pairs(100000);
    must(timer_delete(timer) == 0);
}

static void forks(int n)
{
    int status;
    pairs(1);
    for (int i = 0; i < n; i++) {
        const pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            pairs(3);
            _exit(0);
        }
        must(waitpid(child, &status, 0) == child && status == 0);
    }
}

static void threads(int n)
{
    static const int one = 1;
    pthread_attr_t small;
    pthread_t *const ids = calloc((size_t)n, sizeof *ids);
    must(ids != NULL && pthread_attr_init(&small) == 0);
    must(pthread_attr_setstacksize(&small, 16384) == 0);
    for (int i = 0; i < n; i++)
        must(pthread_create(&ids[i], &small, do_pairs, (void *)&one) == 0);
    for (int i = 0; i < n; i++)
        must(pthread_join(ids[i], NULL) == 0);
    free(ids);
}

static void *pairs_in_a_crowd(void *unused)
{
    (void)pthread_barrier_wait(&barrier);
    pairs(20);
    (void)pthread_barrier_wait(&barrier);
    return unused;
}

/* Two crowds, one after the other. The threads of one begin, and end, at one moment. */
static void crowds(int n)
{
    pthread_t *const all = calloc((size_t)n, sizeof *all);
    pthread_attr_t small;
    must(all != NULL && pthread_attr_init(&small) == 0);
    must(pthread_attr_setstacksize(&small, 64 << 10) == 0);
    must(pthread_barrier_destroy(&barrier) == 0); /* main's, for one thread */
    must(pthread_barrier_init(&barrier, NULL, (unsigned)n) == 0);
    for (int crowd = 0; crowd < 2; crowd++) {
        for (int i = 0; i < n; i++)
            must(pthread_create(&all[i], &small, pairs_in_a_crowd, NULL) == 0);
        for (int i = 0; i < n; i++)
            must(pthread_join(all[i], NULL) == 0);
    }
    free(all);
}

static __attribute__((noinline)) void heavy(int n)
{
    while (n-- > 0) {
        must(pthread_mutex_lock(&other) == 0);
        must(pthread_mutex_unlock(&other) == 0);
    }
}

/* Children that borrow this process until they become another program, one after the other. */
static void vforks(int n, const char *program)
{
    int status;
    for (int i = 0; i < n; i++) {
        pairs(1);
        pid_t child = vfork();
        if (child == 0) {
            (void)execl(program, program, (char *)NULL);
            _exit(98);
        }
        must(child > 0 && waitpid(child, &status, 0) == child);
        must(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    }
}

/* One lock is used often, and a great many once. */
static void many_locks(int n)
{
    pthread_mutex_t *const locks = malloc((size_t)n * sizeof *locks);
    must(locks != NULL);
    for (int i = 0; i < n; i++) {
        must(pthread_mutex_init(&locks[i], NULL) == 0);
        must(pthread_mutex_lock(&locks[i]) == 0 && pthread_mutex_unlock(&locks[i]) == 0);
        heavy(1);
    }
    free(locks);
}

static void *nap(void *unused)
{
    usleep(1000);
    return unused;
}

/* The only call of its thread that is recorded. */
static void nap_in_a_thread(void)
{
    pthread_t thread;
    must(pthread_create(&thread, NULL, nap, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

static void close_all(void)
{
    for (int i = 0; i < 256; i++)
        (void)close(i);
}

int main(int count, char **word)
{
    const int n = count > 2 ? atoi(word[2]) : 1;
    must(pthread_barrier_init(&barrier, NULL, 1) == 0 && pthread_spin_init(&spin, 0) == 0);
    must(sem_init(&sem, 0, 0) == 0 && count > 1);
    if (strcmp(word[1], "pairs") == 0) {
        pairs(n);
    } else if (strcmp(word[1], "named") == 0) {
        if (ipawl_trace_name_ != NULL)
            ipawl_trace_name_(&mutex, "cache.map");
        pairs(n);
    } else if (strcmp(word[1], "wait") == 0) {
        hold_while_waited_for();
    } else if (strcmp(word[1], "kinds") == 0) {
        every_kind();
    } else if (strcmp(word[1], "kill") == 0) {
        pairs(n);
        must(pthread_mutex_lock(&other) == 0);
        (void)kill(getpid(), SIGKILL);
    } else if (strcmp(word[1], "handler") == 0) {
        interrupted();
    } else if (strcmp(word[1], "forks") == 0) {
        forks(n);
    } else if (strcmp(word[1], "threads") == 0) {
        threads(n);
    } else if (strcmp(word[1], "names") == 0) {
        pthread_t thread;
        pairs(1);
        must(pthread_create(&thread, NULL, named_threads, &thread) == 0 &&
             pthread_join(thread, NULL) == 0);
    } else if (strcmp(word[1], "crowds") == 0) {
        crowds(n);
    } else if (strcmp(word[1], "locks") == 0) {
        many_locks(n);
    } else if (strcmp(word[1], "exec") == 0) {
        pairs(n);
        (void)execl(word[0], word[0], "pairs", "7", (char *)NULL);
        _exit(98);
    } else if (strcmp(word[1], "become") == 0 && count > 3) {
        pairs(n);
        (void)execl(word[3], word[3], (char *)NULL);
        _exit(98);
    } else if (strcmp(word[1], "vforks") == 0 && count > 3) {
        vforks(n, word[3]);
    } else if (strcmp(word[1], "closed") == 0) {
        close_all();
        threads(n);
    } else if (strcmp(word[1], "tries") == 0) {
        try_in_order();
    } else if (strcmp(word[1], "user") == 0) {
        must(setgid(65534) == 0 && setuid(65534) == 0);
        threads(n);
        forks(1);
    } else if (strcmp(word[1], "end") == 0) {
        pairs(1);
        return n;
    } else if (strcmp(word[1], "deep") == 0) {
        wait_deep();
        outermost(n);
    } else if (strcmp(word[1], "nap") == 0) {
        nap_in_a_thread();
    } else if (strcmp(word[1], "sleep") == 0) {
        pairs(5);
        usleep(200000);
        pairs(7);
    } else {
        return 97;
    }
    return 0;
}
