// SPDX-License-Identifier: MIT
// The guards in the hook variant.
#include "cxx/plain_hooks.hpp"

#include "cxx/guards.cpp" // NOLINT: the same tests, linked with another library
