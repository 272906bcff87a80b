/* SPDX-License-Identifier: MIT */
/*
 * The lock for shared memory loses no wake, and a drop neither touches the lock nor wakes at its
 * address once it has given it up. In between, the next owner may unmap the lock in the dropping
 * process; a wake there then reaches nobody, and a sleeper of another process sleeps for ever:
 *
 *   dropper: gives W up      peer in its process: takes, drops, unmaps     dropper: wakes: EFAULT
 *
 * Faults: a count that does not move, a PARKED that goes too early, a LEAVING that waiters do not
 * see, a woken waiter that gives up or goes on although a drop counts on it, or that leaves the
 * mark on which later drops rely.
 */
#include "explorer/explorer.h"

#include <pawl/pshared.h>

#ifndef BITS /* lost_wake_64.c includes this file */
#define BITS 32
#endif
#define LOCK PAWL_CAT_(pawl_pshared_lock, BITS)
#define AT_REST(word) (((word) & ~PAWL_PSHARED_PARKED) == 0)

static bool regain_read(LOCK *l, uint64_t deadline)
{
    return PAWL_CAT_(LOCK, _atomic_to_read_until)(l, deadline) != PAWL_REGAIN_TIMED_OUT;
}

#include "lock/lost_wake.h"

static uint64_t count_stands_still(const struct pawl_operation *o,
                                   uint64_t (*make)(const struct pawl_operation *))
{
    struct pawl_operation instead = *o;
    if (o->tag == PAWL_PSHARED_TELL)
        instead.operand = 0;
    return make(&instead);
}

static uint64_t leaving_is_not_seen(const struct pawl_operation *o,
                                    uint64_t (*make)(const struct pawl_operation *))
{
    const uint64_t found = make(o);
    if (o->address == &scene.lock.word && (o->kind == PAWL_HOOK_LOAD || o->kind == PAWL_HOOK_OR))
        return found & ~(uint64_t)PAWL_PSHARED_LEAVING;
    return found;
}

/* The holder that leaves takes PARKED away although it has woken one writer only. */
static uint64_t parked_is_taken_away(const struct pawl_operation *o,
                                     uint64_t (*make)(const struct pawl_operation *))
{
    struct pawl_operation instead = *o;
    if (o->tag == PAWL_PSHARED_LEAVE)
        instead.operand &= ~(uint64_t)PAWL_PSHARED_PARKED;
    return make(&instead);
}

/* The woken waiter does not know that the holder counts on it: its look after the sleep
 * (an OR of nothing) does not show LEAVING, nor does the one by which it sets PARKED again. */
static uint64_t the_woken_one_does_not_stay(const struct pawl_operation *o,
                                            uint64_t (*make)(const struct pawl_operation *))
{
    static bool woken;
    const uint64_t found = make(o);
    bool hidden = woken;
    if (o->kind != PAWL_HOOK_OR || o->address != &scene.lock.word)
        return found;
    woken = o->operand == 0;
    hidden = hidden || woken;
    return hidden ? found & ~(uint64_t)PAWL_PSHARED_LEAVING : found;
}

/* The waiter that was roused does not say that it looks: later drops still rely on it. */
static uint64_t the_roused_one_leaves_its_mark(const struct pawl_operation *o,
                                               uint64_t (*make)(const struct pawl_operation *))
{
    struct pawl_operation instead = *o;
    if (o->kind == PAWL_HOOK_AND && o->tag == PAWL_PSHARED_HEAR)
        instead.operand = UINT32_MAX;
    return make(&instead);
}

IS_CAUGHT(a_count_that_stands_still_is_caught, count_stands_still)
IS_CAUGHT(a_leaving_that_is_not_seen_is_caught, leaving_is_not_seen)
IS_CAUGHT(a_parked_that_goes_too_early_is_caught, parked_is_taken_away)
IS_CAUGHT(a_woken_waiter_that_does_not_stay_is_caught, the_woken_one_does_not_stay)
IS_CAUGHT(a_roused_waiter_that_leaves_its_mark_is_caught, the_roused_one_leaves_its_mark)

int main(int argc, char **argv)
{
    return lost_wake_main(argc, argv);
}
