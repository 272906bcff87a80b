/* SPDX-License-Identifier: MIT */
/*
 * Thousands of threads with small stacks, and what they count: steps along wait lists, and system
 * calls. No count is a time, so a test may judge it on any machine.
 */
#pragma once

#include "test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* What a test starts where it would start so many. */
static inline unsigned at_most(unsigned threads, unsigned limit)
{
    return limit != 0 && limit < threads ? limit : threads;
}

enum { STACK_BYTES = 64 * 1024, MOST_THREADS = 10000 };

/* ---- Counting -------------------------------------------------------------------------------- */

/* Steps along wait lists under their latches: libraries with PAWL_TEST_POINTS count them. */
extern uint64_t ipawl_table_steps_ __attribute__((weak));

static uint64_t calls_made;
static __thread uint64_t calls_made_here; /* by this thread */

struct counts {
    uint64_t steps, calls;
    uint64_t calls_in_drops; /* where a test counts them */
};

static inline bool steps_are_counted(void)
{
    return &ipawl_table_steps_ != NULL;
}

static inline struct counts counts_now(void)
{
    struct counts now = {0, __atomic_load_n(&calls_made, __ATOMIC_RELAXED), 0};
    if (steps_are_counted())
        now.steps = __atomic_load_n(&ipawl_table_steps_, __ATOMIC_RELAXED);
    return now;
}

static inline void *next_of(const char *name)
{
    void *const found = dlsym(RTLD_NEXT, name);
    must(found != NULL);
    return found;
}

/* The library asks the kernel through these two. */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long (*known)(long, ...) = __atomic_load_n(&real, __ATOMIC_RELAXED);
    long a[6];
    va_list more;
    if (known == NULL) {
        *(void **)&known = next_of("syscall");
        __atomic_store_n(&real, known, __ATOMIC_RELAXED);
    }
    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    __atomic_fetch_add(&calls_made, 1, __ATOMIC_RELAXED);
    calls_made_here++;
    return known(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int sched_yield(void)
{
    static int (*real)(void);
    int (*known)(void) = __atomic_load_n(&real, __ATOMIC_RELAXED);
    if (known == NULL) {
        *(void **)&known = next_of("sched_yield");
        __atomic_store_n(&real, known, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&calls_made, 1, __ATOMIC_RELAXED);
    calls_made_here++;
    return known();
}

/* ---- A gate that all pass together ----------------------------------------------------------- */

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned arrived;
    bool opened;
};
#define GATE_INIT {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false}

static inline void gate_pass(struct gate *g)
{
    must(pthread_mutex_lock(&g->mutex) == 0);
    g->arrived++;
    pthread_cond_broadcast(&g->changed);
    while (!g->opened)
        must(pthread_cond_wait(&g->changed, &g->mutex) == 0);
    must(pthread_mutex_unlock(&g->mutex) == 0);
}

static inline void gate_wait_for(struct gate *g, unsigned threads)
{
    must(pthread_mutex_lock(&g->mutex) == 0);
    while (g->arrived < threads)
        must(pthread_cond_wait(&g->changed, &g->mutex) == 0);
    must(pthread_mutex_unlock(&g->mutex) == 0);
}

static inline void gate_open(struct gate *g)
{
    must(pthread_mutex_lock(&g->mutex) == 0);
    g->opened = true;
    pthread_cond_broadcast(&g->changed);
    must(pthread_mutex_unlock(&g->mutex) == 0);
}

/* ---- Threads --------------------------------------------------------------------------------- */

struct crowd;

struct crowd_thread {
    pthread_t id;
    pid_t number; /* before the thread enters; 0 until then */
    unsigned index;
    struct crowd *crowd;
};

struct crowd {
    void (*body)(struct crowd_thread *self, void *argument);
    void *argument;
    unsigned count;
    struct gate start;
    struct crowd_thread threads[MOST_THREADS];
};

static inline void *crowd_main(void *opaque)
{
    struct crowd_thread *self = (struct crowd_thread *)opaque;
    gate_pass(&self->crowd->start);
    self->crowd->body(self, self->crowd->argument);
    return NULL;
}

static inline void say_limit(const char *path)
{
    char text[32] = "unknown\n";
    const int file = open(path, O_RDONLY);
    if (file >= 0) {
        const ssize_t got = read(file, text, sizeof text - 1);
        text[got > 0 ? got : 0] = 0;
        close(file);
    }
    printf("   %s: %s", path, text);
}

static inline void say_what_is_missing(unsigned started, unsigned wanted, int error)
{
    struct rlimit processes = {0, 0};
    getrlimit(RLIMIT_NPROC, &processes);
    printf("Only %u of %u threads could start (%s), so no more are measured. To raise:\n", started,
           wanted, strerror(error));
    printf("   ulimit -u: %llu\n", (unsigned long long)processes.rlim_cur);
    say_limit("/proc/sys/kernel/threads-max");
    say_limit("/proc/sys/kernel/pid_max");
    say_limit("/proc/sys/vm/max_map_count");
    say_limit("/sys/fs/cgroup/pids.max");
}

/* Starts threads that wait at the gate; returns how many there are. */
static inline unsigned crowd_start(struct crowd *c, unsigned wanted,
                                   void (*body)(struct crowd_thread *, void *), void *argument)
{
    static const struct gate closed = GATE_INIT;
    pthread_attr_t small;
    unsigned i;
    int error = 0;
    must(pthread_attr_init(&small) == 0);
    must(pthread_attr_setstacksize(&small, STACK_BYTES) == 0);
    c->body = body;
    c->argument = argument;
    c->start = closed;
    for (i = 0; i < wanted; i++) {
        struct crowd_thread *t = &c->threads[i];
        t->index = i;
        t->crowd = c;
        t->number = 0;
        error = pthread_create(&t->id, &small, crowd_main, t);
        if (error != 0)
            break;
    }
    pthread_attr_destroy(&small);
    c->count = i;
    gate_wait_for(&c->start, c->count);
    if (i < wanted)
        say_what_is_missing(i, wanted, error);
    return i;
}

static inline void crowd_go(struct crowd *c)
{
    gate_open(&c->start);
}

static inline void crowd_end(struct crowd *c)
{
    for (unsigned i = 0; i < c->count; i++)
        must(pthread_join(c->threads[i].id, NULL) == 0);
}

/* The thread is about to do what it will sleep in. */
static inline void crowd_enters(struct crowd_thread *self)
{
    __atomic_store_n(&self->number, gettid(), __ATOMIC_RELEASE);
}

static inline bool sleeps(const struct crowd_thread *t)
{
    const pid_t number = __atomic_load_n(&t->number, __ATOMIC_ACQUIRE);
    char path[64], text[512];
    ssize_t got;
    int file;
    if (number == 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)number);
    must((file = open(path, O_RDONLY)) >= 0);
    must((got = read(file, text, sizeof text - 1)) > 0);
    close(file);
    text[got] = 0;
    const char *name_ends = strrchr(text, ')');
    return name_ends != NULL && name_ends[1] != 0 && name_ends[2] == 'S';
}

/* Returns once all sleep in what they entered: seen twice, as one may have slept on the way. */
static inline void crowd_wait_until_all_sleep(const struct crowd *c)
{
    unsigned seen = 0, i;
    while (seen < 2) {
        for (i = 0; i < c->count && sleeps(&c->threads[i]); i++)
            ;
        seen = i == c->count ? seen + 1 : 0;
        if (seen < 2)
            usleep(1000);
    }
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* make nightly gives a stress test a minute, and this one all threads; otherwise it is brief. */
static inline bool full_size(void)
{
    return test_seconds(1) >= 30;
}

/* More, but not many times as many: what grows with the threads is ten or a thousand times. On a
 * loaded machine a waiter meets others at a bucket's latch, and makes a few calls more for it. A
 * thousand locks share buckets, where it passes by some of them: up to eight were seen. A waiter of
 * a sleeping lock may yield 64 times in each of two spins. */
enum { STEPS_MORE = 24, CALLS_MORE = 24 + 2 * 64 };
static inline bool same_for(uint64_t now, unsigned threads, uint64_t before, unsigned few,
                            unsigned more)
{
    return (double)now / threads <= 4 * (double)before / few + more;
}
