// SPDX-License-Identifier: MIT
//
// The cache of lru_cache.hpp under a progressive lock, with each strategy. Threads look keys up,
// compute missing values outside the lock, and insert them.
#include <pawl/spin.h>

#include <atomic>
#include <thread>

#include "example.h"
#include "lock_strategies.hpp"
#include "lru_cache.hpp"

namespace {

// The names that the strategies use, for the library's lock.
struct progressive {
    pawl_spin32 lock = PAWL_SPIN32_INIT;
    void take_read() { pawl_take_read(&lock); }
    void drop_read() { pawl_drop_read(&lock); }
    void take_seek() { pawl_take_seek(&lock); }
    void drop_seek() { pawl_drop_seek(&lock); }
    void take_write() { pawl_take_write(&lock); }
    void drop_write() { pawl_drop_write(&lock); }
    void seek_to_write() { pawl_seek_to_write(&lock); }
    bool try_read_to_seek() { return pawl_try_read_to_seek(&lock); }
    bool try_read_to_write() { return pawl_read_claim_write(&lock); }
};

// Two parts, so that a value that was read half before and half after a change shows.
struct answer {
    std::uint64_t square, version;
};

answer compute(std::uint32_t key)
{
    const std::uint64_t square = std::uint64_t(key) * key;
    return {square, ~square};
}

constexpr int lookups = 100000;

template <class Cache> void look_up(Cache &cache, std::uint32_t seed, std::atomic<long> &hits)
{
    constexpr std::uint32_t keyspace = 400;
    std::uint32_t random = seed;
    long found = 0;
    for (int i = 0; i < lookups; i++) {
        const std::uint32_t key = example_random(&random) % keyspace;
        answer a;
        if (cache.find(key, a)) {
            CHECK(a.square == std::uint64_t(key) * key && a.version == ~a.square);
            found++;
        } else {
            cache.insert(key, compute(key));
        }
    }
    hits += found;
}

template <template <class> class Strategy> void try_strategy(const char *name)
{
    pawl_example::lru_cache<std::uint32_t, answer, Strategy<progressive>> cache(300, 40);
    std::atomic<long> hits(0);
    std::atomic<int> absent(4);
    std::thread threads[4];
    for (std::uint32_t i = 0; i < 4; i++)
        threads[i] = std::thread([&, i] {
            for (absent--; absent > 0;) // all at once, else the first would be done too soon
                std::this_thread::yield();
            look_up(cache, i + 1, hits);
        });
    for (std::thread &t : threads)
        t.join();
    CHECK(cache.is_sound());
    CHECK(cache.count() == 300);
    CHECK(hits > 0);
    std::printf("%-7s %ld hits of %d\n", name, hits.load(), 4 * lookups);
}

// One thread suffices to see the promises of the cache.
void entries_leave_in_turn()
{
    pawl_example::lru_cache<int, int, pawl_example::read_seek_write<progressive>> cache(3);
    int value = 0;
    CHECK(cache.insert(1, 10) && cache.insert(2, 20) && cache.insert(3, 30));
    CHECK(!cache.insert(2, 21) && cache.find(2, value) && value == 21); // replaced, not added
    CHECK(cache.find(1, value) && value == 10);                         // a hit saves no entry:
    CHECK(cache.insert(4, 40));
    CHECK(!cache.find(1, value)); // the oldest one left
    CHECK(cache.find(2, value) && cache.find(3, value) && cache.find(4, value) && value == 40);
    CHECK(cache.count() == 3 && cache.is_sound());
}

} // namespace

int main()
{
    entries_leave_in_turn();
    try_strategy<pawl_example::write_only>("w");
    try_strategy<pawl_example::seek_only>("s");
    try_strategy<pawl_example::read_write>("r+w");
    try_strategy<pawl_example::read_seek_write>("r+s>w");
    try_strategy<pawl_example::read_try_seek_write>("r+rs>w");
    try_strategy<pawl_example::read_try_write>("r+rw");
    return 0;
}
