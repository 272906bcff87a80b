/* SPDX-License-Identifier: MIT */
/*
 * RCU tells a checker of races this. A domain has one clock. A thread gives it when it leaves a
 * section or announces a quiescent state, and gets it when a grace period has ended. So the checker
 * orders the reads of sections before what follows a grace period, and nothing else: neither two
 * readers, nor a reader that was not waited for.
 *
 * rcu.h includes this file in builds for a checker. The library's own calls are not renamed.
 */
#include <pawl/rcu.h> /* outside the guard: rcu.h includes this file where it needs it */

#ifndef PAWL_RCU_TOLD_H
#define PAWL_RCU_TOLD_H
#if PAWL_TOLD_ && !PAWL_HOOKS

#include <pawl/detail/told.h>

PAWL_INLINE_BEGIN

/* An address for each domain, inside the two built-in domains. A plug-in with a copy of the library
 * that nobody else sees has addresses of its own: a reader there and an update elsewhere are
 * reported, without reason. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ const char *ipawl_rcu_clock_(uint32_t index)
{
    return (const char *)pawl_rcu_default() + index;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_told_enter_(uint32_t index)
{
    const char *const clock = ipawl_rcu_clock_(index);
    ipawl_told_hide_(clock);
    ipawl_rcu_enter_(index);
    ipawl_told_show_(clock);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_told_leave_(uint32_t index)
{
    const char *const clock = ipawl_rcu_clock_(index);
    ipawl_told_give_(clock);
    ipawl_told_hide_(clock);
    ipawl_rcu_leave_(index);
    ipawl_told_show_(clock);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_told_rest_(void)
{
    const char *const clock = ipawl_rcu_clock_(PAWL_RCU_QS_);
    ipawl_told_give_(clock);
    ipawl_told_hide_(clock);
    ipawl_rcu_rest_();
    ipawl_told_show_(clock);
}

#define ipawl_rcu_enter_ ipawl_rcu_told_enter_
#define ipawl_rcu_leave_ ipawl_rcu_told_leave_
#define ipawl_rcu_rest_ ipawl_rcu_told_rest_

#if PAWL_TOLD_AROUND_

/* A caller that waits for quiescent states is offline meanwhile. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ const char *ipawl_rcu_told_wait_(const pawl_rcu_domain *d)
{
    const char *const clock = ipawl_rcu_clock_(d->index);
    if (d->index == PAWL_RCU_QS_)
        ipawl_told_give_(clock);
    ipawl_told_hide_(clock);
    return clock;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_told_over_(const char *clock, bool over)
{
    ipawl_told_show_(clock);
    if (over)
        ipawl_told_get_(clock);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_domain_synchronize(pawl_rcu_domain *d)
{
    const char *const clock = ipawl_rcu_told_wait_(d);
    PAWL_SYMBOL_(pawl_rcu_domain_synchronize)(d);
    ipawl_rcu_told_over_(clock, true);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_domain_synchronize_expedited(pawl_rcu_domain *d)
{
    const char *const clock = ipawl_rcu_told_wait_(d);
    PAWL_SYMBOL_(pawl_rcu_domain_synchronize_expedited)(d);
    ipawl_rcu_told_over_(clock, true);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_domain_synchronize_cond(pawl_rcu_domain *d,
                                                                      uint64_t cookie)
{
    const char *const clock = ipawl_rcu_told_wait_(d);
    PAWL_SYMBOL_(pawl_rcu_domain_synchronize_cond)(d, cookie);
    ipawl_rcu_told_over_(clock, true);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ uint64_t pawl_rcu_domain_start_poll(pawl_rcu_domain *d)
{
    const char *const clock = ipawl_rcu_clock_(d->index);
    uint64_t cookie;
    ipawl_told_hide_(clock);
    cookie = PAWL_SYMBOL_(pawl_rcu_domain_start_poll)(d);
    ipawl_told_show_(clock);
    return cookie;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_rcu_domain_poll(pawl_rcu_domain *d, uint64_t cookie)
{
    const char *const clock = ipawl_rcu_clock_(d->index);
    bool over;
    ipawl_told_hide_(clock);
    over = PAWL_SYMBOL_(pawl_rcu_domain_poll)(d, cookie);
    ipawl_rcu_told_over_(clock, over);
    return over;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_domain_destroy(pawl_rcu_domain *d)
{
    PAWL_SYMBOL_(pawl_rcu_domain_destroy)(d);
    if (d != NULL)
        ipawl_told_get_(ipawl_rcu_clock_(d->index));
}

#endif

PAWL_INLINE_END

#endif
#endif
