/* SPDX-License-Identifier: MIT */
/*
 * One wake, as the published benchmark measures it. Thread A sleeps for a while, notes the time and
 * signals. Thread B, asleep for that long, notes the time when it runs again. A is the caller.
 */
#pragma once

#include <semaphore.h>

#include <thread>

#include "core/machine.hpp"
#include "core/signals.hpp"
#include "wake/channel.hpp"

namespace bench {

/* Pins a thread to a CPU; the text is the reason why that failed, empty when it is there. */
inline std::string pin_thread(pthread_t thread, unsigned cpu)
{
    const int error = put_on(thread, cpu);
    return error == 0
               ? ""
               : "Could not pin on CPU " + std::to_string(cpu) + " (" + std::strerror(error) +
                     "); running unpinned. Choose CPUs this process "
                     "may use with --pin, or --pin none.";
}

/* The measured wakes of one candidate in one round. */
struct batch {
    std::vector<std::uint64_t> wakes_ns;
    std::uint64_t cpu_ns = 0, waited_ns = 0; /* of B, over all of its waits */
};

class sleeper {
  public:
    /* cpus: A on the first, B on the last; empty: the system chooses. */
    explicit sleeper(const std::vector<unsigned> &cpus)
    {
        for (sem_t *s : {&go_, &ready_, &done_})
            sem_init(s, 0, 0);
        {
            const blocked_signals of_b;
            b_ = std::thread([this] { serve(); });
        }
        if (!cpus.empty()) {
            pin_error_ = pin_thread(b_.native_handle(), cpus.back());
            if (pin_error_.empty())
                pin_error_ = pin_thread(pthread_self(), cpus.front());
        }
    }
    ~sleeper()
    {
        channel_ = nullptr;
        sem_post(&go_);
        b_.join();
        for (sem_t *s : {&go_, &ready_, &done_})
            sem_destroy(s);
    }
    sleeper(const sleeper &) = delete;
    sleeper &operator=(const sleeper &) = delete;

    const std::string &pin_error() const { return pin_error_; }

    /* Measures so many wakes; fewer when a signal came. */
    batch run(channel &c, long long wakes, std::uint64_t delay_ns)
    {
        batch found;
        for (long long i = 0; i < wakes && !interrupted; i++) {
            channel_ = &c;
            c.arm();
            sem_post(&go_);
            await(&ready_);
            const bool whole = sleep(delay_ns);
            const std::uint64_t start = now_ns();
            c.signal();
            await(&done_);
            if (!whole)
                break;
            found.wakes_ns.push_back(woke_ > start ? woke_ - start : 0);
            found.cpu_ns += cpu_;
            found.waited_ns += woke_ - began_;
        }
        return found;
    }

  private:
    void serve()
    {
        for (;;) {
            await(&go_);
            channel *const c = channel_;
            if (c == nullptr)
                return;
            sem_post(&ready_);
            began_ = now_ns();
            const double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
            c->wait();
            woke_ = now_ns();
            cpu_ = static_cast<std::uint64_t>((seconds_of(CLOCK_THREAD_CPUTIME_ID) - before) * 1e9);
            sem_post(&done_);
        }
    }

    static void await(sem_t *s)
    {
        while (sem_wait(s) != 0)
            ;
    }

    static bool sleep(std::uint64_t ns)
    {
        struct timespec t = timespec_of(ns);
        while (!interrupted && nanosleep(&t, &t) != 0)
            ;
        return !interrupted;
    }

    sem_t go_, ready_, done_;
    channel *channel_ = nullptr;
    std::uint64_t began_ = 0, woke_ = 0, cpu_ = 0;
    std::string pin_error_;
    std::thread b_;
};

} // namespace bench
