/* SPDX-License-Identifier: MIT */
/* Real-time scheduling for threads of a bench, and the watchdog over them. */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "core/machine.hpp"

namespace bench {

/* Readers below the locks that raise their writers to them, handlers above, the watchdog on top. */
constexpr int reader_priority = 10, handler_priority = 30, watchdog_priority = 50;

/* 0 or the error. */
inline int become_realtime(pthread_t thread, int priority)
{
    struct sched_param parameter = {};
    parameter.sched_priority = priority;
    return pthread_setschedparam(thread, SCHED_FIFO, &parameter);
}

/* The reason why this process may not have real-time threads; empty: it may. */
inline std::string no_realtime()
{
    int error = 0;
    std::thread([&error] { error = become_realtime(pthread_self(), watchdog_priority); }).join();
    if (error == 0)
        return "";
    return std::string("real-time scheduling is not permitted (") + std::strerror(error) +
           "): it takes root, the capability CAP_SYS_NICE, or an rtprio of " +
           std::to_string(watchdog_priority) + " in /etc/security/limits.conf";
}

/* Writes past the buffers of the C library: the thread that hangs may hold their lock. */
[[noreturn]] inline void give_up(const char *text, std::size_t length)
{
    while (length > 0) {
        const ssize_t written = write(STDOUT_FILENO, text, length);
        if (written <= 0)
            break;
        text += written;
        length -= static_cast<std::size_t>(written);
    }
    _exit(exit_broken);
}

/* A thread above all others. It ends the process when a sample does not end. Many locks let a
 * real-time thread spin for a thread that it has preempted; on their CPU nothing else would run.
 * The watchdog makes such a real-time thread ordinary. It sleeps except for a moment ten times a
 * second. */
class watchdog {
  public:
    /* Runs on that CPU if it may; anywhere with a negative number. */
    watchdog(bool realtime, int cpu) : thread_([this] { watch(); })
    {
        if (realtime)
            become_realtime(thread_.native_handle(), watchdog_priority);
        put_on_if_it_may(thread_.native_handle(), cpu);
    }
    ~watchdog()
    {
        {
            const std::lock_guard<std::mutex> hold(mutex_);
            leaving_ = true;
        }
        change_.notify_one();
        thread_.join();
    }
    watchdog(const watchdog &) = delete;
    watchdog &operator=(const watchdog &) = delete;

    void arm(double seconds, const std::string &what)
    {
        const std::lock_guard<std::mutex> hold(mutex_);
        text_ = json({{"type", "error"},
                      {"message", what + " did not end within " +
                                      std::to_string(static_cast<int>(seconds)) +
                                      " s: a thread waits for ever, or spins."}})
                    .dump() +
                "\n";
        until_ = std::chrono::steady_clock::now() +
                 std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
        armed_ = true;
        change_.notify_one();
    }
    /* The number of threads that it made ordinary. */
    unsigned disarm()
    {
        const std::lock_guard<std::mutex> hold(mutex_);
        armed_ = false;
        minded_.clear();
        change_.notify_one();
        return std::exchange(rescued_, 0U);
    }

    /* Watches these real-time threads, by the system's numbers; they are idle for most of the
     * time. */
    void mind(const std::vector<pid_t> &threads)
    {
        const std::lock_guard<std::mutex> hold(mutex_);
        for (const pid_t id : threads)
            minded_.push_back({id, cpu_time(id), now_ns(), 0});
    }

  private:
    struct minded {
        pid_t id;
        std::uint64_t cpu_ns, at_ns;
        unsigned hot; /* looks in a row at which it had been busy all the time since the last */
    };
    static constexpr auto look = std::chrono::milliseconds(100);
    static constexpr unsigned too_hot = 5;

    /* 0: the thread is gone. The thread's number names its clock. */
    static std::uint64_t cpu_time(pid_t id)
    {
        struct timespec t;
        const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(id) << 3 | 6U);
        if (clock_gettime(clock, &t) != 0)
            return 0;
        return static_cast<std::uint64_t>(t.tv_sec) * 1000000000U +
               static_cast<std::uint64_t>(t.tv_nsec);
    }

    bool spins(minded &m)
    {
        const std::uint64_t cpu = cpu_time(m.id), now = now_ns();
        m.hot = cpu > m.cpu_ns && (cpu - m.cpu_ns) * 10 > (now - m.at_ns) * 9 ? m.hot + 1 : 0;
        m.cpu_ns = cpu;
        m.at_ns = now;
        return m.hot >= too_hot;
    }

    void look_after()
    {
        struct sched_param ordinary = {};
        for (minded &m : minded_)
            if (spins(m) && sched_setscheduler(m.id, SCHED_OTHER, &ordinary) == 0) {
                m.hot = 0;
                rescued_++;
            }
    }

    void watch()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
        std::unique_lock<std::mutex> hold(mutex_);
        while (!leaving_) {
            if (!armed_) {
                change_.wait(hold);
                continue;
            }
            change_.wait_until(hold, std::min(until_, std::chrono::steady_clock::now() + look));
            if (armed_ && std::chrono::steady_clock::now() >= until_)
                give_up(text_.data(), text_.size());
            look_after();
        }
    }

    std::mutex mutex_;
    std::condition_variable change_;
    std::chrono::steady_clock::time_point until_;
    std::string text_;
    std::vector<minded> minded_;
    unsigned rescued_ = 0;
    bool armed_ = false, leaving_ = false;
    std::thread thread_;
};

} // namespace bench
