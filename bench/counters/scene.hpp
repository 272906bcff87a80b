/* SPDX-License-Identifier: MIT */
/*
 * The part of a driver that measures candidates of counters.hpp. JSON lines as pawl-bench-lru
 * prints them. `ops` and `seconds` are of all measured threads together: nanoseconds that one of
 * them spends on an operation are threads * seconds / ops.
 */
#ifndef PAWL_BENCH_COUNTERS_SCENE_HPP
#define PAWL_BENCH_COUNTERS_SCENE_HPP

#include "counters/counters.hpp"

namespace bench::counters {

struct run_options {
    long long rounds = 12;
    double seconds = 0.02, warmup = 0.003;
    std::string pin = "auto";
    std::vector<std::string> candidates;
    bool list = false;
};

void declare(CLI::App &app, run_options &o);

/* `more`: what the first line says besides. */
int run(const char *bench, candidates all, const run_options &o, const json &more = json::object());

} // namespace bench::counters

#endif
