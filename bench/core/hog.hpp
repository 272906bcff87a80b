/* SPDX-License-Identifier: MIT */
/* Threads and processes that compute without end: other programs that want the CPU. */
#ifndef PAWL_BENCH_CORE_HOG_HPP
#define PAWL_BENCH_CORE_HOG_HPP

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
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

/* A process that computes without end. It shares no memory with this one, so a membarrier of this
 * one does not interrupt it. */
class busy_process {
  public:
    explicit busy_process(int cpu) : child_(fork())
    {
        if (child_ != 0)
            return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        put_on_if_it_may(pthread_self(), cpu);
        for (std::uint64_t work = 1;;)
            work = spin_work(1000, work);
    }
    ~busy_process()
    {
        if (child_ > 0) {
            kill(child_, SIGKILL);
            waitpid(child_, nullptr, 0);
        }
    }
    busy_process(const busy_process &) = delete;
    busy_process &operator=(const busy_process &) = delete;

  private:
    const pid_t child_;
};

/* Runs beside the thread on the last of these CPUs; null if it is not wanted. */
inline std::unique_ptr<hog> hog_beside(const std::vector<unsigned> &cpus, bool wanted)
{
    if (!wanted)
        return nullptr;
    return std::make_unique<hog>(cpus.empty() ? -1 : static_cast<int>(cpus.back()));
}

} // namespace bench

#endif
