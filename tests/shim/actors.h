/* SPDX-License-Identifier: MIT */
/*
 * Threads that do one call after another, so that a test can say: this thread locks, that one
 * waits. Whether a thread waits is read from the kernel, which works for any lock.
 */
#pragma once

#include "test.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>

typedef int rwlock_call(pthread_rwlock_t *);

struct actor {
    pthread_t id;
    sem_t wanted, done;
    rwlock_call *call; /* NULL: the thread ends */
    pthread_rwlock_t *lock;
    int result;
    pid_t number;
    int inside; /* 1 from before the call until after it */
};

static inline void *actor_main(void *opaque)
{
    struct actor *const a = (struct actor *)opaque;
    __atomic_store_n(&a->number, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    for (;;) {
        while (sem_wait(&a->wanted) != 0)
            continue;
        if (a->call == NULL)
            return NULL;
        __atomic_store_n(&a->inside, 1, __ATOMIC_RELEASE);
        a->result = a->call(a->lock);
        __atomic_store_n(&a->inside, 2, __ATOMIC_RELEASE);
        must(sem_post(&a->done) == 0);
    }
}

static inline void actor_start(struct actor *a)
{
    memset(a, 0, sizeof *a);
    must(sem_init(&a->wanted, 0, 0) == 0 && sem_init(&a->done, 0, 0) == 0);
    must(pthread_create(&a->id, NULL, actor_main, a) == 0);
}

static inline void actor_begin(struct actor *a, rwlock_call *call, pthread_rwlock_t *lock)
{
    a->call = call;
    a->lock = lock;
    __atomic_store_n(&a->inside, 0, __ATOMIC_RELEASE);
    must(sem_post(&a->wanted) == 0);
}

static inline int actor_result(struct actor *a)
{
    while (sem_wait(&a->done) != 0)
        continue;
    return a->result;
}

static inline int actor_do(struct actor *a, rwlock_call *call, pthread_rwlock_t *lock)
{
    actor_begin(a, call, lock);
    return actor_result(a);
}

static inline void actor_end(struct actor *a)
{
    actor_begin(a, NULL, NULL);
    must(pthread_join(a->id, NULL) == 0);
    must(sem_destroy(&a->wanted) == 0 && sem_destroy(&a->done) == 0);
}

/* What the kernel says of a thread of this process: S is asleep. */
static inline char thread_state(pid_t number)
{
    char path[64], text[512] = "";
    (void)snprintf(path, sizeof path, "/proc/self/task/%ld/stat", (long)number);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return '?';
    must(fgets(text, sizeof text, file) != NULL);
    must(fclose(file) == 0);
    const char *end = strrchr(text, ')');
    must(end != NULL);
    return end[2];
}

/* True when the actor sleeps in its call; false when the call has returned. */
static inline bool actor_waits(struct actor *a)
{
    for (;;) {
        const int inside = __atomic_load_n(&a->inside, __ATOMIC_ACQUIRE);
        if (inside == 2)
            return false;
        if (inside == 1 && thread_state(__atomic_load_n(&a->number, __ATOMIC_ACQUIRE)) == 'S' &&
            __atomic_load_n(&a->inside, __ATOMIC_ACQUIRE) == 1)
            return true;
        sched_yield();
    }
}

/* Whether the preload library is in front of the C library, and what it was told. */
static inline bool is_pawl(void)
{
    Dl_info info;
    void *const address = dlsym(RTLD_DEFAULT, "pthread_rwlock_rdlock");
    must(address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL);
    return strstr(info.dli_fname, "libpawl-preload.so") != NULL;
}

static inline bool prefers_readers(void)
{
    const char *value = getenv("PAWL_PRELOAD_RWLOCK");
    return !is_pawl() || (value != NULL && strcmp(value, "prefer-readers") == 0);
}

/* All reads are in entries of their threads, but for a thread's first ones. */
static inline bool scales_readers(void)
{
    const char *bias = getenv("PAWL_BIAS");
    return is_pawl() && getenv("PAWL_PRELOAD_RWLOCK") == NULL && bias != NULL &&
           strcmp(bias, "on") == 0;
}

/* ---- Points in time -------------------------------------------------------------------------- */

static inline struct timespec time_in(clockid_t clock, long milliseconds)
{
    struct timespec t;
    must(clock_gettime(clock, &t) == 0);
    t.tv_sec += milliseconds / 1000;
    t.tv_nsec += milliseconds % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

static inline bool has_come(clockid_t clock, struct timespec t)
{
    struct timespec now;
    must(clock_gettime(clock, &now) == 0);
    return now.tv_sec > t.tv_sec || (now.tv_sec == t.tv_sec && now.tv_nsec >= t.tv_nsec);
}
