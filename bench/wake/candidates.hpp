/* SPDX-License-Identifier: MIT */
/* The rows of the wake bench. */
#pragma once

#include "core/candidate.hpp"
#include "wake/channel.hpp"

namespace bench {

using wake_candidate = candidate<std::unique_ptr<channel> (*)()>;

std::vector<wake_candidate> wake_candidates();

} // namespace bench
