// SPDX-License-Identifier: MIT
// What the guards must refuse at compile time. Case 0 is right; CheckRefusal.cmake.
#pragma GCC diagnostic error "-Wunused-result"
#pragma GCC diagnostic error "-Wunused-value"
#include <pawl/pawl.hpp>

#include <utility>

void published_ways(pawl::spin_lock &lock)
{
    pawl::seek_guard seek(lock);
    pawl::write_guard write = std::move(seek).to_write();
    pawl::read_guard read = std::move(write).to_read();
    if (auto atomic = std::move(read).try_to_atomic())
        (void)std::move(*atomic).to_read();
}

[[maybe_unused]] static void refused(pawl::spin_lock &lock, pawl::read_guard<pawl_spin64> read,
                                     pawl::seek_guard<pawl_spin64> seek,
                                     pawl::write_guard<pawl_spin64> write,
                                     pawl::atomic_guard<pawl_spin64> atomic)
{
    (void)lock, (void)read, (void)seek, (void)write, (void)atomic;
#if CASE == 1
    pawl::read_guard<pawl_spin64> copy = read; // expect: deleted
#elif CASE == 2
    write = write; // expect: deleted
#elif CASE == 3
    (void)std::move(read).to_seek(); // expect: no member named .to_seek
#elif CASE == 4
    (void)std::move(read).to_write(); // expect: no member named .to_write
#elif CASE == 5
    (void)std::move(read).to_atomic(); // expect: no member named .to_atomic
#elif CASE == 6
    (void)std::move(atomic).to_write(); // expect: no member named .to_write
#elif CASE == 7
    (void)std::move(atomic).try_to_write(); // expect: no member named .try_to_write
#elif CASE == 8
    (void)std::move(atomic).to_seek(); // expect: no member named .to_seek
#elif CASE == 9
    (void)std::move(seek).try_to_atomic(); // expect: no member named .try_to_atomic
#elif CASE == 10
    (void)std::move(write).to_atomic(); // expect: no member named .to_atomic
#elif CASE == 11
    (void)seek.to_write(); // expect: this_transition_uses_the_guard_up_so_write_std_move
#elif CASE == 12
    (void)write.to_read(); // expect: this_transition_uses_the_guard_up_so_write_std_move
#elif CASE == 13
    pawl::write_guard<pawl_spin64> other = std::move(seek); // expect: conversion from|no viable
#elif CASE == 14
    pawl::write_guard<pawl_spin64> other =
        std::move(seek).try_to_write(); // expect: conversion from|no viable
#elif CASE == 15
    pawl::read_guard<pawl_spin64> other =
        std::move(atomic).to_read(); // expect: conversion from|no viable
#elif CASE == 16
    pawl::read_guard<pawl_spin64> other = lock; // expect: conversion from|no viable
#elif CASE == 17
    bool owned = write; // expect: cannot convert|no viable
#elif CASE == 18
    pawl::two_write_guard<pawl_spin64> two(lock, *lock.native_handle()); // expect: no matching
#elif CASE == 19
    pawl::write_guard guard{pawl::spin_lock()}; // expect: no matching|no viable
#elif CASE == 20
    if (read.try_to_seek()) // expect: this_transition_uses_the_guard_up_so_write_std_move
        return;
#elif CASE == 21
    if (read.claim_write()) // expect: this_transition_uses_the_guard_up_so_write_std_move
        return;
#elif CASE == 22
    (void)atomic.to_read(); // expect: this_transition_uses_the_guard_up_so_write_std_move
#elif CASE == 23
    pawl::write_guard<pawl_spin64>{lock}; // expect: nodiscard|unused-value
#elif CASE == 24
    pawl::two_write_guard<pawl_spin64>{lock, lock}; // expect: nodiscard|unused-value
#elif CASE == 25
    pawl::take_two(lock, lock); // expect: nodiscard
#elif CASE == 26
    auto taken = seek.to_write(); // expect: error:.*this_transition_uses_the_guard_up_so_write_std
#elif CASE == 27
    pawl::write_guard guard = // expect: error:.*this_transition_uses_the_guard_up_so_write_std_move
        seek.to_write();
#endif
}
