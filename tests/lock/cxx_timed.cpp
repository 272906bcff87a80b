// SPDX-License-Identifier: MIT
// pawl::lock: what it has beyond spin_lock, which is time.
#include <gtest/gtest.h>
#include <pawl/pawl.hpp>

#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace {

using namespace std::chrono_literals;

template <class Lock> class TimedLock : public testing::Test {
  protected:
    Lock lock;
};

using Locks = testing::Types<pawl::lock32, pawl::lock64>;
TYPED_TEST_SUITE(TimedLock, Locks, );

// Runs what it is given in a thread of its own, because a holder may not wait for itself.
template <class Body> void elsewhere(Body body)
{
    std::thread(body).join();
}

TYPED_TEST(TimedLock, gives_up_at_the_deadline_and_leaves_no_trace)
{
    this->lock.lock();
    const auto before = this->lock.native_handle()->word;
    elsewhere([&] {
        EXPECT_FALSE(this->lock.try_lock_for(2ms));
        EXPECT_FALSE(this->lock.try_lock_shared_for(2ms));
        EXPECT_FALSE(this->lock.try_lock_upgrade_for(2ms));
        EXPECT_FALSE(this->lock.try_lock_atomic_for(2ms));
        EXPECT_FALSE(this->lock.try_lock_until(std::chrono::steady_clock::now() + 1ms));
        EXPECT_FALSE(this->lock.try_lock_until(std::chrono::system_clock::now() + 1ms));
    });
    EXPECT_EQ(before, this->lock.native_handle()->word);
    this->lock.unlock();
}

TYPED_TEST(TimedLock, a_reader_waits_for_s_until_its_holder_has_left_or_the_deadline)
{
    std::condition_variable_any changed;
    std::mutex guard;
    int step = 0;
    this->lock.lock_upgrade();
    std::thread reader([&] {
        this->lock.lock_shared();
        EXPECT_FALSE(this->lock.try_unlock_shared_and_lock_upgrade_for(2ms));
        EXPECT_FALSE(this->lock.try_unlock_shared_and_lock_upgrade_for(-1s));
        EXPECT_FALSE(this->lock.try_unlock_shared_and_lock_upgrade_until(
            std::chrono::system_clock::now() + 2ms));
        {
            const std::lock_guard<std::mutex> held(guard);
            step = 1;
        }
        changed.notify_all();
        EXPECT_TRUE(this->lock.try_unlock_shared_and_lock_upgrade_for(1h));
        this->lock.unlock_upgrade();
    });
    {
        std::unique_lock<std::mutex> held(guard);
        changed.wait(held, [&] { return step == 1; });
    }
    this->lock.unlock_upgrade();
    reader.join();
    EXPECT_TRUE(this->lock.try_lock());
    this->lock.unlock();
}

TYPED_TEST(TimedLock, does_not_wait_for_a_deadline_in_the_past)
{
    using clock = std::chrono::steady_clock;
    this->lock.lock();
    elsewhere([&] {
        EXPECT_FALSE(this->lock.try_lock_for(-1s));
        EXPECT_FALSE(this->lock.try_lock_for(0ns));
        EXPECT_FALSE(this->lock.try_lock_until(clock::time_point::min()));
        EXPECT_FALSE(this->lock.try_lock_until(clock::time_point()));
        EXPECT_FALSE(this->lock.try_lock_for(
            std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())));
    });
    this->lock.unlock();
}

TYPED_TEST(TimedLock, takes_an_absurdly_late_deadline_for_none)
{
    using clock = std::chrono::steady_clock;
    EXPECT_TRUE(this->lock.try_lock_until(clock::time_point::max()));
    this->lock.unlock();
    EXPECT_TRUE(this->lock.try_lock_for(std::chrono::hours::max()));
    this->lock.unlock();
    EXPECT_TRUE(this->lock.try_lock_shared_for(std::chrono::duration<double>(1e300)));
    this->lock.unlock_shared();
}

TYPED_TEST(TimedLock, upgrades_that_time_out_keep_the_first_state)
{
    this->lock.lock_shared();
    elsewhere([&] {
        this->lock.lock_upgrade();
        EXPECT_FALSE(this->lock.try_unlock_upgrade_and_lock_for(2ms));
        this->lock.assert_held_seek();
        this->lock.unlock_upgrade();
        this->lock.lock_shared();
        EXPECT_FALSE(this->lock.try_unlock_shared_and_lock_for(2ms));
        EXPECT_FALSE(this->lock.try_unlock_shared_and_lock_atomic_for(2ms));
        this->lock.assert_held_read();
        this->lock.unlock_shared();
    });
    EXPECT_TRUE(this->lock.try_unlock_shared_and_lock_for(1h));
    this->lock.unlock();
}

TYPED_TEST(TimedLock, works_with_the_timed_guards_of_the_standard_library)
{
    {
        std::unique_lock<TypeParam> guard(this->lock, 1s);
        EXPECT_TRUE(guard.owns_lock());
        elsewhere([&] {
            std::shared_lock<TypeParam> other(this->lock, 1ms);
            EXPECT_FALSE(other.owns_lock());
        });
    }
    std::shared_lock<TypeParam> guard(this->lock, std::chrono::steady_clock::now() + 1s);
    EXPECT_TRUE(guard.owns_lock());
}

TYPED_TEST(TimedLock, works_with_condition_variable_any)
{
    std::condition_variable_any ready;
    bool told = false;
    std::thread teller([&] {
        const std::lock_guard<TypeParam> guard(this->lock);
        told = true;
        ready.notify_all();
    });
    {
        std::shared_lock<TypeParam> guard(this->lock);
        ready.wait(guard, [&] { return told; });
    }
    teller.join();
    std::unique_lock<TypeParam> guard(this->lock);
    EXPECT_FALSE(ready.wait_for(guard, 1ms, [&] { return !told; }));
}

TYPED_TEST(TimedLock, guards_hold_it_and_the_plain_lock_of_c_programs)
{
    pawl_lock64 plain = PAWL_LOCK64_INIT;
    {
        pawl::seek_guard seek(this->lock);
        const auto write = std::move(seek).to_write();
        EXPECT_FALSE(this->lock.try_lock_shared());
        const pawl::read_guard read(plain);
        EXPECT_TRUE(pawl_lock64_is_read(&plain));
    }
    EXPECT_TRUE(this->lock.try_lock());
    this->lock.unlock();
    EXPECT_TRUE(pawl_lock64_is_free(&plain));
}

} // namespace
