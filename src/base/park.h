/* SPDX-License-Identifier: MIT */
/*
 * Parking: one thread sleeps until another one that knows its parker wakes it.
 *
 * A parker counts like a semaphore: each unpark lets one park through, whichever comes first. So no
 * unpark is lost and no return is spurious. The parker lives on the stack of the thread that parks.
 */
#ifndef PAWL_PARK_H
#define PAWL_PARK_H

#include "../os/os.h"

struct pawl_parker {
    uint32_t count; /* unparks not yet used; UINT32_MAX: asleep */
    /* An unpark writes to it first: of a wait whose thread does not sleep (notice.h). -1: none. */
    int32_t descriptor;
};

PAWL_C_BEGIN

/* Makes `room` a parker of the calling thread, with count zero, and returns it. The thread no
 * longer needs it when a park has used each of its unparks. */
struct pawl_parker *PAWL_SYMBOL_(pawl_parker_make)(struct pawl_parker *room);
/* Sleeps until an unpark (true; the caller sees all accesses before the unpark) or the deadline
 * (false). For the caller's own parker only. */
bool PAWL_SYMBOL_(pawl_park)(struct pawl_parker *parker, uint64_t deadline);
/* Does not touch the parker once its thread can have returned from that park. The one exception is
 * a wake by its address, which does no harm. */
void PAWL_SYMBOL_(pawl_unpark)(struct pawl_parker *parker);

/* The child of a fork: `own` (or NULL) is a parker with which the calling thread may be asleep,
 * under the signal handler that forked. It wakes, though no other thread is there to wake it. */
void PAWL_SYMBOL_(pawl_parkers_after_fork)(struct pawl_parker *own);

PAWL_C_END

#define pawl_parker_make PAWL_SYMBOL_(pawl_parker_make)
#define pawl_park PAWL_SYMBOL_(pawl_park)
#define pawl_unpark PAWL_SYMBOL_(pawl_unpark)
#define pawl_parkers_after_fork PAWL_SYMBOL_(pawl_parkers_after_fork)

#endif
