/* SPDX-License-Identifier: MIT */
/*
 * The candidates of the cache bench. Each pair of a strategy and a lock is one instance of the same
 * templates, so every lock is inlined alike into the same loop.
 */
#pragma once

#include <functional>
#include <memory>

#include "examples/lock_strategies.hpp"
#include "examples/lru_cache.hpp"
#include "core/candidate.hpp"
#include "core/crew.hpp"
#include "core/histogram.hpp"
#include "lru/keys.hpp"

namespace bench {

/* The results of a thread while measuring. Threads write only their own, so each has its own
 * lines. */
struct alignas(128) tally {
    std::uint64_t lookups = 0, hits = 0, wrong = 0;
    usage used;
    histogram times;

    void add(const tally &other)
    {
        lookups += other.lookups;
        hits += other.hits;
        wrong += other.wrong;
        used += other.used;
        times.merge(other.times);
    }
};

/* The cached value: some text, as the published benchmark prints it, and a number that belongs
 * to the key. A hit with another number has found a lock that failed. With the number an entry
 * takes 64 bytes, a cache line of most CPUs. */
struct answer {
    char text[48];
    std::uint64_t check = 0; /* the value after a lookup that finds nothing */
};

inline std::uint64_t check_of(std::uint32_t key)
{
    return (key + UINT64_C(1)) * UINT64_C(0xD1342543DE82EF95);
}

/* The expensive computation of a miss: `rounds` times printing a number. */
inline __attribute__((noinline)) answer compute(std::uint32_t key, unsigned rounds)
{
    answer a = {};
    for (unsigned i = 0; i < rounds; i++) {
        std::snprintf(a.text, sizeof a.text, "%u", key + i);
        __asm__ __volatile__("" : : "r"(&a) : "memory"); /* the compiler must keep every round */
    }
    a.check = check_of(key);
    return a;
}

class cell {
  public:
    virtual ~cell() = default;
    virtual void run(key_stream &keys, const phase_flag &flag, unsigned cost, bool timed,
                     tally &t) = 0;
    virtual void fill(key_stream &keys) = 0;
    virtual bool is_sound() const = 0;
};

/* The published cache under a lock. */
template <class Strategy>
struct locked_lru : pawl_example::lru_cache<std::uint32_t, answer, Strategy> {
    using pawl_example::lru_cache<std::uint32_t, answer, Strategy>::lru_cache;

    bool look_up(std::uint32_t key, unsigned cost, answer &found)
    {
        if (this->find(key, found))
            return true;
        found = compute(key, cost);
        this->insert(key, found);
        return false;
    }
};

/* A cache has look_up(key, cost of a miss, answer), true for a hit, capacity() and is_sound(). */
template <class Cache> class cell_of final : public cell {
  public:
    cell_of(std::size_t size, std::size_t chains) : cache_(size, chains) {}

    void run(key_stream &keys, const phase_flag &flag, unsigned cost, bool timed, tally &t) override
    {
        tally local;
        run_while<false>(phase::warming, keys, flag, cost, local);
        local = tally();
        const usage_meter meter;
        if (timed)
            run_while<true>(phase::measuring, keys, flag, cost, local);
        else
            run_while<false>(phase::measuring, keys, flag, cost, local);
        local.used = meter.stop();
        t = local;
    }

    /* Fills until all entries have been replaced once, or until that is unlikely: the state that
     * a program would find after a while. A fill ends after a second, so big caches stay
     * unfinished; the measured share of hits shows it. */
    void fill(key_stream &keys) override
    {
        const std::size_t size = cache_.capacity();
        const double start = seconds_of(CLOCK_MONOTONIC);
        std::size_t inserted = 0;
        for (std::size_t i = 1; i < 16 * size && inserted < 2 * size; i++) {
            answer found;
            inserted += !cache_.look_up(keys.next(), 1, found);
            if (i % 1024 == 0 && (interrupted || seconds_of(CLOCK_MONOTONIC) - start > 1))
                break;
        }
    }

    bool is_sound() const override { return cache_.is_sound(); }

  private:
    template <bool Timed>
    void run_while(phase p, key_stream &stream, const phase_flag &flag, unsigned cost, tally &t)
    {
        key_stream keys = stream; /* local: the compiler may keep it in registers */
        std::uint64_t lookups = 0, hits = 0, wrong = 0;
        for (; flag.is(p); lookups++) {
            const double start = Timed ? seconds_of(CLOCK_MONOTONIC) : 0;
            const std::uint32_t key = keys.next();
            answer found;
            hits += cache_.look_up(key, cost, found);
            wrong += found.check != check_of(key);
            if (Timed)
                t.times.add(
                    static_cast<std::uint64_t>((seconds_of(CLOCK_MONOTONIC) - start) * 1e9));
        }
        stream = keys;
        t.lookups = lookups;
        t.hits = hits;
        t.wrong = wrong;
    }

    Cache cache_;
};

using lru_candidate =
    candidate<std::function<std::unique_ptr<cell>(std::size_t size, std::size_t chains)>>;

std::vector<lru_candidate> lru_candidates();

/* Whole caches: ours, and those of other libraries (caches.cpp). */
void add_caches(std::vector<lru_candidate> &all);

/* What a module exports: a cache under its own copy of the library's lock, by R, S and W or by R
 * and W. */
using cell_maker = cell *(bool seeks, std::size_t size, std::size_t chains);

} // namespace bench
