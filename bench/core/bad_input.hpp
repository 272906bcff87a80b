/* SPDX-License-Identifier: MIT */
/* An error that the user can correct. */
#pragma once

#include <stdexcept>

namespace bench {

/* The text is the sentence that says how. */
struct bad_input : std::runtime_error {
    using std::runtime_error::runtime_error;
};

} // namespace bench
