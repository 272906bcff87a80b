/* SPDX-License-Identifier: MIT */
/* Others that want the CPU: a thread that computes without end, and processes that do. */
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <memory>
#include <thread>

#include "core/machine.hpp"
#include "core/work.hpp"

namespace bench {

class hog {
  public:
    /* Runs on that CPU if it may; anywhere with a negative number. */
    explicit hog(int cpu)
        : thread_([this] {
              while (!stop_.load(std::memory_order_relaxed))
                  spin_work(1000, 1);
          })
    {
        put_on_if_it_may(thread_.native_handle(), cpu);
    }
    ~hog()
    {
        stop_.store(true, std::memory_order_relaxed);
        thread_.join();
    }
    hog(const hog &) = delete;
    hog &operator=(const hog &) = delete;

  private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

/* Runs beside the thread on the last of these CPUs; null if it is not wanted. */
inline std::unique_ptr<hog> hog_beside(const std::vector<unsigned> &cpus, bool wanted)
{
    if (!wanted)
        return nullptr;
    return std::make_unique<hog>(cpus.empty() ? -1 : static_cast<int>(cpus.back()));
}

/* Processes that compute without end, so many on each of these CPUs. They end with the thread that
 * started them, however it ends. Make them while the process has no other threads: the child runs
 * on with a copy of all memory, and touches none of it. */
class busy_processes {
  public:
    busy_processes(const std::vector<unsigned> &cpus, unsigned on_each)
    {
        const pid_t parent = getpid();
        for (const unsigned cpu : cpus)
            for (unsigned i = 0; i < on_each; i++)
                start(parent, cpu);
    }
    ~busy_processes() { end(); }
    busy_processes(const busy_processes &) = delete;
    busy_processes &operator=(const busy_processes &) = delete;

  private:
    void start(pid_t parent, unsigned cpu)
    {
        const pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, static_cast<unsigned long>(SIGKILL), 0UL, 0UL, 0UL);
            put_on(pthread_self(), cpu);
            while (getppid() == parent) /* it may have ended before the line above */
                spin_work(100000000, 1);
            _exit(0);
        }
        if (child < 0) {
            const int error = errno;
            end();
            throw bad_input(std::string("Could not start a busy process (") + std::strerror(error) +
                            "): ask for fewer with --busy.");
        }
        children_.push_back(child);
    }
    void end()
    {
        for (const pid_t child : children_)
            kill(child, SIGKILL);
        for (const pid_t child : children_)
            waitpid(child, nullptr, 0);
        children_.clear();
    }

    std::vector<pid_t> children_;
};

} // namespace bench
