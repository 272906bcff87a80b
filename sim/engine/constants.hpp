/* SPDX-License-Identifier: MIT */
/* Other values for the constants of the library, from words `library.NAME=VALUE`. */
#pragma once

#include <string>

namespace sim {

/* True when the word names a constant, which then has that value for this run. */
bool set_constant(const std::string &word);

} // namespace sim
