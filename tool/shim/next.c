/* SPDX-License-Identifier: MIT */
#include "next.h"

#include <dlfcn.h>
#include <stddef.h>

#include "mode.h"

static struct shim_next next;
static pthread_once_t found = PTHREAD_ONCE_INIT;

/* dlsym returns an object pointer; POSIX says that it can be a function's. */
#define FIND(field, name)                                                                          \
    do {                                                                                           \
        void *const address = dlsym(RTLD_NEXT, name);                                              \
        *(void **)(void *)&next.field = address;                                                   \
    } while (0)

static void find_all(void)
{
    FIND(init, "pthread_rwlock_init");
    FIND(destroy, "pthread_rwlock_destroy");
    FIND(rdlock, "pthread_rwlock_rdlock");
    FIND(wrlock, "pthread_rwlock_wrlock");
    FIND(tryrdlock, "pthread_rwlock_tryrdlock");
    FIND(trywrlock, "pthread_rwlock_trywrlock");
    FIND(unlock, "pthread_rwlock_unlock");
    FIND(timedrdlock, "pthread_rwlock_timedrdlock");
    FIND(timedwrlock, "pthread_rwlock_timedwrlock");
    FIND(clockrdlock, "pthread_rwlock_clockrdlock");
    FIND(clockwrlock, "pthread_rwlock_clockwrlock");
    FIND(timedrdlock64, "__pthread_rwlock_timedrdlock64");
    FIND(timedwrlock64, "__pthread_rwlock_timedwrlock64");
    FIND(clockrdlock64, "__pthread_rwlock_clockrdlock64");
    FIND(clockwrlock64, "__pthread_rwlock_clockwrlock64");
    if (next.init == NULL || next.unlock == NULL)
        shim_refuse("there is no pthread_rwlock_t behind libpawl-preload.so. It serves programs of "
                    "the GNU C library only; start this one without it");
}

const struct shim_next *shim_next(void)
{
    (void)pthread_once(&found, find_all);
    return &next;
}

__attribute__((constructor(101))) static void find_early(void)
{
    (void)shim_next();
}
