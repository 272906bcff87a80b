/* SPDX-License-Identifier: MIT */
/* For benches of one thread: a thread that only exists. */
#pragma once

#include <mutex>
#include <thread>

namespace bench {

/* The C library omits the atomic instructions of its locks while a process has one thread. Locks
 * are for processes that have more, so there is a second one, asleep. */
class second_thread {
  public:
    second_thread() : thread_([this] { const std::lock_guard<std::mutex> wait(until_); }) {}
    ~second_thread()
    {
        hold_.unlock();
        thread_.join();
    }
    second_thread(const second_thread &) = delete;
    second_thread &operator=(const second_thread &) = delete;

  private:
    std::mutex until_;
    std::unique_lock<std::mutex> hold_{until_};
    std::thread thread_;
};

} // namespace bench
