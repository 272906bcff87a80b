// SPDX-License-Identifier: MIT
// The standard library's shared mutexes, which are made of pthread_rwlock_t.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

template <class Mutex> void guard_a_sum()
{
    Mutex mutex;
    long sum = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; i++) {
                if (i % 4 == 0) {
                    std::unique_lock<Mutex> l(mutex);
                    sum++;
                } else {
                    std::shared_lock<Mutex> l(mutex);
                    ASSERT_GE(sum, 0);
                }
            }
        });
    for (std::thread &t : threads)
        t.join();
    EXPECT_EQ(sum, 8 * 500);
}

TEST(SharedMutex, GuardsASum)
{
    guard_a_sum<std::shared_mutex>();
    guard_a_sum<std::shared_timed_mutex>();
}

TEST(SharedMutex, TriesAndFails)
{
    std::shared_mutex mutex;
    std::shared_lock<std::shared_mutex> reader(mutex);
    std::thread([&] {
        EXPECT_TRUE(mutex.try_lock_shared());
        mutex.unlock_shared();
        EXPECT_FALSE(mutex.try_lock());
    }).join();
    reader.unlock();
    std::unique_lock<std::shared_mutex> writer(mutex);
    std::thread([&] { EXPECT_FALSE(mutex.try_lock_shared()); }).join();
}

TEST(SharedTimedMutex, EndsItsWaitsOnEachClock)
{
    std::shared_timed_mutex mutex;
    std::unique_lock<std::shared_timed_mutex> writer(mutex);
    std::thread([&] {
        const auto until = std::chrono::steady_clock::now() + 10ms;
        EXPECT_FALSE(mutex.try_lock_until(until));
        EXPECT_GE(std::chrono::steady_clock::now(), until);
        EXPECT_FALSE(mutex.try_lock_shared_for(10ms));
        EXPECT_FALSE(mutex.try_lock_shared_until(std::chrono::system_clock::now() + 10ms));
    }).join();
    writer.unlock();
    EXPECT_TRUE(mutex.try_lock_for(0ms));
    mutex.unlock();
}
