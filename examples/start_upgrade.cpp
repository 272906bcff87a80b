// SPDX-License-Identifier: MIT
// The program of doc/start/upgrade.md, for a reader who has folly::SharedMutex or
// boost::upgrade_mutex today.
// [quote begin]
#include <pawl/pawl.hpp>

#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

static pawl::lock guard; // was: folly::SharedMutex, or boost::upgrade_mutex
static std::map<int, int> table;

static void count_by_names(int key) // the same names as folly's and Boost's
{
    guard.lock_upgrade();
    auto place = table.find(key); // beside the readers
    guard.unlock_upgrade_and_lock();
    if (place == table.end())
        table[key] = 1;
    else
        place->second++;
    guard.unlock_and_lock_shared();
    table.find(key); // still there: nobody could write in between
    guard.unlock_shared();
}

static void count_by_guards(int key)
{
    pawl::seek_guard seek(guard);                         // was: folly::upgrade_lock,
    auto place = table.find(key);                         // or boost::upgrade_lock<...>
    pawl::write_guard write = std::move(seek).to_write(); // was: folly::transition_lock,
    if (place == table.end())                             // or boost::upgrade_to_unique_lock<...>
        table[key] = 1;
    else
        place->second++;
}

int main()
{
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([] {
            for (int i = 0; i < 1000; i++) {
                count_by_names(i % 10);
                count_by_guards(i % 10);
            }
        });
    for (std::thread &t : threads)
        t.join();
    int all = 0;
    for (const auto &[key, count] : table)
        all += count;
    std::printf("%d keys, %d counts\n", static_cast<int>(table.size()), all);
    return all == 8000 ? 0 : 1;
}
// [quote end]
