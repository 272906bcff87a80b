/* SPDX-License-Identifier: MIT */
/*
 * How the lock for shared memory waits, for both widths; pshared.c includes this file. Its sleepers
 * are in the kernel, and no list in memory names them. Three things follow:
 *
 *   - A waiter has its turn when it has been overtaken often enough; the lock cannot tell the
 *     oldest. One bit of `waits` sees to it that at most one waiter has its turn.
 *   - A reader that ends its turn simply enters. It cannot claim for a writer that sleeps.
 *   - A drop that has woken one seeker or writer counts on it. So that one stays awake until the
 *     drop (wait_for).
 */
#define PAWL_WAIT_ struct shared_wait
#define PAWL_ONE_BY_ONE_ 0u
#define PAWL_ESCALATES_ ((unsigned)(WAIT_R | WAIT_S | WAIT_W))

#include "waiting_word.inc.h"

static enum wait_class PAWL_NAME_(class_to_read)(const struct shared_wait *wait)
{
    (void)wait;
    return WAIT_R;
}

/* Readers do not scale here: another process does not see the entries of a thread. */
static bool PAWL_NAME_(enter_scaling)(PAWL_LOCK_ *l, struct shared_wait *wait, PAWL_WORD_ w)
{
    (void)l, (void)wait, (void)w;
    return false;
}

static enum lines_claim PAWL_NAME_(claim_at_lines)(PAWL_LOCK_ *l, struct shared_wait *wait)
{
    (void)l, (void)wait;
    return LINES_CHANGED;
}

static bool PAWL_NAME_(readers_gone)(PAWL_LOCK_ *l, struct shared_wait *wait)
{
    (void)l, (void)wait;
    return true;
}

/* ---- Telling --------------------------------------------------------------------------------- */

static struct shared_told PAWL_NAME_(tell)(PAWL_LOCK_ *l, unsigned classes)
{
    /* [PSHARED_TELL] release: a waiter that reads the new count sees the earlier change of the
     * word, or LEAVING, or the lock dropped. */
    const uint32_t found = pawl_fetch_add_release32(&l->waits, SHARED_COUNT, PAWL_PSHARED_TELL);
    return shared_wake(&l->waits, classes, found);
}

/* I7: LEAVING is set, so no waiter goes to sleep once `waits` has changed, and the sleepers only
 * grow fewer. Other holders may drop meanwhile and leave the wakes to this thread. So it wakes for
 * all classes that can go on in the word that it leaves, each class once, and then leaves that word
 * by its last access. Before, it clears the bits of the groups that have no sleeper; when none is
 * left, PARKED goes too. */
void PAWL_SLOW_(leave)(PAWL_LOCK_ *l, PAWL_WORD_ units)
{
    unsigned told = 0;
    uint32_t empty = 0, asleep = SHARED_ASLEEP;
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ next;

    for (;;) {
        unsigned classes;
        next = (PAWL_WORD_)((w - units) & (PAWL_WORD_)~(PAWL_WORD_)PAWL_PSHARED_LEAVING);
        classes = PAWL_NAME_(awake)(next) & ~told;
        if (classes != 0) {
            const struct shared_told now = PAWL_NAME_(tell)(l, classes);
            told |= classes;
            empty |= now.empty;
            asleep = now.asleep;
            w = PAWL_AT_(pawl_load_relaxed)(&l->word);
            continue;
        }
        /* No claim is in the word, and all others have been woken. */
        if (PAWL_IS_(no_seeker_or_writer)(next) && (told & SHARED_UNCLAIMED) == SHARED_UNCLAIMED)
            empty |= SHARED_OTHERS;
        if (asleep & empty) {
            (void)pawl_fetch_and_relaxed32(&l->waits, ~empty);
            asleep &= ~empty;
        }
        if (asleep == 0)
            next &= (PAWL_WORD_)~(PAWL_WORD_)PAWL_PSHARED_PARKED;
        /* [PSHARED_LEAVE] release: `waits` has changed before the next owner may free the lock. */
        if (PAWL_AT_(pawl_cas_release)(&l->word, &w, next, PAWL_PSHARED_LEAVE))
            return;
    }
}

/* I6, for callers that still hold the lock or are still inside an operation on it. Where all
 * without a claim can go on and the wake found no sleeper, PARKED is likely stale: this thread then
 * looks, as a drop does. */
void PAWL_SLOW_(changed)(PAWL_LOCK_ *l, PAWL_WORD_ found, PAWL_WORD_ now)
{
    const unsigned opened = PAWL_NAME_(opened)(found, now);
    PAWL_WORD_ w;
    if (opened == 0 || PAWL_NAME_(tell)(l, opened).woke || !PAWL_IS_(no_seeker_or_writer)(now))
        return;
    w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    if ((w & (PAWL_PSHARED_PARKED | PAWL_PSHARED_LEAVING)) == PAWL_PSHARED_PARKED &&
        PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, w | PAWL_PSHARED_LEAVING))
        PAWL_SLOW_(leave)(l, 0);
}

bool PAWL_SLOW_(lets_in)(PAWL_WORD_ found, PAWL_WORD_ now)
{
    return PAWL_IS_(nobody)(now) || PAWL_NAME_(opened)(found, now) != 0;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* The bit that says that a waiter has its turn. Relaxed: who clears it waits no more for its claim,
 * so another may add its own before that one has left the word. */
static bool PAWL_NAME_(become_keeper)(PAWL_LOCK_ *l, struct shared_wait *wait)
{
    if (!wait->keeper)
        wait->keeper = (pawl_fetch_or_relaxed32(&l->waits, SHARED_KEEPER) & SHARED_KEEPER) == 0;
    return wait->keeper;
}

/* The waiter keeps this claim from now on. */
static void PAWL_NAME_(keep)(PAWL_LOCK_ *l, struct shared_wait *wait, enum wait_class claim)
{
    wait->claim = claim;
    if (!wait->keeper || ((unsigned)claim & SHARED_KEEPERS))
        return;
    wait->keeper = false;
    (void)pawl_fetch_and_relaxed32(&l->waits, ~(uint32_t)SHARED_KEEPER);
}

/* `w`: the word as the waiter has seen it. */
static bool PAWL_NAME_(stake_in)(PAWL_LOCK_ *l, struct shared_wait *wait, enum wait_class claim,
                                 PAWL_WORD_ w, bool turn)
{
    const PAWL_WORD_ units = PAWL_NAME_(units_of)(claim);
    if (!PAWL_NAME_(permits)(claim, w, turn) ||
        (((unsigned)claim & SHARED_KEEPERS) && !PAWL_NAME_(become_keeper)(l, wait)))
        return false;
    while (PAWL_NAME_(permits)(claim, w, turn)) {
        /* Relaxed: who is granted acquires then. */
        if (PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, (PAWL_WORD_)(w + units))) {
            wait->claim = claim;
            PAWL_NAME_(left_)(l, w, (PAWL_WORD_)(0u - units));
            return true;
        }
    }
    PAWL_NAME_(keep)(l, wait, WAIT_NOTHING);
    return false;
}

static bool PAWL_NAME_(stake)(PAWL_LOCK_ *l, struct shared_wait *wait, enum wait_class claim)
{
    return PAWL_NAME_(stake_in)(l, wait, claim, PAWL_AT_(pawl_load_relaxed)(&l->word), false);
}

static bool PAWL_NAME_(takes_turn)(PAWL_LOCK_ *l, struct shared_wait *wait, enum wait_class class,
                                   PAWL_WORD_ w)
{
    const enum wait_class claim = PAWL_NAME_(claim_of_turn)(class, w);
    return claim != WAIT_NOTHING && PAWL_NAME_(stake_in)(l, wait, claim, w, wait->patience == 0);
}

static void PAWL_NAME_(alter)(PAWL_LOCK_ *l, struct shared_wait *wait, PAWL_WORD_ units,
                              enum wait_class claim)
{
    /* [SPIN_R_TO_A] release: the caller's reads under R are done before another atomic user
     * enters. */
    const PAWL_WORD_ found = PAWL_AT_(pawl_fetch_add_release)(&l->word, units, PAWL_SPIN_R_TO_A);
    PAWL_NAME_(left_)(l, found, (PAWL_WORD_)(0u - units));
    PAWL_NAME_(keep)(l, wait, claim);
}

static bool PAWL_NAME_(enter_in_turn)(PAWL_LOCK_ *l, struct shared_wait *wait)
{
    const PAWL_WORD_ units = (PAWL_WORD_)(PAWL_W_S_ - PAWL_R_);
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (PAWL_IS_(writers)(w) == PAWL_W_) {
        /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
        if (PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w - units), PAWL_SPIN_R_TAKE)) {
            PAWL_NAME_(left_)(l, w, units);
            PAWL_NAME_(keep)(l, wait, WAIT_NOTHING);
            return true;
        }
    }
    return false;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static void PAWL_NAME_(wait_begin)(struct shared_wait *wait, PAWL_LOCK_ *l, uint64_t deadline)
{
    const struct shared_wait fresh = {deadline, BACKOFF_INIT, WAIT_NOTHING, SHARED_PATIENCE, false};
    (void)l;
    *wait = fresh;
}

static void PAWL_NAME_(wait_end)(PAWL_LOCK_ *l, struct shared_wait *wait)
{
    (void)l;
    (void)wait;
}

/* I5: the waiter shows that it may sleep, in `waits` and then in the word, and looks at both. The
 * mark of an earlier waiter goes before, as nobody may be left who clears it. */
static PAWL_WORD_ PAWL_NAME_(park)(PAWL_LOCK_ *l, uint32_t group, uint32_t roused, uint32_t *count)
{
    if (pawl_load_relaxed32(&l->waits) & roused)
        (void)pawl_fetch_and_relaxed32(&l->waits, ~roused);
    /* [PSHARED_HEAR] acquire: if the count is new, the next read of the word is as new. */
    *count = pawl_fetch_or_acquire32(&l->waits, group, PAWL_PSHARED_HEAR) | group;
    return PAWL_AT_(pawl_fetch_or_relaxed)(&l->word, PAWL_PSHARED_PARKED) | PAWL_PSHARED_PARKED;
}

/* A holder that is leaving wakes one waiter of a class and counts on it. So the waiter that sees
 * LEAVING after its sleep stays until the drop; when its time is over, it wakes another. It looks
 * by a read-modify-write, which finds the newest value of the word. */
static enum outcome PAWL_NAME_(wait_for)(PAWL_LOCK_ *l, struct shared_wait *wait,
                                         enum wait_class class)
{
    const uint32_t group = shared_groups(class), roused = shared_roused(class);
    bool in_time = true;
    bool chosen = false; /* may be the one of its class that was woken */
    bool look = false;   /* the last look came before a sleep or a drop */
    bool tired, parked;
    uint32_t count = 0;
    PAWL_WORD_ w;

    PAWL_PROBE2(pshared_contended, l, class);
    shared_overtaken(wait);
    for (;;) {
        tired = in_time && pshared_tired(&wait->pauses);
        parked = tired && !look;
        w = parked   ? PAWL_NAME_(park)(l, group, roused, &count)
            : chosen ? PAWL_AT_(pawl_fetch_or_relaxed)(&l->word, 0)
                     : PAWL_AT_(pawl_load_relaxed)(&l->word);
        chosen = chosen && (w & PAWL_PSHARED_LEAVING);
        if (!chosen && (PAWL_NAME_(ready)(w) & class))
            return WAIT_PASSED;
        in_time = in_time && !pshared_late(wait->deadline);
        if (!in_time && chosen)
            (void)shared_wake(&l->waits, class, group);
        if (!in_time)
            return PAWL_NAME_(ready)(w) & class ? WAIT_PASSED : WAIT_TIMED_OUT;
        if (!chosen && PAWL_NAME_(takes_turn)(l, wait, class, w))
            return WAIT_CLAIM_MADE;
        look = true;
        if (w & PAWL_PSHARED_LEAVING) {
            pshared_await_drop(&wait->pauses, &w);
        } else if (PAWL_NAME_(awake)(w) & class) {
            shared_overtaken(wait);
            backoff_pause_once(&wait->pauses, &w);
        } else if (parked) {
            in_time = pawl_os_wait_classes(&l->waits, count, class, wait->deadline);
            chosen = roused != 0;
            /* [PSHARED_HEAR] acquire: who relied on the mark set LEAVING or changed the word. */
            if (chosen)
                (void)pawl_fetch_and_acquire32(&l->waits, ~roused, PAWL_PSHARED_HEAR);
            shared_overtaken(wait);
        } else {
            look = false;
            if (!tired)
                backoff_pause_once(&wait->pauses, &w);
        }
    }
}

#undef PAWL_WAIT_
#undef PAWL_ONE_BY_ONE_
#undef PAWL_ESCALATES_
