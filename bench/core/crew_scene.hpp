/* SPDX-License-Identifier: MIT */
/* The common part of scenes in which all threads of a crew work on one object for a while. */
#pragma once

#include <cmath>

#include "core/crew.hpp"
#include "core/driver.hpp"
#include "core/machine.hpp"
#include "core/random.hpp"

namespace bench {

inline double microseconds_of(double seconds)
{
    return std::round(seconds * 1e6) / 1e6;
}

template <class Candidate, class Thing> class crew_scene : public scene<Candidate, Thing> {
  public:
    explicit crew_scene(const options &o, unsigned more_threads = 0)
        : o_(o), cpus_(parse_pin(o.pin)),
          threads_(static_cast<unsigned>(o.threads) + more_threads, cpus_)
    {
    }

    placement where() const override
    {
        const std::string &error = threads_.pin_error();
        return {cpus_, !cpus_.empty() && error.empty(), error};
    }

  protected:
    /* In a round all candidates get the same random numbers. */
    std::uint64_t seed_of(long long round) const
    {
        return mix(static_cast<std::uint64_t>(o_.seed)) +
               0x10001 * static_cast<std::uint64_t>(round);
    }

    /* Runs a sample of `work(thread, flag, tally)`; returns the seconds that it took. */
    template <class Tally, class Work> double measure(std::vector<Tally> &tallies, Work work)
    {
        tallies.resize(threads_.size());
        const crew::task task = [&](unsigned thread, const phase_flag &flag) {
            work(thread, flag, tallies[thread]);
        };
        return threads_.run(task, o_.warmup, o_.seconds);
    }

    /* A sample line: the threads' operations, `own` of the scene, and the resources that the
     * threads used. */
    json line_of(std::uint64_t ops, double seconds, const json &own, const usage &used) const
    {
        json line = {{"threads", o_.threads}, {"ops", ops}, {"seconds", seconds}};
        line.update(own);
        line.update({{"cpu_seconds", microseconds_of(used.cpu_seconds)},
                     {"ctx_voluntary", used.voluntary},
                     {"ctx_involuntary", used.involuntary}});
        return line;
    }

    const options &o_;
    const std::vector<unsigned> cpus_;
    crew threads_;
};

} // namespace bench
