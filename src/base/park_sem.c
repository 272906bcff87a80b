/* SPDX-License-Identifier: MIT */
/*
 * Parkers over a POSIX semaphore, for systems that have no wait on an address. Each thread keeps
 * two, because it never sleeps for more than a wait and a latch at once.
 */
#include "park.h"

#if PAWL_WAITING == PAWL_WAITING_SEM

#include <errno.h>
#include <pthread.h>
#include <time.h>
#if PAWL_TSAN_
#include <sanitizer/tsan_interface.h>
#endif

#define PARK_ON_STACK 0u
#define PARK_FREE 1u
#define PARK_IN_USE 2u

/* Initial-exec: the system allocates a general-dynamic thread variable of a plug-in on first
 * use. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct pawl_parker kept_parkers[2];

struct pawl_parker *pawl_parker_make(struct pawl_parker *room)
{
    struct pawl_parker *parker = room;
    unsigned i;
    for (i = 0; i < 2 && parker == room; i++)
        if (kept_parkers[i].kept != PARK_IN_USE)
            parker = &kept_parkers[i];
    if (parker == room || parker->kept != PARK_FREE) /* a kept parker is zero again after use */
        (void)sem_init(&parker->semaphore, 0, 0);
    parker->kept = parker == room ? PARK_ON_STACK : PARK_IN_USE;
    return parker;
}

void pawl_parker_done(struct pawl_parker *parker)
{
    if (parker->kept == PARK_IN_USE)
        parker->kept = PARK_FREE;
    else
        (void)sem_destroy(&parker->semaphore);
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 30)
static int park_timed(sem_t *semaphore, uint64_t deadline)
{
    struct timespec until;
    until.tv_sec = (time_t)(deadline / 1000000000u);
    until.tv_nsec = (long)(deadline % 1000000000u);
    return sem_clockwait(semaphore, CLOCK_MONOTONIC, &until);
}
#else
/* In POSIX, semaphores wait by CLOCK_REALTIME only. A step back of that clock during the sleep
 * delays the end of the wait. */
static int park_timed(sem_t *semaphore, uint64_t deadline)
{
    struct timespec until;
    const uint64_t now = pawl_os_now();
    uint64_t wall;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    wall = (uint64_t)until.tv_sec * 1000000000u + (uint64_t)until.tv_nsec;
    wall += deadline > now ? deadline - now : 0;
    until.tv_sec = (time_t)(wall / 1000000000u);
    until.tv_nsec = (long)(wall % 1000000000u);
    return sem_timedwait(semaphore, &until);
}
#endif

bool pawl_park(struct pawl_parker *parker, uint64_t deadline)
{
    const int saved = errno;
    int failed, cancel;

    if (deadline != PAWL_NO_DEADLINE && deadline / 1000000000u > INT32_MAX)
        deadline = INT32_MAX * UINT64_C(1000000000); /* fits any time_t, and never comes */
    /* A cancellation here would leave this waiter in a list. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    do
        failed = deadline == PAWL_NO_DEADLINE ? sem_wait(&parker->semaphore)
                                              : park_timed(&parker->semaphore, deadline);
    while (failed && (errno == EINTR || (errno == ETIMEDOUT && pawl_os_now() < deadline)));
    (void)pthread_setcancelstate(cancel, NULL);
    errno = saved;
    if (failed)
        return false;
    /* The sleeper sees all accesses before the unpark: semaphores order memory. ThreadSanitizer
     * does not know this of sem_clockwait. */
#if PAWL_TSAN_
    __tsan_acquire(&parker->kept);
#endif
    return true;
}

void pawl_unpark(struct pawl_parker *parker)
{
    const int saved = errno;
#if PAWL_TSAN_
    __tsan_release(&parker->kept);
#endif
    (void)sem_post(&parker->semaphore);
    errno = saved;
}

void pawl_parkers_after_fork(struct pawl_parker *own)
{
    if (own == NULL)
        return;
    own->kept = PARK_ON_STACK; /* it is made anew after this use, as one unpark may be left over */
    pawl_unpark(own);
}

#undef PARK_ON_STACK
#undef PARK_FREE
#undef PARK_IN_USE

#endif
