/* SPDX-License-Identifier: MIT */
/* A library with a lock of its own, which it uses while it is loaded and unloaded. */
#include <pthread.h>
#include <stdlib.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

__attribute__((visibility("default"))) pthread_rwlock_t *plugin_lock(void);

pthread_rwlock_t *plugin_lock(void)
{
    return &lock;
}

__attribute__((constructor)) static void loaded(void)
{
    if (pthread_rwlock_wrlock(&lock) != 0 || pthread_rwlock_unlock(&lock) != 0)
        abort();
}

/* The lock may be held. */
__attribute__((destructor)) static void unloaded(void)
{
    if (pthread_rwlock_trywrlock(&lock) == 0 && pthread_rwlock_unlock(&lock) != 0)
        abort();
}
