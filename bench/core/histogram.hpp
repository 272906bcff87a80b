/* SPDX-License-Identifier: MIT */
/* Durations in buckets of at most 1/16 of their value: quantiles over seven orders of magnitude. */
#pragma once

#include <array>

#include "core/common.hpp"

namespace bench {

class histogram {
  public:
    using point = std::pair<const char *, double>;

    void add(std::uint64_t ns)
    {
        counts_[bucket(ns)]++;
        sum_ += static_cast<double>(ns);
        if (ns > most_)
            most_ = ns;
    }
    void merge(const histogram &other)
    {
        for (std::size_t i = 0; i < counts_.size(); i++)
            counts_[i] += other.counts_[i];
        sum_ += other.sum_;
        most_ = std::max(most_, other.most_);
    }
    std::uint64_t total() const
    {
        std::uint64_t sum = 0;
        for (const std::uint64_t n : counts_)
            sum += n;
        return sum;
    }
    std::uint64_t max() const { return most_; }
    double mean() const
    {
        const std::uint64_t all = total();
        return all ? sum_ / static_cast<double>(all) : 0;
    }

    /* The upper end of the bucket that holds each quantile, and the exact greatest value. */
    json quantiles(const std::vector<point> &points) const
    {
        const std::uint64_t all = total();
        json result;
        for (const auto &[name, share] : points) {
            const double rank = share * static_cast<double>(all);
            std::uint64_t below = 0;
            std::size_t i = 0;
            while (i + 1 < counts_.size() && static_cast<double>(below += counts_[i]) < rank)
                i++;
            result[name] = std::min(lower_end(i + 1), most_);
        }
        result["max"] = most_;
        return result;
    }
    json quantiles() const
    {
        return quantiles({{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}});
    }

    /* The buckets that are not empty as [upper end, count]; a reader can add samples up. */
    json buckets() const
    {
        json result = json::array();
        for (std::size_t i = 0; i < counts_.size(); i++)
            if (counts_[i])
                result.push_back({std::min(lower_end(i + 1), most_), counts_[i]});
        return result;
    }

  private:
    /* One bucket for each of 0..31, then 16 buckets for every power of two. */
    static std::size_t bucket(std::uint64_t ns)
    {
        if (ns < 32)
            return static_cast<std::size_t>(ns);
        const unsigned exponent = 63U - static_cast<unsigned>(__builtin_clzll(ns));
        return (exponent - 3) * std::size_t(16) + ((ns >> (exponent - 4)) & 15);
    }
    static std::uint64_t lower_end(std::size_t i)
    {
        return i < 32 ? i : (16 + i % 16) << (i / 16 - 1);
    }
    std::array<std::uint64_t, 61 * 16> counts_{};
    std::uint64_t most_ = 0;
    double sum_ = 0;
};

} // namespace bench
