/* SPDX-License-Identifier: MIT */
/* Counts operations of simulated threads, and how long each waited. */
#include "stage.hpp"

#include <algorithm>
#include <cmath>
#include <map>

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

/* The least over the greatest mean of groups of threads; cores of a group: `size`. */
static double slowest_group(const settings &s, unsigned cores, unsigned size,
                            const std::vector<std::uint64_t> &done)
{
    std::map<unsigned, std::pair<double, double>> groups; /* threads, their operations */
    for (unsigned t = 0; t < done.size(); t++) {
        auto &group = groups[s.place(t, cores) % s.on.all_cores() / size];
        group.first++;
        group.second += static_cast<double>(done[t]);
    }
    double least = HUGE_VAL, greatest = 0;
    for (const auto &[number, group] : groups) {
        least = std::min(least, group.second / group.first);
        greatest = std::max(greatest, group.second / group.first);
    }
    return least / greatest;
}

void add_fairness(findings &f, const settings &s, unsigned cores,
                  const std::vector<std::uint64_t> &done)
{
    double sum = 0, squares = 0;
    for (const std::uint64_t n : done) {
        sum += static_cast<double>(n);
        squares += static_cast<double>(n) * static_cast<double>(n);
    }
    const auto threads = static_cast<double>(done.size());
    const auto [least, greatest] = std::minmax_element(done.begin(), done.end());
    f.add("fairness", sum * sum / (squares * threads));
    f.add("slowest_thread", static_cast<double>(*least) * threads / sum);
    f.add("fastest_thread", static_cast<double>(*greatest) * threads / sum);
    f.add("slowest_cluster", slowest_group(s, cores, s.on.cores, done));
    f.add("slowest_socket", slowest_group(s, cores, s.on.cores * s.on.clusters, done));
}

} // namespace sim

namespace stage {

using sim::engine;
using sim::ps;

world::world(sim::settings &s)
    : s_(s), crowd_(s.crowd(s.on.all_cores(), sim::most_threads)), cores_(crowd_.first),
      threads_(crowd_.second),
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
    if (writes)
        w_.follows(number_);
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

unsigned world::cluster_of(unsigned thread) const
{
    return s_.place(thread, cores_) % s_.on.all_cores() / s_.on.cores;
}

void world::follows(unsigned thread)
{
    if (began_ != sim::never && last_writer_ < threads_ && last_writer_ != thread) {
        followed_++;
        near_ += cluster_of(thread) == cluster_of(last_writer_);
    }
    last_writer_ = thread;
}

/* By chance: if each other thread were as likely to be next. */
void world::add_near(sim::findings &f) const
{
    if (followed_ == 0)
        return;
    double pairs = 0;
    for (unsigned a = 0; a < threads_; a++)
        for (unsigned b = 0; b < threads_; b++)
            pairs += a != b && cluster_of(a) == cluster_of(b);
    f.add("next_in_cluster", static_cast<double>(near_) / static_cast<double>(followed_));
    f.add("next_in_cluster_by_chance", pairs / (static_cast<double>(threads_) * (threads_ - 1)));
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
    std::vector<std::uint64_t> done;
    for (const auto &m : members_) {
        if (m->since_ < ended_)
            still = std::max(still, ended_ - m->since_);
        done.push_back(m->operations_);
    }
    sim::add_fairness(f, s_, cores_, done);
    add_near(f);
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
