/* SPDX-License-Identifier: MIT */
/* Turns that a waiter does not take by itself: a claim that others make for a sleeper, and a reader
 * that enters beside claims or in place of its own. */
#include <limits.h>

#include "lock_parts.h"

/* The waiter sleeps, keeps this claim from now on, and waits in that class. */
static void lock_keeps_asleep(struct lock_place *here, struct wait *wait, enum wait_class claim)
{
    lock_delist(here, wait);
    lock_keeps(here, wait, claim);
    wait->waiter.kind = (uint32_t)claim;
    lock_enlist(here, wait);
}

PAWL_INTERNAL bool lock_enter_beside(const struct lock_place *here, const struct word *word,
                                     enum wait_class class, uint64_t w)
{
    while (class == WAIT_PASS && (lock_ready_here(here, w) & WAIT_BESIDE)) {
        /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
        if (word_cas_acquire(word, &w, UNIT_R, PAWL_SPIN_R_TAKE))
            return true;
    }
    return false;
}

/* The bucket is locked. Makes the claim of a waiter that sleeps, if the word permits it. The waiter
 * need not run for that: on a busy machine it would get a CPU after all who are awake, and each of
 * these would go on. */
static bool lock_stake_asleep(struct lock_place *here, struct wait *wait, bool turn)
{
    const struct word *const word = &wait->self.word;
    const enum wait_class class = (enum wait_class)wait->waiter.kind;
    uint64_t w = word_load_relaxed(word);
    enum wait_class claim = lock_claim_of(class, w, turn);
    while (claim != WAIT_NOTHING) {
        const uint64_t units = lock_units_of(claim);
        const uint64_t change = lock_begin_change(word, &wait->waiter, units, units);
        /* Relaxed: who is granted acquires then. */
        if (word_cas_relaxed(word, &w, change)) {
            lock_keeps_asleep(here, wait, claim);
            w = lock_park_again(word, w, change);
            lock_pick(here, lock_ready_here(here, w));
            return true;
        }
        wait->waiter.changes = TABLE_STEADY;
        claim = lock_claim_of(class, w, turn);
    }
    return false;
}

/* The bucket is locked. After the turn of a reader comes the writer that has slept longest, where
 * readers only are in. */
static bool lock_pass_to_writer(struct lock_place *here)
{
    struct wait *writer = here->queue->lists[LOCK_LIST_W].first;
    return writer != NULL &&
           ipawl_spin64_no_seeker_or_writer_(word_load_relaxed(&writer->self.word)) &&
           lock_stake_asleep(here, writer, false);
}

/* Only a sleeper can be the heir: a waiter that is awake may have been granted the lock already.
 * Where a waiter has its turn, nothing changes: it is the next. */
PAWL_INTERNAL void lock_hand_off(struct word word)
{
    struct lock_place here;
    unsigned list = LOCK_LISTS;
    lock_look(&here, word.address, lock_owner(&word));
    if (here.queue != NULL && here.queue->keeper == NULL)
        list = lock_oldest_ready(&here, UINT_MAX);
    if (list < LOCK_LISTS)
        (void)lock_stake_asleep(&here, here.queue->lists[list].first, true);
    lock_unlock(&here);
}

PAWL_INTERNAL bool lock_enter_in_turn(struct claimant *c)
{
    struct wait *const wait = lock_wait_of(c);
    struct lock_place here;
    bool entered = false;
    uint64_t change, w, after;
    lock_join(&here, wait);
    change = lock_begin_change(&c->word, &wait->waiter, UNIT_R - UNITS_W_S, UNIT_R);
    w = word_load_relaxed(&c->word);
    while (!entered && ipawl_spin64_writers_(w) == UNIT_W)
        /* [SPIN_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
        entered = word_cas_acquire(&c->word, &w, change, PAWL_SPIN_R_TAKE);
    if (entered) {
        lock_keeps(&here, wait, WAIT_NOTHING);
        after = lock_park_again(&c->word, w, change);
        if (!lock_pass_to_writer(&here))
            lock_pick(&here, lock_opens(w, after));
    } else {
        wait->waiter.changes = TABLE_STEADY;
    }
    lock_unlock(&here);
    return entered;
}
