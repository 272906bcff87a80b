/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-shim-load THREADS SECONDS WARMUP WRITES STEPS: threads that take one pthread_rwlock_t
 * and drop it, compute for so many steps inside and as many outside, and write in so many per cent
 * of the sections. With no steps it is the pair alone, all reads or all writes. Prints sections,
 * seconds, and how it was compiled, as JSON. It knows nothing of Pawl: pawl-bench-shim starts it
 * with and without the preload library. With as many threads as CPUs or fewer, each thread has a
 * CPU for itself.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

enum { MOST_THREADS = 1024, LINE = 128, BATCH = 64 };

static struct {
    _Alignas(LINE) pthread_rwlock_t lock;
    _Alignas(LINE) uint64_t a, b; /* equal, unless a writer is in */
    _Alignas(LINE) int stop;
} shared = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static struct {
    _Alignas(LINE) uint64_t sections;
    pthread_t id;
} threads[MOST_THREADS];

static unsigned thread_count, steps;
static uint32_t write_below; /* a random number below it: the section writes */

static void fail(const char *why)
{
    fprintf(stderr, "pawl-bench-shim-load: %s\n", why);
    exit(1);
}

static void compute(void)
{
    unsigned i;
    for (i = 0; i < steps; i++)
        __asm__ volatile("" ::: "memory");
}

static void read_section(void)
{
    if (pthread_rwlock_rdlock(&shared.lock) != 0)
        fail("a read lock failed");
    compute();
    if (shared.a != shared.b)
        fail("a reader saw a writer");
    pthread_rwlock_unlock(&shared.lock);
}

static void write_section(void)
{
    if (pthread_rwlock_wrlock(&shared.lock) != 0)
        fail("a write lock failed");
    shared.a++;
    compute();
    shared.b++;
    pthread_rwlock_unlock(&shared.lock);
}

static void *run(void *opaque)
{
    const unsigned own = (unsigned)(uintptr_t)opaque;
    uint32_t random = own * 2654435761u + 1;
    while (!__atomic_load_n(&shared.stop, __ATOMIC_RELAXED)) {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        if (random < write_below)
            write_section();
        else
            read_section();
        compute();
        __atomic_store_n(&threads[own].sections, threads[own].sections + 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* The pair alone: nothing else in the loop, and the counter only now and then. */
static void *run_pairs(void *opaque)
{
    const unsigned own = (unsigned)(uintptr_t)opaque;
    int (*const take)(pthread_rwlock_t *) =
        write_below != 0 ? pthread_rwlock_wrlock : pthread_rwlock_rdlock;
    unsigned i;
    while (!__atomic_load_n(&shared.stop, __ATOMIC_RELAXED)) {
        for (i = 0; i < BATCH; i++)
            if (take(&shared.lock) != 0 || pthread_rwlock_unlock(&shared.lock) != 0)
                fail("a pair failed");
        __atomic_store_n(&threads[own].sections, threads[own].sections + BATCH, __ATOMIC_RELAXED);
    }
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void sleep_for(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

static uint64_t sections(void)
{
    uint64_t all = 0;
    unsigned i;
    for (i = 0; i < thread_count; i++)
        all += __atomic_load_n(&threads[i].sections, __ATOMIC_RELAXED);
    return all;
}

/* Thread i on the i-th CPU that the process may use. */
static void place(unsigned thread)
{
    cpu_set_t may, own;
    unsigned cpu, found = 0;
    if (sched_getaffinity(0, sizeof may, &may) != 0 || thread_count > (unsigned)CPU_COUNT(&may))
        return;
    for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &may) && found++ == thread)
            break;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    pthread_setaffinity_np(threads[thread].id, sizeof own, &own);
}

int main(int argc, char **argv)
{
    double seconds, warmup, writes, begin, end;
    uint64_t first, last;
    unsigned i;
    if (argc != 6)
        fail("say THREADS SECONDS WARMUP WRITES STEPS");
    thread_count = (unsigned)atoi(argv[1]);
    seconds = atof(argv[2]);
    warmup = atof(argv[3]);
    writes = atof(argv[4]);
    steps = (unsigned)atoi(argv[5]);
    if (thread_count < 1 || thread_count > MOST_THREADS || !(seconds > 0) || !(warmup >= 0) ||
        !(writes >= 0 && writes <= 100))
        fail("a number is out of range");
    write_below = (uint32_t)(writes / 100 * (double)UINT32_MAX);
    for (i = 0; i < thread_count; i++) {
        if (pthread_create(&threads[i].id, NULL, steps == 0 ? run_pairs : run,
                           (void *)(uintptr_t)i) != 0)
            fail("no more threads");
        place(i);
    }
    sleep_for(warmup);
    first = sections();
    begin = now();
    sleep_for(seconds);
    last = sections();
    end = now();
    __atomic_store_n(&shared.stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < thread_count; i++)
        pthread_join(threads[i].id, NULL);
    printf("{\"ops\": %llu, \"seconds\": %.9f, \"compiler\": \"%s\", \"flags\": \"%s\"}\n",
           (unsigned long long)(last - first), end - begin, COMPILER, PAWL_BENCH_FLAGS);
    return 0;
}
