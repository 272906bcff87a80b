/* SPDX-License-Identifier: MIT */
/* Which threads play in a scenario, on which CPUs, and who is interrupted. */
#ifndef PAWL_BENCH_LATENCY_CAST_HPP
#define PAWL_BENCH_LATENCY_CAST_HPP

#include <map>

#include "latency/latency.hpp"
#include "latency/realtime.hpp"

namespace bench::latency {

/* anywhere: where the scheduler likes; the others: a CPU of their own for each side. */
enum class side { anywhere, writers, readers };

struct part {
    role as;
    unsigned count;
    side where;
};

struct scenario {
    const char *name;
    const char *says;
    std::vector<part> parts;
    bool hosts;   /* handlers read, in a thread of their own on every CPU that has no writer */
    bool targets; /* and in the writers' threads */
    /* What is usual here where it is not so elsewhere; below 0: as elsewhere. */
    double write_section_us, writer_pause_us, handler_period_ms;

    bool placed() const;
    unsigned threads(std::size_t cpus) const;
};

const std::vector<scenario> &scenarios();

/* How the threads of a sample are told what to do. */
struct stage {
    const scenario *what;
    std::vector<unsigned> cpus; /* empty: not pinned */
    bool realtime;              /* it is permitted */
    watchdog *guard;
    std::uint64_t handler_period_ns;
    double warmup, seconds;
};

/* One sample: what every thread, and the handlers of every target, noted. Throws bad_input where
 * threads cannot be had as asked for. */
std::vector<std::unique_ptr<tally>> perform(const stage &on, arena &place, timing s);

} // namespace bench::latency

#endif
