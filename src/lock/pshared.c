/* SPDX-License-Identifier: MIT */
/* The waiting halves of the progressive locks for shared memory. */
#include <pawl/pshared.h>

#if PAWL_HOOKS || defined(__linux__) /* systems whose waits reach other processes */

#include <limits.h>

#include "../base/base.h"

/* The classes of sleepers, as bits for the kernel's filtered wake. Each class has a gate: the test
 * of the word that its sleepers wait for (gates in pshared_word.inc.h). */
enum shared_class {
    PSHARED_READ = 1,    /* wants R */
    PSHARED_SEEK = 2,    /* wants S */
    PSHARED_WRITE = 4,   /* wants W and has withdrawn */
    PSHARED_ATOMIC = 8,  /* wants A and has withdrawn */
    PSHARED_DRAIN = 16,  /* keeps W+S+R until the other readers have left */
    PSHARED_KEEP = 32,   /* keeps W+S until all holders have left */
    PSHARED_UPDATE = 64, /* keeps W+S until the readers have left, then holds A */
    PSHARED_TURN = 128,  /* keeps R until the atomic users have left */
    PSHARED_YIELD = 256, /* the same sleeper, when a claimant waits for its R (and shows S) */
    SHARED_ONE_EACH = PSHARED_SEEK | PSHARED_WRITE, /* of these one at a time can enter */
    SHARED_WITHOUT_W = PSHARED_READ | PSHARED_SEEK | PSHARED_WRITE | PSHARED_ATOMIC | PSHARED_TURN,
    SHARED_BESIDE_W = PSHARED_DRAIN | PSHARED_KEEP | PSHARED_UPDATE | PSHARED_YIELD,
    SHARED_SOMEBODY = 512 /* no class: what pshared_wake adds when it has woken a sleeper */
};

/* Wakes the sleepers whose gate has opened. Returns the classes of which it left no sleeper: those
 * of which it wakes all, and those of which the kernel found none; SHARED_SOMEBODY if it woke any.
 * The caller is inside an operation on the lock, so the lock is still mapped (I7). */
static unsigned pshared_wake(const uint32_t *waits, unsigned classes)
{
    unsigned left = classes & SHARED_ONE_EACH;
    unsigned woken = 0;
    if (classes & PSHARED_WRITE) {
        woken = pawl_os_wake_classes(waits, PSHARED_WRITE, 1);
        if (woken == 0)
            left &= ~(unsigned)PSHARED_WRITE;
    }
    if (classes & PSHARED_SEEK) {
        const unsigned seekers = pawl_os_wake_classes(waits, PSHARED_SEEK, 1);
        woken += seekers;
        if (seekers == 0)
            left &= ~(unsigned)PSHARED_SEEK;
    }
    if (classes & ~(unsigned)SHARED_ONE_EACH)
        woken += pawl_os_wake_classes(waits, classes & ~(unsigned)SHARED_ONE_EACH, UINT_MAX);
    return (classes & ~left) | (woken != 0 ? SHARED_SOMEBODY : 0u);
}

/* True when the waiter stops reading in a loop: when the pauses have reached their bound, and at
 * once on a single CPU. In the hook variant one look is enough to reach every schedule. */
static bool pshared_tired(const struct backoff *pauses)
{
#if PAWL_HOOKS
    (void)pauses;
    return true;
#else
    return pauses->longest >= PAWL_SPIN_LONGEST_PAUSE || pawl_os_one_cpu();
#endif
}

/* A waiter that sees LEAVING waits for the drop, which comes after a few system calls. The waiter
 * may have pushed the holder from its CPU by waking up there. So it yields after a short pause. */
static void pshared_await_drop(struct backoff *pauses, const void *seed)
{
#if PAWL_HOOKS
    backoff_pause_once(pauses, seed);
#else
    if (pawl_os_one_cpu() || backoff_relaxed(pauses, seed))
        pawl_os_yield();
#endif
}

static bool pshared_late(uint64_t deadline)
{
    return deadline != PAWL_NO_DEADLINE && pawl_os_now() >= deadline;
}

#define PAWL_WORD_KIND PAWL_KIND_PSHARED_
#define PAWL_WORD_BITS 32
#include "pshared_word.inc.h"
#undef PAWL_WORD_BITS
#define PAWL_WORD_BITS 64
#include "pshared_word.inc.h"
#undef PAWL_WORD_BITS
#undef PAWL_WORD_KIND

#endif
