/* SPDX-License-Identifier: MIT */
/* A thread's memory of the clock: when it last dropped a lock beside waiters, and whether its last
 * sleep or yield ended late; and the process's, until when none yields. */
#include "lock_parts.h"

/* Threads of models and of the simulator would share it. */
#if !PAWL_HOOKS && !defined(PAWL_SIM) && defined(__ELF__)
#define OF_THREADS 1
#else
#define OF_THREADS 0
#endif

#if OF_THREADS

/* The clock takes as long as a short section and its lock together. So a thread that drops more
 * often than every LOCK_QUICK_NS reads it at one drop in LOCK_QUICK_DROPS + 1. A signal handler
 * that drops may change which one. */
PAWL_INTERNAL bool lock_hint_counts(const struct pawl_bucket *bucket)
{
    struct pawl_own *const own = pawl_os_own();
    uint64_t now;
    if (own->clock_unread != 0) {
        own->clock_unread--;
        return true;
    }
    now = pawl_os_now();
    own->clock_unread = now - own->clock_read < LOCK_QUICK_NS ? LOCK_QUICK_DROPS : 0;
    own->clock_read = now;
    return now < pawl_load_relaxed64(&bucket->quiet_until);
}

#else

PAWL_INTERNAL bool lock_hint_counts(const struct pawl_bucket *bucket)
{
    return pawl_os_now() < pawl_load_relaxed64(&bucket->quiet_until);
}

#endif

#if OF_THREADS && defined(__linux__)

/* No thread yields until then: one has met other processes, so the others need not lose a time
 * slice to find them. */
static uint64_t yields_from; /* ns of pawl_os_now */

PAWL_INTERNAL void lock_note_delay(uint64_t due)
{
    struct pawl_own *const own = pawl_os_own();
    const uint64_t now = pawl_os_now();
    uint64_t used;
    if (now <= due || now - due <= LOCK_LATE_NS || now - own->judged < LOCK_JUDGE_NS)
        return;
    used = pawl_os_used();
    if (own->judged != 0 && used - own->used < (now - own->judged) / 4 * 3) {
        own->calm_until = now + LOCK_CALM_NS;
        pawl_store_relaxed64(&yields_from, now + LOCK_NO_YIELD_NS);
    }
    own->judged = now;
    own->used = used;
}

PAWL_INTERNAL bool lock_is_calm(uint64_t now)
{
    return now < pawl_os_own()->calm_until;
}

PAWL_INTERNAL bool lock_yields(struct loop *loop, uint64_t now, uint64_t deadline)
{
    if (loop->yields == LOCK_YIELDS || now + LOCK_SPIN_NS < loop->end + LOCK_YIELD_AFTER_NS)
        return false;
    if (deadline < now + LOCK_CALM_NS || now < pawl_load_relaxed64(&yields_from))
        return false;
    loop->yields++;
    pawl_os_yield();
    lock_note_delay(now);
    return true;
}

#else

PAWL_INTERNAL void lock_note_delay(uint64_t due)
{
    (void)due;
}

PAWL_INTERNAL bool lock_is_calm(uint64_t now)
{
    return (void)now, false;
}

PAWL_INTERNAL bool lock_yields(struct loop *loop, uint64_t now, uint64_t deadline)
{
    return (void)loop, (void)now, (void)deadline, false;
}

#endif

#undef OF_THREADS
