/* SPDX-License-Identifier: MIT */
/* Work of a known length that touches no memory; it fills critical sections. */
#pragma once

#include "core/common.hpp"

namespace bench {

/* A chain of multiplications, each of which waits for the one before. */
inline std::uint64_t spin_work(std::uint64_t steps, std::uint64_t value)
{
    for (std::uint64_t i = 0; i < steps; i++) {
        value = value * UINT64_C(0xD1342543DE82EF95) + 1;
        __asm__ __volatile__("" : "+r"(value));
    }
    return value;
}

/* The steps per nanosecond, and the cost of one look at the clock. It takes the fastest of
 * several tries: a disturbance can only make a try longer. */
class work_gauge {
  public:
    work_gauge()
    {
        constexpr std::uint64_t steps = 200000, looks = 20000;
        std::uint64_t best = UINT64_MAX, clock = UINT64_MAX;
        for (int i = 0; i < 20; i++) {
            const std::uint64_t start = now_ns();
            spin_work(steps, start);
            const std::uint64_t middle = now_ns();
            for (std::uint64_t k = 0; k < looks; k++)
                now_ns();
            best = std::min(best, middle - start);
            clock = std::min(clock, now_ns() - middle);
        }
        steps_per_ns_ = static_cast<double>(steps) / static_cast<double>(best);
        clock_ns_ = static_cast<double>(clock) / static_cast<double>(looks);
    }

    std::uint64_t steps(double ns) const
    {
        return ns <= 0 ? 0 : static_cast<std::uint64_t>(ns * steps_per_ns_ + 0.5);
    }
    double clock_ns() const { return clock_ns_; }
    double steps_per_us() const { return steps_per_ns_ * 1000; }

  private:
    double steps_per_ns_ = 0, clock_ns_ = 0;
};

} // namespace bench
