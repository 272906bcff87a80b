/* SPDX-License-Identifier: MIT */
/*
 * Threads that the main thread gives work to one by one. There are at most two for each CPU, made
 * on first use, pinned for good, and asleep while they have no work. The main thread sleeps while
 * they work, so that it disturbs no measurement.
 */
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "core/machine.hpp"
#include "core/signals.hpp"

namespace bench {

/* A bench that needs that CPU ends here if it cannot have it. */
inline void must_be_on(pthread_t thread, unsigned cpu)
{
    if (const int error = put_on(thread, cpu))
        throw bad_input("Could not pin a thread on CPU " + std::to_string(cpu) + " (" +
                        std::strerror(error) + "): name CPUs this process may use with --cpus.");
}

class worker {
  public:
    explicit worker(unsigned cpu)
    {
        try {
            const blocked_signals theirs;
            thread_ = std::thread([this] { serve(); });
        } catch (const std::system_error &e) {
            throw bad_input("Could not start a thread for CPU " + std::to_string(cpu) + " (" +
                            e.what() + "): name fewer CPUs with --cpus.");
        }
        try {
            must_be_on(thread_.native_handle(), cpu);
        } catch (const bad_input &) {
            leave();
            throw;
        }
    }

    ~worker() { leave(); }
    worker(const worker &) = delete;
    worker &operator=(const worker &) = delete;

    void start(std::function<void()> job)
    {
        const std::lock_guard<std::mutex> hold(mutex_);
        job_ = std::move(job);
        busy_ = true;
        wake_.notify_one();
    }

    void wait()
    {
        std::unique_lock<std::mutex> hold(mutex_);
        done_.wait(hold, [this] { return !busy_; });
        if (failure_)
            std::rethrow_exception(std::exchange(failure_, nullptr));
    }

  private:
    void serve()
    {
        std::unique_lock<std::mutex> hold(mutex_);
        for (;;) {
            wake_.wait(hold, [this] { return busy_ || leaving_; });
            if (leaving_)
                return;
            hold.unlock();
            std::exception_ptr failure;
            try {
                job_();
            } catch (...) {
                failure = std::current_exception();
            }
            hold.lock();
            failure_ = failure;
            busy_ = false;
            done_.notify_one();
        }
    }

    void leave()
    {
        {
            const std::lock_guard<std::mutex> hold(mutex_);
            leaving_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::function<void()> job_;
    std::exception_ptr failure_;
    bool busy_ = false, leaving_ = false;
    std::thread thread_;
};

class team {
  public:
    /* seat 1 is a second thread on the same CPU. */
    worker &on(unsigned cpu, unsigned seat = 0)
    {
        std::unique_ptr<worker> &place = workers_[{cpu, seat}];
        if (!place)
            place = std::make_unique<worker>(cpu);
        return *place;
    }

    void alone(unsigned cpu, const std::function<void()> &job)
    {
        worker &one = on(cpu);
        one.start(job);
        one.wait();
    }

    /* Neither may throw: the other would wait for it. */
    void both(worker &a, const std::function<void()> &first, worker &b,
              const std::function<void()> &second)
    {
        b.start(second);
        a.start(first);
        a.wait();
        b.wait();
    }

  private:
    std::map<std::pair<unsigned, unsigned>, std::unique_ptr<worker>> workers_;
};

} // namespace bench
