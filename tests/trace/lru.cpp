/* SPDX-License-Identifier: MIT */
/*
 * The cache of examples/lru_cache.hpp written naively: an insertion looks under the read lock,
 * drops it, takes the write lock and looks again. `better` does it with a seek lock that is
 * upgraded. tests/tool/test_replay.py traces the first; both print their lookups a second.
 *
 *   lru naive|better THREADS SECONDS
 */
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "bench/adapters/pawl_lock.hpp"
#include "bench/adapters/pthread.hpp"
#include "examples/lock_strategies.hpp"
#include "examples/lru_cache.hpp"

namespace {

template <class Lock> struct naive {
    using lock_type = Lock;
    using lookup = pawl_example::read_lookup<Lock>;
    class insertion {
      public:
        explicit insertion(Lock &lock) : lock_(lock)
        {
            lock_.take_read();
            __asm__ __volatile__("" : "+m"(writing_)); /* or the first look would be left out */
        }
        ~insertion() { lock_.drop_write(); }
        insertion(const insertion &) = delete;
        insertion &operator=(const insertion &) = delete;
        bool to_write()
        {
            if (writing_)
                return true;
            lock_.drop_read();
            lock_.take_write();
            writing_ = true;
            return false;
        }

      private:
        Lock &lock_;
        bool writing_ = false;
    };
};

constexpr std::uint32_t entries = 3200, chains = 16, keys = 4000;

template <class Strategy> double lookups_a_second(unsigned threads, double seconds)
{
    pawl_example::lru_cache<std::uint32_t, std::uint64_t, Strategy> cache(entries, chains);
    std::atomic<bool> over{false};
    std::vector<std::thread> all;
    std::vector<std::uint64_t> counts(threads * std::size_t(32));
    for (unsigned t = 0; t < threads; t++)
        all.emplace_back([&, t] {
            std::uint64_t random = 0x9E3779B97F4A7C15U * (t + 1), value, done = 0;
            for (; !over.load(std::memory_order_relaxed); done++) {
                random ^= random >> 12;
                random ^= random << 25;
                random ^= random >> 27;
                const auto key = static_cast<std::uint32_t>((random >> 32) * keys >> 32);
                if (!cache.find(key, value))
                    cache.insert(key, key);
                else if (value != key)
                    std::abort();
            }
            counts[t * std::size_t(32)] = done;
        });
    const auto begun = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    over = true;
    for (std::thread &one : all)
        one.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts)
        sum += count;
    if (!cache.is_sound())
        std::abort();
    return static_cast<double>(sum) / took.count();
}

} // namespace

int main(int count, char **words)
{
    if (count != 4)
        return 2;
    const auto threads = static_cast<unsigned>(std::atoi(words[2]));
    const double seconds = std::atof(words[3]);
    const bool better = std::strcmp(words[1], "better") == 0;
    std::printf("%.0f\n",
                better ? lookups_a_second<pawl_example::read_seek_write<adapter::pawl_lock32>>(
                             threads, seconds)
                       : lookups_a_second<naive<adapter::pthread_rwlock>>(threads, seconds));
    return 0;
}
