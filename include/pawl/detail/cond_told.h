/* SPDX-License-Identifier: MIT */
/*
 * Condition variables and event counts under a checker of races: their compiled halves are hidden
 * (told.h), except that they drop and take the caller's lock. A condition variable orders nothing;
 * the end of commit comes after each notification before it. cond.h includes this file in builds
 * for a checker.
 */
#include <pawl/cond.h> /* outside the guard: cond.h includes this file where it needs it */

#ifndef PAWL_COND_TOLD_H
#define PAWL_COND_TOLD_H
#if PAWL_TOLD_ && !PAWL_HOOKS

#include <pawl/detail/told.h>

PAWL_INLINE_BEGIN

PAWL_INLINE void ipawl_cond_told_drop_(void *how)
{
    const struct pawl_cond_lock *const theirs = (const struct pawl_cond_lock *)how;
    ipawl_told_show_(theirs);
    theirs->drop(theirs->lock);
    ipawl_told_hide_(theirs);
}

PAWL_INLINE void ipawl_cond_told_take_(void *how)
{
    const struct pawl_cond_lock *const theirs = (const struct pawl_cond_lock *)how;
    ipawl_told_show_(theirs);
    theirs->take(theirs->lock);
    ipawl_told_hide_(theirs);
}

PAWL_INLINE bool ipawl_cond_wait_told_(pawl_cond *cond, const struct pawl_cond_lock *lock,
                                       uint64_t deadline)
{
    struct pawl_cond_lock how;
    bool woken;
    how.lock = (void *)(uintptr_t)lock;
    how.drop = ipawl_cond_told_drop_;
    how.take = ipawl_cond_told_take_;
    how.shared = lock->shared;
    ipawl_told_hide_(cond);
    woken = PAWL_SYMBOL_(pawl_cond_wait)(cond, &how, deadline);
    ipawl_told_show_(cond);
    return woken;
}

PAWL_INLINE unsigned ipawl_cond_wake_told_(pawl_cond *cond, bool all)
{
    unsigned count;
    ipawl_told_hide_(cond);
    count = PAWL_SYMBOL_(pawl_cond_wake)(cond, all);
    ipawl_told_show_(cond);
    return count;
}

PAWL_INLINE bool ipawl_eventcount_commit_told_(pawl_eventcount *event, uint32_t key,
                                               uint64_t deadline)
{
    bool notified;
    ipawl_told_hide_(event);
    notified = PAWL_SYMBOL_(pawl_eventcount_commit)(event, key, deadline);
    ipawl_told_show_(event);
    ipawl_told_get_(&event->epoch);
    return notified;
}

PAWL_INLINE unsigned ipawl_eventcount_notify_told_(pawl_eventcount *event, unsigned count)
{
    ipawl_told_give_(&event->epoch);
    ipawl_told_hide_(event);
    count = PAWL_SYMBOL_(pawl_eventcount_notify)(event, count);
    ipawl_told_show_(event);
    return count;
}

PAWL_INLINE_END

#endif
#endif
