/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-crowd: locks whose threads outnumber the CPUs. It measures throughput, fairness, the
 * longest wait and CPU time; with --flood the waits of one writer among readers that never pause.
 * Busy processes and --cpus make the machine that it shares; with --deadline waits end early.
 *
 * One run measures one cell (threads, section, share of writes) for all candidates, a sample of
 * each in turn, a JSON line a sample. The candidate floor/none has no lock. Its waits are those
 * that the scheduler alone adds, the floor under all others.
 */
#include "core/crew_scene.hpp"
#include "core/hog.hpp"
#include "crowd/arena.hpp"

namespace bench {
namespace {

struct crowd_settings {
    double section_us = 1, outside_us = -1, writes = -1, period_us = 1000, deadline_us = 0;
    long long cpus = 0, busy = 0;
    bool hog = false, flood = false;
    std::vector<std::string> libraries;
};

/* Jain's index of the passes by thread: 1: all alike, 1/n: one had all. The result is the mean
 * over the whole windows of so many units; null when the sample is shorter than one. */
json jain(const std::vector<tally> &tallies, std::size_t whole, std::size_t units)
{
    double sum_of_indices = 0;
    std::size_t counted = 0;
    for (std::size_t first = 0; first + units <= whole; first += units) {
        double sum = 0, squares = 0;
        for (const tally &t : tallies) {
            double here = 0;
            for (std::size_t i = first; i < first + units; i++)
                here += t.windows[i];
            sum += here;
            squares += here * here;
        }
        if (squares <= 0)
            continue; /* no thread got in: no share to compare */
        sum_of_indices += sum * sum / (squares * static_cast<double>(tallies.size()));
        counted++;
    }
    if (counted == 0)
        return nullptr;
    return std::round(sum_of_indices / static_cast<double>(counted) * 1e4) / 1e4;
}

const std::vector<histogram::point> points = {{"p10", 0.1},  {"p50", 0.5},     {"p90", 0.9},
                                              {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}};

using crowd_contestant = std::unique_ptr<arena>;

/* The machine that a scene has for itself, made before the first thread and measured while idle. */
struct shared_machine {
    explicit shared_machine(const crowd_settings &s)
        : busy(allowed_cpus(), static_cast<unsigned>(s.busy))
    {
    }
    work_gauge gauge;
    busy_processes busy;
};

class crowd_scene final : private shared_machine,
                          public crew_scene<crowd_candidate, crowd_contestant> {
  public:
    crowd_scene(const options &o, const crowd_settings &s)
        : shared_machine(s), crew_scene(o, s.flood ? 1 : 0), s_(s), task_(task_of(s, gauge)),
          beside_(hog_beside(cpus_, s.hog))
    {
    }

    json start() const override
    {
        return {{"bench", s_.flood ? "flood" : "crowd"},
                {"section_us", s_.section_us},
                {"outside_us", s_.outside_us},
                {"writes", s_.writes},
                {"period_us", s_.period_us},
                {"deadline_us", s_.deadline_us},
                {"cpus", s_.cpus},
                {"busy", s_.busy},
                {"hog", s_.hog},
                {"steps_per_us", gauge.steps_per_us()},
                {"clock_ns", gauge.clock_ns()}};
    }

    crowd_contestant make(const crowd_candidate &who) override { return who.design(); }

    json sample(const crowd_candidate &who, crowd_contestant &place, long long round) override
    {
        std::vector<tally> tallies(threads_.size());
        for (tally &t : tallies)
            t.windows.resize(static_cast<std::size_t>(o_.seconds * 1e9 + 0.5) / window_ns);
        crowd_task task = task_;
        task.seed = mix_bits(static_cast<std::uint64_t>(o_.seed + 1)) +
                    0x10001 * static_cast<std::uint64_t>(round);
        task.begin = now_ns() + static_cast<std::uint64_t>(o_.warmup * 1e9);
        task.end = task.begin + static_cast<std::uint64_t>(o_.seconds * 1e9);
        const unsigned readers = static_cast<unsigned>(o_.threads);
        threads_.run_to_the_end([&](unsigned thread, const phase_flag &) {
            if (s_.flood)
                place->flood(task, thread == readers, tallies[thread]);
            else
                place->crowd(task, thread, tallies[thread]);
        });
        tally sum;
        for (const tally &t : tallies)
            sum.add(t);
        expect(sum.wrong == 0, "Under '" + who.name + "' " + std::to_string(sum.wrong) +
                                   " sections saw another thread write: the lock failed.");
        return s_.flood ? flood_line(sum, tallies.back()) : crowd_line(sum, tallies);
    }

  private:
    /* A section contains one look at the clock, and so does the time between two sections. They
     * are part of the work, not added to it. */
    static crowd_task task_of(const crowd_settings &s, const work_gauge &gauge)
    {
        const double inside = s.section_us * 1000, outside = s.outside_us * 1000;
        const double look = gauge.clock_ns();
        crowd_task t;
        t.inside = gauge.steps(inside - look);
        t.outside = gauge.steps(outside - look);
        t.usual_ns = static_cast<std::uint64_t>(std::max(inside, look) + std::max(outside, look));
        t.write_limit = static_cast<std::uint64_t>(s.writes / 100 * 4294967296.0);
        t.period_ns = static_cast<std::uint64_t>(s.period_us * 1000);
        t.deadline_ns = static_cast<std::uint64_t>(s.deadline_us * 1000);
        return t;
    }

    json crowd_line(const tally &sum, const std::vector<tally> &tallies) const
    {
        const std::size_t whole = tallies.front().windows.size();
        const json shares = {{"10ms", jain(tallies, whole, 1)},
                             {"100ms", jain(tallies, whole, 10)},
                             {"1s", jain(tallies, whole, 100)}};
        return line_of(sum.ops, o_.seconds,
                       {{"writes", sum.writes},
                        {"expired", sum.expired},
                        {"wait_ns", sum.waits.quantiles(points)},
                        {"wait_mean_ns", sum.waits.mean()},
                        {"waits", sum.waits.buckets()},
                        {"overruns", sum.overruns.buckets()},
                        {"jain", shares}},
                       sum.used);
    }

    /* The operations of the others, the waits of the writer. */
    json flood_line(const tally &sum, const tally &writer) const
    {
        return line_of(sum.ops - writer.ops, o_.seconds,
                       {{"writes", sum.writes},
                        {"expired", writer.expired},
                        {"wait_ns", writer.waits.quantiles(points)},
                        {"wait_mean_ns", writer.waits.mean()},
                        {"overruns", writer.overruns.buckets()},
                        {"waits", writer.waits.buckets()},
                        {"late_ns", writer.late.quantiles(points)}},
                       sum.used);
    }

    const crowd_settings s_;
    const crowd_task task_;
    const std::unique_ptr<hog> beside_;
};

class crowd_driver {
  public:
    static constexpr const char *says = "Locks under more threads than CPUs; JSON lines.";

    explicit crowd_driver(options &o) : o_(o)
    {
        o.take_threads(8, "threads; with --flood: readers");
        o.number("--section", s_.section_us, 0, 100000, "microseconds under the lock");
        o.dependent_number("--outside", s_.outside_us,
                           "microseconds between two sections (default: as --section, 1 at most; "
                           "none with --flood)");
        o.dependent_number("--writes", s_.writes,
                           "percent of sections that write (default 10; with --flood 0)");
        o.flag("--hog", s_.hog, "beside a thread that computes without end");
        o.number("--cpus", s_.cpus, 0, 1024, "the first CPUs, for all; 0: what there is");
        o.number("--busy", s_.busy, 0, 64, "processes on each CPU that compute without end");
        o.number("--deadline", s_.deadline_us, 0, 1e6, "microseconds of a wait; 0: without end");
        o.names("--library", s_.libraries, "NAME=PATH,...: rows more (crowd/library.c)");
        o.flag("--flood", s_.flood, "all threads read; one more writes now and then");
        o.number("--period", s_.period_us, 1, 1000000, "with --flood: microseconds between writes");
        o.take_seconds(0.2);
        o.take_rounds(6);
        o.take_warmup(0.02);
        o.take_seed("of the choice between reading and writing");
        o.take_pin("none");
    }

    std::vector<crowd_candidate> candidates() const
    {
        return crowd_candidates(s_.libraries, s_.deadline_us > 0);
    }

    void check()
    {
        if (s_.writes == -1)
            s_.writes = s_.flood ? 0 : 10;
        require("--writes", s_.writes, 0, 100);
        keep_cpus(static_cast<std::size_t>(s_.cpus));
        if (s_.outside_us == -1)
            s_.outside_us = s_.flood ? 0 : std::min(s_.section_us, 1.0);
        require("--outside", s_.outside_us, 0, 100000);
    }

    std::unique_ptr<crowd_scene> open(const std::vector<const crowd_candidate *> &) const
    {
        return std::make_unique<crowd_scene>(o_, s_);
    }

  private:
    const options &o_;
    crowd_settings s_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    return bench::drive<bench::crowd_driver>(argc, argv);
}
