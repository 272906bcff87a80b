/* SPDX-License-Identifier: MIT */
/*
 * How a thread waits for a progressive lock in shared memory (waiting.h). Its sleepers are in the
 * kernel, and no list in memory names them. Three things follow:
 *
 *   - A waiter has its turn when it has been overtaken often enough; the lock cannot tell the
 *     oldest. One bit of `waits` sees to it that at most one waiter has its turn.
 *   - A reader that ends its turn simply enters. It cannot claim for a writer that sleeps.
 *   - A drop that has woken one seeker or writer counts on it. So that one stays awake until the
 *     drop (shared_wait_for).
 */
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

#define SHARED_UNCLAIMED                                                                           \
    ((unsigned)(WAIT_R | WAIT_A | WAIT_ENDED)) /* others, also without S or W */
#define SHARED_KEEPERS ((unsigned)(WAIT_ALONE | WAIT_PAST | WAIT_NEXT))

/* In the hook variant the 64-bit lock has less patience, so that short schedules have turns too. */
#if PAWL_HOOKS
#define SHARED_PATIENCE(layout) ((layout) == WORD_64 ? 2 : PAWL_PSHARED_PATIENCE)
#else
#define SHARED_PATIENCE(layout) PAWL_PSHARED_PATIENCE
#endif

#define SHARED_ESCALATE ((unsigned)(WAIT_R | WAIT_S | WAIT_W))

struct shared_wait {
    struct claimant self; /* first member */
    struct backoff pauses;
    unsigned patience; /* how often it may still be overtaken */
    bool keeper;       /* SHARED_KEEPER is its own */
};

/* It lies behind the word. */
static uint32_t *shared_waits(const struct word *word)
{
    return (uint32_t *)word->address + (word->layout == WORD_64 ? 2 : 1);
}

static void shared_overtaken(struct shared_wait *wait)
{
    if (wait->patience > 0)
        wait->patience--;
}

/* The groups with a sleeper of these classes. */
static uint32_t shared_groups(unsigned classes)
{
    return (classes & WAIT_W ? SHARED_WRITERS : 0u) | (classes & WAIT_S ? SHARED_SEEKERS : 0u) |
           (classes & ~(unsigned)WAIT_ONE_BY_ONE ? SHARED_OTHERS : 0u);
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
    const unsigned others = classes & ~(unsigned)WAIT_ONE_BY_ONE;
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

/* ---- Telling --------------------------------------------------------------------------------- */

static struct shared_told shared_tell(const struct word *word, unsigned classes)
{
    /* [PSHARED_TELL] release: a waiter that reads the new count sees the earlier change of the
     * word, or LEAVING, or the lock dropped. */
    const uint32_t found =
        pawl_fetch_add_release32(shared_waits(word), SHARED_COUNT, PAWL_PSHARED_TELL);
    return shared_wake(shared_waits(word), classes, found);
}

/* I7: LEAVING is set, so no waiter goes to sleep once `waits` has changed, and the sleepers only
 * grow fewer. Other holders may drop meanwhile and leave the wakes to this thread. So it wakes for
 * all classes that can go on in the word that it leaves, each class once, and then leaves that word
 * by its last access. Before, it clears the bits of the groups that have no sleeper; when none is
 * left, PARKED goes too. */
static void shared_leave(const struct word *word, uint64_t units)
{
    unsigned told = 0;
    uint32_t empty = 0, asleep = SHARED_ASLEEP;
    uint64_t w = word_load_relaxed(word);

    for (;;) {
        uint64_t gone = units + (w & PAWL_PSHARED_LEAVING);
        const uint64_t next = word_plus(w, 0u - gone, word->layout);
        const unsigned classes = lock_sleepless(next, SHARED_ESCALATE) & ~told;
        if (classes != 0) {
            const struct shared_told now = shared_tell(word, classes);
            told |= classes;
            empty |= now.empty;
            asleep = now.asleep;
            w = word_load_relaxed(word);
            continue;
        }
        /* No claim is in the word, and all others have been woken. */
        if (ipawl_spin64_no_seeker_or_writer_(next) &&
            (told & SHARED_UNCLAIMED) == SHARED_UNCLAIMED)
            empty |= SHARED_OTHERS;
        if (asleep & empty) {
            (void)pawl_fetch_and_relaxed32(shared_waits(word), ~empty);
            asleep &= ~empty;
        }
        if (asleep == 0)
            gone += w & PAWL_PSHARED_PARKED;
        /* [PSHARED_LEAVE] release: `waits` has changed before the next owner may free the lock. */
        if (word_cas_release(word, &w, 0u - gone, PAWL_PSHARED_LEAVE))
            return;
    }
}

/* I6, for callers that still hold the lock or are still inside an operation on it. Where all
 * without a claim can go on and the wake found no sleeper, PARKED is likely stale: this thread then
 * looks, as a drop does. */
static void shared_changed(const struct word *word, uint64_t found, uint64_t now)
{
    const unsigned opened = lock_opened(found, now, 0, SHARED_ESCALATE);
    uint64_t w;
    if (opened == 0 || shared_tell(word, opened).woke || !ipawl_spin64_no_seeker_or_writer_(now))
        return;
    w = word_load_relaxed(word);
    if ((w & (PAWL_PSHARED_PARKED | PAWL_PSHARED_LEAVING)) == PAWL_PSHARED_PARKED &&
        word_cas_relaxed(word, &w, PAWL_PSHARED_LEAVING))
        shared_leave(word, 0);
}

/* After an addition of `units` that found `found`. */
static void shared_moved(const struct word *word, uint64_t found, uint64_t units)
{
    if (found & PAWL_PSHARED_PARKED)
        shared_changed(word, found, word_plus(found, units, word->layout));
}

static bool shared_lets_in(uint64_t found, uint64_t now)
{
    return ipawl_spin64_nobody_(now) || lock_opened(found, now, 0, SHARED_ESCALATE) != 0;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static struct shared_wait *shared_wait_of(struct claimant *c)
{
    return (struct shared_wait *)(void *)c;
}

/* The bit that says that a waiter has its turn. Relaxed: who clears it waits no more for its claim,
 * so another may add its own before that one has left the word. */
static bool shared_become_keeper(struct shared_wait *wait)
{
    if (!wait->keeper)
        wait->keeper = (pawl_fetch_or_relaxed32(shared_waits(&wait->self.word), SHARED_KEEPER) &
                        SHARED_KEEPER) == 0;
    return wait->keeper;
}

/* The waiter keeps this claim from now on. */
static void shared_keep(struct shared_wait *wait, enum wait_class claim)
{
    wait->self.claim = claim;
    if (!wait->keeper || ((unsigned)claim & SHARED_KEEPERS))
        return;
    wait->keeper = false;
    (void)pawl_fetch_and_relaxed32(shared_waits(&wait->self.word), ~(uint32_t)SHARED_KEEPER);
}

/* `w`: the word as the waiter has seen it. */
static bool shared_stake_in(struct shared_wait *wait, enum wait_class claim, uint64_t w, bool turn)
{
    const struct word *const word = &wait->self.word;
    const uint64_t units = lock_units_of(claim);
    if (!lock_permits(claim, w, turn) ||
        (((unsigned)claim & SHARED_KEEPERS) && !shared_become_keeper(wait)))
        return false;
    while (lock_permits(claim, w, turn)) {
        /* Relaxed: who is granted acquires then. */
        if (word_cas_relaxed(word, &w, units)) {
            wait->self.claim = claim;
            shared_moved(word, w, units);
            return true;
        }
    }
    shared_keep(wait, WAIT_NOTHING);
    return false;
}

static bool shared_stake(struct claimant *c, enum wait_class claim)
{
    return shared_stake_in(shared_wait_of(c), claim, word_load_relaxed(&c->word), false);
}

static bool shared_takes_turn(struct shared_wait *wait, enum wait_class class, uint64_t w)
{
    const bool turn = wait->patience == 0;
    const enum wait_class claim = lock_claim_of(class, w, turn);
    return claim != WAIT_NOTHING && shared_stake_in(wait, claim, w, turn);
}

static void shared_alter(struct claimant *c, uint64_t units, enum wait_class claim)
{
    /* [SPIN_R_TO_A] release: the caller's reads under R are done before another atomic user
     * enters. */
    const uint64_t found = word_fetch_add_release(&c->word, units, PAWL_SPIN_R_TO_A);
    shared_moved(&c->word, found, units);
    shared_keep(shared_wait_of(c), claim);
}

static bool shared_enter_in_turn(struct claimant *c)
{
    uint64_t w = word_load_relaxed(&c->word);
    while (ipawl_spin64_writers_(w) == UNIT_W) {
        /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
        if (word_cas_acquire(&c->word, &w, UNIT_R - UNITS_W_S, PAWL_SPIN_R_TAKE)) {
            shared_moved(&c->word, w, UNIT_R - UNITS_W_S);
            shared_keep(shared_wait_of(c), WAIT_NOTHING);
            return true;
        }
    }
    return false;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* I5: the waiter shows that it may sleep, in `waits` and then in the word, and looks at both. The
 * mark of an earlier waiter goes before, as nobody may be left who clears it. */
static uint64_t shared_park(const struct word *word, uint32_t group, uint32_t roused,
                            uint32_t *count)
{
    uint32_t *const waits = shared_waits(word);
    if (pawl_load_relaxed32(waits) & roused)
        (void)pawl_fetch_and_relaxed32(waits, ~roused);
    /* [PSHARED_HEAR] acquire: if the count is new, the next read of the word is as new. */
    *count = pawl_fetch_or_acquire32(waits, group, PAWL_PSHARED_HEAR) | group;
    return word_fetch_or_relaxed(word, PAWL_PSHARED_PARKED) | PAWL_PSHARED_PARKED;
}

/* A holder that is leaving wakes one waiter of a class and counts on it. So the waiter that sees
 * LEAVING after its sleep stays until the drop; when its time is over, it wakes another. It looks
 * by a read-modify-write, which finds the newest value of the word. */
static enum outcome shared_wait_for(struct claimant *c, enum wait_class class)
{
    struct shared_wait *const wait = shared_wait_of(c);
    const struct word *const word = &c->word;
    uint32_t *const waits = shared_waits(word);
    const uint32_t group = shared_groups(class), roused = shared_roused(class);
    bool in_time = true;
    bool chosen = false; /* may be the one of its class that was woken */
    bool look = false;   /* the last look came before a sleep or a drop */
    bool tired, parked;
    uint32_t count = 0;
    uint64_t w;

    PAWL_PROBE2(pshared_contended, word->address, class);
    shared_overtaken(wait);
    for (;;) {
        tired = in_time && pshared_tired(&wait->pauses);
        parked = tired && !look;
        w = parked   ? shared_park(word, group, roused, &count)
            : chosen ? word_fetch_or_relaxed(word, 0)
                     : word_load_relaxed(word);
        chosen = chosen && (w & PAWL_PSHARED_LEAVING);
        if (!chosen && (lock_ready(w) & class))
            return WAIT_PASSED;
        in_time = in_time && !pshared_late(c->deadline);
        if (!in_time && chosen)
            (void)shared_wake(waits, class, group);
        if (!in_time)
            return lock_ready(w) & class ? WAIT_PASSED : WAIT_TIMED_OUT;
        if (!chosen && shared_takes_turn(wait, class, w))
            return WAIT_CLAIM_MADE;
        look = true;
        if (w & PAWL_PSHARED_LEAVING) {
            pshared_await_drop(&wait->pauses, &w);
        } else if (lock_sleepless(w, SHARED_ESCALATE) & class) {
            shared_overtaken(wait);
            backoff_pause_once(&wait->pauses, &w);
        } else if (parked) {
            in_time = pawl_os_wait_classes(waits, count, class, c->deadline);
            chosen = roused != 0;
            /* [PSHARED_HEAR] acquire: who relied on the mark set LEAVING or changed the word. */
            if (chosen)
                (void)pawl_fetch_and_acquire32(waits, ~roused, PAWL_PSHARED_HEAR);
            shared_overtaken(wait);
        } else {
            look = false;
            if (!tired)
                backoff_pause_once(&wait->pauses, &w);
        }
    }
}

/* ---- Operations ------------------------------------------------------------------------------ */

static const struct wait_way shared_way = {shared_wait_for, shared_stake, shared_alter,
                                           shared_enter_in_turn, NULL};

static bool shared_wait(struct word word, uint64_t deadline, bool (*operation)(struct claimant *c))
{
    struct shared_wait wait = {{word, &shared_way, deadline, WAIT_R, WAIT_NOTHING},
                               BACKOFF_INIT,
                               SHARED_PATIENCE(word.layout),
                               false};
    return operation(&wait.self);
}

#define PAWL_WORD_KIND PAWL_KIND_PSHARED_
#define PAWL_WORD_BITS 32
#include "pshared_calls.inc.h"
#define PAWL_WORD_BITS 64
#include "pshared_calls.inc.h"
#undef PAWL_WORD_KIND

#endif
