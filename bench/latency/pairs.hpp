/* SPDX-License-Identifier: MIT */
/* The scenario "pairs": one thread alone, no handlers. */
#ifndef PAWL_BENCH_LATENCY_PAIRS_HPP
#define PAWL_BENCH_LATENCY_PAIRS_HPP

#include "latency/latency.hpp"

namespace bench::latency {

struct pair_time {
    std::uint64_t ops = 0;
    double seconds = 0;
};

struct pair_candidate {
    std::string name;
    std::string why; /* empty: it can be measured */
    std::function<pair_time(double seconds, const setting &how)> run;
    bool baseline = false;
    bool by_default = true;
};

using pair_candidates = std::vector<pair_candidate>;

/* `no_realtime`: why the scheduling class cannot be changed; empty: it can. */
pair_candidates all_pairs(const std::string &no_realtime);

} // namespace bench::latency

#endif
