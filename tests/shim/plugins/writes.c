/* SPDX-License-Identifier: MIT */
/* A library that writes under a lock of the program. */
#include <pthread.h>

__attribute__((visibility("default"))) int plugin_try_write_of(pthread_rwlock_t *lock);

int plugin_try_write_of(pthread_rwlock_t *lock)
{
    const int error = pthread_rwlock_trywrlock(lock);
    return error != 0 ? error : pthread_rwlock_unlock(lock);
}
