/* SPDX-License-Identifier: MIT */
/* The rows of pawl-bench-readers (candidates.cpp), and the modules that it loads. */
#pragma once

#include <functional>

#include "core/candidate.hpp"
#include "readers/arena.hpp"

namespace bench {

using readers_candidate = candidate<std::function<std::unique_ptr<readers_arena>()>>;

/* For the seek scene locks without that mode cannot be measured. */
std::vector<readers_candidate> readers_candidates(bool seeks);

/* What a module exports: makes an arena of its own copy of the library's lock. */
using readers_maker = readers_arena *();

} // namespace bench
