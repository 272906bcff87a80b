// SPDX-License-Identifier: MIT
// The same in the checking variant.
#include "lock/cxx.cpp" // NOLINT: the same tests, linked with another library

namespace {

// noinline, so that the report can name it as the call site.
extern "C" __attribute__((noinline)) void unlocks_what_it_does_not_hold()
{
    static pawl::spin_lock lock;
    lock.unlock();
}

TEST(CheckedLockDeathTest, misuse_of_the_standard_names_is_reported_with_the_users_call_site)
{
    EXPECT_DEATH(unlocks_what_it_does_not_hold(), "unlocks_what_it_does_not_hold");
}

TEST(CheckedLockDeathTest, destroying_a_held_lock_is_reported)
{
    EXPECT_DEATH(
        {
            pawl::spin_lock lock;
            lock.lock();
        },
        "destroy");
}

} // namespace
