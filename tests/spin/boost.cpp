// SPDX-License-Identifier: MIT
// Boost's upgrade locks work on pawl::spin_lock as on boost::upgrade_mutex.
#include <gtest/gtest.h>
#include <pawl/pawl.hpp>

#include <cstdint>
#include <utility>

#if __has_include(<boost/thread/lock_types.hpp>)
// Boost's own headers are not written for our warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#define BOOST_THREAD_PROVIDES_SHARED_MUTEX_UPWARDS_CONVERSIONS
#include <boost/thread/lock_types.hpp>
#pragma GCC diagnostic pop

namespace {

constexpr std::uint64_t R = PAWL_SPIN64_R;
constexpr std::uint64_t S = PAWL_SPIN64_S + R;
constexpr std::uint64_t W = PAWL_SPIN64_W + S;

class Boost : public testing::Test {
  protected:
    pawl::spin_lock lock;
    std::uint64_t word() { return lock.native_handle()->word; }
};

TEST_F(Boost, upgrade_lock_holds_S)
{
    {
        const boost::upgrade_lock<pawl::spin_lock> guard(lock);
        EXPECT_EQ(S, word());
    }
    EXPECT_EQ(0u, word());
}

TEST_F(Boost, upgrade_to_unique_lock_holds_W_and_goes_back_to_S)
{
    boost::upgrade_lock<pawl::spin_lock> guard(lock);
    {
        const boost::upgrade_to_unique_lock<pawl::spin_lock> unique(guard);
        EXPECT_EQ(W, word());
    }
    EXPECT_EQ(S, word());
    EXPECT_TRUE(guard.owns_lock());
}

TEST_F(Boost, unique_lock_turns_into_upgrade_and_shared_locks)
{
    boost::unique_lock<pawl::spin_lock> unique(lock);
    boost::upgrade_lock<pawl::spin_lock> upgrade(std::move(unique));
    EXPECT_EQ(S, word());
    boost::shared_lock<pawl::spin_lock> shared(std::move(upgrade));
    EXPECT_EQ(R, word());
    shared.unlock();
    EXPECT_EQ(0u, word());
}

TEST_F(Boost, shared_lock_turns_into_a_unique_lock_when_it_is_alone)
{
    boost::shared_lock<pawl::spin_lock> shared(lock);
    const boost::unique_lock<pawl::spin_lock> unique(std::move(shared), boost::try_to_lock);
    EXPECT_TRUE(unique.owns_lock());
    EXPECT_EQ(W, word());
}

TEST_F(Boost, shared_lock_turns_into_an_upgrade_lock_when_nobody_seeks)
{
    boost::shared_lock<pawl::spin_lock> shared(lock);
    const boost::upgrade_lock<pawl::spin_lock> upgrade(std::move(shared), boost::try_to_lock);
    EXPECT_TRUE(upgrade.owns_lock());
    EXPECT_EQ(S, word());
}

TEST_F(Boost, upgrade_lock_that_only_tries_gets_nothing_from_a_second_seeker)
{
    const boost::upgrade_lock<pawl::spin_lock> first(lock);
    const boost::upgrade_lock<pawl::spin_lock> second(lock, boost::try_to_lock);
    EXPECT_FALSE(second.owns_lock());
}

} // namespace

#else

TEST(Boost, is_not_installed)
{
    GTEST_SKIP() << "install libboost-thread-dev and build again";
}

#endif
