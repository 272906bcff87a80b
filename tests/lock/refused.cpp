// SPDX-License-Identifier: MIT
// What the lock must refuse at compile time. Case 0 is right; CheckRefusal.cmake.
#pragma GCC diagnostic error "-Wunused-result"
#include <pawl/pawl.hpp>

#include <utility>

void right(pawl::spin_lock &lock)
{
    if (lock.try_lock())
        lock.unlock();
    const pawl::read_guard guard(lock);
}

[[maybe_unused]] static void refused(pawl::spin_lock &lock, pawl_spin32 &plain)
{
    (void)lock, (void)plain;
#if CASE == 1
    pawl::spin_lock copy(lock); // expect: deleted
#elif CASE == 2
    pawl::spin_lock moved(std::move(lock)); // expect: deleted
#elif CASE == 3
    lock = pawl::spin_lock(); // expect: deleted
#elif CASE == 4
    lock.try_lock(); // expect: nodiscard
#elif CASE == 5
    pawl::try_write(lock); // expect: nodiscard
#elif CASE == 6
    lock.try_unlock_shared_and_lock(); // expect: nodiscard
#elif CASE == 7
    pawl::spin_lock from_value(0u); // expect: no matching (function|constructor)
#elif CASE == 8
    const pawl::spin_lock &constant = lock;
    constant.lock_shared(); // expect: discards qualifiers|not marked const
#elif CASE == 9
    pawl::read_guard<pawl_spin32> other(lock); // expect: no matching (function|constructor)
#elif CASE == 10
    pawl::basic_spin_lock<unsigned> integer; // expect: not a class|cannot be used prior to|unsigned
#elif CASE == 11
    (void)lock.try_lock_for(std::chrono::seconds(1)); // expect: no member named .try_lock_for
#elif CASE == 12
    pawl::lock sleeping;
    (void)sleeping.bits(); // expect: no matching function|call to .pawl_bits
#elif CASE == 13
    if (lock.unlock_atomic_and_lock_shared()) // expect: convert
        lock.unlock_shared();
#endif
}
