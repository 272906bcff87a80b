// SPDX-License-Identifier: MIT
// pawl::basic_lock of both kinds: the names that the standard library and Boost know, and what
// they do.
#include <gtest/gtest.h>
#include <pawl/pawl.hpp>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <type_traits>

namespace {

template <class Word> class Lock : public testing::Test {
  protected:
    pawl::basic_lock<Word> lock;

    // The word as the source's units: "W2 S1 R3" is three readers' units and so on.
    auto word() { return lock.native_handle()->word; }
    bool is_free() { return word() == 0; }
    bool is_read() { return held(0, 0, 1); }
    bool is_seek() { return held(0, 1, 1); }
    bool is_write() { return held(1, 1, 1); }
    bool is_atomic() { return held(1, 0, 0); }

  private:
    bool held(unsigned w, unsigned s, unsigned r)
    {
        constexpr unsigned bits = sizeof(Word) * 8;
        constexpr unsigned seek_at = bits == 16 ? 8 : bits / 2;
        return word() == (static_cast<std::uint64_t>(w) << (seek_at + 2)) +
                             (static_cast<std::uint64_t>(s) << seek_at) + (r << 2);
    }
};

using Words = testing::Types<pawl_spin16, pawl_spin32, pawl_spin64, pawl_lock32, pawl_lock64>;
TYPED_TEST_SUITE(Lock, Words, );

TYPED_TEST(Lock, is_nothing_but_the_word)
{
    using lock_type = pawl::basic_lock<TypeParam>;
    static_assert(sizeof(lock_type) == sizeof(TypeParam));
    static_assert(alignof(lock_type) == alignof(TypeParam));
    static_assert(std::is_standard_layout_v<lock_type>);
    static_assert(!std::is_copy_constructible_v<lock_type>);
    static_assert(!std::is_move_constructible_v<lock_type>);
    static_assert(!std::is_copy_assignable_v<lock_type>);
    static_assert(!std::is_move_assignable_v<lock_type>);
    lock_type made;
    unsigned char bytes[sizeof(made)], zeros[sizeof(made)] = {};
    std::memcpy(bytes, static_cast<void *>(&made), sizeof(made));
    EXPECT_EQ(0, std::memcmp(bytes, zeros, sizeof(made)));
}

#if !PAWL_CHECKED
TYPED_TEST(Lock, is_a_constant_and_needs_no_destructor)
{
    [[maybe_unused]] static constexpr pawl::basic_lock<TypeParam> constant;
    static_assert(std::is_trivially_destructible_v<pawl::basic_lock<TypeParam>>);
    EXPECT_TRUE(this->is_free());
}
#endif

TYPED_TEST(Lock, lock_takes_W)
{
    this->lock.lock();
    EXPECT_TRUE(this->is_write());
    this->lock.assert_held_write();
    this->lock.unlock();
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(Lock, lock_shared_takes_R)
{
    this->lock.lock_shared();
    EXPECT_TRUE(this->is_read());
    this->lock.assert_held_read();
    this->lock.unlock_shared();
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(Lock, lock_upgrade_takes_S)
{
    this->lock.lock_upgrade();
    EXPECT_TRUE(this->is_seek());
    this->lock.assert_held_seek();
    this->lock.unlock_upgrade();
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(Lock, lock_atomic_takes_A)
{
    this->lock.lock_atomic();
    EXPECT_TRUE(this->is_atomic());
    this->lock.assert_held_atomic();
    this->lock.unlock_atomic();
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(Lock, every_try_on_a_free_lock_is_granted)
{
    ASSERT_TRUE(this->lock.try_lock());
    EXPECT_TRUE(this->is_write());
    this->lock.unlock();
    ASSERT_TRUE(this->lock.claim_lock());
    EXPECT_TRUE(this->is_write());
    this->lock.unlock();
    ASSERT_TRUE(this->lock.try_lock_shared());
    EXPECT_TRUE(this->is_read());
    this->lock.unlock_shared();
    ASSERT_TRUE(this->lock.try_lock_upgrade());
    EXPECT_TRUE(this->is_seek());
    this->lock.unlock_upgrade();
    ASSERT_TRUE(this->lock.try_lock_atomic());
    EXPECT_TRUE(this->is_atomic());
    this->lock.unlock_atomic();
    ASSERT_TRUE(this->lock.claim_lock_atomic());
    EXPECT_TRUE(this->is_atomic());
    this->lock.unlock_atomic();
    EXPECT_TRUE(this->is_free());
}

#if !PAWL_CHECKED // one thread plays several, which the checking variant would report
TYPED_TEST(Lock, a_try_that_cannot_be_granted_fails_and_leaves_no_trace)
{
    this->lock.lock();
    EXPECT_FALSE(this->lock.try_lock());
    EXPECT_FALSE(this->lock.claim_lock());
    EXPECT_FALSE(this->lock.try_lock_shared());
    EXPECT_FALSE(this->lock.try_lock_upgrade());
    EXPECT_FALSE(this->lock.try_lock_atomic());
    EXPECT_FALSE(this->lock.claim_lock_atomic());
    EXPECT_TRUE(this->is_write());
    this->lock.unlock();
}

TYPED_TEST(Lock, a_seeker_lets_readers_in_and_keeps_seekers_out)
{
    this->lock.lock_upgrade();
    EXPECT_TRUE(this->lock.try_lock_shared());
    EXPECT_FALSE(this->lock.try_lock_upgrade());
    EXPECT_FALSE(this->lock.try_unlock_upgrade_and_lock());
    this->lock.unlock_shared();
    EXPECT_TRUE(this->lock.try_unlock_upgrade_and_lock());
    this->lock.unlock();
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(Lock, a_second_reader_keeps_the_first_from_turning_into_a_writer_or_atomic_user)
{
    this->lock.lock_shared();
    this->lock.lock_shared();
    EXPECT_FALSE(this->lock.try_unlock_shared_and_lock());
    EXPECT_FALSE(this->lock.try_unlock_shared_and_lock_atomic());
    EXPECT_TRUE(this->lock.try_unlock_shared_and_lock_upgrade());
    EXPECT_FALSE(this->lock.try_unlock_shared_and_lock_upgrade());
    EXPECT_FALSE(this->lock.unlock_shared_and_claim_lock());
    EXPECT_FALSE(this->lock.unlock_shared_and_claim_lock_atomic());
    this->lock.unlock_upgrade();
    this->lock.unlock_shared();
    EXPECT_TRUE(this->is_free());
}
#endif

TYPED_TEST(Lock, each_move_ends_in_the_state_that_its_name_says)
{
    auto &l = this->lock;
    l.lock_upgrade();
    l.unlock_upgrade_and_lock();
    EXPECT_TRUE(this->is_write());
    l.unlock_and_lock_upgrade();
    EXPECT_TRUE(this->is_seek());
    l.unlock_upgrade_and_lock_shared();
    EXPECT_TRUE(this->is_read());
    ASSERT_TRUE(l.try_unlock_shared_and_lock());
    EXPECT_TRUE(this->is_write());
    l.unlock_and_lock_shared();
    EXPECT_TRUE(this->is_read());
    ASSERT_TRUE(l.try_unlock_shared_and_lock_upgrade());
    EXPECT_TRUE(this->is_seek());
    ASSERT_TRUE(l.try_unlock_upgrade_and_lock());
    EXPECT_TRUE(this->is_write());
    l.unlock_and_lock_shared();
    ASSERT_TRUE(l.unlock_shared_and_claim_lock());
    EXPECT_TRUE(this->is_write());
    l.unlock_and_lock_shared();
    ASSERT_TRUE(l.try_unlock_shared_and_lock_atomic());
    EXPECT_TRUE(this->is_atomic());
    EXPECT_EQ(l.unlock_atomic_and_lock_shared(), PAWL_REGAIN_KEPT);
    EXPECT_TRUE(this->is_read());
    ASSERT_TRUE(l.unlock_shared_and_claim_lock_atomic());
    EXPECT_TRUE(this->is_atomic());
    l.unlock_atomic();
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(Lock, works_with_the_guards_of_the_standard_library)
{
    using lock_type = pawl::basic_lock<TypeParam>;
    {
        const std::lock_guard<lock_type> guard(this->lock);
        EXPECT_TRUE(this->is_write());
    }
    {
        std::unique_lock<lock_type> guard(this->lock, std::defer_lock);
        EXPECT_TRUE(this->is_free());
        EXPECT_TRUE(guard.try_lock());
        EXPECT_TRUE(this->is_write());
    }
    {
        std::shared_lock<lock_type> guard(this->lock, std::try_to_lock);
        EXPECT_TRUE(guard.owns_lock());
        EXPECT_TRUE(this->is_read());
    }
    EXPECT_TRUE(this->is_free());
    {
        lock_type other;
        const std::scoped_lock<lock_type, lock_type> both(this->lock, other);
        EXPECT_TRUE(this->is_write());
        EXPECT_NE(0u, other.native_handle()->word);
    }
    EXPECT_TRUE(this->is_free());
}

template <class Word> class SpinLock : public Lock<Word> {};
using SpinWords = testing::Types<pawl_spin16, pawl_spin32, pawl_spin64>;
TYPED_TEST_SUITE(SpinLock, SpinWords, );

TYPED_TEST(SpinLock, application_bits_are_the_users_whatever_the_lock_does)
{
    EXPECT_EQ(0u, this->lock.set_bits(3));
    this->lock.lock();
    EXPECT_EQ(3u, this->lock.bits());
    EXPECT_EQ(3u, this->lock.clear_bits(1));
    this->lock.unlock();
    EXPECT_EQ(2u, this->lock.bits());
    EXPECT_EQ(2u, this->lock.clear_bits(2));
    EXPECT_TRUE(this->is_free());
}

TEST(CountedReadGuard, is_dropped_in_another_thread)
{
    pawl::basic_lock<pawl_lock64> lock;
    pawl::counted_read_guard guard(lock);
    EXPECT_TRUE(guard.owns_lock());
    EXPECT_FALSE(lock.try_lock());
    std::thread([there = std::move(guard)]() mutable { there.drop(); }).join();
    EXPECT_FALSE(guard.owns_lock());
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

} // namespace
