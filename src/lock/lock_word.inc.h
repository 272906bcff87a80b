/* SPDX-License-Identifier: MIT */
/* How the sleeping progressive lock waits, for lock32.c and lock64.c. Each function here locks and
 * unlocks the bucket itself, except where a comment says so. */

#define PAWL_WAIT_ struct wait
#define PAWL_ONE_BY_ONE_ ((unsigned)(WAIT_S | WAIT_W | WAIT_A))
#define PAWL_ESCALATES_ 0u
#define OWNER PAWL_CAT_(TABLE_OF_LOCK, PAWL_WORD_BITS)
#define CLAIM PAWL_CAT_(TABLE_OF_CLAIM, PAWL_WORD_BITS)

#include "waiting_word.inc.h"

/* ---- Wakes ----------------------------------------------------------------------------------- */

/* I7: no access to the lock. */
void PAWL_SLOW_(left)(const void *address, PAWL_WORD_ found, PAWL_WORD_ after)
{
    unsigned opened = PAWL_NAME_(opened)(found, after);
    if (PAWL_NAME_(atomics_only)(after))
        opened |= WAIT_TURN;
    if (opened != 0)
        lock_left(address, OWNER, opened);
}

/* ---- What a waiter keeps ------------------------------------------------------------------------
 * A fork may copy the process between any two steps here. So the change of the word turns PARKED
 * round, which no other thread does while the bucket is locked, and the child sees by PARKED
 * whether the change was made (table.h). */

/* The bucket is locked. The waiter is about to change the word by `units`, and to keep `next` then.
 * Returns the change with PARKED. */
static PAWL_WORD_ PAWL_NAME_(begin_change)(const PAWL_LOCK_ *l, struct pawl_waiter *waiter,
                                           PAWL_WORD_ units, PAWL_WORD_ next)
{
    const bool parked = (PAWL_AT_(pawl_load_relaxed)(&l->word) & PAWL_LOCK_PARKED) != 0;
    waiter->next = next;
    HANDLERS_SEE_THIS_ORDER();
    waiter->changes = parked ? TABLE_CLEARS_PARKED : TABLE_SETS_PARKED;
    HANDLERS_SEE_THIS_ORDER();
    return (PAWL_WORD_)(parked ? units - PAWL_LOCK_PARKED : units + PAWL_LOCK_PARKED);
}

/* The change was made at `found`, and its author has noted it, or it was not made. Sets PARKED
 * again if it was set before. Returns the word after that: it may have changed without a look. */
static PAWL_WORD_ PAWL_NAME_(park_again)(PAWL_LOCK_ *l, PAWL_WORD_ found, PAWL_WORD_ after)
{
    if (!(found & PAWL_LOCK_PARKED))
        return after;
    return PAWL_AT_(pawl_fetch_or_relaxed)(&l->word, PAWL_LOCK_PARKED);
}

#include "entries_word.inc.h"

/* ---- Waiting --------------------------------------------------------------------------------- */

static void PAWL_NAME_(wait_begin)(struct wait *wait, PAWL_LOCK_ *l, uint64_t deadline)
{
    lock_wait_begin(wait, l, OWNER, deadline);
}

static enum wait_class PAWL_NAME_(class_to_read)(const struct wait *wait)
{
    return wait->passes ? WAIT_PASS : WAIT_R;
}

/* The bucket is locked. As `ready`. Where the only W is that of the waiter whose turn it is, which
 * keeps no R, a single R is a reader's. */
static unsigned PAWL_NAME_(ready_here)(const struct lock_place *here, PAWL_WORD_ w)
{
    const struct wait *const keeper = here->queue != NULL ? here->queue->keeper : NULL;
    unsigned ready = PAWL_NAME_(ready)(w);
    if (PAWL_IS_(writers)(w) == PAWL_W_ && PAWL_IS_(readers)(w) != 0 && keeper != NULL &&
        (keeper->claim == WAIT_ALONE || keeper->claim == WAIT_PAST))
        ready |= WAIT_BESIDE;
    return ready;
}

/* The bucket is locked. A reader that passes claims enters if it can. The waiters whose claims they
 * are wait for the R that is in, and then for this one. */
static bool PAWL_NAME_(enter_beside)(const struct lock_place *here, PAWL_LOCK_ *l,
                                     enum wait_class class, PAWL_WORD_ w)
{
    while (class == WAIT_PASS && (PAWL_NAME_(ready_here)(here, w) & WAIT_BESIDE)) {
        /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
        if (PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + PAWL_R_), PAWL_SPIN_R_TAKE))
            return true;
    }
    return false;
}

static bool PAWL_NAME_(lets_in)(const PAWL_LOCK_ *l, enum wait_class class)
{
    return (PAWL_NAME_(ready)(PAWL_AT_(pawl_load_relaxed)(&l->word)) & (unsigned)class) != 0;
}

/* Spins for a while. */
static bool PAWL_NAME_(loop)(const PAWL_LOCK_ *l, const struct wait *wait, enum wait_class class)
{
    struct loop loop = LOOP_INIT;
    do
        if (PAWL_NAME_(lets_in)(l, class))
            return true;
    while (lock_loop_on(&loop, wait->deadline));
    return false;
}

/* The bucket is locked. Makes the claim if the word permits it, and wakes waiters that turn from A
 * to R: they must give R up when S appears. */
static bool PAWL_NAME_(stake_here)(struct lock_place *here, PAWL_LOCK_ *l, struct wait *wait,
                                   enum wait_class claim, bool turn)
{
    const PAWL_WORD_ units = PAWL_NAME_(units_of)(claim);
    const PAWL_WORD_ change = PAWL_NAME_(begin_change)(l, &wait->waiter, units, units);
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    PAWL_WORD_ after;
    while (PAWL_NAME_(permits)(claim, w, turn)) {
        /* Relaxed: who is granted acquires then. */
        if (PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, (PAWL_WORD_)(w + change))) {
            lock_keeps(here, wait, claim, units);
            after = PAWL_NAME_(park_again)(l, w, (PAWL_WORD_)(w + change));
            lock_pick(here, PAWL_NAME_(opened)(w, after) & WAIT_URGENT);
            return true;
        }
    }
    wait->waiter.changes = TABLE_STEADY;
    return false;
}

static bool PAWL_NAME_(stake)(PAWL_LOCK_ *l, struct wait *wait, enum wait_class claim)
{
    struct lock_place here;
    bool staked;
    if (!PAWL_NAME_(permits)(claim, PAWL_AT_(pawl_load_relaxed)(&l->word), false))
        return false;
    lock_join(&here, wait);
    staked = (claim != WAIT_ALONE || here.queue->keeper == NULL) &&
             PAWL_NAME_(stake_here)(&here, l, wait, claim, false);
    lock_unlock(&here);
    return staked;
}

/* The claim of a sleeper that others make for it at this value of the word. */
static enum wait_class PAWL_NAME_(claim_asleep)(enum wait_class class, PAWL_WORD_ w)
{
    if (PAWL_IS_(no_seeker_or_writer)(w) && (class == WAIT_W || class == WAIT_A))
        return class == WAIT_W ? WAIT_DRAIN : WAIT_UPDATE;
    return PAWL_NAME_(claim_of_turn)(class, w);
}

/* The bucket is locked. Makes the claim of a waiter that sleeps, if the word permits it. The waiter
 * need not run for that: on a busy machine it would get a CPU after all who are awake, and each of
 * these would go on. */
static bool PAWL_NAME_(stake_asleep)(struct lock_place *here, PAWL_LOCK_ *l, struct wait *wait,
                                     bool turn)
{
    const enum wait_class class = (enum wait_class)wait->waiter.kind;
    PAWL_WORD_ w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    enum wait_class claim = PAWL_NAME_(claim_asleep)(class, w);
    while (PAWL_NAME_(permits)(claim, w, turn)) {
        const PAWL_WORD_ units = PAWL_NAME_(units_of)(claim);
        const PAWL_WORD_ change = PAWL_NAME_(begin_change)(l, &wait->waiter, units, units);
        /* Relaxed: who is granted acquires then. */
        if (PAWL_AT_(pawl_cas_relaxed)(&l->word, &w, (PAWL_WORD_)(w + change))) {
            lock_keeps_asleep(here, wait, claim, units);
            w = PAWL_NAME_(park_again)(l, w, (PAWL_WORD_)(w + change));
            lock_pick(here, PAWL_NAME_(ready_here)(here, w));
            return true;
        }
        wait->waiter.changes = TABLE_STEADY;
        claim = PAWL_NAME_(claim_asleep)(class, w);
    }
    return false;
}

/* The bucket is locked. After the turn of a reader comes the writer that has slept longest, where
 * readers only are in. */
static bool PAWL_NAME_(pass_to_writer)(struct lock_place *here, PAWL_LOCK_ *l)
{
    struct wait *writer = here->queue->lists[LOCK_LIST_W].first;
    return writer != NULL && PAWL_IS_(no_seeker_or_writer)(PAWL_AT_(pawl_load_relaxed)(&l->word)) &&
           PAWL_NAME_(stake_asleep)(here, l, writer, false);
}

/* The claim is the waiter's turn, so no newcomer enters after the caller's drop. */
void PAWL_SLOW_(hand_off_slow)(PAWL_LOCK_ *l)
{
    struct lock_place here;
    struct wait *const heir = lock_look_for_heir(&here, l, OWNER);
    if (heir != NULL)
        (void)PAWL_NAME_(stake_asleep)(&here, l, heir, true);
    lock_unlock(&here);
}

static void PAWL_NAME_(alter)(PAWL_LOCK_ *l, struct wait *wait, PAWL_WORD_ units,
                              enum wait_class claim)
{
    const PAWL_WORD_ next = PAWL_NAME_(units_of)(claim);
    struct lock_place here;
    PAWL_WORD_ change, found;
    lock_join(&here, wait);
    change = PAWL_NAME_(begin_change)(l, &wait->waiter, units, next);
    /* [SPIN_R_TO_A] release: the caller's reads under R are done before another atomic user
     * enters. */
    found = PAWL_AT_(pawl_fetch_add_release)(&l->word, change, PAWL_SPIN_R_TO_A);
    lock_keeps(&here, wait, claim, next);
    if (found & PAWL_LOCK_PARKED)
        lock_pick(&here, PAWL_NAME_(opened)(found, PAWL_NAME_(park_again)(
                                                       l, found, (PAWL_WORD_)(found + change))));
    lock_unlock(&here);
}

static bool PAWL_NAME_(enter_in_turn)(PAWL_LOCK_ *l, struct wait *wait)
{
    struct lock_place here;
    bool entered = false;
    PAWL_WORD_ change, w;
    lock_join(&here, wait);
    change = PAWL_NAME_(begin_change)(l, &wait->waiter, (PAWL_WORD_)(PAWL_R_ - PAWL_W_S_), PAWL_R_);
    w = PAWL_AT_(pawl_load_relaxed)(&l->word);
    while (!entered && PAWL_IS_(writers)(w) == PAWL_W_)
        /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
        entered =
            PAWL_AT_(pawl_cas_acquire)(&l->word, &w, (PAWL_WORD_)(w + change), PAWL_SPIN_R_TAKE);
    if (entered) {
        lock_keeps(&here, wait, WAIT_NOTHING, 0);
        change = PAWL_NAME_(park_again)(l, w, (PAWL_WORD_)(w + change));
        if (!PAWL_NAME_(pass_to_writer)(&here, l))
            lock_pick(&here, PAWL_NAME_(opened)(w, change));
    } else {
        wait->waiter.changes = TABLE_STEADY;
    }
    lock_unlock(&here);
    return entered;
}

/* The bucket is locked. */
static bool PAWL_NAME_(takes_turn)(struct lock_place *here, PAWL_LOCK_ *l, struct wait *wait,
                                   enum wait_class class, PAWL_WORD_ w)
{
    const enum wait_class claim = PAWL_NAME_(claim_of_turn)(class, w);
    return claim != WAIT_NOTHING && wait->claim == WAIT_NOTHING &&
           lock_turn_has_come(here, &wait->waiter) &&
           PAWL_NAME_(stake_here)(here, l, wait, claim, true);
}

/* The bucket is locked, and is locked again afterwards. The waiter sleeps unless the word has
 * changed. */
static enum outcome PAWL_NAME_(sleep)(struct lock_place *here, PAWL_LOCK_ *l, struct wait *wait,
                                      enum wait_class class)
{
    PAWL_WORD_ w;
    if (pawl_os_now() >= wait->deadline)
        return WAIT_TIMED_OUT;
    lock_falls_asleep(here, wait, class);
    /* [LOCK_PARK] release: the hint is cleared before a releaser finds this PARKED. */
    w = PAWL_AT_(pawl_fetch_or_release)(&l->word, PAWL_LOCK_PARKED, PAWL_LOCK_PARK);
    if (PAWL_NAME_(ready)(w) & (unsigned)class) {
        lock_wakes_up(here, wait);
        return WAIT_PASSED;
    }
    lock_pick(here, PAWL_NAME_(ready_here)(here, w)); /* I6 */
    PAWL_PROBE2(lock_park, l, class);
    return lock_sleep(here, wait) ? WAIT_PASSED : WAIT_TIMED_OUT;
}

static enum outcome PAWL_NAME_(wait_for)(PAWL_LOCK_ *l, struct wait *wait, enum wait_class class)
{
    enum outcome how = WAIT_PASSED;
    struct lock_place here;
    PAWL_WORD_ w;

    if ((unsigned)class & WAIT_R)
        PAWL_NAME_(met_writer)(l);
    if (!is_retake() && (!wait->queued || !wait->has_spun)) {
        if (PAWL_NAME_(loop)(l, wait, class))
            return WAIT_PASSED;
        wait->has_spun = true;
    }
    lock_join(&here, wait);
    for (;;) {
        if (wait->claim != WAIT_NOTHING && !((unsigned)class & WAIT_URGENT)) { /* in its sleep */
            how = WAIT_CLAIM_MADE;
            break;
        }
        w = PAWL_AT_(pawl_load_relaxed)(&l->word);
        if (PAWL_NAME_(enter_beside)(&here, l, class, w)) {
            how = WAIT_ENTERED;
            break;
        }
        if (PAWL_NAME_(ready)(w) & (unsigned)class) {
            how = WAIT_PASSED;
            break;
        }
        if (how == WAIT_TIMED_OUT)
            break;
        if (PAWL_NAME_(takes_turn)(&here, l, wait, class, w)) {
            how = WAIT_CLAIM_MADE;
            break;
        }
        if (lock_may_spin_on(&here, class)) {
            lock_unlock(&here);
            if (PAWL_NAME_(loop)(l, wait, class))
                return WAIT_PASSED;
            lock_join(&here, wait);
        }
        how = PAWL_NAME_(sleep)(&here, l, wait, class);
    }
    lock_unlock(&here);
    if (how == WAIT_CLAIM_MADE)
        PAWL_PROBE1(lock_handoff, l);
    return how;
}

/* The wait is over: the waiter was granted the lock, or its deadline has passed. A waiter that
 * leaves others asleep looks by changing the word, as before a sleep. A load could miss the change
 * of a releaser that has found the hint and left this look to the waiter. */
static void PAWL_NAME_(wait_end)(PAWL_LOCK_ *l, struct wait *wait)
{
    struct lock_place here;
    PAWL_WORD_ w;
    if (!wait->queued)
        return;
    lock_join(&here, wait);
    if (here.queue->asleep == 0) /* first, so that a fork's child finds PARKED with a queue only */
        (void)PAWL_AT_(pawl_fetch_and_relaxed)(&l->word, (PAWL_WORD_)~(PAWL_WORD_)PAWL_LOCK_PARKED);
    if (lock_leave(&here, wait)) {
        /* [LOCK_PARK] release: the hint is cleared before a releaser finds this PARKED. */
        w = PAWL_AT_(pawl_fetch_or_release)(&l->word, PAWL_LOCK_PARKED, PAWL_LOCK_PARK);
        lock_pick_left_asleep(&here, PAWL_NAME_(ready_here)(&here, w));
    }
    lock_unlock(&here);
}

/* As take_read_slow and take_write_slow, for a thread that comes before sleepers of a lower rank.
 * Any thread may drop the read. A rank with PAWL_LOCK_PASSES is a reader's that passes claims. */
bool PAWL_SLOW_(take_read_counted_ranked)(PAWL_LOCK_ *l, uint64_t deadline, uint32_t rank)
{
    struct wait wait;
    bool granted;
    PAWL_NAME_(wait_begin)(&wait, l, deadline);
    wait.counted = true;
    wait.passes = (rank & PAWL_LOCK_PASSES) != 0;
    wait.rank = rank & ~PAWL_LOCK_PASSES;
    granted = PAWL_NAME_(wait_read)(l, &wait);
    PAWL_NAME_(wait_end)(l, &wait);
    return granted;
}

bool PAWL_SLOW_(take_write_ranked)(PAWL_LOCK_ *l, uint64_t deadline, uint32_t rank)
{
    struct wait wait;
    bool granted;
    PAWL_NAME_(wait_begin)(&wait, l, deadline);
    wait.rank = rank;
    granted = PAWL_NAME_(wait_write)(l, &wait);
    PAWL_NAME_(wait_end)(l, &wait);
    return granted;
}

bool PAWL_SLOW_(take_read_counted_slow)(PAWL_LOCK_ *l, uint64_t deadline)
{
    return PAWL_SLOW_(take_read_counted_ranked)(l, deadline, 0);
}

#undef PAWL_WAIT_
#undef PAWL_ONE_BY_ONE_
#undef PAWL_ESCALATES_
#undef OWNER
#undef CLAIM
