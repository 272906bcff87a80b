/* SPDX-License-Identifier: MIT */
/* The waiting halves of the progressive locks for shared memory. */
#include <pawl/pshared.h>

#if PAWL_HOOKS || defined(__linux__) /* systems whose waits reach other processes */

#include <limits.h>

#include "../base/base.h"
#include "waiting.h"

/* The parts of `waits`. The kernel compares all of it with what a waiter read. */
enum {
    SHARED_KEEPER = 1,  /* a waiter keeps ALONE, PAST or NEXT, or is about to */
    SHARED_WRITERS = 2, /* must be set while a writer without a claim sleeps, */
    SHARED_SEEKERS = 4, /* a seeker without a claim, */
    SHARED_OTHERS = 8,  /* or any other waiter; may be stale until a drop finds no such sleeper */
    SHARED_ASLEEP = SHARED_WRITERS | SHARED_SEEKERS | SHARED_OTHERS,
    SHARED_WRITER_ROUSED = 16, /* a writer was woken and has not looked since, */
    SHARED_SEEKER_ROUSED = 32, /* or a seeker; may be stale until one of them goes to sleep */
    SHARED_COUNT = 64          /* the unit of the count above them */
};

/* So many changes of the count at most rely on a roused waiter: it may have been stopped, or have
 * been woken in the parent of a fork. */
#if PAWL_HOOKS
#define SHARED_TRUST 4u
#else
#define SHARED_TRUST 4096u
#endif

#define SHARED_ONE_EACH ((unsigned)(WAIT_W | WAIT_S)) /* of these one at a time is woken */
#define SHARED_UNCLAIMED ((unsigned)(WAIT_R | WAIT_A | WAIT_GONE)) /* others, also without S or W */
#define SHARED_KEEPERS ((unsigned)(WAIT_ALONE | WAIT_PAST | WAIT_NEXT))

/* In the hook variant the 64-bit lock has less patience, so that short schedules have turns too. */
#if PAWL_HOOKS
#define SHARED_PATIENCE (PAWL_WORD_BITS == 64 ? 2 : PAWL_PSHARED_PATIENCE)
#else
#define SHARED_PATIENCE PAWL_PSHARED_PATIENCE
#endif

struct shared_wait {
    uint64_t deadline;
    struct backoff pauses;
    enum wait_class claim; /* that it keeps */
    unsigned patience;     /* how often it may still be overtaken */
    bool keeper;           /* SHARED_KEEPER is its own */
};

static void shared_overtaken(struct shared_wait *wait)
{
    if (wait->patience > 0)
        wait->patience--;
}

/* The groups with a sleeper of these classes. */
static uint32_t shared_groups(unsigned classes)
{
    return (classes & WAIT_W ? SHARED_WRITERS : 0u) | (classes & WAIT_S ? SHARED_SEEKERS : 0u) |
           (classes & ~SHARED_ONE_EACH ? SHARED_OTHERS : 0u);
}

/* The mark of a roused waiter of that class. */
static uint32_t shared_roused(unsigned class)
{
    return class == WAIT_W ? SHARED_WRITER_ROUSED : class == WAIT_S ? SHARED_SEEKER_ROUSED : 0u;
}

struct shared_told {
    uint32_t asleep; /* groups that may have had sleepers before */
    uint32_t empty;  /* groups of which the kernel found no sleeper */
    bool woke;
};

/* Wakes one waiter of the class, W or S, unless one is roused: that one looks at the word after it
 * has cleared its mark. With a wake for each drop a crowd would be awake as one, and a holder
 * that comes again and again would make a system call each time. */
static void shared_rouse(uint32_t *waits, enum wait_class class, uint32_t found,
                         struct shared_told *told)
{
    const uint32_t group = shared_groups(class), roused = shared_roused(class);
    uint32_t before, after;
    bool woke;
    if ((found & group) == 0)
        return;
    if ((found & roused) != 0 && found / SHARED_COUNT % SHARED_TRUST != 0) {
        told->woke = true;
        return;
    }
    /* Relaxed: the wake orders it before the look of the waiter. */
    before = pawl_fetch_or_relaxed32(waits, roused);
    woke = pawl_os_wake_classes(waits, class, 1) != 0;
    if (!woke) {
        after = pawl_fetch_and_relaxed32(waits, ~roused);
        /* A change of the count in between may have relied on the mark, for a waiter that fell
         * asleep behind the wake. */
        if (before / SHARED_COUNT != after / SHARED_COUNT)
            woke = pawl_os_wake_classes(waits, class, 1) != 0;
    }
    if (woke)
        told->woke = true;
    else
        told->empty |= group;
}

/* Wakes one writer, one seeker and all others of these classes, if `found` shows their group. A
 * search through the kernel's sleepers is long where thousands sleep. The caller is inside an
 * operation on the lock, so the lock is still mapped (I7). */
static struct shared_told shared_wake(uint32_t *waits, unsigned classes, uint32_t found)
{
    const unsigned others = classes & ~SHARED_ONE_EACH;
    struct shared_told told = {found & SHARED_ASLEEP, 0, false};
    if (classes & WAIT_W)
        shared_rouse(waits, WAIT_W, found, &told);
    if (classes & WAIT_S)
        shared_rouse(waits, WAIT_S, found, &told);
    if (others != 0 && (found & SHARED_OTHERS) &&
        pawl_os_wake_classes(waits, others, UINT_MAX) != 0)
        told.woke = true;
    return told;
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
