/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-wake: how long a sleeping thread takes to run again after another has signalled, and
 * what CPU time its waiting burns, for each way to wait.
 *
 * One run measures one delay for all candidates, some wakes of each in turn, a JSON line a sample.
 */
#include <cmath>

#include "core/hog.hpp"
#include "core/cpus.hpp"
#include "wake/sleeper.hpp"

namespace bench {
namespace {

struct options {
    double delay_ms = 10;
    long long rounds = 9, wakes = 1;
    std::string pin = "auto";
    std::vector<std::string> candidates;
    bool hog = false, list = false;
};

void declare(CLI::App &app, options &o)
{
    app.add_flag("--list", o.list, "print the candidates as a JSON array and end");
    app.add_option("--delay", o.delay_ms, "milliseconds that B sleeps before A signals (10)");
    app.add_option("--wakes", o.wakes, "wakes of each candidate in a round (default 1)");
    app.add_option("--rounds", o.rounds, "samples of each candidate (default 9)");
    app.add_flag("--hog", o.hog, "B's CPU has a thread that computes without end");
    app.add_option("--pin", o.pin,
                   "CPUs, as 0,1: A on the first, B on the last; none; auto (default): of all");
    app.add_option("--candidates", o.candidates, "names, as --list gives them")->delimiter(',');
}

int print_list(const std::vector<candidate> &all)
{
    json list = json::array();
    for (const candidate &c : all)
        list.push_back({{"name", c.name},
                        {"strategy", ""},
                        {"lock", c.name},
                        {"available", c.why.empty()},
                        {"why", c.why},
                        {"baseline", c.baseline}});
    emit(list);
    return exit_done;
}

void check(const options &o)
{
    require("--delay", o.delay_ms, 0.0, 10000.0);
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--wakes", o.wakes, 1LL, 100000LL);
}

json numbers(const batch &b)
{
    return {{"wakes_ns", b.wakes_ns}, {"cpu_ns", b.cpu_ns}, {"waited_ns", b.waited_ns}};
}

struct contestant {
    const candidate *who;
    std::unique_ptr<channel> how;
};

/* false: interrupted, nothing to report. */
bool sample(sleeper &b, contestant &one, long long round, const options &o)
{
    const auto delay = static_cast<std::uint64_t>(o.delay_ms * 1e6);
    const double start = seconds_of(CLOCK_MONOTONIC);
    const batch found = b.run(*one.how, o.wakes, delay);
    if (found.wakes_ns.size() < static_cast<std::size_t>(o.wakes))
        return false;
    json line = {{"type", "sample"},
                 {"candidate", one.who->name},
                 {"round", round},
                 {"ops", o.wakes},
                 {"seconds", std::round((seconds_of(CLOCK_MONOTONIC) - start) * 1e6) / 1e6}};
    line.update(numbers(found));
    emit(line);
    return true;
}

void emit_start(const options &o, const std::vector<contestant> &field,
                const std::vector<unsigned> &cpus, const std::string &pin_error)
{
    json names = json::array();
    for (const contestant &c : field)
        names.push_back(c.who->name);
    emit({{"type", "start"},
          {"bench", "wake"},
          {"delay_ms", o.delay_ms},
          {"wakes", o.wakes},
          {"rounds", o.rounds},
          {"hog", o.hog},
          {"pin", cpus},
          {"candidates", names},
          {"compiler", compiler()},
          {"flags", compiler_flags()},
          {"pinned", !cpus.empty() && pin_error.empty()},
          {"pin_error", pin_error}});
}

int run(const options &o)
{
    const std::vector<candidate> all = wake_candidates();
    if (o.list)
        return print_list(all);
    check(o);
    const std::vector<const candidate *> chosen = choose(all, o.candidates);
    const std::vector<unsigned> cpus = parse_pin(o.pin);
    watch_for_interrupts();
    std::vector<contestant> field;
    for (const candidate *c : chosen)
        field.push_back({c, c->make()});
    std::unique_ptr<hog> beside;
    if (o.hog)
        beside = std::make_unique<hog>(cpus.empty() ? -1 : static_cast<int>(cpus.back()));
    sleeper b(cpus);
    emit_start(o, field, cpus, b.pin_error());
    for (long long round = 0; round < o.rounds && !interrupted; round++)
        for (const std::size_t i : order_of_round(field.size(), static_cast<unsigned>(round)))
            if (!sample(b, field[i], round, o))
                return finish();
    return finish();
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    bench::options o;
    CLI::App app("How long sleeping threads take to wake; JSON lines.");
    bench::declare(app, o);
    return bench::guarded(app, argc, argv, [&] { return bench::run(o); });
}
