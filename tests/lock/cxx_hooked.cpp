// SPDX-License-Identifier: MIT
// The same in the hook variant.
#include "support/plain_hooks.hpp"

#include "lock/cxx.cpp" // NOLINT: the same tests, linked with another library

namespace {

TEST(HookLock, each_operation_of_the_face_calls_out)
{
    pawl::spin_lock lock;
    const unsigned long before = hook_operations;
    lock.lock();
    EXPECT_EQ(before + 1, hook_operations);
    lock.unlock();
    EXPECT_EQ(before + 2, hook_operations);
}

} // namespace
