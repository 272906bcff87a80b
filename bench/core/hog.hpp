/* SPDX-License-Identifier: MIT */
/* A thread that computes without end: the other program that also wants the CPU. */
#ifndef PAWL_BENCH_CORE_HOG_HPP
#define PAWL_BENCH_CORE_HOG_HPP

#include <pthread.h>

#include <atomic>
#include <thread>

#include "core/cpus.hpp"
#include "core/work.hpp"

namespace bench {

class hog {
  public:
    /* On that CPU if it may; anywhere with a negative number. */
    explicit hog(int cpu)
        : thread_([this] {
              while (!stop_.load(std::memory_order_relaxed))
                  spin_work(1000, 1);
          })
    {
        if (cpu < 0 || cpu >= CPU_SETSIZE)
            return;
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<unsigned>(cpu), &set);
        pthread_setaffinity_np(thread_.native_handle(), sizeof set, &set);
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

} // namespace bench

#endif
