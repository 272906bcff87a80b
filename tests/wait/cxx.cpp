// SPDX-License-Identifier: MIT
// Waits on atomic objects: each size, values that differ, deadlines, wakes.
#include <gtest/gtest.h>

#include <pawl/wait.hpp>

#include <thread>

namespace {

using namespace std::chrono_literals;

template <class T> void differs_expires_and_wakes(T before, T after)
{
    std::atomic<T> word{before};
    pawl::atomic_wait(&word, after); // differs: at once
    EXPECT_TRUE(pawl::atomic_wait_for(&word, after, 0s));
    EXPECT_FALSE(pawl::atomic_wait_for(&word, before, 2ms));
    EXPECT_FALSE(pawl::atomic_wait_for(&word, before, -1h));
    const auto when = std::chrono::system_clock::now() + 2ms;
    EXPECT_FALSE(pawl::atomic_wait_until(&word, before, when));
    EXPECT_GE(std::chrono::system_clock::now(), when);
    std::thread waiter([&] { pawl::atomic_wait(&word, before, std::memory_order_acquire); });
    std::thread timed([&] {
        EXPECT_TRUE(
            pawl::atomic_wait_until(&word, before, std::chrono::steady_clock::time_point::max()));
    });
    std::this_thread::sleep_for(1ms); // now and then they sleep already
    word.store(after, std::memory_order_release);
    pawl::atomic_notify_one(&word);
    pawl::atomic_notify_all(&word);
    waiter.join();
    timed.join();
}

TEST(waits_on_atomic_objects, of_each_size_end_by_a_change_a_wake_or_time)
{
    differs_expires_and_wakes(true, false);
    differs_expires_and_wakes<signed char>(1, -1);
    differs_expires_and_wakes<std::int16_t>(1, 0);
    differs_expires_and_wakes(1, 0);
    differs_expires_and_wakes(1.0F, 0.5F);
    differs_expires_and_wakes<std::uint64_t>(1, UINT64_C(1) << 32);
    differs_expires_and_wakes(1.0, -1.0);
    differs_expires_and_wakes<const char *>(nullptr, "other");
}

TEST(waits_on_structures, compare_all_their_bits)
{
    struct alignas(8) pair {
        std::int32_t first, second;
    };
    std::atomic<pair> word{pair{1, 2}};
    pawl::atomic_wait(&word, pair{1, 3});
    EXPECT_FALSE(pawl::atomic_wait_for(&word, pair{1, 2}, 1ms));
}

#if defined(__cpp_lib_atomic_ref)
TEST(waits_on_plain_objects, go_by_atomic_ref)
{
    alignas(std::atomic_ref<std::int64_t>::required_alignment) std::int64_t word = 5;
    pawl::atomic_wait(&word, 6);
    EXPECT_FALSE(pawl::atomic_wait_for(&word, 5, 1ms));
    std::thread waiter([&] { pawl::atomic_wait(&word, 5); });
    std::atomic_ref<std::int64_t>(word).store(6);
    pawl::atomic_notify_one(&word);
    waiter.join();
}
#endif

} // namespace
