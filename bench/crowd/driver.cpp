/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-crowd: what a lock is worth when threads outnumber CPUs. Throughput, fairness, the
 * longest wait, CPU time; with --flood the waits of one writer among readers that never pause.
 *
 * One run measures one cell (threads, section, share of writes) for all candidates, a sample of
 * each in turn, a JSON line a sample. The candidate floor/none has no lock: its waits are what the
 * scheduler alone adds, the floor under all others.
 */
#include <cmath>

#include "crowd/arena.hpp"
#include "core/hog.hpp"
#include "core/cpus.hpp"

namespace bench {
namespace {

struct options {
    long long threads = 8, rounds = 6, seed = 1;
    double section_us = 1, outside_us = -1, writes = 10, period_us = 1000;
    double seconds = 0.2, warmup = 0.02;
    std::string pin = "none";
    std::vector<std::string> candidates;
    bool hog = false, flood = false, list = false;
};

void declare(CLI::App &app, options &o)
{
    app.add_flag("--list", o.list, "print the candidates as a JSON array and end");
    app.add_option("--threads", o.threads, "threads; with --flood: readers (default 8)");
    app.add_option("--section", o.section_us, "microseconds under the lock (default 1)");
    app.add_option("--outside", o.outside_us,
                   "microseconds between two sections (default: as --section, 1 at most; none "
                   "with --flood)");
    app.add_option("--writes", o.writes, "percent of sections that write (default 10)");
    app.add_flag("--hog", o.hog, "beside a thread that computes without end");
    app.add_flag("--flood", o.flood, "all threads read; one more writes now and then");
    app.add_option("--period", o.period_us, "with --flood: microseconds between writes (1000)");
    app.add_option("--seconds", o.seconds, "length of a sample (default 0.2)");
    app.add_option("--rounds", o.rounds, "samples of each candidate (default 6)");
    app.add_option("--warmup", o.warmup, "seconds before each sample (default 0.02)");
    app.add_option("--seed", o.seed, "of the choice between reading and writing (default 1)");
    app.add_option("--pin", o.pin, "CPUs, as 0,1: thread i on the i-th; auto; none (default)");
    app.add_option("--candidates", o.candidates, "names, as --list gives them")->delimiter(',');
}

int print_list(const std::vector<candidate> &all)
{
    json list = json::array();
    for (const candidate &c : all)
        list.push_back({{"name", c.name},
                        {"strategy", c.strategy},
                        {"lock", c.lock},
                        {"available", c.why.empty()},
                        {"why", c.why},
                        {"baseline", c.baseline}});
    emit(list);
    return exit_done;
}

void check(options &o)
{
    require("--threads", o.threads, 1LL, 1024LL);
    require("--section", o.section_us, 0.0, 100000.0);
    if (o.outside_us == -1)
        o.outside_us = o.flood ? 0 : std::min(o.section_us, 1.0);
    require("--outside", o.outside_us, 0.0, 100000.0);
    require("--writes", o.writes, 0.0, 100.0);
    require("--period", o.period_us, 1.0, 1000000.0);
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--seconds", o.seconds, 0.001, 3600.0);
    require("--warmup", o.warmup, 0.0, 60.0);
    require("--seed", o.seed, 0LL, INT64_MAX + 0LL);
}

/* A section holds one look at the clock, the time between two sections another: they are part of
 * the work, not on top of it. */
scene scene_of(const options &o, const work_gauge &gauge)
{
    scene s;
    s.inside = gauge.steps(o.section_us * 1000 - gauge.clock_ns());
    s.outside = gauge.steps(o.outside_us * 1000 - gauge.clock_ns());
    s.usual_ns = static_cast<std::uint64_t>(
        std::max(o.section_us * 1000, gauge.clock_ns()) +
        std::max(o.outside_us * 1000, gauge.clock_ns()));
    s.write_limit = o.flood ? 0 : static_cast<std::uint64_t>(o.writes / 100 * 4294967296.0);
    s.period_ns = static_cast<std::uint64_t>(o.period_us * 1000);
    return s;
}

/* Jain's index of the passes by thread, 1: all alike, 1/n: one had all; the mean over the whole
 * windows of so many units, null when the sample is shorter than one. */
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
            continue; /* nobody got in: no share to compare */
        sum_of_indices += sum * sum / (squares * static_cast<double>(tallies.size()));
        counted++;
    }
    if (counted == 0)
        return nullptr;
    return std::round(sum_of_indices / static_cast<double>(counted) * 1e4) / 1e4;
}

void count_in(tally &sum, const tally &t)
{
    sum.ops += t.ops;
    sum.writes += t.writes;
    sum.wrong += t.wrong;
    sum.used.cpu_seconds += t.used.cpu_seconds;
    sum.used.voluntary += t.used.voluntary;
    sum.used.involuntary += t.used.involuntary;
    sum.waits.merge(t.waits);
}

const std::vector<histogram::point> points = {{"p10", 0.1},   {"p50", 0.5},
                                              {"p90", 0.9},   {"p99", 0.99},
                                              {"p99.9", 0.999}, {"p99.99", 0.9999}};

json sample_line(const candidate &who, long long round, const std::vector<tally> &tallies,
                 const options &o)
{
    tally sum;
    for (const tally &t : tallies)
        count_in(sum, t);
    if (sum.wrong)
        throw std::runtime_error("Under '" + who.name + "' " + std::to_string(sum.wrong) +
                                 " sections saw another thread write: the lock failed.");
    json line = {{"type", "sample"},
                 {"candidate", who.name},
                 {"round", round},
                 {"threads", o.threads},
                 {"ops", sum.ops},
                 {"seconds", o.seconds},
                 {"writes", sum.writes},
                 {"cpu_seconds", std::round(sum.used.cpu_seconds * 1e6) / 1e6},
                 {"ctx_voluntary", sum.used.voluntary},
                 {"ctx_involuntary", sum.used.involuntary}};
    if (o.flood) {
        const tally &writer = tallies.back();
        line["ops"] = sum.ops - writer.ops; /* of the readers */
        line["wait_ns"] = writer.waits.quantiles(points);
        line["waits"] = writer.waits.buckets();
        line["late_ns"] = writer.late.quantiles(points);
    } else {
        const std::size_t whole = tallies.front().windows.size();
        line["wait_ns"] = sum.waits.quantiles(points);
        line["jain"] = {{"10ms", jain(tallies, whole, 1)},
                        {"100ms", jain(tallies, whole, 10)},
                        {"1s", jain(tallies, whole, 100)}};
    }
    return line;
}

struct contestant {
    const candidate *who;
    std::unique_ptr<arena> place;
};

/* false: interrupted, nothing to report. */
bool sample(crew &threads, contestant &one, long long round, scene s, const options &o)
{
    std::vector<tally> tallies(threads.size());
    for (tally &t : tallies)
        t.windows.resize(static_cast<std::size_t>(o.seconds * 1e9 + 0.5) / window_ns);
    s.seed = mix_bits(static_cast<std::uint64_t>(o.seed + 1)) +
             0x10001 * static_cast<std::uint64_t>(round);
    const unsigned readers = static_cast<unsigned>(o.threads);
    const crew::task task = [&](unsigned thread, const phase_flag &) {
        if (o.flood)
            one.place->flood(s, thread == readers, tallies[thread]);
        else
            one.place->crowd(s, thread, tallies[thread]);
    };
    s.begin = now_ns() + static_cast<std::uint64_t>(o.warmup * 1e9);
    s.end = s.begin + static_cast<std::uint64_t>(o.seconds * 1e9);
    threads.run_to_the_end(task);
    if (interrupted)
        return false;
    emit(sample_line(*one.who, round, tallies, o));
    return true;
}

void emit_start(const options &o, const std::vector<contestant> &field,
                const std::vector<unsigned> &cpus, const crew &threads, const work_gauge &gauge)
{
    json names = json::array();
    for (const contestant &c : field)
        names.push_back(c.who->name);
    emit({{"type", "start"},
          {"bench", o.flood ? "flood" : "crowd"},
          {"threads", o.threads},
          {"section_us", o.section_us},
          {"outside_us", o.outside_us},
          {"writes", o.writes},
          {"period_us", o.period_us},
          {"hog", o.hog},
          {"seconds", o.seconds},
          {"rounds", o.rounds},
          {"warmup", o.warmup},
          {"seed", o.seed},
          {"pin", cpus},
          {"candidates", names},
          {"steps_per_us", gauge.steps_per_us()},
          {"clock_ns", gauge.clock_ns()},
          {"compiler", compiler()},
          {"flags", compiler_flags()},
          {"pinned", !cpus.empty() && threads.pin_error().empty()},
          {"pin_error", threads.pin_error()}});
}

int run(options &o)
{
    const std::vector<candidate> all = crowd_candidates();
    if (o.list)
        return print_list(all);
    check(o);
    const std::vector<const candidate *> chosen = choose(all, o.candidates);
    const std::vector<unsigned> cpus = parse_pin(o.pin);

    watch_for_interrupts();
    const work_gauge gauge;
    const scene s = scene_of(o, gauge);
    crew threads(static_cast<unsigned>(o.threads) + (o.flood ? 1 : 0), cpus);
    std::vector<contestant> field;
    for (const candidate *c : chosen)
        field.push_back({c, c->make()});
    emit_start(o, field, cpus, threads, gauge);
    std::unique_ptr<hog> beside;
    if (o.hog)
        beside = std::make_unique<hog>(cpus.empty() ? -1 : static_cast<int>(cpus.back()));
    for (long long round = 0; round < o.rounds && !interrupted; round++)
        for (const std::size_t i : order_of_round(field.size(), static_cast<unsigned>(round)))
            if (!sample(threads, field[i], round, s, o))
                return finish();
    return finish();
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    bench::options o;
    CLI::App app("Locks under more threads than CPUs; JSON lines.");
    bench::declare(app, o);
    return bench::guarded(app, argc, argv, [&] { return bench::run(o); });
}
