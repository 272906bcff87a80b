// SPDX-License-Identifier: MIT
#include "lifetime.hpp"

// Made before or after those of main.cpp: the standard does not say, so both happen over compilers.
static user early_user;

#if !PAWL_CHECKED
// A constant: no constructor runs for it, so it is there for the first of all constructors.
[[maybe_unused]] static constexpr pawl::spin_lock constant;
#endif

pawl::spin_lock early_lock;
pawl_spin64 early_plain = PAWL_SPIN64_INIT;
int early_uses;

// Even before C++'s constructors: in the initialisation that C has.
__attribute__((constructor(101))) static void before_all_constructors()
{
    use_all_states();
}
