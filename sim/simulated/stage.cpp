/* SPDX-License-Identifier: MIT */
/* Counts operations of simulated threads, and how long each waited. */
#include "stage.hpp"

#include <algorithm>

namespace sim {

void add_counts(findings &f, const engine &e)
{
    const statistics &c = e.counted;
    f.add("accesses", static_cast<double>(c.accesses));
    f.add("transfers", static_cast<double>(c.transfers));
    f.add("copies", static_cast<double>(c.copies));
    f.add("line_waits", static_cast<double>(c.waits));
    f.add("line_wait_ns", static_cast<double>(c.queued) / 1000);
    f.add("sleeps", static_cast<double>(c.sleeps));
    f.add("wakes", static_cast<double>(c.wakes));
    f.add("yields", static_cast<double>(c.yields));
    f.add("barriers", static_cast<double>(c.barriers));
    f.add("preemptions", static_cast<double>(c.preemptions));
}

} // namespace sim

namespace stage {

using sim::engine;
using sim::ps;

world::world(sim::settings &s)
    : s_(s), cores_(s.count("cores", 1, 1, s.on.all_cores())),
      threads_(s.count("threads", cores_, 1, sim::most_threads)),
      first_(static_cast<std::uint64_t>(s.number("warm", 20, 0, 1e7) * threads_)),
      last_(first_ + static_cast<std::uint64_t>(s.number("count", 2000, 10, 1e9))), e_(s.on, s.seed)
{
}

/* Within two microseconds of each other. */
ps world::start_of(unsigned thread) const
{
    return static_cast<ps>(bench::mix(s_.seed * 8191 + thread) % 2000000);
}

void member::work(double ns)
{
    if (ns > 0)
        engine::running->work(static_cast<ps>(ns * 1000));
}

static const double longest = 5e7; /* ns, below the engine's patience */

void member::work_on(double ns)
{
    engine &e = *engine::running;
    for (; ns > longest; ns -= longest) {
        work(longest);
        e.turn();
        e.progress();
    }
    work(ns);
}

void member::sleep(std::uint32_t *bed, double ns)
{
    engine &e = *engine::running;
    const ps end = e.now() + static_cast<ps>(ns * 1000);
    while (e.now() < end) {
        (void)e.sleep(bed, 0, UINT32_MAX, std::min(end, e.now() + static_cast<ps>(longest * 1000)));
        e.progress();
    }
}

void member::entered(bool writes)
{
    const ps now = engine::running->now();
    if (w_.began_ != sim::never)
        w_.waited_[writes].push_back(now - since_);
    since_ = sim::never;
}

bool member::done(bool)
{
    engine &e = *engine::running;
    e.turn();
    if (w_.done_ == w_.first_)
        w_.began_ = e.now();
    if (w_.began_ != sim::never)
        operations_++;
    if (w_.done_++ == w_.last_) {
        w_.ended_ = e.now();
        e.stop();
    }
    e.progress();
    e.turn();
    return w_.done_ <= w_.last_;
}

static double part(std::vector<ps> &all, double share)
{
    if (all.empty())
        return 0;
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size() - 1));
    std::nth_element(all.begin(), all.begin() + at, all.end());
    return static_cast<double>(all[static_cast<std::size_t>(at)]) / 1000;
}

/* A thread that still waits at the end counts with what it has waited, and is as far behind. */
sim::findings world::found()
{
    sim::findings f;
    f.add("operations_per_s",
          static_cast<double>(last_ - first_) / (static_cast<double>(ended_ - began_) * 1e-12));
    ps still = 0;
    double sum = 0, squares = 0;
    for (const auto &m : members_) {
        if (m->since_ < ended_)
            still = std::max(still, ended_ - m->since_);
        const auto n = static_cast<double>(m->operations_);
        sum += n;
        squares += n * n;
    }
    f.add("fairness", sum * sum / (squares * static_cast<double>(threads_)));
    static const char *const names[2][3] = {{"read_wait_p50", "read_wait_p99", "read_wait_max"},
                                            {"write_wait_p50", "write_wait_p99", "write_wait_max"}};
    for (unsigned writes = 0; writes < 2; writes++) {
        if (waited_[writes].empty())
            continue;
        f.add(names[writes][0], part(waited_[writes], 0.5));
        f.add(names[writes][1], part(waited_[writes], 0.99));
        f.add(names[writes][2], part(waited_[writes], 1));
    }
    f.add("still_waits", static_cast<double>(still) / 1000);
    sim::add_counts(f, e_);
    return f;
}

} // namespace stage
