/* SPDX-License-Identifier: MIT */
/* What the driver and its candidates share. */
#pragma once

#include <memory>

#include "core/candidate.hpp"
#include "core/crew.hpp"
#include "core/histogram.hpp"
#include "core/work.hpp"
#include "replay/steps.hpp"

namespace bench {

/* One thread's sample. */
struct replay_tally {
    std::uint64_t ops = 0;   /* locks taken */
    std::uint64_t waits = 0; /* those whose try failed */
    std::uint64_t waited_ns = 0;
    std::uint64_t lost_ns = 0;      /* kept off the processor, and not in place of a pause */
    std::uint64_t long_wait_ns = 0; /* of waited_ns: waits of a millisecond and more */
    histogram wait;
    usage used;

    void add(const replay_tally &other)
    {
        ops += other.ops;
        waits += other.waits;
        waited_ns += other.waited_ns;
        lost_ns += other.lost_ns;
        long_wait_ns += other.long_wait_ns;
        wait.merge(other.wait);
        used += other.used;
    }
};

/* The machine's figures, measured once. */
struct replay_gauge {
    work_gauge work;
    double sleep_late_ns = 0;      /* a sleep ends so much later than asked for */
    double pair_ns[3] = {0, 0, 0}; /* an uncontended pair of each kind of lock, with its steps */
};

class replay_design {
  public:
    virtual ~replay_design() = default;
    virtual void run(unsigned thread, const phase_flag &flag, replay_tally &tally) = 0;
};

/* Steps as they are run: work in rounds of work.hpp. Work before a take is shortened by half an
 * uncontended pair: in the recording it contains the try. The other half, the release, is no part
 * of it. */
std::vector<std::vector<step>> prepared(const std::vector<std::vector<step>> &steps,
                                        const step_file &file, const replay_gauge &gauge);

using replay_maker = std::unique_ptr<replay_design> (*)(const step_file &, const replay_gauge &);
using replay_candidate = candidate<replay_maker>;

std::vector<replay_candidate> replay_candidates();
replay_gauge measure_gauge();

} // namespace bench
