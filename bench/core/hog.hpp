/* SPDX-License-Identifier: MIT */
/* A thread that computes without end: it stands for another program that wants the CPU. */
#ifndef PAWL_BENCH_CORE_HOG_HPP
#define PAWL_BENCH_CORE_HOG_HPP

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

} // namespace bench

#endif
