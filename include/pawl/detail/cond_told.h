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

PAWL_INLINE void pawl_cond_told_drop_(void *how)
{
    const struct pawl_cond_lock *const theirs = (const struct pawl_cond_lock *)how;
    pawl_told_show_(theirs);
    theirs->drop(theirs->lock);
    pawl_told_hide_(theirs);
}

PAWL_INLINE void pawl_cond_told_take_(void *how)
{
    const struct pawl_cond_lock *const theirs = (const struct pawl_cond_lock *)how;
    pawl_told_show_(theirs);
    theirs->take(theirs->lock);
    pawl_told_hide_(theirs);
}

PAWL_INLINE bool pawl_cond_wait_told_(pawl_cond *cond, const struct pawl_cond_lock *lock,
                                      uint64_t deadline)
{
    struct pawl_cond_lock how;
    bool woken;
    how.lock = (void *)(uintptr_t)lock;
    how.drop = pawl_cond_told_drop_;
    how.take = pawl_cond_told_take_;
    how.shared = lock->shared;
    pawl_told_hide_(cond);
    woken = PAWL_SYMBOL_(pawl_cond_wait)(cond, &how, deadline);
    pawl_told_show_(cond);
    return woken;
}

PAWL_INLINE unsigned pawl_cond_wake_told_(pawl_cond *cond, bool all)
{
    unsigned count;
    pawl_told_hide_(cond);
    count = PAWL_SYMBOL_(pawl_cond_wake)(cond, all);
    pawl_told_show_(cond);
    return count;
}

PAWL_INLINE bool pawl_eventcount_commit_told_(pawl_eventcount *event, uint32_t key,
                                              uint64_t deadline)
{
    bool notified;
    pawl_told_hide_(event);
    notified = PAWL_SYMBOL_(pawl_eventcount_commit)(event, key, deadline);
    pawl_told_show_(event);
    pawl_told_get_(&event->epoch);
    return notified;
}

PAWL_INLINE unsigned pawl_eventcount_notify_told_(pawl_eventcount *event, unsigned count)
{
    pawl_told_give_(&event->epoch);
    pawl_told_hide_(event);
    count = PAWL_SYMBOL_(pawl_eventcount_notify)(event, count);
    pawl_told_show_(event);
    return count;
}

PAWL_INLINE_END

#endif
#endif
