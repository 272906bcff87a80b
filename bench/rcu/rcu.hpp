/* SPDX-License-Identifier: MIT */
/*
 * What the files of pawl-bench-rcu share: the adapters of the rows, threads that are known to all
 * adapters and sleep, and a reader that delays grace periods.
 */
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "adapters/pawl_hazard.hpp"
#include "adapters/pawl_rcu.hpp"
#if PAWL_BENCH_URCU
#include "adapters/urcu.hpp"
#endif
#if PAWL_BENCH_CK_EPOCH
#include "adapters/ck_epoch.hpp"
#endif
#include "core/signals.hpp"
#include "counters/counters.hpp"
#include "core/work.hpp"

namespace bench::rcu {

using counters::candidates;
using counters::measure;
using counters::subject;

/* The settings from the command line. */
struct settings {
    long long callbacks = 1000000; /* of a sample of `call` */
    long long period_us = 200;     /* between calls of `delay` */
    long long flood = 10000000;    /* callbacks of a sample of `flood` */
    long long bound = 64LL << 20;  /* bytes that may be queued where that can be bounded */
    long long most = 2LL << 30;    /* bytes at which the driver stops calling */
};
inline settings chosen;

void read_rows(candidates &all);
void sync_rows(candidates &all);
void busy_rows(candidates &all);
void call_rows(candidates &all);
void flood_rows(candidates &all);

/* ---- Rows of several adapters ---------------------------------------------------------------- */

inline const std::string no_urcu = adapter::to_install("liburcu-dev");
inline const std::string no_ck = adapter::to_install("libck-dev");

template <template <class> class Subject>
void offer_urcu(candidates &all, const char *group, unsigned threads = 1, const char *beside = "")
{
#if PAWL_BENCH_URCU
    counters::offer<Subject<adapter::urcu_memb>>(all, group, "urcu_memb", threads, beside);
    counters::offer<Subject<adapter::urcu_qsbr>>(all, group, "urcu_qsbr", threads, beside);
    counters::offer<Subject<adapter::urcu_bp>>(all, group, "urcu_bp", threads, beside);
#else
    (void)threads;
    for (const char *what : {"urcu_memb", "urcu_qsbr", "urcu_bp"})
        if (!*beside)
            counters::offer_none(all, group, what, no_urcu);
#endif
}

template <template <class> class Subject>
void offer_ck(candidates &all, const char *group, unsigned threads = 1, const char *beside = "")
{
#if PAWL_BENCH_CK_EPOCH
    counters::offer<Subject<adapter::ck_epoch>>(all, group, "ck_epoch", threads, beside);
#else
    (void)threads;
    if (!*beside)
        counters::offer_none(all, group, "ck_epoch", no_ck);
#endif
}

template <template <class> class Subject>
void offer_pawl(candidates &all, const char *group, unsigned threads = 1, const char *beside = "")
{
    counters::offer<Subject<adapter::pawl_rcu>>(all, group, "pawl_rcu", threads, beside);
    counters::offer<Subject<adapter::pawl_rcu_quiescent>>(all, group, "pawl_rcu_qs", threads,
                                                          beside);
}

/* ---- Other threads --------------------------------------------------------------------------- */

/* Threads that have read once, by each of the measured adapters, and sleep. A grace period finds
 * such threads in a program with little to do. */
class sleepers {
  public:
    static constexpr unsigned count = 4;

    static sleepers &all()
    {
        static sleepers object;
        return object;
    }

    /* Each of them reads by this adapter, if it has not yet, and stays known to it. */
    template <class Rcu> void meet()
    {
        static bool met = false;
        if (!met)
            do_all([] {
                static thread_local known<Rcu> self;
                self.stay();
            });
        met = true;
    }

  private:
    /* Keeps the thread known until it ends. */
    template <class Rcu> struct known {
        typename Rcu::thread own;
        known()
        {
            own.read_lock();
            own.read_unlock();
            own.rest();
        }
        ~known() { own.resume(); }
        void stay() {}
    };

    sleepers()
    {
        const blocked_signals theirs;
        for (unsigned i = 0; i < count; i++)
            threads_.emplace_back([this] { serve(); });
    }
    ~sleepers()
    {
        do_all(nullptr);
        for (std::thread &t : threads_)
            t.join();
    }

    /* nullptr: they end. */
    void do_all(void (*what)())
    {
        std::unique_lock<std::mutex> hold(mutex_);
        what_ = what;
        turn_++;
        left_ = count;
        change_.notify_all();
        change_.wait(hold, [this] { return left_ == 0; });
    }

    void serve()
    {
        unsigned seen = 0;
        std::unique_lock<std::mutex> hold(mutex_);
        for (bool goes_on = true; goes_on;) {
            change_.wait(hold, [&] { return turn_ != seen; });
            seen = turn_;
            void (*const what)() = what_;
            hold.unlock();
            if (what)
                what();
            goes_on = what != nullptr;
            hold.lock();
            if (--left_ == 0)
                change_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable change_;
    void (*what_)() = nullptr;
    unsigned turn_ = 0, left_ = 0;
    std::vector<std::thread> threads_;
};

template <class Rcu> void do_nothing(typename Rcu::head *)
{
}

/* The thread that runs callbacks starts with the first one. It inherits the CPUs of its maker:
 * call this from the main thread, which is pinned nowhere. */
template <class Rcu> void start_worker()
{
    static typename Rcu::head head{};
    {
        [[maybe_unused]] typename Rcu::thread own;
        Rcu::template call<do_nothing<Rcu>>(&head, sizeof head);
    }
    Rcu::barrier();
}

/* Reads without a pause, in sections of so many steps of work. */
template <class Rcu> void read_on(const std::atomic<bool> &stop, std::uint64_t steps)
{
    typename Rcu::thread own;
    for (std::uint64_t work = 1; !stop.load(std::memory_order_relaxed);) {
        own.read_lock();
        work = spin_work(steps, work);
        own.read_unlock();
        own.quiescent();
    }
}

/* About 100 ns: a look-up or two. */
constexpr std::uint64_t short_section = 64;

} // namespace bench::rcu
