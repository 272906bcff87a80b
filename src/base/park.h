/* SPDX-License-Identifier: MIT */
/*
 * Parking: one thread sleeps until another one that knows its parker wakes it.
 *
 * A parker counts like a semaphore: each unpark lets one park through, whichever comes first, so
 * none is lost and none is spurious. It lives on the stack of the thread that parks, or is kept for
 * the thread by the system's file where it is dear to make. Chosen by PAWL_WAITING (config.h):
 * park_word.c over pawl_os_wait, park_cond.c, park_sem.c.
 */
#ifndef PAWL_PARK_H
#define PAWL_PARK_H

#include "../os/os.h"

#if PAWL_WAITING == PAWL_WAITING_COND
#include <pthread.h>
#elif PAWL_WAITING == PAWL_WAITING_SEM
#include <semaphore.h>
#endif

#if PAWL_WAITING == PAWL_WAITING_COND
struct pawl_parker {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    uint32_t count;
    uint32_t kept; /* park_cond.c */
};
#elif PAWL_WAITING == PAWL_WAITING_SEM
struct pawl_parker {
    sem_t semaphore;
    uint32_t kept; /* park_sem.c */
};
#else
struct pawl_parker {
    uint32_t count; /* unparks not yet used; UINT32_MAX: asleep */
};
#endif

PAWL_C_BEGIN

/* A parker of the calling thread that is in no other use, its count zero: `room` or a kept one.
 * Never allocates. */
struct pawl_parker *PAWL_SYMBOL_(pawl_parker_make)(struct pawl_parker *room);
/* The thread needs it no more, and every unpark of it has been used by a park. */
void PAWL_SYMBOL_(pawl_parker_done)(struct pawl_parker *parker);
/* Sleeps until unparked (true; everything before the unpark is seen) or past the deadline (false).
 * The caller's own parker only. */
bool PAWL_SYMBOL_(pawl_park)(struct pawl_parker *parker, uint64_t deadline);
/* Touches the parker no more once its thread can have returned from that park (but for a wake by
 * its address, which harms nobody). */
void PAWL_SYMBOL_(pawl_unpark)(struct pawl_parker *parker);

/* The child of a fork: kept parkers of other threads are free. */
void PAWL_SYMBOL_(pawl_parkers_after_fork)(void);

PAWL_C_END

#define pawl_parker_make PAWL_SYMBOL_(pawl_parker_make)
#define pawl_parker_done PAWL_SYMBOL_(pawl_parker_done)
#define pawl_park PAWL_SYMBOL_(pawl_park)
#define pawl_unpark PAWL_SYMBOL_(pawl_unpark)
#define pawl_parkers_after_fork PAWL_SYMBOL_(pawl_parkers_after_fork)

#endif
