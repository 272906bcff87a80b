/* SPDX-License-Identifier: MIT */
/*
 * The calls that the linker sends here instead of to the C library (--wrap, in CMakeLists.txt), and
 * the notes about them. All of it may happen in a signal handler.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>
#include <utility>

#include "latency/watch.hpp"

extern "C" {
int __real_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
long __real_syscall(long number, ...);
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
long __wrap_syscall(long number, ...);
}

namespace bench::latency {
namespace {

constexpr long usual_slack = 50'000; /* nanoseconds */

/* Trivial, so that a handler may be the first to use them. */
struct state {
    watch *into;
    const cycle_gauge *gauge;
    bool skips;
    unsigned skipped;
};
thread_local state here;

void begin(spell &s)
{
    s.lasts = true;
    s.since = cycles();
}

void end(spell &s)
{
    const std::uint64_t now = cycles();
    s.lasts = false;
    if (now >= here.into->from)
        s.lengths.add(here.gauge->between(s.since, now));
}

/* Whether the signal will be blocked, given whether it is blocked now. */
bool blocked_after(int how, const sigset_t &set, int number, bool is)
{
    const bool named = sigismember(&set, number) == 1;
    return how == SIG_BLOCK ? is || named : how == SIG_UNBLOCK ? is && !named : named;
}

/* A spell begins when the call that begins it has returned, and ends before the call that ends
 * it. So no call is part of one. */
template <class Call> long change_mask(int how, const sigset_t *set, Call call)
{
    watch *w = here.into;
    if (w == nullptr || set == nullptr)
        return call();
    const bool deferred = blocked_after(how, *set, deferred_signal(), w->deferred.lasts);
    const bool interrupt = blocked_after(how, *set, interrupt_signal(), w->interrupt.lasts);
    if (w->interrupt.lasts && !interrupt)
        end(w->interrupt);
    if (w->deferred.lasts && !deferred)
        end(w->deferred);
    const long result = call();
    if (!w->deferred.lasts && deferred)
        begin(w->deferred);
    if (!w->interrupt.lasts && interrupt)
        begin(w->interrupt);
    return result;
}

int rank(int policy, int priority)
{
    policy &= ~SCHED_RESET_ON_FORK;
    return policy == SCHED_FIFO || policy == SCHED_RR ? priority : 0;
}

template <class Call> long change_class(int policy, int priority, Call call)
{
    watch *w = here.into;
    if (w == nullptr)
        return call();
    const bool above = rank(policy, priority) > w->usual;
    if (w->raised.lasts && !above)
        end(w->raised);
    const long result = call();
    if (!w->raised.lasts && above && result == 0)
        begin(w->raised);
    return result;
}

bool skip()
{
    here.skipped += here.skips;
    return here.skips;
}

bool is_watched(long number)
{
    return number == SYS_rt_sigprocmask || number == SYS_sched_setscheduler ||
           number == SYS_sched_getscheduler || number == SYS_sched_getparam || number == SYS_prctl;
}

/* The result of a skipped call: an ordinary thread with no signal blocked, and the usual slack of
 * its timers. */
long answer(long number, const long *a)
{
    if (number == SYS_sched_getparam)
        reinterpret_cast<struct sched_param *>(a[1])->sched_priority = 0;
    if (number == SYS_rt_sigprocmask && a[2] != 0)
        std::memset(reinterpret_cast<void *>(a[2]), 0, static_cast<std::size_t>(a[3]));
    if (number == SYS_prctl)
        return a[0] == PR_GET_TIMERSLACK ? usual_slack : 0;
    return number == SYS_sched_getscheduler ? SCHED_OTHER : 0;
}

/* The kernel's set is the beginning of the C library's. */
const sigset_t *set_of(const long *a, sigset_t *room)
{
    if (a[1] == 0)
        return nullptr;
    sigemptyset(room);
    std::memcpy(room, reinterpret_cast<const void *>(a[1]), static_cast<std::size_t>(a[3]));
    return room;
}

} // namespace

void watch_this_thread(watch *w, const cycle_gauge *gauge, std::uint64_t from)
{
    here.into = nullptr;
    if (w == nullptr)
        return;
    int policy = SCHED_OTHER;
    struct sched_param parameter = {};
    pthread_getschedparam(pthread_self(), &policy, &parameter);
    w->usual = rank(policy, parameter.sched_priority);
    w->from = from;
    here.gauge = gauge;
    here.into = w;
}

unsigned skip_calls(bool yes)
{
    here.skips = yes;
    return std::exchange(here.skipped, 0U);
}

} // namespace bench::latency

using namespace bench::latency;

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    if (skip()) {
        if (before != nullptr)
            sigemptyset(before);
        return 0;
    }
    return static_cast<int>(
        change_mask(how, set, [=] { return __real_pthread_sigmask(how, set, before); }));
}

/* The library's lock makes its calls by number, and for thread 0 (src/os/priority.c). */
long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (long &one : a)
        one = va_arg(list, long);
    va_end(list);
    const auto call = [&] { return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]); };
    if (!is_watched(number)) {
        here.skipped += here.skips; /* so that who counts on the calls finds one too many */
        return call();
    }
    if (skip())
        return answer(number, a);
    sigset_t set;
    if (number == SYS_rt_sigprocmask)
        return change_mask(static_cast<int>(a[0]), set_of(a, &set), call);
    if (number != SYS_sched_setscheduler || a[0] != 0)
        return call();
    return change_class(static_cast<int>(a[1]),
                        reinterpret_cast<struct sched_param *>(a[2])->sched_priority, call);
}
