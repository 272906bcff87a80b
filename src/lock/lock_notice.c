/* SPDX-License-Identifier: MIT */
/* Requests for a lock (notice.c). A request runs the operation of a thread until that would sleep.
 * It is among the sleepers then, and the operation ends as if its deadline had passed, but takes
 * nothing back. To go on the operation runs anew. It finds no way in beside its own claim, and then
 * that claim. */
#include "lock_notice.h"

static enum outcome lock_notice_wait(struct claimant *c, enum wait_class class)
{
    struct notice *const n = lock_notice_of(c);
    struct wait *const wait = &n->wait;
    enum outcome how = WAIT_PASSED;
    struct lock_place here;
    uint64_t w;
    lock_join(&here, wait);
    w = word_load_relaxed(&c->word);
    if (c->claim != WAIT_NOTHING && !((unsigned)class & WAIT_URGENT)) {
        how = WAIT_CLAIM_MADE;
    } else if (!(lock_ready(w) & (unsigned)class)) {
        if (lock_takes_turn(&here, wait, class, w)) {
            how = WAIT_CLAIM_MADE;
        } else if (lock_parks(&here, wait, class)) {
            wait->parker.descriptor = n->descriptor;
            wait->waiter.asleep = 1;
            n->asleep = n->on_hold = true;
            how = WAIT_TIMED_OUT;
        }
    }
    lock_unlock(&here);
    return how;
}

static void lock_notice_alter(struct claimant *c, uint64_t units, enum wait_class claim)
{
    if (!lock_notice_of(c)->on_hold)
        lock_alter(c, units, claim);
}

#if PAWL_SCALES_
static const struct wait_scaling lock_notice_scaling = {lock_enter_scaling, lock_claim_at_lines,
                                                        lock_look_at_entries, lock_met_writer};
#define LOCK_NOTICE_SCALING (&lock_notice_scaling)
#else
#define LOCK_NOTICE_SCALING NULL
#endif

static const struct wait_way lock_notice_way = {lock_notice_wait, lock_stake, lock_notice_alter,
                                                lock_enter_in_turn, LOCK_NOTICE_SCALING};

static bool lock_notice_step(struct notice *n)
{
    n->on_hold = false;
    if (!n->operation(&n->wait.self))
        return false;
    lock_wait_end(&n->wait);
    return true;
}

/* Whether the request is awake; from now on in any case where it is cancelled. */
static bool lock_notice_wakes(struct notice *n, bool cancel)
{
    struct wait *const wait = &n->wait;
    struct lock_place here;
    bool picked;
    if (!n->asleep)
        return true;
    lock_join(&here, wait);
    picked = wait->waiter.asleep == 0;
    if (!picked && cancel) {
        lock_wakes_up(&here, wait);
        wait->waiter.asleep = 0;
    }
    lock_unlock(&here);
    if (picked)
        (void)pawl_park(&wait->parker, PAWL_NO_DEADLINE);
    n->asleep = !picked && !cancel;
    return !n->asleep;
}

PAWL_INTERNAL bool lock_notice_begin(struct notice *n, struct word word,
                                     bool (*operation)(struct claimant *c))
{
    struct wait *const wait = &n->wait;
    lock_wait_begin(wait, word, PAWL_NO_DEADLINE);
    wait->self.way = &lock_notice_way;
    wait->self.to_read = WAIT_R;
    wait->counted = true;
    wait->signalled = false;
    wait->rank = 0;
    n->operation = operation;
    n->asleep = n->met_entry = false;
    return lock_notice_step(n);
}

PAWL_INTERNAL bool lock_notice_go_on(struct notice *n)
{
    return lock_notice_wakes(n, false) && lock_notice_step(n);
}

PAWL_INTERNAL void lock_notice_cancel(struct notice *n)
{
    struct claimant *const c = &n->wait.self;
    (void)lock_notice_wakes(n, true);
    if (c->claim != WAIT_NOTHING)
        lock_alter(c, 0u - lock_units_of(c->claim), WAIT_NOTHING);
    lock_wait_end(&n->wait);
}
