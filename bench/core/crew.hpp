/* SPDX-License-Identifier: MIT */
/*
 * The threads of a bench: made once, pinned once, reused for every sample, asleep in between.
 *
 * A sample has two phases in which all threads run without a pause: warming, which is not counted,
 * then measuring. The main thread sleeps meanwhile; it changes the phase and takes the time. Each
 * thread notices the change within one lookup. Where threads outnumber CPUs, a thread that is not
 * running notices late. It does nothing meanwhile, so the time is right there too.
 */
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/machine.hpp"
#include "core/signals.hpp"

namespace bench {

enum class phase : int { warming, measuring, over };

/* Every thread reads it at every lookup; it is written twice a sample, and is alone on its
 * lines. */
struct alignas(128) phase_flag {
    std::atomic<phase> now{phase::warming};
    bool is(phase p) const { return now.load(std::memory_order_relaxed) == p; }
};

/* The resources that one thread used while measuring. */
struct usage {
    double cpu_seconds = 0;
    std::uint64_t voluntary = 0, involuntary = 0;

    usage &operator+=(const usage &other)
    {
        cpu_seconds += other.cpu_seconds;
        voluntary += other.voluntary;
        involuntary += other.involuntary;
        return *this;
    }
};

class usage_meter {
  public:
    usage_meter()
    {
        getrusage(RUSAGE_THREAD, &before_);
        cpu_ = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    }
    usage stop() const
    {
        usage u;
        u.cpu_seconds = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_;
        struct rusage after;
        getrusage(RUSAGE_THREAD, &after);
        u.voluntary = static_cast<std::uint64_t>(after.ru_nvcsw - before_.ru_nvcsw);
        u.involuntary = static_cast<std::uint64_t>(after.ru_nivcsw - before_.ru_nivcsw);
        return u;
    }

  private:
    struct rusage before_;
    double cpu_;
};

class crew {
  public:
    using task = std::function<void(unsigned thread, const phase_flag &)>;

    /* cpus: thread i runs on cpus[i % n]; empty: the system chooses. */
    crew(unsigned threads, const std::vector<unsigned> &cpus)
    {
        try {
            const blocked_signals theirs;
            for (unsigned i = 0; i < threads; i++) {
                threads_.emplace_back([this, i] { serve(i); });
                if (!cpus.empty() && pin_error_.empty())
                    pin(threads_.back(), i, cpus[i % cpus.size()]);
            }
        } catch (const std::system_error &e) {
            dismiss();
            throw bad_input("Could start only " + std::to_string(threads_.size()) + " of " +
                            std::to_string(threads) + " threads (" + e.what() +
                            "): ask for fewer with --threads.");
        }
        /* All threads are pinned or none: a run with half of its threads pinned is neither. */
        if (!pin_error_.empty())
            unpin();
    }

    ~crew() { dismiss(); }
    crew(const crew &) = delete;
    crew &operator=(const crew &) = delete;

    const std::string &pin_error() const { return pin_error_; }
    std::size_t size() const { return threads_.size(); }

    /* Runs one sample of the task on all threads; returns the seconds of the measuring phase.
     * Zero: a signal came, and the sample is void. */
    double run(const task &what, double warm_seconds, double seconds)
    {
        flag_.now.store(phase::warming, std::memory_order_relaxed);
        {
            std::unique_lock<std::mutex> hold(mutex_);
            begin(what);
            done_.wait(hold, [this] { return started_left_ == 0; });
        }
        bool whole = sleep(warm_seconds);
        const double start = seconds_of(CLOCK_MONOTONIC);
        flag_.now.store(phase::measuring, std::memory_order_relaxed);
        whole = whole && sleep(seconds);
        flag_.now.store(phase::over, std::memory_order_relaxed);
        const double end = seconds_of(CLOCK_MONOTONIC);
        std::unique_lock<std::mutex> hold(mutex_);
        done_.wait(hold, [this] { return running_ == 0; });
        return whole ? end - start : 0;
    }

    /* Runs the task once on all threads, which know themselves when to end. Where they outnumber
     * the CPUs, this thread could not run in time to tell them. The phases are not used. */
    void run_to_the_end(const task &what)
    {
        std::unique_lock<std::mutex> hold(mutex_);
        begin(what);
        done_.wait(hold, [this] { return running_ == 0; });
    }

  private:
    void begin(const task &what)
    {
        task_ = &what;
        running_ = started_left_ = threads_.size();
        generation_++;
        wake_.notify_all();
    }

    void serve(unsigned i)
    {
        unsigned seen = 0;
        std::unique_lock<std::mutex> hold(mutex_);
        for (;;) {
            wake_.wait(hold, [&] { return generation_ != seen || leaving_; });
            if (leaving_)
                return;
            seen = generation_;
            const task &what = *task_;
            if (--started_left_ == 0)
                done_.notify_one();
            hold.unlock();
            what(i, flag_);
            hold.lock();
            if (--running_ == 0)
                done_.notify_one();
        }
    }

    void pin(std::thread &thread, unsigned i, unsigned cpu)
    {
        if (const int error = put_on(thread.native_handle(), cpu))
            pin_error_ = "Could not pin thread " + std::to_string(i) + " on CPU " +
                         std::to_string(cpu) + " (" + std::strerror(error) +
                         "); running unpinned. Choose CPUs this process may use with --pin, or "
                         "--pin none.";
    }

    void unpin()
    {
        cpu_set_t all;
        if (sched_getaffinity(0, sizeof all, &all) != 0)
            return;
        for (std::thread &t : threads_)
            pthread_setaffinity_np(t.native_handle(), sizeof all, &all);
    }

    void dismiss()
    {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            leaving_ = true;
        }
        wake_.notify_all();
        for (std::thread &t : threads_)
            t.join();
        threads_.clear();
    }

    static bool sleep(double seconds)
    {
        struct timespec t;
        t.tv_sec = static_cast<time_t>(seconds);
        t.tv_nsec = static_cast<long>((seconds - static_cast<double>(t.tv_sec)) * 1e9);
        while (!interrupted && nanosleep(&t, &t) != 0)
            ;
        return !interrupted;
    }

    phase_flag flag_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const task *task_ = nullptr;
    unsigned generation_ = 0;
    std::size_t running_ = 0, started_left_ = 0;
    bool leaving_ = false;
    std::string pin_error_;
    std::vector<std::thread> threads_;
};

} // namespace bench
