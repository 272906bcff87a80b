/* SPDX-License-Identifier: MIT */
/* std::atomic::wait, in a file of its own because it needs C++20. */
#include <atomic>

#include "wake/channel.hpp"

namespace bench {

namespace {

class std_atomic_channel final : public channel {
  public:
    void arm() override { word_.store(0, std::memory_order_relaxed); }
    void wait() override { word_.wait(0, std::memory_order_acquire); }
    void signal() override
    {
        word_.store(1, std::memory_order_release);
        word_.notify_one();
    }

  private:
    std::atomic<int> word_{0};
};

} // namespace

std::unique_ptr<channel> make_std_atomic_channel()
{
    return std::make_unique<std_atomic_channel>();
}

} // namespace bench
