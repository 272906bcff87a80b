/* SPDX-License-Identifier: MIT */
/* Back-off of a spinning waiter. The pause doubles, with jitter, up to a bound. The waiter then
 * asks whether the holder runs at all. */
#ifndef PAWL_BACKOFF_H
#define PAWL_BACKOFF_H

#include <pawl/spin.h>

#include "../os/os.h"
#include "constants.h"

struct backoff {
    uint32_t longest; /* relax hints of the next pause at most */
    uint32_t random;
    uint64_t since; /* when the bound was first reached; 0 before */
};

#define BACKOFF_FIRST_PAUSE CONSTANT(FIRST_PAUSE, 4)
#define BACKOFF_LONGEST_PAUSE CONSTANT(LONGEST_PAUSE, PAWL_SPIN_LONGEST_PAUSE)
#define BACKOFF_SUSPECT_NS CONSTANT(SUSPECT_NS, PAWL_SPIN_SUSPECT_NS)

#define BACKOFF_INIT {BACKOFF_FIRST_PAUSE, 0, 0}

#if PAWL_HOOKS

/* The harness decides which thread runs next, so a pause has no use. */
PAWL_STATIC void backoff_pause_once(struct backoff *b, const void *seed)
{
    (void)b;
    (void)seed;
    pawl_cpu_relax();
}

#else

/* Marsaglia's xorshift32, seeded with a stack address: threads must differ, no more. */
PAWL_STATIC uint32_t backoff_jitter(struct backoff *b, const void *seed)
{
    uint32_t x = b->random;
    if (x == 0)
        x = (uint32_t)((uintptr_t)seed >> 3) * UINT32_C(2654435761) | 1u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return b->random = x;
}

/* True when the next pause is no longer than this one, because the bound is reached. */
PAWL_STATIC bool backoff_relaxed(struct backoff *b, const void *seed)
{
    const uint32_t half = b->longest / 2;
    uint32_t hints = half + backoff_jitter(b, seed) % (half + 1);

    while (hints-- > 0)
        pawl_cpu_relax();
    if (b->longest >= BACKOFF_LONGEST_PAUSE)
        return true;
    b->longest *= 2;
    return false;
}

PAWL_STATIC void backoff_pause_once(struct backoff *b, const void *seed)
{
    if (!backoff_relaxed(b, seed))
        return;
    if (b->since == 0)
        b->since = pawl_os_now();
    else if (pawl_os_now() - b->since > BACKOFF_SUSPECT_NS)
        pawl_os_yield();
}

#endif

/* Reads into `w` with `load` until `condition` holds, and lets `pauses` grow. */
#define WAIT_ON_UNTIL(pauses, w, load, condition)                                                  \
    do {                                                                                           \
        for ((w) = (load); !(condition); (w) = (load))                                             \
            backoff_pause_once(&(pauses), &(w));                                                   \
    } while (0)

/* The same, with pauses of its own. */
#define WAIT_UNTIL(w, load, condition)                                                             \
    do {                                                                                           \
        struct backoff pauses_ = BACKOFF_INIT;                                                     \
        WAIT_ON_UNTIL(pauses_, w, load, condition);                                                \
    } while (0)

#endif
