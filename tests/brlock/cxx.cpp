// SPDX-License-Identifier: MIT
// pawl::brlock under the names of the standard library and of Boost.
#include <pawl/pawl.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace {

using namespace std::chrono_literals;

// What another thread gets of the lock at this instant.
template <class Try> bool elsewhere(Try attempt)
{
    bool got = false;
    std::thread([&] { got = attempt(); }).join();
    return got;
}

bool reads_elsewhere(pawl::brlock &lock)
{
    return elsewhere([&lock] { return std::shared_lock(lock, std::try_to_lock).owns_lock(); });
}

bool writes_elsewhere(pawl::brlock &lock)
{
    return elsewhere([&lock] { return std::unique_lock(lock, std::try_to_lock).owns_lock(); });
}

TEST(brlock, works_with_the_guards_of_the_standard_library)
{
    pawl::brlock lock;
    {
        const std::shared_lock read(lock);
        EXPECT_TRUE(reads_elsewhere(lock));
        EXPECT_FALSE(writes_elsewhere(lock));
    }
    {
        const std::unique_lock write(lock);
        EXPECT_FALSE(reads_elsewhere(lock));
    }
    pawl::brlock other(4);
    {
        const std::scoped_lock both(lock, other);
        EXPECT_FALSE(reads_elsewhere(other));
    }
    EXPECT_TRUE(writes_elsewhere(lock));
}

TEST(brlock, times_out_on_any_clock)
{
    pawl::brlock lock;
    lock.lock();
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock_for(1ms); }));
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock_shared_for(1ms); }));
    EXPECT_FALSE(
        elsewhere([&] { return lock.try_lock_until(std::chrono::steady_clock::now() + 1ms); }));
    EXPECT_FALSE(elsewhere(
        [&] { return lock.try_lock_shared_until(std::chrono::system_clock::now() + 1ms); }));
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock_upgrade_for(-1s); }));
    lock.unlock();
    EXPECT_TRUE(lock.try_lock_for(std::chrono::hours::max()));
    lock.unlock();
    EXPECT_TRUE(lock.try_lock_shared_until(std::chrono::steady_clock::time_point::min() + 1h));
    lock.unlock_shared();
}

TEST(brlock, goes_from_seeking_to_writing_and_down_again)
{
    pawl::brlock lock;
    lock.lock_upgrade();
    EXPECT_TRUE(reads_elsewhere(lock));
    lock.unlock_upgrade_and_lock();
    EXPECT_FALSE(reads_elsewhere(lock));
    lock.unlock_and_lock_upgrade();
    EXPECT_TRUE(lock.try_unlock_upgrade_and_lock());
    lock.unlock_and_lock_shared();
    EXPECT_TRUE(reads_elsewhere(lock));
    EXPECT_TRUE(lock.try_unlock_shared_and_lock_upgrade());
    EXPECT_TRUE(lock.try_unlock_upgrade_and_lock_for(1ms));
    lock.unlock_and_lock_upgrade();
    lock.unlock_upgrade_and_lock_shared();
    lock.unlock_shared();
    EXPECT_TRUE(writes_elsewhere(lock));
}

TEST(brlock, works_without_lines_and_says_why_it_has_none)
{
    pawl::brlock lock(0);
    EXPECT_EQ(lock.error(), EINVAL);
    const std::shared_lock read(lock);
    EXPECT_TRUE(reads_elsewhere(lock));
    EXPECT_FALSE(writes_elsewhere(lock));
    EXPECT_EQ(pawl::brlock().error(), 0);
}

} // namespace
