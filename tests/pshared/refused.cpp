// SPDX-License-Identifier: MIT
// What locks for shared memory must refuse at compile time. Case 0 is right.
#pragma GCC diagnostic error "-Wunused-result"
#include <pawl/pshared.hpp>

#include <chrono>
#include <utility>

void right(pawl::pshared_lock &lock, pawl_robust_lock &robust)
{
    if (lock.try_lock_for(std::chrono::milliseconds(1)))
        lock.unlock();
    const pawl::read_guard guard(lock);
    const pawl::robust_read_guard other(robust);
}

[[maybe_unused]] static void refused(pawl::pshared_lock &lock, pawl_robust_lock &robust)
{
    (void)lock, (void)robust;
#if CASE == 1
    pawl::pshared_lock copy(lock); // expect: deleted
#elif CASE == 2
    lock.set_bits(1); // expect: deleted
#elif CASE == 3
    lock.assert_held_write(); // expect: deleted
#elif CASE == 4
    lock.try_lock_for(std::chrono::seconds(1)); // expect: nodiscard
#elif CASE == 5
    const pawl::robust_write_guard guard(robust);
    auto copy = guard; // expect: deleted
#elif CASE == 6
    const auto write = pawl::try_write(robust); // expect: no (matching|viable)|deduction
#endif
}
