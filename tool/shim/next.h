/* SPDX-License-Identifier: MIT */
/* The next definitions of the replaced functions, in the order of the loader: the C library's, or
 * those of another library that replaces them. Process-shared locks go there. */
#ifndef PAWL_SHIM_NEXT_H
#define PAWL_SHIM_NEXT_H

#include <pthread.h>
#include <time.h>

struct shim_next {
    int (*init)(pthread_rwlock_t *, const pthread_rwlockattr_t *);
    int (*destroy)(pthread_rwlock_t *);
    int (*rdlock)(pthread_rwlock_t *);
    int (*wrlock)(pthread_rwlock_t *);
    int (*tryrdlock)(pthread_rwlock_t *);
    int (*trywrlock)(pthread_rwlock_t *);
    int (*unlock)(pthread_rwlock_t *);
    int (*timedrdlock)(pthread_rwlock_t *, const struct timespec *);
    int (*timedwrlock)(pthread_rwlock_t *, const struct timespec *);
    int (*clockrdlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
    int (*clockwrlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
    /* 32-bit programs with a 64-bit time_t; NULL elsewhere, and where the C library has none. */
    int (*timedrdlock64)(pthread_rwlock_t *, const void *);
    int (*timedwrlock64)(pthread_rwlock_t *, const void *);
    int (*clockrdlock64)(pthread_rwlock_t *, clockid_t, const void *);
    int (*clockwrlock64)(pthread_rwlock_t *, clockid_t, const void *);
};

/* A constructor has found them. A call that comes earlier, from another library's constructor,
 * finds them here. */
__attribute__((cold)) const struct shim_next *shim_next(void);

#endif
