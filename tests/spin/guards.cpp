// SPDX-License-Identifier: MIT
// The guards: what they hold, when they let go, and where they can go from there.
#include <gtest/gtest.h>
#include <pawl/pawl.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace {

constexpr std::uint32_t U = 0;
constexpr std::uint64_t R = PAWL_SPIN64_R;
constexpr std::uint64_t S = PAWL_SPIN64_S + R;
constexpr std::uint64_t A = PAWL_SPIN64_W;
constexpr std::uint64_t W = PAWL_SPIN64_W + S;

class Guards : public testing::Test {
  protected:
    pawl::spin_lock lock;
    std::uint64_t word() { return lock.native_handle()->word; }
};

TEST_F(Guards, hold_their_state_for_their_scope)
{
    {
        const pawl::read_guard guard(lock);
        EXPECT_EQ(R, word());
    }
    EXPECT_EQ(U, word());
    {
        const pawl::seek_guard guard(lock);
        EXPECT_EQ(S, word());
    }
    EXPECT_EQ(U, word());
    {
        const pawl::write_guard guard(lock);
        EXPECT_EQ(W, word());
    }
    EXPECT_EQ(U, word());
    {
        const pawl::atomic_guard guard(lock);
        EXPECT_EQ(A, word());
    }
    EXPECT_EQ(U, word());
}

TEST_F(Guards, hold_plain_locks_of_c_programs_in_all_widths)
{
    pawl_spin16 narrow = PAWL_SPIN16_INIT;
    pawl_spin64 wide = PAWL_SPIN64_INIT;
    {
        const pawl::seek_guard one(narrow);
        const pawl::write_guard two(wide);
        static_assert(std::is_same_v<decltype(one), const pawl::seek_guard<pawl_spin16>>);
        EXPECT_EQ(PAWL_SPIN16_S + PAWL_SPIN16_R, narrow.word);
        EXPECT_EQ(PAWL_SPIN64_W + PAWL_SPIN64_S + PAWL_SPIN64_R, wide.word);
    }
    EXPECT_EQ(0u, narrow.word);
    EXPECT_EQ(0u, wide.word);
}

TEST_F(Guards, are_moved_and_not_copied)
{
    static_assert(!std::is_copy_constructible_v<pawl::read_guard<pawl_spin64>>);
    static_assert(!std::is_copy_assignable_v<pawl::write_guard<pawl_spin64>>);
    static_assert(std::is_nothrow_move_constructible_v<pawl::seek_guard<pawl_spin64>>);
    static_assert(std::is_nothrow_move_assignable_v<pawl::atomic_guard<pawl_spin64>>);
    pawl::read_guard first(lock);
    pawl::read_guard second(std::move(first));
    EXPECT_FALSE(first); // NOLINT: it must be empty now
    EXPECT_TRUE(second);
    EXPECT_EQ(R, word());
}

TEST_F(Guards, drop_what_they_held_when_another_is_assigned)
{
    pawl::spin_lock other;
    pawl::write_guard guard(lock);
    guard = pawl::write_guard(other);
    EXPECT_EQ(U, word());
    EXPECT_EQ(other.native_handle(), guard.native_handle());
    EXPECT_EQ(W, other.native_handle()->word);
}

TEST_F(Guards, can_be_dropped_early)
{
    pawl::write_guard guard(lock);
    guard.drop();
    EXPECT_EQ(U, word());
    EXPECT_FALSE(guard.owns_lock());
    guard.drop(); // an empty guard drops nothing
    EXPECT_EQ(U, word());
}

TEST_F(Guards, give_the_lock_out_of_hand_and_take_it_back)
{
    pawl_spin64 *released = nullptr;
    {
        pawl::seek_guard guard(lock);
        released = guard.release();
    }
    EXPECT_EQ(S, word());
    {
        const pawl::seek_guard guard(*released, std::adopt_lock);
        EXPECT_EQ(S, word());
    }
    EXPECT_EQ(U, word());
    lock.lock();
    {
        const pawl::write_guard guard(lock, std::adopt_lock);
    }
    EXPECT_EQ(U, word());
}

TEST_F(Guards, move_along_the_published_ways)
{
    pawl::seek_guard seek(lock);
    pawl::write_guard write = std::move(seek).to_write();
    EXPECT_FALSE(seek); // NOLINT
    EXPECT_EQ(W, word());
    pawl::seek_guard again = std::move(write).to_seek();
    EXPECT_EQ(S, word());
    pawl::read_guard read = std::move(again).to_read();
    EXPECT_EQ(R, word());
    auto atomic = std::move(read).try_to_atomic();
    ASSERT_TRUE(atomic);
    EXPECT_EQ(A, word());
    auto [back, kept] = std::move(*atomic).to_read();
    EXPECT_TRUE(kept);
    EXPECT_EQ(R, word());
    auto writer = std::move(back).try_to_write();
    ASSERT_TRUE(writer);
    EXPECT_EQ(W, word());
    const pawl::read_guard last = std::move(*writer).to_read();
    EXPECT_EQ(R, word());
}

TEST_F(Guards, that_claim_are_granted_alone)
{
    pawl::read_guard read(lock);
    {
        auto write = std::move(read).claim_write();
        ASSERT_TRUE(write);
        EXPECT_EQ(W, word());
    }
    pawl::read_guard next(lock);
    auto atomic = std::move(next).claim_atomic();
    ASSERT_TRUE(atomic);
    EXPECT_EQ(A, word());
}

#if !PAWL_CHECKED // one thread plays several, which the checking variant would report
TEST_F(Guards, still_hold_their_state_after_a_try_that_failed)
{
    const pawl::seek_guard seeker(lock);
    pawl::read_guard reader(lock);
    EXPECT_FALSE(std::move(reader).try_to_seek());
    EXPECT_TRUE(reader); // NOLINT: that is the promise
    EXPECT_FALSE(std::move(reader).try_to_write());
    EXPECT_FALSE(std::move(reader).claim_write());
    EXPECT_FALSE(std::move(reader).try_to_atomic());
    EXPECT_FALSE(std::move(reader).claim_atomic());
    EXPECT_TRUE(reader);
    EXPECT_EQ(S + R, word());
    reader.drop();
    EXPECT_EQ(S, word());
}

TEST_F(Guards, a_seeker_beside_a_reader_keeps_S_when_its_try_for_W_fails)
{
    pawl::seek_guard seeker(lock);
    pawl::read_guard reader(lock);
    EXPECT_FALSE(std::move(seeker).try_to_write());
    EXPECT_TRUE(seeker); // NOLINT
    reader.drop();
    const auto writer = std::move(seeker).try_to_write();
    EXPECT_TRUE(writer);
    EXPECT_EQ(W, word());
}

TEST_F(Guards, tries_on_a_lock_that_is_written_return_nothing)
{
    const pawl::write_guard writer(lock);
    EXPECT_FALSE(pawl::try_read(lock));
    EXPECT_FALSE(pawl::try_seek(lock));
    EXPECT_FALSE(pawl::try_write(lock));
    EXPECT_FALSE(pawl::claim_write(lock));
    EXPECT_FALSE(pawl::try_atomic(lock));
    EXPECT_FALSE(pawl::claim_atomic(lock));
    EXPECT_EQ(W, word());
}
#endif

TEST_F(Guards, tries_on_a_free_lock_return_the_guard)
{
    int granted = 0;
    if (const auto guard = pawl::try_read(lock)) {
        EXPECT_EQ(R, word());
        granted++;
    }
    if (const auto guard = pawl::try_seek(lock)) {
        EXPECT_EQ(S, word());
        granted++;
    }
    if (const auto guard = pawl::try_write(lock)) {
        EXPECT_EQ(W, word());
        granted++;
    }
    if (const auto guard = pawl::claim_write(lock)) {
        EXPECT_EQ(W, word());
        granted++;
    }
    if (const auto guard = pawl::try_atomic(lock)) {
        EXPECT_EQ(A, word());
        granted++;
    }
    if (const auto guard = pawl::claim_atomic(*lock.native_handle())) {
        EXPECT_EQ(A, word());
        granted++;
    }
    EXPECT_EQ(6, granted);
    EXPECT_EQ(U, word());
}

TEST_F(Guards, of_two_locks_hold_both_and_let_go_of_both)
{
    pawl::spin_lock other;
    {
        const pawl::two_write_guard both(lock, other);
        EXPECT_EQ(W, word());
        EXPECT_EQ(W, other.native_handle()->word);
    }
    {
        const auto both = pawl::take_two(other, lock);
        EXPECT_EQ(W, word());
        EXPECT_EQ(W, other.native_handle()->word);
    }
    {
        const pawl::two_seek_guard both(other, lock);
        EXPECT_EQ(S, word());
        EXPECT_EQ(S, other.native_handle()->word);
    }
    {
        const pawl::two_read_guard both(*lock.native_handle(), *other.native_handle());
        EXPECT_EQ(R, word());
        EXPECT_EQ(R, other.native_handle()->word);
    }
    EXPECT_EQ(U, word());
    EXPECT_EQ(U, other.native_handle()->word);
}

TEST_F(Guards, of_the_same_lock_twice_take_it_once)
{
    {
        const pawl::two_write_guard both(lock, lock);
        EXPECT_EQ(W, word());
    }
    EXPECT_EQ(U, word());
}

} // namespace
