/* SPDX-License-Identifier: MIT */
/* The cycle counter of the processor: read in program order; its rate and its own cost are
 * measured. */
#pragma once

#include "core/series.hpp"

namespace bench {

/* No instruction before or after the reading is in progress while the counter is read. */
inline std::uint64_t cycles()
{
#if defined(__x86_64__) || defined(__i386__)
    std::uint32_t low, high;
    __asm__ __volatile__("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return static_cast<std::uint64_t>(high) << 32 | low;
#elif defined(__aarch64__)
    std::uint64_t value;
    __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(value) : : "memory");
    return value;
#else
    return now_ns();
#endif
}

constexpr const char *cycle_counter()
{
#if defined(__x86_64__) || defined(__i386__)
    return "rdtsc";
#elif defined(__aarch64__)
    return "cntvct_el0";
#else
    return "clock_gettime";
#endif
}

/* The counter's rate, and the time that a reading adds between two readings. */
class cycle_gauge {
  public:
    cycle_gauge()
    {
        constexpr std::uint64_t length_ns = 50000000;
        constexpr unsigned readings = 100000;
        const std::uint64_t start = now_ns(), first = cycles();
        std::uint64_t stop;
        std::vector<std::uint64_t> costs(readings);
        for (std::uint64_t &cost : costs) {
            const std::uint64_t before = cycles();
            cost = cycles() - before;
        }
        do
            stop = now_ns();
        while (stop < start + length_ns);
        per_ns_ = static_cast<double>(cycles() - first) / static_cast<double>(stop - start);
        for (const std::uint64_t cost : costs)
            cost_.add(cost);
        /* The median: an interruption of a reading is no part of its cost. */
        std::nth_element(costs.begin(), costs.begin() + readings / 2, costs.end());
        own_ = costs[readings / 2];
    }

    double per_ns() const { return per_ns_; }
    std::uint64_t of_ns(double ns) const
    {
        return ns <= 0 ? 0 : static_cast<std::uint64_t>(ns * per_ns_ + 0.5);
    }
    /* The cycles between two readings, less the cost of reading. */
    std::uint64_t between(std::uint64_t before, std::uint64_t after) const
    {
        return after - before > own_ ? after - before - own_ : 0;
    }
    json describe() const
    {
        return {{"name", cycle_counter()},
                {"per_ns", per_ns_},
                {"own", own_},
                {"cost", cost_.describe()}};
    }

  private:
    series cost_;
    double per_ns_ = 1;
    std::uint64_t own_ = 0;
};

} // namespace bench
