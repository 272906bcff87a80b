// SPDX-License-Identifier: MIT
// The guards in the hook variant.
#include "support/plain_hooks.hpp"

#include "spin/guards.cpp" // NOLINT: the same tests, linked with another library
