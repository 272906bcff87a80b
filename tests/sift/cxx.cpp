// SPDX-License-Identifier: MIT
// pawl::sift under the names of the standard library, and its readers in other contexts.
#include <pawl/pawl.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
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

bool reads_elsewhere(pawl::sift &lock)
{
    return elsewhere([&lock] { return std::shared_lock(lock, std::try_to_lock).owns_lock(); });
}

bool writes_elsewhere(pawl::sift &lock)
{
    return elsewhere([&lock] { return std::unique_lock(lock, std::try_to_lock).owns_lock(); });
}

pawl_sift_use with_handlers()
{
    pawl_sift_use use{};
    use.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT);
    use.interrupt = PAWL_SIFT_SIGNAL(SIGUSR2);
    return use;
}

TEST(sift, works_with_the_guards_of_the_standard_library)
{
    pawl::sift lock;
    EXPECT_EQ(lock.error(), 0);
    {
        const std::shared_lock read(lock);
        EXPECT_TRUE(reads_elsewhere(lock));
        EXPECT_FALSE(writes_elsewhere(lock));
    }
    {
        const std::unique_lock write(lock);
        EXPECT_FALSE(reads_elsewhere(lock));
    }
    pawl::sift other;
    {
        const std::scoped_lock both(lock, other);
        EXPECT_FALSE(reads_elsewhere(other));
    }
    EXPECT_TRUE(writes_elsewhere(lock));
}

TEST(sift, times_out_on_any_clock)
{
    pawl::sift lock;
    lock.lock();
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock_for(1ms); }));
    EXPECT_FALSE(elsewhere([&] { return lock.try_lock_shared_for(1ms); }));
    EXPECT_FALSE(
        elsewhere([&] { return lock.try_lock_until(std::chrono::steady_clock::now() + 1ms); }));
    EXPECT_FALSE(elsewhere(
        [&] { return lock.try_lock_shared_until(std::chrono::system_clock::now() + 1ms); }));
    lock.unlock();
    EXPECT_TRUE(lock.try_lock_for(std::chrono::hours::max()));
    lock.unlock();
    EXPECT_TRUE(lock.try_lock_shared_until(std::chrono::steady_clock::time_point::min() + 1h));
    lock.unlock_shared();
}

pawl::sift *read_by_handler;
int seen, value;

void on_signal(int)
{
    const pawl::sift_read_guard guard(*read_by_handler, PAWL_SIFT_INTERRUPT);
    seen = value;
}

TEST(sift, is_read_by_a_handler_through_a_guard)
{
    pawl::sift lock(with_handlers());
    ASSERT_EQ(lock.error(), 0);
    read_by_handler = &lock;
    ASSERT_NE(std::signal(SIGUSR2, on_signal), SIG_ERR);
    {
        const std::unique_lock write(lock);
        value = 7;
        std::raise(SIGUSR2);
        EXPECT_EQ(seen, 0);
    }
    EXPECT_EQ(seen, 7);
    std::signal(SIGUSR2, SIG_DFL);
}

TEST(sift, has_lockable_readers_of_each_context)
{
    pawl::sift lock(with_handlers());
    pawl::sift_reader reader = lock.reader(PAWL_SIFT_THREAD);
    {
        const std::unique_lock read(reader);
        EXPECT_FALSE(writes_elsewhere(lock));
        EXPECT_TRUE(reads_elsewhere(lock));
    }
    EXPECT_TRUE(writes_elsewhere(lock));
    const std::unique_lock write(lock);
    EXPECT_FALSE(elsewhere([&] { return reader.try_lock_for(1ms); }));
}

TEST(sift, says_why_it_was_refused_and_is_a_lock_for_threads_then)
{
    pawl_sift_use use = with_handlers();
    use.interrupt = PAWL_SIFT_SIGNAL(SIGKILL);
    pawl::sift lock(use);
    EXPECT_EQ(lock.error(), EINVAL);
    const std::unique_lock write(lock);
    EXPECT_FALSE(reads_elsewhere(lock));
}

} // namespace
