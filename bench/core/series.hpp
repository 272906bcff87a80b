/* SPDX-License-Identifier: MIT */
/* Durations with their count, least, mean and greatest value beside the quantiles. */
#pragma once

#include "core/histogram.hpp"

namespace bench {

class series {
  public:
    /* Async-signal-safe, for a series that no other thread or handler adds to. */
    void add(std::uint64_t value)
    {
        spread_.add(value);
        least_ = std::min(least_, value);
        sum_ += value;
        count_++;
    }
    std::uint64_t count() const { return count_; }

    /* null: there was none. */
    json describe() const
    {
        if (count_ == 0)
            return nullptr;
        json result = {{"count", count_}, {"min", least_}, {"avg", sum_ / count_}};
        result.update(spread_.quantiles());
        return result;
    }
    json buckets() const { return spread_.buckets(); }

  private:
    histogram spread_;
    std::uint64_t least_ = UINT64_MAX, sum_ = 0, count_ = 0;
};

} // namespace bench
