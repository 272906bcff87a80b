/* SPDX-License-Identifier: MIT */
/* The threads of a scenario, their CPUs, and the threads that signals interrupt. */
#pragma once

#include <map>

#include "latency/latency.hpp"
#include "latency/realtime.hpp"

namespace bench::latency {

/* anywhere: the scheduler chooses; the others: each side has CPUs of its own. */
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
    bool targets; /* handlers read in the writers' threads, too */
    /* The usual values here where they differ; below 0: as elsewhere. */
    double write_section_us, writer_pause_us, handler_period_ms;

    bool placed() const;
    unsigned threads(std::size_t cpus) const;
};

const std::vector<scenario> &scenarios();

/* How the threads of a sample get their tasks. */
struct stage {
    const scenario *what;
    std::vector<unsigned> cpus; /* empty: not pinned */
    bool realtime;              /* it is permitted */
    watchdog *guard;
    std::uint64_t handler_period_ns;
    double warmup, seconds;
};

/* Runs one sample; returns the notes of every thread, and of the handlers of every target.
 * Throws bad_input where the system does not grant the threads asked for. */
std::vector<std::unique_ptr<tally>> perform(const stage &on, arena &place, timing s);

} // namespace bench::latency
