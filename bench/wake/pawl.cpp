/* SPDX-License-Identifier: MIT */
/*
 * The library's own row. The build compiles it once for each way to sleep that the library offers:
 * the include path chooses a variant. A program links one variant, so the portable ways come as
 * shared libraries that hide theirs (CMakeLists.txt).
 */
#include <pawl/wait.h>

#include "wake/channel.hpp"

namespace bench {

namespace {

class pawl_channel final : public channel {
  public:
    void arm() override { __atomic_store_n(&word_, 0U, __ATOMIC_RELAXED); }
    void wait() override
    {
        while (__atomic_load_n(&word_, __ATOMIC_ACQUIRE) == 0)
            pawl_wait32(&word_, 0);
    }
    void signal() override
    {
        __atomic_store_n(&word_, 1U, __ATOMIC_RELEASE);
        pawl_wake_one(&word_);
    }

  private:
    alignas(128) std::uint32_t word_ = 0;
};

} // namespace

/* PAWL_BENCH_CHANNEL: make_pawl_channel, or that with the name of a variant. */
std::unique_ptr<channel> PAWL_BENCH_CHANNEL()
{
    return std::make_unique<pawl_channel>();
}

} // namespace bench
