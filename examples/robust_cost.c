/* SPDX-License-Identifier: MIT */
/*
 * The cost of robustness: nanoseconds for taking and dropping, one thread alone, best of several
 * rounds. Prints a line for each lock and state; checks only that every take is granted.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pawl/robust.h>
#include <pawl/pshared.h>

#include "example.h"

#include <time.h>

enum { PAIRS = 20000 / EXAMPLE_LESS, ROUNDS = 20 };

static pawl_pshared_lock32 shared32;
static pawl_pshared_lock64 shared64;
static pawl_robust_lock robust;
static pthread_rwlock_t rwlock;
static pthread_mutex_t mutex;

static double now(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define SPREAD(name, take, drop)                                                                   \
    static void name(void)                                                                         \
    {                                                                                              \
        take;                                                                                      \
        drop;                                                                                      \
    }
SPREAD(s32_r, pawl_pshared_lock32_take_read(&shared32), pawl_pshared_lock32_drop_read(&shared32))
SPREAD(s32_s, pawl_pshared_lock32_take_seek(&shared32), pawl_pshared_lock32_drop_seek(&shared32))
SPREAD(s32_w, pawl_pshared_lock32_take_write(&shared32), pawl_pshared_lock32_drop_write(&shared32))
SPREAD(s32_a, pawl_pshared_lock32_take_atomic(&shared32),
       pawl_pshared_lock32_drop_atomic(&shared32))
SPREAD(s64_r, pawl_pshared_lock64_take_read(&shared64), pawl_pshared_lock64_drop_read(&shared64))
SPREAD(s64_w, pawl_pshared_lock64_take_write(&shared64), pawl_pshared_lock64_drop_write(&shared64))
SPREAD(rob_r, CHECK(pawl_robust_lock_take_read(&robust) == PAWL_ROBUST_OK),
       CHECK(pawl_robust_lock_drop_read(&robust) == PAWL_ROBUST_OK))
SPREAD(rob_s, CHECK(pawl_robust_lock_take_seek(&robust) == PAWL_ROBUST_OK),
       CHECK(pawl_robust_lock_drop_seek(&robust) == PAWL_ROBUST_OK))
SPREAD(rob_w, CHECK(pawl_robust_lock_take_write(&robust) == PAWL_ROBUST_OK),
       CHECK(pawl_robust_lock_drop_write(&robust) == PAWL_ROBUST_OK))
SPREAD(rob_a, CHECK(pawl_robust_lock_take_atomic(&robust) == PAWL_ROBUST_OK),
       CHECK(pawl_robust_lock_drop_atomic(&robust) == PAWL_ROBUST_OK))
SPREAD(rw_r, CHECK(pthread_rwlock_rdlock(&rwlock) == 0), CHECK(pthread_rwlock_unlock(&rwlock) == 0))
SPREAD(rw_w, CHECK(pthread_rwlock_wrlock(&rwlock) == 0), CHECK(pthread_rwlock_unlock(&rwlock) == 0))
SPREAD(mu_w, CHECK(pthread_mutex_lock(&mutex) == 0), CHECK(pthread_mutex_unlock(&mutex) == 0))

static const struct row {
    const char *lock, *state;
    void (*pair)(void);
} rows[] = {
    {"pawl_pshared_lock32", "R", s32_r},   {"pawl_pshared_lock32", "S", s32_s},
    {"pawl_pshared_lock32", "W", s32_w},   {"pawl_pshared_lock32", "A", s32_a},
    {"pawl_pshared_lock64", "R", s64_r},   {"pawl_pshared_lock64", "W", s64_w},
    {"pthread_rwlock, shared", "R", rw_r}, {"pthread_rwlock, shared", "W", rw_w},
    {"pthread_mutex, robust", "W", mu_w},  {"pawl_robust_lock", "R", rob_r},
    {"pawl_robust_lock", "S", rob_s},      {"pawl_robust_lock", "W", rob_w},
    {"pawl_robust_lock", "A", rob_a},
};

static double best_of(void (*pair)(void))
{
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        const double start = now();
        for (int i = 0; i < PAIRS; i++)
            pair();
        best = now() - start < best ? now() - start : best;
    }
    return best / PAIRS;
}

int main(void)
{
    pthread_rwlockattr_t rwlock_kind;
    pthread_mutexattr_t mutex_kind;

    CHECK(pthread_rwlockattr_init(&rwlock_kind) == 0 && pthread_mutexattr_init(&mutex_kind) == 0);
    CHECK(pthread_rwlockattr_setpshared(&rwlock_kind, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutexattr_setpshared(&mutex_kind, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutexattr_setrobust(&mutex_kind, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_rwlock_init(&rwlock, &rwlock_kind) == 0);
    CHECK(pthread_mutex_init(&mutex, &mutex_kind) == 0);
    CHECK(pawl_robust_lock_init(&robust) == PAWL_ROBUST_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        printf("%-24s %s %8.1f ns\n", rows[i].lock, rows[i].state, best_of(rows[i].pair));
    return 0;
}
