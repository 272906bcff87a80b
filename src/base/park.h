/* SPDX-License-Identifier: MIT */
/*
 * Parking: one thread sleeps until another one that knows its parker wakes it.
 *
 * A parker counts like a semaphore: each unpark lets one park through, whichever comes first. So no
 * unpark is lost and no return is spurious. The parker lives on the stack of the thread that parks.
 * Where it is expensive to make, the system's file keeps it for the thread. PAWL_WAITING (config.h)
 * chooses the file: park_word.c over pawl_os_wait, park_cond.c, park_sem.c.
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

/* A parker of the calling thread that is not in use, with count zero: `room` or a kept one. Never
 * allocates. */
struct pawl_parker *PAWL_SYMBOL_(pawl_parker_make)(struct pawl_parker *room);
/* The thread no longer needs it, and a park has used each of its unparks. */
void PAWL_SYMBOL_(pawl_parker_done)(struct pawl_parker *parker);
/* Sleeps until an unpark (true; the caller sees all accesses before the unpark) or the deadline
 * (false). For the caller's own parker only. */
bool PAWL_SYMBOL_(pawl_park)(struct pawl_parker *parker, uint64_t deadline);
/* Does not touch the parker once its thread can have returned from that park. The one exception is
 * a wake by its address, which does no harm. */
void PAWL_SYMBOL_(pawl_unpark)(struct pawl_parker *parker);

/* The child of a fork: kept parkers of other threads are free. `own` (or NULL) is a parker with
 * which the calling thread may be asleep, under the signal handler that forked: it wakes, though no
 * other thread is there to wake it. */
void PAWL_SYMBOL_(pawl_parkers_after_fork)(struct pawl_parker *own);

PAWL_C_END

#define pawl_parker_make PAWL_SYMBOL_(pawl_parker_make)
#define pawl_parker_done PAWL_SYMBOL_(pawl_parker_done)
#define pawl_park PAWL_SYMBOL_(pawl_park)
#define pawl_unpark PAWL_SYMBOL_(pawl_unpark)
#define pawl_parkers_after_fork PAWL_SYMBOL_(pawl_parkers_after_fork)

#endif
