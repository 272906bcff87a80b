/* SPDX-License-Identifier: MIT */
/*
 * Other locks in the place of the C library's read-write locks, for comparison: no program should
 * run on these. With OTHERS_PLOCK it is the published progressive lock, as HAProxy has it with
 * USE_PTHREAD_EMULATION; else a pawl_brlock for each lock, made at its first use. Neither waits
 * with a deadline.
 *
 *   cc -O2 -shared -fPIC -DOTHERS_PLOCK -I.deps/plock bench/cases/others.c -o plock.so
 *   cc -O2 -shared -fPIC -Iinclude -Isrc bench/cases/others.c src/pawl.c -o brlock.so -pthread
 *   LD_PRELOAD=./brlock.so ./openssl fetch-digest 2 1
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define RETURNS(call, what)                                                                        \
    int pthread_rwlock_##call(pthread_rwlock_t *rw)                                                \
    {                                                                                              \
        return what;                                                                               \
    }

#ifdef OTHERS_PLOCK

#include <plock.h>

#define WORD(rw) ((unsigned long *)(void *)(rw))
#define TRIES(rw, base) (pl_cmpxchg(WORD(rw), 0, base) == 0 ? 0 : EBUSY)

int pthread_rwlock_init(pthread_rwlock_t *rw, const pthread_rwlockattr_t *attributes)
{
    (void)attributes;
    *WORD(rw) = 0;
    return 0;
}

RETURNS(destroy, pthread_rwlock_init(rw, NULL))
RETURNS(rdlock, (pl_lorw_rdlock(WORD(rw)), 0))
RETURNS(tryrdlock, TRIES(rw, PLOCK_LORW_SHR_BASE))
RETURNS(wrlock, (pl_lorw_wrlock(WORD(rw)), 0))
RETURNS(trywrlock, TRIES(rw, PLOCK_LORW_EXC_BASE))
RETURNS(unlock, (pl_lorw_unlock(WORD(rw)), 0))

#else

#include <pawl/brlock.h>

struct other {
    pawl_brlock lock;
    int writes; /* some thread, which holds W */
};

static struct other **place(pthread_rwlock_t *rw)
{
    return (struct other **)(void *)rw;
}

static struct other *of(pthread_rwlock_t *rw)
{
    struct other *found = __atomic_load_n(place(rw), __ATOMIC_ACQUIRE), *made;
    if (PAWL_LIKELY(found != NULL))
        return found;
    made = aligned_alloc(_Alignof(struct other), sizeof *made);
    if (made == NULL || pawl_brlock_init(&made->lock, PAWL_BRLOCK_LINES) != 0)
        abort();
    made->writes = 0;
    if (__atomic_compare_exchange_n(place(rw), &found, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    pawl_brlock_destroy(&made->lock);
    free(made);
    return found;
}

static int wrote(struct other *o)
{
    o->writes = 1;
    return 0;
}

int pthread_rwlock_init(pthread_rwlock_t *rw, const pthread_rwlockattr_t *attributes)
{
    (void)attributes;
    *place(rw) = NULL;
    return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *rw)
{
    struct other *const o = *place(rw);
    if (o != NULL)
        pawl_brlock_destroy(&o->lock);
    free(o);
    return pthread_rwlock_init(rw, NULL);
}

RETURNS(rdlock, (pawl_brlock_take_read(&of(rw)->lock), 0))
RETURNS(tryrdlock, pawl_brlock_try_read(&of(rw)->lock) ? 0 : EBUSY)
RETURNS(wrlock, (pawl_brlock_take_write(&of(rw)->lock), wrote(of(rw))))
RETURNS(trywrlock, pawl_brlock_try_write(&of(rw)->lock) ? wrote(of(rw)) : EBUSY)

/* While a writer is in, nobody else unlocks. */
int pthread_rwlock_unlock(pthread_rwlock_t *rw)
{
    struct other *const o = of(rw);
    if (o->writes) {
        o->writes = 0;
        pawl_brlock_drop_write(&o->lock);
    } else {
        pawl_brlock_drop_read(&o->lock);
    }
    return 0;
}

#endif
