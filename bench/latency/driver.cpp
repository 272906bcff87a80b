/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-latency: how long a lock that handlers read keeps signals blocked and priorities
 * raised, and how long each kind of thread waits for it.
 *
 * One run measures one scenario for all candidates, a sample of each in turn, a JSON line a sample.
 * Times are cycles of the processor's counter, which is calibrated at the start, less what reading
 * it costs. Real-time threads are idle for most of the time, and a thread above them ends the
 * process if a sample does not end (realtime.hpp).
 */
#include <cmath>

#include "latency/cast.hpp"
#include "latency/pairs.hpp"
#include "core/cpus.hpp"
#include "latency/realtime.hpp"

namespace bench::latency {
namespace {

constexpr double unset = -1;
/* Of a real-time reader: how long a burst and the pause after it take together. */
constexpr double burst_ms = 10;
constexpr double grace_seconds = 20;

struct options {
    std::string which = "placed";
    double seconds = 2, warmup = 0.05;
    long long rounds = 1, tries = 100;
    double slow_section_us = 3000, slow_every_ms = 50, write_section_us = unset,
           read_section_us = 1, writer_delay_us = unset, trylock_delay_us = 1000,
           handler_period_ms = unset, realtime_share = 20;
    std::string realtime = "auto", pin = "auto";
    std::vector<std::string> candidates;
    bool list = false;
};

void declare(CLI::App &app, options &o)
{
    app.add_flag("--list", o.list, "print the candidates as a JSON array and end");
    app.add_option("--scenario", o.which,
                   "pairs, writer, trylock_writer, reader, realtime_reader, readers, contention, "
                   "placed (default) or handlers");
    app.add_option("--seconds", o.seconds, "length of a sample (default 2)");
    app.add_option("--rounds", o.rounds, "samples of each candidate (default 1)");
    app.add_option("--warmup", o.warmup, "seconds before each sample (default 0.05)");
    app.add_option("--slow-section", o.slow_section_us,
                   "microseconds of a reader's slow section (default 3000)");
    app.add_option("--slow-every", o.slow_every_ms,
                   "milliseconds from a reader's slow section to its next; 0: none (default 50)");
    app.add_option("--read-section", o.read_section_us, "of its other sections, us (default 1)");
    app.add_option("--write-section", o.write_section_us,
                   "microseconds of a write section (default 1; handlers: 20)");
    app.add_option("--writer-delay", o.writer_delay_us,
                   "microseconds between two writes (default 100; handlers: 20)");
    app.add_option("--trylock-delay", o.trylock_delay_us,
                   "microseconds between two series of tries to write (default 1000)");
    app.add_option("--tries", o.tries, "how often a series tries (default 100)");
    app.add_option("--handler-period", o.handler_period_ms,
                   "milliseconds from signal to signal (default 100; handlers: 1)");
    app.add_option("--realtime-share", o.realtime_share,
                   "percent of the time that a real-time reader is busy (default 20)");
    app.add_option("--realtime", o.realtime,
                   "yes; no: real-time readers are ordinary threads; auto (default): yes if "
                   "permitted");
    app.add_option("--pin", o.pin,
                   "CPUs, as 0,1: writers on the first, readers on the last; auto (default): all");
    app.add_option("--candidates", o.candidates, "names, as --list gives them")->delimiter(',');
}

const scenario *find_scenario(const std::string &name)
{
    for (const scenario &s : scenarios())
        if (name == s.name)
            return &s;
    if (name == "pairs")
        return nullptr;
    std::string names = "pairs";
    for (const scenario &s : scenarios())
        names += std::string(", ") + s.name;
    throw bad_input("--scenario is '" + name + "'; it must be one of " + names + ".");
}

void check(options &o, const scenario *what)
{
    const auto usual = [](double &value, double own, double elsewhere) {
        if (value == unset)
            value = own >= 0 ? own : elsewhere;
    };
    usual(o.write_section_us, what ? what->write_section_us : unset, 1);
    usual(o.writer_delay_us, what ? what->writer_pause_us : unset, 100);
    usual(o.handler_period_ms, what ? what->handler_period_ms : unset, 100);
    require("--seconds", o.seconds, 0.0001, 600.0);
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--warmup", o.warmup, 0.0, 60.0);
    require("--slow-section", o.slow_section_us, 0.0, 100000.0);
    require("--slow-every", o.slow_every_ms, 0.0, 60000.0);
    require("--read-section", o.read_section_us, 0.0, 100000.0);
    require("--write-section", o.write_section_us, 0.0, 100000.0);
    require("--writer-delay", o.writer_delay_us, 0.0, 1000000.0);
    require("--trylock-delay", o.trylock_delay_us, 1.0, 1000000.0);
    require("--tries", o.tries, 1LL, 1000000LL);
    require("--handler-period", o.handler_period_ms, 0.1, 60000.0);
    require("--realtime-share", o.realtime_share, 1.0, 45.0);
}

/* Why there are no real-time threads; empty: there are. */
std::string realtime_of(const options &o)
{
    if (o.realtime == "no")
        return "real-time scheduling was not asked for (--realtime no)";
    if (o.realtime != "auto" && o.realtime != "yes")
        throw bad_input("--realtime is '" + o.realtime + "'; it must be yes, no or auto.");
    const std::string why = no_realtime();
    if (o.realtime == "yes" && !why.empty())
        throw bad_input("--realtime yes: " + why + "; or say --realtime auto.");
    return why;
}

template <class Candidate> int print_list(const std::vector<Candidate> &all)
{
    json list = json::array();
    for (const Candidate &c : all)
        list.push_back({{"name", c.name},
                        {"available", c.why.empty()},
                        {"why", c.why},
                        {"baseline", c.baseline}});
    emit(list);
    return exit_done;
}

/* What every line says of the machine. */
struct ground {
    std::string no_realtime;
    std::vector<unsigned> cpus;
    cycle_gauge gauge;
    work_gauge speed;
};

template <class Candidate>
void emit_start(const options &o, const ground &g, const std::vector<const Candidate *> &chosen)
{
    json names = json::array();
    for (const Candidate *c : chosen)
        names.push_back(c->name);
    emit({{"type", "start"},
          {"bench", "latency"},
          {"scenario", o.which},
          {"rounds", o.rounds},
          {"seconds", o.seconds},
          {"warmup", o.warmup},
          {"pin", g.cpus},
          {"candidates", names},
          {"realtime", g.no_realtime.empty()},
          {"realtime_error", g.no_realtime},
          {"counter", g.gauge.describe()},
          {"compiler", compiler()},
          {"flags", compiler_flags()},
          {"pinned", !g.cpus.empty()},
          {"pin_error", ""}});
}

json sample_line(const options &o, const ground &g, const std::string &who, long long round)
{
    return {{"type", "sample"},       {"candidate", who},
            {"round", round},         {"scenario", o.which},
            {"realtime_error", g.no_realtime}, {"counter", g.gauge.describe()}};
}

/* ---- Scenarios ------------------------------------------------------------------------------- */

json row_of(const tally &t)
{
    json row = {{"who", t.who},
                {"context", context_names[static_cast<std::size_t>(t.where)]},
                {"iterations", t.iterations},
                {"failed", t.failed},
                {"slow", t.slow},
                {"lock", t.lock.describe()},
                {"unlock", t.unlock.describe()},
                {"deferred", t.seen.deferred.lengths.describe()},
                {"interrupt", t.seen.interrupt.lengths.describe()},
                {"raised", t.seen.raised.lengths.describe()}};
    if (t.seen.interrupt.lengths.count() > 0)
        row["blocked"] = t.seen.interrupt.lengths.buckets();
    return row;
}

scene scene_of(const options &o, const ground &g)
{
    scene s;
    s.gauge = &g.gauge;
    s.write_steps = g.speed.steps(o.write_section_us * 1000);
    s.read_steps = g.speed.steps(o.read_section_us * 1000);
    s.slow_steps = g.speed.steps(o.slow_section_us * 1000);
    s.slow_gap = g.gauge.of_ns(o.slow_every_ms * 1e6);
    s.writer_pause_ns = static_cast<std::uint64_t>(o.writer_delay_us * 1000);
    s.try_pause_ns = static_cast<std::uint64_t>(o.trylock_delay_us * 1000);
    s.tries = static_cast<unsigned>(o.tries);
    s.busy = g.gauge.of_ns(burst_ms * 1e6 * o.realtime_share / 100);
    s.idle_ns = static_cast<std::uint64_t>(burst_ms * 1e6 * (1 - o.realtime_share / 100));
    return s;
}

json sample(const options &o, const ground &g, const stage &on, const candidate &who,
            long long round)
{
    const scene s = scene_of(o, g);
    const std::unique_ptr<arena> place = who.make({on.realtime, s.write_steps});
    on.guard->arm(o.warmup + o.seconds + grace_seconds,
                  "The scenario " + o.which + " under '" + who.name + "'");
    const auto tallies = perform(on, *place, s);
    const unsigned rescued = on.guard->disarm();
    json line = sample_line(o, g, who.name, round), rows = json::array();
    std::uint64_t ops = 0, wrong = 0;
    for (const auto &t : tallies) {
        ops += t->iterations;
        wrong += t->wrong;
        rows.push_back(row_of(*t));
    }
    if (wrong != 0)
        throw std::runtime_error("Under '" + who.name + "' " + std::to_string(wrong) +
                                 " sections saw another thread write: the lock failed.");
    line["threads"] = on.what->threads(on.cpus.size());
    line["ops"] = ops;
    line["seconds"] = o.seconds;
    line["rescued"] = rescued;
    line["rows"] = rows;
    return line;
}

int run_scenario(const options &o, const ground &g, const scenario &what,
                 const std::vector<const candidate *> &chosen)
{
    /* Beside the readers: it is to disturb no writer. */
    watchdog guard(g.no_realtime.empty(), g.cpus.empty() ? -1 : static_cast<int>(g.cpus.back()));
    const stage on = {&what, g.cpus, g.no_realtime.empty(), &guard,
                      static_cast<std::uint64_t>(o.handler_period_ms * 1e6), o.warmup, o.seconds};
    if (what.placed() && g.cpus.size() < 2)
        throw bad_input("--scenario " + o.which + " needs a CPU for the writers and one for the "
                        "readers: name two with --pin, as 0,1.");
    if (what.hosts && g.cpus.empty())
        throw bad_input("--scenario " + o.which + " has handlers on every CPU: name CPUs with "
                        "--pin, or say auto.");
    emit_start(o, g, chosen);
    for (long long round = 0; round < o.rounds; round++)
        for (const std::size_t i : order_of_round(chosen.size(), static_cast<unsigned>(round))) {
            const json line = sample(o, g, on, *chosen[i], round);
            if (interrupted)
                return finish();
            emit(line);
        }
    return finish();
}

/* ---- One thread alone ------------------------------------------------------------------------ */

/* The C library leaves the atomic instructions of its locks out while a process has one thread.
 * Locks are for processes that have more, so there is a second one, asleep. */
class second_thread {
  public:
    second_thread() : thread_([this] { const std::lock_guard<std::mutex> wait(until_); }) {}
    ~second_thread()
    {
        hold_.unlock();
        thread_.join();
    }

  private:
    std::mutex until_;
    std::unique_lock<std::mutex> hold_{until_};
    std::thread thread_;
};

int run_pairs(const options &o, const ground &g, const std::vector<const pair_candidate *> &chosen)
{
    if (!g.cpus.empty()) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(g.cpus.front(), &set);
        if (const int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set))
            throw bad_input("Could not run on CPU " + std::to_string(g.cpus.front()) + " (" +
                            std::strerror(error) + "): name another with --pin.");
    }
    const second_thread asleep;
    const setting how = {g.no_realtime.empty(), 0};
    emit_start(o, g, chosen);
    for (long long round = 0; round < o.rounds; round++)
        for (const std::size_t i : order_of_round(chosen.size(), static_cast<unsigned>(round))) {
            chosen[i]->run(o.warmup, how);
            const pair_time found = chosen[i]->run(o.seconds, how);
            if (interrupted)
                return finish();
            json line = sample_line(o, g, chosen[i]->name, round);
            line["threads"] = 1;
            line["ops"] = found.ops;
            line["seconds"] = found.seconds;
            emit(line);
        }
    return finish();
}

int run(options &o)
{
    const scenario *what = find_scenario(o.which);
    const std::string why = realtime_of(o);
    candidates locks = all_candidates();
    const pair_candidates pairs = all_pairs(why);
    if (o.list)
        return what != nullptr ? print_list(locks) : print_list(pairs);
    check(o, what);
    for (const unsigned cpu : parse_pin(o.pin))
        require("--pin", static_cast<long long>(cpu), 0LL, CPU_SETSIZE - 1LL);
    watch_for_interrupts();
    if (what == nullptr) {
        const auto chosen = choose(pairs, o.candidates);
        const ground g = {why, parse_pin(o.pin), {}, {}};
        return run_pairs(o, g, chosen);
    }
    for (candidate &c : locks)
        c.by_default = !c.spins || !what->hosts || !why.empty();
    const auto chosen = choose(locks, o.candidates);
    const ground g = {why, parse_pin(o.pin), {}, {}};
    return run_scenario(o, g, *what, chosen);
}

} // namespace
} // namespace bench::latency

int main(int argc, char **argv)
{
    bench::latency::options o;
    CLI::App app("Times with signals blocked, and waits for each kind of thread; JSON lines.");
    bench::latency::declare(app, o);
    return bench::guarded(app, argc, argv, [&] { return bench::latency::run(o); });
}
