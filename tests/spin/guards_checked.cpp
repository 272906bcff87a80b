// SPDX-License-Identifier: MIT
// The guards in the checking variant.
#include "spin/guards.cpp" // NOLINT: the same tests, linked with another library

namespace {

extern "C" __attribute__((noinline)) void takes_a_guard_twice()
{
    pawl::spin_lock lock;
    const pawl::write_guard one(lock);
    const pawl::write_guard two(lock);
}

TEST(CheckedGuardDeathTest, a_guard_on_a_lock_that_the_thread_holds_is_reported_at_its_line)
{
    EXPECT_DEATH(takes_a_guard_twice(), "takes_a_guard_twice");
}

TEST(CheckedGuardDeathTest, two_locks_taken_in_both_orders_are_no_inversion_with_two_guards)
{
    pawl::spin_lock a, b;
    {
        const pawl::two_write_guard both(a, b);
    }
    {
        const pawl::two_write_guard both(b, a);
    }
    SUCCEED(); // an inversion would have aborted
}

} // namespace
