/* SPDX-License-Identifier: MIT */
/* The C library's locks. The adapters ignore their results: with default attributes and correct
 * use they have no error to report. */
#pragma once

#include <pthread.h>

#include <cstdint>
#include <ctime>

namespace adapter {

/* A deadline in nanoseconds of CLOCK_MONOTONIC. */
inline struct timespec until(uint64_t ns)
{
    return {static_cast<time_t>(ns / 1000000000U), static_cast<long>(ns % 1000000000U)};
}

struct pthread_mutex {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void take_write() { pthread_mutex_lock(&lock); }
    bool take_write_until(uint64_t ns)
    {
        const struct timespec when = until(ns);
        return pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &when) == 0;
    }
    void drop_write() { pthread_mutex_unlock(&lock); }
};

struct pthread_rwlock {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    void take_read() { pthread_rwlock_rdlock(&lock); }
    bool take_read_until(uint64_t ns)
    {
        const struct timespec when = until(ns);
        return pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &when) == 0;
    }
    bool take_write_until(uint64_t ns)
    {
        const struct timespec when = until(ns);
        return pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &when) == 0;
    }
    void drop_read() { pthread_rwlock_unlock(&lock); }
    void take_write() { pthread_rwlock_wrlock(&lock); }
    void drop_write() { pthread_rwlock_unlock(&lock); }
};

/* The other kind: newcomers wait while a writer waits, and no thread reads twice. */
struct pthread_rwlock_writer : pthread_rwlock {
    pthread_rwlock_writer()
    {
        pthread_rwlockattr_t kind;
        pthread_rwlockattr_init(&kind);
        pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&lock, &kind);
        pthread_rwlockattr_destroy(&kind);
    }
};

struct pthread_spin {
    pthread_spinlock_t lock;
    pthread_spin() { pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE); }
    void take_write() { pthread_spin_lock(&lock); }
    void drop_write() { pthread_spin_unlock(&lock); }
};

} // namespace adapter
