/* SPDX-License-Identifier: MIT */
/*
 * Parkers over a POSIX mutex and condition variable, for systems that have no wait on an address.
 *
 * A waker that signals under the mutex wakes a thread that then waits for that mutex. A waker that
 * signals after the unlock may come when the thread has returned and ended. So each thread keeps
 * two parkers, because it never sleeps for more than a wait and a latch at once. They are in memory
 * that stays, with the thread's line. They are made once, and the line's next owner uses them
 * again. So a late signal is at worst a spurious wake. Threads without a line, and those of further
 * lines, make parkers on the stack. Wakers signal these under the mutex.
 */
#include "park.h"
#include "process.h"

#if PAWL_WAITING == PAWL_WAITING_COND

#include <errno.h>
#include <time.h>

#define PARK_ON_STACK 0u
#define PARK_FREE 1u
#define PARK_IN_USE 2u

#define PARKERS_OF_A_LINE 2
#define LINES_WITH_PARKERS 1024u

/* Of this copy of the library. Only the owner of the line changes `kept`. */
static struct pawl_parker line_parkers[LINES_WITH_PARKERS][PARKERS_OF_A_LINE];

/* Deadlines are of CLOCK_MONOTONIC. */
static void park_make(struct pawl_parker *parker)
{
    pthread_condattr_t attributes;
    (void)pthread_mutex_init(&parker->mutex, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&parker->condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

struct pawl_parker *pawl_parker_make(struct pawl_parker *room)
{
    const int saved = errno;
    const struct pawl_thread_line *line = pawl_thread_line_();
    struct pawl_parker *parker = room;
    const uint32_t number = line == NULL ? LINES_WITH_PARKERS : thread_number(line);
    unsigned i;

    room->kept = PARK_ON_STACK;
    for (i = 0; number < LINES_WITH_PARKERS && i < PARKERS_OF_A_LINE && parker == room; i++)
        if (line_parkers[number][i].kept != PARK_IN_USE)
            parker = &line_parkers[number][i];
    if (parker->kept != PARK_FREE) {
        park_make(parker);
        parker->count = 0;
    }
    parker->kept = parker == room ? PARK_ON_STACK : PARK_IN_USE;
    errno = saved;
    return parker;
}

void pawl_parker_done(struct pawl_parker *parker)
{
    if (parker->kept == PARK_IN_USE) {
        parker->kept = PARK_FREE;
        return;
    }
    (void)pthread_cond_destroy(&parker->condition);
    (void)pthread_mutex_destroy(&parker->mutex);
}

/* False when the deadline has passed. */
static bool park_once(struct pawl_parker *parker, uint64_t deadline)
{
    struct timespec until;
    if (deadline == PAWL_NO_DEADLINE)
        return pthread_cond_wait(&parker->condition, &parker->mutex) == 0;
    if (deadline / 1000000000u > INT32_MAX) /* fits any time_t, and never comes */
        deadline = INT32_MAX * UINT64_C(1000000000);
    until.tv_sec = (time_t)(deadline / 1000000000u);
    until.tv_nsec = (long)(deadline % 1000000000u);
    return pthread_cond_timedwait(&parker->condition, &parker->mutex, &until) != ETIMEDOUT;
}

bool pawl_park(struct pawl_parker *parker, uint64_t deadline)
{
    const int saved = errno;
    bool in_time = true;
    bool unparked;
    int cancel;

    /* A cancellation here would leave this waiter in a list. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    (void)pthread_mutex_lock(&parker->mutex);
    while (parker->count == 0 && in_time)
        in_time = park_once(parker, deadline);
    unparked = parker->count > 0;
    parker->count -= unparked;
    (void)pthread_mutex_unlock(&parker->mutex);
    (void)pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return unparked;
}

void pawl_unpark(struct pawl_parker *parker)
{
    const int saved = errno;
    bool stays;

    (void)pthread_mutex_lock(&parker->mutex);
    stays = parker->kept != PARK_ON_STACK;
    parker->count++;
    if (!stays) /* the sleeper returns only after the waker's unlock */
        (void)pthread_cond_signal(&parker->condition);
    (void)pthread_mutex_unlock(&parker->mutex);
    if (stays)
        (void)pthread_cond_signal(&parker->condition);
    errno = saved;
}

/* The child has no other thread. It makes anew the parkers that wakers may have left half done. */
void pawl_parkers_after_fork(struct pawl_parker *own)
{
    unsigned line, i;
    for (line = 0; line < LINES_WITH_PARKERS; line++)
        for (i = 0; i < PARKERS_OF_A_LINE; i++)
            line_parkers[line][i].kept = PARK_ON_STACK;
    if (own != NULL) {
        own->count = 1; /* without the mutex, which its thread may have */
        (void)pthread_cond_signal(&own->condition);
    }
}

#undef PARKERS_OF_A_LINE
#undef LINES_WITH_PARKERS
#undef PARK_ON_STACK
#undef PARK_FREE
#undef PARK_IN_USE

#endif
