/* SPDX-License-Identifier: MIT */
/*
 * Keys of the LRU job: which of them the cache holds when a run begins, and which the threads then
 * look up. A run is short, and misses are rare, so by chance their share would be off by a fifth in
 * some cells. Of many draws a run therefore takes the one whose share of misses is nearest to the
 * mean of a long run. The share is counted without a lock and without time, thread after thread.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "bench/core/random.hpp"

namespace sim {

class keys {
  public:
    keys(std::uint64_t seed, std::uint32_t space) : state_(seed * 2 + 1), space_(space) {}
    std::uint32_t next()
    {
        state_ = state_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return static_cast<std::uint32_t>(((state_ >> 32) * space_) >> 32);
    }

  private:
    std::uint64_t state_;
    std::uint32_t space_;
};

/* A cache is trimmed to `limit` entries when it has one more for each chain. A cycle from one trim
 * to the next takes K / m lookups, of K keys, for each number m of missing keys on its way. */
struct cache_shape {
    std::uint32_t chains, limit, space;

    /* The lookups of a cycle. Infinite if all keys fit in before a trim. */
    double cycle() const
    {
        double lookups = 0;
        for (std::uint32_t held = limit; held < limit + chains; held++)
            lookups += held < space ? static_cast<double>(space) / (space - held) : INFINITY;
        return lookups;
    }
    double miss_share() const { return chains / cycle(); }

    /* So many keys are missing when a run begins: after a trim, or where a run that is a part of a
     * cycle sees the mean of the cycle, because misses fall off along it. */
    std::uint32_t missing(double lookups) const
    {
        if (lookups >= cycle())
            return space - limit;
        const double begin = miss_share() * lookups / (1 - std::exp(-lookups / space));
        return std::min(space - std::min(space, limit), static_cast<std::uint32_t>(begin + 0.5));
    }
};

/* The keys that the cache holds, the oldest first. */
inline std::vector<std::uint32_t> held_keys(const cache_shape &shape, std::uint64_t seed,
                                            double lookups)
{
    std::vector<std::uint32_t> all(shape.space);
    for (std::uint32_t i = 0; i < shape.space; i++)
        all[i] = i;
    keys draw(seed + 1, UINT32_MAX);
    const std::uint32_t held = shape.space - shape.missing(lookups);
    for (std::uint32_t i = 0; i < held; i++)
        std::swap(all[i], all[i + draw.next() % (shape.space - i)]);
    all.resize(held);
    return all;
}

inline keys keys_of(std::uint64_t draw, unsigned thread, std::uint32_t space)
{
    return {bench::mix(draw * 8191 + thread), space};
}

/* Misses of `count` lookups after the first `warm`. */
inline unsigned misses_of(const cache_shape &shape, const std::vector<std::uint32_t> &held,
                          std::uint64_t draw, unsigned threads, std::uint64_t warm,
                          std::uint64_t count)
{
    std::vector<char> there(shape.space);
    std::vector<std::deque<std::uint32_t>> chains(shape.chains);
    std::vector<keys> of_threads;
    std::uint32_t used = 0;
    const auto insert = [&](std::uint32_t key) {
        there[key] = 1;
        chains[key % shape.chains].push_back(key);
        used++;
    };
    for (const std::uint32_t key : held)
        insert(key);
    for (unsigned t = 0; t < threads; t++)
        of_threads.push_back(keys_of(draw, t, shape.space));
    unsigned misses = 0;
    for (std::uint64_t i = 0; i < warm + count; i++) {
        const std::uint32_t key = of_threads[i % threads].next();
        if (there[key] != 0)
            continue;
        misses += i >= warm;
        insert(key);
        while (used >= shape.limit + shape.chains)
            for (auto &chain : chains)
                if (!chain.empty()) {
                    there[chain.front()] = 0;
                    chain.pop_front();
                    used--;
                }
    }
    return misses;
}

/* The draw whose misses are nearest to the mean of a long run. */
inline std::uint64_t typical_draw(const cache_shape &shape, const std::vector<std::uint32_t> &held,
                                  std::uint64_t seed, unsigned threads, std::uint64_t warm,
                                  std::uint64_t count)
{
    constexpr std::uint64_t draws = 64;
    const double mean = shape.miss_share() * static_cast<double>(count);
    std::uint64_t best = seed * draws;
    double least = INFINITY;
    for (std::uint64_t draw = seed * draws; draw < (seed + 1) * draws && least > 0.5; draw++) {
        const double off = std::abs(misses_of(shape, held, draw, threads, warm, count) - mean);
        if (off < least) {
            least = off;
            best = draw;
        }
    }
    return best;
}

} // namespace sim
