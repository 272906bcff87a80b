/* SPDX-License-Identifier: MIT */
/* How a thread waits for a progressive lock that sleeps (waiting.h). Each function here locks and
 * unlocks the bucket itself, except where a comment says so. lock.c has the steps in the queue,
 * lock_wake.c whom a change wakes, and lock_turn.c the turns that others begin. */
#include "lock_parts.h"

/* Spins for a while. */
static bool lock_loop(const struct claimant *c, enum wait_class class, struct loop *loop)
{
    do
        if (lock_ready(word_load_relaxed(&c->word)) & (unsigned)class)
            return true;
    while (lock_loop_on(loop, c->deadline));
    return false;
}

/* ---- Claims ---------------------------------------------------------------------------------- */

/* The bucket is locked. Makes the claim if the word permits it, and wakes waiters that turn from A
 * to R: they must give R up when S appears. */
static bool lock_stake_here(struct lock_place *here, struct wait *wait, enum wait_class claim,
                            bool turn)
{
    const struct word *const word = &wait->self.word;
    const uint64_t units = lock_units_of(claim);
    const uint64_t change = lock_begin_change(word, &wait->waiter, units, units);
    uint64_t w = word_load_relaxed(word);
    uint64_t after;
    while (lock_permits(claim, w, turn)) {
        /* Relaxed: who is granted acquires then. */
        if (word_cas_relaxed(word, &w, change)) {
            lock_keeps(here, wait, claim);
            after = lock_park_again(word, w, change);
            lock_pick(here, lock_opens(w, after) & WAIT_URGENT);
            return true;
        }
    }
    wait->waiter.changes = TABLE_STEADY;
    return false;
}

PAWL_INTERNAL bool lock_stake(struct claimant *c, enum wait_class claim)
{
    struct wait *const wait = lock_wait_of(c);
    struct lock_place here;
    bool staked;
    if (!lock_permits(claim, word_load_relaxed(&c->word), false))
        return false;
    lock_join(&here, wait);
    staked = (claim != WAIT_ALONE || here.queue->keeper == NULL) &&
             lock_stake_here(&here, wait, claim, false);
    lock_unlock(&here);
    return staked;
}

PAWL_INTERNAL void lock_alter(struct claimant *c, uint64_t units, enum wait_class claim)
{
    struct wait *const wait = lock_wait_of(c);
    struct lock_place here;
    uint64_t change, found, after;
    lock_join(&here, wait);
    change = lock_begin_change(&c->word, &wait->waiter, units, lock_units_of(claim));
    /* [SPIN_R_TO_A] release: the caller's reads under R are done before another atomic user
     * enters. */
    found = word_fetch_add_release(&c->word, change, PAWL_SPIN_R_TO_A);
    lock_keeps(&here, wait, claim);
    if (found & PAWL_LOCK_PARKED) {
        after = lock_park_again(&c->word, found, change);
        lock_pick(&here, lock_opens(found, after));
    }
    lock_unlock(&here);
}

PAWL_INTERNAL bool lock_takes_turn(struct lock_place *here, struct wait *wait,
                                   enum wait_class class, uint64_t w)
{
    const enum wait_class claim = lock_claim_of(class, w, true);
    return claim != WAIT_NOTHING && wait->self.claim == WAIT_NOTHING &&
           lock_turn_has_come(here, &wait->waiter) && lock_stake_here(here, wait, claim, true);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

PAWL_INTERNAL bool lock_parks(struct lock_place *here, struct wait *wait, enum wait_class class)
{
    uint64_t w;
    lock_falls_asleep(here, wait, class);
    /* [LOCK_PARK] release: the hint is cleared before a releaser finds this PARKED. */
    w = word_fetch_or_release(&wait->self.word, PAWL_LOCK_PARKED, PAWL_LOCK_PARK);
    if (lock_ready(w) & (unsigned)class) {
        lock_wakes_up(here, wait);
        return false;
    }
    lock_pick(here, lock_ready_here(here, w)); /* I6 */
    PAWL_PROBE2(lock_park, wait->self.word.address, class);
    return true;
}

/* The bucket is locked, and is locked again afterwards. The waiter sleeps unless the word has
 * changed. */
static enum outcome lock_sleep_unless_ready(struct lock_place *here, struct wait *wait,
                                            enum wait_class class)
{
    if (pawl_os_now() >= wait->self.deadline)
        return WAIT_TIMED_OUT;
    if (!lock_parks(here, wait, class))
        return WAIT_PASSED;
    return lock_sleep(here, wait) ? WAIT_PASSED : WAIT_TIMED_OUT;
}

static enum outcome lock_wait_for(struct claimant *c, enum wait_class class)
{
    struct wait *const wait = lock_wait_of(c);
    enum outcome how = WAIT_PASSED;
    struct lock_place here;
    uint64_t w;

    if (!wait->signalled && (!wait->queued || !wait->has_spun)) {
        struct loop fresh = LOOP_INIT;
        if (lock_loop(c, class, class == WAIT_W ? &wait->loop : &fresh))
            return WAIT_PASSED;
        wait->has_spun = true;
    }
    lock_join(&here, wait);
    for (;;) {
        if (c->claim != WAIT_NOTHING && !((unsigned)class & WAIT_URGENT)) { /* in its sleep */
            how = WAIT_CLAIM_MADE;
            break;
        }
        w = word_load_relaxed(&c->word);
        if (lock_enter_beside(&here, &c->word, class, w)) {
            how = WAIT_ENTERED;
            break;
        }
        if (lock_ready(w) & (unsigned)class) {
            how = WAIT_PASSED;
            break;
        }
        if (how == WAIT_TIMED_OUT)
            break;
        if (lock_takes_turn(&here, wait, class, w)) {
            how = WAIT_CLAIM_MADE;
            break;
        }
        /* A waiter that is in others' way spins on besides: its sleep would keep the lock idle. */
        if (here.queue->awake <= LOCK_SPINNERS || ((unsigned)class & WAIT_URGENT) != 0) {
            struct loop loop = LOOP_INIT;
            lock_unlock(&here);
            if (lock_loop(c, class, &loop))
                return WAIT_PASSED;
            lock_join(&here, wait);
        }
        how = lock_sleep_unless_ready(&here, wait, class);
    }
    lock_unlock(&here);
    if (how == WAIT_CLAIM_MADE)
        PAWL_PROBE1(lock_handoff, c->word.address);
    return how;
}

/* A waiter that leaves others asleep looks by changing the word, as before a sleep. A load could
 * miss the change of a releaser that has found the hint and left this look to the waiter. */
PAWL_INTERNAL void lock_wait_end(struct wait *wait)
{
    const struct word *const word = &wait->self.word;
    struct lock_place here;
    uint64_t w;
    if (!wait->queued)
        return;
    lock_join(&here, wait);
    if (here.queue->asleep == 0) /* first, so that a fork's child finds PARKED with a queue only */
        word_fetch_clear_relaxed(word, PAWL_LOCK_PARKED);
    if (lock_leave(&here, wait)) {
        /* [LOCK_PARK] release: the hint is cleared before a releaser finds this PARKED. */
        w = word_fetch_or_release(word, PAWL_LOCK_PARKED, PAWL_LOCK_PARK);
        lock_pick_left_asleep(&here, lock_ready_here(&here, w));
    }
    lock_unlock(&here);
}

/* ---- Operations ------------------------------------------------------------------------------ */

#if PAWL_SCALES_
static const struct wait_scaling lock_scaling = {lock_enter_scaling, lock_claim_at_lines,
                                                 lock_wait_for_entries, lock_met_writer};
#define LOCK_SCALING (&lock_scaling)
#else
#define LOCK_SCALING NULL
#endif

static const struct wait_way lock_way = {lock_wait_for, lock_stake, lock_alter, lock_enter_in_turn,
                                         LOCK_SCALING};

PAWL_INTERNAL void lock_wait_begin(struct wait *wait, struct word word, uint64_t deadline)
{
    wait->waiter.address = word.address;
    wait->waiter.bits = 0;
    wait->waiter.changes = TABLE_STEADY;
    wait->waiter.younger = NULL;
    wait->waiter.kind = WAIT_NOTHING;
    wait->waiter.room = table_room(&wait->room.queue, lock_owner(&word), sizeof wait->room);
    wait->self.word = word;
    wait->self.way = &lock_way;
    wait->self.deadline = deadline;
    wait->self.claim = WAIT_NOTHING;
    wait->queued = false;
    wait->has_spun = false;
    wait->loop = (struct loop)LOOP_INIT;
    wait->slept = false;
}

PAWL_INTERNAL bool lock_wait(struct word word, uint64_t deadline,
                             bool (*operation)(struct claimant *c), uint32_t rank, bool counted)
{
    struct wait wait;
    bool result;
    lock_wait_begin(&wait, word, deadline);
    wait.counted = counted;
    wait.self.to_read = (rank & PAWL_LOCK_PASSES) != 0 ? WAIT_PASS : WAIT_R;
    wait.signalled = (rank & PAWL_LOCK_SIGNALLED) != 0;
    wait.rank = rank & ~(PAWL_LOCK_PASSES | PAWL_LOCK_SIGNALLED);
    result = operation(&wait.self);
    lock_wait_end(&wait);
    return result;
}
