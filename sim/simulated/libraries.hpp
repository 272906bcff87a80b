/* SPDX-License-Identifier: MIT */
/* On simulated cores the libraries' locks are their models. */
#pragma once

#include "models/published.hpp"

namespace library {

using spin = sim::model_spin;
using mutex = sim::model_low_level_lock;
using rwlock = sim::model_rwlock;
using ticket = sim::model_ticket;
using phase_fair = sim::model_phase_fair;
using bravo = sim::model_bravo<sim::model_rwlock>;

} // namespace library
